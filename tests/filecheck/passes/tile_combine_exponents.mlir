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
tile.kernel @scaled(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "k"]}, %B: memref<?x?xf32> {host.name = "B", host.axes = ["k", "y"]}, %V: memref<?x?xbf16> {host.name = "V", host.axes = ["y", "z"]}, %scale: f32 {host.name = "scale", host.axes = []}, %f: memref<?x?xf32> {host.name = "f", host.axes = ["x", "z"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x", "y", "k", "z"], root = "f"} {
  %c0 = arith.constant 0 : index
  %x = tile.range x: 16 from %c0
  %y = tile.range y: 16 from %c0
  %k = tile.range k: 16 from %c0
  %z = tile.range z: 16 from %c0
  %a = tile.load %A[%x, %k]
  %b = tile.load %B[%k, %y]
  %v = tile.load %V[%y, %z]
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
  %n = tile.map arith.truncf %p : !tile.of<x: 16, y: 16, bf16>
  %o = tile.dot %n, %v
  tile.store %o, %f[%x, %z]
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
// CHECK-NEXT:   arith.truncf %[[X]] : f32 to bf16
// Exponentials of what else is subtracted stay: of scores of another product, of what no product
// computes, and of tiles with all axes.
// CHECK: %[[Q:.*]] = tile.map (
// CHECK-NEXT: arith.subf
// CHECK: %[[U:.*]] = tile.map (
// CHECK-NEXT: arith.subf
// CHECK: %[[W:.*]] = tile.map (
// CHECK-NEXT: arith.subf
// CHECK-NOT: elem.moderation
tile.kernel @plain(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "k"]}, %B: memref<?x?xf32> {host.name = "B", host.axes = ["k", "y"]}, %V: memref<?x?xbf16> {host.name = "V", host.axes = ["y", "z"]}, %scale: f32 {host.name = "scale", host.axes = []}, %f: memref<?x?xf32> {host.name = "f", host.axes = ["x", "z"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x", "y", "k", "z"], root = "f"} {
  %c0 = arith.constant 0 : index
  %x = tile.range x: 16 from %c0
  %y = tile.range y: 16 from %c0
  %k = tile.range k: 16 from %c0
  %z = tile.range z: 16 from %c0
  %a = tile.load %A[%x, %k]
  %b = tile.load %B[%k, %y]
  %v = tile.load %V[%y, %z]
  %d = tile.dot %a, %b
  %m = tile.reduce maximum %d along y
  %p = tile.map (%s = %d, %l = %m) {
    %1 = arith.subf %s, %l : f32
    %2 = arith.constant 1.44269502 : f32
    %3 = arith.mulf %1, %2 : f32
    %4 = math.exp2 %3 : f32
    %5 = arith.truncf %4 : f32 to bf16
    tile.yield %5 : bf16
  }
  %pv = tile.dot %p, %v
  tile.store %pv, %f[%x, %z]
  %g = tile.load %A[%x, %y]
  %e = tile.dot %a, %b acc %g
  %q = tile.map (%s = %e, %l = %m) {
    %1 = arith.subf %s, %l : f32
    %2 = arith.constant 1.44269502 : f32
    %3 = arith.mulf %1, %2 : f32
    %4 = math.exp2 %3 : f32
    %5 = arith.truncf %4 : f32 to bf16
    tile.yield %5 : bf16
  }
  %qv = tile.dot %q, %v
  tile.store %qv, %f[%x, %z]
  %h = tile.reduce maximum %g along y
  %u = tile.map (%s = %g, %l = %h) {
    %1 = arith.subf %s, %l : f32
    %2 = arith.constant 1.44269502 : f32
    %3 = arith.mulf %1, %2 : f32
    %4 = math.exp2 %3 : f32
    %5 = arith.truncf %4 : f32 to bf16
    tile.yield %5 : bf16
  }
  %uv = tile.dot %u, %v
  tile.store %uv, %f[%x, %z]
  %w = tile.map (%s = %d, %l = %d) {
    %1 = arith.subf %s, %l : f32
    %2 = arith.constant 1.44269502 : f32
    %3 = arith.mulf %1, %2 : f32
    %4 = math.exp2 %3 : f32
    %5 = arith.truncf %4 : f32 to bf16
    tile.yield %5 : bf16
  }
  %wv = tile.dot %w, %v
  tile.store %wv, %f[%x, %z]
}
// -----
// So do weights that a product takes as they are, or that are stored: scores may be exact.
// CHECK-LABEL: tile.kernel @wide
// CHECK-NOT: elem.moderation
tile.kernel @wide(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "k"]}, %B: memref<?x?xf32> {host.name = "B", host.axes = ["k", "y"]}, %V: memref<?x?xf32> {host.name = "V", host.axes = ["y", "z"]}, %scale: f32 {host.name = "scale", host.axes = []}, %f: memref<?x?xf32> {host.name = "f", host.axes = ["x", "z"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x", "y", "k", "z"], root = "f"} {
  %c0 = arith.constant 0 : index
  %x = tile.range x: 16 from %c0
  %y = tile.range y: 16 from %c0
  %k = tile.range k: 16 from %c0
  %z = tile.range z: 16 from %c0
  %a = tile.load %A[%x, %k]
  %b = tile.load %B[%k, %y]
  %v = tile.load %V[%y, %z]
  %d = tile.dot %a, %b
  %m = tile.reduce maximum %d along y
  %p = tile.map (%s = %d, %l = %m) {
    %1 = arith.subf %s, %l : f32
    %2 = arith.constant 1.44269502 : f32
    %3 = arith.mulf %1, %2 : f32
    %4 = math.exp2 %3 : f32
    tile.yield %4 : f32
  }
  %o = tile.dot %p, %v
  tile.store %o, %f[%x, %z]
}
// -----
// CHECK-LABEL: tile.kernel @stored
// CHECK-NOT: elem.moderation
tile.kernel @stored(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "k"]}, %B: memref<?x?xf32> {host.name = "B", host.axes = ["k", "y"]}, %V: memref<?x?xf32> {host.name = "V", host.axes = ["y", "z"]}, %scale: f32 {host.name = "scale", host.axes = []}, %f: memref<?x?xf32> {host.name = "f", host.axes = ["x", "z"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x", "y", "k", "z"], root = "f", precision = "tf32"} {
  %c0 = arith.constant 0 : index
  %x = tile.range x: 16 from %c0
  %y = tile.range y: 16 from %c0
  %k = tile.range k: 16 from %c0
  %z = tile.range z: 16 from %c0
  %a = tile.load %A[%x, %k]
  %b = tile.load %B[%k, %y]
  %v = tile.load %V[%y, %z]
  %d = tile.dot %a, %b
  %m = tile.reduce maximum %d along y
  %p = tile.map (%s = %d, %l = %m) {
    %1 = arith.subf %s, %l : f32
    %2 = arith.constant 1.44269502 : f32
    %3 = arith.mulf %1, %2 : f32
    %4 = math.exp2 %3 : f32
    tile.yield %4 : f32
  }
  tile.store %p, %f[%x, %y]
  %o = tile.dot %p, %v
  tile.store %o, %f[%x, %z]
}
// -----
// Products in tf32 round their factors.
// CHECK-LABEL: tile.kernel @rounded
// CHECK: elem.moderation
tile.kernel @rounded(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "k"]}, %B: memref<?x?xf32> {host.name = "B", host.axes = ["k", "y"]}, %V: memref<?x?xf32> {host.name = "V", host.axes = ["y", "z"]}, %scale: f32 {host.name = "scale", host.axes = []}, %f: memref<?x?xf32> {host.name = "f", host.axes = ["x", "z"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x", "y", "k", "z"], root = "f", precision = "tf32"} {
  %c0 = arith.constant 0 : index
  %x = tile.range x: 16 from %c0
  %y = tile.range y: 16 from %c0
  %k = tile.range k: 16 from %c0
  %z = tile.range z: 16 from %c0
  %a = tile.load %A[%x, %k]
  %b = tile.load %B[%k, %y]
  %v = tile.load %V[%y, %z]
  %d = tile.dot %a, %b
  %m = tile.reduce maximum %d along y
  %p = tile.map (%s = %d, %l = %m) {
    %1 = arith.subf %s, %l : f32
    %2 = arith.constant 1.44269502 : f32
    %3 = arith.mulf %1, %2 : f32
    %4 = math.exp2 %3 : f32
    tile.yield %4 : f32
  }
  %o = tile.dot %p, %v
  tile.store %o, %f[%x, %z]
}
