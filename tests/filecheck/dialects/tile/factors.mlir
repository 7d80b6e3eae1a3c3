// RUN: ROUNDTRIP
// CHECK-LABEL: tile.kernel @k
tile.kernel @k(%s: f32 {host.name = "s", host.axes = []}, %f: memref<f32> {host.name = "f", host.axes = []}) attributes {grid_blocks = [], grid_labels = [], labels = [], root = "f"} {
  // CHECK: %[[B:.*]], %[[A:.*]] = tile.factors %s : f32 to f32
  %before, %after = tile.factors %s : f32 to f32
  // CHECK-NEXT: arith.mulf %[[B]], %[[A]] : f32
  %p = arith.mulf %before, %after : f32
  tile.store %p, %f[]
}
