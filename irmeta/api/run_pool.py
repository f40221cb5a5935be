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
from irmeta.policies import JudgingOrder, ReadPolicy, TieOrder
from irmeta.policy_keywords import RunChoices
from irmeta.rankings.derive.sample import hash_of, seed_of
from irmeta.rankings.judging_orders import NOT_HELD, SAMPLED, JudgingPool, checked_orders
from irmeta.schema.pool_tables import NEXT_DOCS, RUN_POOL
from irmeta.store.facts import Facts, read_facts
from irmeta.store.read_run import Run, SkippedRun, read_run
from irmeta.trec.readers.files import read_qrels
from irmeta.trec.runs import RowReader
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
    wanted = [system] if isinstance(system, str) else None if system is None else list(system)
    tops, facts = _tops(runs, pool_depth, tie_order, wanted, choices)
    groups = pl.col("group").n_unique() if facts else pl.lit(None)
    return RUN_POOL.frame(
        pl.concat(tops.values())
        .group_by("query", "doc")
        .agg(
            depth=pl.col("rank").min(),
            retrieved_by=pl.len().cast(pl.Int32),
            groups=groups.cast(pl.Int32),
        )
        .sort("query", "doc")
    )


def next_docs(
    runs: AnyLocation | Iterable[AnyLocation],
    number: int,
    *,
    qrels: AnyLocation | None = None,
    order: JudgingOrder = "bandit",
    pool_depth: int = 100,
    rel: float = 1,
    rng: int | np.random.Generator = 0,
    tie_order: TieOrder = "score-file",
    **choices: Unpack[RunChoices],
) -> pl.DataFrame:
    """Return the docs of a pool to judge next, by the labels so far.

    The order is gone through from its beginning: a doc that the qrels judge counts by its label,
    another one is listed, and counts as non-relevant for the docs after it. So the same qrels, runs
    and seed give the same docs, and with docs judged one by one these are those of
    `Store.pools.budget`.

    Parameters
    ----------
    runs : str, Path or iterable of them
        See `pool_of_runs`.
    number : int
        Docs to list, over all queries.
    qrels : str or Path, optional
        File of the labels so far; grades below 0 are none. Default: no doc is judged.
    order : str, default 'bandit'
        An order of `Store.pools.budget` but ``judge`` and ``sample``.
    pool_depth : int, default 100
        Depth of the pool: no doc below this rank of every list is listed.
    rel : float, default 1
        Least relevant grade.
    rng : int or Generator, default 0
        Random seed, of equal docs and lists and of ``thompson``.
    tie_order, **choices
        See `pool_of_runs`.

    Returns
    -------
    DataFrame
        place (from 1), query, doc, depth (smallest rank in the runs), retrieved_by (runs that rank
        it within the depth): one row per doc, in the order of judging; fewer than `number` where
        the pool has no more.

    Raises
    ------
    UsageError
        If a path does not exist or a choice is unknown.
    DataError
        If a file cannot be read, or no doc of the qrels is in the pool.

    Examples
    --------
    >>> irmeta.next_docs("collection/news/runs", 2).select("query", "depth").rows()
    [('915', 1), ('914', 1)]
    """
    check_whole("number", number)
    check_choice("order", order, [*get_args(JudgingOrder)])
    (chosen,) = checked_orders([order])
    if chosen in ("judge", SAMPLED):
        raise UsageError(f"order = {order!r} is for simulations: it has no next docs.")
    tops, _ = _tops(runs, pool_depth, tie_order, None, choices)
    rows = pl.concat(
        top.with_columns(list=pl.lit(column)) for column, top in enumerate(tops.values())
    )
    docs = rows.group_by("query", "doc").agg("list", "rank").sort("query", "doc")
    labels = docs.select("query", "doc").with_columns(grade=pl.lit(None, pl.Float64))
    if qrels is not None:
        reading = ReadPolicy.of(choices)
        file = run_files([qrels], reading).input_file(local(qrels).as_posix())
        judged = read_qrels(file, comments=reading.comments).frame
        judged = judged.group_by("query", "doc").agg(pl.col("grade").max().cast(pl.Float64))
        known = docs.select("query", "doc").with_columns(pl.all().cast(pl.String))
        labels = known.join(
            judged.with_columns(pl.col("query", "doc").cast(pl.String)),
            on=["query", "doc"], how="left", maintain_order="left",
        )  # fmt: skip
        if labels["grade"].null_count() == labels.height:
            raise DataError(
                f"no judged doc is among the first {pool_depth} docs of a run",
                file=str(qrels),
                fix="Compare the ids of queries and docs with those of the runs.",
            )
    grades = labels["grade"].fill_null(-1).to_numpy()
    ids = docs["query"].cast(pl.String), docs["doc"].cast(pl.String)
    ranks = np.full((docs.height, len(tops)), NOT_HELD)
    of_row = np.repeat(np.arange(docs.height), docs["list"].list.len().to_numpy())
    ranks[of_row, docs["list"].explode().to_numpy()] = docs["rank"].explode().to_numpy()
    queries = ids[0].unique(maintain_order=True)
    sizes = docs.group_by("query", maintain_order=True).len()["len"].to_numpy().astype(np.int64)
    pool = JudgingPool(
        queries.to_list(),
        list(tops),
        np.concatenate([[0], np.cumsum(sizes)]),
        np.array([*map(hash_of, *ids)], np.uint64),
        ranks,
        np.where(grades < 0, -1, grades >= rel).astype(np.int8),
    )
    places = pool.places(chosen, seed_of(rng))
    unjudged = np.flatnonzero(pool.labels < 0)
    first = unjudged[np.argsort(places[unjudged])][:number]
    return NEXT_DOCS.frame(
        {
            "place": np.arange(1, len(first) + 1),
            "query": ids[0].gather(first),
            "doc": ids[1].gather(first),
            "depth": ranks.min(axis=1)[first],
            "retrieved_by": (ranks < NOT_HELD).sum(axis=1)[first],
        }
    )


def _tops(
    runs: AnyLocation | Iterable[AnyLocation],
    depth: int,
    tie_order: TieOrder,
    wanted: Sequence[str] | None,
    choices: RunChoices,
) -> tuple[dict[str, pl.DataFrame], Mapping[str, Facts]]:
    """Return query, doc, rank and group of the first docs of runs, by name, and their facts."""
    check_whole("pool_depth", depth)
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
    facts, names = _facts(paths), file_names(read)
    chosen = names if wanted is None else _chosen(names, facts, wanted)
    docs = reader.docs.strings()
    order = docs.cast(pl.Binary).rank("dense").to_numpy()  # sorts as the docs' bytes
    tops = dict[str, pl.DataFrame]()
    for file, name in chosen.items():
        group = facts[name].group if name in facts else None
        # A run without a team is a team of its own.
        team = f"run {name}" if group is None else f"team {group}"
        tops[name] = _top(read[file], depth, tie_order, docs, order).with_columns(
            group=pl.lit(team)
        )
    return tops, facts


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
