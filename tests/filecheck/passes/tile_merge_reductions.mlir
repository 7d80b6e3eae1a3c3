// RUN: dt-opt %s -p tile-merge-reductions --split-input-file | filecheck %s
// What the outer reduction leaves out is left out before; three reductions are one.
// CHECK-LABEL: tile.kernel @three
// CHECK: %[[A:.*]] = tile.load
// CHECK-NEXT: %[[B:.*]] = tile.map arith.select %{{.*}}, %[[A]], 0.0
// CHECK-NEXT: %[[R:.*]] = tile.multi_reduce add %[[B]] along x, y, z
// CHECK-NEXT: tile.store %[[R]]
tile.kernel @three(%A: memref<?x?x?xf32> {host.name = "A", host.axes = ["x", "y", "z"]}, %f: memref<f32> {host.name = "f", host.axes = []}) attributes {grid_blocks = [], grid_labels = [], labels = ["x", "y", "z"], root = "f"} {
  %c0 = arith.constant 0 : index
  %n = tile.size y
  %x = tile.range x: 8 from %c0
  %y = tile.range y: 4 from %c0
  %z = tile.range z: 16 from %c0
  %m = tile.mask %y below %n
  %a = tile.load %A[%x, %y, %z]
  %r = tile.reduce add %a along z
  %s = tile.map arith.select %m, %r, 0.0
  %t = tile.reduce add %s along y
  %u = tile.reduce add %t along x
  tile.store %u, %f[]
}
// -----
// Reductions of two kinds, of axes that are no neighbours, or of what is used again stay.
// CHECK-LABEL: tile.kernel @kinds
// CHECK-NOT: multi_reduce
tile.kernel @kinds(%A: memref<?x?x?xf32> {host.name = "A", host.axes = ["x", "y", "z"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}, %g: memref<?xf32> {host.name = "g", host.axes = ["y"]}, %h: memref<?x?xf32> {host.name = "h", host.axes = ["x", "y"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x", "y", "z"], root = "f"} {
  %c0 = arith.constant 0 : index
  %x = tile.range x: 8 from %c0
  %y = tile.range y: 4 from %c0
  %z = tile.range z: 16 from %c0
  %a = tile.load %A[%x, %y, %z]
  %r = tile.reduce add %a along z
  %s = tile.reduce maximum %r along y
  tile.store %s, %f[%x]
  %t = tile.reduce add %a along z
  %u = tile.reduce add %t along x
  tile.store %u, %g[%y]
  %v = tile.reduce maximum %a along z
  %w = tile.reduce maximum %v along y
  tile.store %w, %f[%x]
  tile.store %v, %h[%x, %y]
}
// -----
// What is left out must be what the reduction starts from.
// CHECK-LABEL: tile.kernel @start
// CHECK: tile.reduce maximum %{{.*}} along z
// CHECK-NEXT: tile.map arith.select
// CHECK-NEXT: tile.reduce maximum %{{.*}} along y
// CHECK: tile.multi_reduce maximum %{{.*}} along y, z
tile.kernel @start(%A: memref<?x?x?xf32> {host.name = "A", host.axes = ["x", "y", "z"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x", "y", "z"], root = "f"} {
  %c0 = arith.constant 0 : index
  %n = tile.size y
  %x = tile.range x: 8 from %c0
  %y = tile.range y: 4 from %c0
  %z = tile.range z: 16 from %c0
  %m = tile.mask %y below %n
  %a = tile.load %A[%x, %y, %z]
  %r = tile.reduce maximum %a along z
  %s = tile.map arith.select %m, %r, 0.0
  %t = tile.reduce maximum %s along y
  tile.store %t, %f[%x]
  %b = tile.load %A[%x, %y, %z]
  %u = tile.reduce maximum %b along z
  %v = tile.map (%k = %m, %e = %u) {
    %1 = arith.constant 0xFF800000 : f32
    %2 = arith.select %k, %e, %1 : f32
    tile.yield %2 : f32
  }
  %w = tile.reduce maximum %v along y
  tile.store %w, %f[%x]
}
