// RUN: dt-opt %s --split-input-file --verify-diagnostics

sched.schedule {
// expected-error@above {{'sched.schedule' is malformed: a schedule holds directives, not 'arith.constant'}}
  %0 = arith.constant 0 : i32
}
// -----
sched.block @f(x: 128)
// expected-error@above {{'sched.block' is malformed: 'sched.block' expects parent op to be one of 'sched.schedule', 'sched.alternatives'}}
// -----
sched.schedule {
  sched.block @f(x: )
  // expected-error@above {{identifier expected}}
}
// -----
sched.schedule {
  sched.map @f(x: x1 by y)
  // expected-error@above {{Expected integer literal}}
}
// -----
sched.schedule {
  sched.vary @f(4)
  // expected-error@above {{there is no directive 'vary'}}
  // expected-help@above {{--load FILE.py loads a directive of your own}}
}
