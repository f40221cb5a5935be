"""Kinds of faults that benchmarks/faults.py makes, and what each is compared with."""
