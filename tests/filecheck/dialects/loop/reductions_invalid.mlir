// RUN: dt-opt %s --split-input-file --verify-diagnostics
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      %c = arith.constant 1.0 : f32
      %0 = loop.reduce add %k = k of f where affine_set<(d0, d1) : (d1 - d0 >= 0)>(%x, %x) : f32 {
      // expected-error@above {{'loop.reduce' is malformed: a domain needs a value for each symbol, and for each dimension but the first}}
        loop.yield %c : f32
      }
    }
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      %c = arith.constant 1.0 : f32
      %0 = loop.reduce add %k = k of f where 4(%x) : f32 {
      // expected-error@above {{expected an affine_set}}
        loop.yield %c : f32
      }
    }
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      %c = arith.constant 1.0 : f32
      %0 = loop.reduce add %k = k of f : f32 init (0.0) {
      // expected-error@above {{'loop.reduce' is malformed: a named combination has neither a region nor a neutral state}}
        loop.yield %c : f32
      }
    }
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      %c = arith.constant 1.0 : f32
      %0 = loop.reduce %k = k of f : f32 {
      // expected-error@above {{'loop.reduce' is malformed: a reduction needs a named combination, or a region and 'init'}}
        loop.yield %c : f32
      }
    }
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      %c = arith.constant 1.0 : f32
      %0:2 = loop.reduce add %k = k of f : f32, f32 {
      // expected-error@above {{'loop.reduce' is malformed: 'add' has one result}}
        loop.yield %c : f32
      }
    }
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      %c = arith.constant 1.0 : f32
      %0:2 = loop.reduce %k = k of f : f32, f32 init (0.0) {
      // expected-error@above {{expected 2 numbers, one for each result}}
        loop.yield %c, %c : f32, f32
      }
    }
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      %c = arith.constant 1.0 : f32
      %0 = loop.reduce %k = k of f : i32 init (0.5) {
      // expected-error@above {{0.5 is not of type i32}}
        loop.yield %c : f32
      }
    }
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      %c = arith.constant 1.0 : f32
      %0 = loop.reduce %k = k of f : f32 init (0.0) {
        loop.yield %c : f32
      } combine (%a) {
      // expected-error@above {{expected 2 values: two states}}
        loop.yield %c : f32
      }
    }
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      %c = arith.constant 1.0 : f32
      %0 = loop.reduce %k = k of f : f32 init (0.0) {
      // expected-error@above {{'loop.reduce' is malformed: the body of a reduction yields a state, of the results' types}}
        loop.yield %c, %c : f32, f32
      } combine (%a, %b) {
        loop.yield %a : f32
      }
    }
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      %c = arith.constant 1.0 : f32
      %0 = loop.reduce %k = k of f : f32 init (0.0) {
      // expected-error@above {{'loop.reduce' is malformed: the region that combines must end in a 'loop.yield' of a state}}
        loop.yield %c : f32
      } combine (%a, %b) {
        loop.yield %a, %b : f32, f32
      }
    }
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      %c = arith.constant 1.0 : f32
      %0 = loop.reduce add %k = k step 2 of f where affine_set<(d0, d1) : (d1 - d0 >= 0)>(%x) : f32 {
      // expected-error@above {{'loop.reduce' is malformed: a reduction over pieces has neither a domain nor a region}}
        loop.yield %c : f32
      }
    }
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      %c = arith.constant 1.0 : f32
      %0 = loop.reduce add %k = k of f where affine_set<(d0) : (d0 floordiv 0 >= 0)>() : f32 {
      // expected-error@above {{'loop.reduce' is malformed: a domain divides by a positive number, not by 0}}
        loop.yield %c : f32
      }
    }
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      %c = arith.constant 1.0 : f32
      %0 = loop.reduce add %k = k of f where affine_set<(d0)[s0] : (d0 mod s0 >= 0)>(%x) : f32 {
      // expected-error@above {{this is not supported: Mod with non-constant (semi-affine) is not supported yet}}
        loop.yield %c : f32
      }
    }
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "k"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      %c = arith.constant 1.0 : f32
      %0 = loop.reduce add %k = k of f where affine_set<()[s0] : (s0 >= 0)>() : f32 {
      // expected-error@above {{'loop.reduce' is malformed: the first dimension of a domain is the reduction's index}}
        loop.yield %c : f32
      }
    }
  }
}
