// 'expand-elementwise' changes what is computed: 'f0'[0] is 0, and was -1 before (5 of 5 elements differ), in exact arithmetic, with x = 5, y = 3
// run: dt-opt reproducer.mlir -p expand-elementwise,tile-merge-axes,tile-cse,licm,tile-propagate-transposes,tile-place-masks,tile-elide-masks,tile-fill-padding,tile-hoist-reductions,tile-fuse-maps,tile-cse,tile-place-evictions,verify-tile --verify-semantics --inputs reproducer.npz
builtin.module {
  func.func @f0(%A: memref<*xi32> {host.name = "A", host.axes = []} loc(unknown)) -> memref<?xi32> attributes {host.algorithm = ["Func f0;", "In A : i32;", "RVar x, y;", "f0[x] = len(x) // -2147483648;"], host.schedule = [], host.outputs = ["f0.compile();"], host.labels = ["x"]} {
    %x = host.size x : index loc(unknown)
    %f0 = memref.alloc(%x) {host.name = "f0", host.axes = ["x"]} : memref<?xi32> loc("/tmp/w/n.dt":4:1)
    host.launch @f0_kernel(%f0) : memref<?xi32> loc("/tmp/w/n.dt":4:1)
    func.return %f0 : memref<?xi32> loc(unknown)
  } loc("/tmp/w/n.dt":5:1)
  tile.kernel @f0_kernel(%f0: memref<?xi32> {host.name = "f0", host.axes = ["x"]} loc(unknown)) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f0"} {
    %x_size = tile.size "x" : index loc("/tmp/w/n.dt":4:1)
    %0 = arith.constant 0 : index loc("/tmp/w/n.dt":4:1)
    %1 = arith.constant 1 : index loc("/tmp/w/n.dt":4:1)
    scf.for %x = %0 to %x_size step %1 {
      %2 = arith.index_cast %x_size : index to i32 loc("/tmp/w/n.dt":4:10)
      %3 = arith.constant -2147483648 : i32 loc("/tmp/w/n.dt":4:17)
      %4 = arith.floordivsi %2, %3 : i32 loc("/tmp/w/n.dt":4:17)
      tile.store %4, %f0[%x] : i32, memref<?xi32>[index] loc("/tmp/w/n.dt":4:1)
    } loc("/tmp/w/n.dt":4:1)
  } loc("/tmp/w/n.dt":4:1)
} loc(unknown)
