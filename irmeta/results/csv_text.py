"""Frames as CSV, without loading pyarrow."""

from __future__ import annotations

import polars as pl

_FORMULA = r"^[=+\-@\t\r]"


def to_csv(frame: pl.DataFrame, *, safe: bool = False) -> str:
    """Return a frame as CSV, numbers with full precision.

    Parameters
    ----------
    safe
        Whether to prefix an apostrophe to texts that a spreadsheet would run as a formula (texts
        that begin with =, +, -, @, a tab or a carriage return). Numbers are unchanged.
    """
    if safe:
        marked = pl.selectors.string().str.replace(_FORMULA, "'$0")
        frame = frame.with_columns(marked)
    return frame.write_csv()
