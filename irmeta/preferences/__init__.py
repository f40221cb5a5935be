"""Preferences: comparisons of two lists for a query that need not be differences of values."""
