// RUN: dt-opt %s -p tile-unroll-jam --split-input-file --verify-diagnostics
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<f32> {host.name = "f", host.axes = []}) attributes {grid_blocks = [], grid_labels = [], labels = ["x", "y"], root = "f", unroll_jam = {x = 2 : i64}} {
  %c0 = arith.constant 0 : index
  %x = tile.range x: 8 from %c0
  %y = tile.range y: 8 from %c0
  %a = tile.load %A[%x]
  %b = tile.rename %a to [%y] : !tile.of<y: 8, f32>
  %i = tile.map arith.index_cast %y : !tile.of<y: 8, i64>
  %s, %p = tile.arg_reduce argmax %b, %i along y
  // expected-error@above {{'tile.arg_reduce' combines the elements along 'y', which are taken apart}}
  // expected-help@above {{leave the label out of unroll_jam}}
  tile.store %s, %f[]
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<f32> {host.name = "f", host.axes = []}) attributes {grid_blocks = [], grid_labels = [], labels = ["x", "y"], root = "f", unroll_jam = {x = 2 : i64}} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %a = tile.fill %zero : !tile.of<x: 8, f32>
  %x = tile.range x: 8 from %c0
  %s = tile.reduce add %a along x
  tile.store %s, %f[]
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<f32> {host.name = "f", host.axes = []}) attributes {grid_blocks = [], grid_labels = [], labels = ["x", "y"], root = "f", unroll_jam = {x = 2 : i64}} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %a = tile.fill %zero : !tile.of<x: 8, f32>
  %s = tile.reduce add %a along x
  // expected-error@above {{no range of the axis 'x' is in scope where 'tile.reduce' needs its end}}
  // expected-help@above {{each axis of a tile comes from a 'tile.range' that dominates the tile}}
  %x = tile.range x: 8 from %c0
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
// -----
tile.kernel @k(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "y"]}, %f: memref<?x?xf32> {host.name = "f", host.axes = ["x", "z"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x", "y", "z"], root = "f", unroll_jam = {z = 4 : i64}} {
  %c0 = arith.constant 0 : index
  %x = tile.range x: 16 from %c0
  %y = tile.range y: 16 from %c0
  %z = tile.range z: 32 from %c0
  %a = tile.load %A[%x, %y]
  %b = tile.load %A[%y, %z]
  %d = tile.dot %a, %b
  // expected-error@above {{a product of matrices would have 8 elements along 'z', fewer than the 16 that tensor cores multiply at once}}
  // expected-help@above {{leave 16 or more in unroll_jam}}
  tile.store %d, %f[%x, %z]
}
