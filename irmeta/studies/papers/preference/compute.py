"""The tables of one track, with those of two lists and of single queries by recall level."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from irmeta.kernels.rank_agreement import count_level_pairs
from irmeta.measures.search_length import corpus_sizes
from irmeta.phrases import count
from irmeta.preferences.levels import graded_sets, stack_levels
from irmeta.rankings.judged import JudgedRanks
from irmeta.results.verdicts import Preference, Source
from irmeta.stats.verdict_agreement import agreement
from irmeta.studies.framework.study import Row, TableRows, declared_rows
from irmeta.studies.framework.track_view import TrackView
from irmeta.studies.papers.preference.orders import (
    TESTS,
    ComparedTrack,
    SystemOrders,
    held,
    label_noise,
    significant_pairs,
    signs,
    table_1,
)
from irmeta.studies.papers.preference.study import GAMMA, POINTS, TABLES
from irmeta.studies.papers.preference.study import PreferenceOptions as Options

BINS = 20
"""Steps of the distribution from 0 to 1."""
SIX = 6  # relevant docs of the request in Figure 4
_HELD = 1 << 21


def discounted(ranks: np.ndarray, is_missing: np.ndarray, discount: str) -> np.ndarray:
    """Return the term of each rank: RBP or DCG, 0 for docs that are not retrieved."""
    ranks = ranks.astype(np.float64)
    values = GAMMA ** (ranks - 1.0) if discount == "RBP" else 1.0 / np.log2(ranks + 1.0)
    return np.where(is_missing, 0.0, values)


@dataclass(frozen=True)
class LevelCounts:
    """Counts over (unordered pair, query, recall level), binary relevance."""

    # levels, unequal, neither: all; those whose two ranks differ; those that neither list reaches
    levels: int
    unequal: int
    neither: int
    unequal_first: int  # levels i = 1 whose two ranks differ
    # by discount: int64 [2 BINS + 1], the numbers of |delta|: element 2 j counts |delta| equal to
    # j / BINS, element 2 j + 1 those between j / BINS and (j + 1) / BINS
    distances: dict[str, np.ndarray]

    def share_unequal(self, only_first: bool = False) -> float:
        """Return the share of levels that differ; `only_first`: those with i = 1, of all."""
        number = self.unequal_first if only_first else self.unequal
        return number / self.levels if self.levels else np.nan

    def row(self) -> Row:
        """Return the row of the table `unequal_levels`."""
        reached = self.levels - self.neither
        return {
            "levels": self.levels,
            "unequal": self.unequal,
            "neither": self.neither,
            "share": self.share_unequal(),
            "share_reached": self.unequal / reached if reached else np.nan,
        }

    def distribution(self) -> Iterator[Row]:
        """Yield the rows of the table `figure_2`: both directions of each pair count."""
        if not self.levels:
            return
        for discount, counts in self.distances.items():
            total = int(counts.sum())
            for step in range(-BINS, BINS + 1):
                at_least = int(counts[2 * abs(step) :].sum())  # |delta| >= |step| / BINS
                more = at_least - int(counts[2 * abs(step)])
                below = at_least if step < 0 else 2 * total - more
                yield {"discount": discount, "delta": step / BINS, "share": below / (2 * total)}
        different = self.unequal
        for step, below in ((-1, different), (0, 2 * self.levels - different)):
            yield {"discount": "sign", "delta": float(step), "share": below / (2 * self.levels)}
        yield {"discount": "sign", "delta": 1.0, "share": 1.0}


def count_levels(compared: ComparedTrack, options: Options) -> LevelCounts:
    """Compare the ranks of all pairs of systems at each recall level."""
    totals, levels = np.zeros(3, np.int64), 0
    discounts = ("RBP", "DCG")
    distances = np.zeros((len(discounts), 2 * BINS + 1), np.int64)
    for view in compared.views:
        ranks, offsets = _level_ranks(view, options.rel)
        is_first = np.zeros(len(ranks), bool)
        is_first[offsets[:-1][np.diff(offsets) > 0]] = True
        missing, systems = np.iinfo(ranks.dtype).max, ranks.shape[1]
        levels += len(ranks) * systems * (systems - 1) // 2
        step = max(1, _HELD // max(1, systems))
        for start in range(0, len(ranks), step):
            part, first = ranks[start : start + step], is_first[start : start + step]
            terms = np.stack([discounted(part, part == missing, name) for name in discounts])
            count_level_pairs(part, first, missing, terms, BINS, totals, distances)
    unequal, neither, unequal_first = totals.tolist()
    by_discount = dict[str, np.ndarray](zip(discounts, distances, strict=True))
    return LevelCounts(levels, unequal, neither, unequal_first, by_discount)


def _level_ranks(view: JudgedRanks, rel: int) -> tuple[np.ndarray, np.ndarray]:
    levels = stack_levels([graded_sets(view, rel, "binary")], {"p": "uniform"}, None)
    return levels.ranks, levels.offsets


@dataclass(frozen=True)
class TwoLists:
    """Two lists of one query by recall level."""

    query: str
    systems: tuple[str, str]
    # int64 [level, 2]: ranks, the last of the corpus where a doc is not retrieved
    ranks: np.ndarray
    is_missing: np.ndarray  # bool [level, 2]

    def rows(self) -> Iterator[Row]:
        """Yield the rows of the table `figure_4`."""
        size = len(self.ranks)
        for i, (ranks, missing) in enumerate(zip(self.ranks, self.is_missing, strict=True), 1):
            a, b = (None if m else int(r) for r, m in zip(ranks, missing, strict=True))
            yield {
                "query": self.query,
                "system_a": self.systems[0],
                "system_b": self.systems[1],
                "level": i,
                "recall": i / size,
                "rank_a": a,
                "rank_b": b,
                "precision_a": i / a if a else 0.0,
                "precision_b": i / b if b else 0.0,
            }

    def deltas(self) -> dict[str, np.ndarray]:
        """Return the contribution of each level by measure: the eight formulas of Figure 4."""
        level = np.arange(1, len(self.ranks) + 1)
        inverse = np.where(self.is_missing, 0.0, 1.0 / self.ranks)
        less = {name: discounted(self.ranks, self.is_missing, name) for name in ("RBP", "DCG")}
        shorter = (self.ranks[:, 1] - self.ranks[:, 0]).astype(np.float64)
        # A list that alone misses a doc loses, even if the corpus gives it the other's rank.
        placed = np.where(self.is_missing, np.iinfo(np.int64).max, self.ranks)
        is_first, is_last = level == 1, level == len(level)
        return {
            "RBP": less["RBP"][:, 0] - less["RBP"][:, 1],
            "AP": level * (inverse[:, 0] - inverse[:, 1]),
            "DCG": less["DCG"][:, 0] - less["DCG"][:, 1],
            "RR": (inverse[:, 0] - inverse[:, 1]) * is_first,
            "ISL": shorter * is_first,
            "TSL": shorter * is_last,
            "AvgSL": shorter,
            "RPP": np.sign(placed[:, 1] - placed[:, 0]).astype(np.float64),
        }

    def delta_rows(self) -> Iterator[Row]:
        """Yield the rows of the table `figure_4_deltas`."""
        for name, values in self.deltas().items():
            total = float(np.abs(values).sum())
            for i, delta in enumerate(values.tolist(), 1):
                scaled = delta / total if total else 0.0
                yield {"measure": name, "level": i, "delta": delta, "scaled": scaled}


def two_lists(
    track: TrackView, compared: ComparedTrack, orders: SystemOrders, options: Options
) -> TwoLists | None:
    """Return the two lists of Figure 4; None, with a note on the track, if one is not there."""
    systems = _chosen_systems(orders, options)
    relevant = np.concatenate([view.counts(options.rel) for view in compared.views])
    queries = [query for view in compared.views for query in view.queries]
    if options.figure_query is not None:
        chosen = queries.index(options.figure_query) if options.figure_query in queries else -1
    else:
        chosen = int(np.argmin(np.where(relevant > 0, np.abs(relevant - SIX), np.inf)))
    absent = [name for name in systems if name not in compared.facts.systems]
    if chosen < 0 or relevant[chosen] == 0:
        absent = [f"query {options.figure_query} with a relevant doc"]
    if absent:
        track.note(f"Figure 4 is absent: the track has no {absent[0]}")
        return None
    for view in compared.views:
        if chosen < len(view.queries):
            return _lists_of(view, chosen, systems, options.rel)
        chosen -= len(view.queries)
    return None


def _chosen_systems(orders: SystemOrders, options: Options) -> tuple[str, str]:
    frame = orders.frames[options.preference()].sort("rank_mc4", "system")
    best, median = frame["system"][0], frame["system"][(frame.height - 1) // 2]
    if median == best:  # of two systems
        median = frame["system"][-1]
    return options.system_a or best, options.system_b or median


def _lists_of(view: JudgedRanks, query: int, systems: tuple[str, str], rel: int) -> TwoLists:
    ranks, offsets = _level_ranks(view, rel)
    columns = [list(view.systems).index(name) for name in systems]
    chosen = ranks[offsets[query] : offsets[query + 1], columns]
    is_missing = chosen == np.iinfo(ranks.dtype).max
    corpus = int(corpus_sizes(view, {"rel": rel, "corpus": "relevant"})[query])
    last = corpus - len(chosen) + np.arange(1, len(chosen) + 1)
    filled = np.where(is_missing, last[:, None], chosen.astype(np.int64))
    return TwoLists(view.queries[query], systems, filled, is_missing)


MOST_HELD = 1 << 22
"""Preferences of one kind that are held in memory: 32 MB."""


def points(compared: ComparedTrack, counts: LevelCounts, options: Options) -> TableRows:
    """Yield the tables `figure_5`, `figure_5_points` and `ties`."""
    rpp = options.preference()
    ap, ndcg, rr = options.measures
    panels = (ap, ndcg, options.search_length, rr, *options.interleavings)
    sources: dict[str, Source] = {
        name: held(preferences.preference(), MOST_HELD)
        for name, preferences in compared.preferences.items()
    }
    sources |= {name: compared.matrix(name) for name in (*panels, rr) if name not in sources}
    drawn = DrawnPoints(compared, options, Preference.of(sources[rpp]))
    rows, tied = list[Row](), dict[str, Row]()
    for measure in (*options.preferences[1:], *panels):
        agreed = agreement(sources[rpp], sources[measure]).frame().row(0, named=True)
        beside = None
        if measure in panels:
            beside = drawn.beside(measure, Preference.of(sources[measure]))
            yield "figure_5_points", beside
        rows.append(_agreement(rpp, measure, agreed, beside))
        decides = None  # interleaving has other levels of recall
        if measure not in options.interleavings:
            decides = counts.share_unequal(only_first=measure == rr)
        tied.setdefault(rpp, _tied(agreed, "tied_a", counts.share_unequal()))
        tied[measure] = _tied(agreed, "tied_b", decides)
    for measure in (ap, ndcg, options.search_length):
        agreed = agreement(sources[rr], sources[measure]).frame().row(0, named=True)
        rows.append(_agreement(rr, measure, agreed, None))
    yield "figure_5", rows
    yield "ties", [{"measure": name, **row} for name, row in tied.items()]


def _agreement(a: str, b: str, agreed: Row, drawn: pl.DataFrame | None) -> Row:
    return {
        "measure_a": a,
        "measure_b": b,
        "points": agreed["points"],
        "queries": agreed["queries"],
        "r": agreed["pearson"],
        "sa": agreed["sign_agreement"],
        "opposite": agreed["opposite"],
        "opposite_size": None if drawn is None else opposite_size(drawn),
        "drawn": 0 if drawn is None else drawn.height,
    }


def opposite_size(points: pl.DataFrame) -> float:
    """Return the median |difference| of points with opposite signs over that of equal signs."""
    preferred, differing = (points[name].to_numpy() for name in ("preference", "difference"))
    size, product = np.abs(differing), signs(preferred) * signs(differing)
    if not ((product < 0).any() and (product > 0).any()):
        return np.nan
    return float(np.median(size[product < 0]) / np.median(size[product > 0]))


def _tied(agreed: Row, side: str, deciding: float | None) -> Row:
    return {"points": agreed["points"], "tied": agreed[side], "deciding_levels": deciding}


class DrawnPoints:
    """Points drawn at random from all pairs of systems and queries with a preference.

    `queries`, int64 [point], are ascending indices; `pairs`, int64 [point, 2], in random order.
    """

    def __init__(self, compared: ComparedTrack, options: Options, rpp: Preference) -> None:
        self._rpp = rpp
        defined = np.flatnonzero(compared.is_relevant)
        upper = np.stack(np.triu_indices(len(rpp.systems), 1), axis=1)
        rng = np.random.default_rng(options.seed)
        number = len(defined) * len(upper)
        chosen = rng.choice(number, min(POINTS, number), replace=False, shuffle=False)
        chosen.sort()
        self.queries: np.ndarray = defined[chosen // max(1, len(upper))]
        self.pairs: np.ndarray = upper[chosen % max(1, len(upper))]
        is_turned = rng.integers(0, 2, len(chosen)).astype(bool)
        self.pairs[is_turned] = self.pairs[is_turned, ::-1]
        self._values = self._of(rpp)

    def _of(self, preference: Preference) -> np.ndarray:
        """Return the preferences of the points: float64 [point]."""
        places = {query: place for place, query in enumerate(preference.queries)}
        out = np.empty(len(self.queries))
        for query in np.unique(self.queries).tolist():
            here = self.queries == query
            values = preference.difference(places[self._rpp.queries[query]])
            out[here] = values[self.pairs[here, 0], self.pairs[here, 1]]
        return out

    def beside(self, name: str, preference: Preference) -> pl.DataFrame:
        """Return the rows of the table `figure_5_points` for another measure."""
        values = self._of(preference)
        return pl.DataFrame(
            {
                "point": np.arange(1, len(values) + 1),
                "query": _named(self._rpp.queries, self.queries),
                "system_a": _named(self._rpp.systems, self.pairs[:, 0]),
                "system_b": _named(self._rpp.systems, self.pairs[:, 1]),
                "preference": self._values,
                "difference": values,
                "same_sign": signs(self._values) == signs(values),
            }
        ).with_columns(measure=pl.lit(name))


def _named(names: Sequence[str], index: np.ndarray) -> pl.Series:
    return pl.Series([names[i] for i in index.tolist()], dtype=pl.String)


def compute(track: TrackView, options: Options) -> TableRows:
    """Yield the tables of one track, from a single pass over its blocks."""
    compared = ComparedTrack.of(track, options)
    facts = table_1(track, compared, options)
    yield "table_1", [facts]
    counts = count_levels(compared, options)
    unequal = counts.row()
    yield "unequal_levels", [unequal]
    if not _is_comparable(track, compared, options, unequal["share_reached"]):
        return
    orders = SystemOrders(compared, options)
    for frame in orders.orders():
        yield "orders", frame
    yield "order_agreement", orders.agreement()
    yield "table_2", orders.table_2()
    for table in TESTS:
        yield table, significant_pairs(compared, options, table, facts["dataset"])
    yield "figure_2", counts.distribution()
    lists = two_lists(track, compared, orders, options)
    if lists is not None:
        yield "figure_4", lists.rows()
        yield "figure_4_deltas", lists.delta_rows()
    yield from points(compared, counts, options)
    yield "label_noise", label_noise(track, compared, orders, options)
    yield from declared_rows(TABLES, compared, options)


def _is_comparable(
    track: TrackView, compared: ComparedTrack, options: Options, share_unequal: float
) -> bool:
    """Check that there are pairs, queries and ranks to compare; exclude the track if not."""
    track.saturation = compared.saturation(options.rel)
    without = int((~compared.is_relevant).sum())
    if without and compared.is_relevant.any():
        queries = count(without, "judged query has", "judged queries have")
        track.note(f"{queries} no relevant doc, and no preference")
    if not compared.subtopic_qrels:
        track.note("no qrels set has subtopics, so STRPP is absent")
    if not compared.is_relevant.any():
        track.leave_out("no query has a relevant doc")
    elif len(compared.facts.systems) < 2:
        track.leave_out("one system, so none to compare it with")
    elif (saturation := track.saturation).is_most:
        differ = f"{share_unequal:.1%} of the recall levels that a list reaches"
        effect = f"preferences mean little here: the ranks of two lists differ at {differ}"
        track.leave_out(saturation.reason(effect))
    else:
        return True
    return False
