"""Workers compile and measure candidates: processes here, or those of a Ray cluster."""
