// RUN: dt-opt %s -p verify-schedule | filecheck %s
// CHECK: sched.directive "block" @f(x : 8)
sched.schedule {
  sched.directive "block" @f(x : 8)
  sched.directive "precision" @f(tf32)
  sched.directive "num_warps" @f(warps : 4)
}
