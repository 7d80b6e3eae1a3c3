// RUN: ROUNDTRIP

// CHECK: sched.schedule {
sched.schedule {
  // CHECK-NEXT: sched.knob @BM {64, 128}
  sched.knob @BM {64, 128}
  // CHECK-NEXT: sched.knob @HOW {tf32, ieee}
  sched.knob @HOW {tf32, ieee}
  // CHECK-NEXT: sched.block @f(x: @BM, y: {32, 64})
  sched.block @f(x: @BM, y: {32, 64})
  // CHECK-NEXT: sched.map @f(x: x1 by {4, 8}, y, x1)
  sched.map @f(x: x1 by {4, 8}, y, x1)
  // CHECK-NEXT: sched.precision @f(@HOW)
  sched.precision @f(@HOW)
  // CHECK-NEXT: sched.num_warps @f({4, 8})
  sched.num_warps @f({4, 8})
  // CHECK-NEXT: sched.alternatives @where {
  // CHECK-NEXT: sched.fuse_at @g(f, x)
  // CHECK-NEXT: sched.tensorize @f(x: 0)
  // CHECK-NEXT: } {
  // CHECK-NEXT: sched.fuse_at @g(f, y)
  // CHECK-NEXT: } {
  // CHECK-NEXT: }
  sched.alternatives @where {
    sched.fuse_at @g(f, x)
    sched.tensorize @f(x: 0)
  } {
    sched.fuse_at @g(f, y)
  } {
  }
  // CHECK-NEXT: sched.alternatives {
  sched.alternatives {
    sched.num_stages @f(3)
  } { } attributes {note = "of a plug-in"}
}
