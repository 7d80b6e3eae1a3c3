// RUN: dt-opt %s -p verify-tile --split-input-file --verify-diagnostics
tile.kernel @f(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "A"} {
  %c0 = arith.constant 0 : index
  %a = tile.load %A[%c0]
  tile.store %a, %A[%c0]
  // expected-error@above {{a kernel stores to a tensor that it loads from}}
}
// -----
tile.kernel @f() attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "A"} {
// expected-error@above {{the axis 'x' has 6 elements, which is not a power of two}}
// expected-help@above {{run tile-place-masks first}}
  %c0 = arith.constant 0 : index
  %x = tile.range x: 6 from %c0
}
// -----
tile.kernel @f() attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "A"} {
  %p = memref.alloc() : memref<f32>
  // expected-error@above {{'memref.alloc' cannot stand in a 'tile.kernel'}}
}
// -----
tile.kernel @f(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "A"} {
// expected-error@above {{the kernel never stores 'A'}}
}
// -----
tile.kernel @f() attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "A"} {
// expected-error@above {{'y' is not a label of the kernel}}
  %c0 = arith.constant 0 : index
  %x = tile.range x = y from %c0
}
// -----
tile.kernel @f() attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "A"} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %x, %y = tile.joined_range x_y (x: 2 from %c0 to %c8, y: 4 from %c0 to %c8)
  // expected-error@above {{the axis 'x_y' still has bounds}}
  // expected-help@above {{run tile-place-masks first}}
}
// -----
tile.kernel @f() attributes {grid_blocks = [8 : i64], grid_labels = ["x"], labels = ["x"], persistent = 1 : i32, root = "A"} {
// expected-error@above {{the instances of a persistent kernel do not walk its blocks yet}}
// expected-help@above {{run tile-walk-blocks first}}
  %p = tile.program_id
}
// -----
tile.kernel @f() attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "A"} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %step = arith.addi %c8, %c8 : index
  scf.for %i = %c0 to %c8 step %step {
  // expected-error@above {{the step of a loop must be a positive constant}}
  // expected-help@above {{fold what it is computed of, as canonicalize does}}
  }
}
