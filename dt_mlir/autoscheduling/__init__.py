"""Schedules that the compiler writes: what to fuse and where, and the tiles, by predicted time."""
