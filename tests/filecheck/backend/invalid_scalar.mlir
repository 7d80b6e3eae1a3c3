// RUN: dt-opt %s -t triton --split-input-file --verify-diagnostics
host.func @f() -> memref<?xf32> attributes {kernel_only, algorithm = [], schedule = [], compiled = ["A.compile_to_kernel();"], labels = ["x"]} {
  %x = host.size x
  %0 = host.alloc A[x](%x) : memref<?xf32>
  host.launch @k(%0)
  host.return %0
}
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "A"} {
  %c0 = arith.constant 0 : index
  %c = arith.constant 1.0 : f32
  %0 = math.tanh %c : f32
  // expected-error@above {{the Triton backend has no 'math.tanh'}}
  // expected-help@above {{run expand-elementwise first}}
  tile.store %0, %A[%c0]
}
// -----
host.func @f() -> memref<?xi1> attributes {kernel_only, algorithm = [], schedule = [], compiled = ["A.compile_to_kernel();"], labels = ["x"]} {
  %x = host.size x
  %0 = host.alloc A[x](%x) : memref<?xi1>
  host.launch @k(%0)
  host.return %0
}
tile.kernel @k(%A: memref<?xi1> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "A"} {
  %c0 = arith.constant 0 : index
  %c = arith.constant 1.0 : f32
  %0 = arith.cmpf ueq, %c, %c : f32
  // expected-error@above {{the Triton backend has no comparison 'ueq'}}
  tile.store %0, %A[%c0]
}
// -----
host.func @f() -> memref<?xi32> attributes {kernel_only, algorithm = [], schedule = [], compiled = ["A.compile_to_kernel();"], labels = ["x"]} {
  %x = host.size x
  %0 = host.alloc A[x](%x) : memref<?xi32>
  host.launch @k(%0)
  host.return %0
}
tile.kernel @k(%A: memref<?xi32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "A"} {
  %c0 = arith.constant 0 : index
  %c = arith.constant 0x7fc00000 : f32
  %0 = arith.fptosi %c : f32 to i32
  // expected-error@above {{nan is not in the range of i32}}
  // expected-help@above {{keep it a float, or choose a number in its place}}
  tile.store %0, %A[%c0]
}
