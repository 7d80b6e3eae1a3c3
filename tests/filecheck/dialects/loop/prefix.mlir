// RUN: dt-opt %s | filecheck %s
// RUN: dt-opt %s | dt-opt | filecheck %s
// RUN: dt-opt %s --print-op-generic | dt-opt | filecheck %s
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}, %g: memref<?xf32> {host.name = "g", host.axes = ["x"]}) attributes {labels = ["x"], root = "f"} {
  loop.grid () {
    loop.for %x = x step 16 tile of f {
      %a = loop.read %A[%x]
      // CHECK: %[[S:.*]] = loop.prefix add %a along %x {my.mark} : f32
      %s = loop.prefix add %a along %x {my.mark} : f32
      // CHECK: loop.prefix add %[[S]] by %a along %x : f32
      %h = loop.prefix add %s by %a along %x : f32
      loop.write %h, %f[%x]
    }
    loop.for %y = x of f {
      %b = loop.read %A[%y]
      // CHECK: loop.prefix maximum %{{.*}} along %{{.*}} descending : f32
      %t = loop.prefix maximum %b along %y descending : f32
      loop.write %t, %g[%y]
    }
  }
}
// CHECK: loop.kernel @h_kernel
loop.kernel @h_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %h: memref<?xf32> {host.name = "h", host.axes = ["x"]}) attributes {labels = ["x"], root = "h"} {
  loop.grid (%x0 = x size 8) order [x] {
    loop.for %x = x in %x0 size 8 of h {
      %a = loop.read %A[%x]
      // CHECK: loop.prefix add %a along %x descending chunked {my.mark} : f32
      %s = loop.prefix add %a along %x descending chunked {my.mark} : f32
      loop.write %s, %h[%x]
    }
  }
}
