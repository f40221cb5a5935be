"""One package for each paper."""
