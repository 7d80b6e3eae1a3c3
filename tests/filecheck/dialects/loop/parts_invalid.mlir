// RUN: dt-opt %s --split-input-file --verify-diagnostics
loop.kernel @f_kernel(%f: memref<?xf32> {host.name = "f", host.axes = ["p"]}) attributes {labels = ["k", "p"], root = "f"} {
  loop.grid () {
    loop.for %p = p of f {
      %a, %b = loop.part %p of k in 0
      // expected-error@above {{'loop.part' is malformed: the numbers of a part must be positive}}
    }
  }
}
// -----
loop.kernel @f_kernel(%f: memref<?xf32> {host.name = "f", host.axes = ["p"]}) attributes {labels = ["k", "p"], root = "f"} {
  loop.grid () {
    loop.for %p = p of f {
      %a, %b = loop.part %p of k size 0
      // expected-error@above {{'loop.part' is malformed: the numbers of a part must be positive}}
    }
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["k"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["p"]}) attributes {labels = ["k", "p"], root = "f"} {
  loop.grid () {
    loop.for %p = p of f {
      %a, %b = loop.part %p of k in 4
      %s = loop.reduce add %k = k in %b to %a of f : f32 {
      // expected-error@above {{'loop.reduce' is malformed: a loop that ends at a value walks a part of its label, as 'loop.part' gives it}}
        %v = loop.read %A[%k]
        loop.yield %v : f32
      }
      loop.write %s, %f[%p]
    }
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["k"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["p"]}) attributes {labels = ["k", "j", "p"], root = "f"} {
  loop.grid () {
    loop.for %p = p of f {
      %a, %b = loop.part %p of j in 4
      %s = loop.reduce add %k = k in %a to %b of f : f32 {
      // expected-error@above {{'loop.reduce' is malformed: a loop that ends at a value walks a part of its label, as 'loop.part' gives it}}
        %v = loop.read %A[%k]
        loop.yield %v : f32
      }
      loop.write %s, %f[%p]
    }
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["k"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["p"]}) attributes {labels = ["k", "p"], root = "f"} {
  loop.grid () {
    loop.for %p = p of f {
      %a, %b = loop.part %p of k in 4
      %s = loop.reduce add %k = k in %a to %b step full tile of f : f32 {
      // expected-error@above {{'loop.reduce' is malformed: a loop that walks a part of its label has a step of its own}}
        %v = loop.read %A[%k]
        loop.yield %v : f32
      }
      loop.write %s, %f[%p]
    }
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["k"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["p"]}) attributes {labels = ["k", "p"], root = "f"} {
  loop.grid () {
    loop.for %p = p of f {
      %a, %b = loop.part %p of k in 4
      %s = loop.reduce add %k = k in %a to %b step 4 of f : f32 {
      // expected-error@above {{'loop.reduce' is malformed: a loop over a part has no extent, and no pieces}}
        %v = loop.read %A[%k]
        loop.yield %v : f32
      }
      loop.write %s, %f[%p]
    }
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      %v = loop.read %A[%x]
      loop.write %v, %f[%x] first [%x]
      // expected-error@above {{'loop.write' is malformed: an element is written in the first trip of loops that do not index it}}
    }
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["k"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["p"]}) attributes {labels = ["k", "p"], root = "f"} {
  loop.grid () {
    loop.for %p = p of f {
      loop.for %k = k in %p to %p of f {
      // expected-error@above {{'loop.for' is malformed: a loop that ends at a value walks a part of its label, as 'loop.part' gives it}}
      }
    }
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["k"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["p"]}) attributes {labels = ["k", "p"], root = "f"} {
  loop.grid () {
    loop.for %p = p of f {
      %a, %b = loop.part %p of k in 4
      %s = loop.reduce add %k = k in %a to %b step full tile of f : f32 {
      // expected-error@above {{'loop.reduce' is malformed: a loop that walks a part of its label has a step of its own}}
        %v = loop.read %A[%k]
        loop.yield %v : f32
      }
      loop.write %s, %f[%p]
    }
  }
}
// -----
loop.kernel @f_kernel(%f: memref<?xf32> {host.name = "f", host.axes = ["p"]}) attributes {labels = ["k", "p"], root = "f"} {
  loop.grid () {
    loop.for %p = p of f {
      %a, %b = "loop.part"(%p) <{label = "k", count = 4 : i64, step = 2 : i64, whole = "q"}> : (index) -> (index, index)
      // expected-error@above {{'loop.part' is malformed: a part that a tile holds is one of a number of parts}}
    }
  }
}
