// RUN: dt-opt %s | filecheck %s
// RUN: dt-opt %s | dt-opt | filecheck %s
// RUN: dt-opt %s --print-op-generic | dt-opt | filecheck %s
// A product of matrices: a producer copies tiles into a ring, two consumers multiply half of the rows each.
#layout = #warp.mma<[x, y], warps [4, 1], instruction [16, 256, 16]>
host.func @mm(%A: memref<?x?xbf16> {host.name = "A", host.axes = ["x", "k"]}, %B: memref<?x?xbf16> {host.name = "B", host.axes = ["k", "y"]}) -> memref<?x?xbf16> attributes {algorithm = [], schedule = [], compiled = ["mm.compile();"], labels = ["x", "y", "k"]} {
  %x = host.size x
  %y = host.size y
  %mm = host.alloc mm[x, y](%x, %y) : memref<?x?xbf16>
  host.launch @mm_kernel(%A, %B, %mm)
  host.return %mm
}
warp.kernel @mm_kernel(
    %A: memref<?x?xbf16> {host.name = "A", host.axes = ["x", "k"]},
    %B: memref<?x?xbf16> {host.name = "B", host.axes = ["k", "y"]},
    %mm: memref<?x?xbf16> {host.name = "mm", host.axes = ["x", "y"]}
  ) attributes {grid_blocks = [128 : i64, 256 : i64], grid_labels = ["x", "y"], labels = ["x", "y", "k"], num_warps = 4 : i32, programs = 1 : i32, root = "mm"} {
  %A_box = warp.tma_descriptor %A : !warp.descriptor<[64, 64] x bf16, swizzle 128>
  %B_box = warp.tma_descriptor %B : !warp.descriptor<[64, 256] x bf16, swizzle 128>
  %mm_box = warp.tma_descriptor %mm : !warp.descriptor<[64, 256] x bf16, swizzle 128>
  %As = warp.alloc : !warp.ring<6 x [64, 64] x bf16, swizzle 128>
  %Bs = warp.alloc : !warp.ring<3 x [64, 256] x bf16, swizzle 128>
  %mms = warp.alloc : !warp.ring<2 x [64, 256] x bf16, swizzle 128>
  %empty = warp.mbarrier_create 3 arrivals 2
  %ready = warp.mbarrier_create 3 arrivals 1
  warp.fence_async
  %x_size = tile.size x
  %y_size = tile.size y
  %k_size = tile.size k
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %stages = arith.constant 3 : index
  %half = arith.constant 64 : index
  %rows = arith.constant 128 : index
  %columns = arith.constant 256 : index
  %none = arith.constant 0.0 : f32
  warp.specialize {
    warp.partition consumer (%i to 2) warps 4 registers 240 {
      %x_blocks = arith.ceildivsi %x_size, %rows : index
      %y_blocks = arith.ceildivsi %y_size, %columns : index
      %blocks = arith.muli %x_blocks, %y_blocks : index
      %below = arith.muli %i, %half : index
      %pid = tile.program_id
      %programs = tile.num_programs
      %trips = scf.for %block = %pid to %blocks step %programs iter_args(%trip = %zero) -> (index) {
        %x_block = arith.divsi %block, %y_blocks : index
        %y_block = arith.remsi %block, %y_blocks : index
        %x = arith.muli %x_block, %rows : index
        %y = arith.muli %y_block, %columns : index
        %zeros = tile.fill %none : !tile.of<x: 64, y: 256, f32 in #layout>
        %acc, %it = scf.for %k = %zero to %k_size step %half iter_args(%acc_in = %zeros, %it_in = %trip) -> (!tile.of<x: 64, y: 256, f32 in #layout>, index) {
          %stage = arith.remsi %it_in, %stages : index
          %round = arith.divsi %it_in, %stages : index
          %phase = arith.remsi %round, %two : index
          warp.mbarrier_wait %ready[%stage] parity %phase
          %slots = arith.muli %stage, %two : index
          %slot = arith.addi %slots, %i : index
          %a = warp.index %As[%slot]
          %b = warp.index %Bs[%stage]
          %product = warp.mma %a, %b acc %acc_in
          %sum = warp.mma_wait 1 for [%product]
          %later = arith.cmpi sgt, %k, %zero : index
          scf.if %later {
            %before = arith.addi %it_in, %two : index
            %previous = arith.remsi %before, %stages : index
            warp.mbarrier_arrive %empty[%previous]
          }
          %next = arith.addi %it_in, %one : index
          scf.yield %sum, %next : !tile.of<x: 64, y: 256, f32 in #layout>, index
        }
        %total = warp.mma_wait 0 for [%acc]
        %before = arith.addi %it, %two : index
        %previous = arith.remsi %before, %stages : index
        warp.mbarrier_arrive %empty[%previous]
        %narrow = tile.map arith.truncf %total : !tile.of<x: 64, y: 256, bf16 in #layout>
        warp.tma_store_wait 0
        %c = warp.index %mms[%i]
        warp.local_store %narrow to %c
        warp.fence_async
        %row = arith.addi %x, %below : index
        warp.tma_store %c to %mm_box[%row, %y]
        scf.yield %it : index
      }
      warp.tma_store_wait 0
    }
    warp.partition producer warps 4 registers 24 {
      %x_blocks = arith.ceildivsi %x_size, %rows : index
      %y_blocks = arith.ceildivsi %y_size, %columns : index
      %blocks = arith.muli %x_blocks, %y_blocks : index
      %pid = tile.program_id
      %programs = tile.num_programs
      %trips = scf.for %block = %pid to %blocks step %programs iter_args(%trip = %zero) -> (index) {
        %x_block = arith.divsi %block, %y_blocks : index
        %y_block = arith.remsi %block, %y_blocks : index
        %x = arith.muli %x_block, %rows : index
        %y = arith.muli %y_block, %columns : index
        %lower = arith.addi %x, %half : index
        %it = scf.for %k = %zero to %k_size step %half iter_args(%it_in = %trip) -> (index) {
          %stage = arith.remsi %it_in, %stages : index
          %round = arith.divsi %it_in, %stages : index
          %phase = arith.remsi %round, %two : index
          %parity = arith.subi %one, %phase : index
          warp.mbarrier_wait %empty[%stage] parity %parity
          warp.mbarrier_expect %ready[%stage] bytes 49152
          %slot = arith.muli %stage, %two : index
          %second = arith.addi %slot, %one : index
          %a = warp.index %As[%slot]
          %a_below = warp.index %As[%second]
          %b = warp.index %Bs[%stage]
          warp.tma_load %A_box[%x, %k] to %a signal %ready[%stage]
          warp.tma_load %A_box[%lower, %k] to %a_below signal %ready[%stage]
          warp.tma_load %B_box[%k, %y] to %b signal %ready[%stage]
          %next = arith.addi %it_in, %one : index
          scf.yield %next : index
        }
        scf.yield %it : index
      }
    }
  }
}
// CHECK: warp.kernel @mm_kernel
