// RUN: dt-opt %s -p verify-loop --split-input-file --verify-diagnostics
// RUN: dt-opt %s -p loop-split-products,verify-loop --split-input-file --verify-diagnostics
// RUN: dt-opt %s -p convert-loop-to-tile --split-input-file --verify-diagnostics
host.func @f(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "k"]}) -> memref<?xf32> attributes {algorithm = [], schedule = [], compiled = ["f.compile();"], labels = ["x", "k"]} {
  %x = host.size x
  %f = host.alloc f[x](%x) : memref<?xf32>
  host.launch @f_kernel(%A, %f)
  host.return %f
}
loop.kernel @f_kernel(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "k"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      %r = loop.reduce %k = k of f : f32 init (0.0) {
      // expected-error@above {{a reduction with a region that combines is not lowered to tiles}}
      // expected-help@above {{reduce each value by itself, by a named combination}}
        %0 = loop.read %A[%x, %k]
        loop.yield %0 : f32
      } combine (%a, %b) {
        %s = arith.addf %a, %b : f32
        loop.yield %s : f32
      }
      loop.write %r, %f[%x]
    }
  }
}
// -----
host.func @f(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "k"]}) -> memref<?xi64> attributes {algorithm = [], schedule = [], compiled = ["f.compile();"], labels = ["x", "k"]} {
  %x = host.size x
  %f = host.alloc f[x](%x) : memref<?xi64>
  host.launch @f_kernel(%A, %f)
  host.return %f
}
loop.kernel @f_kernel(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "k"]}, %f: memref<?xi64> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      %r = loop.reduce argmax %k = k of f where affine_set<(d0, d1) : (d1 - d0 >= 0)>(%x) : i64 {
      // expected-error@above {{'argmax' with a domain is not lowered to tiles}}
      // expected-help@above {{yield an element that is never the extreme one where the constraints do not hold}}
        %0 = loop.read %A[%x, %k]
        loop.yield %0 : f32
      }
      loop.write %r, %f[%x]
    }
  }
}
// -----
host.func @f(%A: memref<?xf32> {host.name = "A", host.axes = ["k"]}) -> memref<?xi64> attributes {labels = ["x", "k"]} {
  %x = host.size x
  %f = host.alloc f[x](%x) : memref<?xi64>
  host.launch @f_kernel(%A, %f)
  host.return %f
}
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["k"]}, %f: memref<?xi64> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      %at, %best = loop.online %k = k of f where affine_set<(d0, d1) : ((d1 - d0) >= 0)>(%x) : i64, f32 {
        %a = loop.read %A[%k]
        %i = arith.index_cast %k : index to i64
        %w, %b = loop.running argmax %a, %i : i64, f32
        // expected-error@above {{a running 'argmax' with a domain is not lowered to tiles}}
        // expected-help@above {{reduce it in a loop without a domain}}
        loop.yield %w, %b : i64, f32
      }
      loop.write %at, %f[%x]
    }
  }
}
