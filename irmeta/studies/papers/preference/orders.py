"""`ComparedTrack`: preferences and measures of a track, and the orders of its systems."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from irmeta.equality import TIE
from irmeta.measures.evaluate import evaluate_block
from irmeta.measures.names import parse_measures
from irmeta.policies import Majority
from irmeta.preferences.evaluate import check_queries, compare_block, join_blocks
from irmeta.preferences.registry import parse_preferences
from irmeta.rankings.derive.drop import DropOrder, drop_relevant_shares
from irmeta.rankings.derive.select import keep_gained
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.view import needs_of
from irmeta.results.matrix import Matrix
from irmeta.results.scores import Scores
from irmeta.results.verdicts import Preference, TrackPreferences, Verdicts
from irmeta.stats.aggregation import borda, mc4, mc4_ranks
from irmeta.stats.correlation import correlate, in_common
from irmeta.stats.orders import kendall_tau_b, over_common, rank_rows
from irmeta.stats.pairs import pairwise
from irmeta.stats.preferences import MOST_HELD, STEPS, preference_pairs, preference_subsets
from irmeta.stats.resampling import query_subsets, spread
from irmeta.studies.framework.study import Row, Tables, values_of
from irmeta.studies.framework.track_view import StudiedTrack, TrackView
from irmeta.studies.papers.preference.study import NUMBERS
from irmeta.studies.papers.preference.study import PreferenceOptions as Options


@dataclass(frozen=True)
class ComparedTrack(StudiedTrack):
    """Preferences and measures of all systems of one track."""

    options: Options
    # preferences by canonical name; those by subtopic only where the track has subtopics
    preferences: dict[str, TrackPreferences]
    scores: Scores  # values of the measures
    subtopic_qrels: str  # the qrels set with subtopics; empty if there is none
    # p-values of all pairs, by options and method, and by table
    p_values: dict[tuple[Options, str], dict[str, np.ndarray]] = field(default_factory=dict)

    @classmethod
    def of(cls, track: TrackView, options: Options) -> ComparedTrack:
        """Read a track once, and compare its systems."""
        check_queries(options.policy)
        by_subtopic = [
            qrels_set["name"] for qrels_set in track.record["qrels"] if qrels_set["subtopics"]
        ]
        preferences = (*options.preferences, *options.interleavings)
        specs = parse_preferences(
            [*preferences, *(options.subtopic_preferences if by_subtopic else ())]
        )
        scored = options.scored() if by_subtopic else (*options.measures, options.search_length)
        measures = parse_measures(scored)
        views = list(track.blocks(needs_of([*measures, *specs])))
        compared = [(view.queries, compare_block(view, specs)) for view in views]
        scores = [evaluate_block(view, measures, options.policy) for view in views]
        chosen = track.facts.qrels if track.facts.qrels in by_subtopic else ""
        return cls(
            track.facts,
            views,
            options,
            {joined.name: joined for joined in join_blocks(track.facts, specs, compared)},
            Scores.concat(scores),
            chosen or (by_subtopic[0] if by_subtopic else ""),
        )

    @cached_property
    def rates(self) -> dict[str, Matrix]:
        """Win rates by preference, for the queries with a preference."""
        return {
            name: preference.win_rates().complete() for name, preference in self.preferences.items()
        }

    def matrix(self, measure: str) -> Matrix:
        """Return the values of a measure on the queries with a relevant doc."""
        matrix = self.scores.matrix(measure)
        return matrix.only_queries(np.flatnonzero(self.is_relevant))

    @cached_property
    def is_relevant(self) -> np.ndarray:
        """Whether each judged query has a relevant doc: bool [query]."""
        return next(iter(self.preferences.values())).defined

    def parts(self, options: Options) -> dict[str, tuple[str, ...]]:
        """Return the methods of Tables 2 to 4 by part: single, and subtopic where there are any."""
        parts = {"single": options.compared}
        if self.subtopic_qrels:
            parts["subtopic"] = options.by_subtopic
        return parts


PERCENT: Mapping[str, Mapping[tuple[str, str], str]] = {
    f"table_{n}": {
        (dataset, measure): value
        for (item, dataset, measure), value in values_of(NUMBERS).items()
        if item.startswith(f"Table {n}(")
    }
    for n in (3, 4)
}
"""Percentages of Tables 3 and 4 by dataset and measure."""


def dataset_of(requests: int, runs: int, relevant: float) -> str | None:
    """Return the row of Table 1 with the same requests, runs and relevant docs per request."""
    values = values_of(NUMBERS)
    for name in dict.fromkeys(row["row"] for row in NUMBERS if row["item"] == "Table 1"):
        printed = (float(values["Table 1", name, c]) for c in ("requests", "runs", "rel/request"))
        their_requests, their_runs, their_relevant = printed
        is_equal = (their_requests, their_runs) == (requests, runs)
        if is_equal and abs(their_relevant - relevant) < 0.0051:
            return name
    return None


RULES = ("mc4", "mc4-rounds", "borda")
"""Rules of Table 2 that order systems by a preference."""


def places(values: np.ndarray) -> np.ndarray:
    """Return negated ranks by values [..., system], greatest first; NaN without a value."""
    rows = values.reshape(-1, values.shape[-1])
    ranks = -rank_rows(rows).reshape(values.shape).astype(np.float64)
    return np.where(np.isnan(values), np.nan, ranks)


def tau_b(a: np.ndarray, b: np.ndarray) -> float:
    """Return tau-b of two orders of the same systems; NaN where either ties all systems."""
    return float(correlate(np.stack([a, b]), "tau-b").values[0, 1])


def order_frame(rates: Matrix, majority: Majority) -> pl.DataFrame:
    """Return a system's score and rank by each rule, in the order of the systems."""
    verdicts = Verdicts.of(rates)
    frame = pl.DataFrame({"system": pl.Series(rates.systems, dtype=pl.String)})
    chain = mc4(verdicts, majority=majority, steps=STEPS)
    rounds = mc4(verdicts, majority=majority, rounds=True)
    chain = chain.select("system", mc4="score", rank_mc4="rank")
    rounds = rounds.select("system", mc4_round="round", rank_mc4_rounds="rank")
    counts = borda(verdicts).select("system", borda="score", rank_borda="rank")
    for order in (chain, rounds, counts):
        frame = frame.join(order, on="system", how="left", maintain_order="left")
    win_rate = pl.Series("win_rate", rates.means)
    rank = pl.Series("rank_win_rate", rank_rows(rates.means[None])[0])
    return frame.with_columns(win_rate, rank)


