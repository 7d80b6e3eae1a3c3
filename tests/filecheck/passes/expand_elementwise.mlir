// RUN: dt-opt %s -p expand-elementwise | filecheck %s
%x = arith.constant 1.0 : f32
%y = arith.constant 3.0 : f32
// CHECK: %[[X:.*]] = arith.constant 1.000000e+00 : f32
// CHECK: %[[Z:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: arith.maximumf %[[X]], %[[Z]] : f32
%0 = elem.apply "relu"(%x) : (f32) -> f32
// A whole power is multiplied out.
// CHECK-NEXT: %[[S:.*]] = arith.mulf %[[X]], %[[X]] : f32
// CHECK-NEXT: arith.mulf %[[X]], %[[S]] : f32
%1 = math.powf %x, %y : f32
// What the target has stays.
// CHECK-NEXT: elem.apply "sigmoid"
%2 = elem.apply "sigmoid"(%x) : (f32) -> f32
// CHECK-NEXT: math.exp
%3 = math.exp %x : f32
// CHECK-NOT: math.tanh
%4 = math.tanh %x : f32
