"""The catalogue of TREC: tracks, runs, qrels, published scores; and ranking tasks of each track."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

import polars as pl

from irmeta.errors import UsageError, check_choice, did_you_mean
from irmeta.parallel import check_not_forked
from irmeta.phrases import count
from irmeta.schema.result_tables import CATALOG_LEFT_OUT, CATALOG_SETS
from irmeta.summaries import Result, Summary

FOLDER = Path(__file__).parent


@cache
def runs() -> pl.DataFrame:
    """Return every run of TREC from 1993 to 2025.

    Returns
    -------
    DataFrame
        id, edition, year, track (the title), task (empty where a track has one), run, group, type,
        address and md5 (null where unknown), sorted by id and run. A name may occur twice in a
        track with several tasks: (id, task, run) is unique.
    """
    return pl.read_parquet(FOLDER / "runs.parquet")


@cache
def qrels() -> pl.DataFrame:
    """Return the address of every qrels file.

    Returns
    -------
    DataFrame
        id, name (as NIST writes it), address. Some addresses are pages that link to files.
    """
    return pl.read_parquet(FOLDER / "qrels.parquet")


@cache
def topics() -> pl.DataFrame:
    """Return the address of every file of topics, of 2024 and 2025: id, name, address."""
    return pl.read_parquet(FOLDER / "topics.parquet")


@cache
def published() -> pl.DataFrame:
    """Return every published mean score of a run.

    Returns
    -------
    DataFrame
        id, run, evaluator, measure (as published), occurrence, value (text: its digits matter).
        Where a key repeats, because a run was scored for several tasks, `occurrence` counts from 0.
    """
    return pl.read_parquet(FOLDER / "published.parquet")


State = Literal["ready", "needs a choice", "not a ranking task", "no qrels", "no runs"]
STATES: tuple[State, ...] = get_args(State)
Format = Literal["trec", "subtopics", "prels", "sample-eval"]

_NO_RUNS = "the catalogue has no address of a run"
_NO_QRELS = "the catalogue has no address of qrels"
_REFUSED: dict[str, State] = {
    "not_ranking": "not a ranking task",
    "no_qrels": "no qrels",
    "needs_a_choice": "needs a choice",
}


@dataclass(frozen=True)
class QrelsChoice:
    """A qrels set of a task, such as ``adhoc``, and the addresses of its files, joined in order.

    `members` are patterns of files in an archive, `format` is ``trec``, ``subtopics``, ``prels`` or
    ``sample-eval``, and only `queries`, first and last number, count.
    """

    name: str
    addresses: tuple[str, ...]
    members: tuple[str, ...] = ()
    format: Format = "trec"
    primary: bool = True
    queries: tuple[int, int] | None = None


@dataclass(frozen=True)
class TaskChoice:
    """A ranking task: runs and qrels over the same topics and docs, a track of a collection.

    Its name is empty where the track has one; `folder` is like ``trec15-terabyte-adhoc``,
    `run_tasks` are values of the catalogue's column task, and the primary of `sets` is first.
    """

    name: str
    folder: str
    run_tasks: tuple[str, ...]
    sets: tuple[QrelsChoice, ...]
    note: str = ""


@dataclass(frozen=True)
class TrackChoices:
    """State of a track such as ``trec8/adhoc``, its ranking tasks if ``ready``, and others.

    `reason` says why the state is another, or asks the question where it needs a choice.
    """

    id: str
    state: State
    reason: str = ""
    tasks: tuple[TaskChoice, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()


def choices(track_id: str) -> TrackChoices:
    """Return the state of a track and its ranking tasks; `UsageError` for an unknown track."""
    if track_id not in all_choices():
        hint = did_you_mean(track_id, all_choices())
        raise UsageError(f"No track {track_id!r} in the catalogue. {hint}")
    return all_choices()[track_id]


@cache
def all_choices() -> dict[str, TrackChoices]:
    """Return the state of each track of the catalogue, by id."""
    refused, ready = _refused(), _toml("ready")
    listed_files = qrels().group_by("id").agg(pl.col("address").unique(maintain_order=True))
    files = {track_id: tuple(addresses) for track_id, addresses in listed_files.iter_rows()}
    task = pl.col("task").unique().sort()
    counted = runs().group_by("id", maintain_order=True).agg(task, pl.col("address").count())
    by_id: dict[str, TrackChoices] = {}
    for track_id, tasks, addresses in counted.iter_rows():
        if track_id in ready:
            listed = files.get(track_id, ())
            by_id[track_id] = _ready(track_id, ready[track_id], tuple(tasks), listed)
        elif track_id in refused and refused[track_id][0] == "not a ranking task":
            by_id[track_id] = TrackChoices(track_id, *refused[track_id])
        elif not addresses:
            by_id[track_id] = TrackChoices(track_id, "no runs", _NO_RUNS)
        elif track_id in refused:
            by_id[track_id] = TrackChoices(track_id, *refused[track_id])
        elif track_id not in files:
            by_id[track_id] = TrackChoices(track_id, "no qrels", _NO_QRELS)
        else:
            raise ValueError(f"{track_id}: ready.toml and not_ready.toml do not name this track")
    return by_id


def _toml(name: str) -> dict[str, Any]:
    return tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


def _refused() -> dict[str, tuple[State, str]]:
    """Return the state and reason of the tracks of not_ready.toml."""
    tables = _toml("not_ready")
    return {
        track_id: (state, table["reason"])
        for key, state in _REFUSED.items()
        for table in tables[key]
        for track_id in table["tracks"]
    }


def _ready(
    track_id: str, table: dict[str, Any], run_tasks: tuple[str, ...], files: tuple[str, ...]
) -> TrackChoices:
    left_out: dict[str, str] = table.get("left_out", {})
    usable_tasks = tuple(task for task in run_tasks if task not in left_out)
    tables: dict[str, dict[str, Any]] = table.get("tasks") or {"": table}
    tasks = tuple(
        TaskChoice(
            name=name,
            folder="-".join(filter(None, [*track_id.split("/"), name])),
            run_tasks=tuple(task.get("runs", usable_tasks)),
            sets=tuple(
                _set(qrels_table, files, i == 0) for i, qrels_table in enumerate(task["qrels"])
            ),
            note=task.get("note", ""),
        )
        for name, task in tables.items()
    )
    return TrackChoices(track_id, "ready", tasks=tasks, left_out=tuple(left_out.items()))


def _set(table: dict[str, Any], files: tuple[str, ...], first: bool) -> QrelsChoice:
    address: str = table["file"]  # or its end, of an address of the catalogue
    if "://" not in address:
        ending = f"/{address.removeprefix('/')}"
        (address,) = (known for known in files if known.endswith(ending))
    return QrelsChoice(
        name=table.get("name", "qrels"),
        addresses=(address,),
        members=tuple(table.get("members", ())),
        format=table.get("format", "trec"),
        primary=first,
        queries=tuple(table["queries"]) if "queries" in table else None,
    )


HAS = ("qrels", "runs", "published")
_YEARS = re.compile(r"(\d{4})(?:-(\d{4}))?")


@cache
def tracks() -> pl.DataFrame:
    """Return every track with its counts and state, in the order of years.

    Returns
    -------
    DataFrame
        id, edition, year, track, tasks (list), runs, addresses (runs with one), groups, qrels
        (files), published (scores), evaluators (list), state, reason.
    """
    task = pl.col("task")
    counted = (
        runs()
        .group_by("id", maintain_order=True)
        .agg(
            pl.col("edition", "year", "track").first(),
            task.filter(task != "").unique().sort().alias("tasks"),
            pl.len().alias("runs"),
            pl.col("address").count().alias("addresses"),
            pl.col("group").n_unique().alias("groups"),
        )
    )
    files = qrels().group_by("id").agg(pl.len().alias("qrels"))
    scores = (
        published()
        .group_by("id")
        .agg(pl.len().alias("published"), pl.col("evaluator").unique().sort().alias("evaluators"))
    )
    states = pl.DataFrame(
        [(key, choice.state, choice.reason) for key, choice in all_choices().items()],
        schema={"id": pl.String, "state": pl.String, "reason": pl.String},
        orient="row",
    )
    joined = counted
    for frame in (files, scores, states):
        joined = joined.join(frame, on="id", how="left")
    no_names = pl.lit([], pl.List(pl.String))
    return joined.with_columns(
        pl.col("qrels", "published").fill_null(0), pl.col("evaluators").fill_null(no_names)
    ).sort("year", pl.col("edition").str.extract(r"(\d+)$").cast(pl.Int32), "id")


def find(
    patterns: Sequence[str] = (),
    *,
    year: str | int | None = None,
    track: str | None = None,
    task: str | None = None,
    has: Collection[str] = (),
    state: str | None = None,
) -> list[str]:
    """Return the ids of the tracks that pass all filters, in the order of years.

    `patterns` of ids such as ``trec1?/web``; `year` such as ``1999-2005,2010``; `track` and `task`
    are names or patterns of a track's folder or title, and of a task of its runs or a folder,
    whatever the case; `has` any of qrels, runs (an address) and published. A pattern that matches
    nothing is a `UsageError`.
    """
    for name in has:
        check_choice("has", name, HAS)
    if state is not None:
        check_choice("state", state, STATES)
    years = None if year is None else _years(str(year))
    ids, named = tracks()["id"].to_list(), set[str]()
    for pattern in patterns:
        if not (matched := [key for key in ids if fnmatchcase(key, pattern)]):
            hint = did_you_mean(pattern, ids)
            raise UsageError(f"No track {pattern!r} in the catalogue. {hint}")
        named.update(matched)
    return [
        row["id"]
        for row in tracks().iter_rows(named=True)
        if (not patterns or row["id"] in named)
        and (years is None or row["year"] in years)
        and (track is None or _any_like(track, (row["id"].partition("/")[2], row["track"])))
        and (task is None or _any_like(task, (*row["tasks"], row["id"].partition("/")[2])))
        and all(row["addresses" if name == "runs" else name] for name in has)
        and state in (None, row["state"])
    ]


def _any_like(pattern: str, names: Sequence[str]) -> bool:
    return any(fnmatchcase(name.lower(), pattern.lower()) for name in names)


def _years(given: str) -> set[int]:
    """Parse years and ranges of years joined by commas."""
    years: set[int] = set()
    for part in given.split(","):
        match = _YEARS.fullmatch(part.strip())
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if first > last:
            raise UsageError(f"year = {given!r} is not a year, nor a range such as 1999-2005.")
        years.update(range(first, last + 1))
    return years


SHOWN_OF_TRACKS = (
    *("id", "year", "track", "runs", "addresses", "groups", "qrels", "published"),
    "state",
)
"""Columns of `Catalog.tracks` that are printed."""


@dataclass(frozen=True, repr=False)
class Catalog(Result):
    """Facts about some of TREC's tracks.

    The values of `type` are those that participants gave; a run without one is null. Names of
    published systems are as NIST prints them, which are not always the names of runs.

    Attributes
    ----------
    ids
        Ids of the tracks, such as ``trec8/adhoc``, in the order of years.

    Examples
    --------
    >>> irmeta.catalog("trec13/robust").tracks.select("runs", "published").row(0)
    (110, 550)
    """

    ids: tuple[str, ...]

    @property
    def tracks(self) -> pl.DataFrame:
        """Tracks with their counts and state.

        Columns: id, edition, year, track (the title), tasks (a list), runs, addresses (runs that
        have one), groups, qrels (addresses), published (scores), evaluators (a list), state, reason
        (of a state other than ``ready``).
        """
        return self._of(tracks())

    @property
    def runs(self) -> pl.DataFrame:
        """Runs: id, edition, year, track, task, run, group, type, address and md5 where known.

        `task` is empty where a track has one task. A name may occur in two tasks of a track.
        """
        return self._of(runs())

    @property
    def qrels(self) -> pl.DataFrame:
        """Qrels as NIST lists them: id, name, address. Some addresses are pages, not files."""
        return self._of(qrels())

    @property
    def topics(self) -> pl.DataFrame:
        """Topics as NIST lists them for 2024 and 2025: id, name, address."""
        return self._of(topics())

    @property
    def sets(self) -> pl.DataFrame:
        """Qrels sets that irmeta uses, the primary set of a track first.

        Columns: id, track (name in a collection), run_tasks (a list), set, format, members
        (patterns of files in an archive; a list), queries (the range of those that count, null for
        all), address, note. Tracks that are not ``ready`` have none.
        """
        rows = [
            (
                key,
                task.folder,
                task.run_tasks,
                qrels.name,
                qrels.format,
                qrels.members,
                "-".join(map(str, qrels.queries)) if qrels.queries else None,
                address,
                task.note,
            )
            for key in self.ids
            for task in choices(key).tasks
            for qrels in task.sets
            for address in qrels.addresses
        ]
        return CATALOG_SETS.frame(rows)

    @property
    def left_out(self) -> pl.DataFrame:
        """Runs of ``ready`` tracks that are not evaluated: id, task, runs, reason."""
        rows = [
            (key, *task_and_reason) for key in self.ids for task_and_reason in choices(key).left_out
        ]
        counted = self.runs.group_by("id", "task").agg(pl.len().alias("runs"))
        joined = CATALOG_LEFT_OUT.frame(rows).join(
            counted, on=["id", "task"], how="left", maintain_order="left"
        )
        return joined.select("id", "task", "runs", "reason")

    @property
    def published(self) -> pl.DataFrame:
        """Published means: id, run, evaluator, measure, occurrence, value (text as printed).

        `occurrence` counts from 0 where a run has several values of a measure.
        """
        return self._of(published())

    def _of(self, frame: pl.DataFrame) -> pl.DataFrame:
        return frame.filter(pl.col("id").is_in(self.ids))

    def _summary(self) -> Summary:
        tracks = self.tracks
        runs, files, scores = tracks.select(pl.col("runs", "qrels", "published").sum()).row(0)
        counts = [
            count(tracks.height, "track"),
            count(runs, "run"),
            count(files, "file of qrels", "files of qrels"),
            count(scores, "published score"),
        ]
        return Summary("", counts)

    def frame(self) -> pl.DataFrame:
        """Return `tracks`."""
        return self.tracks

    def _table(self) -> pl.DataFrame:
        year = pl.col("year").cast(pl.String)
        return self.tracks.select(*SHOWN_OF_TRACKS).with_columns(year)


def catalog(
    tracks: str | Sequence[str] = (),
    *,
    year: str | int | None = None,
    track: str | None = None,
    task: str | None = None,
    has: str | Collection[str] = (),
    state: str | None = None,
) -> Catalog:
    """Look up TREC's tracks: their runs, groups, qrels and published scores.

    Nothing is downloaded: the facts are part of the package.

    Parameters
    ----------
    tracks : str or sequence of str, optional
        Ids such as ``trec8/adhoc``, or patterns such as ``trec1?/web``. Default: all tracks.
    year : str or int, optional
        A year, a range such as ``1999-2005``, or several joined by commas.
    track, task : str, optional
        Name or pattern of a track, such as ``web``, and of a task; case is ignored. A track's
        name counts as a task, too: the tasks of ``trec5/adhoc`` are its categories A and B.
    has : str or collection of str, optional
        Only tracks with addresses of ``qrels``, addresses of ``runs``, or ``published`` scores.
    state : str, optional
        ``ready`` (can be evaluated), ``needs a choice`` (about its qrels), ``not a ranking task``,
        ``no qrels`` or ``no runs`` (of known address).

    Returns
    -------
    Catalog
        Frames of the selected tracks, perhaps of none.

    Raises
    ------
    UsageError
        If an id or pattern matches no track, or a filter is malformed.

    Examples
    --------
    >>> found = irmeta.catalog(year="1999-2005", track="robust", has="qrels,runs")
    >>> found.tracks.select("id", "runs", "groups")
    shape: (3, 3)
    ┌───────────────┬──────┬────────┐
    │ id            ┆ runs ┆ groups │
    │ ---           ┆ ---  ┆ ---    │
    │ str           ┆ u32  ┆ u32    │
    ╞═══════════════╪══════╪════════╡
    │ trec12/robust ┆ 78   ┆ 16     │
    │ trec13/robust ┆ 110  ┆ 14     │
    │ trec14/robust ┆ 74   ┆ 17     │
    └───────────────┴──────┴────────┘
    """
    check_not_forked()
    patterns = [tracks] if isinstance(tracks, str) else list(tracks)
    wanted = [fact.strip() for fact in has.split(",")] if isinstance(has, str) else has
    selected = find(patterns, year=year, track=track, task=task, has=wanted, state=state)
    return Catalog(tuple(selected))
