// RUN: dt-opt %s -p convert-dt-to-loop --split-input-file --verify-diagnostics | filecheck %s

dt.label @x
// CHECK: error: there is no 'dt.output' to convert
// CHECK: help: say what the program is compiled for
// -----
dt.func @f[] : f32 {
  %0 = dt.read @g[] : f32
  dt.yield %0 : f32
}
dt.func @g[] : f32 {
  %0 = dt.read @f[] : f32
  dt.yield %0 : f32
}
dt.output @f
// CHECK: error: the definitions form a cycle: f -> g -> f
// -----
dt.func @f[] : f32 {
  %0 = arith.constant 1.0 : f32
  dt.yield %0 : f32
}
dt.output @f
host.func @other() -> memref<f32> {
  %0 = host.alloc other[]() : memref<f32>
  host.return %0
}
// CHECK: error: 'host.func' is not of the 'dt' level
// -----
dt.input @A : tensor<?xf32>
dt.label @x size len(y) + 1
dt.label @y
// CHECK: error: the size of 'x' depends on itself, as other labels have the same size
dt.func @f[x] : f32 {
  %0 = dt.read @A[x] : f32
  dt.yield %0 : f32
}
dt.func @g[y] : f32 {
  %0 = dt.read @A[y] : f32
  dt.yield %0 : f32
}
dt.output @f
dt.output @g
