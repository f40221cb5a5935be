"""`Leaderboard`: order of the systems of a track by a preference, with tests of all pairs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from irmeta.equality import TIE
from irmeta.errors import first_few
from irmeta.policies import On
from irmeta.results.factors import Segments, usable_segments
from irmeta.results.matrix import Matrix
from irmeta.results.verdicts import Opponents, Preference, TrackPreferences, rates_of
from irmeta.stats.pairs import OF_BOLD, Pairs, printed_systems
from irmeta.stats.preferences import intransitive_triples
from irmeta.stats.rank_confidence import RankSets
from irmeta.summaries import Line, Part, Result, Summary


@dataclass(frozen=True, repr=False)
class Leaderboard(Result):
    """Order of the systems of one track by one preference.

    Attributes
    ----------
    preference, track
        Canonical name of the preference, and the track.
    systems : DataFrame
        One row per system, best first: rank, system, value (mean preference over the other
        systems), score (by the rule of the order), rank_low, rank_high (see
        `irmeta.stats.preference_order`), better_than, worse_than (number of systems, by the test),
        top (worse than none), queries.
    baseline : DataFrame or None
        If a baseline was named, one row per other system, in the order of `systems`: system, value
        (mean preference over the baseline, or what the test is `on`), low, high (interval of the
        test), interval (its kind: see `Pairs.interval`), p_uncorrected and p_adjusted (see
        `Pairs`), won, tied, lost (queries, by the preference), queries; in a segment also turned
        (whether the value has the opposite sign over all queries).
    pairs : Pairs
        The test's result for every pair.
    beats_all : str or None
        The system whose mean preference over every other system is above 0, if there is one.
    cycles, cycles_by_query : float
        Share of intransitive triples of systems, by the mean preference and by single queries.
    alpha : float
        The significance level.
    rank_sets : RankSets or None
        The rank sets of `systems`, and how they were computed; None by MC4.
    segment : str or None
        The segment of the queries; None: all queries.
    by_segment : bool
        Whether it is one of several leaderboards, of all queries and of segments.
    """

    preference: str
    track: str
    systems: pl.DataFrame
    baseline: pl.DataFrame | None
    pairs: Pairs
    beats_all: str | None
    cycles: float
    cycles_by_query: float
    alpha: float
    rank_sets: RankSets | None = None
    segment: str | None = None
    by_segment: bool = False

    def _summary(self) -> Summary:
        segment = "" if self.segment is None else f", segment {self.segment}"
        return Summary(f"{self.preference} on {self.track}{segment}")

    def parts(self, digits: int | None = None, every: bool = False) -> Iterator[Part]:
        """Return the lines and tables to print: see `Summarized.parts`."""
        yield printed_systems(self.systems if self.baseline is None else self.baseline)
        tested, sets = self.lines()
        yield Line(tested, "bold", OF_BOLD if self.baseline is None else "")
        yield Line(sets)

    def lines(self) -> tuple[str, str]:
        """Return what was tested and found, and how the rank sets were computed."""
        cycles = ""
        if not math.isnan(self.cycles):
            by_query = f"{100 * self.cycles_by_query:.2g} % by query"
            shares = f"{100 * self.cycles:.2g} % over queries, {by_query}"
            cycles = f"; intransitive triples: {shares}"
        subject = f"{self.preference} on {self.track}"
        if self.segment is not None:
            subject += f", segment {self.segment} ({self.systems['queries'][0]:,} queries)"
        first = "no system beats all on average"
        if self.beats_all is not None:
            first = f"{self.beats_all} beats every other system on average"
        sets = "cannot be said by mc4, whose scores are no means over queries"
        return (
            f"{subject}, {self.pairs.test}: {self.pairs.separated_text(self.alpha)}; "
            f"{first}{cycles}{self._turned()}",
            f"rank_low, rank_high: {sets if self.rank_sets is None else self.rank_sets.text}",
        )

    def _turned(self) -> str:
        """Name the systems whose mean preference over the baseline turns in a segment."""
        if self.baseline is None or self.segment is None:
            return ""
        rows = self.baseline.filter("turned").select("system", better=pl.col("value") > 0).rows()
        named = [f"{system} ({'better' if better else 'worse'} here)" for system, better in rows]
        listed = first_few(named, "see the column turned") or "none"
        return f"; turned from all queries against the baseline: {listed}"

    def frame(self) -> pl.DataFrame:
        """Return `baseline`, or else `systems`, with the track and the preference.

        With segments, there is a column segment, null for all queries.
        """
        names: dict[str, str | None] = {"track": self.track, "preference": self.preference}
        if self.by_segment:
            names["segment"] = self.segment
        rows = self.systems if self.baseline is None else self.baseline
        named = (pl.lit(value, pl.String).alias(name) for name, value in names.items())
        return rows.select(*named, pl.all())

    def in_segment(self, name: str | None, every: Leaderboard) -> Leaderboard:
        """Return the leaderboard of a segment; `every` is that of all queries."""
        baseline = self.baseline
        if baseline is not None and every.baseline is not None:
            overall = every.baseline.select("system", every=_sign("value"))
            joined = baseline.join(overall, on="system", maintain_order="left")
            turned = _sign("value") * pl.col("every") < 0 if name is not None else pl.lit(None)
            baseline = joined.with_columns(turned=turned.cast(pl.Boolean)).drop("every")
        return replace(self, segment=name, by_segment=True, baseline=baseline)


@dataclass(frozen=True)
class Rules:
    """Options of a leaderboard, as in `irmeta.prefer`.

    `order` is a function from win rates to the result of `order_and_sets`, `test` one from
    preferences or win rates to the result of a test.
    """

    order: Callable[[Matrix], tuple[pl.DataFrame, RankSets | None]]
    test: Callable[[Preference | Matrix], Pairs]
    opponents: Opponents
    on: On
    against: str | None
    alpha: float

    def boards(self, found: TrackPreferences, segments: Segments | None) -> list[Leaderboard]:
        """Return the leaderboard over all queries, and one for each segment."""
        every = self.board(found)
        if segments is None:
            return [every]
        queries = segments.of_track(found.track)
        usable = usable_segments(queries, found.track, found.compared_queries)
        boards = {name: self.board(found.only_queries(queries[name])) for name in usable}
        return [board.in_segment(name, every) for name, board in [(None, every), *boards.items()]]

    def board(self, found: TrackPreferences) -> Leaderboard:
        """Order and test the systems of one track, or of some queries of it."""
        rates = rates_of(found, self.opponents)
        tested = found.preference() if self.on == "preference" else rates
        return _board(found, rates, *self.order(rates), self.test(tested), self.against, self.alpha)


def _board(
    found: TrackPreferences,
    rates: Matrix,
    ordered: pl.DataFrame,
    sets: RankSets | None,
    pairs: Pairs,
    against: str | None,
    alpha: float,
) -> Leaderboard:
    better, means = pairs.better(alpha), found.means()
    worse_than = better.sum(axis=0)
    values = rates.complete().means
    facts = pl.DataFrame(
        {
            "system": pl.Series(list(found.systems), dtype=pl.String),
            "value": values,
            "better_than": better.sum(axis=1).astype(np.int32),
            "worse_than": worse_than.astype(np.int32),
            "top": (worse_than == 0) & ~np.isnan(values),
            "queries": np.full(len(values), found.defined.sum(), np.int32),
        }
    )
    columns = ["rank", "system", "value", "score", "rank_low", "rank_high"]
    systems = ordered.join(facts, on="system", maintain_order="left").select(
        *columns, "better_than", "worse_than", "top", "queries"
    )
    others = ~np.eye(len(means), dtype=bool)
    beaten = ((means > TIE) & others).sum(axis=1).tolist()
    first = [s for s, wins in zip(found.systems, beaten, strict=True) if 0 < wins == len(means) - 1]
    return Leaderboard(
        preference=found.name,
        track=found.track,
        systems=systems,
        baseline=None if against is None else _baseline(found, pairs, against, systems["system"]),
        pairs=pairs,
        beats_all=first[0] if first else None,
        cycles=intransitive_triples([means]),
        cycles_by_query=intransitive_triples(values for _, values in found.differences()),
        alpha=alpha,
        rank_sets=sets,
    )


def _baseline(
    found: TrackPreferences, pairs: Pairs, against: str, order: pl.Series
) -> pl.DataFrame:
    """Compare every system with a baseline, in the given order."""
    index = list(found.systems).index(against)
    won = np.zeros(len(found.systems), np.int32)
    lost = won.copy()
    for _, values in found.differences():
        won += values[:, index] > TIE
        lost += values[:, index] < -TIE
    undefined = np.full(pairs.p_adjusted.shape, np.nan)
    limits = (undefined if limit is None else limit for limit in (pairs.low, pairs.high))
    columns = zip(("value", "low", "high"), (pairs.difference, *limits), strict=True)
    number = int(found.defined.sum())
    frame = pl.DataFrame(
        {
            "system": pl.Series(list(found.systems), dtype=pl.String),
            **{name: values[:, index] for name, values in columns},
            "interval": pl.Series([pairs.interval] * len(won), dtype=pl.String),
            "p_uncorrected": pairs.p_uncorrected[:, index],
            "p_adjusted": pairs.p_adjusted[:, index],
            "won": won,
            "tied": number - won - lost,
            "lost": lost,
            "queries": np.full(len(won), number, np.int32),
        }
    )
    return pl.DataFrame({"system": order}).join(
        frame.filter(pl.col("system") != against), on="system", maintain_order="left"
    )


def _sign(column: str) -> pl.Expr:
    """Return the sign of a preference, 0 for a tie and for an undefined preference."""
    value = pl.col(column).fill_nan(0.0)
    return pl.when(value.abs() > TIE).then(value.sign()).otherwise(0.0)
