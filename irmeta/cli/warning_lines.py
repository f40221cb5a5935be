"""Warnings as lines on stderr; many warnings of one kind about tracks become a list of tracks."""

from __future__ import annotations

import re
from collections import defaultdict
from threading import Lock

from irmeta.show.notes import note

SHOWN = 5
"""Warnings of one kind about tracks that are printed in full."""
_OF_TRACK = re.compile(r"track (.+?): ")


class WarningLines:
    """Replacement of `warnings.showwarning` that prints one line per warning, and none twice.

    Of the warnings of one category whose text starts with ``track NAME:``, the first five are
    printed in full; `finish` lists the tracks of the others. Threads may share an instance.
    """

    def __init__(self) -> None:
        self._tracks: dict[str, list[str]] = defaultdict(list)
        self._shown = set[tuple[str, str]]()
        self._lock = Lock()

    def show(self, message: Warning | str, category: type[Warning], *_: object) -> None:
        """Print a warning, or keep its track for `finish`."""
        track = _OF_TRACK.match(str(message))
        with self._lock:
            if (category.__name__, str(message)) in self._shown:
                return
            self._shown.add((category.__name__, str(message)))
            if track:
                tracks = self._tracks[category.__name__]
                tracks.append(track[1])
                if len(tracks) > SHOWN:
                    return
            note(f"irmeta: {message}")

    def finish(self) -> None:
        """Print the number and the names of the tracks whose warnings were not printed."""
        for category, tracks in self._tracks.items():
            more = sorted(set(tracks[SHOWN:]))
            if more:
                kind = f"{len(more)} more tracks with a warning like this ({category})"
                note(f"irmeta: {kind}: {', '.join(more)}")
        self._tracks.clear()
