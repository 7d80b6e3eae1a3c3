// RUN: dt-opt %s -p verify-schedule | filecheck %s
// CHECK: sched.block @f(x: 8)
sched.schedule {
  sched.block @f(x: 8)
  sched.precision @f(tf32)
  sched.num_warps @f(warps: 4)
}
