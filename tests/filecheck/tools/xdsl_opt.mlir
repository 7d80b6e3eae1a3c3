// RUN: not xdsl-opt %s -p 'schedule-block{function=f sizes="k:8"}' 2>&1 | filecheck %s
// RUN: xdsl-opt %s -p 'schedule-block{function=f sizes="x:8"}' | filecheck %s --check-prefix=BLOCKED
// CHECK-NOT: Traceback
// CHECK: error: f.block: label 'k' is not one of the output 'f'
// CHECK-NEXT: help: only x can be blocked
// CHECK-NOT: Traceback
// BLOCKED: loop.grid (%x_block = x size 8) order [x]
host.func @f(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "k"]}) -> memref<?xf32> attributes {algorithm = [], schedule = [], compiled = ["f.compile();"], labels = ["x", "k"]} {
  %x = host.size x
  %f = host.alloc f[x](%x) : memref<?xf32>
  host.launch @f_kernel(%A, %f)
  host.return %f
}
loop.kernel @f_kernel(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "k"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      %0 = loop.reduce add %k = k of f : f32 {
        %1 = loop.read %A[%x, %k]
        loop.yield %1 : f32
      }
      loop.write %0, %f[%x]
    }
  }
}
