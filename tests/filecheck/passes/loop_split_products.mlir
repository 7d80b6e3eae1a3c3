// RUN: dt-opt %s -p loop-split-products | filecheck %s
// Triton's dot does not take f64: the tile of all three labels is made to fit.
// CHECK: loop.reduce dot %{{.*}} = k step 8 tile of f : f64
host.func @f(%A: memref<?x?xf64> {host.name = "A", host.axes = ["x", "k"]}, %B: memref<?x?xf64> {host.name = "B", host.axes = ["k", "y"]}) -> memref<?x?xf64> attributes {algorithm = [], schedule = [], compiled = ["f.compile();"], labels = ["x", "y", "k"]} {
  %x = host.size x
  %y = host.size y
  %f = host.alloc f[x, y](%x, %y) : memref<?x?xf64>
  host.launch @f_kernel(%A, %B, %f)
  host.return %f
}
loop.kernel @f_kernel(%A: memref<?x?xf64> {host.name = "A", host.axes = ["x", "k"]}, %B: memref<?x?xf64> {host.name = "B", host.axes = ["k", "y"]}, %f: memref<?x?xf64> {host.name = "f", host.axes = ["x", "y"]}) attributes {labels = ["x", "y", "k"], root = "f"} {
  loop.grid () {
    loop.for %x = x step 64 tile of f {
      loop.for %y = y step 64 tile of f {
        %0 = loop.reduce dot %k = k step 64 tile of f : f64 {
          %1 = loop.read %A[%x, %k]
          %2 = loop.read %B[%k, %y]
          loop.yield %1, %2 : f64, f64
        }
        loop.write %0, %f[%x, %y]
      }
    }
  }
}
