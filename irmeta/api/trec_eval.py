"""The output of trec_eval for a run, as text."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from irmeta.api.trec_eval_reading import (
    NO_QUERY,
    QUERY_FAILED,
    decimal_grade,
    hold,
    problem_of,
    read_apart,
    read_qrels_and_run,
    runid,
    systems_of,
    without_apart,
)
from irmeta.api.trec_eval_values import (
    LISTED,
    Values,
    relevant_count,
    values_by_group,
    values_of_scores,
)
from irmeta.errors import IrmetaError
from irmeta.measures.evaluate import evaluate
from irmeta.measures.names import Spec, parse_measure
from irmeta.measures.trec_eval import Line, TrecEvalError, TrecEvalOptions, lines_of
from irmeta.policies import EvalPolicy
from irmeta.rankings.load import evaluation_of
from irmeta.rankings.track import Track
from irmeta.rankings.view import needs_of
from irmeta.store.memory import MemoryStore
from irmeta.store.ranked_track import Evaluation
from irmeta.store.scan import lazy
from irmeta.trec.streams import InputFile


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
    if options.judgments != "qrels":
        values, file, system = values_by_group(qrels, run, asked.printed, options)
        yield from asked.lines(values, file, system, {})
        return
    try:
        store, source, system = read_qrels_and_run(qrels, run, options, asked.evaluation)
    except TrecEvalError as error:
        if options.version == 9 or error.status != NO_QUERY:
            raise
        store, file, system = read_apart(qrels, run, options)
        policy = replace(asked.policy, queries="judged")
        track = Track.of(store, store.tracks()[0], policy)
        scores = without_apart(evaluate(track, asked.specs))
        yield from asked.lines(values_of_scores(scores, asked.printed, options), file, system, {})
        return
    scores = evaluate(Track.of(store, source.name, asked.policy), asked.specs)
    strings = _relstrings(store, source.name, asked.printed, options) if per_query else {}
    values = values_of_scores(scores, asked.printed, options)
    yield from asked.lines(values, source.input_file(system["file"]), system, strings)


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
        for line in printed:
            line.check_format(options.judgments)
        specs, policy = _evaluated(printed, options)
        has_strings = per_query and any(line.stem == "relstring" for line in printed)
        evaluation = None if has_strings else evaluation_of(policy, needs_of(specs))
        return cls(options, printed, specs, policy, evaluation, per_query, summary)

    def lines(
        self,
        values: Values,
        run: InputFile,
        system: Mapping[str, Any],
        strings: Mapping[str, str],
    ) -> Iterator[str]:
        """Yield the lines of a run from its values and its row of the table `systems`."""
        if self.per_query:
            for query in values.queries.evaluated:
                yield from values.query_lines(query, strings)
        if (stop := values.queries.stops_at) is not None:
            text = f"query {stop!r} is not in the run, where trec_eval 10 stops without -c"
            raise TrecEvalError(text, QUERY_FAILED)
        if self.summary:
            yield from values.summary_lines(runid(run, system, self.options))


def _together(
    qrels: str | Path, runs: Sequence[str | Path], asked: _Asked
) -> Callable[[str | Path], Iterator[str]] | None:
    """Read and evaluate runs as one track; return the lines of each, or None if any has to stop."""
    if asked.evaluation is None or asked.options.judgments != "qrels":
        return None
    try:
        store, source = hold(qrels, runs, asked.options, asked.evaluation)
        systems = {row["file"]: row for row in systems_of(store)}
        names = {
            str(run): Path(os.path.abspath(run)).relative_to(source.root).as_posix() for run in runs
        }
        if decimal_grade(store) is not None or any(
            systems[name]["skip_reason"] or problem_of(name, systems[name])
            for name in names.values()
        ):
            return None
        scores = evaluate(Track.of(store, source.name, asked.policy), asked.specs)
    except IrmetaError:
        return None

    def lines(run: str | Path) -> Iterator[str]:
        system = systems[names[str(run)]]
        values = values_of_scores(scores.only([system["system"]]), asked.printed, asked.options)
        return asked.lines(values, source.input_file(system["file"]), system, {})

    return lines


def _evaluated(printed: Sequence[Line], options: TrecEvalOptions) -> tuple[list[Spec], EvalPolicy]:
    """Return the measures to compute, counts that others depend on included, and the policy."""
    # With -c, version 9 counts the grades from 1 in its summary, whatever -l.
    counts = ["NumQ", *(["NumRel"] if options.complete and options.version == 9 else [])]
    if options.condensed:
        counts += [LISTED, relevant_count(options)]
    specs = {line.spec.name: line.spec for line in printed if line.spec is not None}
    specs |= {spec.name: spec for spec in map(parse_measure, counts)}
    return [*specs.values()], EvalPolicy(queries="judged" if options.complete else "retrieved")


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
