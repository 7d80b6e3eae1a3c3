// RUN: dt-opt %s --split-input-file --verify-diagnostics
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["k"]}, %f: memref<f32> {host.name = "f", host.axes = []}) attributes {labels = ["k"], root = "f"} {
  loop.grid () {
    %r = loop.online %k = k step 4 of f : f32 {
    // expected-error@above {{'loop.online' is malformed: a loop over pieces holds no running reduction}}
      %a = loop.read %A[%k]
      %t = loop.running maximum %a : f32
      loop.yield %t : f32
    }
    loop.write %r, %f[]
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["k"]}, %f: memref<f32> {host.name = "f", host.axes = []}) attributes {labels = ["k"], root = "f"} {
  loop.grid () {
    %r = loop.online %k = k of f : f32 {
    // expected-error@above {{'loop.online' is malformed: the body of a 'loop.online' yields the results of its running reductions, in order}}
      %a = loop.read %A[%k]
      %t = loop.running maximum %a : f32
      loop.yield %a : f32
    }
    loop.write %r, %f[]
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["k"]}, %f: memref<f32> {host.name = "f", host.axes = []}) attributes {labels = ["k"], root = "f"} {
  loop.grid () {
    %r = "loop.online"() <{label = "k", function = "f", step = 1 : i64, operandSegmentSizes = array<i32: 0, 0, 0>}> ({
    // expected-error@above {{'loop.online' is malformed: the results of a 'loop.online' are what its body yields}}
    ^bb0(%k: index):
      %i = arith.index_cast %k : index to i32
      %t = loop.running maximum %i : i32
      loop.yield %t : i32
    }) : () -> f32
    loop.write %r, %f[]
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["k"]}, %f: memref<f32> {host.name = "f", host.axes = []}) attributes {labels = ["k"], root = "f"} {
  loop.grid () {
    %r = loop.reduce add %k = k of f : f32 {
      %a = loop.read %A[%k]
      %t = loop.running maximum %a : f32
      // expected-error@above {{'loop.running' is malformed: a 'loop.running' stands in the body of a 'loop.online'}}
      loop.yield %t : f32
    }
    loop.write %r, %f[]
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["k"]}, %f: memref<f32> {host.name = "f", host.axes = []}) attributes {labels = ["k"], root = "f"} {
  loop.grid () {
    %i, %r = loop.online %k = k of f : i64, f32 {
      %a = loop.read %A[%k]
      %t, %u = loop.running argmax %a : i64, f32
      // expected-error@above {{'loop.running' is malformed: 'argmax' takes an element and its index, an i64}}
      loop.yield %t, %u : i64, f32
    }
    loop.write %r, %f[]
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["k"]}, %f: memref<f32> {host.name = "f", host.axes = []}) attributes {labels = ["k"], root = "f"} {
  loop.grid () {
    %r, %s = loop.online %k = k of f : f32, f32 {
      %a = loop.read %A[%k]
      %t, %u = loop.running maximum %a : f32, f32
      // expected-error@above {{'loop.running' is malformed: an index reduction gives its extreme too, and no other does}}
      loop.yield %t, %u : f32, f32
    }
    loop.write %r, %f[]
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["k"]}, %f: memref<f32> {host.name = "f", host.axes = []}) attributes {labels = ["k"], root = "f"} {
  loop.grid () {
    %r = loop.online %k = k of f : f32 {
      %a = loop.read %A[%k]
      %t = loop.running add %a : f32 law scale repair (%s, %o of %a) {
      // expected-error@above {{'loop.running' is malformed: a source is a running value of the same loop}}
        loop.yield %s : f32
      }
      loop.yield %t : f32
    }
    loop.write %r, %f[]
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["k"]}, %f: memref<f32> {host.name = "f", host.axes = []}) attributes {labels = ["k"], root = "f"} {
  loop.grid () {
    %r = loop.online %k = k of f : f32 {
      %a = loop.read %A[%k]
      %t = loop.running add %a : f32 law guess repair (%s) {
      // expected-error@above {{'loop.running' is malformed: a region repairs by one of the laws scale, polynomial, scaled_polynomial, dominated}}
        loop.yield %s : f32
      }
      loop.yield %t : f32
    }
    loop.write %r, %f[]
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["k"]}, %f: memref<f32> {host.name = "f", host.axes = []}) attributes {labels = ["k"], root = "f"} {
  loop.grid () {
    %r = loop.online %k = k of f : f32 {
      %a = loop.read %A[%k]
      %t = loop.running add %a : f32 law scale repair (%s) {
      // expected-error@above {{'loop.running' is malformed: the region must end in a 'loop.yield' of the repaired value}}
        %b = arith.constant true
        loop.yield %b : i1
      }
      loop.yield %t : f32
    }
    loop.write %r, %f[]
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["k"]}, %f: memref<f32> {host.name = "f", host.axes = []}) attributes {labels = ["k"], root = "f"} {
  loop.grid () {
    %r = loop.online %k = k of f : f32 {
      %a = loop.read %A[%k]
      %t = "loop.running"(%a) <{kind = #elem.reduction add, law = "scale", operandSegmentSizes = array<i32: 1, 0>}> ({
      // expected-error@above {{'loop.running' is malformed: the region takes the value, and a value for each source}}
      ^bb0(%s: f32, %o: f32):
        loop.yield %s : f32
      }) : (f32) -> f32
      loop.yield %t : f32
    }
    loop.write %r, %f[]
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["k"]}, %f: memref<f32> {host.name = "f", host.axes = []}) attributes {labels = ["k"], root = "f"} {
  loop.grid () {
    %r = loop.online %k = k of f : f32 {
      %a = loop.read %A[%k]
      %t = "loop.running"(%a) <{kind = #elem.reduction add, law = "scale", operandSegmentSizes = array<i32: 1, 0>}> : (f32) -> f32
      // expected-error@above {{'loop.running' is malformed: a law and sources belong to a region that repairs}}
      loop.yield %t : f32
    }
    loop.write %r, %f[]
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["k"]}, %f: memref<f32> {host.name = "f", host.axes = []}) attributes {labels = ["k"], root = "f"} {
  loop.grid () {
    %i0, %r = loop.online %k = k of f : i64, f32 {
      %a = loop.read %A[%k]
      %i = arith.index_cast %k : index to i64
      %t, %u = "loop.running"(%a, %i) <{kind = #elem.reduction argmax, law = "scale", operandSegmentSizes = array<i32: 2, 0>}> ({
      // expected-error@above {{'loop.running' is malformed: an index reduction is not repaired}}
      ^bb0(%v: i64):
        loop.yield %v : i64
      }) : (f32, i64) -> (i64, f32)
      loop.yield %t, %u : i64, f32
    }
    loop.write %r, %f[]
  }
}
