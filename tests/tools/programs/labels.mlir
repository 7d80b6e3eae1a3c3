dt.label @x
dt.label @y
