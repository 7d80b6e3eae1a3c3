// RUN: dt-opt %s -p tile-cse | filecheck %s
// Loads of the same elements and maps with equal bodies are one; other bodies stay apart, and what nothing uses goes.
!x = tensor<8xindex, #tile.axes<x>>
!m = tensor<8xi1, #tile.axes<x>>
!t = tensor<8xf32, #tile.axes<x>>
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %c0 = arith.constant 0 : index
  %X = tile.size "x" : index
  %x = tile.range "x" from %c0 : !x
  %y = tile.range "x" from %c0 : !x
  %m = tile.mask %x below %X : !x -> !m
  %a = tile.load %A[%x] masked[%m : !m] pad 0.0 : f32 : memref<?xf32>[!x] -> !t
  %b = tile.load %A[%y] masked[%m : !m] pad 0.0 : f32 : memref<?xf32>[!x] -> !t
  %unused = tile.load %A[%x] masked[%m : !m] pad 1.0 : f32 : memref<?xf32>[!x] -> !t
  %p = tile.map (%u = %a : !t) -> !t {
    %two = arith.constant 2.0 : f32
    %0 = arith.mulf %u, %two : f32
    tile.yield %0 : f32
  }
  %q = tile.map (%u = %b : !t) -> !t {
    %two = arith.constant 2.0 : f32
    %0 = arith.mulf %u, %two : f32
    tile.yield %0 : f32
  }
  %r = tile.map (%u = %b : !t) -> !t {
    %three = arith.constant 3.0 : f32
    %0 = arith.mulf %u, %three : f32
    tile.yield %0 : f32
  }
  %s = tile.map (%u = %p : !t, %v = %q : !t, %w = %r : !t) -> !t {
    %0 = arith.addf %u, %v : f32
    %1 = arith.addf %0, %w : f32
    tile.yield %1 : f32
  }
  tile.store %s, %f[%x] masked[%m : !m] : !t, memref<?xf32>[!x]
}
// CHECK: [[X:%.*]] = tile.range "x"
// CHECK-NOT: tile.range
// CHECK: [[A:%.*]] = tile.load %A{{.*}}[[[X]]]
// CHECK-NOT: tile.load
// CHECK: [[P:%.*]] = tile.map ({{%.*}} = [[A]]
// CHECK: arith.constant 2.0
// CHECK: [[R:%.*]] = tile.map ({{%.*}} = [[A]]
// CHECK: arith.constant 3.0
// CHECK: tile.map ({{%.*}} = [[P]] : {{.*}}, {{%.*}} = [[P]] : {{.*}}, {{%.*}} = [[R]] :
// CHECK-NOT: tile.map
