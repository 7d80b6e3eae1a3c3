// RUN: dt-opt %s | filecheck %s
// RUN: dt-opt %s | dt-opt | filecheck %s
// RUN: dt-opt %s --print-op-generic | dt-opt | filecheck %s
loop.kernel @f_kernel(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "k"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      // CHECK: %[[TOP:.*]], %[[SUM:.*]], %[[AT:.*]], %[[BEST:.*]] = loop.online %[[K:.*]] = k step 16 tile of f where affine_set<
      // CHECK: (%x) : f32, f32, i64, f32 attributes {my.mark} {
      %top, %sum, %at, %best = loop.online %k = k step 16 tile of f where affine_set<(d0, d1) : ((d1 - d0) >= 0)>(%x) : f32, f32, i64, f32 attributes {my.mark} {
        %a = loop.read %A[%x, %k]
        %i = arith.index_cast %k : index to i64
        // CHECK: %[[T:.*]] = loop.running maximum %a : f32
        %t = loop.running maximum %a : f32
        // CHECK-NEXT: %[[S:.*]] = loop.running dot %a, %a : f32 law scale repair (%[[S0:.*]], %[[T0:.*]] of %[[T]]) {
        %s = loop.running dot %a, %a : f32 law scale repair (%s0, %t0 of %t) {
          // CHECK-NEXT: %[[M:.*]] = arith.mulf %[[S0]], %[[T0]] : f32
          %m = arith.mulf %s0, %t0 : f32
          // CHECK-NEXT: loop.yield %[[M]] : f32
          loop.yield %m : f32
        // CHECK-NEXT: } {my.mark}
        } {my.mark}
        // CHECK-NEXT: %[[W:.*]], %[[B:.*]] = loop.running argmax %a, %i : i64, f32
        %w, %b = loop.running argmax %a, %i : i64, f32
        // CHECK-NEXT: loop.yield %[[T]], %[[S]], %[[W]], %[[B]] : f32, f32, i64, f32
        loop.yield %t, %s, %w, %b : f32, f32, i64, f32
      }
      loop.write %top, %f[%x]
    }
  }
}
