"""The tables of a track: orders of systems, added runs, smaller pools and other judgments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from irmeta.equality import TIE
from irmeta.measures.evaluate import evaluate_block
from irmeta.measures.names import parse_measures
from irmeta.measures.rareness import RareParts
from irmeta.phrases import agreeing, count, listed
from irmeta.policies import Counted
from irmeta.rankings.derive.drop import pool_cut
from irmeta.rankings.derive.select import keep_gained, take_rows, take_systems
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.pool import POOL_ARRAYS
from irmeta.rankings.view import replace_arrays
from irmeta.results.matrix import Matrix
from irmeta.results.scores import Scores
from irmeta.stats.corrections import LEVELS
from irmeta.stats.hsd import Design, is_significant
from irmeta.stats.orders import kendall_tau_b, round_means, round_rows, tau_ap_b
from irmeta.stats.pairs import pairwise
from irmeta.stats.ranking_stability import Fuzziness, stability
from irmeta.stats.resampling import spread, system_subsets, takes_every_subset
from irmeta.studies.framework.study import Row, TableRows, Tables, declared_rows
from irmeta.studies.framework.track_groups import over_tracks
from irmeta.studies.framework.track_view import TrackView
from irmeta.studies.papers.innovation import study
from irmeta.studies.papers.innovation.rare_track import (
    RareTrack,
    example_queries,
    figure_1,
    first_places,
    parts_of,
    query_of_figure_1,
    ranks,
    tau_b,
)
from irmeta.studies.papers.innovation.study import InnovationOptions as Options

METHODS = {"tau-b": kendall_tau_b, "tau-ap-b": tau_ap_b}
"""The correlations of Figure 2; both are 1 for an order with itself, also where systems tie."""


def figure_2(track: RareTrack) -> Iterator[Row]:
    alphas = sorted({*study.GRID, *track.options.weights})
    by_alpha = track.means(alphas)
    for measure, plain, means in zip(
        track.options.families(), track.parts.plain, by_alpha, strict=True
    ):
        for method, correlation in METHODS.items():
            values = correlation(round_rows(plain[None]), round_rows(means), False)[0]
            for alpha, value in zip(alphas, values, strict=True):
                yield {"measure": measure, "alpha": alpha, "method": method, "value": value}


def swap_alphas(plain: np.ndarray, rare: np.ndarray) -> np.ndarray:
    """Compute the alpha above which each row, better at alpha = 0, is worse than the column.

    Values are plain + alpha rare; infinite for all other pairs.
    """
    lead, gain = plain[:, None] - plain, rare - rare[:, None]
    swaps = (lead > TIE) & (gain > TIE)
    return np.divide(lead, gain, out=np.full(lead.shape, np.inf), where=swaps)


def swaps(track: RareTrack) -> Iterator[Row]:
    systems = track.facts.systems
    for measure, alphas in _by_measure(track):
        for a, b in np.argwhere(alphas < 1.0):
            yield {
                "measure": measure,
                "system_a": systems[a],
                "system_b": systems[b],
                "alpha": alphas[a, b],
            }


def dethroned(track: RareTrack) -> Iterator[Row]:
    systems = track.facts.systems
    parts = zip(_by_measure(track), track.parts.plain, track.rare, strict=True)
    for (measure, alphas), plain, rare in parts:
        best = int(np.argmax(round_means(plain)))
        is_equal = plain[best] - plain <= TIE
        over_best = np.where(is_equal & (rare - rare[best] > TIE), 0.0, alphas[best])
        challenger = int(np.argmin(over_best))
        least = over_best[challenger]
        is_dethroned = bool(np.isfinite(least))
        yield {
            "measure": measure,
            "pairs": len(systems) * (len(systems) - 1) // 2,
            "swapped": int((alphas < 1.0).sum()),
            "best": systems[best],
            "alpha": least if is_dethroned else None,
            "next": systems[challenger] if is_dethroned else None,
        }


def _by_measure(track: RareTrack) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the measures with their `swap_alphas`."""
    parts = zip(track.options.families(), track.parts.plain, track.rare, strict=True)
    return ((measure, swap_alphas(plain, rare)) for measure, plain, rare in parts)


