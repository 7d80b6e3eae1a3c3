sched.schedule {
  sched.knob @BM {64, 128}
  sched.block @f(x: @BM)
  sched.alternatives @WHERE {
    sched.map @f(x: x1 by 4, x1)
  } {
  }
}
