// RUN: dt-opt %s -p 'dt-set-types{types="A:f16"}' --split-input-file --verify-diagnostics
// What no program of the language says cannot be given other types.
dt.label @x
dt.input @A : tensor<?xf32>
dt.func @f[x] : i1 {
  %0 = dt.read @A[x] : f32
  %1 = arith.cmpf ord, %0, %0 : f32
  // expected-error@above {{no operator compares as 'arith.cmpf' does here}}
  dt.yield %1 : i1
}
dt.output @f

// -----
dt.label @x
dt.input @A : tensor<?xf32>
dt.func @f[x] : f32 {
  %0 = dt.read @A[x] : f32
  %1 = math.atan %0 : f32
  // expected-error@above {{'math.atan' is not an operation that a program can say}}
  dt.yield %1 : f32
}
dt.output @f

// -----
host.func @f() -> memref<f32> {
// expected-error@above {{'host.func' is not of the 'dt' level}}
  %0 = host.alloc f[]() : memref<f32>
  host.return %0
}
