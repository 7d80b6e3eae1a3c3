"""What is known of IR: nothing here changes it, but the bounds of loops."""
