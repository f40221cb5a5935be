"""Figures of specific results, built from the general charts."""
