// RUN: dt-opt %s -p verify-loop --split-input-file --verify-diagnostics | filecheck %s
func.func @f() {
  func.return
}
loop.kernel @k() attributes {labels = [], root = "f"} {
  loop.grid () {
  }
}
// CHECK: error: the host function needs a well-formed 'host.algorithm'
// -----
func.func @f() attributes {host.algorithm = [], host.schedule = [], host.outputs = [], host.labels = [], host.same = ["x"]} {
  func.return
}
loop.kernel @k() attributes {labels = [], root = "f"} {
  loop.grid () {
  }
}
// CHECK: error: the host function needs a well-formed 'host.same'
// -----
func.func @f() attributes {host.algorithm = [], host.schedule = [], host.outputs = [], host.labels = [], host.nonempty = [{label = "x"}]} {
  func.return
}
loop.kernel @k() attributes {labels = [], root = "f"} {
  loop.grid () {
  }
}
// CHECK: error: the host function needs a well-formed 'host.nonempty'
// -----
func.func @f(%A: f32) attributes {host.algorithm = [], host.schedule = [], host.outputs = [], host.labels = []} {
  func.return
}
loop.kernel @k() attributes {labels = [], root = "f"} {
  loop.grid () {
  }
}
// CHECK: error: the arguments of the host function need attributes
// -----
func.func @f(%A: f32 {host.name = "A"}) attributes {host.algorithm = [], host.schedule = [], host.outputs = [], host.labels = []} {
  func.return
}
loop.kernel @k() attributes {labels = [], root = "f"} {
  loop.grid () {
  }
}
// CHECK: error: argument 0 of the host function needs a well-formed 'host.name' and 'host.axes'
// -----
func.func @f() attributes {host.algorithm = [], host.schedule = [], host.outputs = [], host.labels = []} {
  %0 = memref.alloc() : memref<f32>
  func.return
}
loop.kernel @k() attributes {labels = [], root = "f"} {
  loop.grid () {
  }
}
// CHECK: error: an allocation needs a well-formed 'host.name' and 'host.axes'
// -----
func.func @f() attributes {host.algorithm = [], host.schedule = [], host.outputs = [], host.labels = []} {
  func.return
}
loop.kernel @k() attributes {labels = [], root = "f"} {
  loop.grid () {
  }
}
// CHECK: error: the host function returns what it allocates
// -----
func.func @f() attributes {host.algorithm = [], host.schedule = [], host.outputs = [], host.labels = []} {
  %0 = arith.constant 0 : i32
  func.return
}
loop.kernel @k() attributes {labels = [], root = "f"} {
  loop.grid () {
  }
}
// CHECK: error: 'arith.constant' cannot stand in the host function
// -----
func.func @f() attributes {host.algorithm = [], host.schedule = [], host.outputs = [], host.labels = []} {
  %x = host.size x : index
  host.launch @k(%x) : index
  func.return
}
loop.kernel @k(%x: index {host.name = "x", host.axes = []}) attributes {labels = [], root = "f"} {
  loop.grid () {
  }
}
// CHECK: error: {{.*}}argument 'x' has elements of index
// -----
func.func @f(%n: index {host.name = "n", host.axes = []}) attributes {host.algorithm = [], host.schedule = [], host.outputs = [], host.labels = []} {
  %0 = host.round_up %n to 8 : index
  func.return
}
loop.kernel @k() attributes {labels = [], root = "f"} {
  loop.grid () {
  }
}
// CHECK: error: what is rounded up is the size of a label
// -----
func.func @f() -> memref<?xf32> attributes {host.algorithm = [], host.schedule = [], host.outputs = [], host.labels = ["x"]} {
  %x = host.size x : index
  %0 = host.round_up %x to 8 : index
  %f = memref.alloc(%0) {host.name = "f", host.axes = ["x"]} : memref<?xf32>
  func.return %f : memref<?xf32>
}
loop.kernel @k() attributes {labels = [], root = "f"} {
  loop.grid () {
  }
}
// CHECK: error: the storage of 'f' is padded, but it is returned
// -----
func.func @f() -> memref<4xf32> attributes {host.algorithm = [], host.schedule = [], host.outputs = [], host.labels = ["x"]} {
  %f = memref.alloc() {host.name = "f", host.axes = ["x"]} : memref<4xf32>
  func.return %f : memref<4xf32>
}
loop.kernel @k() attributes {labels = [], root = "f"} {
  loop.grid () {
  }
}
// CHECK: error: the extents of an allocation are the sizes of its labels, or those rounded up
