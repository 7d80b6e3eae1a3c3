// PASSES: tile-hoist-reductions
// What the loop starts from, and a loop that never runs.
tile.kernel @sum(%A: memref<?xf32> {host.name = "A", host.axes = ["k"]}, %f: memref<f32> {host.name = "f", host.axes = []}) attributes {grid_blocks = [], grid_labels = [], labels = ["k"], root = "f"} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %n = tile.size k
  %start = arith.constant 3.0 : f32
  %least = arith.constant 0xff800000 : f32
  %r:3 = scf.for %k0 = %c0 to %n step %c8 iter_args(%acc = %start, %largest = %least, %factor = %start) -> (f32, f32, f32) {
    %k = tile.range k: 8 from %k0
    %mask = tile.mask %k below %n
    %a = tile.load %A[%k] masked [%mask] pad 0.0
    %s = tile.reduce add %a along k
    %1 = arith.addf %acc, %s : f32
    %b = tile.load %A[%k] masked [%mask] pad -inf
    %m = tile.reduce maximum %b along k
    %2 = arith.maximumf %largest, %m : f32
    %c = tile.load %A[%k] masked [%mask] pad 1.0
    %p = tile.reduce mul %c along k
    %3 = arith.mulf %p, %factor : f32
    scf.yield %1, %2, %3 : f32, f32, f32
  }
  %t = arith.addf %r#0, %r#1 : f32
  %u = arith.addf %t, %r#2 : f32
  tile.store %u, %f[]
}
