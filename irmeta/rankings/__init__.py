"""Runs and qrels as arrays: the only place where the store's tables become kernels' input."""
