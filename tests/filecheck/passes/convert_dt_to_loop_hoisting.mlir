// RUN: dt-opt %s -p convert-dt-to-loop | filecheck %s
// A reduction is computed at the level of the labels that it depends on, out of other reductions too.
dt.label @x
dt.label @y
dt.label @k
dt.input @A : tensor<?x?xf32>
dt.func @f[x, y] : f32 {
  // CHECK: loop.for %[[X:.*]] = x of f {
  // CHECK-NEXT: %[[M:.*]] = loop.reduce maximum %{{.*}} = k of f
  // CHECK: %[[S:.*]] = loop.reduce add %[[K:.*]] = k of f
  // CHECK-NEXT: %[[V:.*]] = loop.read %{{.*}}[%[[X]], %[[K]]]
  // CHECK-NEXT: arith.subf %[[V]], %[[M]]
  // CHECK: loop.for %[[Y:.*]] = y of f {
  // CHECK-NEXT: loop.write %[[S]], %{{.*}}[%[[X]], %[[Y]]]
  %0 = dt.reduce add over [k] : f32 {
    %1 = dt.read @A[x, k] : f32
    %2 = dt.reduce maximum over [k] : f32 {
      %3 = dt.read @A[x, k] : f32
      dt.yield %3 : f32
    }
    %4 = arith.subf %1, %2 : f32
    dt.yield %4 : f32
  }
  dt.yield %0 : f32
}
dt.output @f