PAPER_TEST = "t-unpaired"
"""What the paper calls Tukey's HSD: the released code calls it with two systems at a time."""
TESTS = (PAPER_TEST, "t", "hsd", "hsd-blocked", "hsd-randomised")
DESIGNS: Mapping[str, Design] = {"hsd": "one-way", "hsd-blocked": "blocked"}
"""Designs of the tests whose p-values Table 1 does without, since they are slow."""
TIES: Mapping[str, tuple[Fuzziness, bool]] = {
    "absolute": ("absolute", True),
    "relative": ("relative", True),
    "none": ("absolute", False),
}
"""Kind of the margin within which means tie in Table 2, and whether there is one."""
FIRST = 100
"""Trials after which the paper's stability has largely converged."""


def table_1(track: RareTrack) -> Iterator[Row]:
    options = track.options
    for measure in study.MEASURES:
        for alpha in options.weights:
            matrix = track.scores.matrix(options.name(measure, alpha)).complete()
            is_defined = len(matrix.queries) > 1 and len(matrix.systems) > 1
            for test, level, is_separated in _separated(matrix, options):
                confidence = round(100 * (1 - level))
                cell = study.Cell(track.collection or "", measure, alpha, confidence)
                printed = study.PAPER_SEPARATED.get(cell) if test == PAPER_TEST else None
                yield {
                    "measure": options.family(measure),
                    "alpha": alpha,
                    "test": test,
                    "level": level,
                    "separated": int(is_separated.sum()),
                    "pairs": len(is_separated),
                    "percent": 100.0 * is_separated.mean() if is_defined else np.nan,
                    "printed": None if printed is None else str(printed),
                }


def _separated(matrix: Matrix, options: Options) -> Iterator[tuple[str, float, np.ndarray]]:
    """Yield test, level, and whether each pair is significantly different: bool [pairs]."""
    upper = np.triu_indices(len(matrix.systems), 1)
    for test in TESTS:
        p = None
        if test not in DESIGNS:
            p = pairwise(matrix, test, resamples=options.resamples, rng=options.seed).p_adjusted
        for level in LEVELS:
            separated = (
                is_significant(matrix.values, level, DESIGNS[test]) if p is None else p <= level
            )
            yield test, level, separated[upper]


def table_2(track: RareTrack) -> Iterator[Row]:
    """Yield the rows of the table `table_2`: Eq. 1, and Eq. 4 above alpha = 0."""
    options = track.options
    for measure in study.MEASURES:
        for alpha in options.weights:
            cell = study.Cell(track.collection or "", measure, alpha)
            printed = study.PAPER_STABILITY.get(cell)
            name, family = options.name(measure, alpha), options.family(measure)
            yield from _stabilities(track, name, family, alpha, printed)
        for alpha in options.convex_weights:
            name, family = options.name(measure, alpha, "convex"), options.family(measure, "convex")
            yield from _stabilities(track, name, family, alpha)


def _stabilities(
    track: RareTrack, name: str, family: str, alpha: float, printed: str | None = None
) -> Iterator[Row]:
    options, matrix = track.options, track.scores.matrix(name)
    for ties, (kind, has_margin) in TIES.items():
        margin = study.FUZZINESS if has_margin else 0.0
        # the first trials of a seed are the same, however many follow
        first, stabilities = (
            stability(matrix, trials=trials, fuzziness=margin, kind=kind, rng=options.seed)
            for trials in (min(FIRST, options.trials), options.trials)
        )
        yield {
            "measure": family,
            "alpha": alpha,
            "ties": ties,
            "stability": stabilities.mean,
            "first_trials": first.mean,
            "tied": stabilities.tie_rate,
            "size": stabilities.size,
            "trials": stabilities.trials,
            "printed": printed if ties == "absolute" else None,
        }


DRAWN = "TREC-8"
"""The collection of the paper's Table 3."""


