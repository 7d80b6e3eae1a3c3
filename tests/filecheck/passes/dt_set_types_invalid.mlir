// RUN: not dt-opt %s -p 'dt-set-types{types="B:f16"}' 2>&1 | filecheck %s --check-prefix=NAME
// RUN: not dt-opt %s -p 'dt-set-types{types="A:half"}' 2>&1 | filecheck %s --check-prefix=TYPE
// RUN: not dt-opt %s -p 'dt-set-types{types="A"}' 2>&1 | filecheck %s --check-prefix=FORM
// NAME: error: there is no input or function 'B' to give a type
// TYPE: error: 'half' is not an element type
// FORM: error: 'A' gives no type
// FORM: help: write 'name:type'
dt.label @x
dt.input @A : tensor<?xf32>
dt.func @f[x] : f32 {
  %0 = dt.read @A[x] : f32
  dt.yield %0 : f32
}
dt.output @f
// RUN: dt-opt %inputs/no_program.mlir -p 'dt-set-types{types="A:f16"}' --split-input-file --verify-diagnostics | filecheck %s --check-prefix=PROGRAM
// PROGRAM: no_program.mlir:5:3: error: no operator compares as 'arith.cmpf' does here
// PROGRAM: no_program.mlir:15:3: error: 'math.atan' is no operation that a program can say
// PROGRAM: no_program.mlir:21:1: error: 'host.func' is not of the 'dt' level
