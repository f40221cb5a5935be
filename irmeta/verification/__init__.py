"""Verification of published values: recomputed, and why those that differ do."""
