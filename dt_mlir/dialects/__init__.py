"""The dialects, one file or folder each."""
