// RUN: dt-opt %s -p verify-dt --split-input-file --verify-diagnostics | filecheck %s
dt.label @x
// CHECK: error: there is no 'dt.output'
// -----
dt.func @f[] : f32 {
  %0 = arith.constant 1.0 : f32
  %1 = memref.alloc() : memref<f32>
  dt.yield %0 : f32
}
// CHECK: verify_dt_invalid.mlir:7:3: error: 'memref.alloc' is not a scalar operation and cannot stand in 'f'
dt.output @f
// -----
host.func @f() -> memref<f32> {
  %0 = host.alloc f[]() : memref<f32>
  host.return %0
}
// CHECK: error: 'host.func' is not of the 'dt' level
