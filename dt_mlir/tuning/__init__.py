"""Searches spaces of schedules: compiles, checks and measures candidates, and remembers them."""
