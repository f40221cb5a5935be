"""The tables of a track, from one pass over its blocks, and those over tracks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise, product
from typing import Any, Literal

import numpy as np
import polars as pl

from irmeta.measures.evaluate import evaluate_block
from irmeta.measures.names import Spec, parse_measures
from irmeta.measures.search_length import (
    Atomized,
    Chain,
    Discount,
    atomized,
    lengths_by_doc,
    precision_lengths,
)
from irmeta.phrases import count
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.track_facts import TrackFacts
from irmeta.results.matrix import Matrix
from irmeta.results.scores import Scores
from irmeta.stats.baselines import reduction_in_error
from irmeta.stats.correlation import correlate, in_common
from irmeta.stats.means import mean_sd, spread
from irmeta.stats.new_measure import Reordering, reordering
from irmeta.stats.orders import round_means
from irmeta.stats.search_lengths import (
    ROUNDING,
    difference_buckets,
    effective_fractions,
    length_buckets,
    length_frame,
    length_lows,
    value_buckets,
)
from irmeta.studies.framework.study import Row, TableRows, Tables, declared_rows
from irmeta.studies.framework.track_view import (
    Missed,
    Saturation,
    TrackView,
    best_system,
    mean_difference,
    median_system,
    systems_in_order,
    systems_of,
    total_saturation,
)
from irmeta.studies.papers.search_length.study import CONFIDENCE, PERSISTENCE, RATIO, TABLES
from irmeta.studies.papers.search_length.study import SearchLengthOptions as Options

CHOICES = ("floor", "depth")
"""Search lengths of docs not retrieved in the chains: those of at least 1, so that 1/SL exists."""
STEPS = ("cumulative", "atomize P", "aggregate docs", "aggregate queries")
"""Names of the steps by number; step 0 compares the first measure with the last."""


def _reciprocal(lengths: np.ndarray) -> np.ndarray:
    return 1.0 / lengths


CHAINS = (
    Chain("AP", _reciprocal),
    Chain("nDCG", lambda lengths: 1.0 / np.log2(1.0 + lengths), "grade"),
    Chain(f"RBP(p={PERSISTENCE})", lambda lengths: PERSISTENCE ** (lengths - 1.0)),
    Chain("ERR", _reciprocal, "exp"),
)


def steps(
    chain: Chain, old: Matrix, atomized_values: Atomized, options: Options
) -> Iterator[tuple[int, Reordering]]:
    """Yield step 0, from the first measure of a chain to the last, then each single step.

    `old` has the measure's values. Every step is without lists that lack a value or a relevant doc.
    """
    known = ~np.isnan(atomized_values.length) & ~np.isnan(old.values)

    def stage(values: np.ndarray, name: str, direction: Literal[1, -1] = 1) -> Matrix:
        values = np.where(known, values, np.nan)
        return replace(old, values=values, measure=name, direction=direction)

    stages = [
        stage(old.values, old.measure),
        stage(atomized_values.worth, "atomized"),
        stage(chain.discount(atomized_values.length), "docs as lengths"),
        stage(atomized_values.length, "search length", -1),
    ]
    for step, (before, after) in enumerate([(stages[0], stages[-1]), *pairwise(stages)]):
        yield step, _compare(before, after, options, chain.discount)


def cumulative(old: Matrix, new: Matrix, options: Options) -> Iterator[tuple[int, Reordering]]:
    """Compare two measures over lists on which both are defined, as step 0."""
    known = ~np.isnan(new.values) & ~np.isnan(old.values)
    before, after = (replace(m, values=np.where(known, m.values, np.nan)) for m in (old, new))
    yield 0, _compare(before, after, options)


def _compare(
    old: Matrix, new: Matrix, options: Options, in_p_space: Discount | None = None
) -> Reordering:
    alpha, test = options.alpha, options.test
    return reordering(old, new, ratio=RATIO, alpha=alpha, test=test, in_p_space=in_p_space)


def frames(
    chain: str, unretrieved: str, comparisons: Iterable[tuple[int, Reordering]]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the tables `reordering` (a row per step) and `moves` (a row per step and system)."""
    constants = {"chain": pl.lit(chain), "unretrieved": pl.lit(unretrieved)}
    summaries, moves = [], []
    for step, comparison in comparisons:
        key = constants | {"step": pl.lit(step, pl.Int32)}
        systems = comparison.frame().drop("old", "new")
        moved = systems.filter(pl.col("moved") > 0)
        furthest = moved.filter(pl.col("moved") == pl.col("moved").max()).head(1)
        furthest = furthest.select("track", "better_old", "better_new", furthest="system")
        summaries.append(
            comparison.summary().join(furthest, on="track", how="left").with_columns(**key)
        )
        moves.append(systems.with_columns(**key))
    return pl.concat(summaries), pl.concat(moves)


