// RUN: dt-opt %s -p convert-dt-to-loop --split-input-file --verify-diagnostics
// expected-error@unknown {{there is no 'dt.output' to convert}}
// expected-help@unknown {{say what the program is compiled for}}

dt.label @x
// -----
dt.func @f[] : f32 {
// expected-error@above {{the definitions form a cycle: f -> g -> f}}
  %0 = dt.read @g[] : f32
  dt.yield %0 : f32
}
dt.func @g[] : f32 {
  %0 = dt.read @f[] : f32
  dt.yield %0 : f32
}
dt.output @f
// -----
dt.func @f[] : f32 {
  %0 = arith.constant 1.0 : f32
  dt.yield %0 : f32
}
dt.output @f
host.func @other() -> memref<f32> {
// expected-error@above {{'host.func' is not of the 'dt' level}}
  %0 = host.alloc other[]() : memref<f32>
  host.return %0
}
// -----
dt.input @A : tensor<?xf32>
dt.label @x size len(y) + 1
// expected-error@above {{the size of 'x' depends on itself, as other labels have the same size}}
// expected-help@above {{declare 'x' without a size, or read no axis by both labels}}
dt.label @y
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
