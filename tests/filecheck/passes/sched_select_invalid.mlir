// RUN: not dt-opt %s -p 'sched-select{choices="WHERF:0"}' 2>&1 | filecheck %s --check-prefix=NAME
// RUN: not dt-opt %s -p 'sched-select{choices="tile:64"}' 2>&1 | filecheck %s --check-prefix=FAR
// RUN: not dt-opt %s -p 'sched-select{choices="BM:32"}' 2>&1 | filecheck %s --check-prefix=OPTION
// RUN: not dt-opt %s -p 'sched-select{choices="WHERE:3"}' 2>&1 | filecheck %s --check-prefix=BRANCH
// RUN: not dt-opt %s -p 'sched-select{choices="BM"}' 2>&1 | filecheck %s --check-prefix=FORM
// RUN: not dt-opt %s -p 'sched-select{choices="BM:64","WHERE:1"},sched-select{choices="BM:64"}' 2>&1 | filecheck %s --check-prefix=DECIDED
// NAME: error: the schedule leaves no 'WHERF' open
// NAME-NEXT: help: did you mean 'WHERE'?
// FAR: error: the schedule leaves no 'tile' open
// FAR-NEXT: help: it leaves open: BM = {64, 128}, WHERE = {0: f.map(x:x1/4, x1), 1: none}
// OPTION: error: 'BM' cannot be 32
// OPTION-NEXT: help: it is one of {64, 128}
// BRANCH: error: 'WHERE' cannot be 3
// FORM: error: 'BM' is not a choice of the form 'name:option'
// DECIDED: error: the schedule leaves no 'BM' open
// DECIDED-NEXT: help: everything is decided
sched.schedule {
  sched.knob @BM {64, 128}
  sched.block @f(x: @BM)
  sched.alternatives @WHERE {
    sched.map @f(x: x1 by 4, x1)
  } {
  }
}
