// RUN: not dt-opt %s -t triton 2>&1 | filecheck %s
// CHECK: error: the Triton backend takes a module of the 'tile' level: kernels and one host function
// CHECK: help: run the whole pipeline first: dtc FILE --print-pipeline
dt.label @x
