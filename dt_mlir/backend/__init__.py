"""From the `tile` level to code for a target."""
