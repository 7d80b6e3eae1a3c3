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
// -----
tile.kernel @f(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x", "y"], root = "A"} {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %x = tile.range x: 4 from %c0
  %y = tile.range y: 1048576 from %c0
  // expected-error@above {{a tile of x: 4 x y: 1048576 has 4194304 elements in the kernel of 'A', more than Triton's 1048576}}
  // expected-help@above {{tensorize 'y' by less}}
  %a = tile.map arith.addi %x, %y : !tile.of<x: 4, y: 1048576, index>
  tile.store %one, %A[%c0]
}
// -----
host.func @f(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) -> memref<?xf32> attributes {labels = ["x"]} {
  %x = host.size x
  %g = host.alloc g[x](%x) : memref<?xf32>
  %f = host.alloc f[x](%x) : memref<?xf32>
  host.launch @f_kernel(%g, %f)
  // expected-error@above {{'f' loads from 'g', to which no kernel has stored}}
  // expected-help@above {{launch the kernel that stores to 'g' before it}}
  host.launch @g_kernel(%A, %g)
  host.return %f
}
tile.kernel @g_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %g: memref<?xf32> {host.name = "g", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "g"} {
  %c0 = arith.constant 0 : index
  %a = tile.load %A[%c0]
  tile.store %a, %g[%c0]
}
tile.kernel @f_kernel(%g: memref<?xf32> {host.name = "g", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %c0 = arith.constant 0 : index
  %a = tile.load %g[%c0]
  tile.store %a, %f[%c0]
}
