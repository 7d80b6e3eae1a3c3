// RUN: dt-opt %s -p convert-loop-to-tile --split-input-file --verify-diagnostics | filecheck %s
// An attribute of a loop goes to the loop of tiles; one of what vanishes is an error at once.
host.func @f(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) -> (memref<?xf32>)
    attributes {labels = ["x"]} {
  %x = host.size x
  %f = host.alloc f[x](%x) : memref<?xf32>
  host.launch @f_kernel(%A, %f)
  host.return %f
}
loop.kernel @f_kernel(
    %A_ptr: memref<?xf32> {host.name = "A", host.axes = ["x"]},
    %f_ptr: memref<?xf32> {host.name = "f", host.axes = ["x"]}
  ) attributes {labels = ["x"], root = "f"} {
  loop.grid () {
    loop.for %x = x step 8 tile of f attributes {my.mark = 4} {
      %A = loop.read %A_ptr[%x]
      loop.write %A, %f_ptr[%x]
    }
  }
}
// CHECK: scf.for
// CHECK: my.mark = 4
// -----
host.func @f(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) -> (memref<?xf32>)
    attributes {labels = ["x"]} {
  %x = host.size x
  %f = host.alloc f[x](%x) : memref<?xf32>
  host.launch @f_kernel(%A, %f)
  host.return %f
}
loop.kernel @f_kernel(
    %A_ptr: memref<?xf32> {host.name = "A", host.axes = ["x"]},
    %f_ptr: memref<?xf32> {host.name = "f", host.axes = ["x"]}
  ) attributes {labels = ["x"], root = "f"} {
  loop.grid () {
    loop.for %x = x step full tile of f attributes {my.mark = 4} {
    // expected-error@above {{the loop over 'x' has one trip and vanishes: its attribute 'my.mark' would be lost}}
    // expected-help@above {{tensorize it in smaller steps, or leave out what marks it}}
      %A = loop.read %A_ptr[%x]
      loop.write %A, %f_ptr[%x]
    }
  }
}
// -----
host.func @f(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) -> (memref<?xf32>)
    attributes {labels = ["x"]} {
  %x = host.size x
  %f = host.alloc f[x](%x) : memref<?xf32>
  host.launch @f_kernel(%A, %f)
  host.return %f
}
loop.kernel @f_kernel(
    %A_ptr: memref<?xf32> {host.name = "A", host.axes = ["x"]},
    %f_ptr: memref<?xf32> {host.name = "f", host.axes = ["x"]}
  ) attributes {labels = ["x"], root = "f"} {
  loop.grid () {
    loop.for %x = x step 8 tile of f {
      %g = loop.local "g"[x] {my.mark = 4} : memref<?xf32>
      // expected-error@above {{'loop.local' becomes no operation: its attribute 'my.mark' would be lost}}
      // expected-help@above {{tensorize it in smaller steps, or leave out what marks it}}
      %A = loop.read %A_ptr[%x]
      loop.write %A, %g[%x]
      %0 = loop.read %g[%x]
      loop.write %0, %f_ptr[%x]
    }
  }
}