def table_3(track: RareTrack) -> Iterator[Row]:
    options, systems = track.options, len(track.facts.systems)
    sizes, alphas = options.sizes_of(systems), options.drawn_weights
    cases = {f"{m} {alpha!r}": (m, alpha) for m, alpha in product(study.MEASURES, alphas)}

    def means_of(members: np.ndarray) -> np.ndarray:
        sums = track.parts.rare_sums(members, options.rarity, options.counted)
        plain = track.parts.plain[:, None]
        means = [p + alpha * rare for p, rare in zip(plain, sums, strict=True) for alpha in alphas]
        return np.stack(means)

    if not sizes:
        return
    subsets = system_subsets(means_of, list(cases), systems, sizes, options.draws, rng=options.seed)
    for row in spread(subsets).iter_rows(named=True):
        (measure, alpha), size = cases[row["measure"]], row["size"]
        is_printed = track.collection == DRAWN and alpha == 1
        yield {
            "measure": options.family(measure),
            "alpha": alpha,
            "systems": size,
            "draws": row["replicates"],
            "undefined": row["undefined"],
            "enumerated": takes_every_subset(systems, size, options.draws),
            "tau_b": row["mean"],
            "sd": row["sd"],
            "printed": study.PAPER_FEWER_SYSTEMS.get((measure, size)) if is_printed else None,
        }


CLONES, EMPTY = (1, 5, 20), (20, 100)
ALPHA = 1.0
COUNTED: tuple[Counted, ...] = ("systems", "groups", "others")
UNATTACKED = "none"


class Attack(NamedTuple):
    """Runs that a group adds."""

    target: str  # name of the group, or of the system that is a group of its own
    runs: str  # name of the added runs
    best: int  # index of the best system of the group
    members: np.ndarray  # int64 [runs]: how often each run of `Attacks.parts` takes part


@dataclass(frozen=True)
class Attacks:
    """Every attack on a track, beginning with none."""

    # parts of the measures, with an empty run of each group, then a spoiler run of each: it
    # retrieves the docs that the best system alone retrieves
    parts: RareParts
    attacks: Sequence[Attack]

    @classmethod
    def of(cls, track: RareTrack) -> Attacks:
        """Make the attacks of each group; the best systems are those by AP."""
        parts, ap = track.parts, round_means(track.parts.plain[1])
        groups, systems, best = parts.groups, len(track.facts.systems), int(np.argmax(ap))
        numbers = np.arange(len(track.groups))
        spoiled = parts.hits[:, best] & (parts.hits.sum(axis=1) == 1)
        empty = np.zeros((len(parts.hits), len(numbers)), bool)
        spoilers = np.repeat(spoiled[:, None], len(numbers), axis=1)
        parts = parts.with_runs(np.hstack([empty, spoilers]), np.tile(numbers, 2))
        nobody = np.append(np.ones(systems, np.int64), np.zeros(2 * len(numbers), np.int64))
        attacks = [Attack(UNATTACKED, UNATTACKED, best, nobody)]
        for number, (target, group) in enumerate(track.groups.items()):
            of_group = group[int(np.argmax(ap[group]))]
            added = [(count(n, "clone"), of_group, n) for n in CLONES]
            added += [(f"{n} empty runs", systems + number, n) for n in EMPTY]
            if number != groups[best]:
                added.append(("spoiler", systems + len(numbers) + number, 1))
            for name, run, n in added:
                members = nobody.copy()
                members[run] += n
                attacks.append(Attack(target, name, of_group, members))
        return cls(parts, attacks)


def added_runs(track: RareTrack) -> TableRows:
    """Yield the tables `gaming` and `gaming_effects`."""
    attacks = Attacks.of(track)
    members = np.stack([attack.members for attack in attacks.attacks])
    by_systems = replace(track.options, counted="systems")
    for counted in COUNTED:
        sums = attacks.parts.rare_sums(members, track.options.rarity, counted)
        for measure, plain, rare in zip(study.MEASURES, track.parts.plain, sums, strict=True):
            values = round_rows(plain + ALPHA * rare)
            about = {"counted": counted, "measure": by_systems.name(measure, ALPHA)}
            yield "gaming", _values(track, attacks.attacks, values, about)
            yield "gaming_effects", _effects(track, attacks.attacks, values, plain, about)


