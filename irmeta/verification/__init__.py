"""Verification of published values: recomputation, and reasons for differences."""
