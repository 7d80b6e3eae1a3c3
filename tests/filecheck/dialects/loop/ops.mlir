// RUN: ROUNDTRIP

// CHECK: loop.kernel @f_kernel(
// CHECK-NEXT: %[[A:.*]]: memref<?x?xf16> {host.name = "A", host.axes = ["x", "k"]},
// CHECK: attributes {
// CHECK-NEXT: dynamic,
// CHECK-NEXT: labels = ["x", "k", "j", "m"],
// CHECK-NEXT: num_warps = 4 : i32,
// CHECK-NEXT: precision = "tf32",
// CHECK-NEXT: root = "f"
// CHECK-NEXT: } {
loop.kernel @f_kernel(%A: memref<?x?xf16> {host.name = "A", host.axes = ["x", "k"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {dynamic, labels = ["x", "k", "j", "m"], num_warps = 4 : i32, precision = "tf32", root = "f"} {
  // CHECK-NEXT: loop.grid (%[[X0:.*]] = x size 128) order [x outer 8, x inner 8] mapped {
  loop.grid (%x0 = x size 128) order [x outer 8, x inner 8] mapped {
    // CHECK-NEXT: loop.for %[[X:.*]] = x in %[[X0]] size 128 step 32 tile of f {
    loop.for %x = x in %x0 size 128 step 32 tile of f {
      // CHECK-NEXT: %[[P:.*]] = loop.local "p"[x, k] : memref<?x?xf32>
      %p = loop.local "p"[x, k] : memref<?x?xf32>
      // CHECK-NEXT: loop.for %[[K:.*]] = k of p {
      loop.for %k = k of p {
        // CHECK-NEXT: %{{.*}} = loop.read %[[A]][%[[X]], %[[K]]]
        %a = loop.read %A[%x, %k]
        %b = arith.extf %a : f16 to f32
        // CHECK: loop.write %{{.*}}, %[[P]][%[[X]], %[[K]]]
        loop.write %b, %p[%x, %k]
      }
      // CHECK: %[[S:.*]] = loop.reduce add %[[J:.*]] = k step full tile of f : f32 {
      %s = loop.reduce add %j = k step full tile of f : f32 {
        // CHECK-NEXT: %[[V:.*]] = loop.read %[[P]][%[[X]], 0]
        %v = loop.read %p[%x, 0]
        // CHECK-NEXT: loop.yield %[[V]] : f32
        loop.yield %v : f32
      }
      // CHECK: loop.size k
      %n = loop.size k
      // CHECK-NEXT: loop.reduce add %[[M:.*]] = m of f : f32 {
      %t = loop.reduce add %m = m of f : f32 {
        // CHECK-NEXT: %[[I:.*]], %[[L:.*]] = loop.delinearize %[[M]] by [k, j] {my.mark}
        %i, %l = loop.delinearize %m by [k, j] {my.mark}
        // CHECK-NEXT: loop.read %[[P]][%[[X]], %[[L]]]
        %w = loop.read %p[%x, %l]
        loop.yield %w : f32
      }
      loop.write %s, %f[%x]
    }
  }
}
