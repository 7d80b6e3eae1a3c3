// RUN: dt-opt %s -p verify-dt | filecheck %s
// CHECK: dt.output @f
dt.func @f[] : f32 {
  %0 = arith.constant 1.0 : f32
  dt.yield %0 : f32
}
dt.output @f
