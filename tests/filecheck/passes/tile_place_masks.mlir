// RUN: dt-opt %s -p tile-place-masks | filecheck %s
!x = tensor<24xindex, #tile.axes<x>>
!k = tensor<8xindex, #tile.axes<k>>
!l = tensor<?xindex, #tile.axes<l = l>>
tile.kernel @f(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "k"]}, %B: memref<?x?xi32> {host.name = "B", host.axes = ["k", "l"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {grid_blocks = [24 : i64], grid_labels = ["x"], labels = ["x", "k", "l"], root = "f"} {
  %X = tile.size "x" : index
  %K = tile.size "k" : index
  %L = tile.size "l" : index
  %pid = tile.program_id : index
  %c24 = arith.constant 24 : index
  %c8 = arith.constant 8 : index
  %c0 = arith.constant 0 : index
  %x0 = arith.muli %pid, %c24 : index
  // An extent that is no power of two is padded; its tail belongs to the next tile.
  // CHECK: %[[X:.*]] = tile.range "x" from %[[X0:.*]] : tensor<32xindex, #tile.axes<x>>
  // CHECK-NEXT: %[[N:.*]] = arith.constant 24 : index
  // CHECK-NEXT: %[[E:.*]] = arith.addi %[[X0]], %[[N]] : index
  // CHECK-NEXT: %[[M:.*]] = arith.minsi %[[E]], %{{.*}} : index
  // CHECK-NEXT: %[[XM:.*]] = tile.mask %[[X]] below %[[M]] :
  %x = tile.range "x" from %x0 to %X : !x
  // CHECK: tile.range "l" from %{{.*}} : tensor<?xindex, #tile.axes<l = l>>
  // CHECK-NEXT: %[[LM:.*]] = tile.mask %{{.*}} below %{{.*}} whole
  %l = tile.range "l" from %c0 to %L : !l
  // CHECK: scf.for
  scf.for %k0 = %c0 to %K step %c8 {
    // Tiles that start at multiples of their extent fit where it divides the size.
    // CHECK-NEXT: %[[K:.*]] = tile.range "k"
    // CHECK-NEXT: %[[KM:.*]] = tile.mask %[[K]] below %{{.*}} divisor(8 : i64)
    %k = tile.range "k" from %k0 to %K : !k
    // CHECK-NEXT: tile.load %{{.*}}[%[[X]], %[[K]]] masked[%[[XM]], %[[KM]] : {{.*}}] pad 0.000000e+00 : f32
    %a = tile.load %A[%x, %k] : memref<?x?xf32>[!x, !k] -> tensor<24x8xf32, #tile.axes<x, k>>
    // A reduction sees its own identity beyond the end.
    // CHECK-NEXT: tile.map (%{{.*}} = %[[KM]]
    // CHECK-NEXT: arith.constant 0xff800000 : f32
    // CHECK-NEXT: arith.select
    // CHECK: tile.reduce maximum
    %m = tile.reduce maximum %a along "k" : tensor<24x8xf32, #tile.axes<x, k>> -> tensor<24xf32, #tile.axes<x>>
    // CHECK: tile.store %{{.*}}, %{{.*}}[%[[X]]] masked[%[[XM]] :
    tile.store %m, %f[%x] : tensor<24xf32, #tile.axes<x>>, memref<?xf32>[!x]
    %b = tile.load %B[%k, %l] : memref<?x?xi32>[!k, !l] -> tensor<8x?xi32, #tile.axes<k, l = l>>
    // CHECK: arith.constant 1 : i32
    // CHECK-NEXT: arith.select
    // CHECK: tile.reduce mul
    %p = tile.reduce mul %b along "l" : tensor<8x?xi32, #tile.axes<k, l = l>> -> tensor<8xi32, #tile.axes<k>>
  }
}
// A tile that starts anywhere may reach beyond the end although its extent divides the size.
// CHECK-LABEL: tile.kernel @anywhere
tile.kernel @anywhere(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {grid_blocks = [8 : i64], grid_labels = ["x"], labels = ["x"], root = "f"} {
  %X = tile.size "x" : index
  %pid = tile.program_id : index
  %c8 = arith.constant 8 : index
  %c3 = arith.constant 3 : index
  %o = arith.muli %pid, %c8 : index
  %p = arith.addi %o, %c3 : index
  // CHECK: tile.mask %{{.*}} below %{{[a-zA-Z_0-9]+}} : tensor<8xindex
  %x = tile.range "x" from %pid to %X : tensor<8xindex, #tile.axes<x>>
  %a = tile.load %A[%x] : memref<?xf32>[tensor<8xindex, #tile.axes<x>>] -> tensor<8xf32, #tile.axes<x>>
  tile.store %a, %f[%x] : tensor<8xf32, #tile.axes<x>>, memref<?xf32>[tensor<8xindex, #tile.axes<x>>]
  // CHECK: tile.mask %{{.*}} below %{{[a-zA-Z_0-9]+}} : tensor<8xindex
  %y = tile.range "x" from %p to %X : tensor<8xindex, #tile.axes<y>>
  %b = tile.load %A[%y] : memref<?xf32>[tensor<8xindex, #tile.axes<y>>] -> tensor<8xf32, #tile.axes<y>>
  tile.store %b, %f[%y] : tensor<8xf32, #tile.axes<y>>, memref<?xf32>[tensor<8xindex, #tile.axes<y>>]
  // Where both ends are known there is nothing to mask.
  %c16 = arith.constant 16 : index
  // CHECK: tile.range
  // CHECK-NOT: tile.mask
  %z = tile.range "x" from %c8 to %c16 : tensor<8xindex, #tile.axes<z>>
  %c = tile.load %A[%z] : memref<?xf32>[tensor<8xindex, #tile.axes<z>>] -> tensor<8xf32, #tile.axes<z>>
  tile.store %c, %f[%z] : tensor<8xf32, #tile.axes<z>>, memref<?xf32>[tensor<8xindex, #tile.axes<z>>]
}
