"""Values as trec_eval computes and prints them, by query and averaged over groups of judgments."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from irmeta.api.trec_eval_reading import CANNOT_READ, QUERY_FAILED, comments_of, read_given
from irmeta.errors import DataError
from irmeta.measures.average_precision import docs_needed
from irmeta.measures.evaluate import evaluate
from irmeta.measures.names import Spec, parse_measure
from irmeta.measures.trec_eval import (
    COUNTS,
    SUMMARY_ONLY,
    Line,
    TrecEvalError,
    TrecEvalOptions,
    line_of,
    preference_values,
    real_number,
    whole_number,
)
from irmeta.naming import numbers
from irmeta.policies import EvalPolicy
from irmeta.rankings.track import Track
from irmeta.results.averages import GEOMETRIC_FLOOR
from irmeta.results.scores import Scores
from irmeta.store.memory import MemoryStore
from irmeta.store.scan import lazy
from irmeta.trec.qrels import JudgedDoc, read_groups
from irmeta.trec.readers.columns import QrelsColumns
from irmeta.trec.readers.given import GivenQrels
from irmeta.trec.streams import InputFile
from irmeta.trec.text import lines, read_text

NO_ZSCORE = -1_000_000.0
"""What trec_eval prints for a measure and query that the file of ``-Z`` lacks."""
LISTED = "NumRet(unjudged=condensed)"
_NOT_READ = 255  # trec_eval's exit status where the file of -Z cannot be read
_GEOMETRIC = ("gm_map", "gm_bpref")


@dataclass(frozen=True)
class PrintedQueries:
    """Queries of the judgments, and those that trec_eval evaluates.

    Attributes
    ----------
    judged
        All queries, in order.
    evaluated
        Those that are printed.
    stops_at
        The query at which trec_eval 10 stops; None: it does not.
    """

    judged: Sequence[str]
    evaluated: Sequence[str]
    stops_at: str | None = None

    @classmethod
    def of(
        cls, judged: Sequence[str], missing: np.ndarray, options: TrecEvalOptions
    ) -> PrintedQueries:
        """Return the queries; `missing` are those that the run lacks: bool [query]."""
        if options.version == 9:
            evaluated = [q for q, lacks in zip(judged, missing, strict=True) if not lacks]
            return cls(judged, evaluated)
        if missing.any() and not options.complete:
            first = int(missing.argmax())
            return cls(judged, judged[:first], judged[first])
        return cls(judged, judged)


@dataclass(frozen=True)
class Values:
    """Values of one run.

    Attributes
    ----------
    by_query
        float64 [judged query] by the name of the line.
    means
        Value for all queries by the name of the line.
    zscores
        Mean and deviation by query and name; None: values are printed as they are.
    counted
        Names of lines whose value for all queries is no mean of z-scores.
    """

    printed: Sequence[Line]
    queries: PrintedQueries
    by_query: dict[str, np.ndarray]
    means: dict[str, float]
    zscores: Mapping[tuple[str, str], tuple[float, float]] | None = None
    counted: tuple[str, ...] = ("num_q",)
    _places: dict[str, int] = field(default_factory=dict[str, int])

    def __post_init__(self) -> None:
        self._places.update({query: i for i, query in enumerate(self.queries.judged)})

    def query_lines(self, query: str, strings: Mapping[str, str]) -> Iterator[str]:
        """Yield the lines of one query."""
        for line in self.printed:
            if line.stem == "relstring":
                yield f"{line.name:<22}\t{query}\t'{strings.get(query, '')}'\n"
            elif not line.is_text and line.stem not in SUMMARY_ONLY:
                yield self._written(line, query, self._value(line, query))

    def summary_lines(self, runid: str) -> Iterator[str]:
        """Yield the lines for all queries."""
        for line in self.printed:
            if line.stem == "runid":
                yield f"{line.name:<22}\tall\t{runid}\n"
            elif not line.is_text:
                is_z = self.zscores is not None and line.name not in self.counted
                value = self._mean_of_zscores(line) if is_z else self.means[line.name]
                yield self._written(line, "all", value)

    def _value(self, line: Line, query: str) -> float:
        """Return the value of a query, or its z-score."""
        value = float(self.by_query[line.name][self._places[query]])
        if self.zscores is None:
            return value
        if line.stem in _GEOMETRIC:
            value = math.log(max(value, GEOMETRIC_FLOOR))
        mean, deviation = self.zscores.get((query, line.name), (math.nan, 0.0))
        if deviation:
            return (value - mean) / deviation
        return 0.0 if value == mean else NO_ZSCORE

    def _mean_of_zscores(self, line: Line) -> float:
        total = 0.0
        for query in self.queries.evaluated:
            total += self._value(line, query)
        if line.name in COUNTS:
            return total
        mean = total / self.means["num_q"]
        return math.exp(mean) if line.stem in _GEOMETRIC else mean

    def _written(self, line: Line, query: str, value: float) -> str:
        is_z = self.zscores is not None
        text = line_of(line.name, query, value, is_z=is_z)
        is_ratio = math.isnan(value) and not is_z  # 0 / 0 is -nan in C
        return text.replace(" nan\n", "-nan\n") if is_ratio else text


def values_of_scores(scores: Scores, printed: Sequence[Line], options: TrecEvalOptions) -> Values:
    """Return the values of all lines from the scores of one run."""
    missing = scores.no_list[:, 0]
    by_measure = {name: scores.values[i, :, 0] for i, name in enumerate(scores.measures)}
    means = dict(scores.means().select("measure", "value").iter_rows())
    if options.condensed:
        judged_docs_only(by_measure, means, printed, missing & (options.version == 9), options)
    if options.complete and options.version == 9:
        means[relevant_count(options)] = means["NumRel"]
    names = {line.name: line.spec.name for line in printed if line.spec is not None}
    return Values(
        printed,
        PrintedQueries.of(scores.queries, missing, options),
        {name: by_measure[measure] for name, measure in names.items()},
        {name: means[measure] for name, measure in names.items()} | {"num_q": means["NumQ"]},
        zscores_of(options),
        ("num_q", "num_rel") if options.complete and options.version == 9 else ("num_q",),
    )


def judged_docs_only(
    by_measure: dict[str, np.ndarray],
    means: dict[str, float],
    printed: Sequence[Line],
    left_out: np.ndarray,
    options: TrecEvalOptions,
) -> None:
    """Set the values of lists that ``-J`` empties as trec_eval does: 0 of 0 docs is NaN.

    `left_out` are the queries that trec_eval does not evaluate: bool [query].
    """
    is_empty = (by_measure[LISTED] == 0) & ~left_out
    relevant = by_measure[relevant_count(options)]
    for line in printed:
        if line.spec is None:
            continue
        name = line.spec.name
        if line.stem in ("unj", "rbp_resid"):  # no doc is unjudged any more
            by_measure[name][:] = means[name] = 0.0
        elif (levels := _recall_levels(line.spec)) is not None:
            needed = docs_needed(levels, relevant, str(options.version))
            is_undefined = is_empty & (needed == 0).any(axis=0)
            by_measure[name][is_undefined] = math.nan
            if is_undefined.any():
                means[name] = math.nan


def relevant_count(options: TrecEvalOptions) -> str:
    """Name the count of relevant docs under the options."""
    return parse_measure(f"NumRel(rel={options.rel})").name


def _recall_levels(spec: Spec) -> np.ndarray | None:
    """Return the levels of recall of interpolated precision; None for any other measure."""
    if spec.measure.name == "IPrec":
        return np.array([spec.cutoff], np.float64)
    return np.array(numbers(spec.settings["levels"])) if spec.measure.name == "IPrecAvg" else None


def zscores_of(options: TrecEvalOptions) -> dict[tuple[str, str], tuple[float, float]] | None:
    """Return means and deviations of the file of ``-Z``: lines query, measure, mean, deviation.

    Raises
    ------
    TrecEvalError
        If it cannot be read, or a line has another number of fields.
    """
    path, found = options.zscores, dict[tuple[str, str], tuple[float, float]]()
    if path is None:
        return None
    try:
        content, _ = read_text(InputFile.at(Path(path), path))
    except (DataError, OSError) as error:
        raise TrecEvalError(str(error), _NOT_READ) from None
    for number, fields in lines(content, path):
        if len(fields) != 4:
            text = f"{path}, line {number}: a line is: query measure mean deviation"
            raise TrecEvalError(text, _NOT_READ)
        query, measure, mean, deviation = (one.decode() for one in fields)
        found[query, measure] = _number(mean), _number(deviation)
    return found


def _number(text: str) -> float:
    """Return a number of the file of ``-Z``, where a mean of undefined values is nan."""
    return math.nan if text.lower().lstrip("+-") == "nan" else real_number(text)


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
    """Return a qrels set for each group, which may judge a doc of a query only once."""
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
    sets = list[GivenQrels]()
    for (name,), of_group in frame.sort("group").group_by("group", maintain_order=True):
        dtype = pl.Float64 if (of_group["grade"].abs() > 127).any() else pl.Int8
        docs = of_group.select("query", "doc", pl.col("grade").cast(dtype))
        sets.append(GivenQrels(str(name), (QrelsColumns(place, docs),)))
    return sets


def _means_over_groups(
    store: MemoryStore, judged: Judged, lines: Sequence[Line]
) -> dict[str, np.ndarray]:
    """Average each measure over the groups that judge a query: float64 [query] by line."""
    specs = {line.spec.name: line.spec for line in lines if line.spec is not None}
    total = {name: dict.fromkeys(judged, 0.0) for name in specs}
    for name in sorted({row.group for docs in judged.values() for row in docs}):
        policy = EvalPolicy(qrels=(name,))
        track = Track.of(store, store.tracks()[0], policy)
        scores = evaluate(track, list(specs.values()))
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
