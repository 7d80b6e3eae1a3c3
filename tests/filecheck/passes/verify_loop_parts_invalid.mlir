// RUN: dt-opt %s -p verify-loop --split-input-file --verify-diagnostics
host.func @f(%A: memref<?xf32> {host.name = "A", host.axes = ["k"]}) -> memref<?xf32> attributes {labels = ["k", "p"]} {
  host.define p size 3
  %p = host.size p
  %f = host.alloc f[p](%p) : memref<?xf32>
  host.launch @f_kernel(%A, %f)
  host.return %f
}
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["k"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["p"]}) attributes {labels = ["k", "p"], root = "f"} {
  loop.grid () {
    loop.for %p = p of f {
      %a, %b = loop.part %p of k in 4
      // expected-error@above {{the label 'p' numbers the parts of 'k', and the host function gives it another size}}
      // expected-help@above {{give it 4 indices}}
      %s = loop.reduce add %k = k in %a to %b of f : f32 {
        %v = loop.read %A[%k]
        loop.yield %v : f32
      }
      loop.write %s, %f[%p]
    }
  }
}
// -----
host.func @f(%A: memref<?xf32> {host.name = "A", host.axes = ["k"]}) -> memref<?xf32> attributes {labels = ["k", "p"]} {
  host.define p size (len(k) + 7) floordiv 8
  %p = host.size p
  %f = host.alloc f[p](%p) : memref<?xf32>
  host.launch @f_kernel(%A, %f)
  host.return %f
}
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["k"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["p"]}) attributes {labels = ["k", "p"], root = "f"} {
  loop.grid (%p0 = p size 1) order [p] {
    loop.for %p = p in %p0 size 1 of f {
      %a, %b = loop.part %p0 of k size 8
      // expected-error@above {{the number of a part is the index of a 'loop.for'}}
      %s = loop.reduce add %k = k in %a to %b of f : f32 {
        %v = loop.read %A[%k]
        loop.yield %v : f32
      }
      loop.write %s, %f[%p]
    }
  }
}
// -----
host.func @f(%A: memref<?xf32> {host.name = "A", host.axes = ["k"]}) -> memref<?xf32> attributes {labels = ["k", "p", "q"]} {
  host.define p size 4
  host.define q size (len(k) + 1) floordiv 2
  %p = host.size p
  %f = host.alloc f[p](%p) : memref<?xf32>
  host.launch @f_kernel(%A, %f)
  host.return %f
}
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["k"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["p"]}) attributes {labels = ["k", "p", "q"], root = "f"} {
  loop.grid () {
    loop.for %p = p of f {
      %a, %b = loop.part %p of k in 4 whole q
      // expected-error@above {{the label 'q' has the size of a part of 'k', and the host function gives it another size}}
      // expected-help@above {{give it one index for each 4 of 'k'}}
      %s = loop.reduce add %k = k in %a to %b step full tile of f : f32 {
        %v = loop.read %A[%k]
        loop.yield %v : f32
      }
      loop.write %s, %f[%p]
    }
  }
}
