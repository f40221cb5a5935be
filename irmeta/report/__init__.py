"""Figures, tables and pages from frames; formats of figures. Importing it loads no library."""

from __future__ import annotations

from collections.abc import Iterable

from irmeta.errors import UsageError, check_choice

FORMATS = ("svg", "pdf", "png")


def parse_formats(given: Iterable[str]) -> tuple[str, ...]:
    """Return formats in the order of `FORMATS`; a text may name several, separated by commas."""
    texts = [given] if isinstance(given, str) else given
    formats = {form.strip() for text in texts for form in text.split(",")}
    for name in sorted(formats):
        check_choice("formats", name, FORMATS)
    if not formats:
        raise UsageError(f"formats is empty: name one or several of {', '.join(FORMATS)}.")
    return tuple(name for name in FORMATS if name in formats)
