// RUN: dt-opt %s | filecheck %s
// RUN: dt-opt %s | dt-opt | filecheck %s
// RUN: dt-opt %s --print-op-generic | dt-opt | filecheck %s
%p = host.size p
%x = host.size x
// CHECK: host.alloc f[p, x](%p, %x) summed {my.mark} : memref<?x?xf32>
%f = host.alloc f[p, x](%p, %x) summed {my.mark} : memref<?x?xf32>
