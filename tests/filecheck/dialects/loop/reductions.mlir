// RUN: ROUNDTRIP
// RUN: dt-run %s x=5 k=4 | filecheck %s --check-prefix=CHECKED
// RUN: dt-opt %s -p 'schedule-tensorize{function=f sizes="k:2"},schedule-block{function=f sizes="x:2"}' | dt-run - x=5 k=4 | filecheck %s --check-prefix=CHECKED
// A reduction has a domain, and carries a state of several values that a region combines.
// CHECKED: 1. 2. 3. 4. 4.
host.func @f(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "k"]}) -> memref<?xf32> attributes {algorithm = [], schedule = [], compiled = ["f.compile();"], labels = ["x", "k"]} {
  %x = host.size x
  %f = host.alloc f[x](%x) : memref<?xf32>
  host.launch @f_kernel(%A, %f)
  host.return %f
}
loop.kernel @f_kernel(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "k"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      // CHECK: %[[TOP:.*]], %[[COUNT:.*]] = loop.reduce %{{.*}} = k of f where affine_set<(d0,
      // CHECK-NEXT: d1) : ((d1 + (d0 * -1)) >= 0)>(%{{.*}}) : f32, f32 init (-inf, 0.0) {
      // CHECK: } combine (%[[A0:.*]], %[[N0:.*]], %[[A1:.*]], %[[N1:.*]]) {
      // CHECK-NEXT: arith.maximumf %[[A0]], %[[A1]] : f32
      %top, %count = loop.reduce %k = k of f where affine_set<(d0, d1) : (d1 - d0 >= 0)>(%x) : f32, f32 init (-inf, 0.0) {
        %0 = loop.read %A[%x, %k]
        %one = arith.constant 1.0 : f32
        loop.yield %0, %one : f32, f32
      } combine (%a0, %n0, %a1, %n1) {
        %a = arith.maximumf %a0, %a1 : f32
        %n = arith.addf %n0, %n1 : f32
        loop.yield %a, %n : f32, f32
      }
      %sum = loop.reduce add %k = k of f where affine_set<(d0, d1) : (d1 - d0 >= 0)>(%x) : f32 {
        %0 = loop.read %A[%x, %k]
        loop.yield %0 : f32
      }
      %2 = arith.addf %top, %count : f32
      %3 = arith.mulf %2, %sum : f32
      loop.write %count, %f[%x]
    }
  }
}
