// RUN: dt-opt %s --split-input-file --verify-diagnostics

sched.schedule {
  sched.knob @BM {64, 64}
}
// expected-error@above {{the options of a set must be different}}
// -----
sched.schedule {
  sched.knob @BM 64
  // expected-error@above {{a knob needs options, as in '{64, 128}'}}
}
// -----
sched.schedule {
// expected-error@above {{'sched.schedule' is malformed: two knobs of a schedule have one name}}
  sched.knob @BM {64}
  sched.knob @BM {128}
}
// -----
sched.schedule {
// expected-error@above {{'sched.schedule' is malformed: there is no knob 'BM'}}
  sched.block @f(x: @BM)
}
// -----
sched.schedule {
  sched.alternatives {
  // expected-error@above {{'sched.alternatives' is malformed: there is nothing to choose from: two branches are needed}}
    sched.block @f(x: 1)
  }
}
// -----
sched.schedule {
  sched.alternatives {
  // expected-error@above {{'sched.alternatives' is malformed: alternatives are directives, not 'sched.knob'}}
    sched.knob @BM {64}
  } {
  }
}
// -----
"builtin.module"() ({
  "sched.schedule"() ({
    "sched.knob"() <{sym_name = "BM", options = []}> : () -> ()
    // expected-error@above {{'sched.knob' is malformed: a knob needs options that are all different}}
  }) : () -> ()
}) : () -> ()