@dataclass(frozen=True)
class Gathered:
    """Values of one track for the study."""

    scores: Scores  # all measures; `cut`: some of them on lists cut at the options' depth
    cut: Scores
    # atomized values by the choice for docs not retrieved and the chain's name
    chains: Mapping[tuple[str, str], Atomized]
    # int32 [relevant doc, system]: search lengths under the options' `unretrieved`
    lengths: np.ndarray
    retrieved: np.ndarray  # bool [relevant doc, system]
    # int64 [system]: relevant docs retrieved by lists cut at the options' depth
    found_cut: np.ndarray
    # float64 [relevant doc, system]: 1/P ascending within a query, infinite where not retrieved
    precision_lengths: np.ndarray
    relevant: np.ndarray  # int64 [query]: number of relevant docs
    listed: np.ndarray  # int64 [system]: rows of the lists for judged queries
    saturation: Saturation  # numbers of lists, and of those that hold no doc that is not relevant
    nonrelevant_judged: int  # number of docs judged non-relevant

    @property
    def offsets(self) -> np.ndarray:
        """Offsets of each query's relevant docs: int64 [query + 1]."""
        return np.concatenate([[0], np.cumsum(self.relevant)])

    @property
    def missed(self) -> Missed:
        """The share of the relevant docs that each system does not retrieve."""
        return Missed(self.scores.systems, 1.0 - self.retrieved.mean(axis=0))

    @property
    def missed_cut(self) -> Missed:
        """The same for lists cut at the options' depth."""
        return Missed(self.scores.systems, 1.0 - self.found_cut / len(self.retrieved))

    def missed_of_first(self, first: int | None, system: str) -> float:
        """Return the share of the first relevant docs of each query that a system misses."""
        retrieved = self.retrieved[:, self.scores.systems.index(system)]
        counts = np.diff(np.concatenate([[0], np.cumsum(retrieved)])[self.offsets])
        most = self.relevant if first is None else np.minimum(self.relevant, first)
        return 1.0 - float(np.minimum(counts, most).sum() / most.sum())

    def deep_lengths(self, facts: TrackFacts) -> np.ndarray:
        """Search lengths under ``unretrieved=depth``: int32 [relevant doc, system].

        Lengths of retrieved docs are the same under every choice.
        """
        queries = np.flatnonzero(self.relevant)
        retrieved_counts = np.add.reduceat(
            self.retrieved, self.offsets[queries], axis=0, dtype=np.int32
        )
        missing = np.repeat(
            facts.deepest_rank + 1 - retrieved_counts, self.relevant[queries], axis=0
        )
        return np.where(self.retrieved, self.lengths, missing.astype(np.int32))

    @property
    def has_lengths(self) -> bool:
        """Whether search lengths are meaningful: most lists hold a doc that is not relevant."""
        return bool(self.relevant.any()) and not self.saturation.is_most


