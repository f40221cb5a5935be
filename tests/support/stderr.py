"""What commands print on stderr, without the notes on runs, which many made tracks have."""

from __future__ import annotations

import re

NOTE = re.compile(r"irmeta: (?:[\w./<>-]+: )?[\d,]+ of [\d,]+ systems? (?:has|have) .*\n")


def without_notes(err: str) -> str:
    """Drop the notes on runs, such as of missing lists: see `irmeta.store.run_notes`."""
    return "".join(line for line in err.splitlines(keepends=True) if not NOTE.fullmatch(line))
