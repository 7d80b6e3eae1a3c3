// RUN: dt-opt %s -p 'schedule-inline{function=g}' --verify-diagnostics
// A directive takes no kernel that reads what it writes.
host.func @f(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) -> memref<?xf32> attributes {algorithm = [], compiled = [], labels = ["x"]} {
  %x = host.size x
  %g = host.alloc g[x](%x) : memref<?xf32>
  %f = host.alloc f[x](%x) : memref<?xf32>
  host.launch @g_kernel(%A, %g)
  host.launch @f_kernel(%g, %f)
  host.return %f
}
loop.kernel @g_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %g: memref<?xf32> {host.name = "g", host.axes = ["x"]}) attributes {labels = ["x"], root = "g"} {
  loop.grid () {
    loop.for %x = x of g {
      %0 = loop.read %g[%x]
      loop.write %0, %g[%x]
      // expected-error@above {{'g' is both read and written in one kernel}}
    }
  }
}
loop.kernel @f_kernel(%g: memref<?xf32> {host.name = "g", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      %0 = loop.read %g[%x]
      loop.write %0, %f[%x]
    }
  }
}
