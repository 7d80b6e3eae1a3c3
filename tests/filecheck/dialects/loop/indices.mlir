// RUN: ROUNDTRIP
// RUN: dt-run %s x=3 A_0=8 | filecheck %s --check-prefix=CHECKED
// Reads are indexed by quasi-affine expressions of loops' indices and of other values.
// CHECKED: f: 3
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["A_0"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["A_0", "x"], root = "f"} {
  loop.grid () {
    // CHECK: loop.for %[[X:.*]] = x of f {
    loop.for %x = x of f {
      // CHECK-NEXT: loop.read %[[A:.*]][2 * %[[X]] + 1]
      %0 = loop.read %A[2 * %x + 1]
      // CHECK-NEXT: loop.read %[[A]][%[[X]] + len(x) - 1]
      %1 = loop.read %A[%x + len(x) - 1]
      // CHECK-NEXT: loop.read %[[A]][(%[[X]] - 5) floordiv 2] mirror_image
      %2 = loop.read %A[(%x - 5) floordiv 2] mirror_image
      // CHECK-NEXT: loop.read %[[A]][%[[X]] - 1] constant_exterior nan {my.mark = 2 : i64}
      %3 = loop.read %A[%x - 1] constant_exterior nan {my.mark = 2}
      // CHECK: loop.read %[[A]][%{{.*}} + %[[X]]]
      %i = arith.constant 3 : index
      %4 = loop.read %A[%i + %x]
      %5 = arith.addf %0, %4 : f32
      loop.write %5, %f[%x]
    }
  }
}
