// RUN: dt-opt %s --split-input-file --verify-diagnostics

tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %c0 = arith.constant 0 : index
  %x = tile.range x: 8 from %c0
  %a = tile.load %A[%x]
  %h, %p = tile.scan maximum %a by %a along x
  // expected-error@above {{'tile.scan' is malformed: sums are multiplied by factors of their elements' type}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %c0 = arith.constant 0 : index
  %x = tile.range x: 8 from %c0
  %a = tile.load %A[%x]
  %h, %p = "tile.scan"(%a) <{kind = #elem<reduction add>, axis = "x"}> : (!tile.of<x: 8, f32>) -> (!tile.of<x: 8, f32>, !tile.of<x: 8, f32>)
  // expected-error@above {{'tile.scan' is malformed: the products are those of factors}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %c0 = arith.constant 0 : index
  %x = tile.range x: 8 from %c0
  %a = tile.load %A[%x]
  %h, %p = "tile.scan"(%a, %a) <{kind = #elem<reduction add>, axis = "x"}> : (!tile.of<x: 8, f32>, !tile.of<x: 8, f32>) -> (!tile.of<x: 8, f32>, f32)
  // expected-error@above {{'tile.scan' is malformed: the products are a tile of the factors' type}}
}
