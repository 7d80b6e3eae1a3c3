// RUN: dt-opt %s -p tile-place-masks | filecheck %s
tile.kernel @f(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "k"]}, %B: memref<?x?xi32> {host.name = "B", host.axes = ["k", "l"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {grid_blocks = [24 : i64], grid_labels = ["x"], labels = ["x", "k", "l"], root = "f"} {
  %X = tile.size x
  %K = tile.size k
  %L = tile.size l
  %pid = tile.program_id
  %c24 = arith.constant 24 : index
  %c8 = arith.constant 8 : index
  %c0 = arith.constant 0 : index
  %x0 = arith.muli %pid, %c24 : index
  // An extent that is not a power of two is padded; its tail belongs to the next tile.
  // CHECK: %[[X:.*]] = tile.range x: 32 from %[[X0:.*]]
  // CHECK-NEXT: %[[N:.*]] = arith.constant 24 : index
  // CHECK-NEXT: %[[E:.*]] = arith.addi %[[X0]], %[[N]] : index
  // CHECK-NEXT: %[[M:.*]] = arith.minsi %[[E]], %{{.*}} : index
  // CHECK-NEXT: %[[XM:.*]] = tile.mask %[[X]] below %[[M]]
  %x = tile.range x: 24 from %x0 to %X
  // CHECK: tile.range l from %{{.*}}
  // CHECK-NEXT: %[[LM:.*]] = tile.mask %{{.*}} below %{{.*}} whole
  %l = tile.range l from %c0 to %L
  // CHECK: scf.for
  scf.for %k0 = %c0 to %K step %c8 {
    // Tiles that start at multiples of their extent fit where it divides the size.
    // CHECK-NEXT: %[[K:.*]] = tile.range k
    // CHECK-NEXT: %[[KM:.*]] = tile.mask %[[K]] below %{{.*}} divisor 8
    %k = tile.range k: 8 from %k0 to %K
    // CHECK-NEXT: tile.load %{{.*}}[%[[X]], %[[K]]] masked [%[[XM]], %[[KM]]] pad 0.0
    %a = tile.load %A[%x, %k] : !tile.of<x: 24, k: 8, f32>
    // A reduction sees its own identity beyond the end.
    // CHECK-NEXT: tile.map arith.select %[[KM]], %{{.*}}, -inf
    // CHECK: tile.reduce maximum
    %m = tile.reduce maximum %a along k
    // CHECK: tile.store %{{.*}}, %{{.*}}[%[[X]]] masked [%[[XM]]]
    tile.store %m, %f[%x]
    %b = tile.load %B[%k, %l] : !tile.of<k: 8, l, i32>
    // CHECK: tile.map arith.select %{{.*}}, 1
    // CHECK: tile.reduce mul
    %p = tile.reduce mul %b along l
  }
}
// A tile that starts anywhere may reach beyond the end although its extent divides the size.
// CHECK-LABEL: tile.kernel @anywhere
tile.kernel @anywhere(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {grid_blocks = [8 : i64], grid_labels = ["x"], labels = ["x"], root = "f"} {
  %X = tile.size x
  %pid = tile.program_id
  %c8 = arith.constant 8 : index
  %c3 = arith.constant 3 : index
  %o = arith.muli %pid, %c8 : index
  %p = arith.addi %o, %c3 : index
  // CHECK: tile.mask %{{.*}} below %{{[a-zA-Z_0-9]+$}}
  %x = tile.range x: 8 from %pid to %X
  %a = tile.load %A[%x]
  tile.store %a, %f[%x]
  // CHECK: tile.mask %{{.*}} below %{{[a-zA-Z_0-9]+$}}
  %y = tile.range y: 8 over x from %p to %X
  %b = tile.load %A[%y]
  tile.store %b, %f[%y]
  // Where both ends are known there is nothing to mask.
  %c16 = arith.constant 16 : index
  // CHECK: tile.range
  // CHECK-NOT: tile.mask
  %z = tile.range z: 8 over x from %c8 to %c16
  %c = tile.load %A[%z]
  tile.store %c, %f[%z]
}
// The elements that pad a tile are the next one's though they exist: the tile has a mask.
// CHECK-LABEL: tile.kernel @padded
tile.kernel @padded(%A: memref<?xf32> {host.name = "A", host.axes = ["y"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x", "y"], root = "f"} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  // CHECK: %[[Y:.*]] = tile.range y: 4 from
  // CHECK: %[[END:y_end]] = arith.constant 3
  // CHECK-NEXT: %[[M:.*]] = tile.mask %[[Y]] below %[[END]]
  %y = tile.range y: 3 from %c0 to %c16
  // CHECK: %[[A:.*]] = tile.load %{{.*}}[%[[Y]]] masked [%[[M]]] pad 0.0
  %a = tile.load %A[%y]
  // CHECK-NEXT: tile.map arith.select %[[M]], %[[A]], 0.0
  // CHECK-NEXT: tile.reduce add
  %s = tile.reduce add %a along y
  tile.store %s, %f[%c0]
}
// Each side of a box is padded, and ends, by itself.
// CHECK-LABEL: tile.kernel @joined
tile.kernel @joined(%A: memref<?x?xf32> {host.name = "A", host.axes = ["r", "k"]}, %f: memref<?x?xf32> {host.name = "f", host.axes = ["x", "y"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x", "y", "r", "k"], root = "f"} {
  %R = tile.size r
  %K = tile.size k
  %c0 = arith.constant 0 : index
  %c6 = arith.constant 6 : index
  %x = tile.range x: 16 from %c0
  %y = tile.range y: 16 from %c0
  // CHECK: %[[R:.*]], %[[K:.*]] = tile.joined_range r_k (r: 4 from %{{.*}}, k: 8 from %{{.*}})
  // CHECK-NEXT: %[[KM:.*]] = tile.mask %[[K]] below %{{.*}} divisor 8
  // CHECK: %[[OWN:.*]] = arith.constant 9
  // CHECK-NEXT: %[[END:.*]] = arith.minsi %[[OWN]],
  // CHECK-NEXT: %[[RM:.*]] = tile.mask %[[R]] below %[[END]]
  %r, %k = tile.joined_range r_k (r: 3 from %c6 to %R, k: 8 from %c0 to %K)
  // CHECK: %[[A:.*]] = tile.load %{{.*}}[%[[R]], %[[K]]] masked [%[[RM]], %[[KM]]] pad 0.0
  %a = tile.load %A[%r, %k]
  // CHECK-NEXT: %[[A1:.*]] = tile.map arith.select %[[RM]], %[[A]], 0.0
  // CHECK-NEXT: %[[A2:.*]] = tile.map arith.select %[[KM]], %[[A1]], 0.0
  // CHECK-NEXT: tile.reduce add %[[A2]] along r_k
  %s = tile.reduce add %a along r_k
  %1 = tile.fill %s : !tile.of<x: 16, y: 16, f32>
  tile.store %1, %f[%x, %y]
}
