// RUN: dt-opt %s --split-input-file --verify-diagnostics
host.define x size len(y) * y
// expected-error@above {{expected an index}}
// -----
host.in_bounds x + z below y over [x] "A"
// expected-error@above {{the index depends on a label that it is not evaluated for}}
// -----
host.in_bounds x * x below y over [x] "A"
// expected-error@above {{'host.in_bounds' is malformed: an index is multiplied by a number or by sizes}}
// -----
host.in_bounds x below y over [x, x] "A"
// expected-error@above {{'host.in_bounds' is malformed: the labels that the index is evaluated for must differ}}
// -----
"host.define"() <{label = "x", size = affine_map<(d0) -> (d0)>, sizes = []}> : () -> ()
// expected-error@above {{'host.define' is malformed: a size is an expression of sizes: each symbol needs a label}}
// -----
"host.define"() <{label = "x", size = affine_map<() -> ()>, sizes = []}> : () -> ()
// expected-error@above {{'host.define' is malformed: a size is the least of one expression at least}}
// -----
"host.define"() <{label = "x", size = affine_map<()[s0, s1] -> (s0 + s1)>, sizes = ["y", "y"]}> : () -> ()
// expected-error@above {{'host.define' is malformed: the labels of a size expression must differ}}
// -----
"host.in_bounds"() <{index = affine_map<(d0) -> ()>, over = ["x"], sizes = [], label = "y", reason = "A"}> : () -> ()
// expected-error@above {{'host.in_bounds' is malformed: an index is checked}}
// -----
"host.in_bounds"() <{index = affine_map<(d0) -> (d0)>, over = [], sizes = [], label = "y", reason = "A"}> : () -> ()
// expected-error@above {{'host.in_bounds' is malformed: each dimension and symbol of the index needs a label}}
// -----
host.func @f() -> memref<?xf32> attributes {labels = ["x"]} {
  host.define x size len(x) - 2
  // expected-error@above {{'host.define' is malformed: the size of 'x' depends on itself}}
  %x = host.size x
  %f = host.alloc f[x](%x) : memref<?xf32>
  host.return %f
}
// -----
host.func @f() -> memref<?xf32> attributes {labels = ["x", "y", "z"], same = [["y", "z"]]} {
  host.define x inferred len(y)
  // expected-error@above {{'host.define' is malformed: the size of 'x' depends on itself}}
  host.define z size len(x) - 2
  %x = host.size x
  %f = host.alloc f[x](%x) : memref<?xf32>
  host.return %f
}
// -----
host.func @f() -> memref<?xf32> attributes {labels = ["x"]} {
  host.define x size 2
  host.define x size 3
  // expected-error@above {{'host.define' is malformed: the size of 'x' is given twice}}
  %x = host.size x
  %f = host.alloc f[x](%x) : memref<?xf32>
  host.return %f
}
// -----
host.func @f() -> memref<?xf32> attributes {labels = ["x"]} {
  host.define x size len(z)
  // expected-error@above {{'host.define' is malformed: 'z' is not a label of the host function}}
  %x = host.size x
  %f = host.alloc f[x](%x) : memref<?xf32>
  host.return %f
}
