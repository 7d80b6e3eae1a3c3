// RUN: ROUNDTRIP

host.func @f(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) -> memref<?xf32> attributes {labels = ["x"]} {
  // CHECK: %[[X:.*]] = host.size x
  %x = host.size x
  // CHECK-NEXT: %[[F:.*]] = host.alloc f[x](%[[X]]) : memref<?xf32>
  %f = host.alloc f[x](%x) : memref<?xf32>
  // CHECK-NEXT: host.launch @f_kernel(%{{.*}}, %[[F]])
  host.launch @f_kernel(%A, %f)
  host.return %f
}
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      %a = loop.read %A[%x]
      loop.write %a, %f[%x]
    }
  }
}
