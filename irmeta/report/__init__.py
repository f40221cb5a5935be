"""Frames in; figures, tables and one self-contained page out."""
