// RUN: dt-opt %s -p convert-loop-to-tile | filecheck %s
// One loop carries all running values, each with the axes that it depends on. A step repairs a value
// before it adds what its tile reduces to; without a step before, nothing is repaired.
// CHECK-LABEL: tile.kernel @parts
loop.kernel @parts(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "k"]}, %B: memref<?x?xf32> {host.name = "B", host.axes = ["k", "y"]}, %f: memref<?x?xf32> {host.name = "f", host.axes = ["x", "y"]}) attributes {labels = ["x", "y", "k"], root = "f"} {
  loop.grid () {
    loop.for %x = x step 16 tile of f {
      loop.for %y = y step 16 tile of f {
        // CHECK: %[[LOW:.*]] = tile.fill %{{.*}} : !tile.of<x: 16, f32>
        // CHECK: %[[ZERO:.*]] = tile.fill %{{.*}} : !tile.of<x: 16, y: 16, f32>
        // CHECK: %t, %s = scf.for %k_start = %{{.*}} iter_args(%[[T0:.*]] = %[[LOW]], %[[S0:.*]] = %[[ZERO]])
        // CHECK: %a = tile.load %A[%x, %k]
        // CHECK: %[[M:.*]] = tile.reduce maximum %a along k
        // CHECK-NEXT: %[[T:.*]] = tile.map arith.maximumf %[[T0]], %[[M]]
        // CHECK-NEXT: %[[P:.*]] = tile.map arith.subf %a, %[[T]]
        // CHECK-NEXT: %[[D:.*]] = tile.map arith.subf %[[T0]], %[[T]]
        // CHECK-NEXT: %[[S:.*]] = tile.map arith.mulf %[[S0]], %[[D]]
        // CHECK: %[[ACC:.*]] = tile.dot %[[P]], %{{.*}} acc %[[S]]
        // CHECK-NEXT: scf.yield %[[T]], %[[ACC]]
        %top, %sum = loop.online %k = k step 16 tile of f : f32, f32 {
          %a = loop.read %A[%x, %k]
          %b = loop.read %B[%k, %y]
          %t = loop.running maximum %a : f32
          %p = arith.subf %a, %t : f32
          %s = loop.running dot %p, %b : f32 law scale repair (%s0, %t0 of %t) {
            %d = arith.subf %t0, %t : f32
            %m = arith.mulf %s0, %d : f32
            loop.yield %m : f32
          }
          loop.yield %t, %s : f32, f32
        }
        %r = arith.addf %top, %sum : f32
        loop.write %r, %f[%x, %y]
      }
    }
  }
}
// CHECK-LABEL: tile.kernel @whole
loop.kernel @whole(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "k"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid () {
    loop.for %x = x step 16 tile of f {
      // CHECK-NOT: scf.for %k
      // CHECK: %t = tile.reduce maximum %a along k
      // CHECK-NOT: arith.mulf
      // CHECK: tile.reduce add %{{.*}} along k
      // CHECK: tile.arg_reduce argmax
      %top, %sum, %at, %best = loop.online %k = k step full tile of f : f32, f32, i64, f32 {
        %a = loop.read %A[%x, %k]
        %i = arith.index_cast %k : index to i64
        %t = loop.running maximum %a : f32
        %p = arith.subf %a, %t : f32
        %s = loop.running add %p : f32 law scale repair (%s0, %t0 of %t) {
          %m = arith.mulf %s0, %t0 : f32
          loop.yield %m : f32
        }
        %w, %b = loop.running argmax %a, %i : i64, f32
        loop.yield %t, %s, %w, %b : f32, f32, i64, f32
      }
      %q = arith.addf %top, %sum : f32
      %r = arith.addf %q, %best : f32
      loop.write %r, %f[%x]
    }
  }
}
// Tiles that are in a domain as a whole have a loop of their own, without conditions.
// CHECK-LABEL: tile.kernel @lower
loop.kernel @lower(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "k"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid () {
    loop.for %x = x step 16 tile of f {
      // CHECK: %[[W:.*]], %[[WI:.*]] = scf.for %k_start = %{{.*}} to %{{.*}} step
      // CHECK-NOT: arith.cmpi sge
      // CHECK: scf.yield
      // CHECK: scf.for %k_start{{.*}} = %k_cut to {{.*}} iter_args(%{{.*}} = %[[W]], %{{.*}} = %[[WI]])
      // CHECK: arith.cmpi sge, %x{{.*}}, %k
      // CHECK: arith.select %{{.*}}, %a{{.*}}, -inf
      // CHECK: tile.reduce or
      %top, %any = loop.online %k = k step 16 tile of f where affine_set<(d0, d1) : ((d1 - d0) >= 0)>(%x) : f32, i1 {
        %a = loop.read %A[%x, %k]
        %t = loop.running maximum %a : f32
        %true = arith.constant true
        %v = loop.running or %true : i1
        loop.yield %t, %v : f32, i1
      }
      %low = arith.constant 0.0 : f32
      %r = arith.select %any, %top, %low : f32
      loop.write %r, %f[%x]
    }
  }
}
