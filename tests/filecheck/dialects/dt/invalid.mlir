// RUN: dt-opt %s --split-input-file --verify-diagnostics

dt.input @A : tensor<?xindex>
// expected-error@above {{'dt.input' is malformed: an input cannot have elements of index}}
// -----
dt.input @s declared : i32
// expected-error@above {{'dt.input' is malformed: only a scalar of f32 or f64 is 'declared'}}
// -----
dt.input @A declared : tensor<?xf32>
// expected-error@above {{'dt.input' is malformed: only a scalar of f32 or f64 is 'declared'}}
// -----
dt.input @A : tensor<8xf32>
// expected-error@above {{'dt.input' is malformed: the extents of an input are unknown: write '?'}}
// -----
dt.label @x
dt.func @f[x, x] : f32 {
// expected-error@above {{'dt.func' is malformed: the labels of a function must differ}}
  %0 = arith.constant 0.0 : f32
  dt.yield %0 : f32
}
// -----
dt.func @f[x] : f32 {
// expected-error@above {{'dt.func' is malformed: 'x' is not a label}}
  %0 = arith.constant 0.0 : f32
  dt.yield %0 : f32
}
// -----
dt.func @f[] : index {
// expected-error@above {{'dt.func' is malformed: a function cannot have elements of index}}
  %0 = arith.constant 0 : index
  dt.yield %0 : index
}
// -----
dt.func @f[] : f32 {
// expected-error@above {{'dt.func' is malformed: the body of a function must end in a 'dt.yield' of one value}}
  %0 = arith.constant 0.0 : f32
}
// -----
dt.func @f[] : f16 {
// expected-error@above {{'dt.func' is malformed: the body yields f32 but the function has f16}}
  %0 = arith.constant 0.0 : f32
  dt.yield %0 : f32
}
// -----
dt.label @x
dt.input @A : tensor<?xf32>
dt.func @f[] : f32 {
  %0 = dt.read @A[x] : f32
  // expected-error@above {{'dt.read' is malformed: label 'x' is neither an axis of 'f' nor reduced}}
  dt.yield %0 : f32
}
// -----
dt.label @x
dt.input @A : tensor<?xf32>
dt.func @f[x] : f32 {
  %0 = dt.read @A[x * x] : f32
  // expected-error@above {{'dt.read' is malformed: an index is multiplied by a number or by sizes}}
  dt.yield %0 : f32
}
// -----
dt.label @x
dt.input @A : tensor<?xf32>
dt.func @f[x] : f32 {
  %0 = dt.read @A[3 floordiv x] : f32
  // expected-error@above {{'dt.read' is malformed: an index is divided by a number or by sizes}}
  dt.yield %0 : f32
}
// -----
dt.label @x
dt.input @A : tensor<?xf32>
dt.func @f[x] : f32 {
  %0 = dt.read @A[x mod -2] : f32
  // expected-error@above {{'dt.read' is malformed: an index divides by a positive number, not by -2}}
  dt.yield %0 : f32
}
// -----
dt.label @x
dt.input @A : tensor<?xf32>
dt.func @f[x] : f32 {
  %0 = dt.read @A[3 floordiv 0] : f32
  // expected-error@above {{an index is not divided by 0}}
  dt.yield %0 : f32
}
// -----
dt.label @x
dt.input @A : tensor<?xf32>
dt.func @f[x] : f32 {
  %0 = dt.read @A[-3] : f32
  // expected-error@above {{'dt.read' is malformed: an index must not be a negative number}}
  dt.yield %0 : f32
}
// -----
dt.label @x
dt.input @A : tensor<?xf32>
dt.func @f[x] : f32 {
  %0 = dt.read @A[x + len(z)] : f32
  // expected-error@above {{'dt.read' is malformed: 'z' is not a label}}
  dt.yield %0 : f32
}
// -----
dt.label @x
dt.input @A : tensor<?xf32>
dt.func @f[x] : f32 {
  %v = dt.read @A[x] : f32
  %0 = dt.read @A[%v] : f32
  // expected-error@above {{'dt.read' is malformed: operand 'values' at position 0 does not verify: f32 should be of base attribute integer_type}}
  dt.yield %0 : f32
}
// -----
dt.label @x
dt.input @A : tensor<?xf32>
dt.func @f[x] : f32 {
  %0 = dt.read @A[x + 1] constant_exterior : f32
  // expected-error@above {{expected a number}}
  dt.yield %0 : f32
}
// -----
dt.label @x
dt.input @A : tensor<?xi32>
dt.func @f[x] : i32 {
  %0 = dt.read @A[x + 1] constant_exterior 1.5 : i32
  // expected-error@above {{1.5 is not of type i32}}
  dt.yield %0 : i32
}
// -----
dt.label @x
"dt.input"() <{sym_name = "A", type = tensor<?xf32>}> : () -> ()
dt.func @f[x] : f32 {
  %0 = "dt.read"() <{source = @A, labels = ["x"], sizes = [], map = affine_map<(d0) -> (d0)>, boundary = "wrap"}> : () -> f32
  // expected-error@above {{'dt.read' is malformed: 'wrap' is not a boundary condition: there are constant_exterior, repeat_edge, repeat_image, mirror_image, mirror_interior}}
  dt.yield %0 : f32
}
// -----
dt.label @x
dt.input @A : tensor<?xf32>
dt.func @f[x] : f32 {
  %0 = "dt.read"() <{source = @A, labels = ["x"], sizes = [], map = affine_map<(d0) -> (d0)>, exterior = 0.0 : f32}> : () -> f32
  // expected-error@above {{'dt.read' is malformed: a read has an exterior value under 'constant_exterior', and only there}}
  dt.yield %0 : f32
}
// -----
dt.label @x
dt.input @A : tensor<?xf32>
dt.func @f[x] : f32 {
  %0 = "dt.read"() <{source = @A, labels = ["x"], sizes = [], map = affine_map<(d0)[s0] -> (d0 + s0)>}> : () -> f32
  // expected-error@above {{'dt.read' is malformed: one label is needed for each symbol of the index map}}
  dt.yield %0 : f32
}
// -----
dt.label @x
dt.input @A[x, y] : tensor<?xf32>
// expected-error@above {{'dt.input' is malformed: an input of 1 axes has 2 labels}}
// -----
dt.label @x axis size 3
// expected-error@above {{'dt.label' is malformed: the size of an axis is that of its tensor}}
// -----
dt.label @x size x + 1
// expected-error@above {{expected an index}}
// -----
dt.label @x size len(y) * len(x) floordiv -1
// expected-error@above {{'dt.label' is malformed: an index divides by a positive number, not by -1}}
// -----
dt.label @x
dt.input @A : tensor<?xf32>
dt.func @f[x] : f32 {
  %i = dt.index x : i32
  %j = dt.clamp %i below z
  // expected-error@above {{'dt.clamp' is malformed: 'z' is not a label}}
  %0 = dt.read @A[%j] : f32
  dt.yield %0 : f32
}
// -----
dt.label @x
dt.label @k
dt.input @A : tensor<?xf32>
dt.func @f[x] : f32 {
  %0 = dt.reduce add over [k] where [k - z >= 0] : f32 {
  // expected-error@above {{'dt.reduce' is malformed: 'z' is not a label}}
    %1 = dt.read @A[k] : f32
    dt.yield %1 : f32
  }
  dt.yield %0 : f32
}
// -----
dt.label @x
dt.label @y
dt.label @k
dt.input @A : tensor<?xf32>
dt.func @f[x] : f32 {
  %0 = dt.reduce add over [k] where [k - y >= 0] : f32 {
  // expected-error@above {{'dt.reduce' is malformed: label 'y' is neither an axis of 'f' nor reduced}}
    %1 = dt.read @A[k] : f32
    dt.yield %1 : f32
  }
  dt.yield %0 : f32
}
// -----
dt.label @x
dt.label @k
dt.input @A : tensor<?xf32>
dt.func @f[x] : f32 {
  %0 = dt.reduce add over [k] where [k - x >= 1] : f32 {
  // expected-error@above {{an expression of a domain is compared with 0}}
    %1 = dt.read @A[k] : f32
    dt.yield %1 : f32
  }
  dt.yield %0 : f32
}
// -----
dt.label @x
dt.label @k
dt.input @A : tensor<?xf32>
dt.func @f[x] : f32 {
  %0 = dt.reduce add over [k] where [k * len(x) - x >= 0] : f32 {
  // expected-error@above {{'dt.reduce' is malformed: numbers are the only factors and divisors of a domain}}
    %1 = dt.read @A[k] : f32
    dt.yield %1 : f32
  }
  dt.yield %0 : f32
}
// -----
dt.label @x
dt.label @k
dt.input @A : tensor<?xf32>
dt.input @n : i64
dt.func @f[x] : f32 {
  %n = dt.read @n[] : i64
  %0 = dt.reduce add over [k] where [2 * %n - k >= 0] : f32 {
  // expected-error@above {{'dt.reduce' is malformed: a value of a domain is added to a sum of multiples of labels and sizes, or taken from it}}
    %1 = dt.read @A[k] : f32
    dt.yield %1 : f32
  }
  dt.yield %0 : f32
}
// -----
dt.label @x
dt.label @k
dt.input @A : tensor<?xf32>
dt.input @n : i64
dt.func @f[x] : f32 {
  %n = dt.read @n[] : i64
  %0 = dt.reduce add over [k] where [k floordiv 2 - %n >= 0] : f32 {
  // expected-error@above {{'dt.reduce' is malformed: a value of a domain is added to a sum of multiples of labels and sizes, or taken from it}}
    %1 = dt.read @A[k] : f32
    dt.yield %1 : f32
  }
  dt.yield %0 : f32
}
// -----
dt.label @x
dt.label @k
dt.input @A : tensor<?xf32>
dt.input @n : i64
dt.func @f[x] : f32 {
  %n = dt.read @n[] : i64
  %m = dt.read @n[] : i64
  %0 = dt.reduce add over [k] where [%n + %m - k >= 0] : f32 {
  // expected-error@above {{'dt.reduce' is malformed: a value of a domain is added to a sum of multiples of labels and sizes, or taken from it}}
    %1 = dt.read @A[k] : f32
    dt.yield %1 : f32
  }
  dt.yield %0 : f32
}
// -----
dt.label @x
dt.label @k
dt.input @A : tensor<?xf32>
dt.func @f[x] : i64 {
  %0 = dt.reduce argmax over [k] where [k - x >= 0] : i64 {
  // expected-error@above {{'dt.reduce' is malformed: 'argmax' has no domain}}
    %1 = dt.read @A[k] : f32
    dt.yield %1 : f32
  }
  dt.yield %0 : i64
}
// -----
dt.label @x
dt.func @f[x] : f32 {
  %0 = dt.read @B[x] : f32
  // expected-error@above {{'dt.read' is malformed: 'B' is neither an input nor a function}}
  dt.yield %0 : f32
}
// -----
dt.label @x
dt.input @A : tensor<?x?xf32>
dt.func @f[x] : f32 {
  %0 = dt.read @A[x] : f32
  // expected-error@above {{'dt.read' is malformed: 'A' has 2 axes but is read with 1 indices}}
  dt.yield %0 : f32
}
// -----
dt.label @x
dt.input @A : tensor<?xf16>
dt.func @f[x] : f32 {
  %0 = dt.read @A[x] : f32
  // expected-error@above {{'dt.read' is malformed: 'A' has elements of f16, not f32}}
  dt.yield %0 : f32
}
// -----
dt.label @x
"dt.read"() <{source = @A, labels = ["x"], map = affine_map<() -> ()>}> : () -> f32
// expected-error@above {{'dt.read' is malformed: one label or value is needed for each dimension of the index map}}
// -----
dt.label @x
%0 = dt.index x : i8
// expected-error@above {{'dt.index' is malformed: an index is an i32 or an i64}}
// -----
dt.label @x
%0 = dt.size x : i8
// expected-error@above {{'dt.size' is malformed: a size is an i32 or an i64}}
// -----
%0 = dt.reduce add over [] : f32 {
// expected-error@above {{'dt.reduce' is malformed: a reduction needs a label}}
  %1 = arith.constant 0.0 : f32
  dt.yield %1 : f32
}
// -----
dt.label @x
%0 = dt.reduce add over [x, x] : f32 {
// expected-error@above {{'dt.reduce' is malformed: the labels of a reduction must differ}}
  %1 = arith.constant 0.0 : f32
  dt.yield %1 : f32
}
// -----
dt.label @x
%0 = dt.reduce add over [x] : f32 {
// expected-error@above {{'dt.reduce' is malformed: the body of a reduction must end in a 'dt.yield'}}
  %1 = arith.constant 0.0 : f32
}
// -----
dt.label @x
%0 = dt.reduce dot over [x] : f32 {
// expected-error@above {{'dt.reduce' is malformed: 'dot' reduces 2 operands but has 1}}
  %1 = arith.constant 0.0 : f32
  dt.yield %1 : f32
}
// -----
dt.label @x
%0 = dt.reduce dot over [x] : f32 {
// expected-error@above {{'dt.reduce' is malformed: 'dot' multiplies operands of one type, not f32 and f16}}
  %1 = arith.constant 0.0 : f32
  %2 = arith.constant 0.0 : f16
  dt.yield %1, %2 : f32, f16
}
// -----
dt.label @x
%0 = dt.reduce dot over [x] : f16 {
// expected-error@above {{'dt.reduce' is malformed: 'dot' of f16 cannot have the type f16}}
  %1 = arith.constant 0.0 : f16
  dt.yield %1, %1 : f16, f16
}
// -----
dt.label @x
%0 = dt.reduce argmax over [x] : i32 {
// expected-error@above {{'dt.reduce' is malformed: 'argmax' gives an i64, not i32}}
  %1 = arith.constant 0.0 : f32
  dt.yield %1 : f32
}
// -----
dt.label @x
%0 = dt.reduce add over [x] : f64 {
// expected-error@above {{'dt.reduce' is malformed: 'add' of f32 cannot have the type f64}}
  %1 = arith.constant 0.0 : f32
  dt.yield %1 : f32
}
// -----
dt.label @x
%0 = dt.reduce add over [x] : f16 {
// expected-error@above {{'dt.reduce' is malformed: a reduction accumulates in f32, f64, i32 or i64, not in f16}}
  %1 = arith.constant 0.0 : f16
  dt.yield %1 : f16
}
// -----
dt.label @x
%0 = dt.reduce or over [x] : i32 {
// expected-error@above {{'dt.reduce' is malformed: 'or' does not reduce values of i32}}
  %1 = arith.constant 0 : i32
  dt.yield %1 : i32
}
// -----
dt.output @f
// expected-error@above {{'dt.output' is malformed: 'f' is not a function}}
