// RUN: ROUNDTRIP

func.func @f(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) -> memref<?xf32> {
  // CHECK: %[[X:.*]] = host.size x : index
  %x = host.size x : index
  // CHECK-NEXT: %[[F:.*]] = memref.alloc(%[[X]])
  %f = memref.alloc(%x) {host.name = "f", host.axes = ["x"]} : memref<?xf32>
  // CHECK-NEXT: host.launch @f_kernel(%{{.*}}, %[[F]]) : memref<?xf32>, memref<?xf32>
  host.launch @f_kernel(%A, %f) : memref<?xf32>, memref<?xf32>
  func.return %f : memref<?xf32>
}
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      %a = loop.read %A[%x] : memref<?xf32> -> f32
      loop.write %a, %f[%x] : f32, memref<?xf32>
    }
  }
}
func.func @g(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) {
  %x = host.size x : index
  // CHECK: %[[END:.*]] = host.round_up %{{.*}} to 64 : index
  %end = host.round_up %x to 64 : index
  // CHECK-NEXT: memref.alloc(%[[END]])
  %f = memref.alloc(%end) {host.name = "f", host.axes = ["x"]} : memref<?xf32>
  func.return
}