def _of_block(options: Options, specs: Sequence[Spec], view: JudgedRanks) -> Gathered:
    rel, rows = options.rel, view.relevant_rows(options.rel)
    chains = dict[tuple[str, str], Atomized]()
    for choice in CHOICES:
        lengths = {least: lengths_by_doc(view, least, choice) for least in {1, rel}}
        for chain in CHAINS:
            least = 1 if chain.graded else rel
            chains[choice, chain.name] = atomized(view, chain, least, lengths[least])
    shallow = parse_measures(options.shallow)
    return Gathered(
        scores=evaluate_block(view, specs, options.policy),
        cut=evaluate_block(view.cut_to(options.cut_depth), shallow, options.policy),
        chains=chains,
        lengths=lengths_by_doc(view, rel, options.unretrieved).astype(np.int32),
        retrieved=view.ranks[rows] != view.missing,
        found_cut=(view.ranks[rows] <= options.cut_depth).sum(axis=0, dtype=np.int64),
        precision_lengths=precision_lengths(view, rel),
        relevant=view.counts(rel),
        listed=view.lengths.sum(axis=0, dtype=np.int64),
        saturation=Saturation.of(view, rel),
        nonrelevant_judged=int(view.counts(*view.nonrelevant(rel)).sum()),
    )


def _joined(blocks: Sequence[Gathered]) -> Gathered:
    def end_to_end(name: str) -> np.ndarray:
        return np.concatenate([getattr(block, name) for block in blocks])

    by_query = ("lengths", "retrieved", "precision_lengths", "relevant")
    return Gathered(
        scores=Scores.concat([block.scores for block in blocks]),
        cut=Scores.concat([block.cut for block in blocks]),
        chains={key: Atomized.concat([b.chains[key] for b in blocks]) for key in blocks[0].chains},
        found_cut=np.sum([block.found_cut for block in blocks], axis=0),
        listed=np.sum([block.listed for block in blocks], axis=0),
        saturation=total_saturation(block.saturation for block in blocks),
        nonrelevant_judged=sum(block.nonrelevant_judged for block in blocks),
        **{name: end_to_end(name) for name in by_query},
    )


SHARES = tuple(step / 10 for step in range(11))
LENGTHS = (1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 50.0, 100.0, 200.0, 500.0, 1e3, 2e3, 5e3, 1e4)
ORDER = (*(("AP", step) for step in (1, 2, 3, 0)), ("P@20", 0), ("RR", 0))
"""The rows of Table 2, then those of Section 4.4."""
FURTHER = tuple((chain.name, step) for chain in CHAINS[1:] for step in (1, 2, 3, 0))

P20_CLASSES = (
    (0.0, 0.3, "less than a quarter of the tracks"),
    (0.3, 0.5, "another quarter"),
    (0.5, 1.0, "roughly half"),
)
RankBeyond = tuple[float, Any, str]
TOP_BEYOND: tuple[RankBeyond, ...] = (
    (10, "nearly all", "nearly all"),
    (20, "most", "more than half of the tracks"),
    (30, "most", "often"),
)
"""Ranks beyond which the best ASL@g10 lies, and on how many tracks (Figure 2)."""
ALL_BEYOND: tuple[RankBeyond, ...] = (
    (10, "nearly all", "nearly all"),
    (100, "most", "the majority"),
)
"""Ranks beyond which the best ASL lies, and on how many tracks (Figure 4)."""
MANY_RANKS = (100.0, "sometimes even well into the hundreds")
LOW_MAP = (0.0, 0.1, "expected of nearly all, but nearly all are much higher")
"""Best MAP that the search lengths would lead to expect (Section 4.2)."""

TABLE_1 = (
    ("documents", "P@20", 0.456, 0.594, 0.25),
    ("documents", "ASL@g10", 14.0, 5.0, 0.69),
    ("documents", "AP", 0.401, 0.543, 0.24),
    ("documents", "ASL", None, 27.0, 0.32),  # BM25's is not in the text
    ("passages", "P@20", 0.517, 0.706, 0.39),
    ("passages", "ASL@g10", 51.0, 6.0, 0.90),
    ("passages", "AP", 0.400, 0.572, 0.29),
    ("passages", "ASL", 264.0, 215.0, 0.19),
)
"""Table 1: 2020 Deep Learning track, measure, BM25, neural, RRIE."""


