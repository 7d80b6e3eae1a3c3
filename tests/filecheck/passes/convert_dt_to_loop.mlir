// RUN: dt-opt %s -p convert-dt-to-loop | filecheck %s

dt.label @x
dt.label @y
dt.label @k reduction
dt.input @A : tensor<?x?xf32>
dt.input @s : f32

// The host part allocates and launches; intermediates come before what reads them.
// CHECK:      host.func @f(
// CHECK-NEXT: %[[A:.*]]: memref<?x?xf32> {host.name = "A", host.axes = ["x", "k"], host.minimums = [0 : i64,
// CHECK-NEXT: 1 : i64]},
// CHECK-NEXT: %[[S:.*]]: f32 {host.name = "s", host.axes = []}
// CHECK:      algorithm = [
// CHECK-NEXT: "Func g, f;",
// CHECK-NEXT: "In A;",
// CHECK-NEXT: "SIn s;",
// CHECK-NEXT: "Var x, y;",
// CHECK-NEXT: "RVar k;",
// CHECK-NEXT: "g[x] = rmax(A[x, k], k) + A[x, 0];",
// CHECK-NEXT: "f[x, y] = g[x] * rsum(A[y, k] * s, k) * x;"
// CHECK-NEXT: ],
// CHECK-NEXT: compiled = ["f.compile();"],
// CHECK-NEXT: labels = ["x", "y", "k"],
// CHECK-NEXT: nonempty = [#host.at_least<k, 1, "maximum in 'g'">],
// CHECK-NEXT: same = {{\[\[}}"x", "y"]]
// CHECK:        %[[X:.*]] = host.size x
// CHECK-NEXT:   %[[Y:.*]] = host.size y
// CHECK-NEXT:   %[[G:.*]] = host.alloc g[x](%[[X]])
// CHECK-NEXT:   %[[F:.*]] = host.alloc f[x, y](%[[X]], %[[Y]])
// CHECK-NEXT:   host.launch @g_kernel(%[[A]], %[[G]])
// CHECK-NEXT:   host.launch @f_kernel(%[[A]], %[[G]], %[[F]], %[[S]])
// CHECK-NEXT:   host.return %[[F]]
dt.func @g[x] : f32 {
  // CHECK: loop.kernel @g_kernel
  // CHECK: loop.for %[[I:.*]] = x of g {
  // CHECK-NEXT: loop.reduce maximum %[[K:.*]] = k of g : f32 {
  // CHECK-NEXT: loop.read %{{.*}}[%[[I]], %[[K]]]
  // CHECK: loop.read %{{.*}}[%[[I]], 0]
  %0 = dt.reduce maximum over [k] : f32 {
    %1 = dt.read @A[x, k] : f32
    dt.yield %1 : f32
  }
  %2 = dt.read @A[x, 0] : f32
  %3 = arith.addf %0, %2 : f32
  dt.yield %3 : f32
}
dt.func @f[x, y] : f32 {
  // The reduction depends on y alone of the function's labels, whose loop is the inner one.
  // CHECK: loop.kernel @f_kernel
  // CHECK: loop.for %[[I:.*]] = x of f {
  // CHECK-NEXT: loop.for %[[J:.*]] = y of f {
  // CHECK-NEXT: %[[G:.*]] = loop.read %{{.*}}[%[[I]]]
  // CHECK-NEXT: loop.reduce add %{{.*}} = k of f : f32 {
  // CHECK: arith.index_cast %[[I]] : index to i32
  // CHECK: loop.write %{{.*}}, %{{.*}}[%[[I]], %[[J]]]
  %0 = dt.read @g[x] : f32
  %1 = dt.reduce add over [k] : f32 {
    %2 = dt.read @A[y, k] : f32
    %3 = dt.read @s[] : f32
    %4 = arith.mulf %2, %3 : f32
    dt.yield %4 : f32
  }
  %5 = arith.mulf %0, %1 : f32
  %6 = dt.index x : i32
  %7 = arith.sitofp %6 : i32 to f32
  %8 = arith.mulf %5, %7 : f32
  dt.yield %8 : f32
}
dt.output @f
