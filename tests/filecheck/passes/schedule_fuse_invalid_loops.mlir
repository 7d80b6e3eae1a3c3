// RUN: dt-opt %s -p 'schedule-fuse{function=f labels="x","y","xy"}' --verify-diagnostics
// A function along whose axes loops of its reader go, both over one label.
host.func @f(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "y"]}) -> memref<?x?xf32> attributes {labels = ["x", "y"]} {
  %x = host.size x
  %y = host.size y
  %f = host.alloc f[x, y](%x, %y) : memref<?x?xf32>
  host.launch @f_kernel(%A, %f)
  host.return %f
}
// expected-help@+2 {{let each label have a loop of its own}}
// expected-error@below {{f.fuse: its loops over x, x are not over different labels}}
loop.kernel @f_kernel(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "y"]}, %f: memref<?x?xf32> {host.name = "f", host.axes = ["x", "y"]}) attributes {labels = ["x", "y"], root = "f"} {
  loop.grid () {
    loop.for %x = x of g {
      loop.for %y = x of g {
        %0 = loop.read %A[%x, %y]
        loop.write %0, %f[%x, %y]
      }
    }
  }
}
