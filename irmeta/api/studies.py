"""The studies of papers over a whole store, and what they leave behind."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import Any, TypedDict, TypeVar, Unpack

import polars as pl

from irmeta.api.jobs import check_folder
from irmeta.api.store import EvalChoices, Store
from irmeta.batch.run import Batch, Progress, run
from irmeta.errors import DataError, IrmetaError, UsageError, did_you_mean
from irmeta.policies import EvalPolicy
from irmeta.results.tables import provenance
from irmeta.store.lock import only_writer
from irmeta.store.scan import Tracks, tracks_of
from irmeta.studies.atomized.settings import Settings
from irmeta.studies.atomized.study import SEARCH_LENGTH
from irmeta.studies.base import Folder, Study
from irmeta.studies.base import Settings as AnySettings

Item = TypeVar("Item")
STUDIES: Mapping[str, Study] = {study.name: study for study in (SEARCH_LENGTH,)}


class StudyChoices(TypedDict, total=False):
    """The fields of the study's `Settings`, as keywords."""

    rel: int
    unretrieved: str
    min_runs: int
    best_by: str | None
    baseline: str
    contender: str
    firsts: tuple[int, ...]
    depth: int
    ratio: float
    alpha: float
    test: str
    resamples: int
    confidence: float
    seed: int


class _Named(Mapping[str, Item]):
    """Things by name, each made when it is asked for."""

    def __init__(self, what: str, makers: Mapping[str, Callable[[], Item]]) -> None:
        self._what, self._makers = what, makers

    def __getitem__(self, name: str) -> Item:
        if name not in self._makers:
            raise UsageError(f"no {self._what} {name!r}. {did_you_mean(name, self._makers)}")
        return self._makers[name]()

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)

    def __repr__(self) -> str:
        return f"{len(self)} {self._what}s: {', '.join(self)}"


class StudyResults:
    """What a study left in a folder.

    Parameters
    ----------
    folder
        The folder that a study was given as `out`.
    batch
        What was done, what was there already, and what failed; None where it was only opened.

    Raises
    ------
    UsageError
        If no study's results are there.
    """

    def __init__(self, folder: str | Path, batch: Batch | None = None) -> None:
        self.folder, self.batch = Path(folder), batch
        files = sorted(self.folder.glob("*.parquet"))
        record = next((found for file in files if (found := provenance(file))), {})
        if record.get("study") not in STUDIES:
            raise UsageError(f"{folder} holds no study's results.")
        self.provenance = record
        self._study = STUDIES[record["study"]]

    def __repr__(self) -> str:
        return f"StudyResults({str(self.folder)!r}: {len(self.tables)} tables)"

    @property
    def report(self) -> Path:
        """The page."""
        return self.folder / "report.html"

    @property
    def tables(self) -> Mapping[str, pl.DataFrame]:
        """By name, read when asked for; irmeta.schema says what their columns mean."""
        files = sorted(self.folder.glob("*.parquet"))
        return _Named("table", {file.stem: partial(pl.read_parquet, file) for file in files})

    @property
    def figures(self) -> Mapping[str, Any]:
        """Altair charts by name, drawn when asked for; those of one track are TRACK/NAME."""
        charts = self._study.charts
        if charts is None:
            return _Named("figure", {})
        settings = self._study.settings.from_record(self.provenance["settings"])
        tables = dict(self.tables)
        makers = {one.name: one.draw for one in charts(tables, settings, None)}
        for track in self.provenance["tracks"]:
            for one in charts(tables, settings, track):
                makers[f"{track}/{one.name}"] = one.draw
        return _Named("figure", makers)


def search_length(
    store: Store | str | Path,
    out: str | Path,
    *,
    tracks: Tracks = None,
    force: bool = False,
    workers: int | None = None,
    executor: Executor | None = None,
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
        Only these; results of others that are in `out` are removed.
    workers
        Threads over tracks; default the usable cores. The results do not depend on it.
    executor
        Any concurrent.futures.Executor in their place: processes that are spawned, not
        forked, or a cluster.
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
    settings = Settings(**choices, policy=EvalPolicy(**(policy or {})))
    done = run_study(
        SEARCH_LENGTH,
        store,
        out,
        settings,
        tracks=tracks,
        force=force,
        workers=workers,
        executor=executor,
        progress=progress,
    )
    if done.batch is not None and done.batch.failed:
        raise IrmetaError(failures(done.batch))
    return done


def open_study(folder: str | Path) -> StudyResults:
    """The results that a study left in a folder."""
    return StudyResults(folder)


def run_study(
    study: Study,
    store: Store | str | Path,
    out: str | Path,
    settings: AnySettings,
    *,
    tracks: Tracks = None,
    force: bool = False,
    workers: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> StudyResults:
    """Any study over a store's tracks; a track that fails is in the result's batch."""
    opened = store if isinstance(store, Store) else Store(store)
    reader, folder = opened.reader, Folder(Path(out))
    chosen = tracks_of(reader, tracks)
    facts = [own for track in chosen if (own := _systems(opened, track)) is not None]
    if facts:
        settings.check(pl.concat(facts))
    check_folder(folder, study.name, force)
    record = settings.record()
    with only_writer(folder.parts):
        batch = run(
            study, reader, chosen, record, folder, progress, workers=workers, executor=executor
        )
    if not (batch.analysed or batch.unchanged):
        raise IrmetaError(failures(batch))
    return StudyResults(folder.root, batch)


def _systems(store: Store, track: str) -> pl.DataFrame | None:
    """What is known of a track's systems; None where it cannot be read, as the batch will say."""
    try:
        return store.systems(track)
    except DataError:
        return None


def failures(batch: Batch) -> str:
    """Which tracks failed and why, in one line."""
    said = " ".join(error for _, error in batch.failed)
    return f"{len(batch.failed)} of the tracks failed. {said}"
