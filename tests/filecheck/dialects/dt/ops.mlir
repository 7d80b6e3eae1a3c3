// RUN: ROUNDTRIP

// CHECK: dt.label @x
dt.label @x
// CHECK-NEXT: dt.label @k reduction
dt.label @k reduction
// CHECK-NEXT: dt.input @A : tensor<?x?xf16>
dt.input @A : tensor<?x?xf16>
// CHECK-NEXT: dt.input @U : tensor<*xui8>
dt.input @U : tensor<*xui8>
// CHECK-NEXT: dt.input @alpha : f64
dt.input @alpha : f64
// CHECK-NEXT: dt.input @beta declared : f32 {my.mark}
dt.input @beta declared : f32 {my.mark}

// CHECK-NEXT: dt.func @f[x] : f32 {
dt.func @f[x] : f32 {
  // CHECK-NEXT: %{{.*}} = dt.reduce dot over [k] : f32 {
  %0 = dt.reduce dot over [k] : f32 {
    // CHECK-NEXT: %[[A:.*]] = dt.read @A[x, k] : f16
    %1 = dt.read @A[x, k] : f16
    // CHECK-NEXT: %[[B:.*]] = dt.read @A[3, k] : f16
    %2 = dt.read @A[3, k] : f16
    // CHECK-NEXT: dt.yield %[[A]], %[[B]] : f16, f16
    dt.yield %1, %2 : f16, f16
  }
  // CHECK: dt.reduce argmax over [k] : i64 {
  %3 = dt.reduce argmax over [k] : i64 {
    // CHECK-NEXT: dt.index k : i32
    %4 = dt.index k : i32
    dt.yield %4 : i32
  }
  // CHECK: dt.size x : i64
  %5 = dt.size x : i64
  // CHECK-NEXT: dt.read @alpha[] : f64
  %6 = dt.read @alpha[] : f64
  dt.yield %0 : f32
}
// CHECK: dt.func @g[] declared : f16 {
dt.func @g[] declared : f16 {
  %0 = dt.read @A[0, 0] : f16
  dt.yield %0 : f16
}
// CHECK: dt.output @f
dt.output @f
// CHECK-NEXT: dt.output @g kernel_only dynamic
dt.output @g kernel_only dynamic
