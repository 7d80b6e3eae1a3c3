// 'schedule-forget' changes what is computed: 'f'[0] is 1237677563, and was 1489012901 before (11 of 11 elements differ), in exact arithmetic, with x = 11, k = 5
// run: dt-opt reproducer.mlir --load /work/main/tests/filecheck/tools/../inputs/forget.py -p 'schedule-forget{function="f" label="k"}' --verify-semantics --inputs reproducer.npz
builtin.module {
  func.func @f(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "k"]} loc(unknown)) -> memref<?xf32> attributes {host.algorithm = ["Func f;", "In A;", "Var x;", "RVar k;", "f[x] = rsum(A[x, k] * A[x, k], k);"], host.schedule = ["f.block(x:8);"], host.outputs = ["f.compile();"], host.labels = ["x", "k"]} {
    %x = host.size x : index loc("/work/main/tests/filecheck/tools/Output/verify_directives.dt.tmp.mlir":5:5)
    %f = memref.alloc(%x) {host.name = "f", host.axes = ["x"]} : memref<?xf32> loc("/work/main/tests/filecheck/tools/Output/verify_directives.dt.tmp.dt":7:1)
    host.launch @f_kernel(%A, %f) : memref<?x?xf32>, memref<?xf32> loc("/work/main/tests/filecheck/tools/Output/verify_directives.dt.tmp.dt":7:1)
    func.return %f : memref<?xf32> loc("/work/main/tests/filecheck/tools/Output/verify_directives.dt.tmp.mlir":8:5)
  } loc("/work/main/tests/filecheck/tools/Output/verify_directives.dt.tmp.dt":10:1)
  loop.kernel @f_kernel(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "k"]} loc(unknown), %f: memref<?xf32> {host.name = "f", host.axes = ["x"]} loc(unknown)) attributes {labels = ["x", "k"], root = "f"} {
    loop.grid (%x_block = x by 8) order [x] {
      loop.for %x = x in %x_block by 8 of f {
        %0 = loop.reduce add %k = k of f : f32 {
          %A_1 = loop.read %A[%x, %k] : memref<?x?xf32> -> f32 loc("/work/main/tests/filecheck/tools/Output/verify_directives.dt.tmp.dt":7:13)
          %A_2 = loop.read %A[%x, %k] : memref<?x?xf32> -> f32 loc("/work/main/tests/filecheck/tools/Output/verify_directives.dt.tmp.dt":7:23)
          %1 = arith.mulf %A_1, %A_2 : f32 loc("/work/main/tests/filecheck/tools/Output/verify_directives.dt.tmp.dt":7:21)
          loop.yield %1 : f32 loc("/work/main/tests/filecheck/tools/Output/verify_directives.dt.tmp.mlir":17:11)
        } loc("/work/main/tests/filecheck/tools/Output/verify_directives.dt.tmp.dt":7:8)
        loop.write %0, %f[%x] : f32, memref<?xf32> loc("/work/main/tests/filecheck/tools/Output/verify_directives.dt.tmp.dt":7:1)
      } loc("/work/main/tests/filecheck/tools/Output/verify_directives.dt.tmp.dt":7:1)
    } loc("/work/main/tests/filecheck/tools/Output/verify_directives.dt.tmp.mlir":11:5)
  } loc("/work/main/tests/filecheck/tools/Output/verify_directives.dt.tmp.dt":7:1)
} loc("/work/main/tests/filecheck/tools/Output/verify_directives.dt.tmp.mlir":3:1)
