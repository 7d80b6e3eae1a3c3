// 'p.rename(p_d:e)' changes what the program takes or gives: other indices are checked
// run: dt-opt reproducer.mlir -p 'schedule-rename{function="p" renamed="p_d:e"},schedule-fuse-at{function="q" consumer="o" label="i"},schedule-block{function="p" sizes="i:4"},schedule-reorder{function="p" order="e","i"},schedule-tensorize{function="o" sizes="i:4","d:0"},apply-schedule,loop-order-reductions,loop-report-costs,loop-split-products,verify-loop,convert-loop-to-tile,tile-unroll-jam,expand-elementwise,tile-use-reciprocals,tile-merge-axes,tile-cse,licm,tile-share-loads,tile-propagate-transposes,tile-order-loads,tile-place-masks,tile-elide-masks,tile-fill-padding,tile-hoist-reductions,tile-move-scales,tile-coalesce-loops,tile-fuse-maps,tile-convert-terms,tile-combine-exponents,tile-hoist-indices,tile-walk-blocks,tile-cse,tile-place-evictions,tile-use-descriptors,tile-report-spills,verify-tile,convert-tile-to-warp,warp-store-in-parts,warp-hoist-reductions,warp-split-producer,warp-overlap-products,warp-pipeline-products,warp-sink-store-waits' --verify-semantics
builtin.module {
  host.func @o(
      %X: memref<?x?xf32> {host.name = "X", host.axes = ["i", "q_d"]} loc(unknown),
      %Y: memref<?x?xf32> {host.name = "Y", host.axes = ["i", "p_d"]} loc(unknown)
    ) -> memref<?x?xf32> attributes {
      algorithm = [
        "Func q, p, o;",
        "In X, Y;",
        "Var i, d, q_d, p_d;",
        "q[i, q_d] = X[i, q_d] * 2;",
        "p[i, p_d] = Y[i, p_d] + 1;",
        "o[i, d] = q[i, d] + q[i, (d + 1) % len(d)] + p[i, len(d) - 1 - d];"
      ],
      compiled = ["o.compile();"],
      labels = ["i", "d", "q_d", "p_d"],
      same = [["d", "q_d"]],
      schedule = ["q.rename(q_d:d);"]
    } {
    host.in_bounds (d + 1) mod len(d) below q_d over [i, d] "reading q[i, (d + 1) % len(d)]" loc("/work/main/tests/filecheck/frontend/renamed_own_labels.dt":24:1)
    host.in_bounds len(d) - 1 - d below p_d over [i, d] "reading p[i, len(d) - 1 - d]" loc("/work/main/tests/filecheck/frontend/renamed_own_labels.dt":24:1)
    %i = host.size i loc("/work/main/tests/filecheck/frontend/renamed_own_labels.dt":17:1)
    %d = host.size d loc("/work/main/tests/filecheck/frontend/renamed_own_labels.dt":17:1)
    %p_d = host.size p_d loc("/work/main/tests/filecheck/frontend/renamed_own_labels.dt":16:1)
    %q = host.alloc q[i, d](%i, %d) : memref<?x?xf32> loc(fused["/work/main/tests/filecheck/frontend/renamed_own_labels.dt":15:1, "/work/main/tests/filecheck/frontend/renamed_own_labels.dt":18:3])
    %p = host.alloc p[i, p_d](%i, %p_d) : memref<?x?xf32> loc("/work/main/tests/filecheck/frontend/renamed_own_labels.dt":16:1)
    %o = host.alloc o[i, d](%i, %d) : memref<?x?xf32> loc("/work/main/tests/filecheck/frontend/renamed_own_labels.dt":17:1)
    host.launch @q_kernel(%X, %q) loc("/work/main/tests/filecheck/frontend/renamed_own_labels.dt":15:1)
    host.launch @p_kernel(%Y, %p) loc("/work/main/tests/filecheck/frontend/renamed_own_labels.dt":16:1)
    host.launch @o_kernel(%q, %p, %o) loc("/work/main/tests/filecheck/frontend/renamed_own_labels.dt":17:1)
    host.return %o loc("/work/main/tests/filecheck/frontend/renamed_own_labels.dt":24:1)
  } loc("/work/main/tests/filecheck/frontend/renamed_own_labels.dt":24:1)
  loop.kernel @q_kernel(
      %X_ptr: memref<?x?xf32> {host.name = "X", host.axes = ["i", "q_d"]} loc(unknown),
      %q_ptr: memref<?x?xf32> {host.name = "q", host.axes = ["i", "d"]} loc(unknown)
    ) attributes {
      labels = ["i", "d", "q_d"],
      root = "q"
    } {
    loop.grid () {
      loop.for %i = i of q {
        loop.for %d = d of q {
          %X = loop.read %X_ptr[%i, %d] loc("/work/main/tests/filecheck/frontend/renamed_own_labels.dt":15:11)
          %0 = arith.constant 2.000000e+00 : f32 loc("/work/main/tests/filecheck/frontend/renamed_own_labels.dt":15:19)
          %1 = arith.mulf %X, %0 : f32 loc("/work/main/tests/filecheck/frontend/renamed_own_labels.dt":15:19)
          loop.write %1, %q_ptr[%i, %d] loc("/work/main/tests/filecheck/frontend/renamed_own_labels.dt":15:1)
        } loc(fused["/work/main/tests/filecheck/frontend/renamed_own_labels.dt":15:1, "/work/main/tests/filecheck/frontend/renamed_own_labels.dt":18:3])
      } loc("/work/main/tests/filecheck/frontend/renamed_own_labels.dt":15:1)
    } loc("/work/main/tests/filecheck/frontend/renamed_own_labels.dt":15:1)
  } loc("/work/main/tests/filecheck/frontend/renamed_own_labels.dt":15:1)
  loop.kernel @p_kernel(
      %Y_ptr: memref<?x?xf32> {host.name = "Y", host.axes = ["i", "p_d"]} loc(unknown),
      %p_ptr: memref<?x?xf32> {host.name = "p", host.axes = ["i", "p_d"]} loc(unknown)
    ) attributes {
      labels = ["i", "p_d"],
      root = "p"
    } {
    loop.grid () {
      loop.for %i = i of p {
        loop.for %p_d = p_d of p {
          %Y = loop.read %Y_ptr[%i, %p_d] loc("/work/main/tests/filecheck/frontend/renamed_own_labels.dt":16:11)
          %0 = arith.constant 1.000000e+00 : f32 loc("/work/main/tests/filecheck/frontend/renamed_own_labels.dt":16:19)
          %1 = arith.addf %Y, %0 : f32 loc("/work/main/tests/filecheck/frontend/renamed_own_labels.dt":16:19)
          loop.write %1, %p_ptr[%i, %p_d] loc("/work/main/tests/filecheck/frontend/renamed_own_labels.dt":16:1)
        } loc("/work/main/tests/filecheck/frontend/renamed_own_labels.dt":16:1)
      } loc("/work/main/tests/filecheck/frontend/renamed_own_labels.dt":16:1)
    } loc("/work/main/tests/filecheck/frontend/renamed_own_labels.dt":16:1)
  } loc("/work/main/tests/filecheck/frontend/renamed_own_labels.dt":16:1)
  loop.kernel @o_kernel(
      %q_ptr: memref<?x?xf32> {host.name = "q", host.axes = ["i", "d"]} loc(unknown),
      %p_ptr: memref<?x?xf32> {host.name = "p", host.axes = ["i", "p_d"]} loc(unknown),
      %o_ptr: memref<?x?xf32> {host.name = "o", host.axes = ["i", "d"]} loc(unknown)
    ) attributes {
      labels = ["i", "d"],
      root = "o"
    } {
    loop.grid () {
      loop.for %i = i of o {
        loop.for %d = d of o {
          %q = loop.read %q_ptr[%i, %d] loc("/work/main/tests/filecheck/frontend/renamed_own_labels.dt":17:11)
          %q_1 = loop.read %q_ptr[%i, (%d + 1) mod len(d)] loc("/work/main/tests/filecheck/frontend/renamed_own_labels.dt":17:21)
          %0 = arith.addf %q, %q_1 : f32 loc("/work/main/tests/filecheck/frontend/renamed_own_labels.dt":17:19)
          %p = loop.read %p_ptr[%i, len(d) - 1 - %d] loc("/work/main/tests/filecheck/frontend/renamed_own_labels.dt":17:46)
          %1 = arith.addf %0, %p : f32 loc("/work/main/tests/filecheck/frontend/renamed_own_labels.dt":17:44)
          loop.write %1, %o_ptr[%i, %d] loc("/work/main/tests/filecheck/frontend/renamed_own_labels.dt":17:1)
        } loc("/work/main/tests/filecheck/frontend/renamed_own_labels.dt":17:1)
      } loc("/work/main/tests/filecheck/frontend/renamed_own_labels.dt":17:1)
    } loc("/work/main/tests/filecheck/frontend/renamed_own_labels.dt":17:1)
  } loc("/work/main/tests/filecheck/frontend/renamed_own_labels.dt":17:1)
} loc(unknown)
