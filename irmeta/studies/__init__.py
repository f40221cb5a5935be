"""Studies: what a paper computes over many tracks, as named tables and figures."""
