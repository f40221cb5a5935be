"""The output of trec_eval for a run, as text."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from irmeta.errors import IrmetaError
from irmeta.measures.average_precision import docs_needed
from irmeta.measures.evaluate import evaluate
from irmeta.measures.names import Spec, parse_measure
from irmeta.measures.trec_eval_names import (
    SUMMARY_ONLY,
    Line,
    TrecEvalError,
    TrecEvalOptions,
    line_of,
    lines_of,
)
from irmeta.naming.parameters import numbers
from irmeta.policies import EvalPolicy, ReadPolicy
from irmeta.rankings.load import evaluation_of
from irmeta.rankings.needs import needs_of
from irmeta.results.scores import Scores
from irmeta.store.memory import MemoryStore, read_into_memory
from irmeta.store.ranked_track import Evaluation
from irmeta.store.scan import lazy, read_table
from irmeta.trec.source import TrackSource, track_of_files
from irmeta.trec.streams import open_stream
from irmeta.trec.text import Text, lines

CANNOT_READ, QUERY_FAILED, NO_QUERY = 2, 4, 7
"""Exit statuses of trec_eval."""
_SPOILT = "The first: "  # of the runs that cannot be used
_OTHER_OPTIONS = re.compile(r" `\w+=[^`]*`[^.]*\.")  # a sentence about a keyword of `evaluate`
_ELSEWHERE = "none of its queries is judged"
_SEVERAL_TAGS = " tags, the first is used"


def trec_eval(
    qrels: str | Path,
    run: str | Path,
    measures: Sequence[str] = ("official",),
    *,
    per_query: bool = False,
    summary: bool = True,
    options: TrecEvalOptions | None = None,
) -> Iterator[str]:
    """Yield the lines that trec_eval prints for a run, with their ends.

    Parameters
    ----------
    qrels, run : str or Path
        Files in TREC form, compressed or not.
    measures : sequence of str
        Arguments of ``-m``.
    per_query, summary : bool
        Whether to print single queries (``-q``), and all queries (not with ``-n``).
    options : TrecEvalOptions, optional
        Version and options that change values.

    Raises
    ------
    TrecEvalError
        Where trec_eval stops, with its exit status. Version 10 stops without ``-c`` at the first
        judged query that the run misses, after the output of earlier queries.
    """
    options = options or TrecEvalOptions()
    asked = _Asked.of(measures, options, per_query=per_query, summary=summary)
    store, source, system = _read(qrels, run, options, asked.evaluation)
    scores = evaluate(store, source.name, asked.specs, asked.policy)
    strings = _relstrings(store, source.name, asked.printed, options) if per_query else {}
    yield from asked.lines(scores, source, system, strings)


def trec_eval_each(
    qrels: str | Path,
    runs: Sequence[str | Path],
    measures: Sequence[str] = ("official",),
    *,
    per_query: bool = False,
    summary: bool = True,
    options: TrecEvalOptions | None = None,
) -> Iterator[Iterator[str]]:
    """Yield the lines of `trec_eval` for each of several runs.

    The qrels are read once for runs that are read together; that are those of up to `MOST_BYTES`,
    unless one of them cannot be used.
    """
    options = options or TrecEvalOptions()
    shown = {"per_query": per_query, "summary": summary}
    for batch in _batches(runs):
        asked = _Asked.of(measures, options, **shown)
        together = None if len(batch) == 1 else _together(qrels, batch, asked)
        for run in batch:
            if together is None:
                yield trec_eval(qrels, run, measures, **shown, options=options)
            else:
                yield together(run)


MOST_BYTES = 1 << 28
"""Bytes of the text of runs that are read together."""
PACKED = 4
"""About how many times as large as a compressed run its text is."""


def _batches(runs: Sequence[str | Path]) -> Iterator[list[str | Path]]:
    batch, held = list[str | Path](), 0
    for run in runs:
        path = Path(run)
        size = path.stat().st_size if path.is_file() else MOST_BYTES
        size *= 1 if path.suffix in (".txt", "") else PACKED
        if batch and held + size > MOST_BYTES:
            yield batch
            batch, held = [], 0
        batch.append(run)
        held += size
    if batch:
        yield batch


@dataclass(frozen=True)
class _Asked:
    """What to print of a run, and how to compute it; no `evaluation` for grades of all docs."""

    options: TrecEvalOptions
    printed: Sequence[Line]
    specs: list[Spec]
    policy: EvalPolicy
    evaluation: Evaluation | None
    per_query: bool
    summary: bool

    @classmethod
    def of(
        cls, measures: Sequence[str], options: TrecEvalOptions, *, per_query: bool, summary: bool
    ) -> _Asked:
        printed = lines_of(measures, options)
        specs, policy = _evaluated(printed, options)
        has_strings = per_query and any(line.stem == "relstring" for line in printed)
        evaluation = None if has_strings else evaluation_of(policy, needs_of(specs))
        return cls(options, printed, specs, policy, evaluation, per_query, summary)

    def lines(
        self,
        scores: Scores,
        source: TrackSource,
        system: Mapping[str, Any],
        strings: Mapping[str, str],
    ) -> Iterator[str]:
        """Yield the lines of a run from its scores and its row of the table `systems`."""
        values = _Values.of(scores, self.printed, self.options)
        if self.per_query:
            for query in values.queries:
                yield from values.query_lines(query, strings)
        if values.stops_at is not None:
            at = repr(values.stops_at)
            text = f"query {at} is not in the run, where trec_eval 10 stops without -c"
            raise TrecEvalError(text, QUERY_FAILED)
        if self.summary:
            yield from values.summary_lines(_runid(source, system))


def _together(
    qrels: str | Path, runs: Sequence[str | Path], asked: _Asked
) -> Callable[[str | Path], Iterator[str]] | None:
    """Read and evaluate runs as one track; return the lines of each, or None if any has to stop."""
    if asked.evaluation is None:
        return None
    try:
        store, source = _held(qrels, runs, asked.options, asked.evaluation)
        systems = {row["file"]: row for row in _systems(store, source)}
        names = {str(run): _name_in(source, run) for run in runs}
        if _decimal_grade(store, source) is not None or any(
            systems[name]["skip_reason"] or _problem(name, systems[name]) for name in names.values()
        ):
            return None
        scores = evaluate(store, source.name, asked.specs, asked.policy)
    except IrmetaError:
        return None

    def lines(run: str | Path) -> Iterator[str]:
        system = systems[names[str(run)]]
        return asked.lines(scores.only([system["system"]]), source, system, {})

    return lines


def _name_in(source: TrackSource, run: str | Path) -> str:
    """Return the name of a run's file in a track of files."""
    return Path(os.path.abspath(run)).relative_to(source.root).as_posix()


