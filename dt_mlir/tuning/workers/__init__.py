"""What compiles and measures candidates: processes here, or those of a Ray cluster."""
