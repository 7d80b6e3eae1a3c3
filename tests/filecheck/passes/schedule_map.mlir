// RUN: dt-opt %s -p 'schedule-block{function=f sizes="x:8","y:8"},schedule-map{function=f order="x:x1/4",y,x1}' | filecheck %s
// RUN: dt-opt %s -p 'schedule-block{function=f sizes="x:8","y:8"},schedule-map{function=f order="x:x/4",y,inner}' | filecheck %s
// RUN: dt-opt %s -p 'schedule-block{function=f sizes="x:8","y:8"},schedule-map{function=f order=y1,"x:x1/3","y:y1/2",x1}' | filecheck %s --check-prefix=TWO
// RUN: dt-opt %s -p 'schedule-block{function=f sizes="x:8","y:8"},schedule-map{function=f order=x,y}' | filecheck %s --check-prefix=PLAIN
// RUN: dt-opt %s -p 'schedule-block{function=f sizes="x:8","y:8"},schedule-map{function=f order="x:descending",y}' | filecheck %s --check-prefix=DOWN
host.func @f(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "k"]}) -> memref<?x?xf32> attributes {algorithm = [], schedule = [], compiled = ["f.compile();"], labels = ["x", "y", "k"]} {
  %x = host.size x
  %y = host.size y
  %f = host.alloc f[x, y](%x, %y) : memref<?x?xf32>
  host.launch @f_kernel(%A, %f)
  host.return %f
}
loop.kernel @f_kernel(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "k"]}, %f: memref<?x?xf32> {host.name = "f", host.axes = ["x", "y"]}) attributes {labels = ["x", "y", "k"], root = "f"} {
  loop.grid () {
    loop.for %x = x of f {
      loop.for %y = y of f {
        %0 = loop.reduce add %k = k of f : f32 {
          %1 = loop.read %A[%x, %k]
          loop.yield %1 : f32
        }
        loop.write %0, %f[%x, %y]
      }
    }
  }
}
// CHECK: loop.grid (%{{.*}} = x size 8, %{{.*}} = y size 8) order [x outer 4, y, x inner 4] mapped {
// TWO: order [y inner 2, x outer 3, y outer 2, x inner 3] mapped {
// PLAIN: order [x, y] mapped {
// DOWN: order [x descending, y] mapped {
