// RUN: dt-opt %s -p tile-place-evictions | filecheck %s
!t = !tile.of<k: 8, f32>
// A row that is read three times; what all instances read, and what is read once, is left alone.
// CHECK-LABEL: tile.kernel @rows
tile.kernel @rows(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "k"]}, %g: memref<?xf32> {host.name = "g", host.axes = ["k"]}, %B: memref<?x?xf32> {host.name = "B", host.axes = ["x", "k"]}, %f: memref<?x?xf32> {host.name = "f", host.axes = ["x", "k"]}) attributes {grid_blocks = [1], grid_labels = ["x"], labels = ["x", "k"], root = "f"} {
  %pid = tile.program_id
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %s = scf.for %k0 = %c0 to %c64 step %c8 iter_args(%acc = %zero) -> (f32) {
    %k = tile.range k: 8 from %k0
    // CHECK: tile.load %A[%{{.*}}, %{{.*}}] eviction_policy "evict_last"
    %a = tile.load %A[%pid, %k]
    // CHECK: tile.load %g[%{{.*}}]{{$}}
    %b = tile.load %g[%k]
    %1 = tile.map (%u = %a, %v = %b) -> !t {
      %2 = arith.mulf %u, %v : f32
      tile.yield %2 : f32
    }
    %3 = tile.reduce add %1 along k
    %4 = arith.addf %acc, %3 : f32
    scf.yield %4 : f32
  }
  %m = scf.for %k1 = %c0 to %c64 step %c8 iter_args(%acc = %s) -> (f32) {
    %k = tile.range k: 8 from %k1
    // CHECK: tile.load %A[%{{.*}}, %{{.*}}] eviction_policy "evict_last"
    %a = tile.load %A[%pid, %k]
    %3 = tile.reduce add %a along k
    %4 = arith.addf %acc, %3 : f32
    scf.yield %4 : f32
  }
  scf.for %k2 = %c0 to %c64 step %c8 {
    %k = tile.range k: 8 from %k2
    // CHECK: tile.load %A[%{{.*}}, %{{.*}}] eviction_policy "evict_first"
    %a = tile.load %A[%pid, %k]
    // CHECK: tile.load %g[%{{.*}}]{{$}}
    %b = tile.load %g[%k]
    // CHECK: tile.load %B[%{{.*}}, %{{.*}}]{{$}}
    %c = tile.load %B[%pid, %k]
    %1 = tile.map (%u = %a, %v = %b, %w = %c, %n = %m) -> !t {
      %2 = arith.mulf %u, %v : f32
      %3 = arith.addf %2, %n : f32
      %4 = arith.addf %3, %w : f32
      tile.yield %4 : f32
    }
    // CHECK: tile.store %{{.*}}, %f[%{{.*}}, %{{.*}}] eviction_policy "evict_first"
    tile.store %1, %f[%pid, %k]
  }
}
// Other elements (an offset, another range), and loops in which elements come again and again.
// CHECK-LABEL: tile.kernel @others
// CHECK-NOT: eviction_policy
tile.kernel @others(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "k"]}, %B: memref<?x?xf32> {host.name = "B", host.axes = ["x", "k"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {grid_blocks = [1], grid_labels = ["x"], labels = ["x", "k"], root = "f"} {
  %pid = tile.program_id
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %s = scf.for %k0 = %c0 to %c64 step %c8 iter_args(%acc = %zero) -> (f32) {
    %k = tile.range k: 8 from %k0
    %a = tile.load %A[%pid, %k]
    %3 = tile.reduce add %a along k
    %4 = arith.addf %acc, %3 : f32
    scf.yield %4 : f32
  }
  %m = scf.for %k1 = %c8 to %c64 step %c8 iter_args(%acc = %s) -> (f32) {
    %k = tile.range k: 8 from %k1
    %a = tile.load %A[%pid, %k]
    %3 = tile.reduce add %a along k
    %4 = arith.addf %acc, %3 : f32
    scf.yield %4 : f32
  }
  %n = scf.for %k1 = %c0 to %c64 step %c8 iter_args(%acc = %m) -> (f32) {
    %o = arith.addi %k1, %c1 : index
    %k = tile.range k: 8 from %o
    %a = tile.load %A[%pid, %k]
    %3 = tile.reduce add %a along k
    %4 = arith.addf %acc, %3 : f32
    scf.yield %4 : f32
  }
  %r = scf.for %y = %c0 to %c8 step %c1 iter_args(%acc = %n) -> (f32) {
    %5 = scf.for %k1 = %c0 to %c64 step %c8 iter_args(%acc_1 = %acc) -> (f32) {
      %k = tile.range k: 8 from %k1
      %a = tile.load %B[%pid, %k]
      %3 = tile.reduce add %a along k
      %4 = arith.addf %acc_1, %3 : f32
      scf.yield %4 : f32
    }
    %6 = scf.for %k1 = %c0 to %c64 step %c8 iter_args(%acc_1 = %5) -> (f32) {
      %k = tile.range k: 8 from %k1
      %a = tile.load %B[%pid, %k]
      %3 = tile.reduce add %a along k
      %4 = arith.addf %acc_1, %3 : f32
      scf.yield %4 : f32
    }
    scf.yield %6 : f32
  }
  tile.store %r, %f[%pid]
}
