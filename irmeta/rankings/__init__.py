"""Runs and qrels as arrays: the only conversion of the store's tables to kernel input."""
