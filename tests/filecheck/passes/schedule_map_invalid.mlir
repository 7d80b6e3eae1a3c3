// RUN: not dt-opt %s -p 'schedule-map{function=f order=x}' 2>&1 | filecheck %s --check-prefix=NOBLOCK
// RUN: not dt-opt %s -p 'schedule-block{function=f sizes="x:8","y:8"},schedule-map{function=f order=x}' 2>&1 | filecheck %s --check-prefix=LEFT
// RUN: not dt-opt %s -p 'schedule-block{function=f sizes="x:8","y:8"},schedule-map{function=f order=x,y,x}' 2>&1 | filecheck %s --check-prefix=TWICE
// RUN: not dt-opt %s -p 'schedule-block{function=f sizes="x:8","y:8"},schedule-map{function=f order="x:x1/4",y}' 2>&1 | filecheck %s --check-prefix=INNER
// RUN: not dt-opt %s -p 'schedule-block{function=f sizes="x:8","y:8"},schedule-map{function=f order="k:k1/4",k1,x,y}' 2>&1 | filecheck %s --check-prefix=LABEL
// RUN: not dt-opt %s -p 'schedule-block{function=f sizes="x:8","y:8"},schedule-map{function=f order="x:x/4",a,b,y}' 2>&1 | filecheck %s --check-prefix=UNCLEAR
// RUN: not dt-opt %s -p 'schedule-block{function=f sizes="x:8","y:8"},schedule-map{function=f order="x:y/4",x,y}' 2>&1 | filecheck %s --check-prefix=TAKEN
// RUN: not dt-opt %s -p 'schedule-block{function=f sizes="x:8","y:8"},schedule-map{function=f order="x:a/4","y:a/2",a}' 2>&1 | filecheck %s --check-prefix=BOTH
// RUN: not dt-opt %s -p 'schedule-block{function=f sizes="x:8","y:8"},schedule-map{function=f order=x,y,z}' 2>&1 | filecheck %s --check-prefix=NAME
// RUN: not dt-opt %s -p 'schedule-block{function=f sizes="x:8","y:8"},schedule-map{function=f order=x,y},schedule-map{function=f order=y,x}' 2>&1 | filecheck %s --check-prefix=AGAIN
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
// NOBLOCK: error: f.map: the grid has no blocks to walk
// LEFT: error: f.map: the blocks of 'y' are left out
// TWICE: error: f.map: label 'x' is named twice
// INNER: error: f.map: the inner part 'x1' of 'x' is left out
// LABEL: error: f.map: 'k' is not a blocked label
// UNCLEAR: error: f.map: it is not clear which name is the inner part of 'x'
// TAKEN: error: f.map: 'y' is a label and cannot name the inner part of 'x'
// BOTH: error: f.map: 'a' names the inner parts of two splits
// NAME: error: f.map: 'z' is not a blocked label
// AGAIN: error: f.map: the grid is already mapped in another order
