// RUN: dt-opt %s -f mlir -p verify-loop --split-input-file --verify-diagnostics
// RUN: dt-opt %s -f mlir -p convert-loop-to-tile --split-input-file --verify-diagnostics

host.func @f(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "y"]}) -> memref<?x?xf32> attributes {labels = ["x", "y", "m"]} {
  host.define m size len(x) * len(x)
  %x = host.size x
  %y = host.size y
  %f = host.alloc f[x, y](%x, %y) : memref<?x?xf32>
  host.launch @k(%A, %f)
  host.return %f
}
// expected-help@below {{write 'host.define m size len(x) * len(y)'}}
// expected-error@below {{the host function does not say that 'm' has the size of x, y together}}
loop.kernel @k(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "y"]}, %f: memref<?x?xf32> {host.name = "f", host.axes = ["x", "y"]}) attributes {labels = ["x", "y", "m"], root = "f"} {
  loop.grid () {
    loop.for %m = m of f {
      %i, %j = loop.delinearize %m by [x, y]
      %v = loop.read %A[%i, %j]
      loop.write %v, %f[%i, %j]
    }
  }
}
// -----
host.func @f(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "y"]}) -> memref<?x?xf32> attributes {labels = ["x", "y", "m"]} {
  host.define m size len(x) * len(y)
  %x = host.size x
  %y = host.size y
  %f = host.alloc f[x, y](%x, %y) : memref<?x?xf32>
  host.launch @k(%A, %f)
  host.return %f
}
loop.kernel @k(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "y"]}, %f: memref<?x?xf32> {host.name = "f", host.axes = ["x", "y"]}) attributes {labels = ["x", "y", "m"], root = "f"} {
  loop.grid () {
    loop.for %m = m of f {
      %i, %j = loop.delinearize %m by [x, y]
      %s = loop.reduce add %n = m of f : f32 {
        // expected-help@below {{give each joined loop a label of its own}}
        // expected-error@below {{the label 'm' joins y, x here, and x, y elsewhere}}
        %k, %l = loop.delinearize %n by [y, x]
        %v = loop.read %A[%l, %k]
        loop.yield %v : f32
      }
      loop.write %s, %f[%i, %j]
    }
  }
}
