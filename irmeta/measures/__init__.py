"""Measures, one module per family, and their evaluation over a store."""
