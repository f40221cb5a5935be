"""What a study is: a part for each track, and a part that combines them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self, TypeAlias

import polars as pl

from irmeta.store.layout import folder_name
from irmeta.store.scan import StoreReader


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

    @property
    def study(self) -> Path:
        """The name of the study whose results these are."""
        return self.parts / ".study"  # no track's folder begins with a point

    def part(self, table: str, track: str) -> Path:
        """The part of a small table for one track, for the combining part."""
        return self.parts / folder_name(track) / f"{table}.parquet"

    def table(self, name: str) -> Path:
        """A combined table."""
        return self.root / f"{name}.parquet"

    def figure(self, name: str, ending: str, track: str | None = None) -> Path:
        """A figure of all tracks, or with `track` of that one."""
        folder = self.root / "figures" if track is None else self.figures_of(track)
        return folder / f"{name}.{ending}"

    def figures_of(self, track: str) -> Path:
        """The folder of the figures of one track."""
        return self.root / "figures" / "tracks" / folder_name(track)

    def done(self, track: str) -> Path:
        """The mark that a track's part is finished, and with which input."""
        return self.parts / folder_name(track) / "done.json"


class PerTrack(Protocol):
    """Analyses one track and writes its files; called in any order, in any process."""

    def __call__(
        self, store: StoreReader, track: str, settings: Mapping[str, Any], folder: Folder
    ) -> Sequence[Path]: ...


class Combine(Protocol):
    """Joins the parts of `tracks` into the study's tables, figures and page."""

    def __call__(
        self, store: StoreReader, tracks: Sequence[str], settings: Mapping[str, Any], folder: Folder
    ) -> None: ...


Tables: TypeAlias = Mapping[str, pl.DataFrame]
"""A study's tables, by the names of irmeta.schema."""


class Chart(NamedTuple):
    """A figure under the name of its files: how to draw it, what it shows, how to read it."""

    name: str
    draw: Callable[[], Any]
    caption: str
    reading: str


class Charts(Protocol):
    """The figures of a study from its tables: of all tracks (`track` None), or of one."""

    def __call__(self, tables: Tables, settings: Any, track: str | None) -> Iterable[Chart]: ...


class Settings(Protocol):
    """What a study may be asked: a frozen dataclass that can be written down."""

    def record(self) -> dict[str, Any]: ...

    def check(self, systems: pl.DataFrame) -> None:
        """Refuse what these systems cannot answer, before anything is computed."""
        ...

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self: ...


@dataclass(frozen=True)
class Study:
    """A study as a value.

    Attributes
    ----------
    revision
        Raised when a change of the code changes its results: finished parts are then done again.
    settings
        The class of what it may be asked.
    charts
        Its figures from its tables, for whoever opens the results; None: it has none to give.
    tables
        The large tables, a folder with one file a track each.
    """

    name: str
    revision: int
    settings: type[Settings]
    per_track: PerTrack
    combine: Combine
    charts: Charts | None = None
    tables: tuple[str, ...] = ()
