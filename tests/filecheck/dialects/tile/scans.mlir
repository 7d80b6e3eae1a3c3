// RUN: ROUNDTRIP
// CHECK-LABEL: tile.kernel @k
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %c0 = arith.constant 0 : index
  %x = tile.range x: 8 from %c0
  %a = tile.load %A[%x]
  // CHECK: %h, %p = tile.scan add %a by %a along x reverse {my.mark}
  %h, %p = tile.scan add %a by %a along x reverse {my.mark}
  // CHECK-NEXT: %i, %q = tile.scan add %h by %p along x
  %i, %q = tile.scan add %h by %p along x
  tile.store %i, %f[%x]
}
