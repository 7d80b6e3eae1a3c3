// RUN: dt-opt %s --print-op-generic --print-no-properties | filecheck %s --check-prefix=ATTRIBUTES
// RUN: dt-opt %s --syntax-highlight | filecheck %s --check-prefix=COLOUR
// RUN: not dt-opt %s --no-implicit-module 2>&1 | filecheck %s --check-prefix=MODULE
// RUN: not dt-opt %inputs/malformed.mlir 2>&1 | filecheck %s --check-prefix=MALFORMED
// RUN: dt-opt %inputs/malformed.mlir --disable-verify | filecheck %s --check-prefix=UNVERIFIED
// RUN: dt-opt %inputs/malformed.mlir --verify-diagnostics | filecheck %s --check-prefix=MALFORMED
// RUN: not dt-opt %inputs/foreign.mlir 2>&1 | filecheck %s --check-prefix=FOREIGN
// RUN: dt-opt %inputs/foreign.mlir --allow-unregistered-dialect | filecheck %s --check-prefix=ALLOWED
// RUN: dtc %inputs/scheduled.dt --emit ttir --arch sm_80 --sizes x=64,y=64,k=32 | filecheck %s --check-prefix=TTIR
// RUN: dtc %inputs/scheduled.dt --emit stats --arch gfx942 | filecheck %s --check-prefix=STATS
// ATTRIBUTES: "dt.label"() {sym_name = "x"}
// COLOUR: dt.label
// MODULE: error: {{.*}}builtin.module
// MALFORMED: malformed.mlir:1:1: error: 'dt.output' is malformed: 'f' is not a function
// UNVERIFIED: dt.output @f
// FOREIGN: foreign.mlir:1:1: error: there is no operation 'other.thing'
// ALLOWED: "other.thing"()
// TTIR: tt.func public @f_kernel
// STATS: kernel target registers spilled_bytes shared_bytes threads
// STATS-NEXT: f_kernel gfx942
dt.label @x
dt.label @y
