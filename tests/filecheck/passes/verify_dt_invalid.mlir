// RUN: dt-opt %s -p verify-dt --split-input-file --verify-diagnostics
// expected-error@unknown {{there is no 'dt.output'}}
// expected-help@unknown {{say what the program is compiled for}}
dt.label @x
// -----
dt.func @f[] : f32 {
  %0 = arith.constant 1.0 : f32
  %1 = memref.alloc() : memref<f32>
  // expected-error@above {{'memref.alloc' is not a scalar operation and cannot stand in 'f'}}
  dt.yield %0 : f32
}
dt.output @f
// -----
host.func @f() -> memref<f32> {
// expected-error@above {{'host.func' is not of the 'dt' level}}
  %0 = host.alloc f[]() : memref<f32>
  host.return %0
}
