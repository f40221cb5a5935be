"""The studies of papers over a whole store, and what they leave behind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypedDict, Unpack

import polars as pl

from irmeta.api.jobs import check_folder
from irmeta.api.store import EvalChoices, Store
from irmeta.batch.run import Batch, Progress, run
from irmeta.errors import IrmetaError, UsageError, did_you_mean
from irmeta.policies import EvalPolicy
from irmeta.results.tables import provenance
from irmeta.store.layout import Layout
from irmeta.store.lock import only_writer
from irmeta.studies.atomized.figures import of_track, over_tracks
from irmeta.studies.atomized.groups import check_sides
from irmeta.studies.atomized.settings import Settings
from irmeta.studies.atomized.study import SEARCH_LENGTH
from irmeta.studies.base import Folder


class StudyChoices(TypedDict, total=False):
    """The fields of the study's `Settings`, as keywords."""

    rel: int
    unretrieved: str
    min_runs: int
    best_by: str | None
    baseline: str
    contender: str
    depth: int
    ratio: float
    alpha: float
    test: str
    resamples: int
    confidence: float
    seed: int


class Tables(Mapping[str, pl.DataFrame]):
    """The tables of a results folder by name, each read when it is asked for."""

    def __init__(self, folder: Path) -> None:
        self._files = {file.stem: file for file in sorted(folder.glob("*.parquet"))}

    def __getitem__(self, name: str) -> pl.DataFrame:
        if name not in self._files:
            raise UsageError(f"there is no table {name!r}. {did_you_mean(name, self._files)}")
        return pl.read_parquet(self._files[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


@dataclass(frozen=True)
class StudyResults:
    """What a study left in a folder.

    Attributes
    ----------
    batch
        What was done, what was there already, and what failed.
    """

    folder: Path
    batch: Batch

    @property
    def report(self) -> Path:
        """The page."""
        return self.folder / "report.html"

    @cached_property
    def tables(self) -> Tables:
        """By name; irmeta.schema says what their columns mean."""
        return Tables(self.folder)

    @cached_property
    def figures(self) -> dict[str, Any]:
        """Altair charts by name, for a notebook; those of one track are named TRACK/NAME."""
        record = provenance(self.folder / "means.parquet") or {}
        policy = EvalPolicy.from_record(record["eval_policy"])
        settings = Settings(**record["settings"], policy=policy)
        charts = {one.name: one.chart for one in over_tracks(self.tables, settings)}
        for track in self.tables["studied_tracks"]["track"]:
            for one in of_track(self.tables, track, settings):
                charts[f"{track}/{one.name}"] = one.chart
        return charts


def search_length(
    store: Store | str | Path,
    out: str | Path,
    *,
    tracks: str | Sequence[str] | None = None,
    force: bool = False,
    progress: Progress | None = None,
    policy: EvalChoices | None = None,
    **choices: Unpack[StudyChoices],
) -> StudyResults:
    """Paper 1 in full: Alex, Hall and Metzler 2022, Atomized Search Length.

    Parameters
    ----------
    store
        A store, or its folder.
    out
        The results' folder: new, empty, or one that the study made; any other with `force`. Tracks
        whose input has not changed are not done again.
    tracks
        Only these.
    policy
        queries, negative, qrels, tie_order: see `EvalPolicy`.
    **choices
        See `irmeta.studies.atomized.settings.Settings`.

    Raises
    ------
    UsageError
        For a choice that is none, or a track or side of Table 1 that the store does not have.
    IrmetaError
        When a track could not be done; the others are in the folder.
    """
    done = study_tracks(store, out, tracks, force, progress, policy, choices)
    if done.batch.failed:
        said = " ".join(f"{track}: {error}" for track, error in done.batch.failed)
        raise IrmetaError(f"{len(done.batch.failed)} tracks failed. {said}")
    return done


def study_tracks(
    store: Store | str | Path,
    out: str | Path,
    tracks: str | Sequence[str] | None,
    force: bool,
    progress: Progress | None,
    policy: EvalChoices | None,
    choices: StudyChoices,
) -> StudyResults:
    """As `search_length`, but failed tracks are in the result's batch."""
    opened = store if isinstance(store, Store) else Store(store)
    settings = Settings(**choices, policy=EvalPolicy(**(policy or {})))
    layout, folder = Layout(opened.path), Folder(Path(out))
    asked = [tracks] if isinstance(tracks, str) else tracks
    chosen = opened.tracks if asked is None else [layout.read_record(t)["track"] for t in asked]
    if not chosen:
        raise UsageError(f"{opened.path} holds no complete track.")
    check_sides(settings, pl.concat([opened.systems(track) for track in chosen]))
    check_folder(folder, force)
    with only_writer(folder.parts):
        batch = run(SEARCH_LENGTH, layout, chosen, settings.record(), folder, progress)
    return StudyResults(folder.root, batch)