class SystemOrders:
    """The orders of the systems of one track.

    `frames`, by preference, are `order_frame` for all queries with the preference.
    """

    def __init__(self, track: ComparedTrack, options: Options) -> None:
        self._track, self._options = track, options
        named = [name for part in track.parts(options).values() for name in part]
        self.frames: dict[str, pl.DataFrame] = {
            n: order_frame(track.rates[n], options.majority)
            for n in named
            if n in track.preferences
        }
        self._fewer: dict[tuple[str, tuple[str, ...]], pl.DataFrame] = {}

    def values(self, method: str) -> Matrix:
        """Return the win rates or the values, for the queries where all systems have one."""
        if method in self.frames:
            return self._track.rates[method]
        return self._track.scores.matrix(method).complete()

    def places(self, values: Matrix, rule: str) -> np.ndarray:
        """Return the negated ranks of the systems by some queries; ties share a rank.

        `rule` is one of `RULES` or win-rate, for preferences; a measure orders systems by mean.
        """
        if values.measure not in self.frames:
            return places(values.means * values.direction)
        column = f"rank_{rule.replace('-', '_')}"
        return -self._frame(values)[column].cast(pl.Float64).to_numpy()

    def _frame(self, rates: Matrix) -> pl.DataFrame:
        """Return the orders by a preference, once for each set of queries."""
        if rates.queries == self._track.rates[rates.measure].queries:
            return self.frames[rates.measure]
        key = rates.measure, rates.queries
        if key not in self._fewer:
            self._fewer[key] = order_frame(rates, self._options.majority)
        return self._fewer[key]

    def orders(self) -> Iterator[pl.DataFrame]:
        for name, frame in self.frames.items():
            yield frame.with_columns(preference=pl.lit(name))

    def agreement(self) -> Iterator[Row]:
        """Yield the rows of the table `order_agreement`."""
        for name in self.frames:
            rates = self._track.rates[name]
            limit = mc4(Verdicts.of(rates), majority=self._options.majority)["score"]
            for rule in (*RULES[1:], "win-rate"):
                yield {
                    "preference": name,
                    "rule": rule,
                    "queries": len(rates.queries),
                    "tau_b": tau_b(self.places(rates, "mc4"), self.places(rates, rule)),
                    "limit_zeros": int((limit <= TIE).sum()),
                }

    def table_2(self) -> Iterator[Row]:
        """Yield the rows of the table `table_2`: both orders are by the queries in common."""
        for part in self._track.parts(self._options):
            values = {method: self.values(method) for method in self._options.correlated[part]}
            for rule in RULES:
                for a, b in combinations(values, 2):
                    common = in_common(values[a], values[b])
                    both = [self.places(matrix, rule) for matrix in common]
                    known = ~np.isnan(both[0]) & ~np.isnan(both[1])
                    yield {
                        "part": part,
                        "order": rule,
                        "measure_a": a,
                        "measure_b": b,
                        "systems": int(known.sum()),
                        "queries": len(common[0].queries),
                        "tau_b": tau_b(*both),
                    }


