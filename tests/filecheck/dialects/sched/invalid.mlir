// RUN: INVALID | filecheck %s

sched.schedule {
  %0 = arith.constant 0 : i32
}
// CHECK: invalid.mlir:3:1: error: 'sched.schedule' is malformed: a schedule holds directives, not 'arith.constant'
// -----
sched.directive "block" @f(x : 128)
// CHECK: error: 'sched.directive' is malformed: 'sched.directive' expects parent op to be one of 'sched.schedule', 'sched.alternatives'
// -----
sched.schedule {
  sched.directive "block" @f(x : )
}
// CHECK: invalid.mlir:{{[0-9]+}}:34: error: identifier expected
// -----
sched.schedule {
  sched.directive "map" @f(x : x1 by y)
}
// CHECK: invalid.mlir:{{[0-9]+}}:38: error:
