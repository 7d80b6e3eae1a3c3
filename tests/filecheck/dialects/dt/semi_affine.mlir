// RUN: dt-opt %s | dt-opt | filecheck %s
// RUN: dt-opt --print-op-generic %s | not dt-opt 2>&1 | filecheck %s --check-prefix=GENERIC
// Factors and divisors may be sizes. xDSL reads no such maps in the generic form.
// GENERIC: error: this is not supported
dt.label @c
dt.label @i
dt.input @A : tensor<?xf32>
dt.func @f[c] : f32 {
  // CHECK: dt.read @A[c floordiv len(i)] : f32
  %0 = dt.read @A[c floordiv len(i)] : f32
  // CHECK: dt.read @A[c mod len(i) * (len(i) + 1) + c] : f32
  %1 = dt.read @A[(c mod len(i)) * (len(i) + 1) + c] : f32
  dt.yield %0 : f32
}
