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
// -----
host.func @c(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) -> memref<?xf32> attributes {labels = ["x", "p"]} {
  host.define p size 4
  %x = host.size x
  %c = host.alloc c[x](%x) : memref<?xf32>
  %p = host.size p
  %sums = host.alloc sums[p](%p) : memref<?xf32>
  host.launch @sums_kernel(%A, %sums)
  host.launch @c_kernel(%A, %c, %sums)
  host.return %c
}
loop.kernel @sums_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %sums: memref<?xf32> {host.name = "sums", host.axes = ["p"]}) attributes {labels = ["x", "p"], root = "sums"} {
  loop.grid () {
    loop.for %p = p of sums {
      %a, %b = loop.part %p of x in 4 step 8
      %s = loop.reduce add %x = x in %a to %b step 8 tile of sums : f32 {
        %v = loop.read %A[%x]
        loop.yield %v : f32
      }
      loop.write %s, %sums[%p]
    }
  }
}
loop.kernel @c_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %c: memref<?xf32> {host.name = "c", host.axes = ["x"]}, %sums: memref<?xf32> {host.name = "sums", host.axes = ["p"]}) attributes {labels = ["x", "p"], root = "c"} {
  loop.grid () {
    loop.for %p = p of c {
      %a, %b = loop.part %p of x in 4 step 16 as sums
      // expected-error@above {{these are not the parts of 'x' that 'sums' reduces}}
      // expected-help@above {{give both the same number and step}}
      %s = loop.reduce add %q = p of c where affine_set<(d0, d1) : ((d1 - d0) >= 1)>(%p) : f32 {
        %v = loop.read %sums[%q]
        loop.yield %v : f32
      }
      loop.for %x = x in %a to %b step 8 tile of c {
        %v = loop.read %A[%x]
        %t = loop.prefix add %v along %x chunked : f32
        %r = arith.addf %s, %t : f32
        loop.write %r, %c[%x]
      }
    }
  }
}
// -----
host.func @c(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) -> memref<?xf32> attributes {labels = ["x", "p"]} {
  host.define p size 4
  %x = host.size x
  %c = host.alloc c[x](%x) : memref<?xf32>
  %p = host.size p
  %sums = host.alloc sums[p](%p) : memref<?xf32>
  host.launch @sums_kernel(%A, %sums)
  host.launch @c_kernel(%A, %c, %sums)
  host.return %c
}
loop.kernel @sums_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %sums: memref<?xf32> {host.name = "sums", host.axes = ["p"]}) attributes {labels = ["x", "p"], root = "sums"} {
  loop.grid () {
    loop.for %p = p of sums {
      %a, %b = loop.part %p of x in 4 step 8
      %s = loop.reduce add %x = x in %a to %b step 8 tile of sums : f32 {
        %v = loop.read %A[%x]
        loop.yield %v : f32
      }
      loop.write %s, %sums[%p]
    }
  }
}
loop.kernel @c_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %c: memref<?xf32> {host.name = "c", host.axes = ["x"]}, %sums: memref<?xf32> {host.name = "sums", host.axes = ["p"]}) attributes {labels = ["x", "p"], root = "c"} {
  loop.grid () {
    loop.for %p = p of c {
      %a, %b = loop.part %p of x in 4 step 16 as sum
      // expected-error@above {{no kernel of the module reduces the parts of 'x' for 'sum'}}
      %s = loop.reduce add %q = p of c where affine_set<(d0, d1) : ((d1 - d0) >= 1)>(%p) : f32 {
        %v = loop.read %sums[%q]
        loop.yield %v : f32
      }
      loop.for %x = x in %a to %b step 8 tile of c {
        %v = loop.read %A[%x]
        %t = loop.prefix add %v along %x chunked : f32
        %r = arith.addf %s, %t : f32
        loop.write %r, %c[%x]
      }
    }
  }
}
