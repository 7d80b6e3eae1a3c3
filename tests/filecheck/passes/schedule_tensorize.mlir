// RUN: dt-opt %s -p 'schedule-tensorize{function=f sizes="x:16","k:0","y:1"}' | filecheck %s
// RUN: dt-opt %s -p 'schedule-block{function=f sizes="x:32"},schedule-tensorize{function=f sizes="x:0"}' | filecheck %s --check-prefix=BLOCK
// RUN: dt-opt %s -p 'schedule-tensorize{function=f sizes="x:0"},schedule-block{function=f sizes="x:32"}' | filecheck %s --check-prefix=BLOCK
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
// CHECK: loop.for %{{.*}} = x step 16 tile of f {
// A tile of one element is a scalar.
// CHECK: loop.for %{{.*}} = y of f {
// CHECK: loop.reduce add %{{.*}} = k step full tile of f : f32
// 0 is the whole block where the loop walks one.
// BLOCK: loop.for %{{.*}} = x in %{{.*}} size 32 step 32 tile of f {
