// RUN: dt-opt %s -t triton | filecheck %s
host.func @f(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %B: memref<?xf32> {host.name = "B", host.axes = ["y"]}) -> (memref<?xf32>, memref<?xf32>, memref<?xf32>, memref<?xf32>) attributes {algorithm = [], schedule = [], compiled = ["f.compile();"], labels = ["x", "y"]} {
  %x = host.size x
  %f = host.alloc f[x](%x) : memref<?xf32>
  %g = host.alloc g[x](%x) : memref<?xf32>
  host.launch @f_kernel(%A, %f)
  %h = host.alloc h[x](%x) : memref<?xf32>
  host.launch @g_kernel(%A, %g)
  host.launch @h_kernel(%A, %h)
  %k = host.alloc k[x](%x) : memref<?xf32>
  host.launch @k_kernel(%A, %k)
  host.return %f, %g, %h, %k
}
// A condition on sizes is known when Triton compiles the kernel: it compiles what is chosen alone.
// CHECK-LABEL: def f_kernel
// CHECK: tl.store(f_ptr + x * f_x_stride, a + 1.0 if (x_SIZE <= 100) & (y_SIZE <= 200) else a * 2.0)
tile.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "y"], grid_blocks = [], grid_labels = [], root = "f"} {
  %c0 = arith.constant 0 : index
  %x_size = tile.size x
  %y_size = tile.size y
  %c100 = arith.constant 100 : index
  %c200 = arith.constant 200 : index
  %0 = arith.cmpi sle, %x_size, %c100 : index
  %1 = arith.cmpi sle, %y_size, %c200 : index
  %small = arith.andi %0, %1 : i1
  %x = tile.range x: 16 from %c0
  %a = tile.load %A[%x]
  %b = tile.map (%e = %a, %s = %small) {
    %c1 = arith.constant 1.0 : f32
    %c2 = arith.constant 2.0 : f32
    %2 = arith.addf %e, %c1 : f32
    %3 = arith.mulf %e, %c2 : f32
    %4 = arith.select %s, %2, %3 : f32
    tile.yield %4 : f32
  }
  tile.store %b, %f[%x]
}
// What meets other conditions is a tile of Triton's.
// CHECK-LABEL: def g_kernel
// CHECK: tl.where(x_SIZE <= 100, True, False) & (a > 1.0),
// CHECK: tl.where(tl.where(x_SIZE <= 100, True, False), 1.0, a),
tile.kernel @g_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %g: memref<?xf32> {host.name = "g", host.axes = ["x"]}) attributes {labels = ["x"], grid_blocks = [], grid_labels = [], root = "g"} {
  %c0 = arith.constant 0 : index
  %x_size = tile.size x
  %c100 = arith.constant 100 : index
  %small = arith.cmpi sle, %x_size, %c100 : index
  %x = tile.range x: 16 from %c0
  %a = tile.load %A[%x]
  %b = tile.map (%e = %a, %s = %small) {
    %c1 = arith.constant 1.0 : f32
    %2 = arith.cmpf ogt, %e, %c1 : f32
    %3 = arith.andi %s, %2 : i1
    %4 = arith.select %s, %c1, %e : f32
    %5 = arith.select %3, %e, %4 : f32
    tile.yield %5 : f32
  }
  tile.store %b, %g[%x]
}
// Numbers are none of its tensors.
// CHECK-LABEL: def h_kernel
// CHECK: tl.where(tl.where(x_SIZE <= 100, True, False), 1.0, 2.0)
tile.kernel @h_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %h: memref<?xf32> {host.name = "h", host.axes = ["x"]}) attributes {labels = ["x"], grid_blocks = [], grid_labels = [], root = "h"} {
  %c0 = arith.constant 0 : index
  %x_size = tile.size x
  %c100 = arith.constant 100 : index
  %small = arith.cmpi sle, %x_size, %c100 : index
  %x = tile.range x: 16 from %c0
  %a = tile.load %A[%x]
  %b = tile.map (%e = %a, %s = %small) {
    %c1 = arith.constant 1.0 : f32
    %c2 = arith.constant 2.0 : f32
    %2 = arith.select %s, %c1, %c2 : f32
    %3 = arith.addf %2, %e : f32
    tile.yield %3 : f32
  }
  tile.store %b, %h[%x]
}
// Two numbers compare to a tensor.
// CHECK-LABEL: def k_kernel
// CHECK-NOT: if
// CHECK: tl.store(k_ptr + x * k_x_stride, tl.where({{.*}}, a, a + 1.0))
tile.kernel @k_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %k: memref<?xf32> {host.name = "k", host.axes = ["x"]}) attributes {labels = ["x"], grid_blocks = [], grid_labels = [], root = "k"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %less = arith.cmpi slt, %c0, %c1 : index
  %x = tile.range x: 16 from %c0
  %a = tile.load %A[%x]
  %b = tile.map (%e = %a, %s = %less) {
    %1 = arith.constant 1.0 : f32
    %2 = arith.addf %e, %1 : f32
    %3 = arith.select %s, %e, %2 : f32
    tile.yield %3 : f32
  }
  tile.store %b, %k[%x]
}
