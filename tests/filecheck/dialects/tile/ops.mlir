// RUN: ROUNDTRIP

!row = tensor<32xindex, #tile.axes<x>>
!whole = tensor<?xindex, #tile.axes<k = k>>

// CHECK: tile.kernel @f_kernel
// CHECK-SAME: attributes {grid_blocks = [128 : i64], grid_labels = ["x"], labels = ["x", "k"], least = {k = 16 : i64}, root = "f"} {
tile.kernel @f_kernel(%A: memref<?x?xf16> {host.name = "A", host.axes = ["x", "k"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {grid_blocks = [128 : i64], grid_labels = ["x"], labels = ["x", "k"], least = {k = 16 : i64}, root = "f"} {
  // CHECK-NEXT: %[[P:.*]] = tile.program_id : index
  %p = tile.program_id : index
  // CHECK-NEXT: %[[N:.*]] = tile.size "k" : index
  %n = tile.size "k" : index
  // CHECK-NEXT: %[[X:.*]] = tile.range "x" from %[[P]] : tensor<32xindex, #tile.axes<x>>
  %x = tile.range "x" from %p : !row
  // CHECK-NEXT: %[[K:.*]] = tile.range "k" from %[[P]] to %[[N]] : tensor<?xindex, #tile.axes<k = k>>
  %k = tile.range "k" from %p to %n : !whole
  // CHECK-NEXT: %[[M:.*]] = tile.mask %[[X]] below %[[N]] divisor(32 : i64) : tensor<32xindex, #tile.axes<x>> -> tensor<32xi1, #tile.axes<x>>
  %m = tile.mask %x below %n divisor(32 : i64) : !row -> tensor<32xi1, #tile.axes<x>>
  // CHECK-NEXT: tile.mask %[[K]] below %[[N]] whole
  %w = tile.mask %k below %n whole : !whole -> tensor<?xi1, #tile.axes<k = k>>
  // CHECK-NEXT: %[[A:.*]] = tile.load %{{.*}}[%[[X]], %[[K]]] masked[%[[M]] : tensor<32xi1, #tile.axes<x>>] pad 0.000000e+00 : f16
  %a = tile.load %A[%x, %k] masked[%m : tensor<32xi1, #tile.axes<x>>] pad 0.0 : f16 : memref<?x?xf16>[!row, !whole] -> tensor<32x?xf16, #tile.axes<x, k = k>>
  // CHECK-NEXT: %[[S:.*]] = tile.load %{{.*}}[%[[P]], %[[P]]] : memref<?x?xf16>[index, index] -> f16
  %s = tile.load %A[%p, %p] : memref<?x?xf16>[index, index] -> f16
  // CHECK-NEXT: %[[B:.*]] = tile.map (%[[U:.*]] = %[[A]] : {{.*}}, %[[V:.*]] = %[[S]] : f16) -> tensor<32x?xf32, #tile.axes<x, k = k>> {
  %b = tile.map (%u = %a : tensor<32x?xf16, #tile.axes<x, k = k>>, %v = %s : f16) -> tensor<32x?xf32, #tile.axes<x, k = k>> {
    %0 = arith.addf %u, %v : f16
    %1 = arith.extf %0 : f16 to f32
    // CHECK: tile.yield %{{.*}} : f32
    tile.yield %1 : f32
  }
  // CHECK: tile.transpose %[[A]] : tensor<32x?xf16, #tile.axes<x, k = k>> -> tensor<?x32xf16, #tile.axes<k = k, x>>
  %t = tile.transpose %a : tensor<32x?xf16, #tile.axes<x, k = k>> -> tensor<?x32xf16, #tile.axes<k = k, x>>
  %j = tile.range "x" from %p : tensor<32xindex, #tile.axes<x_1>>
  // CHECK: %[[R:.*]] = tile.rename %{{.*}} to %{{.*}} : {{.*}} -> tensor<?x32xf16, #tile.axes<k = k, x_1>>
  %r = tile.rename %t to %j : tensor<?x32xf16, #tile.axes<k = k, x>>, tensor<32xindex, #tile.axes<x_1>> -> tensor<?x32xf16, #tile.axes<k = k, x_1>>
  %z = arith.constant 0.0 : f32
  // CHECK: %[[Z:.*]] = tile.fill %{{.*}} : f32 -> tensor<32x32xf32, #tile.axes<x, x_1>>
  %c = tile.fill %z : f32 -> tensor<32x32xf32, #tile.axes<x, x_1>>
  // CHECK-NEXT: tile.dot %[[A]], %[[R]] acc %[[Z]] : tensor<32x32xf32, #tile.axes<x, x_1>> :
  %d = tile.dot %a, %r acc %c : tensor<32x32xf32, #tile.axes<x, x_1>> : tensor<32x?xf16, #tile.axes<x, k = k>>, tensor<?x32xf16, #tile.axes<k = k, x_1>> -> tensor<32x32xf32, #tile.axes<x, x_1>>
  // CHECK-NEXT: %[[T:.*]] = tile.reduce add %[[B]] along "k"
  %e = tile.reduce add %b along "k" : tensor<32x?xf32, #tile.axes<x, k = k>> -> tensor<32xf32, #tile.axes<x>>
  // CHECK-NEXT: tile.broadcast %[[T]] : tensor<32xf32, #tile.axes<x>> -> tensor<32x32xf32, #tile.axes<x, x_1>>
  %g = tile.broadcast %e : tensor<32xf32, #tile.axes<x>> -> tensor<32x32xf32, #tile.axes<x, x_1>>
  %h = arith.constant 0 : i64
  %i = tile.fill %h : i64 -> tensor<32x?xi64, #tile.axes<x, k = k>>
  // CHECK: tile.arg_reduce argmax %[[B]], %{{.*}} along "k"
  %best, %where = tile.arg_reduce argmax %b, %i along "k" : tensor<32x?xf32, #tile.axes<x, k = k>>, tensor<32x?xi64, #tile.axes<x, k = k>> -> tensor<32xf32, #tile.axes<x>>, tensor<32xi64, #tile.axes<x>>
  // CHECK-NEXT: tile.store %[[T]], %{{.*}}[%[[X]]] masked[%[[M]] : tensor<32xi1, #tile.axes<x>>] : tensor<32xf32, #tile.axes<x>>, memref<?xf32>[tensor<32xindex, #tile.axes<x>>]
  tile.store %e, %f[%x] masked[%m : tensor<32xi1, #tile.axes<x>>] : tensor<32xf32, #tile.axes<x>>, memref<?xf32>[!row]
}
