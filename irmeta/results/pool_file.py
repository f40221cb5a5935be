"""Files of docs to judge: lines ``query 0 doc``."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl

from irmeta.errors import UsageError
from irmeta.files import remove_temporaries, write_text
from irmeta.locations import local

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
