// RUN: ROUNDTRIP
// RUN: dt-run %s A_0=9 | filecheck %s --check-prefix=CHECKED
// Sizes follow from others, and indices are checked against them.
// CHECKED: f: 4
// CHECK: host.func @f
host.func @f(%A: memref<?xf32> {host.name = "A", host.axes = ["A_0"]}) -> memref<?xf32> attributes {algorithm = [], compiled = ["f.compile();"], labels = ["A_0", "x", "k"]} {
  // CHECK: host.define k size 2
  host.define k size 2
  // CHECK-NEXT: host.define x inferred min((len(A_0) - len(k)) floordiv 2 + 1, len(A_0)) {my.mark = 1 : i64}
  host.define x inferred min((len(A_0) - len(k)) floordiv 2 + 1, len(A_0)) {my.mark = 1}
  // CHECK-NEXT: host.in_bounds 2 * x + k below A_0 over [x, k] "reading A[2 * x + k]"
  host.in_bounds 2 * x + k below A_0 over [x, k] "reading A[2 * x + k]"
  // CHECK-NEXT: host.in_bounds x - k below A_0 over [x, k] where [x - k >= 0] "reading A[x - k]"
  host.in_bounds x - k below A_0 over [x, k] where [x - k >= 0] "reading A[x - k]"
  %x = host.size x
  %f = host.alloc f[x](%x) : memref<?xf32>
  host.launch @f_kernel(%A, %f)
  host.return %f
}
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["A_0"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      %0 = loop.reduce add %k = k of f : f32 {
        %1 = loop.read %A[2 * %x + %k]
        loop.yield %1 : f32
      }
      loop.write %0, %f[%x]
    }
  }
}
