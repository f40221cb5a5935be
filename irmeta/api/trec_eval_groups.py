"""Values of trec_eval by groups of judgments: preferences, and means over groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from irmeta.api.trec_eval_reading import CANNOT_READ, QUERY_FAILED, comments_of, read_given
from irmeta.api.trec_eval_values import PrintedQueries, Values, zscores_of
from irmeta.errors import DataError
from irmeta.measures.evaluate import evaluate
from irmeta.measures.trec_eval import (
    COUNTS,
    Line,
    TrecEvalError,
    TrecEvalOptions,
    preference_values,
    real_number,
    whole_number,
)
from irmeta.policies import EvalPolicy
from irmeta.store.memory import MemoryStore
from irmeta.store.scan import lazy
from irmeta.trec.qrels import JudgedDoc, read_groups
from irmeta.trec.readers.columns import QrelsColumns
from irmeta.trec.readers.given import GivenQrels
from irmeta.trec.streams import InputFile

Judged = Mapping[str, Sequence[JudgedDoc]]


def values_by_group(
    judgments: str | Path, run: str | Path, printed: Sequence[Line], options: TrecEvalOptions
) -> tuple[Values, InputFile, Mapping[str, Any]]:
    """Return the values of all lines, the run, and its row of the table `systems`.

    Raises
    ------
    TrecEvalError
        Where trec_eval stops.
    """
    try:
        file = InputFile.at(Path(judgments), str(judgments))
        judged = read_groups(file, options.judgments, comments_of(options))
    except (DataError, OSError) as error:
        raise TrecEvalError(str(error), CANNOT_READ) from None
    is_graded = options.judgments == "qrels_jg"
    sets = _graded_sets(judged, str(judgments)) if is_graded else [_all_docs(judged, judgments)]
    depth = options.depth if is_graded else None  # preferences are cut in their order of ties
    store, file, system = read_given(sets, run, options, depth)
    lists = lazy(store, "runs", store.tracks()[0]).select("query", "doc", "score").collect()
    found = set(lists["query"])
    queries = PrintedQueries.of(
        list(judged), np.array([query not in found for query in judged]), options
    )
    lines = [line for line in printed if line.stem not in ("runid", "num_q")]
    if is_graded:
        by_query = _means_over_groups(store, judged, lines)
    else:
        by_query = _preferences(judged, lists, queries, lines, options)
    return _values(by_query, queries, printed, options), file, system


def _values(
    by_query: dict[str, np.ndarray],
    queries: PrintedQueries,
    printed: Sequence[Line],
    options: TrecEvalOptions,
) -> Values:
    """Return values with their means, or sums of counts, over the evaluated queries."""
    places = [queries.judged.index(query) for query in queries.evaluated]
    number = float(len(queries.judged if options.complete else queries.evaluated))
    means = {"num_q": number}
    for name, values in by_query.items():
        total = 0.0
        for place in places:
            total += float(values[place])
        means[name] = total if name in COUNTS else total / max(number, 1.0)
    return Values(printed, queries, by_query, means, zscores_of(options))


def _all_docs(judged: Judged, place: str | Path) -> GivenQrels:
    """Return all judged docs as a qrels set."""
    rows = [(query, doc) for query, docs in judged.items() for doc in sorted({d.doc for d in docs})]
    frame = pl.DataFrame(rows, {"query": pl.String, "doc": pl.String}, orient="row")
    frame = frame.with_columns(grade=pl.lit(1, pl.Int8))
    return GivenQrels("judged", (QrelsColumns(str(place), frame),))


def _graded_sets(judged: Judged, place: str) -> list[GivenQrels]:
    """Return a qrels set for each group.

    Raises
    ------
    TrecEvalError
        If a group judges a doc of a query twice.
    """
    rows = [
        (row.group, query, row.doc, whole_number(row.level))
        for query, docs in judged.items()
        for row in docs
    ]
    frame = pl.DataFrame(rows, ["group", "query", "doc", "grade"], orient="row")
    twice = frame.filter(frame.select("group", "query", "doc").is_duplicated())
    if twice.height:
        query, doc = twice.select("query", "doc").row(0)
        raise TrecEvalError(f"{place}: query {query} has doc {doc} twice in a group", CANNOT_READ)
    return [
        GivenQrels(str(name), (QrelsColumns(place, _narrow(rows)),))
        for (name,), rows in frame.sort("group").group_by("group", maintain_order=True)
    ]


def _narrow(rows: pl.DataFrame) -> pl.DataFrame:
    grade = pl.col("grade").cast(pl.Float64 if (rows["grade"].abs() > 127).any() else pl.Int8)
    return rows.select("query", "doc", grade)


def _means_over_groups(
    store: MemoryStore, judged: Judged, lines: Sequence[Line]
) -> dict[str, np.ndarray]:
    """Average each measure over the groups that judge a query: float64 [query] by line."""
    specs = {line.spec.name: line.spec for line in lines if line.spec is not None}
    total = {name: dict.fromkeys(judged, 0.0) for name in specs}
    for name in sorted({row.group for docs in judged.values() for row in docs}):
        policy = EvalPolicy(qrels=name)
        scores = evaluate(store, store.tracks()[0], list(specs.values()), policy)
        for measure, values in zip(scores.measures, scores.values[..., 0], strict=True):
            for query, value in zip(scores.queries, values.tolist(), strict=True):
                total[measure][query] += value
    groups = np.array([len({row.group for row in docs}) for docs in judged.values()])
    return {
        line.name: np.array(list(total[line.spec.name].values())) / groups
        for line in lines
        if line.spec is not None
    }


def _preferences(
    judged: Judged,
    lists: pl.DataFrame,
    queries: PrintedQueries,
    lines: Sequence[Line],
    options: TrecEvalOptions,
) -> dict[str, np.ndarray]:
    """Compute the measures of preferences: float64 [query] by line.

    Ties are in ascending order of docs, other than for all other measures.
    """
    score = pl.col("score").cast(pl.Float64 if options.version == 10 else pl.Float32)
    ordered = lists.select("query", "doc", score).sort("query", -pl.col("score"), "doc")
    limit = options.depth if options.depth is not None else max(lists.height, 1)
    rankings = {
        str(query): rows["doc"].head(limit).to_list()
        for (query,), rows in ordered.group_by("query", maintain_order=True)
    }
    by_query = {line.name: np.zeros(len(judged)) for line in lines}
    for place, (query, docs) in enumerate(judged.items()):
        if query in queries.evaluated:
            try:
                values = preference_values(docs, real_number, rankings.get(query, []))
            except DataError as error:
                raise TrecEvalError(f"query {query}: {error}", QUERY_FAILED) from None
            for line in lines:
                by_query[line.name][place] = values[line.name]
    return by_query
