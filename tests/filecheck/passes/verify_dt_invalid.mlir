// RUN: dt-opt %s -p verify-dt --split-input-file --verify-diagnostics | filecheck %s
dt.label @x
// CHECK: error: there is no 'dt.output'
// -----
dt.func @f[] : f32 {
  %0 = arith.constant 1.0 : f32
  %1 = memref.alloc() : memref<f32>
  dt.yield %0 : f32
}
// CHECK: verify_dt_invalid.mlir:7:3: error: 'memref.alloc' is no scalar operation and cannot stand in 'f'
dt.output @f
// -----
func.func @f() {
  func.return
}
// CHECK: error: 'func.func' is not of the 'dt' level
