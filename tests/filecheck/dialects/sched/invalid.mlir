// RUN: INVALID | filecheck %s

sched.schedule {
  %0 = arith.constant 0 : i32
}
// CHECK: invalid.mlir:3:1: error: 'sched.schedule' is malformed: a schedule holds directives, not 'arith.constant'
// -----
sched.block @f(x: 128)
// CHECK: error: 'sched.block' is malformed: 'sched.block' expects parent op to be one of 'sched.schedule', 'sched.alternatives'
// -----
sched.schedule {
  sched.block @f(x: )
}
// CHECK: invalid.mlir:{{[0-9]+}}:21: error: identifier expected
// -----
sched.schedule {
  sched.map @f(x: x1 by y)
}
// CHECK: invalid.mlir:{{[0-9]+}}:25: error:
// -----
sched.schedule {
  sched.vary @f(4)
}
// CHECK: error: there is no directive 'vary'
// CHECK: help: --load FILE.py loads a directive of your own
