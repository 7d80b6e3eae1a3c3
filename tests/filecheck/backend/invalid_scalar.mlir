// RUN: dt-opt %s -t triton --split-input-file --verify-diagnostics | filecheck %s
func.func @f() -> memref<?xf32> attributes {host.kernel_only, host.algorithm = [], host.schedule = [], host.outputs = ["A.compile_to_kernel();"], host.labels = ["x"]} {
  %x = host.size x : index
  %0 = memref.alloc(%x) {host.name = "A", host.axes = ["x"]} : memref<?xf32>
  host.launch @k(%0) : memref<?xf32>
  func.return %0 : memref<?xf32>
}
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "A"} {
  %c0 = arith.constant 0 : index
  %c = arith.constant 1.0 : f32
  %0 = math.tanh %c : f32
  tile.store %0, %A[%c0]
}
// CHECK: invalid_scalar.mlir:11:3: error: the Triton backend has no 'math.tanh'
// CHECK: help: run expand-elementwise first
// -----
func.func @f() -> memref<?xi1> attributes {host.kernel_only, host.algorithm = [], host.schedule = [], host.outputs = ["A.compile_to_kernel();"], host.labels = ["x"]} {
  %x = host.size x : index
  %0 = memref.alloc(%x) {host.name = "A", host.axes = ["x"]} : memref<?xi1>
  host.launch @k(%0) : memref<?xi1>
  func.return %0 : memref<?xi1>
}
tile.kernel @k(%A: memref<?xi1> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "A"} {
  %c0 = arith.constant 0 : index
  %c = arith.constant 1.0 : f32
  %0 = arith.cmpf ueq, %c, %c : f32
  tile.store %0, %A[%c0]
}
// CHECK: error: the Triton backend has no comparison 'ueq'
