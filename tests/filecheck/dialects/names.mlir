// RUN: dt-opt %s --split-input-file --verify-diagnostics | filecheck %s
// A module's text cannot become code: names of the source are names at every level.
dt.label @"x y"
// expected-error@above {{'dt.label' is malformed: 'x y' is not a name: names are made of letters, digits and '_', and do not start with a digit}}
// -----
"dt.label"() <{sym_name = "x\0Aimport os"}> : () -> ()
// expected-error@above {{'dt.label' is malformed: 'x\nimport os' is not a name: names are made of letters, digits and '_', and do not start with a digit}}
// -----
loop.kernel @"f(a=__import__('os').system('id')): pass\0Adef f"() attributes {labels = [], root = "f"} {
// expected-error@above {{'loop.kernel' is malformed: "f(a=__import__('os').system('id')): pass\ndef f" is not a name: names are made of letters, digits and '_', and do not start with a digit}}
  loop.grid () {
  }
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A; import os", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "A"} {
// expected-error@above {{'tile.kernel' is malformed: 'A; import os' is not a name: names are made of letters, digits and '_', and do not start with a digit}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["1x"], root = "A"} {
// expected-error@above {{'tile.kernel' is malformed: '1x' is not a name: names are made of letters, digits and '_', and do not start with a digit}}
}
// -----
dt.label @x
// CHECK: dt.label @x
// -----
%a = arith.addi %b, %b : i32
// expected-error@above {{'arith.addi' is malformed: the definition of an operand does not dominate this use}}
// expected-help@above {{define it in front of the use, in the same block or in one around}}
%b = arith.constant 1 : i32
// -----
"test"() {a = "not closed} : () -> ()
// expected-error@above {{the string is not closed}}
// expected-help@above {{end it with '"'}}
// -----
%a = arith.constant 99999999999999999999999999 : index
// expected-error@above {{'arith.constant' is malformed: 99999999999999999999999999 does not fit in 64 bits}}
// -----
%a = arith.constant 1.0 : f80
// expected-error@above {{'arith.constant' is malformed: xDSL cannot print numbers of f80}}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [4 : i64, 4 : i64], grid_labels = ["x", "x"], labels = ["x"], root = "A"} {
// expected-error@above {{'tile.kernel' is malformed: the labels of a grid must differ}}
}
// -----
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x", "x"], root = "A"} {
// expected-error@above {{'tile.kernel' is malformed: the labels of a kernel must differ}}
}
