"""Makes failing programs and modules small while they fail in the same way."""
