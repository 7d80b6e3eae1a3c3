// RUN: INVALID | filecheck %s

tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = ["x"], labels = ["x"], root = "f"} {
  %p = tile.program_id : index
  %x = tile.range "x" from %p : tensor<8xindex, #tile.axes<x>>
  %y = tile.range "y" from %p : tensor<4xindex, #tile.axes<y>>
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : f32 -> tensor<8xf32, #tile.axes<x>>

}
// CHECK: 'tile.kernel' is malformed: the grid needs a block for each of its labels
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [0 : i64], grid_labels = ["x"], labels = ["x"], root = "f"} {
  %p = tile.program_id : index
  %x = tile.range "x" from %p : tensor<8xindex, #tile.axes<x>>
  %y = tile.range "y" from %p : tensor<4xindex, #tile.axes<y>>
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : f32 -> tensor<8xf32, #tile.axes<x>>

}
// CHECK: 'tile.kernel' is malformed: the extent of a block must be positive
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id : index
  %x = tile.range "x" from %p : tensor<8xindex, #tile.axes<x>>
  %y = tile.range "y" from %p : tensor<4xindex, #tile.axes<y>>
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : f32 -> tensor<8xf32, #tile.axes<x>>
  %z = tile.range "x" from %p : tensor<8xindex>
}
// CHECK: 'tile.range' is malformed: tensor<8xindex> does not name its axes
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id : index
  %x = tile.range "x" from %p : tensor<8xindex, #tile.axes<x>>
  %y = tile.range "y" from %p : tensor<4xindex, #tile.axes<y>>
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : f32 -> tensor<8xf32, #tile.axes<x>>
  %z = tile.range "x" from %p : tensor<8xindex, #tile.axes<x, y>>
}
// CHECK: needs a name for each of its axes
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id : index
  %x = tile.range "x" from %p : tensor<8xindex, #tile.axes<x>>
  %y = tile.range "y" from %p : tensor<4xindex, #tile.axes<y>>
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : f32 -> tensor<8xf32, #tile.axes<x>>
  %z = tile.range "x" from %p : tensor<8xindex, #tile.axes<x = x>>
}
// CHECK: needs a label for each unknown extent, and only there
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id : index
  %x = tile.range "x" from %p : tensor<8xindex, #tile.axes<x>>
  %y = tile.range "y" from %p : tensor<4xindex, #tile.axes<y>>
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : f32 -> tensor<8xf32, #tile.axes<x>>
  %z = tile.range "x" from %p : tensor<0xindex, #tile.axes<x>>
}
// CHECK: has an empty axis
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id : index
  %x = tile.range "x" from %p : tensor<8xindex, #tile.axes<x>>
  %y = tile.range "y" from %p : tensor<4xindex, #tile.axes<y>>
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : f32 -> tensor<8xf32, #tile.axes<x>>
  %z = tile.range "x" from %p : tensor<8xf32, #tile.axes<x>>
}
// CHECK: 'tile.range' is malformed: a range is a tile of indices along one axis
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id : index
  %x = tile.range "x" from %p : tensor<8xindex, #tile.axes<x>>
  %y = tile.range "y" from %p : tensor<4xindex, #tile.axes<y>>
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : f32 -> tensor<8xf32, #tile.axes<x>>
  %m = tile.mask %v below %p : tensor<8xf32, #tile.axes<x>> -> tensor<8xi1, #tile.axes<x>>
}
// CHECK: 'tile.mask' is malformed: a mask is taken of the indices along one axis
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id : index
  %x = tile.range "x" from %p : tensor<8xindex, #tile.axes<x>>
  %y = tile.range "y" from %p : tensor<4xindex, #tile.axes<y>>
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : f32 -> tensor<8xf32, #tile.axes<x>>
  %m = tile.mask %x below %p : tensor<8xindex, #tile.axes<x>> -> tensor<8xi1, #tile.axes<y>>
}
// CHECK: 'tile.mask' is malformed: a mask is a tile of 'i1' along the axis of its indices
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id : index
  %x = tile.range "x" from %p : tensor<8xindex, #tile.axes<x>>
  %y = tile.range "y" from %p : tensor<4xindex, #tile.axes<y>>
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : f32 -> tensor<8xf32, #tile.axes<x>>
  %m = tile.mask %x below %p divisor(0) : tensor<8xindex, #tile.axes<x>> -> tensor<8xi1, #tile.axes<x>>
}
// CHECK: 'tile.mask' is malformed: the divisor of a mask must be positive
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id : index
  %x = tile.range "x" from %p : tensor<8xindex, #tile.axes<x>>
  %y = tile.range "y" from %p : tensor<4xindex, #tile.axes<y>>
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : f32 -> tensor<8xf32, #tile.axes<x>>
  %m = tile.mask %x below %p whole : tensor<8xindex, #tile.axes<x>> -> tensor<8xi1, #tile.axes<x>>
}
// CHECK: 'tile.mask' is malformed: only an axis of a whole label can be exactly as long as it
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id : index
  %x = tile.range "x" from %p : tensor<8xindex, #tile.axes<x>>
  %y = tile.range "y" from %p : tensor<4xindex, #tile.axes<y>>
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : f32 -> tensor<8xf32, #tile.axes<x>>
  %a = tile.load %A[%x, %x] : memref<?xf32>[tensor<8xindex, #tile.axes<x>>, tensor<8xindex, #tile.axes<x>>] -> tensor<8xf32, #tile.axes<x>>
}
// CHECK: 'tile.load' is malformed: a tensor of 1 axes has 2 indices
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id : index
  %x = tile.range "x" from %p : tensor<8xindex, #tile.axes<x>>
  %y = tile.range "y" from %p : tensor<4xindex, #tile.axes<y>>
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : f32 -> tensor<8xf32, #tile.axes<x>>
  %a = tile.load %A[%v] : memref<?xf32>[tensor<8xf32, #tile.axes<x>>] -> tensor<8xf32, #tile.axes<x>>
}
// CHECK: 'tile.load' is malformed: an index is an 'index' or a tile of them
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id : index
  %x = tile.range "x" from %p : tensor<8xindex, #tile.axes<x>>
  %y = tile.range "y" from %p : tensor<4xindex, #tile.axes<y>>
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : f32 -> tensor<8xf32, #tile.axes<x>>
  %a = tile.load %A[%x] masked[%v : tensor<8xf32, #tile.axes<x>>] pad 0.0 : f32 : memref<?xf32>[tensor<8xindex, #tile.axes<x>>] -> tensor<8xf32, #tile.axes<x>>
}
// CHECK: 'tile.load' is malformed: a mask is a tile of 'i1'
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id : index
  %x = tile.range "x" from %p : tensor<8xindex, #tile.axes<x>>
  %y = tile.range "y" from %p : tensor<4xindex, #tile.axes<y>>
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : f32 -> tensor<8xf32, #tile.axes<x>>
  %m = tile.mask %y below %p : tensor<4xindex, #tile.axes<y>> -> tensor<4xi1, #tile.axes<y>>
  %a = tile.load %A[%x] masked[%m : tensor<4xi1, #tile.axes<y>>] pad 0.0 : f32 : memref<?xf32>[tensor<8xindex, #tile.axes<x>>] -> tensor<8xf32, #tile.axes<x>>
}
// CHECK: 'tile.load' is malformed: a mask has an axis that the indices have not
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id : index
  %x = tile.range "x" from %p : tensor<8xindex, #tile.axes<x>>
  %y = tile.range "y" from %p : tensor<4xindex, #tile.axes<y>>
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : f32 -> tensor<8xf32, #tile.axes<x>>
  %a = tile.load %A[%x] : memref<?xf32>[tensor<8xindex, #tile.axes<x>>] -> tensor<4xf32, #tile.axes<y>>
}
// CHECK: 'tile.load' is malformed: the tile has an axis 'y' that no index has
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id : index
  %x = tile.range "x" from %p : tensor<8xindex, #tile.axes<x>>
  %y = tile.range "y" from %p : tensor<4xindex, #tile.axes<y>>
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : f32 -> tensor<8xf32, #tile.axes<x>>
  %a = tile.load %A[%x] : memref<?xf32>[tensor<8xindex, #tile.axes<x>>] -> tensor<8xf16, #tile.axes<x>>
}
// CHECK: 'tile.load' is malformed: an element of memref<?xf32> is no f16
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id : index
  %x = tile.range "x" from %p : tensor<8xindex, #tile.axes<x>>
  %y = tile.range "y" from %p : tensor<4xindex, #tile.axes<y>>
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : f32 -> tensor<8xf32, #tile.axes<x>>
  %a = tile.load %A[%x] : memref<?xf32>[tensor<8xindex, #tile.axes<x>>] -> f32
}
// CHECK: 'tile.load' is malformed: the tile must have the axes that the indices have
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id : index
  %x = tile.range "x" from %p : tensor<8xindex, #tile.axes<x>>
  %y = tile.range "y" from %p : tensor<4xindex, #tile.axes<y>>
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : f32 -> tensor<8xf32, #tile.axes<x>>
  %m = tile.mask %x below %p : tensor<8xindex, #tile.axes<x>> -> tensor<8xi1, #tile.axes<x>>
  %a = tile.load %A[%x] masked[%m : tensor<8xi1, #tile.axes<x>>] : memref<?xf32>[tensor<8xindex, #tile.axes<x>>] -> tensor<8xf32, #tile.axes<x>>
}
// CHECK: 'tile.load' is malformed: a load has a pad where it has masks, and only there
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id : index
  %x = tile.range "x" from %p : tensor<8xindex, #tile.axes<x>>
  %y = tile.range "y" from %p : tensor<4xindex, #tile.axes<y>>
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : f32 -> tensor<8xf32, #tile.axes<x>>
  %m = tile.mask %x below %p : tensor<8xindex, #tile.axes<x>> -> tensor<8xi1, #tile.axes<x>>
  %a = tile.load %A[%x] masked[%m : tensor<8xi1, #tile.axes<x>>] pad 0.0 : f16 : memref<?xf32>[tensor<8xindex, #tile.axes<x>>] -> tensor<8xf32, #tile.axes<x>>
}
// CHECK: 'tile.load' is malformed: the pad must be of type f32
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id : index
  %x = tile.range "x" from %p : tensor<8xindex, #tile.axes<x>>
  %a = tile.load %A[%x] eviction_policy "normal" : memref<?xf32>[tensor<8xindex, #tile.axes<x>>] -> tensor<8xf32, #tile.axes<x>>
}
// CHECK: 'tile.load' is malformed: 'normal' is no eviction policy; there are evict_first and evict_last
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id : index
  %x = tile.range "x" from %p : tensor<8xindex, #tile.axes<x>>
  %y = tile.range "y" from %p : tensor<4xindex, #tile.axes<y>>
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : f32 -> tensor<8xf32, #tile.axes<x>>
  tile.store %c, %A[%x] : f32, memref<?xf32>[tensor<8xindex, #tile.axes<x>>]
}
// CHECK: 'tile.store' is malformed: the tile must have the axes that the indices have
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id : index
  %x = tile.range "x" from %p : tensor<8xindex, #tile.axes<x>>
  %y = tile.range "y" from %p : tensor<4xindex, #tile.axes<y>>
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : f32 -> tensor<8xf32, #tile.axes<x>>
  %b = tile.map (%e = %v : tensor<8xf32, #tile.axes<x>>) -> tensor<4xf32, #tile.axes<y>> {
    tile.yield %e : f32
  }
}
// CHECK: 'tile.map' is malformed: tensor<8xf32, #tile.axes<x>> does not broadcast to tensor<4xf32, #tile.axes<y>>
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id : index
  %x = tile.range "x" from %p : tensor<8xindex, #tile.axes<x>>
  %y = tile.range "y" from %p : tensor<4xindex, #tile.axes<y>>
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : f32 -> tensor<8xf32, #tile.axes<x>>
  %b = tile.map (%e = %v : tensor<8xf32, #tile.axes<x>>) -> tensor<8xf16, #tile.axes<x>> {
    tile.yield %e : f32
  }
}
// CHECK: 'tile.map' is malformed: the body of a map must yield an element of its result
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id : index
  %x = tile.range "x" from %p : tensor<8xindex, #tile.axes<x>>
  %y = tile.range "y" from %p : tensor<4xindex, #tile.axes<y>>
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : f32 -> tensor<8xf32, #tile.axes<x>>
  %b = tile.map (%e = %v : tensor<8xf32, #tile.axes<x>>) -> tensor<8xf32, #tile.axes<x>> {
    %q = tile.program_id : index
    tile.yield %e : f32
  }
}
// CHECK: 'tile.map' is malformed: 'tile.program_id' cannot stand in the body of a map
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id : index
  %x = tile.range "x" from %p : tensor<8xindex, #tile.axes<x>>
  %y = tile.range "y" from %p : tensor<4xindex, #tile.axes<y>>
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : f32 -> tensor<8xf32, #tile.axes<x>>
  %b = "tile.map"(%v) ({
  ^bb0:
    %q = arith.constant 0.0 : f32
    tile.yield %q : f32
  }) : (tensor<8xf32, #tile.axes<x>>) -> tensor<8xf32, #tile.axes<x>>
}
// CHECK: 'tile.map' is malformed: the body of a map takes one element of each operand
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id : index
  %x = tile.range "x" from %p : tensor<8xindex, #tile.axes<x>>
  %y = tile.range "y" from %p : tensor<4xindex, #tile.axes<y>>
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : f32 -> tensor<8xf32, #tile.axes<x>>
  %b = "tile.map"(%v) ({
  ^bb0(%q : f16):
    %e = arith.constant 0.0 : f32
    tile.yield %e : f32
  }) : (tensor<8xf32, #tile.axes<x>>) -> tensor<8xf32, #tile.axes<x>>
}
// CHECK: 'tile.map' is malformed: an element of tensor<8xf32, #tile.axes<x>> is no f16
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id : index
  %x = tile.range "x" from %p : tensor<8xindex, #tile.axes<x>>
  %y = tile.range "y" from %p : tensor<4xindex, #tile.axes<y>>
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : f32 -> tensor<8xf32, #tile.axes<x>>
  %r = tile.reduce dot %v along "x" : tensor<8xf32, #tile.axes<x>> -> f32
}
// CHECK: 'tile.reduce' is malformed: 'dot' has an operation of its own
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id : index
  %x = tile.range "x" from %p : tensor<8xindex, #tile.axes<x>>
  %y = tile.range "y" from %p : tensor<4xindex, #tile.axes<y>>
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : f32 -> tensor<8xf32, #tile.axes<x>>
  %r = tile.reduce add %v along "y" : tensor<8xf32, #tile.axes<x>> -> f32
}
// CHECK: 'tile.reduce' is malformed: there is no axis 'y' to reduce along
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id : index
  %x = tile.range "x" from %p : tensor<8xindex, #tile.axes<x>>
  %y = tile.range "y" from %p : tensor<4xindex, #tile.axes<y>>
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : f32 -> tensor<8xf32, #tile.axes<x>>
  %r = tile.reduce add %v along "x" : tensor<8xf32, #tile.axes<x>> -> tensor<8xf32, #tile.axes<x>>
}
// CHECK: 'tile.reduce' is malformed: the result must have the axes without 'x'
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id : index
  %x = tile.range "x" from %p : tensor<8xindex, #tile.axes<x>>
  %y = tile.range "y" from %p : tensor<4xindex, #tile.axes<y>>
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : f32 -> tensor<8xf32, #tile.axes<x>>
  %r:2 = tile.arg_reduce add %v, %v along "x" : tensor<8xf32, #tile.axes<x>>, tensor<8xf32, #tile.axes<x>> -> f32, f32
}
// CHECK: 'tile.arg_reduce' is malformed: 'add' gives no index
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id : index
  %x = tile.range "x" from %p : tensor<8xindex, #tile.axes<x>>
  %y = tile.range "y" from %p : tensor<4xindex, #tile.axes<y>>
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : f32 -> tensor<8xf32, #tile.axes<x>>
  %r:2 = tile.arg_reduce argmax %v, %v along "x" : tensor<8xf32, #tile.axes<x>>, tensor<8xf32, #tile.axes<x>> -> f32, f32
}
// CHECK: 'tile.arg_reduce' is malformed: an index is an 'i64'
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id : index
  %x = tile.range "x" from %p : tensor<8xindex, #tile.axes<x>>
  %y = tile.range "y" from %p : tensor<4xindex, #tile.axes<y>>
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : f32 -> tensor<8xf32, #tile.axes<x>>
  %h = arith.constant 0 : i64
  %i = tile.fill %h : i64 -> tensor<8xi64, #tile.axes<x>>
  %r:2 = tile.arg_reduce argmax %v, %i along "x" : tensor<8xf32, #tile.axes<x>>, tensor<8xi64, #tile.axes<x>> -> f64, i64
}
// CHECK: 'tile.arg_reduce' is malformed: an extreme element has the elements' type
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id : index
  %x = tile.range "x" from %p : tensor<8xindex, #tile.axes<x>>
  %y = tile.range "y" from %p : tensor<4xindex, #tile.axes<y>>
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : f32 -> tensor<8xf32, #tile.axes<x>>
  %h = arith.constant 0 : i64
  %i = tile.fill %h : i64 -> tensor<8x4xi64, #tile.axes<x, y>>
  %r:2 = tile.arg_reduce argmax %v, %i along "x" : tensor<8xf32, #tile.axes<x>>, tensor<8x4xi64, #tile.axes<x, y>> -> f32, tensor<4xi64, #tile.axes<y>>
}
// CHECK: 'tile.arg_reduce' is malformed: elements and indices must have the same axes
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id : index
  %x = tile.range "x" from %p : tensor<8xindex, #tile.axes<x>>
  %y = tile.range "y" from %p : tensor<4xindex, #tile.axes<y>>
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : f32 -> tensor<8xf32, #tile.axes<x>>
  %d = tile.dot %v, %v : tensor<8xf32, #tile.axes<x>>, tensor<8xf32, #tile.axes<x>> -> tensor<8xf32, #tile.axes<x>>
}
// CHECK: 'tile.dot' is malformed: a dot multiplies tiles (batch…, m, k) and (batch…, k, n)
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id : index
  %x = tile.range "x" from %p : tensor<8xindex, #tile.axes<x>>
  %y = tile.range "y" from %p : tensor<4xindex, #tile.axes<y>>
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : f32 -> tensor<8xf32, #tile.axes<x>>
  %w = tile.fill %c : f32 -> tensor<8x4xf32, #tile.axes<x, y>>
  %u = tile.fill %c : f32 -> tensor<4x2xf32, #tile.axes<y, z>>
  %d = tile.dot %w, %u : tensor<8x4xf32, #tile.axes<x, y>>, tensor<4x2xf32, #tile.axes<y, z>> -> tensor<8x4xf32, #tile.axes<x, y>>
}
// CHECK: 'tile.dot' is malformed: the result of a dot has the axes (batch…, m, n)
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id : index
  %x = tile.range "x" from %p : tensor<8xindex, #tile.axes<x>>
  %y = tile.range "y" from %p : tensor<4xindex, #tile.axes<y>>
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : f32 -> tensor<8xf32, #tile.axes<x>>
  %w = tile.fill %c : f32 -> tensor<8x4xf32, #tile.axes<x, y>>
  %u = tile.fill %c : f32 -> tensor<4x2xf32, #tile.axes<y, z>>
  %d = tile.dot %w, %u acc %w : tensor<8x4xf32, #tile.axes<x, y>> : tensor<8x4xf32, #tile.axes<x, y>>, tensor<4x2xf32, #tile.axes<y, z>> -> tensor<8x2xf32, #tile.axes<x, z>>
}
// CHECK: 'tile.dot' is malformed: the accumulator of a dot has its result's type
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id : index
  %x = tile.range "x" from %p : tensor<8xindex, #tile.axes<x>>
  %y = tile.range "y" from %p : tensor<4xindex, #tile.axes<y>>
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : f32 -> tensor<8xf32, #tile.axes<x>>
  %w = tile.fill %c : f32 -> tensor<8xf16, #tile.axes<x>>
}
// CHECK: 'tile.fill' is malformed: a tile is filled with a scalar of its element type
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id : index
  %x = tile.range "x" from %p : tensor<8xindex, #tile.axes<x>>
  %y = tile.range "y" from %p : tensor<4xindex, #tile.axes<y>>
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : f32 -> tensor<8xf32, #tile.axes<x>>
  %w = tile.broadcast %v : tensor<8xf32, #tile.axes<x>> -> tensor<4xf32, #tile.axes<y>>
}
// CHECK: 'tile.broadcast' is malformed: tensor<8xf32, #tile.axes<x>> does not broadcast to tensor<4xf32, #tile.axes<y>>
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id : index
  %x = tile.range "x" from %p : tensor<8xindex, #tile.axes<x>>
  %y = tile.range "y" from %p : tensor<4xindex, #tile.axes<y>>
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : f32 -> tensor<8xf32, #tile.axes<x>>
  %w = tile.transpose %v : tensor<8xf32, #tile.axes<x>> -> tensor<8xf16, #tile.axes<x>>
}
// CHECK: 'tile.transpose' is malformed: a transpose keeps the elements and the axes
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id : index
  %x = tile.range "x" from %p : tensor<8xindex, #tile.axes<x>>
  %y = tile.range "y" from %p : tensor<4xindex, #tile.axes<y>>
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : f32 -> tensor<8xf32, #tile.axes<x>>
  %w = tile.rename %v to %y : tensor<8xf32, #tile.axes<x>>, tensor<4xindex, #tile.axes<y>> -> tensor<4xf32, #tile.axes<y>>
}
// CHECK: 'tile.rename' is malformed: renaming axes keeps the elements and the extents
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %p = tile.program_id : index
  %x = tile.range "x" from %p : tensor<8xindex, #tile.axes<x>>
  %y = tile.range "y" from %p : tensor<4xindex, #tile.axes<y>>
  %c = arith.constant 0.0 : f32
  %v = tile.fill %c : f32 -> tensor<8xf32, #tile.axes<x>>
  %w = tile.rename %v to %y : tensor<8xf32, #tile.axes<x>>, tensor<4xindex, #tile.axes<y>> -> tensor<8xf32, #tile.axes<z>>
}
// CHECK: 'tile.rename' is malformed: renaming needs the range of each new axis
// -----
%c = arith.constant 0.0 : f32
%v = tile.fill %c : f32 -> tensor<8x8xf32, #tile.axes<x, x>>
// CHECK: error: the axes of a tile must differ
// -----
tile.kernel @k() attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %n = tile.size "y" : index
}
// CHECK: error: 'tile.kernel' is malformed: 'y' is no label of the kernel