def distributions(tables: Tables, options: Options) -> Iterator[Row]:
    """Yield Figures 1 to 4: numbers of tracks by the bucket of their best system's mean.

    P@20 and AP have ten equal buckets, the last including 1; search lengths have `LENGTHS`, a last
    bucket without end, and one below the first where Eq. 3 gives such a mean. The text of the paper
    does not state its buckets.
    """
    figures = {f"Figure {n}": measure for n, measure in enumerate(options.printed, 1)}
    for figure, measure in [*figures.items()]:
        if (deep := options.deep.get(measure, measure)) != measure:
            figures[f"{figure}, unretrieved=depth"] = deep
    for figure, measure in figures.items():
        best = tables["headroom"].filter(measure=measure)
        values, short = best["value"].to_numpy(), best["short"].to_numpy()
        is_share = measure in (options.p20, options.ap)
        for low, high, inside in value_buckets(values, SHARES if is_share else LENGTHS, is_share):
            counts = {"tracks": int(inside.sum()), "short": int((inside & short).sum())}
            share = counts["tracks"] / max(len(values), 1)
            key = {"figure": figure, "measure": measure, "low": low, "high": high}
            yield {**key, **counts, "share": share}


def classes(tables: Tables, options: Options) -> Iterator[Row]:
    """Yield Section 4.2: tracks by best P@20 and AP, and by search lengths beyond some ranks."""
    rows = [(options.p20, *row) for row in P20_CLASSES] + [(options.ap, *LOW_MAP)]
    top = {low: printed for low, _, printed in TOP_BEYOND} | dict([MANY_RANKS])
    everything = {low: printed for low, _, printed in ALL_BEYOND}
    for asl, lows in ((options.asl(10), top), (options.asl(), everything)):
        for name in dict.fromkeys([asl, options.deep[asl]]):
            rows += [(name, low, None, lows[low] if name == asl else "") for low in lows]
    for measure, low, high, claim in rows:
        best = tables["headroom"].filter(measure=measure)["value"].to_numpy()
        if high is None:
            name, inside = f"over {low:g}", best > low + ROUNDING
        else:
            name = f"[{low:g}, {high:g}{']' if high == 1.0 else ')'}"
            inside = (best + ROUNDING >= low) & ((best + ROUNDING < high) | (high == 1.0))
        tracks = int(inside.sum())
        share = tracks / max(len(best), 1)
        key = {"measure": measure, "best_system": name, "low": low, "high": high}
        yield {**key, "tracks": tracks, "share": share, "paper": claim}


def table_2(tables: Tables, options: Options) -> Iterator[Row]:
    """Yield Table 2 and the other chains: means over tracks; Delta-value over all systems.

    Standard deviations are those of a sample (n - 1), NaN for one track.
    """
    chains_of_steps = [chain.name for chain in CHAINS]
    for (chain, step), choice in product((*ORDER, *FURTHER), CHOICES):
        key = {"chain": chain, "step": step, "unretrieved": choice}
        tracks = tables["reordering"].filter(**key)
        if tracks.is_empty():
            continue
        old, new = tracks.select("old", "new").row(0)
        systems = tables["moves"].filter(**key)
        values = systems["value"].drop_nans()
        is_step = chain in chains_of_steps
        yield {
            "change": f"{chain}: {STEPS[step]}"
            if is_step
            else f"{old} to {options.lengths[chain]}",
            **key,
            "old": old,
            "new": new,
            **spread("delta_sort", tracks["delta_sort"], 0.0, 100.0),
            **spread("tau", tracks["tau"], -1.0, 1.0),
            **spread("delta_value", values, 0.0, np.inf),
            "delta_value_median": float(np.median(values)) if len(values) else float("nan"),
            "tracks": tracks.height,
            "systems": systems.height,
            "left_out": systems.height - len(values),
        }


def effective_summary(tables: Tables, options: Options) -> Iterator[Row]:
    """Yield the means of Appendix A.1 over tracks, of means over systems.

    Tracks where no query has two relevant docs are excluded: their value is always 1.
    """
    counted = tables["effective_by_track"].filter(~pl.col("trivial"))
    yield {
        "tracks": counted["fraction"].drop_nans().len(),
        **mean_sd("fraction", counted["fraction"]),
        **mean_sd("pooled", counted["pooled"]),
    }


