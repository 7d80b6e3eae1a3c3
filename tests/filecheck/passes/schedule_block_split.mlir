// RUN: not dt-opt %s -p 'schedule-block{function=f sizes="x:8"}' 2>&1 | filecheck %s
// RUN: dt-opt %s -p 'schedule-tensorize{function=f sizes="x:2"}' | filecheck %s --check-prefix=TILE
host.func @f(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "k"]}) -> memref<?x?xf32> attributes {algorithm = [], schedule = [], compiled = ["f.compile();"], labels = ["x", "y", "k"]} {
  %x = host.size x
  %y = host.size y
  %f = host.alloc f[x, y](%x, %y) : memref<?x?xf32>
  host.launch @f_kernel(%A, %f)
  host.return %f
}
loop.kernel @f_kernel(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "k"]}, %f: memref<?x?xf32> {host.name = "f", host.axes = ["x", "y"]}) attributes {labels = ["x", "y", "k"], root = "f"} {
  loop.grid () {
    loop.for %o = x step 4 of f {
    loop.for %x = x in %o size 4 of f {
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
}
// CHECK: error: f.block: the loop over 'x' is already split
// CHECK: help: block it before that
// A loop that only says where an inner one starts is not tiled.
// TILE: loop.for %{{.*}} = x step 4 of f {
// TILE-NEXT: loop.for %{{.*}} = x in %{{.*}} size 4 step 2 tile of f {
