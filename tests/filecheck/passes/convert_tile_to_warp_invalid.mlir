// RUN: dt-opt %s -p convert-tile-to-warp --split-input-file --verify-diagnostics
// A group has a part of the rows, and no sum of all.
host.func @f(%A: memref<?x?xbf16> {host.name = "A", host.axes = ["x", "k"]}, %B: memref<?x?xbf16> {host.name = "B", host.axes = ["k", "j"]}) -> memref<?xf32> attributes {algorithm = [], compiled = [], labels = ["x", "j", "k"], schedule = []} {
  %n = host.size j
  %f = host.alloc f[j](%n) : memref<?xf32>
  host.launch @f_kernel(%A, %B, %f)
  host.return %f
}
tile.kernel @f_kernel(%A_ptr: memref<?x?xbf16> {host.name = "A", host.axes = ["x", "k"]}, %B_ptr: memref<?x?xbf16> {host.name = "B", host.axes = ["k", "j"]}, %f_ptr: memref<?xf32> {host.name = "f", host.axes = ["j"]}) attributes {grid_blocks = [128 : i64], grid_labels = ["x"], labels = ["x", "j", "k"], root = "f", warp_specialize = {consumers = 2 : i32, registers = 232 : i32}} {
// expected-error@above {{f.warp_specialize: it reduces along 'x', whose rows are divided among groups}}
// expected-help@above {{reduce in a function of its own}}
  %x_size = tile.size x
  %j_size = tile.size j
  %k_size = tile.size k
  %pid = tile.program_id
  %0 = arith.constant 128 : index
  %x_origin = arith.muli %pid, %0 : index
  %x = tile.range x: 128 from %x_origin
  %x_mask = tile.mask %x below %x_size divisor 128
  %1 = arith.constant 0.000000e+00 : f32
  %3 = arith.constant 0 : index
  %4 = arith.constant 64 : index
  %5 = tile.fill %1 : !tile.of<x: 128, j: 64, f32>
  %6 = arith.constant 32 : index
  
  scf.for %j_start = %3 to %j_size step %4 {
    %j = tile.range j: 64 from %j_start
    %j_mask = tile.mask %j below %j_size divisor 64
    %p = scf.for %k_start = %3 to %k_size step %6 iter_args(%acc_2 = %5) -> (!tile.of<x: 128, j: 64, f32>) {
      %k = tile.range k: 32 from %k_start
      %k_mask = tile.mask %k below %k_size divisor 32
      %A = tile.load %A_ptr[%x, %k] masked [%x_mask, %k_mask] pad 0.0
      %B = tile.load %B_ptr[%k, %j] masked [%k_mask, %j_mask] pad 0.0
      %7 = tile.dot %A, %B acc %acc_2
      
      scf.yield %7 : !tile.of<x: 128, j: 64, f32>
    }
    %8 = tile.reduce add %p along x
    // expected-note@above {{this is where}}
    tile.store %8, %f_ptr[%j] masked [%j_mask]
  }
}
// -----
// A producer follows the loops of the consumers.
host.func @f(%A: memref<?x?xbf16> {host.name = "A", host.axes = ["x", "k"]}, %B: memref<?x?xbf16> {host.name = "B", host.axes = ["k", "j"]}, %N: memref<?xi32> {host.name = "N", host.axes = ["j"]}) -> memref<?x?xf32> attributes {algorithm = [], compiled = [], labels = ["x", "j", "k"], schedule = []} {
  %m = host.size x
  %n = host.size j
  %f = host.alloc f[x, j](%m, %n) : memref<?x?xf32>
  host.launch @f_kernel(%A, %B, %N, %f)
  host.return %f
}
tile.kernel @f_kernel(%A_ptr: memref<?x?xbf16> {host.name = "A", host.axes = ["x", "k"]}, %B_ptr: memref<?x?xbf16> {host.name = "B", host.axes = ["k", "j"]}, %N_ptr: memref<?xi32> {host.name = "N", host.axes = ["j"]}, %f_ptr: memref<?x?xf32> {host.name = "f", host.axes = ["x", "j"]}) attributes {grid_blocks = [128 : i64], grid_labels = ["x"], labels = ["x", "j", "k"], root = "f", warp_specialize = {consumers = 2 : i32, registers = 232 : i32}} {
// expected-error@above {{f.warp_specialize: the bounds of a loop around a product depend on what is computed}}
// expected-help@above {{leave warp_specialize out}}
  %x_size = tile.size x
  %j_size = tile.size j
  %k_size = tile.size k
  %pid = tile.program_id
  %0 = arith.constant 128 : index
  %x_origin = arith.muli %pid, %0 : index
  %x = tile.range x: 128 from %x_origin
  %x_mask = tile.mask %x below %x_size divisor 128
  %1 = arith.constant 0.000000e+00 : f32
  %3 = arith.constant 0 : index
  %4 = arith.constant 64 : index
  %5 = tile.fill %1 : !tile.of<x: 128, j: 64, f32>
  %6 = arith.constant 32 : index
  %n = tile.load %N_ptr[%3]
  %ub = arith.index_cast %n : i32 to index
  scf.for %j_start = %3 to %j_size step %4 {
    %j = tile.range j: 64 from %j_start
    %j_mask = tile.mask %j below %j_size divisor 64
    %p = scf.for %k_start = %3 to %ub step %6 iter_args(%acc_2 = %5) -> (!tile.of<x: 128, j: 64, f32>) {
    // expected-note@above {{this is where}}
      %k = tile.range k: 32 from %k_start
      %k_mask = tile.mask %k below %k_size divisor 32
      %A = tile.load %A_ptr[%x, %k] masked [%x_mask, %k_mask] pad 0.0
      %B = tile.load %B_ptr[%k, %j] masked [%k_mask, %j_mask] pad 0.0
      %7 = tile.dot %A, %B acc %acc_2
      
      scf.yield %7 : !tile.of<x: 128, j: 64, f32>
    }
    tile.store %p, %f_ptr[%x, %j] masked [%x_mask, %j_mask]
  }
}
// -----
// Groups divide the same rows of all products.
host.func @f(%A: memref<?x?xbf16> {host.name = "A", host.axes = ["x", "k"]}, %B: memref<?x?xbf16> {host.name = "B", host.axes = ["k", "j"]}) -> memref<?x?xf32> attributes {algorithm = [], compiled = [], labels = ["x", "j", "k"], schedule = []} {
  %m = host.size x
  %n = host.size j
  %f = host.alloc f[x, j](%m, %n) : memref<?x?xf32>
  host.launch @f_kernel(%A, %B, %f)
  host.return %f
}
tile.kernel @f_kernel(%A_ptr: memref<?x?xbf16> {host.name = "A", host.axes = ["x", "k"]}, %B_ptr: memref<?x?xbf16> {host.name = "B", host.axes = ["k", "j"]}, %f_ptr: memref<?x?xf32> {host.name = "f", host.axes = ["x", "j"]}) attributes {grid_blocks = [128 : i64], grid_labels = ["x"], labels = ["x", "j", "k"], root = "f", warp_specialize = {consumers = 2 : i32, registers = 232 : i32}} {
// expected-error@above {{f.warp_specialize: products have rows along 'x' and along 'j'}}
// expected-help@above {{compute one of them in a function of its own}}
  %x_size = tile.size x
  %j_size = tile.size j
  %k_size = tile.size k
  %pid = tile.program_id
  %0 = arith.constant 128 : index
  %x_origin = arith.muli %pid, %0 : index
  %x = tile.range x: 128 from %x_origin
  %x_mask = tile.mask %x below %x_size divisor 128
  %1 = arith.constant 0.000000e+00 : f32
  %3 = arith.constant 0 : index
  %4 = arith.constant 64 : index
  %5 = tile.fill %1 : !tile.of<x: 128, j: 64, f32>
  %6 = arith.constant 32 : index
  
  scf.for %j_start = %3 to %j_size step %4 {
    %j = tile.range j: 64 from %j_start
    %j_mask = tile.mask %j below %j_size divisor 64
    %p = scf.for %k_start = %3 to %k_size step %6 iter_args(%acc_2 = %5) -> (!tile.of<x: 128, j: 64, f32>) {
      %k = tile.range k: 32 from %k_start
      %k_mask = tile.mask %k below %k_size divisor 32
      %A = tile.load %A_ptr[%x, %k] masked [%x_mask, %k_mask] pad 0.0
      %B = tile.load %B_ptr[%k, %j] masked [%k_mask, %j_mask] pad 0.0
      %7 = tile.dot %A, %B acc %acc_2
      %At = tile.transpose %A to [k, x]
      %Bt = tile.transpose %B to [j, k]
      %t = tile.dot %Bt, %At
      // expected-note@above {{this is where}}
      scf.yield %7 : !tile.of<x: 128, j: 64, f32>
    }
    tile.store %p, %f_ptr[%x, %j] masked [%x_mask, %j_mask]
  }
}
// -----
// A box is copied as it is.
host.func @f(%A: memref<?x?xbf16> {host.name = "A", host.axes = ["x", "k"]}, %B: memref<?x?xbf16> {host.name = "B", host.axes = ["k", "j"]}) -> memref<?x?xf32> attributes {algorithm = [], compiled = [], labels = ["x", "j", "k"], schedule = []} {
  %m = host.size x
  %n = host.size j
  %f = host.alloc f[j, x](%n, %m) : memref<?x?xf32>
  host.launch @f_kernel(%A, %B, %f)
  host.return %f
}
tile.kernel @f_kernel(%A_ptr: memref<?x?xbf16> {host.name = "A", host.axes = ["x", "k"]}, %B_ptr: memref<?x?xbf16> {host.name = "B", host.axes = ["k", "j"]}, %f_ptr: memref<?x?xf32> {host.name = "f", host.axes = ["j", "x"]}) attributes {grid_blocks = [128 : i64], grid_labels = ["x"], labels = ["x", "j", "k"], root = "f", warp_specialize = {consumers = 2 : i32, registers = 232 : i32}} {
// expected-error@above {{f.warp_specialize: the result is stored with its axes in another order}}
// expected-help@above {{let the function have its labels in the order of its rows and columns}}
  %x_size = tile.size x
  %j_size = tile.size j
  %k_size = tile.size k
  %pid = tile.program_id
  %0 = arith.constant 128 : index
  %x_origin = arith.muli %pid, %0 : index
  %x = tile.range x: 128 from %x_origin
  %x_mask = tile.mask %x below %x_size divisor 128
  %1 = arith.constant 0.000000e+00 : f32
  %3 = arith.constant 0 : index
  %4 = arith.constant 64 : index
  %5 = tile.fill %1 : !tile.of<x: 128, j: 64, f32>
  %6 = arith.constant 32 : index
  
  scf.for %j_start = %3 to %j_size step %4 {
    %j = tile.range j: 64 from %j_start
    %j_mask = tile.mask %j below %j_size divisor 64
    %p = scf.for %k_start = %3 to %k_size step %6 iter_args(%acc_2 = %5) -> (!tile.of<x: 128, j: 64, f32>) {
      %k = tile.range k: 32 from %k_start
      %k_mask = tile.mask %k below %k_size divisor 32
      %A = tile.load %A_ptr[%x, %k] masked [%x_mask, %k_mask] pad 0.0
      %B = tile.load %B_ptr[%k, %j] masked [%k_mask, %j_mask] pad 0.0
      %7 = tile.dot %A, %B acc %acc_2
      
      scf.yield %7 : !tile.of<x: 128, j: 64, f32>
    }
    tile.store %p, %f_ptr[%j, %x] masked [%j_mask, %x_mask]
    // expected-note@above {{this is where}}
  }
}
