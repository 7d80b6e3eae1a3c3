// RUN: dt-opt %s -p tile-elide-masks | filecheck %s
!i = tensor<8xindex, #tile.axes<k>>
!m = tensor<8xi1, #tile.axes<k>>
!t = tensor<8xf32, #tile.axes<k>>
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["k"]}, %f: memref<f32> {host.name = "f", host.axes = []}) attributes {grid_blocks = [], grid_labels = [], labels = ["k"], root = "f"} {
  %c0 = arith.constant 0 : index
  %n = tile.size "k" : index
  %k = tile.range "k" from %c0 : !i
  %mask = tile.mask %k below %n : !i -> !m
  // CHECK: %[[A:.*]] = tile.load {{.*}} pad 0xff800000 : f32
  %a = tile.load %A[%k] masked[%mask : !m] pad 0.0 : f32 : memref<?xf32>[!i] -> !t
  // CHECK-NEXT: %[[E:.*]] = tile.map (%{{.*}} = %[[A]]
  %e = tile.map (%u = %a : !t) -> !t {
    %0 = math.exp %u : f32
    tile.yield %0 : f32
  }
  %s = tile.map (%m = %mask : !m, %u = %e : !t) -> !t {
    %0 = arith.constant 0.0 : f32
    %1 = arith.select %m, %u, %0 : f32
    tile.yield %1 : f32
  }
  // CHECK-NOT: arith.select
  // CHECK: tile.reduce add %[[E]] along "k"
  %r = tile.reduce add %s along "k" : !t -> f32
  // The load's stand-in is chosen once: what another consumer needs is selected.
  // CHECK: arith.select
  // CHECK: tile.reduce mul
  %p = tile.map (%m = %mask : !m, %u = %a : !t) -> !t {
    %0 = arith.constant 1.0 : f32
    %1 = arith.select %m, %u, %0 : f32
    tile.yield %1 : f32
  }
  %q = tile.reduce mul %p along "k" : !t -> f32
  %t = arith.addf %r, %q : f32
  tile.store %t, %f[] : f32, memref<f32>[]
}
// What another axis' mask selects says nothing about this one's.
// CHECK-LABEL: tile.kernel @others
tile.kernel @others(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "k"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x", "k"], root = "f"} {
  %c0 = arith.constant 0 : index
  %n = tile.size "k" : index
  %s = tile.size "x" : index
  %x = tile.range "x" from %c0 : tensor<4xindex, #tile.axes<x>>
  %k = tile.range "k" from %c0 : !i
  %xm = tile.mask %x below %s : tensor<4xindex, #tile.axes<x>> -> tensor<4xi1, #tile.axes<x>>
  %km = tile.mask %k below %n : !i -> !m
  %a = tile.load %A[%x, %k] : memref<?x?xf32>[tensor<4xindex, #tile.axes<x>>, !i] -> tensor<4x8xf32, #tile.axes<x, k>>
  // CHECK: arith.select
  %b = tile.map (%m = %xm : tensor<4xi1, #tile.axes<x>>, %u = %a : tensor<4x8xf32, #tile.axes<x, k>>) -> tensor<4x8xf32, #tile.axes<x, k>> {
    %0 = arith.constant 0.0 : f32
    %1 = arith.select %m, %u, %0 : f32
    tile.yield %1 : f32
  }
  // CHECK: arith.select
  %c = tile.map (%m = %km : !m, %u = %b : tensor<4x8xf32, #tile.axes<x, k>>) -> tensor<4x8xf32, #tile.axes<x, k>> {
    %0 = arith.constant 0.0 : f32
    %1 = arith.select %m, %u, %0 : f32
    tile.yield %1 : f32
  }
  // CHECK: tile.reduce add
  %r = tile.reduce add %c along "k" : tensor<4x8xf32, #tile.axes<x, k>> -> tensor<4xf32, #tile.axes<x>>
  tile.store %r, %f[%x] : tensor<4xf32, #tile.axes<x>>, memref<?xf32>[tensor<4xindex, #tile.axes<x>>]
}
