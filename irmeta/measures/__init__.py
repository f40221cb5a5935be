"""Measures: one file a family, a registration each, and `evaluate` over a store."""
