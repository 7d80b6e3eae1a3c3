// RUN: not dt-opt %inputs/renamed.dt -p convert-dt-to-loop,apply-schedule 2>&1 | filecheck %s --check-prefix=RENAMED
// RENAMED: error: f.tensorize: there is no loop over 'y' in the kernel of 'f'
// RENAMED: help: 'y' of 'g' is 'x' there
// RUN: not dt-opt %s -p 'schedule-tensorize{function=f sizes="z:8"}' 2>&1 | filecheck %s --check-prefix=LABEL
// RUN: not dt-opt %s -p 'schedule-tensorize{function=f sizes="x:8"},schedule-tensorize{function=f sizes="x:16"}' 2>&1 | filecheck %s --check-prefix=TWICE
// RUN: not dt-opt %s -p 'schedule-block{function=f sizes="x:8"},schedule-tensorize{function=f sizes="x:6"}' 2>&1 | filecheck %s --check-prefix=MULTIPLE
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
// LABEL: error: f.tensorize: there is no loop over 'z' in the kernel of 'f'
// TWICE: error: f.tensorize: the loop over 'x' already has tiles of 8, which contradicts 16
// MULTIPLE: error: f.tensorize: a block of 8 is not a multiple of the tile of 6 along 'x'
// MULTIPLE: help: choose a divisor of 8, or 0 for the whole block
