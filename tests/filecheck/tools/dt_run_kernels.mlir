// RUN: dt-run %s x=6 k=3 | filecheck %s
// RUN: dt-opt %s -p tile-place-masks,tile-elide-masks --verify-semantics 2>&1 | filecheck %s --check-prefix=VERIFIED
// RUN: sed 's/tile.store %%r, .*/ /' %s > %t.mlir && not dt-run %t.mlir 2>&1 | filecheck %s --check-prefix=NOTHING
// RUN: sed 's/"f", host.axes = \["x"\]/"f", host.axes = [""]/' %s > %t.mlir && not dt-run %t.mlir 2>&1 | filecheck %s --check-prefix=LABEL
// RUN: sed 's/%%k = \(.*\) from %%c0 to/%%l = \1 from %%c4 to %%K\n&/' %s > %t.mlir && not dt-run %t.mlir x=6 k=9 2>&1 | filecheck %s --check-prefix=TWICE
// TWICE: error: the axis 'k' runs from 4 to 9 and from 0 to 9 at once
// Kernels need no host function to run: what they write is allocated and shown.
// CHECK: rows__f: 6, error at most
// CHECK: total__s: scalar
// VERIFIED: semantics verified: 2 passes ran
// NOTHING: error: the kernel writes nothing, so there is nothing to compare
// LABEL: error: the kernel writes 'f', but says no label for each of its axes
// LABEL: help: give 'host.axes' labels of the kernel
tile.kernel @rows(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "k"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {grid_blocks = [4 : i64], grid_labels = ["x"], labels = ["x", "k"], root = "f"} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %X = tile.size x
  %K = tile.size k
  %pid = tile.program_id
  %x0 = arith.muli %pid, %c4 : index
  %x = tile.range x: 4 from %x0 to %X
  %k = tile.range k: 4 from %c0 to %K
  %a = tile.load %A[%x, %k]
  %r = tile.reduce add %a along k
  tile.store %r, %f[%x]
}
tile.kernel @total(%V: memref<?xf32> {host.name = "V", host.axes = ["k"]}, %s: memref<f32> {host.name = "s", host.axes = []}) attributes {grid_blocks = [], grid_labels = [], labels = ["k"], root = "s"} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %K = tile.size k
  %k = tile.range k: 4 from %c0 to %K
  %v = tile.load %V[%k] : !tile.of<k: 4, f32>
  %r = tile.reduce add %v along k
  tile.store %r, %s[]
}