def _values(
    track: RareTrack, attacks: Sequence[Attack], values: np.ndarray, about: Row
) -> pl.DataFrame:
    """Return the value and rank of each system after each attack."""
    systems = values.shape[1]
    named = pl.DataFrame({name: [getattr(a, name) for a in attacks] for name in ("target", "runs")})
    rows = named.select(pl.all().repeat_by(systems).explode()).rename({"runs": "attack"})
    return rows.with_columns(
        system=pl.Series([*track.facts.systems]).gather(np.tile(np.arange(systems), len(attacks))),
        value=values.ravel(),
        rank=ranks(values).ravel(),
        **{name: pl.lit(value) for name, value in about.items()},
    )


def _effects(
    track: RareTrack,
    attacks: Sequence[Attack],
    values: np.ndarray,
    plain: np.ndarray,
    about: Row,
) -> Iterator[Row]:
    """Yield the rows of `gaming_effects` of one measure."""
    by_attack, taus, plain_taus = ranks(values), tau_b(values[0], values), tau_b(plain, values)
    rows = zip(attacks, by_attack, taus, plain_taus, strict=True)
    for attack, after, tau, plain_tau in list(rows)[1:]:
        moves = np.abs(after - by_attack[0])
        yield {
            **about,
            "target": attack.target,
            "attack": attack.runs,
            "system": track.facts.systems[attack.best],
            "rank_before": by_attack[0, attack.best],
            "rank_after": after[attack.best],
            "moved": int((moves > 0).sum()),
            "furthest": moves.max(),
            "tau_b": tau,
            "tau_b_plain": plain_tau,
        }


ALPHAS = (0.0, 1.0)


def left_out_groups(track: RareTrack) -> dict[str, list[int]]:
    """Return the systems of each group with a contributor, unless the group is the whole pool."""
    contributors = set(track.facts.contributors)
    return {
        name: systems
        for name, systems in track.groups.items()
        if 0 < len(contributors.intersection(systems)) < len(contributors)
    }


def pool_bias(track: RareTrack) -> Iterator[Row]:
    facts, options = track.facts, track.options
    measures = [options.name(measure, alpha) for measure in study.MEASURES for alpha in ALPHAS]
    before = track.means(ALPHAS).reshape(len(measures), -1)
    ranks_before = ranks(before)
    docs_before = np.sum(  # judged and relevant
        [(view.is_judged.sum(), view.counts(options.rel).sum()) for view in track.views], axis=0
    )
    gained = [keep_gained(view) for view in track.views]
    for group, systems in left_out_groups(track).items():
        pools = [view.with_pool(None, _contributing(track, systems)) for view in gained]
        after = _means(track, pools, systems)
        judged, docs = _judged(track, systems)
        ranks_after = ranks(after)
        lost = docs_before - docs
        for row, measure in enumerate(measures):
            for place, system in enumerate(systems):
                yield {
                    "left_out": group,
                    "system": facts.systems[system],
                    "measure": measure,
                    "pooled": facts.pooled[system] if facts.pool_known else None,
                    "value_before": before[row, system],
                    "value_after": after[row, system],
                    "rank_before": ranks_before[row, system],
                    "rank_after": ranks_after[row, system],
                    "judged": judged[place],
                    "judged_lost": lost[0],
                    "relevant_lost": lost[1],
                }


def _contributing(track: RareTrack, systems: Sequence[int]) -> list[str]:
    """Return the names of those of the systems that contributed to the pool."""
    contributing = set(track.facts.contributors).intersection(systems)
    return [track.facts.systems[system] for system in sorted(contributing)]


def _means(track: RareTrack, pools: Sequence[JudgedRanks], systems: Sequence[int]) -> np.ndarray:
    """Compute the means of all systems, where S and S_d count none of `systems`."""
    parts, options = parts_of(pools, track.options), track.options
    members = np.ones((1, len(track.facts.systems)), bool)
    members[0, systems] = False
    rare = parts.rare_sums(members, options.rarity, options.counted, all_scored=True)[:, 0]
    return np.stack([p + a * r for p, r in zip(parts.plain, rare, strict=True) for a in ALPHAS])


