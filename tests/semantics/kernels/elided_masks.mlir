// PASSES: tile-elide-masks
// One load that two reductions mask differently: its stand-in can serve one of them alone.
!i = tensor<8xindex, #tile.axes<k>>
!m = tensor<8xi1, #tile.axes<k>>
!t = tensor<8xf32, #tile.axes<k>>
tile.kernel @shared(%A: memref<?xf32> {host.name = "A", host.axes = ["k"]}, %f: memref<f32> {host.name = "f", host.axes = []}) attributes {grid_blocks = [], grid_labels = [], labels = ["k"], root = "f"} {
  %c0 = arith.constant 0 : index
  %n = tile.size "k" : index
  %k = tile.range "k" from %c0 : !i
  %mask = tile.mask %k below %n : !i -> !m
  %a = tile.load %A[%k] masked[%mask : !m] pad 0.0 : f32 : memref<?xf32>[!i] -> !t
  %s = tile.map (%w = %mask : !m, %u = %a : !t) -> !t {
    %0 = arith.constant 0.0 : f32
    %1 = arith.select %w, %u, %0 : f32
    tile.yield %1 : f32
  }
  %r = tile.reduce add %s along "k" : !t -> f32
  %p = tile.map (%w = %mask : !m, %u = %a : !t) -> !t {
    %0 = arith.constant 1.0 : f32
    %1 = arith.select %w, %u, %0 : f32
    tile.yield %1 : f32
  }
  %q = tile.reduce mul %p along "k" : !t -> f32
  %d = arith.subf %r, %q : f32
  tile.store %d, %f[] : f32, memref<f32>[]
}
// What one axis' mask selects says nothing about what lies beyond the end of another.
!xi = tensor<4xindex, #tile.axes<x>>
!xm = tensor<4xi1, #tile.axes<x>>
!xk = tensor<4x8xf32, #tile.axes<x, k>>
tile.kernel @others(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {grid_blocks = [4 : i64], grid_labels = ["x"], labels = ["x", "k"], root = "f"} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %n = tile.size "k" : index
  %s = tile.size "x" : index
  %pid = tile.program_id : index
  %x0 = arith.muli %pid, %c4 : index
  %x = tile.range "x" from %x0 : !xi
  %k = tile.range "k" from %c0 : !i
  %xm = tile.mask %x below %s : !xi -> !xm
  %km = tile.mask %k below %n : !i -> !m
  %a = tile.load %A[%x] masked[%xm : !xm] pad 0.0 : f32 : memref<?xf32>[!xi] -> tensor<4xf32, #tile.axes<x>>
  %d = tile.map (%u = %a : tensor<4xf32, #tile.axes<x>>, %v = %k : !i) -> !xk {
    %0 = arith.constant 1.0 : f32
    %1 = arith.addf %u, %0 : f32
    tile.yield %1 : f32
  }
  %b = tile.map (%w = %xm : !xm, %u = %d : !xk) -> !xk {
    %0 = arith.constant 0.0 : f32
    %1 = arith.select %w, %u, %0 : f32
    tile.yield %1 : f32
  }
  %c = tile.map (%w = %km : !m, %u = %b : !xk) -> !xk {
    %0 = arith.constant 0.0 : f32
    %1 = arith.select %w, %u, %0 : f32
    tile.yield %1 : f32
  }
  %r = tile.reduce add %c along "k" : !xk -> tensor<4xf32, #tile.axes<x>>
  tile.store %r, %f[%x] masked[%xm : !xm] : tensor<4xf32, #tile.axes<x>>, memref<?xf32>[!xi]
}
