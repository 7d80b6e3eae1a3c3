// RUN: dt-opt %s --split-input-file --verify-diagnostics

host.launch @nothing()
// expected-error@above {{'host.launch' is malformed: 'nothing' is not a kernel}}
// -----
%x = host.size x
host.launch @k(%x)
// expected-error@above {{'host.launch' is malformed: the arguments do not fit those of 'k'}}
loop.kernel @k() attributes {labels = [], root = "f"} {
  loop.grid () {
  }
}
// -----
%x = host.size x
%end = host.round_up %x to 0
// expected-error@above {{'host.round_up' is malformed: a size is rounded up to a multiple of a positive number}}
// -----
%n = arith.constant 4 : index
%end = host.round_up %n to 8
// expected-error@above {{'host.round_up' is malformed: what is rounded up is the size of a label}}
// -----
%x = host.size x
%f = host.alloc f[y](%x) : memref<?xf32>
// expected-error@above {{'host.alloc' is malformed: the extents of an allocation are the sizes of its labels, or those rounded up}}
// -----
%f = host.alloc f[x]() : memref<4xf32>
// expected-error@above {{expected a type of the form 'memref<f32>'}}
// -----
%x = host.size x
%f = "host.alloc"(%x) <{tensor = "f", axes = ["x"]}> : (index) -> memref<4xf32>
// expected-error@above {{'host.alloc' is malformed: the type of an allocation is of the form 'memref<?xf32>', not 'memref<4xf32>'}}
// -----
%f = host.alloc f[]() : memref<si32>
// expected-error@above {{'host.alloc' is malformed: 'f' has elements of si32}}
// -----
host.func @f(%s: si32 {host.name = "s", host.axes = []}) -> memref<f32> {
// expected-error@above {{'host.func' is malformed: argument 's' has elements of si32}}
  %f = host.alloc f[]() : memref<f32>
  host.return %f
}
// -----
host.func @f() {
  host.return
  // expected-error@above {{'host.return' is malformed: a host function returns what it allocates}}
}
// -----
host.func @f(%A: memref<f32> {host.name = "A", host.axes = []}) -> memref<f32> {
  host.return %A
  // expected-error@above {{'host.return' is malformed: a host function returns what it allocates}}
}
// -----
host.func @f() -> memref<?xf32> attributes {labels = ["x"]} {
  %x = host.size x
  %0 = host.round_up %x to 8
  %f = host.alloc f[x](%0) : memref<?xf32>
  host.return %f
  // expected-error@above {{'host.return' is malformed: the storage of 'f' is padded, but it is returned}}
}
// -----
host.func @f() -> f32 {
// expected-error@above {{'host.func' is malformed: the type of a host function is that of what it returns}}
  %f = host.alloc f[]() : memref<f32>
  host.return %f
}
// -----
host.func @f() {
// expected-error@above {{'host.func' is malformed: the host function ends with 'host.return'}}
  %f = host.alloc f[]() : memref<f32>
}
// -----
host.func @f() -> memref<f32> {
  %0 = arith.constant 0 : i32
  // expected-error@above {{'arith.constant' is malformed: 'arith.constant' cannot stand in the host function}}
  %f = host.alloc f[]() : memref<f32>
  host.return %f
}
// -----
"host.func"() <{sym_name = "f", function_type = (f32) -> memref<f32>, arg_attrs = []}> ({
// expected-error@above {{'host.func' is malformed: the arguments of a host function need attributes}}
^bb0(%A: f32):
  %f = host.alloc f[]() : memref<f32>
  host.return %f
}) : () -> ()
// -----
host.func @f(%A: f32 {host.axes = []}) -> memref<f32> {
// expected-error@above {{'host.func' is malformed: argument 0 needs a 'host.name'}}
  %f = host.alloc f[]() : memref<f32>
  host.return %f
}
// -----
host.func @f(%A: memref<?xf32> {host.name = "A", host.axes = []}) -> memref<f32> {
// expected-error@above {{'host.func' is malformed: argument 'A' needs 1 labels in 'host.axes'}}
  %f = host.alloc f[]() : memref<f32>
  host.return %f
}
// -----
host.func @f(%A: memref<?xf32> {host.name = "A", host.axes = ["x"], host.minimums = [1, 2]}) -> memref<f32> {
// expected-error@above {{'host.func' is malformed: argument 'A' needs 1 numbers in 'host.minimums'}}
  %f = host.alloc f[]() : memref<f32>
  host.return %f
}
// -----
host.func @f() -> memref<f32> attributes {same = [["x"]]} {
// expected-error@above {{'host.func' is malformed: a group of labels of one size has two of them at least}}
  %f = host.alloc f[]() : memref<f32>
  host.return %f
}
// -----
host.func @f() -> memref<f32> attributes {sizes = {x = 0}} {
// expected-error@above {{'host.func' is malformed: the size of 'x' must be a positive number}}
  %f = host.alloc f[]() : memref<f32>
  host.return %f
}
// -----
host.func @f() -> memref<f32> attributes {nonempty = ["x"]} {
// expected-error@above {{'host.func' is malformed: "x" should be of base attribute host.at_least}}
  %f = host.alloc f[]() : memref<f32>
  host.return %f
}
// -----
host.func @f() -> memref<f32> {
  %f = host.alloc f[]() : memref<f32>
  host.return %f
}
loop.kernel @k(%f: memref<f32> {host.name = "f", host.axes = []}) attributes {labels = [], root = "f"} {
// expected-error@above {{'loop.kernel' is malformed: 'k' is launched 0 times, not once}}
  loop.grid () {
  }
}
// -----
host.func @f() -> memref<f32> {
  %f = host.alloc f[]() : memref<f32>
  host.launch @k(%f)
  // expected-error@above {{'host.launch' is malformed: 'k' is launched on 'f', where it takes "g"}}
  host.return %f
}
loop.kernel @k(%f: memref<f32> {host.name = "g", host.axes = []}) attributes {labels = [], root = "f"} {
  loop.grid () {
  }
}
// -----
host.func @f() -> memref<?xf32> attributes {labels = ["x"]} {
  %x = host.size x
  %f = host.alloc f[x](%x) : memref<?xf32>
  host.launch @k(%f)
  // expected-error@above {{'host.launch' is malformed: the axes of 'f' have other labels here than in 'k'}}
  host.return %f
}
loop.kernel @k(%f: memref<?xf32> {host.name = "f", host.axes = ["y"]}) attributes {labels = [], root = "f"} {
  loop.grid () {
  }
}
// -----
host.func @f() -> memref<f32> {
  %f = host.alloc f[]() : memref<f32>
  host.launch @k(%f)
  host.return %f
}
loop.kernel @k(%f: memref<f32> {host.name = "f", host.axes = []}) attributes {labels = ["x"], root = "f"} {
// expected-error@above {{'loop.kernel' is malformed: 'x' is not a label of the host function}}
  loop.grid () {
  }
}
// -----
%x = host.size x
%y = host.size y
%f = host.alloc f[x, y](%x, %y) order [x, x] : memref<?x?xf32>
// expected-error@above {{'host.alloc' is malformed: the order of an allocation names each label of its axes once}}
// -----
%f = host.alloc f[]() summed : memref<f32>
// expected-error@above {{'host.alloc' is malformed: what is summed has axes, which lie in memory in their order}}
// -----
host.func @f(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) -> memref<?xf32> attributes {labels = ["x"]} {
  %x = host.size x
  %f = host.alloc f[x](%x) summed : memref<?xf32>
  host.launch @f_kernel(%A, %f)
  // expected-error@above {{'host.launch' is malformed: 'f' is allocated as a sum, and 'f_kernel' does not add to it}}
  host.return %f
}
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      %a = loop.read %A[%x]
      loop.write %a, %f[%x]
    }
  }
}
// -----
host.func @f(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) -> memref<?xf32> attributes {labels = ["x"]} {
  %x = host.size x
  %f = host.alloc f[x](%x) : memref<?xf32>
  host.launch @f_kernel(%A, %f)
  // expected-error@above {{'host.launch' is malformed: 'f_kernel' adds to 'f', which is not allocated as a sum}}
  host.return %f
}
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x"], root = "f", summed = ["f"]} {
  loop.grid () {
    loop.for %x = x of f {
      %a = loop.read %A[%x]
      loop.write %a, %f[%x]
    }
  }
}
// -----
host.launch @k() specialized @nothing
// expected-error@above {{'host.launch' is malformed: 'nothing' is not a kernel}}
loop.kernel @k() attributes {labels = [], root = "f"} {
  loop.grid () {
  }
}
// -----
"host.launch"() <{kernel = @k, equal = [["x", "y", "z"]]}> : () -> ()
// expected-error@above {{'host.launch' is malformed: labels of one size are given in pairs}}
loop.kernel @k() attributes {labels = [], root = "f"} {
  loop.grid () {
  }
}
// -----
host.func @f(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) -> memref<?xf32> attributes {labels = ["x"]} {
  %x = host.size x
  %f = host.alloc f[x](%x) : memref<?xf32>
  host.launch @f_kernel(%A, %f) where [x = nothing]
  // expected-error@above {{'host.launch' is malformed: 'nothing' is not a label of the host function}}
  host.return %f
}
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      %a = loop.read %A[%x]
      loop.write %a, %f[%x]
    }
  }
}
// -----
host.launch @k() specialized @w
// expected-error@above {{'host.launch' is malformed: the arguments do not fit those of 'w'}}
loop.kernel @k() attributes {labels = [], root = "f"} {
  loop.grid () {
  }
}
loop.kernel @w(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {labels = ["x"], root = "f"} {
  loop.grid () {
  }
}
// -----
host.func @f(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) -> memref<?xf32> attributes {labels = ["x"]} {
  %x = host.size x
  %f = host.alloc f[x](%x) : memref<?xf32>
  %g = host.alloc f[x](%x) : memref<?xf32>
  // expected-error@above {{there are two tensors 'f'}}
  host.return %f
}
// -----
host.func @f(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) -> memref<?xf32> attributes {labels = ["x"]} {
  %x = host.size x
  %f = host.alloc f[x](%x) : memref<?xf32>
  host.launch @f_kernel(%A, %f) where [y = 64]
  // expected-error@above {{'host.launch' is malformed: 'y' is not a label of the host function}}
  host.return %f
}
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      %a = loop.read %A[%x]
      loop.write %a, %f[%x]
    }
  }
}
// -----
host.func @f(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) -> memref<?xf32> attributes {labels = ["x"]} {
  %x = host.size x
  %f = host.alloc f[x](%x) : memref<?xf32>
  host.launch @f_kernel(%A, %f) where [x = 0]
  // expected-error@above {{'host.launch' is malformed: the size that a label must have is positive}}
  host.return %f
}
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      %a = loop.read %A[%x]
      loop.write %a, %f[%x]
    }
  }
}
