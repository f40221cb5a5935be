"""The files of the catalogue, and what to do with each track: ranking tasks and qrels sets."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

import polars as pl

from irmeta.errors import UsageError, did_you_mean

FOLDER = Path(__file__).parent


@cache
def runs() -> pl.DataFrame:
    """Return every run of TREC from 1993 to 2023.

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

_FOLDER = Path(__file__).parent
_NO_RUNS = "the catalogue has no address of a run"
_NO_QRELS = "the catalogue has no address of qrels"
_REFUSED: dict[str, State] = {
    "not_ranking": "not a ranking task",
    "no_qrels": "no qrels",
    "needs_a_choice": "needs a choice",
}


@dataclass(frozen=True)
class QrelsChoice:
    """A qrels set of a task and where its files are.

    Attributes
    ----------
    name
        Name of the set, such as ``adhoc``.
    addresses
        Addresses of its files, joined in this order.
    members
        Patterns of the files in an archive, joined in the order of their names; empty where the
        address is the file itself.
    format
        ``trec``, ``subtopics`` (trec with a subtopic as second column), ``prels``, ``sample-eval``.
    primary
        Whether it is the task's first set.
    queries
        First and last number of the queries that count; None: all. Others are of another track.
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

    Attributes
    ----------
    name
        Name of the task; empty where the track has one.
    folder
        Name of the track's folder in a collection, such as ``trec15-terabyte-adhoc``.
    run_tasks
        Values of the catalogue's column task.
    sets
        Qrels sets, the primary first.
    note
        What a user should know of the runs or qrels.
    """

    name: str
    folder: str
    run_tasks: tuple[str, ...]
    sets: tuple[QrelsChoice, ...]
    note: str = ""


@dataclass(frozen=True)
class TrackChoices:
    """State of a track and its ranking tasks.

    Attributes
    ----------
    id
        Edition and folder, such as ``trec8/adhoc``.
    state
        Whether the track can be evaluated, and if not, what is missing.
    reason
        Why the state is not ``ready``, in words; the question where it needs a choice.
    tasks
        Ranking tasks; none unless the state is ``ready``.
    left_out
        Tasks of runs that are not used, each with the reason.
    """

    id: str
    state: State
    reason: str = ""
    tasks: tuple[TaskChoice, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()


def choices(track_id: str) -> TrackChoices:
    """Return the state of a track and its ranking tasks.

    Raises
    ------
    UsageError
        If the catalogue has no such track.

    Examples
    --------
    >>> choices("trec19/web").tasks[0].sets[1].name
    'diversity'
    """
    if track_id not in all_choices():
        hint = did_you_mean(track_id, all_choices())
        raise UsageError(f"No track {track_id!r} in the catalogue. {hint}")
    return all_choices()[track_id]


@cache
def all_choices() -> dict[str, TrackChoices]:
    """Return the state of each track of the catalogue, by id."""
    refused, ready, files = _refused(), _toml("ready"), _qrels_files()
    by_id: dict[str, TrackChoices] = {}
    for track_id, tasks, addresses in _tasks_and_addresses().iter_rows():
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
    return tomllib.loads((_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


def _refused() -> dict[str, tuple[State, str]]:
    """Return the state and reason of the tracks of not_ready.toml."""
    tables = _toml("not_ready")
    return {
        track_id: (state, table["reason"])
        for key, state in _REFUSED.items()
        for table in tables[key]
        for track_id in table["tracks"]
    }


def _qrels_files() -> dict[str, tuple[str, ...]]:
    grouped = qrels().group_by("id").agg(pl.col("address").unique(maintain_order=True))
    return {track_id: tuple(addresses) for track_id, addresses in grouped.iter_rows()}


def _tasks_and_addresses() -> pl.DataFrame:
    """Return the tasks and the number of addresses of runs, by id."""
    tasks = pl.col("task").unique().sort()
    return runs().group_by("id", maintain_order=True).agg(tasks, pl.col("address").count())


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
            run_tasks=tuple(one.get("runs", usable_tasks)),
            sets=tuple(_set(given, files, i == 0) for i, given in enumerate(one["qrels"])),
            note=one.get("note", ""),
        )
        for name, one in tables.items()
    )
    return TrackChoices(track_id, "ready", tasks=tasks, left_out=tuple(left_out.items()))


def _set(given: dict[str, Any], files: tuple[str, ...], first: bool) -> QrelsChoice:
    return QrelsChoice(
        name=given.get("name", "qrels"),
        addresses=(_address(given["file"], files),),
        members=tuple(given.get("members", ())),
        format=given.get("format", "trec"),
        primary=first,
        queries=tuple(given["queries"]) if "queries" in given else None,
    )


def _address(file: str, files: tuple[str, ...]) -> str:
    """Return the address in the catalogue that ends with a file name; keep a whole address."""
    if "://" in file:
        return file
    (address,) = (one for one in files if one.endswith(f"/{file.removeprefix('/')}"))
    return address
