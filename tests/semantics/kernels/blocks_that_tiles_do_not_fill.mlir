// PASSES: convert-loop-to-tile
// Blocks of 12 in tiles of 8: the second tile ends where its block does, not where the label does.
loop.kernel @sums(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x"], root = "f"} {
  loop.grid (%x0 = x size 12) order [x] {
    %r = loop.reduce add %k = x in %x0 size 12 step 8 tile of f : f32 {
      %0 = loop.read %A[%k]
      loop.yield %0 : f32
    }
    loop.for %x = x in %x0 size 12 step 4 tile of f {
      %1 = loop.read %A[%x]
      %2 = arith.mulf %1, %r : f32
      loop.write %2, %f[%x]
    }
  }
}
