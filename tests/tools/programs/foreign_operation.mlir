"other.thing"() : () -> ()
