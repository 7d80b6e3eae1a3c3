// RUN: dt-opt %s -p verify-schedule --split-input-file --verify-diagnostics | filecheck %s
sched.schedule {
  sched.blok @f(x: 8)
}
// CHECK: error: there is no directive 'blok'
// CHECK: help: did you mean 'block'?
// -----
sched.schedule {
  sched.block @f()
}
// CHECK: error: f.block: it needs at least one label with its number, as in 'x:64'
// -----
sched.schedule {
  sched.block @f(x)
}
// CHECK: error: f.block: 'x' is not a label with a number, as in 'x:64'
// -----
sched.schedule {
  sched.block @f(x: 0)
}
// CHECK: error: f.block: the number for 'x' must be positive, not 0
// -----
sched.schedule {
  sched.tensorize @f(x: -1)
}
// CHECK: error: f.tensorize: the number for 'x' must be positive, or 0 for the whole extent, not -1
// -----
sched.schedule {
  sched.block @f(x: 8, x: 4)
}
// CHECK: error: f.block: label 'x' is given twice
// -----
sched.schedule {
  sched.map @f(4)
}
// CHECK: error: f.map: '4' is neither a name nor a split, as in 'x:x1/8'
// -----
sched.schedule {
  sched.map @f()
}
// CHECK: error: f.map: it needs at least one name
// -----
sched.schedule {
  sched.map @f(x: x1 by 0)
}
// CHECK: error: f.map: the factor of 'x:x1/0' must be positive
// -----
sched.schedule {
  sched.fuse_at @f(g)
}
// CHECK: error: f.fuse_at: it needs a label
// CHECK: help: write 'fuse_at(function, label)'
// -----
sched.schedule {
  sched.fuse_at @f(3, x)
}
// CHECK: error: f.fuse_at: '3' is not a function
// -----
sched.schedule {
  sched.fuse_at @f(g, x, y)
}
// CHECK: error: f.fuse_at: it takes no argument 'y'
// CHECK: help: write 'fuse_at(function, label)'
// -----
sched.schedule {
  sched.num_warps @f(3)
}
// CHECK: error: f.num_warps: 3 is not a power of two
// -----
sched.schedule {
  sched.num_warps @f(64)
}
// CHECK: error: f.num_warps: 64 is too large: at most 32 are possible
// -----
sched.schedule {
  sched.num_stages @f(0)
}
// CHECK: error: f.num_stages: 0 is too small: at least 1 is needed
// -----
sched.schedule {
  sched.num_stages @f(x)
}
// CHECK: error: f.num_stages: 'x' is not a number
// -----
sched.schedule {
  sched.precision @f(tf23)
}
// CHECK: error: f.precision: 'tf23' is none of ieee, tf32, tf32x3
// CHECK: help: did you mean 'tf32'?
