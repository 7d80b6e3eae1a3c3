// RUN: dt-opt %s -p convert-loop-to-tile | filecheck %s
// CHECK: tile.kernel @f_kernel
// CHECK: scf.for %[[X0:.*]] = %{{.*}} to %[[XS:.*]] step
// CHECK-NEXT: %[[X:.*]] = tile.range x: 64 from %[[X0]] to %[[XS]]
// CHECK: scf.for %[[Y0:.*]] =
// CHECK-NEXT: %[[Y:.*]] = tile.range y: 64 from %[[Y0]]
// CHECK: scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}})
// CHECK: %[[A:.*]] = tile.load %{{.*}}[%[[X]], %{{.*}}]
// CHECK: %[[B:.*]] = tile.transpose
// CHECK-NEXT: tile.dot %[[A]], %[[B]] acc %[[ACC]]
// CHECK: tile.map arith.truncf %{{.*}} : !tile.of<x: 64, y: 64, f16>
// CHECK: tile.store %{{.*}}, %{{.*}}[%[[X]], %[[Y]]]
host.func @f(%A: memref<?x?xf16> {host.name = "A", host.axes = ["x", "k"]}, %B: memref<?x?xf16> {host.name = "B", host.axes = ["k", "y"]}) -> memref<?x?xf16> attributes {algorithm = [], schedule = [], compiled = ["f.compile();"], labels = ["x", "y", "k"]} {
  %x = host.size x
  %y = host.size y
  %f = host.alloc f[x, y](%x, %y) : memref<?x?xf16>
  host.launch @f_kernel(%A, %B, %f)
  host.return %f
}
loop.kernel @f_kernel(%A: memref<?x?xf16> {host.name = "A", host.axes = ["x", "k"]}, %B: memref<?x?xf16> {host.name = "B", host.axes = ["k", "y"]}, %f: memref<?x?xf16> {host.name = "f", host.axes = ["x", "y"]}) attributes {labels = ["x", "y", "k"], root = "f"} {
  loop.grid () {
    loop.for %x = x step 64 tile of f {
      loop.for %y = y step 64 tile of f {
        %0 = loop.reduce dot %k = k step 64 tile of f : f32 {
          %1 = loop.read %A[%x, %k]
          %2 = loop.read %B[%k, %y]
          loop.yield %1, %2 : f16, f16
        }
        %3 = arith.truncf %0 : f32 to f16
        loop.write %3, %f[%x, %y]
      }
    }
  }
}
