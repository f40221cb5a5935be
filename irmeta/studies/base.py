"""What a study is: a part for each track, and a part that combines them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from irmeta.store.layout import Layout, folder_name


@dataclass(frozen=True)
class Folder:
    """Where a study's results lie.

    Tables that grow with the data are a folder with one file a track; small ones are parts that the
    combining part joins into one file.
    """

    root: Path

    def of_track(self, table: str, track: str) -> Path:
        """The file of a large table for one track, for users."""
        return self.root / table / f"{folder_name(track)}.parquet"

    @property
    def parts(self) -> Path:
        """Parts and marks; its being there says that the folder is a study's."""
        return self.root / ".parts"

    def part(self, table: str, track: str) -> Path:
        """The part of a small table for one track, for the combining part."""
        return self.parts / folder_name(track) / f"{table}.parquet"

    def table(self, name: str) -> Path:
        """A combined table."""
        return self.root / f"{name}.parquet"

    def figure(self, name: str, ending: str) -> Path:
        """A figure; one of a single track is named ``TRACK/NAME``, its folder as `figures_of`."""
        return self.root / "figures" / f"{name}.{ending}"

    def figures_of(self, track: str) -> Path:
        """The folder of the figures of one track."""
        return self.root / "figures" / folder_name(track)

    def done(self, track: str) -> Path:
        """The mark that a track's part is finished, and with which input."""
        return self.parts / folder_name(track) / "done.json"


class PerTrack(Protocol):
    """Analyses one track and writes its files; called in any order, in any process."""

    def __call__(
        self, layout: Layout, track: str, settings: Mapping[str, Any], folder: Folder
    ) -> Sequence[Path]: ...


class Combine(Protocol):
    """Joins the parts of `tracks` into the study's tables, figures and page."""

    def __call__(
        self, layout: Layout, tracks: Sequence[str], settings: Mapping[str, Any], folder: Folder
    ) -> None: ...


@dataclass(frozen=True)
class Study:
    """A study as a value.

    Attributes
    ----------
    revision
        Raised when a change of the code changes its results: finished parts are then done again.
    tables
        The large tables, a folder with one file a track each.
    """

    name: str
    revision: int
    per_track: PerTrack
    combine: Combine
    tables: tuple[str, ...] = ()
