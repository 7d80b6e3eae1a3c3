// RUN: INVALID | filecheck %s

dt.input @A : tensor<?xindex>
// CHECK: invalid.mlir:3:1: error: 'dt.input' is malformed: an input cannot have elements of index
// CHECK-NEXT: dt.input @A
// CHECK-NEXT: ^
// -----
dt.input @s declared : i32
// CHECK: error: 'dt.input' is malformed: only a scalar of f32 or f64 is 'declared'
// -----
dt.input @A declared : tensor<?xf32>
// CHECK: error: 'dt.input' is malformed: only a scalar of f32 or f64 is 'declared'
// -----
dt.input @A : tensor<8xf32>
// CHECK: error: 'dt.input' is malformed: the extents of an input are unknown: write '?'
// -----
dt.label @x
dt.func @f[x, x] : f32 {
  %0 = arith.constant 0.0 : f32
  dt.yield %0 : f32
}
// CHECK: error: 'dt.func' is malformed: the labels of a function must differ
// -----
dt.func @f[x] : f32 {
  %0 = arith.constant 0.0 : f32
  dt.yield %0 : f32
}
// CHECK: error: 'dt.func' is malformed: 'x' is not a label
// -----
dt.func @f[] : index {
  %0 = arith.constant 0 : index
  dt.yield %0 : index
}
// CHECK: error: 'dt.func' is malformed: a function cannot have elements of index
// -----
dt.func @f[] : f32 {
  %0 = arith.constant 0.0 : f32
}
// CHECK: error: 'dt.func' is malformed: the body of a function must end in a 'dt.yield' of one value
// -----
dt.func @f[] : f16 {
  %0 = arith.constant 0.0 : f32
  dt.yield %0 : f32
}
// CHECK: error: 'dt.func' is malformed: the body yields f32 but the function has f16
// -----
dt.label @x
dt.input @A : tensor<?xf32>
dt.func @f[] : f32 {
  %0 = dt.read @A[x] : f32
  dt.yield %0 : f32
}
// CHECK: error: 'dt.read' is malformed: label 'x' is neither an axis of 'f' nor reduced
// -----
dt.label @x
dt.input @A : tensor<?xf32>
dt.func @f[x] : f32 {
  %0 = dt.read @A[x * x] : f32
  dt.yield %0 : f32
}
// CHECK: error: 'dt.read' is malformed: an index is multiplied by a number or by sizes
// -----
dt.label @x
dt.input @A : tensor<?xf32>
dt.func @f[x] : f32 {
  %0 = dt.read @A[3 floordiv x] : f32
  dt.yield %0 : f32
}
// CHECK: error: 'dt.read' is malformed: an index is divided by a number or by sizes
// -----
dt.label @x
dt.input @A : tensor<?xf32>
dt.func @f[x] : f32 {
  %0 = dt.read @A[x mod -2] : f32
  dt.yield %0 : f32
}
// CHECK: error: 'dt.read' is malformed: an index divides by a positive number, not by -2
// -----
dt.label @x
dt.input @A : tensor<?xf32>
dt.func @f[x] : f32 {
  %0 = dt.read @A[3 floordiv 0] : f32
  dt.yield %0 : f32
}
// CHECK: error: an index is not divided by 0
// -----
dt.label @x
dt.input @A : tensor<?xf32>
dt.func @f[x] : f32 {
  %0 = dt.read @A[-3] : f32
  dt.yield %0 : f32
}
// CHECK: error: 'dt.read' is malformed: an index must not be a negative number
// -----
dt.label @x
dt.input @A : tensor<?xf32>
dt.func @f[x] : f32 {
  %0 = dt.read @A[x + len(z)] : f32
  dt.yield %0 : f32
}
// CHECK: error: 'dt.read' is malformed: 'z' is not a label
// -----
dt.label @x
dt.input @A : tensor<?xf32>
dt.func @f[x] : f32 {
  %v = dt.read @A[x] : f32
  %0 = dt.read @A[%v] : f32
  dt.yield %0 : f32
}
// CHECK: error: 'dt.read' is malformed: {{.*}}f32
// -----
dt.label @x
dt.input @A : tensor<?xf32>
dt.func @f[x] : f32 {
  %0 = dt.read @A[x + 1] constant_exterior : f32
  dt.yield %0 : f32
}
// CHECK: error: expected a number
// -----
dt.label @x
dt.input @A : tensor<?xi32>
dt.func @f[x] : i32 {
  %0 = dt.read @A[x + 1] constant_exterior 1.5 : i32
  dt.yield %0 : i32
}
// CHECK: error: 1.5 is not of type i32
// -----
dt.label @x
"dt.input"() <{sym_name = "A", type = tensor<?xf32>}> : () -> ()
dt.func @f[x] : f32 {
  %0 = "dt.read"() <{source = @A, labels = ["x"], sizes = [], map = affine_map<(d0) -> (d0)>, boundary = "wrap"}> : () -> f32
  dt.yield %0 : f32
}
// CHECK: error: 'dt.read' is malformed: 'wrap' is not a boundary condition: there are constant_exterior,
// -----
dt.label @x
dt.input @A : tensor<?xf32>
dt.func @f[x] : f32 {
  %0 = "dt.read"() <{source = @A, labels = ["x"], sizes = [], map = affine_map<(d0) -> (d0)>, exterior = 0.0 : f32}> : () -> f32
  dt.yield %0 : f32
}
// CHECK: error: 'dt.read' is malformed: a read has an exterior value under 'constant_exterior', and only there
// -----
dt.label @x
dt.input @A : tensor<?xf32>
dt.func @f[x] : f32 {
  %0 = "dt.read"() <{source = @A, labels = ["x"], sizes = [], map = affine_map<(d0)[s0] -> (d0 + s0)>}> : () -> f32
  dt.yield %0 : f32
}
// CHECK: error: 'dt.read' is malformed: one label is needed for each symbol of the index map
// -----
dt.label @x
dt.input @A[x, y] : tensor<?xf32>
// CHECK: error: 'dt.input' is malformed: an input of 1 axes has 2 labels
// -----
dt.label @x axis size 3
// CHECK: error: 'dt.label' is malformed: the size of an axis is that of its tensor
// -----
dt.label @x size x + 1
// CHECK: error: expected an index
// -----
dt.label @x size len(y) * len(x) floordiv -1
// CHECK: error: 'dt.label' is malformed: an index divides by a positive number, not by -1
// -----
dt.label @x
dt.input @A : tensor<?xf32>
dt.func @f[x] : f32 {
  %i = dt.index x : i32
  %j = dt.clamp %i below z
  %0 = dt.read @A[%j] : f32
  dt.yield %0 : f32
}
// CHECK: error: 'dt.clamp' is malformed: 'z' is not a label
// -----
dt.label @x
dt.label @k
dt.input @A : tensor<?xf32>
dt.func @f[x] : f32 {
  %0 = dt.reduce add over [k] where [k - z >= 0] : f32 {
    %1 = dt.read @A[k] : f32
    dt.yield %1 : f32
  }
  dt.yield %0 : f32
}
// CHECK: error: 'dt.reduce' is malformed: 'z' is not a label
// -----
dt.label @x
dt.label @y
dt.label @k
dt.input @A : tensor<?xf32>
dt.func @f[x] : f32 {
  %0 = dt.reduce add over [k] where [k - y >= 0] : f32 {
    %1 = dt.read @A[k] : f32
    dt.yield %1 : f32
  }
  dt.yield %0 : f32
}
// CHECK: error: 'dt.reduce' is malformed: label 'y' is neither an axis of 'f' nor reduced
// -----
dt.label @x
dt.label @k
dt.input @A : tensor<?xf32>
dt.func @f[x] : f32 {
  %0 = dt.reduce add over [k] where [k - x >= 1] : f32 {
    %1 = dt.read @A[k] : f32
    dt.yield %1 : f32
  }
  dt.yield %0 : f32
}
// CHECK: error: an expression of a domain is compared with 0
// -----
dt.label @x
dt.label @k
dt.input @A : tensor<?xf32>
dt.func @f[x] : f32 {
  %0 = dt.reduce add over [k] where [k * len(x) - x >= 0] : f32 {
    %1 = dt.read @A[k] : f32
    dt.yield %1 : f32
  }
  dt.yield %0 : f32
}
// CHECK: error: 'dt.reduce' is malformed: numbers are the only factors and divisors of a domain
// -----
dt.label @x
dt.label @k
dt.input @A : tensor<?xf32>
dt.func @f[x] : i64 {
  %0 = dt.reduce argmax over [k] where [k - x >= 0] : i64 {
    %1 = dt.read @A[k] : f32
    dt.yield %1 : f32
  }
  dt.yield %0 : i64
}
// CHECK: error: 'dt.reduce' is malformed: 'argmax' has no domain
// -----
dt.label @x
dt.func @f[x] : f32 {
  %0 = dt.read @B[x] : f32
  dt.yield %0 : f32
}
// CHECK: error: 'dt.read' is malformed: 'B' is neither an input nor a function
// -----
dt.label @x
dt.input @A : tensor<?x?xf32>
dt.func @f[x] : f32 {
  %0 = dt.read @A[x] : f32
  dt.yield %0 : f32
}
// CHECK: error: 'dt.read' is malformed: 'A' has 2 axes but is read with 1 indices
// -----
dt.label @x
dt.input @A : tensor<?xf16>
dt.func @f[x] : f32 {
  %0 = dt.read @A[x] : f32
  dt.yield %0 : f32
}
// CHECK: error: 'dt.read' is malformed: 'A' has elements of f16, not f32
// -----
dt.label @x
"dt.read"() <{source = @A, labels = ["x"], map = affine_map<() -> ()>}> : () -> f32
// CHECK: error: 'dt.read' is malformed: one label or value is needed for each dimension of the index map
// -----
dt.label @x
%0 = dt.index x : i8
// CHECK: error: 'dt.index' is malformed: an index is an i32 or an i64
// -----
dt.label @x
%0 = dt.size x : i8
// CHECK: error: 'dt.size' is malformed: a size is an i32 or an i64
// -----
%0 = dt.reduce add over [] : f32 {
  %1 = arith.constant 0.0 : f32
  dt.yield %1 : f32
}
// CHECK: error: 'dt.reduce' is malformed: a reduction needs a label
// -----
dt.label @x
%0 = dt.reduce add over [x, x] : f32 {
  %1 = arith.constant 0.0 : f32
  dt.yield %1 : f32
}
// CHECK: error: 'dt.reduce' is malformed: the labels of a reduction must differ
// -----
dt.label @x
%0 = dt.reduce add over [x] : f32 {
  %1 = arith.constant 0.0 : f32
}
// CHECK: error: 'dt.reduce' is malformed: the body of a reduction must end in a 'dt.yield'
// -----
dt.label @x
%0 = dt.reduce dot over [x] : f32 {
  %1 = arith.constant 0.0 : f32
  dt.yield %1 : f32
}
// CHECK: error: 'dt.reduce' is malformed: 'dot' reduces 2 operands but has 1
// -----
dt.label @x
%0 = dt.reduce dot over [x] : f32 {
  %1 = arith.constant 0.0 : f32
  %2 = arith.constant 0.0 : f16
  dt.yield %1, %2 : f32, f16
}
// CHECK: error: 'dt.reduce' is malformed: 'dot' multiplies operands of one type, not f32 and f16
// -----
dt.label @x
%0 = dt.reduce dot over [x] : f16 {
  %1 = arith.constant 0.0 : f16
  dt.yield %1, %1 : f16, f16
}
// CHECK: error: 'dt.reduce' is malformed: 'dot' of f16 cannot have the type f16
// -----
dt.label @x
%0 = dt.reduce argmax over [x] : i32 {
  %1 = arith.constant 0.0 : f32
  dt.yield %1 : f32
}
// CHECK: error: 'dt.reduce' is malformed: 'argmax' gives an i64, not i32
// -----
dt.label @x
%0 = dt.reduce add over [x] : f64 {
  %1 = arith.constant 0.0 : f32
  dt.yield %1 : f32
}
// CHECK: error: 'dt.reduce' is malformed: 'add' of f32 cannot have the type f64
// -----
dt.label @x
%0 = dt.reduce add over [x] : f16 {
  %1 = arith.constant 0.0 : f16
  dt.yield %1 : f16
}
// CHECK: error: 'dt.reduce' is malformed: a reduction accumulates in f32, f64, i32 or i64, not in f16
// -----
dt.label @x
%0 = dt.reduce or over [x] : i32 {
  %1 = arith.constant 0 : i32
  dt.yield %1 : i32
}
// CHECK: error: 'dt.reduce' is malformed: 'or' does not reduce values of i32
// -----
dt.output @f
// CHECK: error: 'dt.output' is malformed: 'f' is not a function