def table_1(track: TrackView, compared: ComparedTrack, options: Options) -> Row:
    relevant = np.concatenate([view.counts(options.rel) for view in compared.views])
    per_request = _mean(int(relevant.sum()), len(relevant))
    subtopics = _subtopics(compared, options.rel) if compared.subtopic_qrels else {}
    facts = (len(relevant), len(compared.facts.systems))
    counts = (subtopics.get("pairs_per_request"), per_request)
    datasets = (dataset_of(*facts, count) for count in counts if count is not None)
    return {
        "qrels": track.facts.qrels,
        "subtopic_qrels": compared.subtopic_qrels or None,
        "requests": len(relevant),
        "without_relevant": int((relevant == 0).sum()),
        "runs": len(compared.facts.systems),
        "relevant_per_request": per_request,
        "pairs_per_request": subtopics.get("pairs_per_request"),
        "subtopics_per_request": subtopics.get("subtopics_per_request"),
        "relevant_subtopics_per_request": subtopics.get("relevant_subtopics_per_request"),
        "dataset": next((dataset for dataset in datasets if dataset), None),
    }


def _subtopics(compared: ComparedTrack, rel: int) -> dict[str, float]:
    """Return the means over the queries that the set with subtopics judges."""
    pairs = subtopics = with_relevant = queries = 0
    for view in compared.views:
        by_subtopic = view.by_subtopic()
        judged_subtopics = by_subtopic.require("subtopics")
        is_relevant = judged_subtopics.grade >= rel
        query = by_subtopic.query_of(judged_subtopics.rows)
        judged = np.diff(by_subtopic.offsets) > 0
        named = judged_subtopics.offsets[query] + judged_subtopics.subtopic
        pairs += int(is_relevant.sum())
        subtopics += len(np.unique(named))
        with_relevant += len(np.unique(named[is_relevant]))
        queries += int(judged.sum())
    return {
        "pairs_per_request": _mean(pairs, queries),
        "subtopics_per_request": _mean(subtopics, queries),
        "relevant_subtopics_per_request": _mean(with_relevant, queries),
    }


def _mean(total: int, number: int) -> float:
    return total / number if number else np.nan


