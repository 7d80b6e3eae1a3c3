// RUN: dt-opt %s -p tile-move-scales --split-input-file | filecheck %s
// Choices of -inf, too, come before the scale; its other uses see the product.
// CHECK-LABEL: tile.kernel @masked
// CHECK: %[[BEFORE:.*]], %[[AFTER:.*]] = tile.factors %s : f32 to f32
// CHECK: %[[A:.*]] = tile.load
// CHECK-NEXT: %[[B:.*]] = tile.map arith.mulf %[[A]], %[[BEFORE]]
// CHECK-NEXT: %[[M:.*]] = tile.map arith.select %{{.*}}, %[[B]], -inf
// CHECK-NEXT: %[[P:.*]] = tile.map arith.mulf %[[M]], %[[AFTER]]
// CHECK-NEXT: %[[T:.*]] = tile.reduce maximum %[[M]] along k
// CHECK-NEXT: arith.mulf %[[T]], %[[AFTER]]
// CHECK: tile.map math.exp %[[P]]
tile.kernel @masked(%A: memref<?xf32> {host.name = "A", host.axes = ["k"]}, %s: f32 {host.name = "s", host.axes = []}, %f: memref<f32> {host.name = "f", host.axes = []}, %g: memref<?xf32> {host.name = "g", host.axes = ["k"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["k"], root = "f"} {
  %c0 = arith.constant 0 : index
  %n = tile.size k
  %k = tile.range k: 8 from %c0
  %mask = tile.mask %k below %n
  %a = tile.load %A[%k] masked [%mask] pad 0.0
  %p = tile.map arith.mulf %a, %s
  %m = tile.map arith.select %mask, %p, -inf
  %t = tile.reduce maximum %m along k
  tile.store %t, %f[]
  %e = tile.map math.exp %m
  tile.store %e, %g[%k] masked [%mask]
}
// -----
// A scalar of a narrow type is told of as it is given; a minimum is neutral to inf.
// CHECK-LABEL: tile.kernel @narrow
// CHECK: %[[B:.*]], %[[F:.*]] = tile.factors %s : f16 to f32
// CHECK: tile.map arith.mulf %{{.*}}, %[[B]]
// CHECK-NEXT: tile.map arith.select %{{.*}}, %{{.*}}, inf
// CHECK: tile.reduce minimum
// CHECK-NEXT: arith.mulf %{{.*}}, %[[F]]
tile.kernel @narrow(%A: memref<?xf32> {host.name = "A", host.axes = ["k"]}, %s: f16 {host.name = "s", host.axes = []}, %f: memref<f32> {host.name = "f", host.axes = []}) attributes {grid_blocks = [], grid_labels = [], labels = ["k"], root = "f"} {
  %c0 = arith.constant 0 : index
  %n = tile.size k
  %w = arith.extf %s : f16 to f32
  %k = tile.range k: 8 from %c0
  %mask = tile.mask %k below %n
  %a = tile.load %A[%k] masked [%mask] pad 0.0
  %p = tile.map arith.mulf %a, %w
  %m = tile.map arith.select %mask, %p, inf
  %t = tile.reduce minimum %m along k
  tile.store %t, %f[]
}
// -----
// A positive number is one, too.
// CHECK-LABEL: tile.kernel @constants
// CHECK: %[[C:.*]] = arith.constant 2.000000e+01 : f32
// CHECK-NEXT: %[[B:.*]], %[[F:.*]] = tile.factors %[[C]] : f32 to f32
// CHECK-NOT: tile.factors
// CHECK: %[[A:.*]] = tile.load
// CHECK: %[[U:.*]] = tile.map arith.mulf %[[A]], %[[B]]
// CHECK-NEXT: %[[T:.*]] = tile.reduce maximum %[[U]] along k
// CHECK-NEXT: arith.mulf %[[T]], %[[F]]
// A negative one turns the order, 0 makes NaN of infinities, and what is tiny may become 0.
// CHECK: %[[N:.*]] = tile.map arith.mulf %[[A]], -2.0
// CHECK-NEXT: tile.reduce maximum %[[N]] along k
// CHECK: %[[Z:.*]] = tile.map arith.mulf %[[A]], 0.0
// CHECK-NEXT: tile.reduce maximum %[[Z]] along k
// CHECK: %[[S:.*]] = tile.map arith.mulf %[[A]],
// CHECK-NEXT: tile.reduce maximum %[[S]] along k
tile.kernel @constants(%A: memref<?xf32> {host.name = "A", host.axes = ["k"]}, %f: memref<f32> {host.name = "f", host.axes = []}) attributes {grid_blocks = [], grid_labels = [], labels = ["k"], root = "f"} {
  %c0 = arith.constant 0 : index
  %k = tile.range k: 8 from %c0
  %a = tile.load %A[%k]
  %p = tile.map arith.mulf %a, 20.0
  %t = tile.reduce maximum %p along k
  tile.store %t, %f[]
  %n = tile.map arith.mulf %a, -2.0
  %tn = tile.reduce maximum %n along k
  tile.store %tn, %f[]
  %z = tile.map arith.mulf %a, 0.0
  %tz = tile.reduce maximum %z along k
  tile.store %tz, %f[]
  %y = tile.map arith.mulf %a, 1.0e-40
  %ty = tile.reduce maximum %y along k
  tile.store %ty, %f[]
}
// -----
// What is chosen besides has a scale too; sums, and indices of extremes, keep theirs: of products
// that are equal after rounding, the first is another one.
// CHECK-LABEL: tile.kernel @others
// CHECK-NOT: tile.factors
tile.kernel @others(%A: memref<?xf32> {host.name = "A", host.axes = ["k"]}, %s: f32 {host.name = "s", host.axes = []}, %f: memref<f32> {host.name = "f", host.axes = []}) attributes {grid_blocks = [], grid_labels = [], labels = ["k"], root = "f"} {
  %c0 = arith.constant 0 : index
  %n = tile.size k
  %k = tile.range k: 8 from %c0
  %mask = tile.mask %k below %n
  %a = tile.load %A[%k] masked [%mask] pad 0.0
  %p = tile.map arith.mulf %a, %s
  %m = tile.map arith.select %mask, %p, 0.0
  %t = tile.reduce maximum %m along k
  tile.store %t, %f[]
  %u = tile.reduce add %m along k
  tile.store %u, %f[]
  %w = arith.addf %s, %s : f32
  %q = tile.map arith.mulf %a, %w
  %v = tile.reduce maximum %q along k
  tile.store %v, %f[]
}
// -----
// What is made of numbers and known sizes is positive: its factors are known.
// CHECK-LABEL: tile.kernel @known
// CHECK: %[[R:.*]] = arith.divf
// CHECK-NEXT: %[[B:.*]], %[[F:.*]] = tile.factors %[[R]] : f32 to f32
// CHECK: %[[A:.*]] = tile.load
// CHECK: %[[U:.*]] = tile.map arith.mulf %[[A]], %[[B]]
// CHECK-NEXT: %[[T:.*]] = tile.reduce maximum %[[U]] along k
// CHECK-NEXT: arith.mulf %[[T]], %[[F]]
// A size that is open may be 0, and its reciprocal infinite.
// CHECK: %[[P:.*]] = tile.map arith.mulf %[[A]], %{{.*}}
// CHECK-NEXT: tile.reduce maximum %[[P]] along k
tile.kernel @known(%A: memref<?xf32> {host.name = "A", host.axes = ["k"]}, %f: memref<f32> {host.name = "f", host.axes = []}) attributes {grid_blocks = [], grid_labels = [], labels = ["k"], root = "f"} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %one = arith.constant 1.0 : f32
  %i = arith.index_cast %c64 : index to i32
  %g = arith.sitofp %i : i32 to f32
  %w = math.sqrt %g : f32
  %r = arith.divf %one, %w : f32
  %n = tile.size k
  %j = arith.index_cast %n : index to i32
  %h = arith.sitofp %j : i32 to f32
  %q = arith.divf %one, %h : f32
  %k = tile.range k: 8 from %c0
  %a = tile.load %A[%k]
  %p = tile.map arith.mulf %a, %r
  %t = tile.reduce maximum %p along k
  tile.store %t, %f[]
  %o = tile.map arith.mulf %a, %q
  %m = tile.reduce maximum %o along k
  tile.store %m, %f[]
}
