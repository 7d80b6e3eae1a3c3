dt.label @x
dt.labl @y
