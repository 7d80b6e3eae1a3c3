// RUN: not dt-opt %s -p 'schedule-num-warps{function=f warps=8},schedule-num-warps{function=f warps=2}' 2>&1 | filecheck %s
// RUN: not dt-opt %s -p 'schedule-num-warps{function=f warps=0}' 2>&1 | filecheck %s --check-prefix=ZERO
// RUN: not dt-opt %s -p 'schedule-num-warps{function=h warps=2}' 2>&1 | filecheck %s --check-prefix=NAME
host.func @f(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "k"]}) -> memref<?x?xf32> attributes {algorithm = [], schedule = [], compiled = ["f.compile();"], labels = ["x", "y", "k"]} {
  %x = host.size x
  %y = host.size y
  %f = host.alloc f[x, y](%x, %y) : memref<?x?xf32>
  host.launch @f_kernel(%A, %f)
  host.return %f
}
loop.kernel @f_kernel(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "k"]}, %f: memref<?x?xf32> {host.name = "f", host.axes = ["x", "y"]}) attributes {labels = ["x", "y", "k"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      loop.for %y = y of f {
        %0 = loop.reduce add %k = k of f : f32 {
          %1 = loop.read %A[%x, %k]
          loop.yield %1 : f32
        }
        loop.write %0, %f[%x, %y]
      }
    }
  }
}
// CHECK: error: f.num_warps: it is already 8, which contradicts 2
// ZERO: error: f.num_warps: 0 is too small: at least 1 is needed
// NAME: error: h.num_warps: there is no function 'h' to schedule
