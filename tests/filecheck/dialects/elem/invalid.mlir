// RUN: dt-opt %s --split-input-file --verify-diagnostics

%x = arith.constant 1.0 : f32
%0 = elem.apply "sigmid"(%x) : (f32) -> f32
// expected-error@above {{'elem.apply' is malformed: 'sigmid' is not an elementwise function}}
// -----
%x = arith.constant 1.0 : f32
%0 = elem.apply "sigmoid"(%x, %x) : (f32, f32) -> f32
// expected-error@above {{'elem.apply' is malformed: 'sigmoid' takes 1 operands but has 2}}
// -----
%x = arith.constant 1.0 : f32
%0 = elem.apply "sigmoid"(%x) : (f32) -> f64
// expected-error@above {{'elem.apply' is malformed: 'sigmoid' needs operands and a result of one type}}
// -----
%x = arith.constant 1 : i32
%0 = elem.apply "sigmoid"(%x) : (i32) -> i32
// expected-error@above {{'elem.apply' is malformed: 'sigmoid' is computed in floating point, not in i32}}
// -----
%x = arith.constant true
%0 = elem.apply "sign"(%x) : (i1) -> i1
// expected-error@above {{'elem.apply' is malformed: 'sign' is not defined on i1}}
// -----
%x = arith.constant 1 : i32
%0 = elem.apply "floordiv"(%x, %x) : (i32, i32) -> i32
// expected-error@above {{'elem.apply' is malformed: 'floordiv' on i32 has an operation of its own upstream}}
// -----
%x = arith.constant 1.0 : f64
%0 = "elem.moderation"(%x) : (f64) -> f64
// expected-error@above {{operand 'value' at position 0 does not verify}}