def paper_table_1(tables: Tables, options: Options) -> Iterator[Row]:
    """Yield Table 1 as the paper prints it."""
    columns = ("collection", "measure", "baseline", "contender", "rrie")
    return (dict(zip(columns, row, strict=True)) for row in TABLE_1)


def compute(track: TrackView, options: Options) -> TableRows:
    """Yield the tables of one track, from a single pass over its blocks."""
    specs = parse_measures(options.scored())
    blocks = track.map_blocks(partial(_of_block, options, specs), specs)
    gathered = _joined(list(blocks))  # all that does not depend on the best system
    _describe(track, gathered, options)
    yield "means", _means(gathered, options)
    if not gathered.has_lengths:
        return
    yield from declared_rows(TABLES, gathered, options)
    yield "table_1", _table_1(gathered, options, track.systems)
    yield "asl_differences", _differences(gathered, options, track.systems)
    yield from _reordered(gathered, options)
    yield from _doc_by_doc(track, gathered, options)


def _describe(track: TrackView, gathered: Gathered, options: Options) -> None:
    """Exclude a track without meaningful search lengths, and add notes on its values."""
    track.saturation = saturation = gathered.saturation
    if not gathered.relevant.any():
        track.leave_out("no query has a relevant doc")
    elif not gathered.has_lengths:
        track.leave_out(saturation.reason("search lengths and Bpref mean nothing here"))
    empty = int((gathered.relevant == 0).sum())
    if empty and options.queries != "relevant":
        queries = count(empty, "judged query has", "judged queries have")
        track.note(
            f"{queries} no relevant doc: P@20 and AP are 0 there, search lengths exclude them"
        )
    if not gathered.has_lengths:
        return
    if gathered.nonrelevant_judged == 0:
        track.note("no doc is judged non-relevant, so Bpref means nothing here")
    if not gathered.retrieved.any():
        track.note("no system retrieves a relevant doc")
    if len(gathered.scores.systems) == 1:
        track.note("one system, so none to compare it with")
    if saturation.saturated and options.unretrieved == "irrel":
        lists = count(saturation.saturated, "list holds", "lists hold")
        track.note(
            f"{lists} no non-relevant doc: Eq. 3 gives the relevant docs that they miss a length "
            "of 0"
        )


def _means(gathered: Gathered, options: Options) -> pl.DataFrame:
    means = gathered.scores.means()
    if not gathered.has_lengths:
        asl = list(gathered.scores.lists_without_nonrelevant)
        means = means.filter(~pl.col("measure").is_in([*asl, options.named("Bpref")]))
    elif gathered.nonrelevant_judged == 0:
        means = means.filter(pl.col("measure") != options.named("Bpref"))
    return means


def _missing(gathered: Gathered, measure: str, system: str) -> Row:
    """Return the share that a best system misses, if the measure is a search length."""
    if measure in gathered.scores.lists_without_nonrelevant:
        return gathered.missed.row(system)
    return {"missed": None, "median_missed": None, "short": False}


def _missed_counted(
    gathered: Gathered, options: Options, measure: str, *systems: str
) -> float | None:
    """Return the greatest share of missed docs, of those that a search length counts."""
    counted = {options.asl(n, how): n for n in (10, None) for how in (None, "depth")}
    if measure not in counted:
        return None
    return max(gathered.missed_of_first(counted[measure], system) for system in systems)


def headroom(gathered: Gathered, options: Options) -> Iterator[Row]:
    scores = gathered.scores
    for measure in options.headroom:
        by = options.best_by or measure
        best, median = best_system(scores, by), median_system(scores, by)
        if best is not None and median is not None:
            yield {
                "measure": measure,
                "system": best,
                "value": scores.mean_of(measure, best),
                "median": scores.mean_of(measure, median),
                "chosen_by": by,
                **_missing(gathered, measure, best),
                "missed_counted": _missed_counted(gathered, options, measure, best),
            }


