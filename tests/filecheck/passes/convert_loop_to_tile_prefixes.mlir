// RUN: dt-opt %s -p convert-loop-to-tile | filecheck %s
// A tile is scanned, and the combination of the tiles before is carried to it. That of all stands at
// the tile's last element; of a tile of one axis it is reduced by itself.
// CHECK-LABEL: tile.kernel @up
loop.kernel @up(%A: memref<?x?xf32> {host.name = "A", host.axes = ["i", "x"]}, %f: memref<?x?xf32> {host.name = "f", host.axes = ["i", "x"]}) attributes {labels = ["i", "x"], root = "f"} {
  loop.grid () {
    loop.for %i = i step 4 tile of f {
      // CHECK: %[[ZERO:.*]] = tile.fill %{{.*}} : !tile.of<i: 4, f32>
      // CHECK: scf.for %[[START:.*]] = %{{.*}} iter_args(%[[BEFORE:.*]] = %[[ZERO]])
      // CHECK-NEXT: %x = tile.range x: 16 from %[[START]]
      loop.for %x = x step 16 tile of f {
        // CHECK-NEXT: %a = tile.load %A[%i, %x]
        %a = loop.read %A[%i, %x]
        // CHECK-NEXT: %[[SCAN:.*]] = tile.scan add %a along x
        // CHECK-NEXT: %[[S:.*]] = tile.map arith.addf %[[BEFORE]], %[[SCAN]]
        // CHECK: %[[END:.*]] = arith.addi %[[START]], %{{.*}} : index
        // CHECK: arith.cmpi eq
        // CHECK: %[[AFTER:.*]] = tile.reduce add %{{.*}} along x
        // CHECK-NEXT: tile.store %[[S]], %f[%i, %x]
        // CHECK-NEXT: scf.yield %[[AFTER]]
        %s = loop.prefix add %a along %x : f32
        loop.write %s, %f[%i, %x]
      }
    }
  }
}
// A loop that descends begins with the last tile.
// CHECK-LABEL: tile.kernel @down
loop.kernel @down(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x"], root = "f"} {
  loop.grid () {
    // CHECK: %[[COUNT:.*]] = arith.ceildivsi
    // CHECK: scf.for %[[TRIP:.*]] = %{{.*}} to %[[COUNT]] step %{{.*}} iter_args(%[[BEFORE:.*]] =
    // CHECK: %[[LEFT:.*]] = arith.subi %{{.*}}, %[[TRIP]] : index
    // CHECK: %[[START:.*]] = arith.muli %[[LEFT]], %{{.*}} : index
    // CHECK-NEXT: %x = tile.range x: 16 from %[[START]]
    loop.for %x = x step 16 tile of f {
      %a = loop.read %A[%x]
      // CHECK: %[[SCAN:.*]] = tile.scan maximum %a along x reverse
      // CHECK: tile.map arith.maximumf %[[BEFORE]], %[[SCAN]]
      // CHECK-NEXT: %[[TOTAL:.*]] = tile.reduce maximum %a along x
      // CHECK-NEXT: arith.maximumf %[[BEFORE]], %[[TOTAL]] : f32
      %s = loop.prefix maximum %a along %x descending : f32
      loop.write %s, %f[%x]
    }
  }
}
// Without tiles each trip adds its element to what is carried; one tile needs no loop.
// CHECK-LABEL: tile.kernel @plain
loop.kernel @plain(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}, %g: memref<?xf32> {host.name = "g", host.axes = ["x"]}) attributes {labels = ["x"], root = "f"} {
  loop.grid () {
    // CHECK: scf.for %{{.*}} iter_args(%[[B:.*]] =
    loop.for %x = x of f {
      // CHECK: %[[A:.*]] = tile.load %A
      %a = loop.read %A[%x]
      // CHECK: %[[S:.*]] = arith.addf %[[B]], %[[A]] : f32
      // CHECK: tile.store %[[S]]
      // CHECK-NEXT: scf.yield %[[S]]
      %s = loop.prefix add %a along %x : f32
      loop.write %s, %f[%x]
    }
    // CHECK-NOT: scf.for
    // CHECK: tile.scan add %{{.*}} along x
    loop.for %y = x step full tile of f {
      %b = loop.read %A[%y]
      %t = loop.prefix add %b along %y : f32
      loop.write %t, %g[%y]
    }
  }
}
// The sum of the tiles before is multiplied by the products of a tile's factors, but for the first.
// CHECK-LABEL: tile.kernel @by
loop.kernel @by(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x"], root = "f"} {
  loop.grid () {
    // CHECK: scf.for %[[START:.*]] = %[[FIRST:.*]] to %{{.*}} iter_args(%[[BEFORE:.*]] = %{{.*}}) -> (f32) {
    // CHECK-NEXT: %[[IS:.*]] = arith.cmpi eq, %[[START]], %[[FIRST]] : index
    loop.for %x = x step 16 tile of f {
      %a = loop.read %A[%x]
      %b = arith.addf %a, %a : f32
      // CHECK: %[[H:.*]], %[[P:.*]] = tile.scan add %b by %a along x
      // CHECK: %[[C:.*]] = tile.map (%{{.*}} = %[[IS]], %{{.*}} = %[[BEFORE]], %{{.*}} = %[[P]]) {
      // CHECK: arith.mulf
      // CHECK: arith.select
      // CHECK: %[[S:.*]] = tile.map arith.addf %[[C]], %[[H]]
      // CHECK: %[[LAST:.*]] = tile.reduce add %{{.*}} along x
      // CHECK-NEXT: tile.store %[[S]], %f[%x]
      // CHECK-NEXT: scf.yield %[[LAST]]
      %s = loop.prefix add %b by %a along %x : f32
      loop.write %s, %f[%x]
    }
  }
}
