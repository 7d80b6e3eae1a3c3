// RUN: dt-opt %s -p tile-merge-axes | filecheck %s
!b = !tile.of<k_1 = k, f32>
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["k"]}, %f: memref<f32> {host.name = "f", host.axes = []}) attributes {grid_blocks = [], grid_labels = [], labels = ["k"], root = "f"} {
  %c0 = arith.constant 0 : index
  %n = tile.size k
  %k = tile.range k from %c0 to %n
  // CHECK: %[[A:.*]] = tile.load
  %a = tile.load %A[%k]
  // CHECK: tile.range k from %{{.*}} to %{{.*}}
  %j = tile.range k_1 = k from %c0 to %n
  // CHECK-NOT: tile.rename
  %b = tile.rename %a to [%j] : !b
  // CHECK: tile.reduce add %[[A]] along k
  %r = tile.reduce add %b along k_1
  tile.store %r, %f[]
}
// Axes that end at different places stay two.
// CHECK-LABEL: tile.kernel @ends
tile.kernel @ends(%A: memref<?xf32> {host.name = "A", host.axes = ["k"]}, %f: memref<f32> {host.name = "f", host.axes = []}) attributes {grid_blocks = [], grid_labels = [], labels = ["k"], root = "f"} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %n = tile.size k
  %m = arith.minsi %n, %c4 : index
  // CHECK: tile.range k: 8 from
  %k = tile.range k: 8 from %c0 to %n
  %a = tile.load %A[%k]
  // CHECK: tile.range k_1: 8 over k from
  %j = tile.range k_1: 8 over k from %c0 to %m
  // CHECK: tile.rename
  %b = tile.rename %a to [%j] : !tile.of<k_1: 8, f32>
  %r = tile.reduce add %b along k_1
  tile.store %r, %f[]
}
