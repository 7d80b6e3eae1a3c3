// RUN: INVALID | filecheck %s

loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  %0 = arith.constant 0 : i32
}
// CHECK: error: 'loop.kernel' is malformed: the body of a 'loop.kernel' is one 'loop.grid'
// -----
loop.kernel @k(%A: f32 {host.name = "A"}) attributes {labels = [], root = "f"} {
  loop.grid () {
  }
}
// CHECK: error: 'loop.kernel' is malformed: an argument of a kernel needs 'host.name' and 'host.axes'
// -----
loop.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = []}) attributes {labels = [], root = "f"} {
  loop.grid () {
  }
}
// CHECK: error: 'loop.kernel' is malformed: argument 'A' has 1 axes but 0 labels
// -----
loop.kernel @k(%A: index {host.name = "A", host.axes = []}) attributes {labels = [], root = "f"} {
  loop.grid () {
  }
}
// CHECK: error: 'loop.kernel' is malformed: argument 'A' has elements of index
// -----
loop.kernel @k(%A: f32 {host.name = "A", host.axes = []}, %B: f32 {host.name = "A", host.axes = []}) attributes {labels = [], root = "f"} {
  loop.grid () {
  }
}
// CHECK: error: 'loop.kernel' is malformed: the arguments of a kernel must have different names
// -----
loop.kernel @k() attributes {labels = [], root = "f", num_warps = 3 : i32} {
  loop.grid () {
  }
}
// CHECK: error: 'loop.kernel' is malformed: 'num_warps' must be a power of two
// -----
loop.kernel @k() attributes {labels = [], root = "f", num_stages = 0 : i32} {
  loop.grid () {
  }
}
// CHECK: error: 'loop.kernel' is malformed: 'num_stages' must be positive
// -----
loop.kernel @k() attributes {labels = [], root = "f", precision = "half"} {
  loop.grid () {
  }
}
// CHECK: error: 'loop.kernel' is malformed: 'precision' must be one of ieee, tf32, tf32x3
// -----
"loop.kernel"() <{sym_name = "k", function_type = (f32) -> (), arg_attrs = [], labels = [], root = "f"}> ({
  loop.grid () {
  }
}) : () -> ()
// CHECK: error: 'loop.kernel' is malformed: the type of a kernel must be that of its arguments
// -----
"loop.kernel"() <{sym_name = "k", function_type = () -> (), arg_attrs = [{}], labels = [], root = "f"}> ({
  loop.grid () {
  }
}) : () -> ()
// CHECK: error: 'loop.kernel' is malformed: a kernel needs attributes for each of its arguments
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid (%x0 = x size 4, %x1 = x size 4) order [x] {
  }
}
// CHECK: error: 'loop.grid' is malformed: the labels of a grid must differ
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid (%x0 = x size 0) order [x] {
  }
}
// CHECK: error: 'loop.grid' is malformed: the extent of a block must be positive
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid (%x0 = x size 4) order [y] {
  }
}
// CHECK: error: 'loop.grid' is malformed: the order walks 'y', which is not in the grid
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid (%x0 = x size 4) order [x outer 0, x inner 0] {
  }
}
// CHECK: error: the number of blocks in a group must be positive
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid (%x0 = x size 4) order [x, x] {
  }
}
// CHECK: error: 'loop.grid' is malformed: the order must walk 'x' once: whole, or as outer and inner of one factor
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid (%x0 = x size 4) order [x outer 2, x inner 4] {
  }
}
// CHECK: error: 'loop.grid' is malformed: the order must walk 'x' once: whole, or as outer and inner of one factor
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid () {
    "loop.for"() <{label = "x", function = "f", step = 1 : i64}> ({
    ^bb0:
    }) : () -> ()
  }
}
// CHECK: error: 'loop.for' is malformed: the body of a loop takes its index, an 'index'
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid () {
    loop.for %x = x step -2 of f {
    }
  }
}
// CHECK: error: 'loop.for' is malformed: the step of a loop must be positive, or 0 for its whole extent
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid (%x0 = x size 4) order [x] {
    loop.for %x = x in %x0 size 0 of f {
    }
  }
}
// CHECK: error: 'loop.for' is malformed: the extent of a loop must be positive
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid (%x0 = x size 4) order [x] {
    "loop.for"(%x0) <{label = "x", function = "f", step = 1 : i64}> ({
    ^bb0(%x : index):
    }) : (index) -> ()
  }
}
// CHECK: error: 'loop.for' is malformed: a loop has both an origin and an extent, or neither
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid () {
    loop.for %x = x step full of f {
    }
  }
}
// CHECK: error: 'loop.for' is malformed: a step of the whole extent must be a tile
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      %0 = loop.reduce add %k = k of f : f32 {
      }
    }
  }
}
// CHECK: error: 'loop.reduce' is malformed: the body of a reduction must end in a 'loop.yield'
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      %0 = loop.read %A[%x, %x]
    }
  }
}
// CHECK: error: 'loop.read' is malformed: a base of 1 axes has 2 indices
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      %0 = loop.read %A[%x * %x]
    }
  }
}
// CHECK: error: 'loop.read' is malformed: an index is multiplied by a number or by sizes
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      %0 = loop.read %A[%x floordiv len(k)]
    }
  }
}
// CHECK: error: 'loop.read' is malformed: 'k' is not a label of the kernel
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      %0 = loop.read %A[%x]
      loop.write %0, %f[2 * %x]
    }
  }
}
// CHECK: error: 'loop.write' is malformed: an index of a write is a loop's index or a number
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      %i = arith.constant 0 : i64
      %0 = loop.read %A[%i]
    }
  }
}
// CHECK: error: 'loop.read' is malformed: operand 'indices' at position 1 does not verify: Expected attribute index but got i64
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid (%x0 = x size 4) order [x] {
    loop.for %x = x in %x0 size 4 of f {
      %0 = loop.read %A[%x0]
    }
  }
}
// CHECK: error: 'loop.read' is malformed: an index is made of loops' indices, not of block origins
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      %0 = "loop.read"(%A, %x) <{map = affine_map<(d0) -> (d0)>}> : (memref<?xf32>, index) -> f16
    }
  }
}
// CHECK: error: 'loop.read' is malformed: an element of memref<?xf32> is not of type f16
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      %0 = "loop.read"(%A) <{map = affine_map<(d0) -> (d0)>}> : (memref<?xf32>) -> f32
    }
  }
}
// CHECK: error: 'loop.read' is malformed: one operand is needed for each dimension of the index map
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      %0 = arith.constant 0.0 : f16
      loop.write %0, %f[%x]
    }
  }
}
// CHECK: error: 'loop.write' is malformed: an element of memref<?xf32> is not of type f16
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      %0 = loop.local "p"[x, y] : memref<?xf32>
    }
  }
}
// CHECK: error: 'loop.local' is malformed: a local buffer needs a label for each of its axes
// -----
loop.kernel @f_kernel() attributes {labels = ["x"], root = "f"} {
  loop.grid () {
    loop.for %y = y of f {
    }
  }
}
// CHECK: error: 'loop.kernel' is malformed: 'loop.for' walks 'y', which is not a label of the kernel
// -----
loop.kernel @f_kernel() attributes {labels = ["x"], root = "f"} {
  loop.grid (%x0 = x size 4) order [x] {
    loop.for %x = x in %x0 size 4 step full tile of f {
    }
  }
}
// CHECK: error: 'loop.for' is malformed: a loop that walks a part of its label has a step of its own
// -----
loop.kernel @k() attributes {labels = [], root = "f", math = "exact"} {
  loop.grid () {
  }
}
// CHECK: error: 'loop.kernel' is malformed: 'math' must be one of fast, accurate
// -----
"loop.kernel"() <{sym_name = "k", function_type = () -> (), arg_attrs = [], labels = ["x"], root = "f"}> ({
  "loop.grid"() <{labels = ["x"], blocks = [4 : i64], order = [#loop.walk<x>]}> ({
  ^bb0:
  }) : () -> ()
}) : () -> ()
// CHECK: error: 'loop.grid' is malformed: a grid needs a block and an origin for each of its labels
// -----
"loop.kernel"() <{sym_name = "k", function_type = () -> (), arg_attrs = [], labels = ["x"], root = "f"}> ({
  "loop.grid"() <{labels = ["x"], blocks = [4 : i64], order = [#loop.walk<x>]}> ({
  ^bb0(%o : i32):
  }) : () -> ()
}) : () -> ()
// CHECK: error: 'loop.grid' is malformed: the origin of a block is an 'index'
// -----
"loop.kernel"() <{sym_name = "k", function_type = () -> (), arg_attrs = [], labels = ["x"], root = "f"}> ({
  "loop.grid"() <{labels = ["x"], blocks = [4 : i64], order = [#loop.walk<x sideways>]}> ({
  ^bb0(%o : index):
  }) : () -> ()
}) : () -> ()
// CHECK: error: '>' expected
// -----
loop.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<i64> {host.name = "f", host.axes = []}) attributes {labels = ["x"], root = "f"} {
  loop.grid () {
    %r:2 = loop.reduce argmax %x = x of f : i64, f32 {
      %a = loop.read %A[%x]
      loop.yield %a, %a : f32, f32
    }
    loop.write %r#0, %f[]
  }
}
// CHECK: error: 'loop.reduce' is malformed: the index that 'argmax' reduces must be an i64
// -----
loop.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<i64> {host.name = "f", host.axes = []}) attributes {labels = ["x"], root = "f"} {
  loop.grid () {
    %r:2 = loop.reduce argmax %x = x of f : i64, f64 {
      %a = loop.read %A[%x]
      loop.yield %a : f32
    }
    loop.write %r#0, %f[]
  }
}
// CHECK: error: 'loop.reduce' is malformed: 'argmax' of f32 gives no extreme of f64
// -----
loop.kernel @k(%f: memref<?x?xf32> {host.name = "f", host.axes = ["x", "y"]}) attributes {labels = ["x", "y", "m"], root = "f"} {
  loop.grid (%b = m size 16) order [m] {
    %x, %y = loop.delinearize %b by [x, y]
  }
}
// CHECK: error: 'loop.delinearize' is malformed: only the index of a loop is taken apart
// -----
loop.kernel @k(%f: memref<?x?xf32> {host.name = "f", host.axes = ["x", "y"]}) attributes {labels = ["x", "y", "m"], root = "f"} {
  loop.grid () {
    loop.for %m = m of f {
      %x, %y = loop.delinearize %m by [x, x]
    }
  }
}
// CHECK: error: 'loop.delinearize' is malformed: a joined loop joins two or more loops over different labels
// -----
loop.kernel @k(%f: memref<?x?xf32> {host.name = "f", host.axes = ["x", "y"]}) attributes {labels = ["x", "y", "m"], root = "f"} {
  loop.grid () {
    loop.for %m = m of f {
      %x, %y = "loop.delinearize"(%m) <{labels = ["x", "y", "m"]}> : (index) -> (index, index)
    }
  }
}
// CHECK: error: 'loop.delinearize' is malformed: a joined loop has an index for each label
// -----
loop.kernel @k(%f: memref<?x?xf32> {host.name = "f", host.axes = ["x", "y"]}) attributes {labels = ["x", "y", "m"], root = "f"} {
  loop.grid () {
    loop.for %m = m of f {
      %x, %y = loop.delinearize %m by [x, y]
      %v = arith.constant 1.0 : f32
      loop.write %v, %f[%x, 0]
    }
  }
}
// CHECK: error: 'loop.write' is malformed: a write has all indices of a joined loop, or none
