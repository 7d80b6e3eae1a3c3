// RUN: ROUNDTRIP
// Indices are quasi-affine in labels and values; labels may have sizes of their own.
// CHECK: dt.label @X_1 axis
dt.label @X_1 axis
// CHECK-NEXT: dt.label @n
dt.label @n
// CHECK-NEXT: dt.label @r reduction size 3
dt.label @r reduction size 3
// CHECK-NEXT: dt.label @p size (len(X_1) - len(r) + 2) floordiv 2 + 1 {my.mark = 4 : i64}
dt.label @p size (len(X_1) - len(r) + 2) floordiv 2 + 1 {my.mark = 4}
// CHECK-NEXT: dt.label @q inferred min(len(X_1) - 2, len(n))
dt.label @q inferred min(len(X_1) - 2, len(n))
// CHECK-NEXT: dt.input @X[n, X_1] : tensor<?x?xf32>
dt.input @X[n, X_1] : tensor<?x?xf32>
// CHECK-NEXT: dt.input @I[_] : tensor<?xi64>
dt.input @I[_] : tensor<?xi64>
dt.func @f[n, p] : f32 {
  // CHECK: %[[V:.*]] = dt.read @I[n] : i64
  %v = dt.read @I[n] : i64
  // CHECK-NEXT: dt.reduce add over [r] where [%[[V]] - 2 * r + len(n) >= 0, n + r - %[[V]] - 1 >= 0] : i64 {
  %w = dt.reduce add over [r] where [%v - 2 * r + len(n) >= 0, n + r - %v - 1 >= 0] : i64 {
    dt.yield %v : i64
  }
  // CHECK: dt.reduce maximum over [r] where [n - r >= 0, r mod 2 + 2 * p - 1 >= 0] : f32 {
  %0 = dt.reduce maximum over [r] where [n - r >= 0, r mod 2 + 2 * p - 1 >= 0] : f32 {
    // CHECK-NEXT: dt.read @X[n, 2 * p + r - 1] constant_exterior -inf : f32
    %1 = dt.read @X[n, 2 * p + r - 1] constant_exterior -inf : f32
    // CHECK-NEXT: dt.read @X[n, (p - r) floordiv 2 + len(n)] repeat_edge : f32
    %2 = dt.read @X[n, (p - r) floordiv 2 + len(n)] repeat_edge : f32
    // CHECK-NEXT: dt.read @X[n mod 3, 5 - p] mirror_interior {my.mark = 1 : i64} : f32
    %3 = dt.read @X[n mod 3, 5 - p] mirror_interior {my.mark = 1} : f32
    // CHECK-NEXT: %[[I:.*]] = dt.read @I[0] : i64
    %i = dt.read @I[0] : i64
    // CHECK-NEXT: %[[J:.*]] = dt.clamp %[[I]] below X_1
    %j = dt.clamp %i below X_1
    // CHECK-NEXT: dt.read @X[n, %[[J]]] : f32
    %4 = dt.read @X[n, %j] : f32
    // CHECK-NEXT: dt.read @X[%[[J]], p] mirror_image : f32
    %5 = dt.read @X[%j, p] mirror_image : f32
    // CHECK-NEXT: dt.read @X[n, p] repeat_image : f32
    %6 = dt.read @X[n, p] repeat_image : f32
    dt.yield %4 : f32
  }
  dt.yield %0 : f32
}
