"""Running what was compiled: this part, and only this, needs torch and triton."""
