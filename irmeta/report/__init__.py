"""Figures, tables and self-contained pages, made from frames."""
