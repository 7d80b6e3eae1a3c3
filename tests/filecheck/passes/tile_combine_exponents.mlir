// RUN: dt-opt %s -p tile-combine-exponents --split-input-file | filecheck %s
// The scale of the scores and the base are multiplied for each row; the difference takes two steps.
// CHECK-LABEL: tile.kernel @scaled
// CHECK: %[[DOT:.*]] = tile.dot
// CHECK: %[[R:.*]] = tile.map elem.moderation %[[M:.*]]
// CHECK-NEXT: %[[SLOPE:.*]] = tile.map (%[[F:.*]] = %[[R]], %[[K:.*]] = %scale) {
// CHECK-NEXT:   %[[B:.*]] = arith.constant 1.44269502 : f32
// CHECK-NEXT:   %[[KB:.*]] = arith.mulf %[[K]], %[[B]] : f32
// CHECK-NEXT:   arith.mulf %[[KB]], %[[F]] : f32
// CHECK: %[[OFFSET:.*]] = tile.map (%[[L:.*]] = %[[M]], %[[F:.*]] = %[[R]]) {
// CHECK-NEXT:   %[[B:.*]] = arith.constant 1.44269502 : f32
// CHECK-NEXT:   %[[LF:.*]] = arith.mulf %[[L]], %[[F]] : f32
// CHECK-NEXT:   arith.mulf %[[LF]], %[[B]] : f32
// CHECK: %p = tile.map (%[[S:.*]] = %[[DOT]], %[[A:.*]] = %[[SLOPE]], %[[O:.*]] = %[[OFFSET]]) {
// CHECK-NEXT:   %[[SA:.*]] = arith.mulf %[[S]], %[[A]] : f32
// CHECK-NEXT:   %[[E:.*]] = arith.subf %[[SA]], %[[O]] : f32
// CHECK-NEXT:   math.exp2 %[[E]] : f32
tile.kernel @scaled(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "k"]}, %B: memref<?x?xf32> {host.name = "B", host.axes = ["k", "y"]}, %scale: f32 {host.name = "scale", host.axes = []}, %f: memref<?x?xf32> {host.name = "f", host.axes = ["x", "y"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x", "y", "k"], root = "f"} {
  %c0 = arith.constant 0 : index
  %x = tile.range x: 16 from %c0
  %y = tile.range y: 16 from %c0
  %k = tile.range k: 16 from %c0
  %a = tile.load %A[%x, %k]
  %b = tile.load %B[%k, %y]
  %d = tile.dot %a, %b
  %m = tile.reduce maximum %d along y
  %t = tile.map arith.mulf %m, %scale
  %p = tile.map (%s = %d, %w = %scale, %l = %t) {
    %0 = arith.mulf %s, %w : f32
    %1 = arith.subf %0, %l : f32
    %2 = arith.constant 1.44269502 : f32
    %3 = arith.mulf %1, %2 : f32
    %4 = math.exp2 %3 : f32
    tile.yield %4 : f32
  }
  tile.store %p, %f[%x, %y]
}
// -----
// Without a scale the slope is the base alone; what else the map computes stays.
// CHECK-LABEL: tile.kernel @plain
// CHECK: %[[R:.*]] = tile.map elem.moderation %[[M:.*]]
// CHECK-NEXT: tile.map arith.mulf 1.442695, %[[R]]
// CHECK: %[[P:.*]] = tile.map (%[[S:.*]] = %{{.*}}, %[[A:.*]] = %{{.*}}, %[[O:.*]] = %{{.*}}) {
// CHECK-NEXT:   %[[SA:.*]] = arith.mulf %[[S]], %[[A]] : f32
// CHECK-NEXT:   %[[E:.*]] = arith.subf %[[SA]], %[[O]] : f32
// CHECK-NEXT:   %[[X:.*]] = math.exp2 %[[E]] : f32
// CHECK-NEXT:   %[[N:.*]] = arith.negf %[[X]] : f32
// Exponentials of what else is subtracted stay: of scores of another product, of what no product
// computes, and of tiles with all axes.
// CHECK: %[[Q:.*]] = tile.map (
// CHECK-NEXT: arith.subf
// CHECK: %[[U:.*]] = tile.map (
// CHECK-NEXT: arith.subf
// CHECK: %[[V:.*]] = tile.map (
// CHECK-NEXT: arith.subf
// CHECK-NOT: elem.moderation
tile.kernel @plain(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "k"]}, %B: memref<?x?xf32> {host.name = "B", host.axes = ["k", "y"]}, %f: memref<?x?xf32> {host.name = "f", host.axes = ["x", "y"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x", "y", "k"], root = "f"} {
  %c0 = arith.constant 0 : index
  %x = tile.range x: 16 from %c0
  %y = tile.range y: 16 from %c0
  %k = tile.range k: 16 from %c0
  %a = tile.load %A[%x, %k]
  %b = tile.load %B[%k, %y]
  %d = tile.dot %a, %b
  %m = tile.reduce maximum %d along y
  %p = tile.map (%s = %d, %l = %m) {
    %1 = arith.subf %s, %l : f32
    %2 = arith.constant 1.44269502 : f32
    %3 = arith.mulf %2, %1 : f32
    %4 = math.exp2 %3 : f32
    %5 = arith.negf %4 : f32
    tile.yield %5 : f32
  }
  tile.store %p, %f[%x, %y]
  %w = tile.load %f[%x, %y]
  %e = tile.dot %a, %b acc %w
  %q = tile.map (%s = %e, %l = %m) {
    %1 = arith.subf %s, %l : f32
    %2 = arith.constant 1.44269502 : f32
    %3 = arith.mulf %1, %2 : f32
    %4 = math.exp2 %3 : f32
    tile.yield %4 : f32
  }
  tile.store %q, %f[%x, %y]
  %n = tile.reduce maximum %w along y
  %u = tile.map (%s = %w, %l = %n) {
    %1 = arith.subf %s, %l : f32
    %2 = arith.constant 1.44269502 : f32
    %3 = arith.mulf %1, %2 : f32
    %4 = math.exp2 %3 : f32
    tile.yield %4 : f32
  }
  tile.store %u, %f[%x, %y]
  %v = tile.map (%s = %d, %l = %d) {
    %1 = arith.subf %s, %l : f32
    %2 = arith.constant 1.44269502 : f32
    %3 = arith.mulf %1, %2 : f32
    %4 = math.exp2 %3 : f32
    tile.yield %4 : f32
  }
  tile.store %v, %f[%x, %y]
}
