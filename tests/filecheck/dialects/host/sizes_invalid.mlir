// RUN: INVALID | filecheck %s
host.define x size len(y) * y
// CHECK: error: expected an index
// -----
host.in_bounds x + z below y over [x] "A"
// CHECK: error: the index depends on a label that it is not evaluated for
// -----
host.in_bounds x * x below y over [x] "A"
// CHECK: error: 'host.in_bounds' is malformed: an index is multiplied by a number or by sizes
// -----
host.in_bounds x below y over [x, x] "A"
// CHECK: error: 'host.in_bounds' is malformed: the labels that the index is evaluated for must differ
// -----
"host.define"() <{label = "x", size = affine_map<(d0) -> (d0)>, sizes = []}> : () -> ()
// CHECK: error: 'host.define' is malformed: a size is an expression of sizes: each symbol needs a label
// -----
"host.define"() <{label = "x", size = affine_map<() -> ()>, sizes = []}> : () -> ()
// CHECK: error: 'host.define' is malformed: a size is the least of one expression at least
// -----
"host.define"() <{label = "x", size = affine_map<()[s0, s1] -> (s0 + s1)>, sizes = ["y", "y"]}> : () -> ()
// CHECK: error: 'host.define' is malformed: the labels of a size expression must differ
// -----
"host.in_bounds"() <{index = affine_map<(d0) -> ()>, over = ["x"], sizes = [], label = "y", reason = "A"}> : () -> ()
// CHECK: error: 'host.in_bounds' is malformed: an index is checked
// -----
"host.in_bounds"() <{index = affine_map<(d0) -> (d0)>, over = [], sizes = [], label = "y", reason = "A"}> : () -> ()
// CHECK: error: 'host.in_bounds' is malformed: each dimension and symbol of the index needs a label
// -----
host.func @f() -> memref<?xf32> attributes {labels = ["x"]} {
  host.define x size 2
  host.define x size 3
  %x = host.size x
  %f = host.alloc f[x](%x) : memref<?xf32>
  host.return %f
}
// CHECK: error: 'host.define' is malformed: the size of 'x' is given twice
// -----
host.func @f() -> memref<?xf32> attributes {labels = ["x"]} {
  host.define x size len(z)
  %x = host.size x
  %f = host.alloc f[x](%x) : memref<?xf32>
  host.return %f
}
// CHECK: error: 'host.define' is malformed: 'z' is not a label of the host function
