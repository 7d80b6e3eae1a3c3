// RUN: ROUNDTRIP
// The attributes, in the order of their names.
// CHECK: host.func @g(
// CHECK-NEXT: %A: memref<?x?xf32> {host.name = "A", host.axes = ["x", ""], host.minimums = [0 : i64,
// CHECK-NEXT: 3 : i64]}
// CHECK-NEXT: ) -> memref<?xf32> attributes {
// CHECK-NEXT: algorithm = ["Func g;", "In A;", "Var x;", "g[x] = A[x, 2];"],
// CHECK-NEXT: compiled = ["g.compile_to_kernel();"],
// CHECK-NEXT: kernel_only,
// CHECK-NEXT: labels = ["x", "y"],
// CHECK-NEXT: nonempty = [#host.at_least<x, 1, "maximum in 'g'">],
// CHECK-NEXT: same = {{\[\[}}"x", "y"]],
// CHECK-NEXT: schedule = ["g.block(x:4);"],
// CHECK-NEXT: sizes = {x = 12 : i64}
// CHECK-NEXT: } {
host.func @g(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", ""], host.minimums = [0, 3]}) -> memref<?xf32> attributes {
  labels = ["x", "y"], algorithm = ["Func g;", "In A;", "Var x;", "g[x] = A[x, 2];"], schedule = ["g.block(x:4);"],
  compiled = ["g.compile_to_kernel();"], same = [["x", "y"]], nonempty = [#host.at_least<x, 1, "maximum in 'g'">],
  sizes = {x = 12}, kernel_only
} {
  %x = host.size x
  // CHECK: %[[END:.*]] = host.round_up %{{.*}} to 64
  %end = host.round_up %x to 64
  // CHECK-NEXT: host.alloc t[x](%[[END]]) : memref<?xf32>
  %t = host.alloc t[x](%end) : memref<?xf32>
  // CHECK: host.alloc u[x, y](%{{.*}}, %{{.*}}) order [y, x] {my.mark} : memref<?x?xf32>
  %y = host.size y
  %u = host.alloc u[x, y](%x, %y) order [y, x] {my.mark} : memref<?x?xf32>
  %f = host.alloc f[x](%x) : memref<?xf32>
  // CHECK: host.return %f
  host.return %f
}
