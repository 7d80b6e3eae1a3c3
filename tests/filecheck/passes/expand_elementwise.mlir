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
// 1 / (1 + exp(-x)): the target has powers of 2, and a root is cheaper than a quotient.
// CHECK: %[[F:.*]] = arith.constant -1.44269502 : f32
// CHECK-NEXT: %[[M:.*]] = arith.mulf %[[X]], %[[F]] : f32
// CHECK-NEXT: %[[P:.*]] = math.exp2 %[[M]] : f32
// CHECK-NEXT: %[[D:.*]] = arith.addf %{{.*}}, %[[P]] : f32
// CHECK-NEXT: %[[R:.*]] = math.rsqrt %[[D]] : f32
// CHECK-NEXT: %[[S:.*]] = arith.mulf %[[R]], %[[R]] : f32
%2 = elem.apply "sigmoid"(%x) : (f32) -> f32
// Constant factors of an exponent are multiplied beforehand.
// CHECK: %[[F:.*]] = arith.constant -4.32808{{.*}} : f32
// CHECK-NEXT: %[[M:.*]] = arith.mulf %[[S]], %[[F]] : f32
// CHECK-NEXT: math.exp2 %[[M]] : f32
%m = arith.mulf %y, %2 : f32
%n = arith.negf %m : f32
%3 = math.exp %n : f32
// There is no instruction for exponentials in f64.
// CHECK: math.exp %{{.*}} : f64
%w = arith.constant 1.0 : f64
%5 = math.exp %w : f64
// A quotient of polynomials, between limits.
// CHECK-NOT: math.tanh
// CHECK: arith.maximumf %[[X]]
// CHECK-NEXT: arith.minimumf
// CHECK-NOT: arith.divf
// CHECK: math.rsqrt
%4 = math.tanh %x : f32
// It ends at 1 exactly.
// CHECK-NEXT: %[[Q:.*]] = arith.mulf
// CHECK: arith.maximumf %[[Q]]
// CHECK-NEXT: arith.minimumf
// CHECK-NOT: math.erf
%6 = math.erf %x : f32
// Of a power that is no constant: the powers of 1 are 1, and the sign of a zero is its reciprocal's.
// CHECK-NOT: math.powf
// CHECK: %[[ABS:.*]] = math.absf %[[V:.*]] : f32
// CHECK-NEXT: %[[UNIT:.*]] = arith.cmpf oeq, %[[ABS]], %[[ONE:.*]] : f32
// CHECK: math.exp2
// CHECK-NEXT: arith.select %[[UNIT]], %[[ONE]], %{{.*}} : f32
// CHECK: %[[INVERSE:.*]] = arith.divf %[[ONE]], %[[V]] : f32
// CHECK-NEXT: arith.cmpf olt, %[[INVERSE]], %{{.*}} : f32
%v = elem.apply "relu"(%2) : (f32) -> f32
%u = elem.apply "relu"(%m) : (f32) -> f32
%7 = math.powf %v, %u : f32
// Of an integer power, the bits of an exponent without a sign in 3 bits are 3; of -1 the lowest counts.
%i = arith.constant 5 : i32
%b = "test.op"() : () -> i3
// CHECK: arith.extui %{{.*}} : i3 to i32
// CHECK: arith.cmpi eq, %[[BASE:.*]], %{{.*}} : i32
// CHECK: arith.cmpi eq, %[[BASE]], %{{.*}} : i32
// CHECK: arith.ori
// CHECK-COUNT-3: arith.andi
// CHECK-NOT: arith.andi
%e = arith.extui %b : i3 to i32
%8 = math.ipowi %i, %e : i32
