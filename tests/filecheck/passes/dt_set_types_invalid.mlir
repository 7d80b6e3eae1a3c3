// RUN: not dt-opt %s -p 'dt-set-types{types="B:f16"}' 2>&1 | filecheck %s --check-prefix=NAME
// RUN: not dt-opt %s -p 'dt-set-types{types="A:half"}' 2>&1 | filecheck %s --check-prefix=TYPE
// RUN: not dt-opt %s -p 'dt-set-types{types="A"}' 2>&1 | filecheck %s --check-prefix=FORM
// NAME: error: there is no input or function 'B' to give a type
// TYPE: error: 'half' is no element type
// FORM: error: 'A' gives no type
// FORM: help: write 'name:type'
dt.label @x
dt.input @A : tensor<?xf32>
dt.func @f[x] : f32 {
  %0 = dt.read @A[x] : f32
  dt.yield %0 : f32
}
dt.output @f
