// RUN: dt-opt %s --split-input-file --verify-diagnostics

tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = ["x"], labels = ["x"], root = "f"} {
// expected-error@above {{'tile.kernel' is malformed: the grid needs a block for each of its labels}}
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [0 : i64], grid_labels = ["x"], labels = ["x"], root = "f"} {
// expected-error@above {{'tile.kernel' is malformed: the extent of a block must be positive}}
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
// expected-error@above {{'tile.kernel' is malformed: 'y' is not a label of the kernel}}
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %n = tile.size y
}
// -----
tile.kernel @k() attributes {grid_blocks = [8 : i64], grid_labels = ["x"], labels = ["x"], programs = 1 : i32, root = "f"} {
// expected-error@above {{'tile.kernel' is malformed: 'programs' and 'tile.num_programs' go together}}
  %p = tile.program_id
}
// -----
tile.kernel @k() attributes {grid_blocks = [8 : i64], grid_labels = ["x"], labels = ["x"], root = "f"} {
// expected-error@above {{'tile.kernel' is malformed: 'programs' and 'tile.num_programs' go together}}
  %p = tile.num_programs
}
// -----
tile.kernel @k() attributes {grid_blocks = [8 : i64], grid_labels = ["x"], labels = ["x"], programs = 0 : i32, root = "f"} {
// expected-error@above {{'tile.kernel' is malformed: 'programs' must be positive}}
  %p = tile.num_programs
}
// -----
// Types.
%c = arith.constant 0.0 : f32
%v = tile.fill %c : !tile.of<x: 8, x: 8, f32>
// expected-error@above {{the axes of a tile must differ}}
// -----
%c = arith.constant 0.0 : f32
%v = tile.fill %c : !tile.of<x: 0, f32>
// expected-error@above {{the extent of an axis must be positive}}
// -----
%c = arith.constant 0.0 : f32
%v = tile.fill %c : !tile.of<f32>
// expected-error@above {{a tile has an axis at least: what has none is a scalar}}
// -----
%c = arith.constant 0.0 : f32
%v = tile.fill %c : !tile.of<x: 8, f17>
// expected-error@above {{'f17' is not an element type: there are index, f64, f32, f16, bf16, f8E4M3FN, f8E5M2, i64, i32, i16, i8, i1}}
// -----
%c = arith.constant 0.0 : f32
%v = tile.fill %c : !tile.of<x: 8, y: 4>
// expected-error@above {{'y: 4' is not an element type: there are index, f64, f32, f16, bf16, f8E4M3FN, f8E5M2, i64, i32, i16, i8, i1}}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %w = tile.fill %c : !tile.of<x: 8, f16>
  // expected-error@above {{'tile.fill' is malformed: a tile is filled with a scalar of its element type}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %w = tile.fill %q : !tile.of<x: 8, f32>
  // expected-error@above {{'%q' is not defined above}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %w = tile.fill 0.0 : !tile.of<x: 8, f32>
  // expected-error@above {{expected a value, as in '%x'}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %z = "tile.range"(%p) <{label = "x"}> : (index) -> !tile.of<x: 8, f32>
  // expected-error@above {{'tile.range' is malformed: a range is a tile of indices along one axis}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = "tile.range"(%p) <{label = "x", step = 0 : i64}> : (index) -> !tile.of<x: 8, index>
  // expected-error@above {{'tile.range' is malformed: the step of a range must be positive}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x from %p step 2
  // expected-error@above {{'tile.range' is malformed: a range of a whole label has no step}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %u = tile.joined_range u (u: 8 from %p)
  // expected-error@above {{'tile.joined_range' is malformed: a joined range has two sides or more}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %u, %v = tile.joined_range u_v (u: 2 from %p to %p, v: 8 from %p)
  // expected-error@above {{'tile.joined_range' is malformed: either all sides of a joined range have a bound, or none has}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %u, %v = "tile.joined_range"(%p, %p) <{labels = ["u", "v"], sides = [-2 : i64, -4 : i64], operandSegmentSizes = array<i32: 2, 0>}> : (index, index) -> (!tile.of<j: 8, index>, !tile.of<j: 8, index>)
  // expected-error@above {{'tile.joined_range' is malformed: the extent of a side must be positive}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %u, %v = "tile.joined_range"(%p, %p) <{labels = ["u", "v"], sides = [2 : i64, 4 : i64], operandSegmentSizes = array<i32: 2, 0>}> : (index, index) -> (!tile.of<j: 8, index>, !tile.of<j: 4, index>)
  // expected-error@above {{'tile.joined_range' is malformed: a joined range gives tiles of indices along one axis, which has as many elements as its box}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %u, %v = "tile.joined_range"(%p, %p) <{labels = ["u"], sides = [2 : i64, 4 : i64], operandSegmentSizes = array<i32: 2, 0>}> : (index, index) -> (!tile.of<j: 8, index>, !tile.of<j: 8, index>)
  // expected-error@above {{'tile.joined_range' is malformed: each side of a joined range has a label, an extent, an origin}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %m = tile.mask %v below %p
  // expected-error@above {{'tile.mask' is malformed: a mask is taken of the indices along one axis}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %m = "tile.mask"(%x, %p) : (!tile.of<x: 8, index>, index) -> !tile.of<y: 8, i1>
  // expected-error@above {{'tile.mask' is malformed: a mask is a tile of 'i1' along the axis of its indices}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %m = tile.mask %x below %p divisor 0
  // expected-error@above {{'tile.mask' is malformed: the divisor of a mask must be positive}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %m = tile.mask %x below %p whole
  // expected-error@above {{'tile.mask' is malformed: only an axis of a whole label can be exactly as long as it}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %a = tile.load %p[%x]
  // expected-error@above {{expected a tensor in memory, not a value of index}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %a = tile.load %A[%x, %x]
  // expected-error@above {{'tile.load' is malformed: a tensor of 1 axes has 2 indices}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %a = tile.load %A[%v]
  // expected-error@above {{'tile.load' is malformed: an index is an 'index' or a tile of them}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %a = tile.load %A[%x] masked [%v] pad 0.0
  // expected-error@above {{'tile.load' is malformed: a mask is a tile of 'i1'}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %m = tile.mask %y below %p
  %a = tile.load %A[%x] masked [%m] pad 0.0
  // expected-error@above {{'tile.load' is malformed: a mask has an axis that the indices have not}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %a = tile.load %A[%x] : !tile.of<y: 4, f32>
  // expected-error@above {{'tile.load' is malformed: the tile has an axis 'y' that no index has}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %a = tile.load %A[%x] : !tile.of<x: 8, f16>
  // expected-error@above {{an element of memref<?xf32> is not of !tile.of<x: 8, f16>}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %a = "tile.load"(%A, %x) <{operandSegmentSizes = array<i32: 0, 1, 1, 0>}> : (memref<?xf32>, !tile.of<x: 8, index>) -> !tile.of<x: 8, f16>
  // expected-error@above {{'tile.load' is malformed: an element of memref<?xf32> is not of type f16}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %a = tile.load %A[%x] : f32
  // expected-error@above {{'tile.load' is malformed: the tile must have the axes that the indices have}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %m = tile.mask %x below %p
  %a = tile.load %A[%x] masked [%m]
  // expected-error@above {{'tile.load' is malformed: a load has a pad where it has masks, and only there}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %m = tile.mask %x below %p
  %a = "tile.load"(%m, %A, %x) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (!tile.of<x: 8, i1>, memref<?xf32>, !tile.of<x: 8, index>) -> !tile.of<x: 8, f32>
  // expected-error@above {{'tile.load' is malformed: a load has a fill where it has bounds, and only there}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %m = tile.mask %x below %p
  %a = tile.load %A[%x] inside [%v] fill 0.0
  // expected-error@above {{'tile.load' is malformed: a bound is an 'i1' or a tile of them}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %m = tile.mask %x below %p
  %n = tile.mask %y below %p
  %a = tile.load %A[%x] inside [%n] fill 0.0
  // expected-error@above {{'tile.load' is malformed: a bound has an axis that the indices have not}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %m = tile.mask %x below %p
  %a = tile.load %A[%x] inside [%m]
}
// expected-error@above {{Expected 'fill'}}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %m = tile.mask %x below %p
  %a = tile.load %A[%x] inside [%m] fill true
  // expected-error@above {{true is not of type f32}}
}
// -----
tile.kernel @k(%A: memref<?xf16> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %m = tile.mask %x below %p
  %a = tile.load %A[%x] inside [%m] fill 1.0e30
  // expected-error@above {{a number is too large for its type}}
  // expected-help@above {{write inf}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %m = tile.mask %x below %p
  %a = "tile.load"(%A, %x, %m) <{operandSegmentSizes = array<i32: 0, 1, 1, 1>, pad = 0 : i32}> : (memref<?xf32>, !tile.of<x: 8, index>, !tile.of<x: 8, i1>) -> !tile.of<x: 8, f32>
  // expected-error@above {{'tile.load' is malformed: the pad must be of type f32}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %m = tile.mask %x below %p
  %a = tile.load %A[%x] masked [%m] pad zero
  // expected-error@above {{expected a number}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %a = tile.load %A[%x] eviction_policy "normal"
  // expected-error@above {{'tile.load' is malformed: 'normal' is not an eviction policy; there are evict_first and evict_last}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  tile.store %c, %A[%x]
  // expected-error@above {{'tile.store' is malformed: the tile must have the axes that the indices have}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %b = tile.map (%e = %v) -> !tile.of<y: 4, f32> {
  // expected-error@above {{'tile.map' is malformed: !tile.of<x: 8, f32> does not broadcast to !tile.of<y: 4, f32>}}
    tile.yield %e : f32
  }
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %b = tile.map (%e = %v) -> !tile.of<x: 8, f16> {
  // expected-error@above {{'tile.map' is malformed: the body of a map must yield an element of its result}}
    tile.yield %e : f32
  }
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %b = tile.map (%e = %v) {
  // expected-error@above {{'tile.map' is malformed: 'tile.program_id' cannot stand in the body of a map}}
    %q = tile.program_id
    tile.yield %e : f32
  }
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %b = "tile.map"(%v) ({
  // expected-error@above {{'tile.map' is malformed: the body of a map takes one element of each operand}}
  ^bb0:
    %q = arith.constant 0.0 : f32
    tile.yield %q : f32
  }) : (!tile.of<x: 8, f32>) -> !tile.of<x: 8, f32>
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %b = "tile.map"(%v) ({
  // expected-error@above {{'tile.map' is malformed: an element of !tile.of<x: 8, f32> is not of type f16}}
  ^bb0(%q : f16):
    %e = arith.constant 0.0 : f32
    tile.yield %e : f32
  }) : (!tile.of<x: 8, f32>) -> !tile.of<x: 8, f32>
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %w = tile.fill %c : !tile.of<y: 4, f32>
  %b = tile.map (%e = %v, %g = %w) {
  // expected-error@above {{no operand of the map has all axes of its result; write '-> !tile.of<…>' before the body}}
    %h = arith.addf %e, %g : f32
    tile.yield %h : f32
  }
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %b = tile.map (%e = %v) {
  // expected-error@above {{the body of a map ends with 'tile.yield'}}
    %h = arith.negf %e : f32
  }
}
// -----
// The form of one line.
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %b = tile.map memref.load %v
  // expected-error@above {{'memref.load' cannot stand in the body of a map}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %b = tile.map arith.nothing %v
  // expected-error@above {{'arith.nothing' cannot stand in the body of a map}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %w = tile.fill %c : !tile.of<y: 4, f32>
  %b = tile.map arith.addf %v, %w
  // expected-error@above {{no operand of the map has all axes of its result; a result's type is written as ': !tile.of<x, f32>'}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %b = tile.map arith.cmpf lt, %v, 0.0
  // expected-error@above {{'lt' is not a comparison of 'arith.cmpf': false, oeq, ogt, oge, olt, ole, one, ord, ueq, ugt, uge, ult, ule, une, uno, true}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %b = tile.map arith.addf %v, zero
  // expected-error@above {{expected a value or a number, as in '%x' or '-inf'}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %b = tile.map arith.addf 1.0, 2.0
  // expected-error@above {{a map works on a tile at least}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %b = tile.map arith.addi %x, 1.5
  // expected-error@above {{1.5 is not of type index}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %b = tile.map arith.addf %v, -%v
  // expected-error@above {{expected a number after '-'}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %r = tile.reduce dot %v along x
  // expected-error@above {{'tile.reduce' is malformed: 'dot' has an operation of its own}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %r = tile.reduce add %v along y
  // expected-error@above {{'tile.reduce' is malformed: there is no axis 'y' to reduce along}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %r = "tile.reduce"(%v) <{kind = #elem<reduction add>, axis = "x"}> : (!tile.of<x: 8, f32>) -> !tile.of<x: 8, f32>
  // expected-error@above {{'tile.reduce' is malformed: the result must have the axes without 'x'}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %r = tile.reduce add %v, %v along x
  // expected-error@above {{expected one operand, not 2}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %r:2 = tile.arg_reduce add %v, %v along x
  // expected-error@above {{'tile.arg_reduce' is malformed: 'add' gives no index}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %r:2 = tile.arg_reduce argmax %v, %v along x
  // expected-error@above {{'tile.arg_reduce' is malformed: an index is an 'i64'}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %h = arith.constant 0 : i64
  %i = tile.fill %h : !tile.of<x: 8, i64>
  %r:2 = "tile.arg_reduce"(%v, %i) <{kind = #elem<reduction argmax>, axis = "x"}> : (!tile.of<x: 8, f32>, !tile.of<x: 8, i64>) -> (f16, i64)
  // expected-error@above {{'tile.arg_reduce' is malformed: an extreme element has the elements' type}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %h = arith.constant 0 : i64
  %i = tile.fill %h : !tile.of<x: 8, y: 4, i64>
  %r:2 = tile.arg_reduce argmax %v, %i along x
  // expected-error@above {{'tile.arg_reduce' is malformed: elements and indices must have the same axes}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %d = tile.dot %v, %v
  // expected-error@above {{a dot multiplies tiles (batch…, m, k) and (batch…, k, n); a result's type is written as ': !tile.of<x, f32>'}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %d = tile.dot %v, %v : !tile.of<x: 8, f32>
  // expected-error@above {{'tile.dot' is malformed: a dot multiplies tiles (batch…, m, k) and (batch…, k, n)}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %w = tile.fill %c : !tile.of<x: 8, y: 4, f32>
  %u = tile.fill %c : !tile.of<y: 4, z: 2, f32>
  %d = tile.dot %w, %u : !tile.of<z: 2, x: 8, f32>
  // expected-error@above {{'tile.dot' is malformed: the result of a dot has the axes (batch…, m, n)}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %w = tile.fill %c : !tile.of<x: 8, y: 4, f32>
  %u = tile.fill %c : !tile.of<y: 4, z: 2, f32>
  %d = tile.dot %w, %u acc %w
  // expected-error@above {{'tile.dot' is malformed: the accumulator of a dot has its result's type}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %w = tile.broadcast %v : !tile.of<y: 4, f32>
  // expected-error@above {{'tile.broadcast' is malformed: !tile.of<x: 8, f32> does not broadcast to !tile.of<y: 4, f32>}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %w = tile.transpose %v to [y]
  // expected-error@above {{expected the axes x in some order}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %w = "tile.transpose"(%v) : (!tile.of<x: 8, f32>) -> !tile.of<x: 8, f16>
  // expected-error@above {{'tile.transpose' is malformed: a transpose keeps the elements and the axes}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %w = tile.rename %v to [%y] : !tile.of<y: 4, f32>
  // expected-error@above {{'tile.rename' is malformed: renaming axes keeps the elements and the extents}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %w = tile.rename %v to [%y] : !tile.of<z: 8, f32>
  // expected-error@above {{'tile.rename' is malformed: renaming needs the range of each new axis}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 8 from %p
  %z = tile.range z: 8 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %w = tile.rename %v to [%y, %z] : !tile.of<y: 8, f32>
  // expected-error@above {{'tile.rename' is malformed: renaming takes the ranges of axes of its result alone}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %y = tile.range y: 4 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %t = "arith.constant"() <{value = dense<0.0> : tensor<8xf32>}> : () -> tensor<8xf32>
  "tile.store"(%t, %A, %x) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (tensor<8xf32>, memref<?xf32>, !tile.of<x: 8, index>) -> ()
  // expected-error@above {{'tile.store' is malformed: tensor<8xf32> is neither a tile nor a scalar}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x", "y"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 16 from %p
  %s = tile.reduce add %x along x
  // expected-error@above {{'tile.reduce' is malformed: 'add' reduces no values of index: cast them to i64}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x", "y"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 16 from %p
  %y = tile.range y: 16 from %p
  %m = tile.map (%a = %x, %b = %y) -> !tile.of<x: 16, y: 16, index> {
    %c = arith.addi %a, %b : index
    tile.yield %c : index
  }
  %z = tile.range z: 16 from %p
  %n = tile.map (%a = %y, %b = %z) -> !tile.of<y: 16, z: 16, index> {
    %c = arith.addi %a, %b : index
    tile.yield %c : index
  }
  %d = tile.dot %m, %n
  // expected-error@above {{a dot multiplies no values of index: cast them to i64}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %r = tile.scan dot %v along x
  // expected-error@above {{'tile.scan' is malformed: 'dot' is not combined up to each element}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %r = tile.scan add %v along y
  // expected-error@above {{'tile.scan' is malformed: there is no axis 'y' to combine along}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id
  %x = tile.range x: 8 from %p
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : !tile.of<x: 8, f32>
  %r = "tile.scan"(%v) <{kind = #elem<reduction add>, axis = "x"}> : (!tile.of<x: 8, f32>) -> f32
  // expected-error@above {{'tile.scan' is malformed: the result is a tile of the operand's type}}
}
