// RUN: ROUNDTRIP

%x = arith.constant 1.0 : f32
%i = arith.constant 1 : i32
// CHECK: elem.apply "sigmoid"(%{{.*}}) : (f32) -> f32
%0 = elem.apply "sigmoid"(%x) : (f32) -> f32
// CHECK: elem.apply "clamp"(%{{.*}}, %{{.*}}, %{{.*}}) : (i32, i32, i32) -> i32
%1 = elem.apply "clamp"(%i, %i, %i) : (i32, i32, i32) -> i32
// CHECK: elem.moderation %{{.*}}
%2 = elem.moderation %x
