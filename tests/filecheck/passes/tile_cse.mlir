// RUN: dt-opt %s -p tile-cse | filecheck %s
// Loads of the same elements and maps with equal bodies are one; other bodies stay apart, and what nothing uses goes.
!t = !tile.of<x: 8, f32>
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %c0 = arith.constant 0 : index
  %X = tile.size x
  %x = tile.range x: 8 from %c0
  %y = tile.range x: 8 from %c0
  %m = tile.mask %x below %X
  %a = tile.load %A[%x] masked [%m] pad 0.0
  %b = tile.load %A[%y] masked [%m] pad 0.0
  %unused = tile.load %A[%x] masked [%m] pad 1.0
  %p = tile.map (%u = %a) -> !t {
    %two = arith.constant 2.0 : f32
    %0 = arith.mulf %u, %two : f32
    tile.yield %0 : f32
  }
  %q = tile.map (%u = %b) -> !t {
    %two = arith.constant 2.0 : f32
    %0 = arith.mulf %u, %two : f32
    tile.yield %0 : f32
  }
  %r = tile.map (%u = %b) -> !t {
    %three = arith.constant 3.0 : f32
    %0 = arith.mulf %u, %three : f32
    tile.yield %0 : f32
  }
  %s = tile.map (%u = %p, %v = %q, %w = %r) -> !t {
    %0 = arith.addf %u, %v : f32
    %1 = arith.addf %0, %w : f32
    tile.yield %1 : f32
  }
  tile.store %s, %f[%x] masked [%m]
}
// CHECK: [[X:%.*]] = tile.range x
// CHECK-NOT: tile.range
// CHECK: [[A:%.*]] = tile.load %A{{.*}}[[[X]]]
// CHECK-NOT: tile.load
// CHECK: [[P:%.*]] = tile.map arith.mulf [[A]], 2.0
// CHECK: [[R:%.*]] = tile.map arith.mulf [[A]], 3.0
// CHECK: tile.map ({{%.*}} = [[P]], {{%.*}} = [[P]], {{%.*}} = [[R]])
// CHECK-NOT: tile.map
