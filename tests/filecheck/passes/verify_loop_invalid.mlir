// RUN: dt-opt %s -p verify-loop --split-input-file --verify-diagnostics
// expected-error@unknown {{the module is not of the 'loop' level: it needs kernels and one host function}}
// expected-help@unknown {{run convert-dt-to-loop first}}
host.func @f() -> memref<f32> {
  %0 = host.alloc f[]() : memref<f32>
  host.return %0
}
// -----
host.func @f() -> memref<?xf32> attributes {algorithm = [], schedule = [], compiled = [], labels = ["x"]} {
  %x = host.size x
  %0 = host.alloc A[x](%x) : memref<?xf32>
  host.launch @k(%0)
  host.return %0
}
loop.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {labels = ["x"], root = "A"} {
  loop.grid () {
    loop.for %x = x of A {
      %0 = loop.read %A[%x]
      loop.write %0, %A[%x]
      // expected-error@above {{'A' is both read and written in one kernel}}
    }
  }
}
// -----
host.func @f() -> memref<?xf32> attributes {algorithm = [], schedule = [], compiled = [], labels = ["x"]} {
  %x = host.size x
  %0 = host.alloc A[x](%x) : memref<?xf32>
  host.launch @k(%0)
  host.return %0
}
loop.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {labels = ["x"], root = "A"} {
  loop.grid () {
    loop.for %x = x of A {
      %0 = arith.constant 0.0 : f32
      loop.write %0, %A[%x]
      // expected-error@above {{'A' is written in 2 places}}
      loop.write %0, %A[%x]
    }
  }
}
// -----
host.func @f() -> memref<?xf32> attributes {algorithm = [], schedule = [], compiled = [], labels = ["x"]} {
  %x = host.size x
  %0 = host.alloc A[x](%x) : memref<?xf32>
  host.launch @k(%0)
  host.return %0
}
loop.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {labels = ["x"], root = "A"} {
  loop.grid () {
    %p = loop.local "p"[x] : memref<?xf32>
    // expected-error@above {{'loop.local' is malformed: the local buffer 'p' is written 0 times, not once}}
  }
}
// -----
host.func @f() -> memref<?xf32> attributes {algorithm = [], schedule = [], compiled = [], labels = ["x"]} {
  %x = host.size x
  %0 = host.alloc A[x](%x) : memref<?xf32>
  host.launch @k(%0)
  host.return %0
}
loop.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {labels = ["x"], root = "A"} {
  loop.grid () {
    %p = tile.program_id
    // expected-error@above {{'tile.program_id' cannot stand in a 'loop.kernel'}}
    loop.for %x = x of A {
      %1 = arith.constant 0.0 : f32
      loop.write %1, %A[%x]
    }
  }
}
// -----
host.func @f() -> memref<?xf32> attributes {algorithm = [], schedule = [], compiled = [], labels = ["x"]} {
  %x = host.size x
  %0 = host.alloc A[x](%x) : memref<?xf32>
  host.launch @k(%0)
  host.return %0
}
loop.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {labels = ["x"], root = "A"} {
// expected-error@above {{the kernel never writes 'A'}}
  loop.grid () {
  }
}
// -----
host.func @f() -> memref<?xf32> attributes {algorithm = [], schedule = [], compiled = [], labels = ["x"]} {
  %x = host.size x
  %0 = host.alloc A[x](%x) : memref<?xf32>
  host.launch @k(%0)
  host.return %0
}
loop.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {labels = ["x"], root = "A"} {
  loop.grid (%x0 = x size 4) order [x] {
    loop.for %x = x in %x0 size 8 of A {
    // expected-error@above {{the loop walks 8 elements of a block of 4}}
      %0 = arith.constant 0.0 : f32
      loop.write %0, %A[%x]
    }
  }
}
// -----
host.func @f() -> memref<?xf32> attributes {algorithm = [], schedule = [], compiled = [], labels = ["x"]} {
  %x = host.size x
  %0 = host.alloc A[x](%x) : memref<?xf32>
  host.launch @k(%0)
  host.return %0
}
loop.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {labels = ["x"], root = "A"} {
  loop.grid () {
    loop.for %x = x of A {
      %0 = arith.constant 0.0 : f32
      loop.write %0, %A[%x]
    }
  }
}
sched.schedule {
// expected-error@above {{'sched.schedule' is not of the 'loop' level}}
  sched.block @A(x: 4)
}