def _judged(track: RareTrack, systems: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Leave systems out of the pool; return their mean judged share, and judged, relevant docs."""
    options, blocks, docs = track.options, list[Scores](), np.zeros(2, np.int64)
    specs = parse_measures([f"Judged@{options.k}"])
    for view in track.views:
        cut = pool_cut(view, None, _contributing(track, systems))
        assert cut is not None
        left_out = take_systems(replace_arrays(view, **dict.fromkeys(POOL_ARRAYS)), list(systems))
        left_out = take_rows(left_out, np.flatnonzero(cut.is_kept))
        blocks.append(evaluate_block(left_out, specs, options.policy))
        is_counted = view.is_judged, view.grades >= options.rel
        docs += [int((rows & cut.is_kept).sum()) for rows in is_counted]
    return Scores.concat(blocks).mean_values()[0], docs


MOST_FEW = 2
"""The greatest S_d of docs that few systems retrieve."""


def other_labels(track: TrackView, rare: RareTrack) -> TableRows:
    """Yield the tables `label_sets` and `label_confirmations`."""
    primary = track.facts.qrels
    for qrels in track.other_sets:
        views = list(track.blocks(qrels=qrels))
        by_other_set = replace(rare, views=views, parts=parts_of(views, rare.options))
        yield "label_sets", _orders(rare, by_other_set, qrels)
        yield "label_confirmations", _confirmations(rare, by_other_set, primary, qrels)
        yield "label_confirmations", _confirmations(by_other_set, rare, qrels, primary)


def _orders(primary: RareTrack, secondary: RareTrack, qrels: str) -> Iterator[Row]:
    """Yield the rows of the table `label_sets` of one other set, over the queries of both."""
    common = _averaged(primary) & _averaged(secondary)
    primary, secondary = _only_queries(primary, common), _only_queries(secondary, common)
    pairs = zip(
        primary.options.families(),
        primary.means(study.MARKED),
        secondary.means(study.MARKED),
        strict=True,
    )
    for measure, ours, theirs in pairs:
        for alpha, a, b in zip(study.MARKED, ours, theirs, strict=True):
            yield {
                "qrels": qrels,
                "measure": measure,
                "alpha": alpha,
                "queries": len(common),
                "tau_b": tau_b(a, b[None])[0] if common else np.nan,
            }


def _averaged(rare: RareTrack) -> set[str]:
    """Return the queries that the policy of the options averages."""
    least = 1 if rare.options.policy.queries == "relevant" else 0
    return {
        query
        for view in rare.views
        for query, relevant in zip(view.queries, view.counts(rare.options.rel), strict=True)
        if relevant >= least
    }


def _only_queries(rare: RareTrack, queries: set[str]) -> RareTrack:
    """Return the track with only some queries, in the blocks that have any of them."""
    blocks = [view for view in rare.views if queries.intersection(view.queries)]
    views = [view.only_queries(queries) for view in blocks or rare.views[:1]]
    return replace(rare, views=views, parts=parts_of(views, rare.options))


def _confirmations(
    confirmed_set: RareTrack, confirming_set: RareTrack, name: str, judged_in: str
) -> Iterator[Row]:
    """Yield the rows of the table `label_confirmations` for the docs relevant in one set."""
    judged = _judged_docs(confirming_set.views, confirmed_set.options.rel)
    docs = confirmed_set.docs.join(judged, on=["query", "doc"], how="left")
    held, counted = pl.col("retrieved_by"), pl.col("counted")
    buckets = {"none": held == 0, "few": held.is_between(1, MOST_FEW), "many": 2 * held > counted}
    for bucket, is_in in buckets.items():
        of_bucket = docs.filter(is_in)["is_relevant"]
        confirmed = int(of_bucket.sum())
        yield {
            "relevant_in": name,
            "judged_in": judged_in,
            "retrieved_by": bucket,
            "docs": len(of_bucket),
            "confirmed": confirmed,
            "unjudged": of_bucket.null_count(),
            "share": confirmed / len(of_bucket) if len(of_bucket) else np.nan,
        }


def _judged_docs(views: Sequence[JudgedRanks], rel: int) -> pl.DataFrame:
    """Return the judged docs: query, doc, is_relevant."""
    blocks = list[pl.DataFrame]()
    for view in views:
        rows = np.flatnonzero(view.is_judged)
        query = pl.Series(view.queries, dtype=pl.String).gather(view.query_of(rows))
        relevant = view.grades[rows] >= rel
        blocks.append(
            pl.DataFrame({"query": query, "doc": view.docs.gather(rows), "is_relevant": relevant})
        )
    return pl.concat(blocks)


OverTracks = Callable[[Tables, Options], "list[dict[str, Any]] | None"]
table_1_tracks: OverTracks = partial(over_tracks, study.OVER_TRACKS["table_1"])
table_2_tracks: OverTracks = partial(over_tracks, study.OVER_TRACKS["table_2"])
table_3_tracks: OverTracks = partial(over_tracks, study.OVER_TRACKS["table_3"])


def compute(track: TrackView, options: Options) -> TableRows:
    """Yield the tables of one track, from a single pass over its blocks."""
    rare = RareTrack.of(track, options)
    query = query_of_figure_1(rare)
    _describe(track, rare)
    _describe_tables(track, rare)
    if query is None:
        named = f"query {options.figure_query}" if options.figure_query else "query"
        track.note(f"Figure 1 is absent: no {named} with a relevant doc")
    else:
        ranks_of_hypothetical = figure_1(rare, query)
        yield "figure_1", ranks_of_hypothetical
        yield "first_places", first_places(rare, ranks_of_hypothetical)
    yield from declared_rows(study.TABLES, rare)
    yield from added_runs(rare)
    yield from other_labels(track, rare)


def _describe(track: TrackView, rare: RareTrack) -> None:
    """Add notes on what the tables of a track do not say; exclude it if nothing is comparable."""
    options, facts = rare.options, rare.facts
    track.saturation = rare.saturation(options.rel)
    without = sum(int((view.counts(options.rel) == 0).sum()) for view in rare.views)
    if rare.docs.is_empty():
        track.leave_out("no query has a relevant doc")
    elif len(facts.systems) < 2:
        track.leave_out("one system, so none to compare it with")
    elif without and options.queries == "judged":
        queries = count(without, "judged query has", "judged queries have")
        track.note(f"{queries} no relevant doc, and the value 0")
    if options.counted in ("groups", "others") and not rare.has_groups:
        track.note("the groups of the systems are unknown, so each system counts as a group")
    if (cut := facts.policy["depth"]) is not None and cut < max(options.k, options.held_to):
        track.note(f"lists were cut at {cut} when they were read, so no doc counts below it")
    if len(facts.systems) > 1:
        _describe_pool(track, rare)


def _describe_tables(track: TrackView, rare: RareTrack) -> None:
    """Add notes on queries and sizes that were asked for and that the tables lack."""
    options, systems = rare.options, len(rare.facts.systems)
    if large := sorted({size for size in options.sizes if size > systems}):
        has = count(systems, "system")
        track.note(f"Table 3 is without N = {listed([*map(str, large)])}: the track has {has}")
    shown = example_queries(rare)
    absent = sorted({*options.examples}.difference(shown))
    if not shown:
        named = f"query {listed(absent)}" if absent else "query"
        track.note(f"Table 4 is absent: no {named} with a relevant doc that is retrieved")
    elif absent:
        queries = agreeing(len(absent), "query", "queries")
        track.note(f"Table 4 is without {queries} {listed(absent)}: no relevant doc is retrieved")


def _describe_pool(track: TrackView, rare: RareTrack) -> None:
    """Add notes on the pool, from which groups are left out."""
    facts = rare.facts
    if not facts.contributors:
        track.note("no system contributed to the pool, so no group is left out of it")
        return
    if not facts.pool_known:
        track.note("the contributing systems are unknown, so all systems count as contributors")
    if not left_out_groups(rare):
        (whole_group,) = (
            n for n, systems in rare.groups.items() if {*facts.contributors} & {*systems}
        )
        track.note(f"group {whole_group} is the complete pool, so it is not left out")
    incomplete = sum(int((view.require("complete_depth") == 0).sum()) for view in rare.views)
    if incomplete:
        queries = count(incomplete, "query", "queries")
        track.note(
            f"for {queries}, the pool is complete to no depth and loses no judgment where a group "
            "is left out of it"
        )
