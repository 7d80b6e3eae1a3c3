// RUN: dt-opt %s -p 'sched-select{choices="BM:64","f.block.y:32","where:1","f.map.x:8"}' | filecheck %s
// RUN: dt-opt %s -p 'sched-select{choices="BM:64"}' | filecheck %s --check-prefix=SOME
// RUN: dt-opt %s -p 'sched-select{choices="f.map:1","where:2"}' | filecheck %s --check-prefix=NONE
sched.schedule {
  sched.knob @BM {64, 128}
  sched.knob @HOW {tf32, ieee}
  sched.block @f(x: @BM, y: {32, 64})
  sched.tensorize @f(x: @BM)
  sched.alternatives @where {
    sched.fuse_at @g(f, x)
  } {
    sched.fuse_at @g(f, y)
    sched.precision @f(@HOW)
  } {
  }
  sched.alternatives {
    sched.map @f(x: x1 by {4, 8}, y, x1)
  } {
  }
}
// CHECK: sched.schedule {
// CHECK-NEXT: sched.knob @HOW {tf32, ieee}
// CHECK-NEXT: sched.block @f(x: 64, y: 32)
// CHECK-NEXT: sched.tensorize @f(x: 64)
// CHECK-NEXT: sched.fuse_at @g(f, y)
// CHECK-NEXT: sched.precision @f(@HOW)
// CHECK-NEXT: sched.alternatives {
// CHECK-NEXT: sched.map @f(x: x1 by 8, y, x1)
// CHECK-NEXT: } {
// SOME: sched.schedule {
// SOME-NEXT: sched.knob @HOW
// SOME-NEXT: sched.block @f(x: 64, y: {32, 64})
// SOME-NEXT: sched.tensorize @f(x: 64)
// SOME-NEXT: sched.alternatives @where
// What only the branches that are not taken use is gone.
// NONE: sched.schedule {
// NONE-NEXT: sched.knob @BM
// NONE-NEXT: sched.block @f(x: @BM, y: {32, 64})
// NONE-NEXT: sched.tensorize @f(x: @BM)
// NONE-NEXT: }
