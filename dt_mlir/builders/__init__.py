"""Builds operations of the `tile` level."""
