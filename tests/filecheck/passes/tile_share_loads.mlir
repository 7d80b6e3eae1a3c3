// RUN: dt-opt %s -p tile-share-loads --disable-verify | filecheck %s
// A load in a loop is one of what dominates it; what a boundary condition gives is another load.
tile.kernel @f_kernel(%X: memref<?x?x?xf32> {host.name = "X", host.axes = ["a", "b", "c"]}, %f: memref<?x?x?xf32> {host.name = "f", host.axes = ["a", "b", "c"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["a", "b", "c"], root = "f"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %a = tile.range a: 4 from %c0
  %b = tile.range b: 8 from %c0
  %c = tile.range c: 2 from %c0
  %x = tile.load %X[%a, %b, %c]
  %in = tile.map arith.cmpi slt, %a, %c4
  %g = tile.load %X[%a, %b, %c] inside [%in] fill 1.0 : !tile.of<c: 2, b: 8, a: 4, f32>
  tile.store %g, %f[%a, %b, %c]
  scf.for %i = %c0 to %c4 step %c1 {
    %y = tile.load %X[%a, %b, %c] : !tile.of<c: 2, b: 8, a: 4, f32>
    %s = tile.reduce add %y along b
    %z = tile.load %X[%a, %c, %b] : !tile.of<a: 4, b: 8, c: 2, f32>
    tile.store %s, %f[%a, %i, %c]
    tile.store %y, %f[%a, %b, %c]
    tile.store %z, %f[%a, %b, %c]
  }
}
// CHECK: %[[X:.*]] = tile.load %{{.*}}[%a, %b, %c]
// CHECK: tile.load %{{.*}} inside [%{{.*}}] fill
// CHECK: scf.for
// CHECK-NEXT: %[[Y:.*]] = tile.transpose %[[X]] to [c, b, a]
// CHECK-NEXT: %[[R:.*]] = tile.reduce add %[[X]] along b
// CHECK-NEXT: %[[S:.*]] = tile.transpose %[[R]] to [c, a]
// CHECK-NEXT: %[[Z:.*]] = tile.load %{{.*}}[%a, %c, %b]
// CHECK-NEXT: tile.store %[[S]]
// CHECK-NEXT: tile.store %[[Y]]
