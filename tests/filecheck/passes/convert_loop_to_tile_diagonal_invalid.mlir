// RUN: not dt-opt %s -p convert-loop-to-tile 2>&1 | filecheck %s
host.func @f(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "y"]}) -> memref<?x?xf32> attributes {algorithm = [], schedule = [], compiled = ["f.compile();"], labels = ["x", "y"]} {
  %x = host.size x
  %y = host.size y
  %f = host.alloc f[x, y](%x, %y) : memref<?x?xf32>
  host.launch @f_kernel(%A, %f)
  host.return %f
}
loop.kernel @f_kernel(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "y"]}, %f: memref<?x?xf32> {host.name = "f", host.axes = ["x", "y"]}) attributes {labels = ["x", "y"], root = "f"} {
  loop.grid (%x0 = x size 16, %y0 = y size 16) order [x, y] {
    %g = loop.local "g"[x, y] : memref<?x?xf32>
    loop.for %x = x in %x0 size 16 step 16 tile of g {
      %0 = loop.read %A[%x, %x]
      loop.write %0, %g[%x, %x]
    }
    loop.for %x = x in %x0 size 16 step 16 tile of f {
      loop.for %y = x in %x0 size 16 step 16 tile of f {
        %0 = loop.read %g[%x, %y]
        loop.write %0, %f[%x, %y]
      }
    }
  }
}
// CHECK: error: 'g' cannot be held in tiles where it is fused: it is written along a diagonal, and read beside it
// CHECK: help: leave 'g' unfused
