// RUN: dt-opt %s -p verify-schedule --split-input-file --verify-diagnostics
sched.schedule {
  sched.blok @f(x: 8)
  // expected-error@above {{there is no directive 'blok'}}
  // expected-help@above {{did you mean 'block'?}}
}
// -----
sched.schedule {
  sched.block @f()
  // expected-error@above {{f.block: it needs at least one label with its number, as in 'x:64'}}
}
// -----
sched.schedule {
  sched.block @f(x)
  // expected-error@above {{f.block: 'x' is not a label with a number, as in 'x:64'}}
}
// -----
sched.schedule {
  sched.block @f(x: 0)
  // expected-error@above {{f.block: the number for 'x' must be positive, not 0}}
}
// -----
sched.schedule {
  sched.tensorize @f(x: -1)
  // expected-error@above {{f.tensorize: the number for 'x' must be positive, or 0 for the whole extent, not -1}}
}
// -----
sched.schedule {
  sched.block @f(x: 8, x: 4)
  // expected-error@above {{f.block: label 'x' is given twice}}
}
// -----
sched.schedule {
  sched.map @f(4)
  // expected-error@above {{f.map: '4' is neither a name nor a split, as in 'x:x1/8'}}
}
// -----
sched.schedule {
  sched.map @f()
  // expected-error@above {{f.map: it needs at least one name}}
}
// -----
sched.schedule {
  sched.map @f(x: x1 by 0)
  // expected-error@above {{f.map: the factor of 'x:x1/0' must be positive}}
}
// -----
sched.schedule {
  sched.fuse_at @f(g)
  // expected-error@above {{f.fuse_at: it needs a label}}
  // expected-help@above {{write 'fuse_at(function, label)'}}
}
// -----
sched.schedule {
  sched.fuse_at @f(3, x)
  // expected-error@above {{f.fuse_at: '3' is not a function}}
}
// -----
sched.schedule {
  sched.fuse_at @f(g, x, y)
  // expected-error@above {{f.fuse_at: it takes no argument 'y'}}
  // expected-help@above {{write 'fuse_at(function, label)'}}
}
// -----
sched.schedule {
  sched.num_warps @f(3)
  // expected-error@above {{f.num_warps: 3 is not a power of two}}
  // expected-help@above {{write 2 or 4}}
}
// -----
sched.schedule {
  sched.num_warps @f(64)
  // expected-error@above {{f.num_warps: 64 is too large: at most 32 are possible}}
}
// -----
sched.schedule {
  sched.num_stages @f(0)
  // expected-error@above {{f.num_stages: 0 is too small: at least 1 is needed}}
}
// -----
sched.schedule {
  sched.num_stages @f(x)
  // expected-error@above {{f.num_stages: 'x' is not a number}}
}
// -----
sched.schedule {
  sched.precision @f(tf23)
  // expected-error@above {{f.precision: 'tf23' is none of ieee, tf32, tf32x3, narrow}}
  // expected-help@above {{did you mean 'tf32'?}}
}
