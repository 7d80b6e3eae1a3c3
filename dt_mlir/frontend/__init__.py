"""From `.dt` text to `dt` IR, and back to canonical text."""
