// PASSES: tile-elide-masks
// One load that two reductions mask differently: its stand-in can serve one of them alone.
!t = !tile.of<k: 8, f32>
tile.kernel @shared(%A: memref<?xf32> {host.name = "A", host.axes = ["k"]}, %f: memref<f32> {host.name = "f", host.axes = []}) attributes {grid_blocks = [], grid_labels = [], labels = ["k"], root = "f"} {
  %c0 = arith.constant 0 : index
  %n = tile.size k
  %k = tile.range k: 8 from %c0
  %mask = tile.mask %k below %n
  %a = tile.load %A[%k] masked [%mask] pad 0.0
  %s = tile.map (%w = %mask, %u = %a) -> !t {
    %0 = arith.constant 0.0 : f32
    %1 = arith.select %w, %u, %0 : f32
    tile.yield %1 : f32
  }
  %r = tile.reduce add %s along k
  %p = tile.map (%w = %mask, %u = %a) -> !t {
    %0 = arith.constant 1.0 : f32
    %1 = arith.select %w, %u, %0 : f32
    tile.yield %1 : f32
  }
  %q = tile.reduce mul %p along k
  %d = arith.subf %r, %q : f32
  tile.store %d, %f[]
}
// What one axis' mask selects says nothing about what lies beyond the end of another.
!xk = !tile.of<x: 4, k: 8, f32>
tile.kernel @others(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {grid_blocks = [4 : i64], grid_labels = ["x"], labels = ["x", "k"], root = "f"} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %n = tile.size k
  %s = tile.size x
  %pid = tile.program_id
  %x0 = arith.muli %pid, %c4 : index
  %x = tile.range x: 4 from %x0
  %k = tile.range k: 8 from %c0
  %xm = tile.mask %x below %s
  %km = tile.mask %k below %n
  %a = tile.load %A[%x] masked [%xm] pad 0.0 : !tile.of<x: 4, f32>
  %d = tile.map (%u = %a, %v = %k) -> !xk {
    %0 = arith.constant 1.0 : f32
    %1 = arith.addf %u, %0 : f32
    tile.yield %1 : f32
  }
  %b = tile.map (%w = %xm, %u = %d) -> !xk {
    %0 = arith.constant 0.0 : f32
    %1 = arith.select %w, %u, %0 : f32
    tile.yield %1 : f32
  }
  %c = tile.map (%w = %km, %u = %b) -> !xk {
    %0 = arith.constant 0.0 : f32
    %1 = arith.select %w, %u, %0 : f32
    tile.yield %1 : f32
  }
  %r = tile.reduce add %c along k
  tile.store %r, %f[%x] masked [%xm]
}