def best_by_choice(gathered: Gathered, options: Options) -> Iterator[Row]:
    """Yield the best system by each choice for docs not retrieved, and by AP, P@20 and RR."""
    scores, lengths = gathered.scores, gathered.scores.lists_without_nonrelevant
    for measure in options.choices:
        best = best_system(scores, measure)
        if best is not None:
            listed = gathered.listed[scores.systems.index(best)]
            yield {
                "measure": measure,
                "system": best,
                "value": scores.mean_of(measure, best),
                **gathered.missed.row(best),
                "short": measure in lengths and gathered.missed.is_short(best),
                "rows": float(listed / len(scores.queries)),
            }


def _sides(
    scores: Scores, options: Options, systems: pl.DataFrame, measure: str
) -> tuple[str, str] | None:
    """Return baseline and contender: the best system of each side; None if a side has none.

    The median system is taken by ASL, or by the options' `best_by`.
    """
    median = median_system(scores, options.best_by or options.asl())
    baseline, contender = (
        best_system(scores, options.best_by or measure, systems_of(side, systems, median))
        for side in (options.baseline, options.contender)
    )
    return None if baseline is None or contender is None else (baseline, contender)


def _table_1(gathered: Gathered, options: Options, systems: pl.DataFrame) -> Iterator[Row]:
    scores = gathered.scores
    for measure in options.headroom:
        if (pair := _sides(scores, options, systems, measure)) is None:
            continue
        baseline, contender = (scores.mean_of(measure, system) for system in pair)
        interval = _difference(scores, options, measure, pair[1], pair[0])
        yield {
            "measure": measure,
            "baseline": pair[0],
            "baseline_value": baseline,
            "contender": pair[1],
            "contender_value": contender,
            "rrie": reduction_in_error(baseline, contender, scores.directions[measure]),
            **{name: interval[name] for name in ("difference", "low", "high")},
            **_missing(gathered, measure, pair[1]),
            "missed_counted": _missed_counted(gathered, options, measure, *pair),
        }


def _difference(
    scores: Scores, options: Options, measure: str, a: str, b: str
) -> dict[str, float | int]:
    matrix = scores.matrix(measure)
    values = matrix.values[:, [matrix.systems.index(a), matrix.systems.index(b)]]
    return mean_difference(values, options.resamples, options.seed, CONFIDENCE)