def _evaluated(printed: Sequence[Line], options: TrecEvalOptions) -> tuple[list[Spec], EvalPolicy]:
    """Return the measures to compute, counts that others depend on included, and the policy."""
    specs = {line.spec.name: line.spec for line in printed if line.spec is not None}
    specs = specs or {"NumQ": parse_measure("NumQ")}
    counts = [parse_measure(name) for name in _counts(options)]
    policy = EvalPolicy(queries="judged" if options.complete else "retrieved")
    return [*specs.values(), *counts], policy


def _read(
    qrels: str | Path,
    run: str | Path,
    options: TrecEvalOptions,
    evaluation: Evaluation | None,
) -> tuple[MemoryStore, TrackSource, Mapping[str, Any]]:
    """Read both files for an evaluation, or with the grades of all docs if that is None.

    Returns
    -------
    store, source, system
        The track, its source, and the run's row of the table `systems`.

    Raises
    ------
    TrecEvalError
        If one cannot be read, or a list has a doc twice.
    """
    try:
        store, source = _held(qrels, [run], options, evaluation)
    except IrmetaError as error:
        text = str(error).partition(_SPOILT)[2] or str(error)
        text = _OTHER_OPTIONS.sub("", text)
        raise TrecEvalError(text, NO_QUERY if _ELSEWHERE in text else CANNOT_READ) from None
    if (level := _decimal_grade(store, source)) is not None:
        fix = "trec_eval would drop its decimals; irmeta evaluate keeps them"
        raise TrecEvalError(f"{qrels}: grade {level} is not a whole number: {fix}", CANNOT_READ)
    (system,) = _systems(store, source)
    if (problem := _problem(run, system)) is not None:
        raise problem
    return store, source, system


