// RUN: dt-opt %s --split-input-file --verify-diagnostics

tile.kernel @k(%s: f32 {host.name = "s", host.axes = []}, %f: memref<f16> {host.name = "f", host.axes = []}) attributes {grid_blocks = [], grid_labels = [], labels = [], root = "f"} {
  // expected-error@below {{'tile.factors' is malformed: factors of f16 are not those of a scalar of f32}}
  %before, %after = tile.factors %s : f32 to f16
  tile.store %before, %f[]
}
