"""Kinds of faults that benchmarks/faults.py makes, each compared with a reader or a clean rebuild."""
