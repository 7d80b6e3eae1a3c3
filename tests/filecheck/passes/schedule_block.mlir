// RUN: dt-opt %s -p 'schedule-block{function=f sizes="x:128","y:64"}' | filecheck %s
// RUN: dt-opt %s -p 'schedule-block{function=f sizes="y:64"},schedule-block{function=f sizes="x:128"}' | filecheck %s --check-prefix=TWICE
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
// Each label gets a dimension of the grid and its loop walks a block; the first varies fastest.
// CHECK: schedule = ["f.block(x:128, y:64);"]
// CHECK: loop.grid (%[[X0:.*]] = x size 128, %[[Y0:.*]] = y size 64) order [y, x] {
// CHECK-NEXT: loop.for %{{.*}} = x in %[[X0]] size 128 of f {
// CHECK: loop.for %{{.*}} = y in %[[Y0]] size 64 of f {
// The reduction walks its whole label.
// CHECK: loop.reduce add %{{.*}} = k of f : f32
// TWICE: loop.grid (%[[Y0:.*]] = y size 64, %[[X0:.*]] = x size 128) order [y, x] {
