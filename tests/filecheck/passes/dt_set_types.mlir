// RUN: dt-opt %s -p 'dt-set-types{types="A:f16","f:bf16"}' | filecheck %s
dt.label @x
// CHECK: dt.input @A : tensor<?xf16>
dt.input @A : tensor<?xf32>
dt.func @f[x] : f32 {
  // CHECK: dt.func @f[x] declared : bf16 {
  // CHECK-NEXT: %[[A:.*]] = dt.read @A[x] : f16
  // CHECK-NEXT: %[[W:.*]] = arith.extf %[[A]] : f16 to f32
  // CHECK-NEXT: %[[E:.*]] = math.exp %[[W]] : f32
  // CHECK-NEXT: %[[R:.*]] = arith.truncf %[[E]] : f32 to bf16
  // CHECK-NEXT: dt.yield %[[R]] : bf16
  %0 = dt.read @A[x] : f32
  %1 = math.exp %0 : f32
  dt.yield %1 : f32
}
sched.schedule {
  // CHECK: sched.block @f(x: 8)
  sched.block @f(x: 8)
}
// CHECK: dt.output @f dynamic
dt.output @f dynamic
