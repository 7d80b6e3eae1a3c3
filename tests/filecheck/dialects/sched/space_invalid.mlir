// RUN: INVALID | filecheck %s

sched.schedule {
  sched.knob @BM {64, 64}
}
// CHECK: error: the options of a set must be different
// -----
sched.schedule {
  sched.knob @BM 64
}
// CHECK: error: a knob needs options, as in '{64, 128}'
// -----
sched.schedule {
  sched.knob @BM {64}
  sched.knob @BM {128}
}
// CHECK: error: 'sched.schedule' is malformed: two knobs of a schedule have one name
// -----
sched.schedule {
  sched.block @f(x: @BM)
}
// CHECK: error: 'sched.schedule' is malformed: there is no knob 'BM'
// -----
sched.schedule {
  sched.alternatives {
    sched.block @f(x: 1)
  }
}
// CHECK: error: 'sched.alternatives' is malformed: there is nothing to choose from: two branches are needed
// -----
sched.schedule {
  sched.alternatives {
    sched.knob @BM {64}
  } {
  }
}
// CHECK: error: 'sched.alternatives' is malformed: alternatives are directives, not 'sched.knob'
// -----
"builtin.module"() ({
  "sched.schedule"() ({
    "sched.knob"() <{sym_name = "BM", options = []}> : () -> ()
  }) : () -> ()
}) : () -> ()
// CHECK: error: 'sched.knob' is malformed: a knob needs options that are all different