def label_noise(
    track: TrackView, compared: ComparedTrack, orders: SystemOrders, options: Options
) -> Iterator[Row]:
    """Yield the rows of the table `label_noise`: RPP under the other qrels sets.

    Both sets are compared on the queries with a preference under both.
    """
    specs = parse_preferences(options.preferences)
    for qrels in track.other_sets:
        blocks = [(v.queries, compare_block(v, specs)) for v in track.blocks(qrels=qrels)]
        for by_other_set in join_blocks(compared.facts, specs, blocks):
            rates = in_common(
                compared.rates[by_other_set.name], by_other_set.win_rates().complete()
            )
            both = compared.preferences[by_other_set.name], by_other_set
            before, after = (
                preferences.only_queries(rates[0].queries).means() for preferences in both
            )
            upper = np.triu_indices(len(before), 1)
            with np.errstate(invalid="ignore"):  # of undefined means
                product = signs(before[upper]) * signs(after[upper])
            turned = int((product < 0).sum())
            ranks = order_frame(rates[1], options.majority)["rank_mc4"].cast(pl.Float64).to_numpy()
            yield {
                "qrels": qrels,
                "preference": by_other_set.name,
                "queries": len(rates[0].queries),
                "tau_b": tau_b(orders.places(rates[0], "mc4"), -ranks),
                "pairs": len(product),
                "turned": turned,
                "share": _mean(turned, len(product)),
            }


def signs(values: np.ndarray) -> np.ndarray:
    """Return -1, 0 or 1; preferences that are equal but for rounding are 0."""
    return np.where(np.abs(values) <= TIE, 0.0, np.sign(values))


def opponents(compared: ComparedTrack, options: Options) -> pl.DataFrame | None:
    """Return the table `opponents`; None where no group is known."""
    rpp = compared.preferences[options.preference()]
    if not any(rpp.groups):
        return None
    by_group = {suffix: rpp.win_rates(by_group=bool(suffix)).means for suffix in ("", "_groups")}
    columns = [pl.Series(f"win_rate{suffix}", means) for suffix, means in by_group.items()]
    ranks = [
        pl.Series(f"rank{suffix}", -places(means)).fill_nan(None)
        for suffix, means in by_group.items()
    ]
    named = {"system": list(rpp.systems), "group": list(rpp.groups)}
    return pl.DataFrame({**named}).with_columns(*columns, *ranks)


KEY = ("part", "order", "measure_a", "measure_b")


def table_2_mean(tables: Tables, options: Options) -> pl.DataFrame:
    """Return the table `table_2_mean`, of the means over tracks."""
    tau = pl.col("tau_b").fill_nan(None)
    rows = tables["table_2"].group_by(KEY, maintain_order=True)
    return rows.agg(tau.mean().fill_null(np.nan), tracks=tau.count())


TESTS = {"table_3": ("hsd-randomised", "none"), "table_4": ("t", "bonferroni")}
"""Test and correction of each table."""


def significant_pairs(
    compared: ComparedTrack, options: Options, table: str, dataset: str | None
) -> Iterator[dict[str, Any]]:
    """Yield the rows of the table `table_3` or `table_4`."""
    for part, methods in compared.parts(options).items():
        for name in methods:
            if (options, name) not in compared.p_values:
                compared.p_values[options, name] = _p_values(compared, options, name)
            p = compared.p_values[options, name][table]
            separated = int((p < options.alpha).sum())
            known = len(p) > 0 and not np.isnan(p).all()
            yield {
                "part": part,
                "measure": name,
                "pairs": len(p),
                "separated": separated,
                "percent": 100.0 * separated / len(p) if known else np.nan,
                "printed": None if dataset is None else PERCENT[table].get((dataset, name)),
            }


def _p_values(compared: ComparedTrack, options: Options, name: str) -> dict[str, np.ndarray]:
    """Return the p-values of all pairs for each table, from preferences computed once."""
    tested, p_values = _tested(compared, options, name), dict[str, np.ndarray]()
    if isinstance(tested, Preference):
        tested = held(tested, MOST_HELD)
    for table, (test, correction) in TESTS.items():
        asked: Any = {"resamples": options.resamples, "rng": options.seed, "correction": correction}
        if isinstance(tested, Matrix):
            pairs = pairwise(tested, test, **asked)
        else:
            pairs = preference_pairs(tested, test, **asked, workers=1)
        p_values[table] = pairs.p_adjusted[pairs.upper]
    return p_values


def held(preference: Preference, most: int) -> Preference:
    """Compute the preferences of all queries once, where they are at most `most` numbers."""
    queries = len(preference.queries)
    if queries * len(preference.systems) ** 2 > most:
        return preference
    table = [preference.difference(query) for query in range(queries)]
    return replace(preference, difference=table.__getitem__)