def _differences(gathered: Gathered, options: Options, systems: pl.DataFrame) -> Iterator[Row]:
    scores = gathered.scores
    measures = [options.asl(), options.asl(1), options.asl(10), options.deep[options.asl()]]
    for measure in dict.fromkeys(measures):
        order = systems_in_order(scores, options.best_by or measure)
        ranks = {"best - median": (len(order) - 1) // 2, "best - second": 1}
        pairs = [(n, order[0], order[rank]) for n, rank in ranks.items() if 0 < rank < len(order)]
        sides = _sides(scores, options, systems, measure)
        if sides is not None and sides[0] != sides[1]:
            pairs.append(("contender - baseline", sides[1], sides[0]))
        for comparison, a, b in pairs:
            row: Row = {"measure": measure, "comparison": comparison, "a": a, "b": b}
            row["a_short"] = gathered.missed.is_short(a)
            yield row | _difference(scores, options, measure, a, b)


def depth_sensitivity(gathered: Gathered, options: Options) -> Iterator[Row]:
    full, cut = gathered.scores, gathered.cut
    for measure in options.shallow:
        best, best_cut = best_system(full, measure), best_system(cut, measure)
        if best is None or best_cut is None:
            continue
        both = in_common(full.matrix(measure), cut.matrix(measure))
        orders = np.stack([round_means(matrix.means) for matrix in both])
        is_length = measure in full.lists_without_nonrelevant
        yield {
            "measure": measure,
            "depth": options.cut_depth,
            "best": best,
            "value": full.mean_of(measure, best),
            "best_cut": best_cut,
            "value_cut": cut.mean_of(measure, best_cut),
            "queries": int((~np.isnan(both[0].values)).any(axis=1).sum()),
            "tau": float(correlate(orders, "tau-b").values[0, 1]),
            "short": is_length and gathered.missed.is_short(best),
            "short_cut": is_length and gathered.missed_cut.is_short(best_cut),
        }


def _reordered(gathered: Gathered, options: Options) -> TableRows:
    """Yield the tables `reordering`, `moves` and `furthest`, all chains."""
    scores = gathered.scores
    measures = {f"RBP(p={PERSISTENCE})": options.rbp, "AP": options.ap}
    chains = {}
    for choice, chain in product(CHOICES, CHAINS):
        old = scores.matrix(measures.get(chain.name, chain.name))
        chains[chain.name, choice] = steps(chain, old, gathered.chains[choice, chain.name], options)
    for choice, (name, old, first) in product(
        CHOICES, (("P@20", options.p20, 10), ("RR", options.named("RR"), 1))
    ):
        new = scores.matrix(options.asl(first, choice))
        chains[name, choice] = cumulative(scores.matrix(old), new, options)
    missed = dict(gathered.missed)
    for (name, choice), chain_steps in chains.items():
        summary, moves = frames(name, choice, chain_steps)
        yield "reordering", summary
        yield "moves", moves
        cumulative_step = summary.filter(step=0).select(
            *("track", "chain", "unretrieved", "better_old", "better_new", "systems"),
            *("delta_sort", "tau"),
            change=pl.format("{} to {}", "old", pl.lit(options.lengths.get(name, "search length"))),
            furthest=pl.col("furthest").fill_null("none"),
            missed=pl.col("furthest").replace_strict(missed, default=None, return_dtype=pl.Float64),
        )
        yield "furthest", cumulative_step


def _doc_by_doc(track: TrackView, gathered: Gathered, options: Options) -> TableRows:
    """Yield the tables on single relevant docs."""
    scores = gathered.scores
    longest = int(gathered.lengths.max(initial=0, where=gathered.retrieved))
    lows, last = length_lows(options.buckets, longest)
    counts = length_buckets(gathered.lengths.astype(np.float64), gathered.retrieved, lows)
    histogram = length_frame(scores.track, scores.systems, counts, lows, last)
    yield "search_length_histogram", histogram
    fractions = effective_fraction_table(gathered)
    yield "effective_fraction", fractions
    yield "effective_by_track", [_effective_by_track(gathered, fractions)]
    for measure in dict.fromkeys([options.asl(), options.deep[options.asl()]]):
        best, median = best_system(scores, measure), median_system(scores, measure)
        if best is None or median is None or best == median:
            continue
        lengths = (
            gathered.lengths if measure == options.asl() else gathered.deep_lengths(track.facts)
        )
        columns = [scores.systems.index(system) for system in (best, median)]
        a, b = lengths[:, columns].astype(np.float64).T
        retrieved = pl.col("retrieved").replace({"first": "best", "second": "median"})
        is_retrieved = tuple(gathered.retrieved[:, columns].T)
        buckets = difference_buckets(a - b, is_retrieved, options.buckets)
        constants = {"measure": pl.lit(measure), "best": pl.lit(best), "median": pl.lit(median)}
        yield "length_differences", buckets.with_columns(retrieved, **constants)


def effective_fraction_table(gathered: Gathered) -> pl.DataFrame:
    """Return the table `effective_fraction`, a row for each system."""
    by_system = effective_fractions(gathered.precision_lengths, gathered.offsets)
    systems = pl.Series(gathered.scores.systems, dtype=pl.String)
    return pl.DataFrame({"system": systems, **by_system})


def _effective_by_track(gathered: Gathered, fractions: pl.DataFrame) -> Row:
    """Return means over systems; `trivial` if every system with a fraction has 1."""
    known = {name: fractions[name].drop_nans().to_numpy() for name in ("fraction", "pooled")}
    return {
        "systems": fractions.height,
        **{name: float(v.mean()) if len(v) else np.nan for name, v in known.items()},
        "undefined": fractions["undefined"].sum(),
        "trivial": bool(gathered.relevant.max() <= 1),
    }
