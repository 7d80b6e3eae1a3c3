// RUN: dt-opt %s -p tile-unroll-jam --split-input-file --verify-diagnostics
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<f32> {host.name = "f", host.axes = []}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f", unroll_jam = {x = 2 : i64}} {
  %c0 = arith.constant 0 : index
  %x = tile.range x: 8 from %c0
  %a = tile.load %A[%x]
  %s = tile.reduce add %a along x
  // expected-error@above {{the tile is reduced along 'x', and its elements are not taken apart}}
  // expected-help@above {{leave the label out of unroll_jam}}
  tile.store %s, %f[]
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<f32> {host.name = "f", host.axes = []}) attributes {grid_blocks = [], grid_labels = [], labels = ["x", "y"], root = "f", unroll_jam = {x = 2 : i64}} {
  %c0 = arith.constant 0 : index
  %x = tile.range x: 8 from %c0
  %y = tile.range y: 8 from %c0
  %a = tile.load %A[%x]
  %b = tile.rename %a to [%y] : !tile.of<y: 8, f32>
  %s = tile.reduce add %b along y
  // expected-error@above {{the tile is reduced along 'y', and its elements are not taken apart}}
  // expected-help@above {{leave the label out of unroll_jam}}
  tile.store %s, %f[]
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f", unroll_jam = {x = 3 : i64}} {
  %c0 = arith.constant 0 : index
  %x = tile.range x: 8 from %c0
  // expected-error@above {{the tile 'x: 8' has no 3 parts of one size}}
  // expected-help@above {{tensorize 'x' in a multiple of 3}}
  %a = tile.load %A[%x]
  tile.store %a, %f[%x]
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f", unroll_jam = {x = 2 : i64}} {
  %c0 = arith.constant 0 : index
  %on = arith.constant true
  %x = tile.range x: 8 from %c0
  scf.if %on {
  // expected-error@above {{'scf.if' reads a tile that is taken apart, and its region cannot be copied}}
  // expected-help@above {{leave the label out of unroll_jam}}
    %a = tile.load %A[%x]
    tile.store %a, %f[%x]
  }
}
