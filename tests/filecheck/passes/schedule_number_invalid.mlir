// RUN: not dt-opt %s -p 'schedule-split{function=f sizes="y:4"}' 2>&1 | filecheck %s --check-prefix=SPLIT
// RUN: not dt-opt %s -p 'schedule-block{function=f sizes="y:4"}' 2>&1 | filecheck %s --check-prefix=BLOCK
// RUN: not dt-opt %s -p 'schedule-reorder{function=f order=y,x}' 2>&1 | filecheck %s --check-prefix=REORDER
// A function that is written at a number has no loop over that label.
host.func @f(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "y"]}) -> memref<?x?xf32> attributes {algorithm = [], schedule = [], compiled = ["f.compile();"], labels = ["x", "y"]} {
  %x = host.size x
  %y = host.size y
  %f = host.alloc f[x, y](%x, %y) : memref<?x?xf32>
  host.launch @f_kernel(%A, %f)
  host.return %f
}
loop.kernel @f_kernel(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "y"]}, %f: memref<?x?xf32> {host.name = "f", host.axes = ["x", "y"]}) attributes {labels = ["x", "y"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      %0 = loop.read %A[%x, 0]
      loop.write %0, %f[%x, 0]
    }
  }
}
// SPLIT: error: f.split: 'f' has no loop over 'y' that can be split
// SPLIT: help: it has loops over x
// BLOCK: error: f.block: 'f' has no loop over 'y' that can be blocked
// BLOCK: help: it has loops over x
// REORDER: error: f.reorder: 'f' has no loop over 'y'
// REORDER: help: it has loops over x
