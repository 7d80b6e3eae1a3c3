from dt_mlir.elementwise import Domain, Function
EXP = Function("exp", 1, Domain.FLOAT, "x", None, expansion=lambda build, x: x)
