// RUN: ROUNDTRIP

// CHECK: sched.schedule {
sched.schedule {
  // CHECK-NEXT: sched.directive "block" @f(x : 128, y : 64)
  sched.directive "block" @f(x : 128, y : 64)
  // CHECK-NEXT: sched.directive "map" @f(x : x1 by 8, y, x1)
  sched.directive "map" @f(x : x1 by 8, y, x1)
  // CHECK-NEXT: sched.directive "num_warps" @f(4)
  sched.directive "num_warps" @f(4)
  // CHECK-NEXT: sched.directive "mine" @g() {note = "of a plug-in"}
  sched.directive "mine" @g() {note = "of a plug-in"}
}
