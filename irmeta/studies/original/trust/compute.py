"""The tables of one track: criteria of trust, their grades, and conclusions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from irmeta.equality import TIE
from irmeta.errors import MeasureError, UsageError
from irmeta.measures.curve import curves_of, spec_without_cutoff
from irmeta.measures.evaluate import dependence, is_thresholded
from irmeta.measures.names import Spec
from irmeta.measures.pools import ReducedPool, parts_of, reduced_pools, undecided_pairs
from irmeta.rankings.derive.lists import Order, cut_ends, reorder_ties, tied_systems
from irmeta.rankings.derive.select import take_systems
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.view import Need, needs_of, replace_arrays
from irmeta.results.matrix import Matrix
from irmeta.stats.contributors import leave_out_effects
from irmeta.stats.correlation import correlate, volatility
from irmeta.stats.discriminative_power import detectable_difference, separation
from irmeta.stats.generalizability import d_study, g_study, queries_for
from irmeta.stats.new_measure import covered_pairs
from irmeta.stats.orders import kendall_tau_b, over_common, round_means
from irmeta.stats.pairs import Pairs, pairwise
from irmeta.stats.ranking_stability import half_orders
from irmeta.studies.framework.study import TableRows, with_limits
from irmeta.studies.framework.track_view import TrackView
from irmeta.studies.original.trust.conclusions import conclusion_tables
from irmeta.studies.original.trust.grades import FAMILIES, TAU, verdicts
from irmeta.studies.original.trust.study import (
    ALTERED,
    DRAWS,
    DROPPED,
    FEW_DRAWS,
    GRADED_SHARE,
    POWER,
    RELIABILITY,
    TrustOptions,
)
from irmeta.studies.original.trust.trusted_track import TrustedTrack

Row = dict[str, Any]
UNJUDGED = "unjudged"
QUANTILES = (0.025, 0.975)
LOW = 0.1
"""Quantile of tau-b over contributors: it does not fall with their number, as the least does."""
Changes = list[tuple[str, str, dict[str, list[float]]]]
"""Changes of the judgments: what is changed, the amount, and tau-b of each draw by measure."""
Means = Callable[[Order, int], np.ndarray]
"""Function from an order of ties and a seed to means: float64 [measure, system]."""
NO_DEPTH = "the measure has a cutoff, or no value by lists to a rank"
_DEPTH = ("least_k", "depth_tau")
_LEFT_OUT = (
    *("left_out_tau", "left_out_least", "left_out_named"),
    *("left_out_drop", "rank_change", "greatest_rank_change"),
)


def separation_criteria(matrix: Matrix, options: TrustOptions) -> Row:
    """Return how many pairs differ significantly, and the least difference that would.

    It is detected at alpha over the number of pairs: Holm's correction starts there.
    """
    tests = [
        pairwise(matrix, test, correction=correction, resamples=options.resamples, rng=options.seed)
        for test, correction in (("t", "holm"), ("hsd-randomised", "none"))
    ]
    shares = separation(tests, alpha=options.alpha)["share"].to_list()
    pairs = max(len(matrix.systems) * (len(matrix.systems) - 1) // 2, 1)
    least = detectable_difference(matrix, power=POWER, alpha=options.alpha / pairs)
    return {"separated": shares[0], "separated_hsd": shares[1], "detectable": least}


def query_criteria(matrix: Matrix, options: TrustOptions) -> Row:
    """Return how far orders and conclusions depend on the queries."""
    complete = matrix.complete()
    study = g_study(complete)
    needed = queries_for(study, RELIABILITY)
    coefficients = d_study(study).row(0, named=True)
    row: Row = {
        "variance_system": study.system,
        "variance_query": study.query,
        "variance_interaction": study.interaction,
        "e_rho2": coefficients["e_rho2"],
        "phi": coefficients["phi"],
        "queries_needed": needed["queries"][0],
    }
    halves = half_orders(complete, splits=options.splits, alpha=options.alpha, rng=options.seed)
    tau, swaps = [np.nan] * 3, np.nan
    if halves.height:
        taus, separated = halves["tau"].to_numpy(), int(halves["separated"].sum())
        ends = [np.nan, np.nan] if np.isnan(taus).any() else np.quantile(taus, QUANTILES)
        tau = [float(value) for value in (taus.mean(), *ends)]
        swaps = int(halves["swapped"].sum()) / separated if separated else np.nan
    return row | with_limits("half_tau", tau) | {"swaps": swaps}


def depth_criteria(trusted: TrustedTrack) -> dict[str, Row]:
    """Return by measure the least cutoff whose order agrees with that of full lists.

    Measures with a cutoff in their name have none.
    """
    views = trusted.views
    deepest = max(int(view.facts.deepest_rank) for view in views)
    pool = trusted.complete_depth
    spaced = np.unique(np.geomspace(1, deepest, 40).round().astype(int)).tolist()
    ks = sorted({int(k) for k in spaced} | ({pool} if pool and pool <= deepest else set[int]()))
    at = ks.index(min(pool, deepest)) if pool else None
    curves = chain(_curves(trusted, ks), _rate_curves(trusted, ks))
    return {name: _of_curve(orders, ks, at) for name, orders in curves}


def _curves(trusted: TrustedTrack, ks: Sequence[int]) -> Iterator[tuple[str, np.ndarray]]:
    """Yield each measure without a cutoff with its orders float64 [cutoff, system]."""
    policy = trusted.options.policy
    for spec in trusted.specs:
        if spec.cutoff is not None:
            continue
        try:
            uncut = spec_without_cutoff(spec.name)
            (curve,) = curves_of(trusted.views, [uncut], ks, [None], policy)
        except MeasureError:
            continue
        yield (
            spec.name,
            np.array([spec.measure.direction * round_means(v) for v in curve.values[0]]),
        )


def _rate_curves(trusted: TrustedTrack, ks: Sequence[int]) -> Iterator[tuple[str, np.ndarray]]:
    """Yield each preference without a cutoff with the orders of its win rates, as `_curves`."""
    for spec in trusted.preferences:
        if spec.cutoff is None:
            cut = [replace(spec, cutoff=k) for k in ks]
            rates = trusted.rates(trusted.views, cut)
            yield spec.name, np.array([round_means(rate.means) for rate in rates])


def _of_curve(orders: np.ndarray, ks: Sequence[int], pool: int | None) -> Row:
    """Return the least cutoff, and tau-b at the cutoff `ks[pool]`."""
    taus = kendall_tau_b(orders, np.broadcast_to(orders[-1], orders.shape).copy(), True)
    low = np.flatnonzero(~(taus >= TAU[0] - TIE))
    first = int(low[-1]) + 1 if len(low) else 0
    row: Row = {"least_k": ks[first] if first < len(ks) else None}
    return row if pool is None else row | {"depth_tau": float(taus[pool])}


def left_out_criteria(trusted: TrustedTrack) -> tuple[dict[str, Row], str, int]:
    """Return by measure what leaving out one contributor changes; what is left out; how many.

    Groups are left out where they are known, otherwise runs.
    """
    views, options = trusted.views, trusted.options
    facts = trusted.facts
    members_of, unit = dict[str, tuple[str, ...]](), "group"
    if not trusted.knows_contributors:
        return {}, unit, 0
    for unit in ("group", "run"):
        try:
            members_of = parts_of(facts, unit)
        except UsageError:
            continue
        everyone = len(facts.contributors)
        members_of = {
            name: members for name, members in members_of.items() if len(members) < everyone
        }
        if len(members_of) > 1:
            break
    if len(members_of) < 2:
        return {}, unit, len(members_of)
    every_pool, *pools = reduced_pools(
        views,
        trusted.specs,
        options.policy,
        members_of,
        None,
        evaluate=trusted.scored_block,
        gained_only=all(spec.settings["unjudged"] != "condensed" for spec in trusted.preferences),
    )
    before, after = (
        trusted.orders(every_pool.scores),
        [trusted.orders(pool.scores) for pool in pools],
    )
    by_measure = dict[str, Row]()
    for i, measure in enumerate(every_pool.scores.measures):
        taus = volatility(before[i : i + 1], np.stack([orders[i] for orders in after]))[0]
        known = not np.isnan(taus).all()
        by_measure[measure] = {
            "left_out_tau": float(np.nanquantile(taus, LOW)) if known else np.nan,
            "left_out_least": float(np.nanmin(taus)) if known else np.nan,
            "left_out_named": pools[int(np.nanargmin(taus))].part if known else None,
            **_of_left_out(trusted, every_pool, pools, i),
        }
    return by_measure, unit, len(members_of)


def _of_left_out(
    trusted: TrustedTrack, every_pool: ReducedPool, pools: Sequence[ReducedPool], at: int
) -> Row:
    """Return how the systems that are left out of the pool fare by one measure."""
    rows, before = list[tuple[float, ...]](), every_pool.means[at]
    direction = every_pool.scores.directions[every_pool.scores.measures[at]]
    is_rate = at >= len(trusted.specs)
    for pool in pools:
        members = [every_pool.scores.systems.index(system) for system in pool.left_out]
        after = pool.means[at]
        delta, *ranks = leave_out_effects(before, after, members, direction=direction)
        change = after[members] - before[members] if is_rate else delta / 100
        rows += zip(change.tolist(), *(places.tolist() for places in ranks), strict=True)
    deltas, moves = np.array([(change, abs(new - old)) for change, old, new in rows]).T
    deltas, moves = deltas[~np.isnan(deltas)], moves[~np.isnan(moves)]
    return {
        "left_out_drop": -float(deltas.mean()) if len(deltas) else np.nan,
        "rank_change": float(moves.mean()) if len(moves) else np.nan,
        "greatest_rank_change": int(moves.max()) if len(moves) else None,
    }


def changed_judgments(trusted: TrustedTrack) -> Changes:
    """Return tau-b of the orders by changed judgments with those by all judgments."""
    changes: Changes = [
        ("relevant docs kept", f"{1 - share:.0%}", _by_measure(draws.taus))
        for share, draws in trusted.dropped.items()
    ]
    for share in ALTERED:
        altered = [trusted.taus(trusted.altered(share, i)) for i in range(FEW_DRAWS)]
        changes.append(("labels altered", f"{share:.0%}", _by_measure(altered)))
    for name, scores in trusted.other_sets.items():
        changes.append(("qrels set", name, _by_measure([trusted.taus(scores)])))
    return changes


def _by_measure(draws: Sequence[Mapping[str, float]]) -> dict[str, list[float]]:
    """Return the values of each draw by measure."""
    return {name: [draw[name] for draw in draws] for name in draws[0]}


def grade_readers(trusted: TrustedTrack) -> dict[str, bool]:
    """Return by measure whether any value changes when labels move by one grade."""
    altered = trusted.altered(GRADED_SHARE, 0).values
    return {
        name: not np.array_equal(before, after, equal_nan=True)
        for name, before, after in zip(
            trusted.scores.measures, trusted.scores.values, altered, strict=True
        )
    }


def undecided_shares(trusted: TrustedTrack) -> dict[str, float]:
    """Return by measure the share of pairs whose order relevant unjudged docs could reverse.

    Of measures with an upper bound: the worse leads if all of its unjudged docs are relevant.
    """
    uppers = {spec.name: _with_upper(spec) for spec in trusted.specs}
    specs = [spec for spec in uppers.values() if spec is not None]
    if not specs:
        return {}
    bounds = trusted.evaluate(specs).mean_values()
    means = dict(zip(trusted.scores.measures, trusted.scores.mean_values(), strict=True))
    bounded = [name for name, spec in uppers.items() if spec is not None]
    shares = dict[str, float]()
    for name, most in zip(bounded, bounds, strict=True):
        known = ~np.isnan(means[name])
        pairs = undecided_pairs(means[name][known], (most - means[name])[known])
        shares[name] = float(pairs.mean()) if len(pairs) else np.nan
    return shares


def _with_upper(spec: Spec) -> Spec | None:
    """Return the measure that takes unjudged docs as relevant, if there is one."""
    choices = next(
        (
            parameter.choices
            for parameter in spec.measure.all_parameters
            if parameter.name == UNJUDGED
        ),
        (),
    )
    if "upper" not in choices:
        return None
    params = tuple((name, "upper" if name == UNJUDGED else v) for name, v in spec.params)
    return replace(spec, params=params)


def tie_and_end_criteria(trusted: TrustedTrack) -> dict[str, Row]:
    """Return by measure how often systems tie, and what trailing docs change."""
    by_measure = {name: {"tied_pairs": _tied_pairs(m)} for name, m in trusted.matrices.items()}
    # the least grade that counts: a measure of grades gains from any above 0
    ends = {spec.name: spec.rel if is_thresholded(spec) else 1e-9 for spec in trusted.specs}
    ends |= {spec.name: spec.rel for spec in trusted.preferences}
    orders = {
        rel: trusted.orders(trusted.scored([cut_ends(view, rel) for view in trusted.views]))
        for rel in set(ends.values())
    }
    before = trusted.orders(trusted.scores)
    first, second = np.triu_indices(len(trusted.scores.systems), 1)
    for i, name in enumerate(trusted.scores.measures):
        pair = before[i], orders[ends[name]][i]
        signs = [np.sign(row[first] - row[second]) for row in pair]
        known = ~np.isnan(signs[0]) & ~np.isnan(signs[1])
        flips = float((signs[0] * signs[1] < 0)[known].mean()) if known.any() else np.nan
        by_measure[name]["end_flips"] = flips
    return by_measure


def _tied_pairs(matrix: Matrix) -> float:
    """Return the mean over queries of the share of pairs of systems with equal values."""
    values = matrix.complete().values
    systems = values.shape[1]
    pairs = systems * (systems - 1) / 2
    if not pairs or not len(values):
        return np.nan
    ordered = np.sort(values, axis=1)
    tied = 0
    for row in ordered:
        runs = np.diff(np.flatnonzero(np.diff(row, prepend=-np.inf) > TIE), append=systems)
        tied += int((runs * (runs - 1) // 2).sum())
    return tied / (pairs * len(values))


def tied_orders(trusted: TrustedTrack, detectable: Sequence[float]) -> list[Row]:
    """Return for each measure what the order of tied docs changes.

    By measure, `detectable` is the difference of means from which on a system is named.
    """
    means, seed = _means(trusted), trusted.options.seed
    signs = np.array(list(trusted.scores.directions.values()))[:, None]
    draws = [signs * round_means(means("random", seed + i)) for i in range(2 * DRAWS)]
    taus = np.array(
        [
            over_common(kendall_tau_b, a, b, True)
            for a, b in zip(draws[::2], draws[1::2], strict=True)
        ]
    )
    ends = np.stack([means("best", 0), means("worst", 0)])
    low, high = ends.min(axis=0), ends.max(axis=0)
    systems = np.array(trusted.scores.systems, object)
    return [
        {
            **_spread("tie_tau", taus[:, i]),
            "tie_pairs": _overlapping(low[i], high[i]),
            "tie_movers": int((is_moved := high[i] - low[i] > least + TIE).sum()),
            "tie_movers_named": "; ".join(systems[is_moved]) or None,
        }
        for i, least in enumerate(detectable)
    ]


def _overlapping(low: np.ndarray, high: np.ndarray) -> float:
    """Return the share of pairs of systems that either may lead: their ranges of means overlap."""
    a, b = np.triu_indices(len(low), 1)
    known = ~np.isnan(low[a] + low[b])
    overlap = (low[a] < high[b] - TIE) & (low[b] < high[a] - TIE)
    return float(overlap[known].mean()) if known.any() else np.nan


def _means(trusted: TrustedTrack) -> Means:
    """Return a function that scores again the systems with ties, where no other depends on them."""
    alone = [spec for spec in trusted.specs if dependence(spec) is None]
    together = [spec for spec in trusted.specs if spec not in alone]
    in_order = trusted.scores.mean_values()
    needs: set[Need] = {"ties", *needs_of(alone)}
    tied = [
        replace_arrays(view, ties=read.ties, diversity=_with_ties(view.diversity, read.diversity))
        for view, read in zip(trusted.views, trusted.track.blocks(needs), strict=True)
    ]
    systems = sorted({i for view in tied for i in tied_systems(view)})
    with_ties = [_only(view, systems) for view in tied]

    def rows(specs: Sequence[Spec]) -> list[int]:
        return [trusted.scores.measures.index(spec.name) for spec in specs]

    def means(order: Order, seed: int) -> np.ndarray:
        changed = in_order.copy()
        if not systems:
            return changed
        reordered = [reorder_ties(view, order, seed) for view in tied]
        if alone:
            pairs = zip(with_ties, reordered, strict=True)
            views = (_with_ranks(view, every, systems) for view, every in pairs)
            changed[np.ix_(rows(alone), systems)] = trusted.evaluate(alone, views).mean_values()
        if together:
            changed[rows(together)] = trusted.evaluate(together, reordered).mean_values()
        if trusted.preferences:
            rates = trusted.rates(reordered, trusted.preferences)
            changed[len(trusted.specs) :] = [rate.means for rate in rates]
        return changed

    return means


def _with_ties(view: JudgedRanks | None, read: JudgedRanks | None) -> JudgedRanks | None:
    return view if view is None or read is None else replace_arrays(view, ties=read.ties)


def _with_ranks(view: JudgedRanks, every: JudgedRanks, systems: list[int]) -> JudgedRanks:
    """Return a view of some systems with their ranks in a view of all systems."""
    diversity = view.diversity
    if diversity is not None and every.diversity is not None:
        diversity = _with_ranks(diversity, every.diversity, systems)
    return replace_arrays(view, ranks=np.take(every.ranks, systems, axis=1), diversity=diversity)


def _only(view: JudgedRanks, systems: list[int]) -> JudgedRanks:
    """Return the view of some systems, for measures of single lists, with the same deepest rank."""
    view_of_systems = take_systems(
        replace_arrays(view, pooled_lists=None, pool_depth=None), systems
    )
    facts = replace(view_of_systems.facts, deepest_rank=view.facts.deepest_rank)
    diversity = None if view.diversity is None else _only(view.diversity, systems)
    return replace_arrays(view_of_systems, facts=facts, diversity=diversity)


def compute(track: TrackView, options: TrustOptions) -> TableRows:
    """Yield the tables of one track; of one with fewer systems than `min_systems`, none."""
    if len(track.facts.systems) < options.min_systems:
        return
    trusted = TrustedTrack.of(track, options)
    changes = changed_judgments(trusted)
    yield (
        "changes",
        [
            {
                "measure": measure,
                "change": change,
                "amount": amount,
                "draws": len(taus),
                **_spread("tau_b", taus),
            }
            for change, amount, by_measure in changes
            for measure, taus in by_measure.items()
        ],
    )
    if trusted.unchecked:
        track.note(trusted.unchecked)
    rows = list(_trust(trusted, changes))
    grades = list(_grades(rows))
    yield "trust", rows
    yield "grades", grades
    yield "between_measures", list(_between(trusted))
    yield from conclusion_tables(trusted)


def _trust(trusted: TrustedTrack, changes: Changes) -> Iterator[Row]:
    """Yield the rows of the table `trust`."""
    depths = depth_criteria(trusted)
    lost, unit, contributors = left_out_criteria(trusted)
    undecided, reads = undecided_shares(trusted), grade_readers(trusted)
    ends, options = tie_and_end_criteria(trusted), trusted.options
    matrices = trusted.matrices
    no_depth = "the pool is not complete to any depth"
    if trusted.complete_depth is None:
        no_depth = "every doc of the pool's lists is judged, so that the pool has no depth"
    separated = [separation_criteria(matrix, options) for matrix in matrices.values()]
    ties = tied_orders(trusted, [row["detectable"] for row in separated])
    for (measure, matrix), separation_row, tied in zip(
        matrices.items(), separated, ties, strict=True
    ):
        row: Row = {
            "measure": measure,
            "queries": len(matrix.complete().queries),
            "reads_grades": reads[measure],
            **separation_row,
            **query_criteria(matrix, options),
            **dict.fromkeys(_DEPTH),
            **depths.get(measure, {}),
            "left_out": unit if lost else None,
            "contributors": contributors,
            **dict.fromkeys(_LEFT_OUT),
            **lost.get(measure, {}),
            **_of_changes(changes, measure),
            "undecided": undecided.get(measure),
            **ends[measure],
            **tied,
        }
        graded = verdicts(
            row,
            systems=len(matrix.systems),
            queries=row["queries"],
            reasons={"depth": no_depth if measure in depths else NO_DEPTH},
            unchecked={"judgments": _unexamined(trusted, row, changes)},
        )
        for family, verdict in graded.items():
            row |= {f"{family}_grade": verdict.grade, f"{family}_why": verdict.why}
            row[f"{family}_number"] = verdict.number
        yield row


def _unexamined(trusted: TrustedTrack, row: Row, changes: Changes) -> str:
    """Return why a criterion of the judgments could not be examined; empty: all were."""
    reasons = []
    if row["left_out"] is None:
        reasons.append(
            "fewer than two contributors are known"
            if trusted.knows_contributors
            else f"contributors are not left out: the pool, complete to depth "
            f"{trusted.complete_depth}, is too shallow"
        )
    for change, name, of_measure in changes:
        if change == "qrels set" and np.isnan(of_measure[row["measure"]][0]):
            reasons.append(f"qrels set {name} gives no order of systems")
    return "; ".join(reasons)


def _of_changes(changes: Changes, measure: str) -> Row:
    """Return tau-b with half of the relevant docs, altered labels and other qrels sets."""
    taus = {(change, amount): of_measure[measure] for change, amount, of_measure in changes}
    others = {name: draws[0] for (change, name), draws in taus.items() if change == "qrels set"}
    known = {name: tau for name, tau in others.items() if not np.isnan(tau)}
    least = min(known, key=known.__getitem__, default=None)
    return {
        **_spread("dropped_tau", taus["relevant docs kept", f"{1 - DROPPED[0]:.0%}"]),
        **_spread("altered_tau", taus["labels altered", f"{GRADED_SHARE:.0%}"]),
        "other_qrels_tau": float(np.mean([*others.values()])) if others else None,
        "other_qrels_least": None if least is None else known[least],
        "other_qrels_named": least,
    }


def _spread(name: str, draws: Sequence[float] | np.ndarray) -> Row:
    """Return the mean, least and greatest value of some draws; NaN if one is."""
    values = np.asarray(draws)
    return with_limits(name, [float(of) for of in (values.mean(), values.min(), values.max())])


def _grades(rows: list[Row]) -> Iterator[Row]:
    """Yield the rows of the table `grades`, and take their numbers out of those of `trust`."""
    for row in rows:
        for family in FAMILIES:
            yield {
                "measure": row["measure"],
                "family": family.replace("_", " "),
                "grade": row[f"{family}_grade"],
                "number": row.pop(f"{family}_number"),
                "why": row[f"{family}_why"],
            }


def _between(trusted: TrustedTrack) -> Iterator[Row]:
    """Yield the rows of the table `between_measures`."""
    orders = trusted.orders(trusted.scores)
    taus = correlate(orders, "tau-b").values
    tested = [pairwise(matrix, "t", correction="holm") for matrix in trusted.matrices.values()]
    for i, measure in enumerate(trusted.matrices):
        for j, compared in enumerate(trusted.matrices):
            if i != j:
                yield {
                    "measure": measure,
                    "other": compared,
                    "tau_b": float(taus[i, j]),
                    **_shares_found(tested[j], tested[i], trusted.options.alpha),
                }


def _shares_found(compared: Pairs, tested: Pairs, alpha: float) -> Row:
    size, _, covered, inverted = covered_pairs(compared, tested, alpha)
    return {
        "found": covered / size if size else np.nan,
        "reversed": inverted / size if size else np.nan,
    }
