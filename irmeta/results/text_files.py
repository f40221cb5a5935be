"""Text that needs no pyarrow: frames as CSV, and files of docs to judge."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl

from irmeta.errors import UsageError
from irmeta.files import remove_temporaries, write_text
from irmeta.locations import local

_FORMULA = r"^[=+\-@\t\r]"


def to_csv(frame: pl.DataFrame, *, safe: bool = False) -> str:
    """Return a frame as CSV, numbers with full precision and -0.0 as 0.0.

    Parameters
    ----------
    safe
        Whether to prefix an apostrophe to texts that a spreadsheet would run as a formula (texts
        that begin with =, +, -, @, a tab or a carriage return). Numbers are unchanged.
    """
    if safe:
        marked = pl.selectors.string().str.replace(_FORMULA, "'$0")
        frame = frame.with_columns(marked)
    return frame.with_columns(pl.selectors.float() + 0.0).write_csv()


_LINE = re.compile(rb"[^ ]+ 0 [^ \n]+\n")


def pool_lines(docs: pl.DataFrame) -> str:
    """Return one line ``query 0 doc`` per row."""
    return "".join(docs.select(pl.format("{} 0 {}\n", "query", "doc")).to_series())


def write_pool(docs: pl.DataFrame, path: Path, *, force: bool) -> None:
    """Write the docs of a pool to a file atomically.

    Raises
    ------
    UsageError
        See `check_pool_file`.
    """
    check_pool_file(path, force=force)
    remove_temporaries(path.parent)
    write_text(path, pool_lines(docs))


def check_pool_file(path: Path, *, force: bool) -> None:
    """Reject a folder and, unless `force`, an existing file without the lines of a pool."""
    path = local(path)
    if path.is_dir():
        raise UsageError(f"{path} is a folder: name a file.")
    if not path.exists() or force:
        return
    with path.open("rb") as file:
        line = file.readline(1 << 16)
    if line and not _LINE.fullmatch(line):
        raise UsageError(f"{path} exists and is not a pool file: use `force=True` to replace it.")
