// RUN: dt-opt %s --split-input-file --verify-diagnostics
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xi64> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      %a = loop.read %A[%x]
      %s = loop.prefix argmax %a along %x : i64
      // expected-error@above {{'loop.prefix' is malformed: 'argmax' is not combined up to each index}}
      loop.write %s, %f[%x]
    }
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "y"]}, %f: memref<?x?xf32> {host.name = "f", host.axes = ["x", "y"]}) attributes {labels = ["x", "y"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      loop.for %y = y of f {
        %a = loop.read %A[%x, %y]
        %s = loop.prefix add %a along %x : f32
        // expected-error@above {{'loop.prefix' is malformed: it stands in the body of the 'loop.for' along whose index it is}}
        loop.write %s, %f[%x, %y]
      }
    }
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x"], root = "f"} {
  loop.grid (%x0 = x size 8) order [x] {
    loop.for %x = x in %x0 size 8 of f {
      %a = loop.read %A[%x]
      %s = loop.prefix add %a along %x : f32
      // expected-error@above {{'loop.prefix' is malformed: the loop over 'x' walks a part of its label, and the elements before that part are missing}}
      loop.write %s, %f[%x]
    }
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      %a = loop.read %A[%x]
      %s = loop.prefix add %a along %x : f32
      // expected-error@above {{'loop.prefix' is malformed: a loop walks its label in one direction}}
      %t = loop.prefix add %a along %x descending : f32
      %r = arith.addf %s, %t : f32
      loop.write %r, %f[%x]
    }
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      %a = loop.read %A[%x]
      %s = loop.prefix maximum %a by %a along %x : f32
      // expected-error@above {{'loop.prefix' is malformed: a sum is multiplied by a factor of its element's type}}
      loop.write %s, %f[%x]
    }
  }
}
// -----
loop.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x"], root = "f"} {
  loop.grid (%x0 = x size 8) order [x] {
    loop.for %x = x in %x0 size 8 of f {
      %a = loop.read %A[%x]
      %s = loop.prefix add %a by %a along %x chunked : f32
      // expected-error@above {{'loop.prefix' is malformed: the loop over 'x' walks a part of its label, and the elements before that part are missing}}
      loop.write %s, %f[%x]
    }
  }
}
