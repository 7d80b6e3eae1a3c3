// RUN: dt-opt %s | filecheck %s
// RUN: dt-opt %s | dt-opt | filecheck %s
// RUN: dt-opt %s --print-op-generic | dt-opt | filecheck %s
loop.kernel @f_kernel(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "k"]}, %f: memref<?x?xf32> {host.name = "f", host.axes = ["p", "x"]}, %g: memref<?xf32> {host.name = "g", host.axes = ["p"]}) attributes {labels = ["x", "k", "p"], root = "f"} {
  loop.grid () {
    loop.for %p = p of f {
      // CHECK: %[[A:.*]], %[[B:.*]] = loop.part %p of k in 8 {my.mark}
      %a, %b = loop.part %p of k in 8 {my.mark}
      // CHECK-NEXT: %[[C:.*]], %[[D:.*]] = loop.part %p of k in 8 step 64
      %c, %d = loop.part %p of k in 8 step 64
      // CHECK-NEXT: loop.part %p of k in 8 whole k_in
      %g0, %g1 = loop.part %p of k in 8 whole k_in
      // CHECK-NEXT: %[[E:.*]], %[[F:.*]] = loop.part %p of k size 4096
      %e, %z = loop.part %p of k size 4096
      // CHECK-NEXT: %[[H:.*]], %[[I:.*]] = loop.part %p of x in 8 step 2 as sums {my.mark}
      %h, %i = loop.part %p of x in 8 step 2 as sums {my.mark}
      // CHECK-NEXT: loop.for %{{.*}} = x in %[[H]] to %[[I]] step 4 tile of f {
      loop.for %x = x in %h to %i step 4 tile of f {
        // CHECK: loop.reduce add %{{.*}} = k in %[[A]] to %[[B]] of f : f32 {
        %s = loop.reduce add %k = k in %a to %b of f : f32 {
          %v = loop.read %A[%x, %k]
          loop.yield %v : f32
        }
        // CHECK: loop.reduce add %{{.*}} = k in %[[C]] to %[[D]] step 64 tile of f where affine_set<
        %t = loop.reduce add %k = k in %c to %d step 64 tile of f where affine_set<(d0, d1) : ((d1 - d0) >= 0)>(%x) : f32 {
          %v = loop.read %A[%x, %k]
          loop.yield %v : f32
        }
        // CHECK: loop.online %{{.*}} = k in %[[E]] to %[[F]] of f : f32 {
        %u = loop.online %k = k in %e to %z of f : f32 {
          %v = loop.read %A[%x, %k]
          %m = loop.running maximum %v : f32
          loop.yield %m : f32
        }
        %st = arith.addf %s, %t : f32
        %r = arith.addf %st, %u : f32
        // CHECK: loop.write %{{.*}}, %f[%p, %x]
        loop.write %r, %f[%p, %x]
        // CHECK-NEXT: loop.write %{{.*}}, %g[%p] first [%x] {my.mark}
        loop.write %r, %g[%p] first [%x] {my.mark}
      }
    }
  }
}
