// RUN: dt-opt %s --split-input-file --verify-diagnostics

loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
// expected-error@above {{'loop.kernel' is malformed: the body of a 'loop.kernel' is one 'loop.grid'}}
  %0 = arith.constant 0 : i32
}
// -----
loop.kernel @k(%A: f32 {host.name = "A"}) attributes {labels = [], root = "f"} {
// expected-error@above {{'loop.kernel' is malformed: an argument of a kernel needs 'host.name' and 'host.axes'}}
  loop.grid () {
  }
}
// -----
loop.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = []}) attributes {labels = [], root = "f"} {
// expected-error@above {{'loop.kernel' is malformed: argument 'A' has 1 axes but 0 labels}}
  loop.grid () {
  }
}
// -----
loop.kernel @k(%A: index {host.name = "A", host.axes = []}) attributes {labels = [], root = "f"} {
// expected-error@above {{'loop.kernel' is malformed: argument 'A' has elements of index}}
  loop.grid () {
  }
}
// -----
loop.kernel @k(%A: f32 {host.name = "A", host.axes = []}, %B: f32 {host.name = "A", host.axes = []}) attributes {labels = [], root = "f"} {
// expected-error@above {{'loop.kernel' is malformed: the arguments of a kernel must have different names}}
  loop.grid () {
  }
}
// -----
loop.kernel @k() attributes {labels = [], root = "f", num_warps = 3 : i32} {
// expected-error@above {{'loop.kernel' is malformed: 'num_warps' must be a power of two}}
  loop.grid () {
  }
}
// -----
loop.kernel @k() attributes {labels = [], root = "f", num_stages = 0 : i32} {
// expected-error@above {{'loop.kernel' is malformed: 'num_stages' must be positive}}
  loop.grid () {
  }
}
// -----
loop.kernel @k() attributes {labels = [], root = "f", warp_specialize = {consumers = 2 : i32, registers = 240 : i32, sizes = {z = 64 : i64}}} {
// expected-error@above {{'loop.kernel' is malformed: 'warp_specialize' has 'sizes' of labels of the kernel}}
  loop.grid () {
  }
}
// -----
loop.kernel @k() attributes {alternating, labels = [], root = "f"} {
// expected-error@above {{'loop.kernel' is malformed: 'alternating' is about a walk, and goes with 'persistent'}}
  loop.grid () {
  }
}
// -----
loop.kernel @k() attributes {labels = [], root = "f", persistent = 0 : i32} {
// expected-error@above {{'loop.kernel' is malformed: 'persistent' must be positive}}
  loop.grid () {
  }
}
// -----
loop.kernel @k() attributes {labels = [], root = "f", unroll_jam = {x = 1 : i64}} {
// expected-error@above {{'loop.kernel' is malformed: the numbers of 'unroll_jam' must be two or more}}
  loop.grid () {
  }
}
// -----
loop.kernel @k() attributes {labels = [], root = "f", precision = "half"} {
// expected-error@above {{'loop.kernel' is malformed: 'precision' must be one of ieee, tf32, tf32x3, narrow}}
  loop.grid () {
  }
}
// -----
"loop.kernel"() <{sym_name = "k", function_type = (f32) -> (), arg_attrs = [], labels = [], root = "f"}> ({
// expected-error@above {{'loop.kernel' is malformed: the type of a kernel must be that of its arguments}}
  loop.grid () {
  }
}) : () -> ()
// -----
"loop.kernel"() <{sym_name = "k", function_type = () -> (), arg_attrs = [{}], labels = [], root = "f"}> ({
// expected-error@above {{'loop.kernel' is malformed: a kernel needs attributes for each of its arguments}}
  loop.grid () {
  }
}) : () -> ()
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid (%x0 = x size 4, %x1 = x size 4) order [x] {
  // expected-error@above {{'loop.grid' is malformed: the labels of a grid must differ}}
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid (%x0 = x size 0) order [x] {
  // expected-error@above {{'loop.grid' is malformed: the extent of a block must be positive}}
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid (%x0 = x size 4) order [y] {
  // expected-error@above {{'loop.grid' is malformed: the order walks 'y', which is not in the grid}}
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid (%x0 = x size 4) order [x outer 0, x inner 0] {
  // expected-error@above {{the number of blocks in a group must be positive}}
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid (%x0 = x size 4) order [x, x] {
  // expected-error@above {{'loop.grid' is malformed: the order must walk 'x' once: whole, or as outer and inner of one factor}}
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid (%x0 = x size 4) order [x outer 2, x inner 4] {
  // expected-error@above {{'loop.grid' is malformed: the order must walk 'x' once: whole, or as outer and inner of one factor}}
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid () {
    "loop.for"() <{label = "x", function = "f", step = 1 : i64, operandSegmentSizes = array<i32: 0, 0>}> ({
    // expected-error@above {{'loop.for' is malformed: the body of a loop takes its index, an 'index'}}
    ^bb0:
    }) : () -> ()
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid () {
    loop.for %x = x step -2 of f {
    // expected-error@above {{'loop.for' is malformed: the step of a loop must be positive, or 0 for its whole extent}}
    }
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid (%x0 = x size 4) order [x] {
    loop.for %x = x in %x0 size 0 of f {
    // expected-error@above {{'loop.for' is malformed: the extent of a loop must be positive}}
    }
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid (%x0 = x size 4) order [x] {
    "loop.for"(%x0) <{label = "x", function = "f", step = 1 : i64, operandSegmentSizes = array<i32: 0, 1>}> ({
    // expected-error@above {{'loop.for' is malformed: a loop has both an origin and an extent, or neither}}
    ^bb0(%x : index):
    }) : (index) -> ()
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid () {
    loop.for %x = x step full of f {
    // expected-error@above {{'loop.for' is malformed: a step of the whole extent must be a tile}}
    }
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      %0 = loop.reduce add %k = k of f : f32 {
      // expected-error@above {{'loop.reduce' is malformed: the body of a reduction must end in a 'loop.yield'}}
      }
    }
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      %0 = loop.read %A[%x, %x]
      // expected-error@above {{'loop.read' is malformed: a base of 1 axes has 2 indices}}
    }
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      %0 = loop.read %A[%x * %x]
      // expected-error@above {{'loop.read' is malformed: an index is multiplied by a number or by sizes}}
    }
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      %0 = loop.read %A[%x floordiv len(k)]
      // expected-error@above {{'loop.read' is malformed: 'k' is not a label of the kernel}}
    }
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      %0 = loop.read %A[%x]
      loop.write %0, %f[2 * %x]
      // expected-error@above {{'loop.write' is malformed: an index of a write is a loop's index or a number}}
    }
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      %i = arith.constant 0 : i64
      %0 = loop.read %A[%i]
      // expected-error@above {{'loop.read' is malformed: operand 'indices' at position 1 does not verify: Expected attribute index but got i64}}
    }
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid (%x0 = x size 4) order [x] {
    loop.for %x = x in %x0 size 4 of f {
      %0 = loop.read %A[%x0]
      // expected-error@above {{'loop.read' is malformed: an index is made of loops' indices, not of block origins}}
    }
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      %0 = "loop.read"(%A, %x) <{map = affine_map<(d0) -> (d0)>}> : (memref<?xf32>, index) -> f16
      // expected-error@above {{'loop.read' is malformed: an element of memref<?xf32> is not of type f16}}
    }
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      %0 = "loop.read"(%A) <{map = affine_map<(d0) -> (d0)>}> : (memref<?xf32>) -> f32
      // expected-error@above {{'loop.read' is malformed: one operand is needed for each dimension of the index map}}
    }
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      %0 = arith.constant 0.0 : f16
      loop.write %0, %f[%x]
      // expected-error@above {{'loop.write' is malformed: an element of memref<?xf32> is not of type f16}}
    }
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      %0 = loop.local "p"[x, y] : memref<?xf32>
      // expected-error@above {{'loop.local' is malformed: a local buffer needs a label for each of its axes}}
    }
  }
}
// -----
loop.kernel @f_kernel() attributes {labels = ["x"], root = "f"} {
// expected-error@above {{'loop.kernel' is malformed: 'loop.for' walks 'y', which is not a label of the kernel}}
  loop.grid () {
    loop.for %y = y of f {
    }
  }
}
// -----
loop.kernel @f_kernel() attributes {labels = ["x"], root = "f"} {
  loop.grid (%x0 = x size 4) order [x] {
    loop.for %x = x in %x0 size 4 step full tile of f {
    // expected-error@above {{'loop.for' is malformed: a loop that walks a part of its label has a step of its own}}
    }
  }
}
// -----
loop.kernel @k() attributes {labels = [], root = "f", math = "exact"} {
// expected-error@above {{'loop.kernel' is malformed: 'math' must be one of fast, accurate}}
  loop.grid () {
  }
}
// -----
"loop.kernel"() <{sym_name = "k", function_type = () -> (), arg_attrs = [], labels = ["x"], root = "f"}> ({
  "loop.grid"() <{labels = ["x"], blocks = [4 : i64], order = [#loop.walk<x>]}> ({
  // expected-error@above {{'loop.grid' is malformed: a grid needs a block and an origin for each of its labels}}
  ^bb0:
  }) : () -> ()
}) : () -> ()
// -----
"loop.kernel"() <{sym_name = "k", function_type = () -> (), arg_attrs = [], labels = ["x"], root = "f"}> ({
  "loop.grid"() <{labels = ["x"], blocks = [4 : i64], order = [#loop.walk<x>]}> ({
  // expected-error@above {{'loop.grid' is malformed: the origin of a block is an 'index'}}
  ^bb0(%o : i32):
  }) : () -> ()
}) : () -> ()
// -----
"loop.kernel"() <{sym_name = "k", function_type = () -> (), arg_attrs = [], labels = ["x"], root = "f"}> ({
  "loop.grid"() <{labels = ["x"], blocks = [4 : i64], order = [#loop.walk<x sideways>]}> ({
  // expected-error@above {{'>' expected}}
  ^bb0(%o : index):
  }) : () -> ()
}) : () -> ()
// -----
loop.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<i64> {host.name = "f", host.axes = []}) attributes {labels = ["x"], root = "f"} {
  loop.grid () {
    %r:2 = loop.reduce argmax %x = x of f : i64, f32 {
    // expected-error@above {{'loop.reduce' is malformed: the index that 'argmax' reduces must be an i64}}
      %a = loop.read %A[%x]
      loop.yield %a, %a : f32, f32
    }
    loop.write %r#0, %f[]
  }
}
// -----
loop.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<i64> {host.name = "f", host.axes = []}) attributes {labels = ["x"], root = "f"} {
  loop.grid () {
    %r:2 = loop.reduce argmax %x = x of f : i64, f64 {
    // expected-error@above {{'loop.reduce' is malformed: 'argmax' of f32 gives no extreme of f64}}
      %a = loop.read %A[%x]
      loop.yield %a : f32
    }
    loop.write %r#0, %f[]
  }
}
// -----
loop.kernel @k(%f: memref<?x?xf32> {host.name = "f", host.axes = ["x", "y"]}) attributes {labels = ["x", "y", "m"], root = "f"} {
  loop.grid (%b = m size 16) order [m] {
    %x, %y = loop.delinearize %b by [x, y]
    // expected-error@above {{'loop.delinearize' is malformed: only the index of a loop is taken apart}}
  }
}
// -----
loop.kernel @k(%f: memref<?x?xf32> {host.name = "f", host.axes = ["x", "y"]}) attributes {labels = ["x", "y", "m"], root = "f"} {
  loop.grid () {
    loop.for %m = m of f {
      %x, %y = loop.delinearize %m by [x, x]
      // expected-error@above {{'loop.delinearize' is malformed: a joined loop joins two or more loops over different labels}}
    }
  }
}
// -----
loop.kernel @k(%f: memref<?x?xf32> {host.name = "f", host.axes = ["x", "y"]}) attributes {labels = ["x", "y", "m"], root = "f"} {
  loop.grid () {
    loop.for %m = m of f {
      %x, %y = "loop.delinearize"(%m) <{labels = ["x", "y", "m"]}> : (index) -> (index, index)
      // expected-error@above {{'loop.delinearize' is malformed: a joined loop has an index for each label}}
    }
  }
}
// -----
loop.kernel @k(%f: memref<?x?xf32> {host.name = "f", host.axes = ["x", "y"]}) attributes {labels = ["x", "y", "m"], root = "f"} {
  loop.grid () {
    loop.for %m = m of f {
      %x, %y = loop.delinearize %m by [x, y]
      %v = arith.constant 1.0 : f32
      loop.write %v, %f[%x, 0]
      // expected-error@above {{'loop.write' is malformed: a write has all indices of a joined loop, or none}}
    }
  }
}
// -----
loop.kernel @k(%f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x"], root = "f", summed = ["g"]} {
// expected-error@above {{'loop.kernel' is malformed: 'g' is summed, and no argument of the kernel}}
  loop.grid () {
  }
}
