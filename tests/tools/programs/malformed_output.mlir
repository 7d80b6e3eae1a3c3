dt.output @f
