// RUN: not dt-opt %s -p 'schedule-block{function=f sizes="k:8"}' 2>&1 | filecheck %s --check-prefix=REDUCTION
// RUN: not dt-opt %s -p 'schedule-block{function=f sizes="z:8"}' 2>&1 | filecheck %s --check-prefix=LABEL
// RUN: not dt-opt %s -p 'schedule-block{function=f sizes="x:8"},schedule-block{function=f sizes="x:16"}' 2>&1 | filecheck %s --check-prefix=TWICE
// RUN: not dt-opt %s -p 'schedule-tensorize{function=f sizes="x:6"},schedule-block{function=f sizes="x:8"}' 2>&1 | filecheck %s --check-prefix=MULTIPLE
// RUN: not dt-opt %s -p 'schedule-block{function=f sizes="x:8"},schedule-map{function=f order=x},schedule-block{function=f sizes="y:8"}' 2>&1 | filecheck %s --check-prefix=MAPPED
// RUN: not dt-opt %s -p 'schedule-block{function=ff sizes="x:8"}' 2>&1 | filecheck %s --check-prefix=FUNCTION
// RUN: not dt-opt %s -p 'schedule-block{function=f sizes="x=8"}' 2>&1 | filecheck %s --check-prefix=FORM
// RUN: not dt-opt %s -p 'schedule-block{function=f}' 2>&1 | filecheck %s --check-prefix=OPTION
host.func @f(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "k"]}) -> memref<?x?xf32> attributes {algorithm = [], schedule = [], compiled = ["f.compile();"], labels = ["x", "y", "k"]} {
  %x = host.size x
  %y = host.size y
  %f = host.alloc f[x, y](%x, %y) : memref<?x?xf32>
  host.launch @f_kernel(%A, %f)
  host.return %f
}
loop.kernel @f_kernel(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "k"]}, %f: memref<?x?xf32> {host.name = "f", host.axes = ["x", "y"]}) attributes {labels = ["x", "y", "k"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      loop.for %y = y of f {
        %0 = loop.reduce add %k = k of f : f32 {
          %1 = loop.read %A[%x, %k]
          loop.yield %1 : f32
        }
        loop.write %0, %f[%x, %y]
      }
    }
  }
}
// REDUCTION: schedule_block_invalid.mlir:{{[0-9]+}}:1: error: f.block: label 'k' is not one of the output 'f'
// REDUCTION: help: only x, y can be blocked; to step the loop over 'k' use tensorize(k:…)
// LABEL: error: f.block: there is no label 'z' in the kernel of 'f'
// TWICE: error: f.block: 'x' already has blocks of 8, which contradicts 16
// MULTIPLE: error: f.block: a block of 8 is not a multiple of the tile of 6 along 'x'
// MULTIPLE: help: choose a multiple of 6
// MAPPED: error: f.block: the grid is already mapped
// FUNCTION: error: ff.block: there is no function 'ff' to schedule
// FUNCTION: help: did you mean 'f'?
// FORM: error: f.block: 'x=8' is not an argument of a directive
// OPTION: error: pass 'schedule-block' needs the option 'sizes'
