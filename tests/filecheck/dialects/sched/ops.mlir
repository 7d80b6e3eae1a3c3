// RUN: ROUNDTRIP

// CHECK: sched.schedule {
sched.schedule {
  // CHECK-NEXT: sched.block @f(x: 128, y: 64)
  sched.block @f(x: 128, y: 64)
  // CHECK-NEXT: sched.map @f(x: x1 by 8, y, x1)
  sched.map @f(x: x1 by 8, y, x1)
  // CHECK-NEXT: sched.num_warps @f(4)
  sched.num_warps @f(4)
  // CHECK-NEXT: sched.num_stages @g(3) {note = "of my own"}
  sched.num_stages @g(3) {note = "of my own"}
}