def _held(
    qrels: str | Path,
    runs: Sequence[str | Path],
    options: TrecEvalOptions,
    evaluation: Evaluation | None,
) -> tuple[MemoryStore, TrackSource]:
    """Read runs as one track."""
    order = "trec_eval10" if options.version == 10 else "trec_eval"
    policy = ReadPolicy(tie_order=order, depth=options.depth, names="file", duplicates="first")
    source = track_of_files(qrels, runs, policy)
    store, (outcome,) = read_into_memory(str(qrels), [source], policy, evaluation=evaluation)
    if outcome.error is not None:
        raise outcome.error
    return store, source


def _systems(store: MemoryStore, source: TrackSource) -> Iterator[dict[str, Any]]:
    return read_table(store, "systems", source.name).iter_rows(named=True)


def _decimal_grade(store: MemoryStore, source: TrackSource) -> float | None:
    """Return the first grade of the qrels that is not a whole number, or None."""
    levels = store.read_record(source.name)["qrels"][0].get("levels", ())
    return next((level for level in levels if level != int(level)), None)


def _problem(run: str | Path, system: Mapping[str, Any]) -> TrecEvalError | None:
    """Return why trec_eval would not use a run that was read."""
    if system["duplicates"]:
        return TrecEvalError(f"{run}: a doc is twice in a list", QUERY_FAILED)
    if system["tag"] is None:
        return TrecEvalError(f"{run}: five columns, where a run has six", CANNOT_READ)
    return None


@dataclass(frozen=True)
class _Values:
    """Values of one run.

    Attributes
    ----------
    queries
        Queries to print, in order.
    stops_at
        The query at which trec_eval 10 stops; None: it does not.
    by_query
        float64 [query] by canonical name, for all judged queries, whose places are `places`.
    """

    printed: Sequence[Line]
    queries: Sequence[str]
    stops_at: str | None
    places: Mapping[str, int]
    by_query: dict[str, np.ndarray]
    means: dict[str, float]

    @classmethod
    def of(cls, scores: Scores, printed: Sequence[Line], options: TrecEvalOptions) -> _Values:
        """Return the values of all lines."""
        missing = scores.no_list[:, 0]
        queries, stops_at = scores.queries, None
        if options.version == 9:
            queries = [q for q, is_missing in zip(queries, missing, strict=True) if not is_missing]
        elif missing.any() and not options.complete:
            first = int(missing.argmax())
            queries, stops_at = queries[:first], queries[first]
        values = cls(
            printed,
            queries,
            stops_at,
            {query: i for i, query in enumerate(scores.queries)},
            {name: scores.values[i, :, 0] for i, name in enumerate(scores.measures)},
            dict(scores.means().select("measure", "value").iter_rows()),
        )
        if options.condensed:
            values.judged_docs_only(missing & (options.version == 9), options)
        if options.complete and options.version == 9:
            values.means[_relevant(options)] = values.means["NumRel"]
        return values

    def judged_docs_only(self, left_out: np.ndarray, options: TrecEvalOptions) -> None:
        """Give the lists that ``-J`` empties trec_eval's values: 0 docs of 0 are NaN.

        Parameters
        ----------
        left_out
            bool [query]: the queries that trec_eval does not evaluate.
        options
            Version and least relevant grade.
        """
        is_empty = (self.by_query[_LISTED] == 0) & ~left_out
        relevant = self.by_query[_relevant(options)]
        for line in self.printed:
            if line.spec is None:
                continue
            name = line.spec.name
            if line.stem in ("unj", "rbp_resid"):  # no doc is unjudged any more
                self.by_query[name][:] = self.means[name] = 0.0
            elif (levels := _recall_levels(line.spec)) is not None:
                needed = docs_needed(levels, relevant, str(options.version))
                is_undefined = is_empty & (needed == 0).any(axis=0)
                self.by_query[name][is_undefined] = math.nan
                if is_undefined.any():
                    self.means[name] = math.nan

    def query_lines(self, query: str, strings: Mapping[str, str]) -> Iterator[str]:
        """Yield the lines of one query."""
        place = self.places[query]
        for line in self.printed:
            if line.spec is not None and line.stem not in SUMMARY_ONLY:
                yield _written(line, query, float(self.by_query[line.spec.name][place]))
            elif line.stem == "relstring":
                yield f"{line.name:<22}\t{query}\t'{strings.get(query, '')}'\n"

    def summary_lines(self, runid: str) -> Iterator[str]:
        """Yield the lines for all queries."""
        for line in self.printed:
            if line.spec is not None:
                yield _written(line, "all", self.means[line.spec.name])
            elif line.stem == "runid":
                yield f"{line.name:<22}\tall\t{runid}\n"


