"""Lines of text that begin with #: comments, or rows of queries whose ids begin so."""

from __future__ import annotations

from collections.abc import Callable, Container

from irmeta.errors import DataError
from irmeta.phrases import count
from irmeta.policies import Comments

MARK = "lines that begin with # "
"""Prefix of the notes on lines that begin with # but have the fields of a row."""


class HashLines:
    """The lines of one file that begin with #, of which some may be rows.

    Parameters
    ----------
    comments
        See `ReadPolicy`.
    fits
        Function that checks whether fields are those of a row of the file.
    """

    def __init__(self, comments: Comments, fits: Callable[[list[bytes]], bool]) -> None:
        self._comments, self._fits = comments, fits
        self._count = 0
        self._first = dict[str, int]()

    def is_row(self, fields: list[bytes], line: int) -> bool:
        """Check whether a line is read as a row, and count it if it has the fields of one."""
        if self._comments == "none":
            return True
        if len(fields[0]) < 2 or not self._fits(fields):
            return False
        self._count += 1
        self._first.setdefault(fields[0].decode(), line)
        return self._comments != "skip"

    def notes(self, queries: Container[str], file: str) -> tuple[str, ...]:
        """Return the note on lines with the fields of a row, after the last line.

        Raises
        ------
        DataError
            If they may be rows of a query of the file that are commented out.
        """
        if not self._count:
            return ()
        if self._comments == "skip":
            return (f"{MARK}left out as comments, with the fields of a row: {self._count:,}",)
        for query, line in self._first.items():
            if self._comments == "auto" and (name := query.lstrip("#")) in queries:
                raise DataError(
                    "a row of query {query}, or a commented-out row of query {name}, which the "
                    f"file has too? ({count(self._count, 'such line')})",
                    file=file,
                    line=line,
                    ids={"query": query, "name": name},
                    fix="`comments='rows'` reads such lines. `comments='skip'` leaves them out.",
                )
        return (f"{MARK}read as rows: {self._count:,}",)
