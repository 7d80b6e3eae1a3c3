// RUN: dt-opt %s -p 'dt-set-types{types="A:f64"}' | filecheck %s
// A program says a function's narrow type by declaring it.
dt.label @x
dt.input @A : tensor<?xf32>
// CHECK: dt.func @f[x] declared : f16 {
dt.func @f[x] : f16 {
  %0 = dt.read @A[x] : f32
  // CHECK: arith.truncf %{{.*}} : f64 to f16
  %1 = arith.truncf %0 : f32 to f16
  dt.yield %1 : f16
}
dt.output @f