_LISTED = "NumRet(unjudged=condensed)"


def _counts(options: TrecEvalOptions) -> list[str]:
    """Name the counts that trec_eval's values under the options depend on."""
    # With -c, version 9 counts the grades from 1 in its summary, whatever -l.
    counts = ["NumRel"] if options.complete and options.version == 9 else []
    return [*counts, _LISTED, _relevant(options)] if options.condensed else counts


def _relevant(options: TrecEvalOptions) -> str:
    return parse_measure(f"NumRel(rel={options.rel})").name


def _recall_levels(spec: Spec) -> np.ndarray | None:
    """Return the levels of recall of interpolated precision; None for any other measure."""
    if spec.measure.name == "IPrec":
        return np.array([spec.cutoff], np.float64)
    return np.array(numbers(spec.settings["levels"])) if spec.measure.name == "IPrecAvg" else None


def _written(line: Line, query: str, value: float) -> str:
    text = line_of(line.name, query, value)
    return text.replace(" nan\n", "-nan\n") if math.isnan(value) else text  # 0 / 0 is -nan in C


def _relstrings(
    store: MemoryStore, track: str, printed: Sequence[Line], options: TrecEvalOptions
) -> dict[str, str]:
    """Return the grades of the first docs of each list, one character for each."""
    length = next((line.length for line in printed if line.stem == "relstring"), 0)
    if length == 0:
        return {}
    rows = lazy(store, "runs", track).select("query", "rank", "grade")
    if options.condensed:
        rows = rows.filter(pl.col("grade") >= 0)
    grade = pl.col("grade")
    character = (
        pl.when(grade.is_null())
        .then(pl.lit("-"))
        .when(grade < 0)
        .then(pl.lit("."))
        .when(grade > 9)
        .then(pl.lit(">"))
        .otherwise(grade.cast(pl.Int64).cast(pl.String))
    )
    first = rows.sort("query", "rank").group_by("query").agg(text=character.head(length))
    strings = first.select("query", pl.col("text").list.join("")).collect()
    return dict(strings.iter_rows())


def _runid(source: TrackSource, system: Mapping[str, Any]) -> str:
    """Return the tag of the last line of a run, its first word."""
    tag = str(system["tag"])
    if _SEVERAL_TAGS in (system["notes"] or ""):
        with open_stream(source.input_file(system["file"])) as stream:
            for _, piece in Text(stream, system["file"]).pieces():
                for _, fields in lines(piece, system["file"]):
                    tag = fields[5].decode()
    return tag.split()[0]
