// RUN: not dt-opt %s -p 'schedule-precision{function=f precision=half}' 2>&1 | filecheck %s
// RUN: not dt-opt %s -p 'schedule-precision{function=f precision=narrow}' 2>&1 | filecheck %s --check-prefix=MIXED
// RUN: not dt-opt %s -p 'schedule-precision{function=f precision=tf32},schedule-precision{function=f precision=ieee}' 2>&1 | filecheck %s --check-prefix=TWICE
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
// CHECK: error: f.precision: 'half' is none of ieee, tf32, tf32x3, narrow
// TWICE: error: f.precision: it is already tf32, which contradicts ieee
// MIXED: error: f.precision: no product in the kernel of 'f' is of operands of mixed float types
// MIXED: help: leave it out, or declare the type of an input as in 'In A : bf16'
