// RUN: dt-opt %s --split-input-file --verify-diagnostics
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, y: 4, z: 2, f32>
  %r = tile.multi_reduce dot %v along x, y
  // expected-error@above {{'tile.multi_reduce' is malformed: 'dot' has an operation of its own}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, y: 4, z: 2, f32>
  %r = tile.multi_reduce add %v along x
  // expected-error@above {{'tile.multi_reduce' is malformed: it reduces along two or more axes, each named once}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, y: 4, z: 2, f32>
  %r = tile.multi_reduce add %v along x, x
  // expected-error@above {{'tile.multi_reduce' is malformed: it reduces along two or more axes, each named once}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, y: 4, z: 2, f32>
  %r = tile.multi_reduce add %v along x, w
  // expected-error@above {{'tile.multi_reduce' is malformed: there is no axis 'w' to reduce along}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, y: 4, z: 2, f32>
  %r = tile.multi_reduce add %v along z, x
  // expected-error@above {{'tile.multi_reduce' is malformed: the axes z, x are no neighbours in a tile of x, y, z}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, y: 4, z: 2, f32>
  %r = "tile.multi_reduce"(%v) <{kind = #elem<reduction add>, axes = ["x", "y"]}> : (!tile.of<x: 8, y: 4, z: 2, f32>) -> !tile.of<x: 8, f32>
  // expected-error@above {{'tile.multi_reduce' is malformed: the result must have the axes without x, y}}
}
