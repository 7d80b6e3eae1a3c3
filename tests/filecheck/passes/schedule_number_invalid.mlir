// RUN: dt-opt %s -p apply-schedule --split-input-file --verify-diagnostics
// A function that is written at a number has no loop over that label.
sched.schedule {
  sched.split @f(y: 4)
  // expected-error@above {{f.split: 'f' has no loop over 'y' that can be split}}
  // expected-help@above {{it has loops over x}}
}
host.func @f(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "y"]}) -> memref<?x?xf32> attributes {algorithm = [], schedule = [], compiled = ["f.compile();"], labels = ["x", "y"]} {
  %x = host.size x
  %y = host.size y
  %f = host.alloc f[x, y](%x, %y) : memref<?x?xf32>
  host.launch @f_kernel(%A, %f)
  host.return %f
}
loop.kernel @f_kernel(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "y"]}, %f: memref<?x?xf32> {host.name = "f", host.axes = ["x", "y"]}) attributes {labels = ["x", "y"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      %0 = loop.read %A[%x, 0]
      loop.write %0, %f[%x, 0]
    }
  }
}
// -----
sched.schedule {
  sched.block @f(y: 4)
  // expected-error@above {{f.block: 'f' has no loop over 'y' that can be blocked}}
  // expected-help@above {{it has loops over x}}
}
host.func @f(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "y"]}) -> memref<?x?xf32> attributes {algorithm = [], schedule = [], compiled = ["f.compile();"], labels = ["x", "y"]} {
  %x = host.size x
  %y = host.size y
  %f = host.alloc f[x, y](%x, %y) : memref<?x?xf32>
  host.launch @f_kernel(%A, %f)
  host.return %f
}
loop.kernel @f_kernel(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "y"]}, %f: memref<?x?xf32> {host.name = "f", host.axes = ["x", "y"]}) attributes {labels = ["x", "y"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      %0 = loop.read %A[%x, 0]
      loop.write %0, %f[%x, 0]
    }
  }
}
// -----
sched.schedule {
  sched.reorder @f(y, x)
  // expected-error@above {{f.reorder: 'f' has no loop over 'y'}}
  // expected-help@above {{it has loops over x}}
}
host.func @f(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "y"]}) -> memref<?x?xf32> attributes {algorithm = [], schedule = [], compiled = ["f.compile();"], labels = ["x", "y"]} {
  %x = host.size x
  %y = host.size y
  %f = host.alloc f[x, y](%x, %y) : memref<?x?xf32>
  host.launch @f_kernel(%A, %f)
  host.return %f
}
loop.kernel @f_kernel(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "y"]}, %f: memref<?x?xf32> {host.name = "f", host.axes = ["x", "y"]}) attributes {labels = ["x", "y"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      %0 = loop.read %A[%x, 0]
      loop.write %0, %f[%x, 0]
    }
  }
}
