"""`Scores`: values of measures by query and system, and their tidy frames."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl

from irmeta.errors import UsageError, check_choice, did_you_mean
from irmeta.parallel import check_not_forked
from irmeta.phrases import count
from irmeta.results.averages import average, weighted_mean
from irmeta.results.matrix import Matrix
from irmeta.summaries import Result, Summary

COUNTS = ("no_list", "lists_without_nonrelevant")
"""Counts of lists to be aware of, which a printed table leaves out where all are 0."""

SUMMARIES = ("best", "median", "worst")
"""Statistics of all systems on one query."""


def checked_summaries(statistics: str | Iterable[str]) -> list[str]:
    """Return the names of statistics, or raise `UsageError` for an unknown or repeated one."""
    texts = [statistics] if isinstance(statistics, str) else list(statistics)
    asked = [name.strip() for text in texts for name in text.split(",")]
    for name in asked:
        check_choice("summary", name, SUMMARIES)
        if asked.count(name) > 1:
            raise UsageError(f"summary names {name!r} twice.")
    return asked


def check_summary(statistics: str | Iterable[str], *, per_query: bool) -> None:
    """Raise `UsageError` for unknown statistics of all systems, or any without `per_query`."""
    if checked_summaries(statistics) and not per_query:
        raise UsageError("`summary` is of all systems on each query: use `per_query`.")


@dataclass(frozen=True, repr=False)
class Scores(Result):
    """Values of one track.

    Attributes
    ----------
    values
        float64 [measure, query, system]; NaN: undefined.
    included
        bool, of the same shape: the cells in tables and means.
    no_list
        bool [query, system]: the system has no list for the query.
    lists_without_nonrelevant
        Map from search-length measure to bool [query, system]: the list has no non-relevant doc, so
        that Eq. 3 of Alex, Hall and Metzler (2022) makes the docs not retrieved look perfect.
    directions
        Map from measure to 1 (greater is better) or -1 (less is better).
    averages
        Map from measure to the kind of mean over queries, unless ``arithmetic``.
    difficulty
        float64 [query]: weights of means by ``difficulty``.
    asked
        Map from measure to its names as the user wrote them, where these are others.
    qrels
        Name of the qrels set.
    weights
        float64 [query]: weights of the queries in means, above 0; None: each query counts once.
    judgments
        int64 [query, 2]: judged docs, and those of the least relevant grade of the qrels set or
        above; None: unknown.
    """

    track: str
    measures: tuple[str, ...]
    queries: tuple[str, ...]
    systems: Sequence[str]
    values: np.ndarray
    included: np.ndarray
    no_list: np.ndarray
    lists_without_nonrelevant: Mapping[str, np.ndarray] = field(default_factory=dict)
    directions: Mapping[str, int] = field(default_factory=dict)
    averages: Mapping[str, str] = field(default_factory=dict)
    difficulty: np.ndarray | None = None
    asked: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    qrels: str = ""
    weights: np.ndarray | None = None
    judgments: np.ndarray | None = None

    @classmethod
    def concat(cls, blocks: Sequence[Scores]) -> Scores:
        """Concatenate the blocks of one track along queries."""
        first = blocks[0]
        flags = {
            name: np.concatenate([b.lists_without_nonrelevant[name] for b in blocks])
            for name in first.lists_without_nonrelevant
        }
        return replace(
            first,
            queries=tuple(q for b in blocks for q in b.queries),
            values=np.concatenate([b.values for b in blocks], axis=1),
            included=np.concatenate([b.included for b in blocks], axis=1),
            no_list=np.concatenate([b.no_list for b in blocks]),
            lists_without_nonrelevant=flags,
            difficulty=None
            if blocks[0].difficulty is None
            else np.concatenate([b.difficulty for b in blocks if b.difficulty is not None]),
            judgments=None
            if first.judgments is None
            else np.concatenate([b.judgments for b in blocks if b.judgments is not None]),
        )

    def _summary(self) -> Summary:
        sizes = {"measure": self.measures, "query": self.queries, "system": self.systems}
        facts = [count(len(labels), noun) for noun, labels in sizes.items()]
        return Summary(self.track, facts)

    def _table(self) -> pl.DataFrame:
        return show_asked(without_zero_counts(self.means()), self.asked)

    def only(self, systems: Sequence[str]) -> Scores:
        """Select systems, in the order given."""
        columns = [self.systems.index(s) for s in systems]
        flags = {n: a[..., columns] for n, a in self.lists_without_nonrelevant.items()}
        return replace(
            self,
            systems=tuple(systems),
            values=self.values[..., columns],
            included=self.included[..., columns],
            no_list=self.no_list[..., columns],
            lists_without_nonrelevant=flags,
        )

    def only_queries(self, places: np.ndarray) -> Scores:
        """Select queries by index."""
        flags = {name: array[places] for name, array in self.lists_without_nonrelevant.items()}
        return replace(
            self,
            queries=tuple(self.queries[i] for i in places),
            values=self.values[:, places],
            included=self.included[:, places],
            no_list=self.no_list[places],
            lists_without_nonrelevant=flags,
            difficulty=None if self.difficulty is None else self.difficulty[places],
            weights=None if self.weights is None else self.weights[places],
            judgments=None if self.judgments is None else self.judgments[places],
        )

    def matrix(self, measure: str) -> Matrix:
        """Return one measure's values; NaN where `included` excludes a cell.

        Raises
        ------
        UsageError
            If the measure is not among these scores.
        """
        if measure not in self.measures:
            hint = did_you_mean(measure, self.measures)
            raise UsageError(f"no measure {measure!r} among these scores. {hint}")
        index = self.measures.index(measure)
        values = np.where(self.included[index], self.values[index], np.nan)
        direction = -1 if self.directions.get(measure, 1) < 0 else 1
        labels = self.queries, tuple(self.systems), measure, self.track
        of_queries = (self.no_list, (), self.weights, self.judgments)
        return Matrix(values, *labels, direction, self.qrels, *of_queries)

    def per_query(self) -> pl.DataFrame:
        """Return one row per included cell: track, system, query, measure, value.

        Rows are sorted by system, then query, then measure in the order of `measures`.
        """
        system, query, measure = np.nonzero(self.included.transpose(2, 1, 0))
        return pl.DataFrame(
            {
                "track": pl.Series(np.zeros(len(system), np.uint32)),
                "system": system,
                "query": query,
                "measure": measure,
                "value": self.values[measure, query, system],
            }
        ).select(
            _named([self.track], "track"),
            _named(self.systems, "system"),
            _named(self.queries, "query"),
            _named(self.measures, "measure"),
            "value",
        )

    def query_summary(self, statistics: str | Iterable[str] = SUMMARIES) -> pl.DataFrame:
        """Return the best, median and worst value of all systems on each query, by each measure.

        Parameters
        ----------
        statistics : str or iterable of str, default ('best', 'median', 'worst')
            The columns, or a comma-separated text. The best is the greatest value, or the least of
            a measure whose smaller values are better.

        Returns
        -------
        DataFrame
            track, query, measure, systems (number with a defined value), and the columns; NaN: no
            system has a value.

        Raises
        ------
        UsageError
            For an unknown or repeated statistic.

        Examples
        --------
        >>> scores = store.scores("AP", track="news")
        >>> scores.query_summary().with_columns(pl.selectors.float().round(3)).row(0)
        ('news', '901', 'AP', 20, 0.621, 0.393, 0.161)
        """
        asked = checked_summaries(statistics)
        values = np.where(self.included, self.values, np.nan)
        signs = np.array([self.directions.get(name, 1) for name in self.measures])
        signed = np.sort(values * signs[:, None, None], axis=2)  # worst first, NaN last
        numbers = (~np.isnan(signed)).sum(axis=2)
        last = np.maximum(numbers - 1, 0)
        low, high, most = (
            np.take_along_axis(signed, place[..., None], axis=2)[..., 0]
            for place in (last // 2, np.minimum(numbers // 2, last), last)
        )
        columns = {"best": most, "median": (low + high) / 2, "worst": signed[..., 0]}
        rows = [(query, measure) for query in self.queries for measure in self.measures]
        return pl.DataFrame(
            {
                "track": pl.Series([self.track] * len(rows), dtype=pl.String),
                "query": pl.Series([query for query, _ in rows], dtype=pl.String),
                "measure": pl.Series([measure for _, measure in rows], dtype=pl.String),
                "systems": numbers.T.ravel().astype(np.int32),
                **{name: (columns[name] * signs[:, None]).T.ravel() for name in asked},
            }
        )

    def frame(self, *, per_query: bool = False) -> pl.DataFrame:
        """Return the means, or the values per query, with the measures' names as written.

        Parameters
        ----------
        per_query : bool, default False
            Whether rows are values of queries instead of means.

        Returns
        -------
        DataFrame
            system, measure, asked (the measure's name as it was written; a row for each name),
            value, queries (number in the mean); per query: system, query, measure, asked, value.
            Sorted as `means` and `per_query`. NaN: undefined.

        Examples
        --------
        >>> store.scores("map", track="news").frame().row(0)
        ('aldBM25', 'AP', 'map', 0.2844052544141275, 25)
        """
        check_not_forked()
        frame = _with_asked(self.per_query() if per_query else self.means(), self.asked)
        keys = ("system", "query") if per_query else ("system",)
        return frame.select(
            *keys, "measure", "asked", "value", *(() if per_query else ("queries",))
        )

    def to_dict(self, system: str | None = None, *, per_query: bool = False) -> dict[str, Any]:
        """Return the means, or the values per query, as dicts.

        Parameters
        ----------
        system : str, optional
            Name of a system; default: all.
        per_query : bool, default False
            Whether values are of queries, as pytrec_eval's `evaluate` returns them.

        Returns
        -------
        dict
            Of one system ``{measure: mean}``; with `per_query` ``{query: {measure: value}}``, the
            queries being those that the policy averages. Without `system`, these by system.
            Measures have their names as written.

        Raises
        ------
        UsageError
            If the system is unknown.

        Examples
        --------
        >>> scores = store.scores("P_5", track="news")
        >>> scores.to_dict("aldBM25")
        {'P_5': 0.608}
        >>> scores.to_dict("aldBM25", per_query=True)["901"]
        {'P_5': 0.8}
        """
        if system is None:
            return {name: self.to_dict(name, per_query=per_query) for name in self.systems}
        if system not in self.systems:
            hint = did_you_mean(system, self.systems)
            raise UsageError(f"no system {system!r} among these scores. {hint}")
        index = self.systems.index(system)
        named = [self.asked.get(measure, (measure,)) for measure in self.measures]
        if not per_query:
            means = self.mean_values()[:, index].tolist()
            return {
                name: mean for labels, mean in zip(named, means, strict=True) for name in labels
            }
        values, included = self.values[..., index].T.tolist(), self.included[..., index].T.tolist()
        rows = zip(self.queries, values, included, strict=True)
        return {
            query: {
                name: value
                for labels, value, is_included in zip(named, row, is_counted, strict=True)
                if is_included
                for name in labels
            }
            for query, row, is_counted in rows
            if any(is_counted)
        }

    def mean_of(self, measure: str, system: str) -> float:
        """Return the mean of one system by one measure: see `mean_values`."""
        return float(self.mean_values()[self.measures.index(measure), self.systems.index(system)])

    def mean_values(self) -> np.ndarray:
        """Compute the mean of each measure over the included queries: float64 [measure, system].

        Undefined values are excluded. The mean is arithmetic unless `averages` has another kind, or
        queries have `weights`.
        """
        counted = self.included & ~np.isnan(self.values)
        if self.weights is not None:
            return weighted_mean(self.values, counted, self.weights)
        plain = [i for i, m in enumerate(self.measures) if m not in self.averages]
        out = np.empty((len(self.measures), len(self.systems)))
        out[plain] = average("arithmetic", self.values[plain], counted[plain])
        for i, measure in enumerate(self.measures):
            if measure in self.averages:
                how = self.averages[measure]
                out[i] = average(how, self.values[i], counted[i], self.difficulty)
        return out

    def means(self) -> pl.DataFrame:
        """Return one row per system and measure, sorted by system: see irmeta.schema, `means`."""
        check_not_forked()
        counted = self.included & ~np.isnan(self.values)
        no_list = (counted & self.no_list).sum(axis=1)
        lists_without_nonrelevant = np.zeros(no_list.shape, np.int64)
        for name, flags in self.lists_without_nonrelevant.items():
            index = self.measures.index(name)
            lists_without_nonrelevant[index] = (counted[index] & flags).sum(axis=0)
        known = np.array([name in self.lists_without_nonrelevant for name in self.measures])
        systems, measures = len(self.systems), len(self.measures)
        frame = pl.DataFrame(
            {
                "track": pl.Series(np.zeros(systems * measures, np.uint32)),
                "system": np.repeat(np.arange(systems), measures),
                "measure": np.tile(np.arange(measures), systems),
                "value": self.mean_values().T.ravel(),
                "queries": counted.sum(axis=1).T.ravel().astype(np.int32),
                "no_list": no_list.T.ravel().astype(np.int32),
                "lists_without_nonrelevant": lists_without_nonrelevant.T.ravel().astype(np.int32),
                "known": np.tile(known, systems),
            }
        )
        return frame.select(
            _named([self.track], "track"),
            _named(self.systems, "system"),
            _named(self.measures, "measure"),
            "value",
            "queries",
            "no_list",
            pl.when("known").then("lists_without_nonrelevant").alias("lists_without_nonrelevant"),
        )


def _named(names: Sequence[str], column: str) -> pl.Expr:
    strings = pl.lit(pl.Series(list(names), dtype=pl.String))
    return strings.gather(pl.col(column)).alias(column)


def concat_scores(scores: Sequence[Scores], frames: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """Concatenate a frame of each scores; with a column `qrels` if a track has several sets."""
    parts, sets = list(frames), {(score.track, score.qrels) for score in scores}
    if len({score.track for score in scores}) < len(sets):
        place = int("track" in parts[0].columns)
        for part, score in zip(parts, scores, strict=True):
            column = pl.Series("qrels", [score.qrels], pl.String).new_from_index(0, part.height)
            part.insert_column(place, column)
    return pl.concat(parts)


def show_asked(frame: pl.DataFrame, asked: Mapping[str, tuple[str, ...]]) -> pl.DataFrame:
    """Add a column `asked` with the names of measures as written; rename columns of `wide`.

    A measure with several names has a row, or a column, for each of them. A frame without other
    names is unchanged. Columns that would share a name, because qrels sets differ in their least
    relevant grade, keep their own.
    """
    if "measure" not in frame.columns:
        named = [
            (column, name) for column in frame.columns for name in asked.get(column, (column,))
        ]
        labels = [name for _, name in named]
        chosen = [(column, name if labels.count(name) == 1 else column) for column, name in named]
        return frame.select(pl.col(column).alias(name) for column, name in dict.fromkeys(chosen))
    if not asked:
        return frame
    place = frame.columns.index("measure") + 1
    order = [*frame.columns[:place], "asked", *frame.columns[place:]]
    return _with_asked(frame, asked).select(order)


def _with_asked(frame: pl.DataFrame, asked: Mapping[str, tuple[str, ...]]) -> pl.DataFrame:
    """Add the names of measures as written, with a row for each."""
    rows = [(measure, name) for measure, labels in asked.items() for name in labels]
    schema = {"measure": pl.String, "asked": pl.String}
    named = pl.DataFrame(rows, schema, orient="row")
    joined = frame.join(named, on="measure", how="left", maintain_order="left_right")
    return joined.with_columns(pl.col("asked").fill_null(pl.col("measure")))


def without_zero_counts(frame: pl.DataFrame) -> pl.DataFrame:
    """Drop the columns of `COUNTS` that are 0 or unknown for all systems."""
    return frame.drop(name for name in COUNTS if name in frame.columns and not frame[name].sum())


def wide(frame: pl.DataFrame) -> pl.DataFrame:
    """Pivot to one column per measure; other columns of a table of means are dropped."""
    index = [c for c in ("track", "qrels", "segment", "system", "query") if c in frame.columns]
    return frame.select(*index, "measure", "value").pivot(
        "measure", index=index, values="value", maintain_order=True
    )
