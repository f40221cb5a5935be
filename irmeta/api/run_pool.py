"""Pools of runs before there are judgments: the docs to judge first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Unpack, get_args

import numpy as np
import polars as pl

from irmeta.api.validate import SYSTEMS, run_files, runs_in
from irmeta.errors import (
    DataError,
    QrelsWarning,
    UsageError,
    check_choice,
    check_whole,
    did_you_mean,
    warn,
)
from irmeta.locations import AnyLocation, local, location
from irmeta.options import check_names
from irmeta.policies import ReadPolicy, TieOrder
from irmeta.policy_keywords import RunChoices
from irmeta.schema.pool_tables import RUN_POOL
from irmeta.store.facts import Facts, read_facts
from irmeta.store.read_run import Run, SkippedRun, read_run
from irmeta.trec.rows import RowReader
from irmeta.trec.source import TrackSource
from irmeta.trec.streams import InputFile
from irmeta.trec.system_names import file_names
from irmeta.trec.tie_orders import ranks_under


def pool_of_runs(
    runs: AnyLocation | Iterable[AnyLocation],
    pool_depth: int,
    *,
    system: str | Iterable[str] | None = None,
    tie_order: TieOrder = "score-file",
    **choices: Unpack[RunChoices],
) -> pl.DataFrame:
    """Return the docs that some runs rank at a depth or above, without judgments.

    Parameters
    ----------
    runs : str, Path or iterable of them
        Run files, archives of runs, and folders of them. A file ``systems.csv`` in a folder of runs
        or above it, with the columns system, group (or team) and type, names teams.
    pool_depth : int
        Depth of the pool.
    system : str or iterable of str, optional
        Only docs of these runs, ``group=NAME`` or ``type=NAME``. Default: all.
    tie_order : str, default 'score-file'
        Order of docs with equal scores, as in `ReadPolicy`.
    **choices
        Fields of `ReadPolicy`: duplicates, malformed, run_format, drop_self, comments, drop_docs
        (such as docs that were judged before), chunks, columns.

    Returns
    -------
    DataFrame
        query, doc, depth (smallest rank in the runs), retrieved_by (runs that rank it within the
        depth), groups (their teams, where a run without one is a team of its own; null without
        ``systems.csv``): one row per doc, sorted by query and doc, since assessors should not see
        an order of ranks.

    Warns
    -----
    QrelsWarning
        If some of the docs of `drop_docs` are in no list.

    Raises
    ------
    UsageError
        If no run is named, a path does not exist, or a name of a system is unknown.
    DataError
        If no doc of `drop_docs` is in a list, or a run cannot be read: `irmeta.validate` lists all
        its errors.

    Examples
    --------
    >>> irmeta.pool_of_runs("collection/news/runs", 10).row(0)
    ('901', 'NW19990114-0039', 7, 3, 2)
    """
    check_whole("pool_depth", pool_depth)
    check_choice("tie_order", tie_order, get_args(TieOrder))
    check_names(choices, [*RunChoices.__annotations__])
    reading = ReadPolicy.of(choices)
    paths = [runs] if isinstance(runs, AnyLocation) else list(runs)
    reader = RowReader()
    source = run_files(paths, reading)
    read = _read(source, reader)
    if (rules := source.doc_rules) is not None:
        rules.check_effect()
        if (text := rules.note()) is not None:
            warn(text, QrelsWarning)
    facts = _facts(paths)
    names = file_names(read)
    wanted = [system] if isinstance(system, str) else None if system is None else list(system)
    chosen = names if wanted is None else _chosen(names, facts, wanted)
    docs = reader.docs.strings()
    order = docs.cast(pl.Binary).rank("dense").to_numpy()  # sorts as the docs' bytes
    tops = [
        _top(read[file], pool_depth, tie_order, docs, order).with_columns(
            group=pl.lit(_team(facts, name))
        )
        for file, name in chosen.items()
    ]
    groups = pl.col("group").n_unique() if facts else pl.lit(None)
    return RUN_POOL.frame(
        pl.concat(tops)
        .group_by("query", "doc")
        .agg(
            depth=pl.col("rank").min(),
            retrieved_by=pl.len().cast(pl.Int32),
            groups=groups.cast(pl.Int32),
        )
        .sort("query", "doc")
    )


def holds_runs_alone(paths: Sequence[AnyLocation]) -> bool:
    """Check whether paths are runs or folders of runs, without qrels."""
    first = location(paths[0])
    if not isinstance(first, Path):
        return False
    if first.is_dir():
        names = {path.name.lower() for path in first.rglob("*") if path.is_file()}
        is_other = "collection.toml" in names or any(name.endswith(".parquet") for name in names)
        return bool(names) and not (is_other or any("qrels" in name for name in names))
    if not first.is_file():
        return False
    source = run_files([first], ReadPolicy())
    file = next(runs_in(source, source.runs[0]))
    return isinstance(file, InputFile) and isinstance(read_run(source, file, RowReader()), Run)


def _read(source: TrackSource, reader: RowReader) -> dict[str, Run]:
    """Read all runs, by the names of their files."""
    read = dict[str, Run]()
    for name in source.runs:
        for file in runs_in(source, name):
            run = read_run(source, file, reader) if isinstance(file, InputFile) else file
            if not isinstance(run, Run):
                reason = run.reason if isinstance(run, SkippedRun) else str(run)
                raise DataError(f"{reason} `irmeta validate` lists all errors of the runs.")
            read[run.file] = run
    return read


def _facts(paths: Sequence[AnyLocation]) -> dict[str, Facts]:
    """Return the facts of systems of the first file of them beside or above the runs."""
    folders = [local(path) if local(path).is_dir() else local(path).parent for path in paths]
    for folder in [*folders, *(folder.absolute().parent for folder in folders)]:
        if (folder / SYSTEMS).is_file():
            return read_facts(TrackSource("", folder, (), (), systems=SYSTEMS))[0]
    return {}


def _chosen(
    names: Mapping[str, str], facts: Mapping[str, Facts], wanted: Sequence[str]
) -> dict[str, str]:
    """Return the files and names of the systems that are asked for."""
    systems = set[str]()
    for text in wanted:
        key, _, value = text.partition("=")
        if key in ("group", "type") and value:
            of_system = {name: getattr(facts.get(name), key, None) for name in names.values()}
        else:
            value, of_system = text, {name: name for name in names.values()}
        matching = {name for name, known in of_system.items() if known == value}
        if not matching:
            known = {known for known in of_system.values() if known is not None}
            hint = did_you_mean(value, known) if known else f"No {key} is known: see {SYSTEMS}."
            raise UsageError(f"no run is {text!r}. {hint}")
        systems |= matching
    return {file: name for file, name in names.items() if name in systems}


def _team(facts: Mapping[str, Facts], name: str) -> str:
    """Return the team of a run; a run without one is a team of its own."""
    team = facts[name].group if name in facts else None
    return f"run {name}" if team is None else f"team {team}"


def _top(
    run: Run, depth: int, tie_order: TieOrder, docs: pl.Series, order: np.ndarray
) -> pl.DataFrame:
    """Return query, doc and rank of the docs of a run down to a depth.

    `docs` are the names of all docs, and `order` numbers that sort as their bytes.
    """
    columns = run.columns.rows(0, run.rows)
    ranks = ranks_under(tie_order, run.starts, columns | {"doc": order[columns["doc"]]})
    rows = np.flatnonzero(ranks <= depth)
    queries = np.repeat(run.queries, np.diff(run.starts))[rows]
    return pl.DataFrame(
        {
            "query": run.reader.queries.strings().gather(queries),
            "doc": docs.gather(columns["doc"][rows]),
            "rank": ranks[rows],
        }
    )