def _tested(compared: ComparedTrack, options: Options, name: str) -> Matrix | Preference:
    """Return what is tested: values of a measure, preferences of pairs, or win rates."""
    if name not in compared.preferences:
        return compared.matrix(name)
    if options.on == "win-rate":
        return compared.rates[name]
    return compared.preferences[name].preference()


ORDERS: dict[str, DropOrder] = {"random": "random", "pool": "least-retrieved"}
"""Names of the order in which relevant docs are removed, in the table and in `drop_relevant`."""


def fewer_queries(compared: ComparedTrack, options: Options) -> pl.DataFrame:
    """Return the table `figure_6`; all measures share their samples."""
    by_measure = list[pl.DataFrame]()
    sizes = options.kept(int(compared.is_relevant.sum()))
    for name in options.compared:
        if name in compared.preferences:
            subsets = preference_subsets(
                compared.rates[name],
                sizes,
                options.replicates,
                majority=options.majority,
                rng=options.seed,
            )
        else:
            matrix = compared.matrix(name)
            subsets = query_subsets(matrix, sizes, options.replicates, rng=options.seed)
        by_measure.append(spread(subsets).rename({"size": "queries"}))
    return pl.concat(by_measure)


def fewer_labels(compared: ComparedTrack, options: Options) -> pl.DataFrame:
    """Return the table `figure_7`.

    Random orders have `label_replicates` samples; the order by lists is the same each time.
    """
    by_order = list[pl.DataFrame]()
    gained = [keep_gained(view) for view in compared.views]  # no other docs are read
    all_labels = _places([gained], options)
    seeds = np.random.SeedSequence(options.seed).generate_state(options.label_replicates).tolist()
    for labels, order in ORDERS.items():
        drawn = seeds if labels == "random" else [0]
        samples = _places(_with_fewer(gained, options, order, drawn), options)
        taus = {
            name: over_common(kendall_tau_b, all_labels[name], places, False)[0].tolist()
            for name, places in samples.items()
        }
        rows = [
            {"size": share, "measure": name, "tau": taus[name][i]}
            for i, share in enumerate([*options.removed] * len(drawn))
            for name in samples
        ]
        spreads = spread(pl.DataFrame(rows)).rename({"size": "removed"})
        by_order.append(spreads.with_columns(labels=pl.lit(labels)))
    return pl.concat(by_order)


def _with_fewer(
    views: Sequence[JudgedRanks], options: Options, order: DropOrder, seeds: Sequence[int]
) -> Iterator[Sequence[JudgedRanks]]:
    """Yield the blocks without each share of the relevant docs, one seed after another."""
    for seed in seeds:
        by_view = [
            drop_relevant_shares(view, options.removed, order, rel=options.rel, rng=seed)
            for view in views
        ]
        yield from zip(*by_view, strict=True)


def _places(samples: Iterable[Sequence[JudgedRanks]], options: Options) -> dict[str, np.ndarray]:
    """Return the negated ranks of the systems by each of the six: float64 [sample, system]."""
    preferences = parse_preferences(options.preferences)
    measures = parse_measures(options.measures)
    verdicts, by_means = dict[str, list[Verdicts]](), dict[str, list[np.ndarray]]()
    for views in samples:
        blocks = [(view.queries, compare_block(view, preferences)) for view in views]
        for preference in join_blocks(views[0].facts, preferences, blocks):
            verdicts.setdefault(preference.name, []).append(
                Verdicts.of(preference.win_rates().complete())
            )
        scores = Scores.concat([evaluate_block(view, measures, options.policy) for view in views])
        for name, means in zip(scores.measures, scores.mean_values(), strict=True):
            by_means.setdefault(name, []).append(means * scores.directions[name])
    places_by_preference = {
        name: -mc4_ranks(of_samples, options.majority, STEPS).astype(np.float64)
        for name, of_samples in verdicts.items()
    }
    return places_by_preference | {
        name: places(np.stack(of_samples)) for name, of_samples in by_means.items()
    }
