// RUN: dt-opt %s -p apply-schedule | filecheck %s
// CHECK-NOT: sched.
// CHECK-NOT: host.alloc g
// CHECK: host.launch @f_kernel(%A, %f)
// CHECK-NOT: @g_kernel
// CHECK: loop.kernel @f_kernel(
// CHECK-NEXT: %[[A:.*]]: {{.*}}host.name = "A"
// CHECK-NEXT: %[[F:.*]]: {{.*}}host.name = "f"
// CHECK: loop.for %[[X:.*]] = x of f {
// CHECK-NEXT: %[[G:.*]] = loop.local "g"[x] : memref<?xf32>
// CHECK-NEXT: %{{.*}} = loop.read %[[A]][%[[X]]]
// CHECK-NEXT: math.exp
// CHECK-NEXT: loop.write %{{.*}}, %[[G]][%[[X]]]
// CHECK-NEXT: loop.read %[[G]][%[[X]]]
// CHECK-NEXT: arith.negf
// CHECK-NEXT: loop.write %{{.*}}, %[[F]][%[[X]]]
host.func @f(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) -> memref<?xf32> attributes {algorithm = [], schedule = [], compiled = ["f.compile();"], labels = ["x"]} {
  %x = host.size x
  %g = host.alloc g[x](%x) : memref<?xf32>
  %f = host.alloc f[x](%x) : memref<?xf32>
  host.launch @g_kernel(%A, %g)
  host.launch @f_kernel(%g, %f)
  host.return %f
}
loop.kernel @g_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %g: memref<?xf32> {host.name = "g", host.axes = ["x"]}) attributes {labels = ["x"], root = "g"} {
  loop.grid () {
    loop.for %x = x of g {
      %0 = loop.read %A[%x]
      %1 = math.exp %0 : f32
      loop.write %1, %g[%x]
    }
  }
}
loop.kernel @f_kernel(%g: memref<?xf32> {host.name = "g", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      %0 = loop.read %g[%x]
      %1 = arith.negf %0 : f32
      loop.write %1, %f[%x]
    }
  }
}
sched.schedule {
  sched.fuse_at @g(f, x)
}
