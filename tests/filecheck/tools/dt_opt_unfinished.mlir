// RUN: not dt-opt %s 2>&1 | filecheck %s
// CHECK: dt_opt_unfinished.mlir:5:1: error: the text ends in the definition of a block
builtin.module {
  %0 = arith.constant 1 : index
