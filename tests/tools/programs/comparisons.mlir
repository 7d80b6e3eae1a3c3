host.func @f() -> memref<?xi32> attributes {algorithm = ["Func f;"], schedule = [], compiled = ["f.compile();"], labels = ["x"], sizes = {x = 3 : i64}} {
  %x = host.size x
  %f = host.alloc f[x](%x) : memref<?xi32>
  host.launch @f_kernel(%f)
  host.return %f
}
tile.kernel @f_kernel(%f: memref<?xi32> {host.name = "f", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %x_size = tile.size x
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %seven = arith.constant -7 : i32
  %two = arith.constant 2 : i32
  %less = arith.cmpi ult, %seven, %two : i32
  %nine = arith.constant -9.0 : f32
  %nan = math.sqrt %nine : f32
  %unordered = arith.cmpf uno, %nan, %nine : f32
  %ordered = arith.cmpf one, %nan, %nine : f32
  %true = arith.constant 1 : i1
  %strange = arith.xori %unordered, %true : i1
  %any = arith.ori %less, %ordered : i1
  %all = arith.ori %any, %strange : i1
  %value = arith.extui %all : i1 to i32
  scf.for %i = %zero to %x_size step %one {
    scf.if %true {
      tile.store %value, %f[%i]
    }
  }
}
