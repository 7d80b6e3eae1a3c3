// RUN: dt-opt %s -p convert-loop-to-tile | filecheck %s
// A part starts at a multiple of its step, so that only the label's end can cut a tile short.
// CHECK-LABEL: tile.kernel @counted
loop.kernel @counted(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "k"]}, %f: memref<?x?xf32> {host.name = "f", host.axes = ["p", "x"]}) attributes {labels = ["x", "k", "p"], root = "f"} {
  // CHECK: %k_size = tile.size k
  // CHECK: tile.program_id
  loop.grid (%p0 = p size 1) order [p] {
    loop.for %p = p in %p0 size 1 of f {
      // CHECK: %[[STEPS:.*]] = arith.ceildivsi %k_size, %{{.*}} : index
      // CHECK: %[[SHARE:.*]] = arith.ceildivsi %[[STEPS]], %{{.*}} : index
      // CHECK: %[[SIZE:.*]] = arith.muli %[[SHARE]], %{{.*}} : index
      // CHECK-NEXT: %[[FIRST:.*]] = arith.muli %{{.*}}, %[[SIZE]] : index
      // CHECK-NEXT: %[[BEHIND:.*]] = arith.addi %[[FIRST]], %[[SIZE]] : index
      // CHECK-NEXT: %[[END:.*]] = arith.minsi %[[BEHIND]], %k_size : index
      %first, %end = loop.part %p of k in 8 step 32
      loop.for %x = x of f {
        // CHECK: scf.for %[[START:.*]] = %[[FIRST]] to %[[END]] step
        // CHECK-NEXT: %k = tile.range k: 32 from %[[START]] to %k_size
        %s = loop.reduce add %k = k in %first to %end step 32 tile of f : f32 {
          %v = loop.read %A[%x, %k]
          loop.yield %v : f32
        }
        loop.write %s, %f[%p, %x]
      }
    }
  }
}
// What a loop does not concern is stored by a loop that makes a trip in its first one alone.
// CHECK-LABEL: tile.kernel @narrow
loop.kernel @narrow(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "y"]}, %f: memref<?x?xf32> {host.name = "f", host.axes = ["x", "y"]}, %g: memref<?xf32> {host.name = "g", host.axes = ["x"]}, %h: memref<?xf32> {host.name = "h", host.axes = ["y"]}) attributes {labels = ["x", "y"], root = "f"} {
  loop.grid (%x0 = x size 16, %y0 = y size 16) order [y, x] {
    // CHECK: %x_origin = arith.muli
    // CHECK: %y_origin = arith.muli
    loop.for %x = x in %x0 size 16 step 16 tile of f {
      loop.for %y = y in %y0 size 16 step 16 tile of f {
        %v = loop.read %A[%x, %y]
        loop.write %v, %f[%x, %y]
        %a = loop.read %A[%x, 0]
        // CHECK: scf.for %{{.*}} = %y_origin to %{{.*}} step
        // CHECK-NEXT: tile.store %{{.*}}, %g[%x]
        loop.write %a, %g[%x] first [%y]
        %b = loop.read %A[0, %y]
        // CHECK: scf.for %{{.*}} = %x_origin to %{{.*}} step
        // CHECK-NEXT: tile.store %{{.*}}, %h[%y]
        loop.write %b, %h[%y] first [%x]
      }
    }
  }
}
// A tile of a whole label has its first index in it.
// CHECK-LABEL: tile.kernel @whole
loop.kernel @whole(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "y"]}, %f: memref<?x?xf32> {host.name = "f", host.axes = ["x", "y"]}, %g: memref<?xf32> {host.name = "g", host.axes = ["x"]}) attributes {labels = ["x", "y"], root = "f"} {
  loop.grid () {
    loop.for %x = x step 16 tile of f {
      loop.for %y = y step full tile of f {
        %v = loop.read %A[%x, %y]
        loop.write %v, %f[%x, %y]
        %a = loop.read %A[%x, 0]
        // CHECK: tile.store %{{.*}}, %f[%x, %y]
        // CHECK-NOT: scf.for
        // CHECK: tile.store %{{.*}}, %g[%x]
        loop.write %a, %g[%x] first [%y]
      }
    }
  }
}
