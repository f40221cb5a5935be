"""The criteria of trust, by measure: how well a measure separates, and what changes its orders."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from irmeta.equality import TIE
from irmeta.errors import MeasureError, UsageError
from irmeta.measures.curve import curves_of, spec_without_cutoff
from irmeta.measures.evaluate import evaluate_block
from irmeta.measures.names import Spec
from irmeta.measures.pools import undecided_pairs
from irmeta.measures.reduced_pools import ReducedPool, parts_of, reduced_pools
from irmeta.measures.set_rel import is_thresholded
from irmeta.rankings.derive.other_lists import cut_ends
from irmeta.results.matrix import Matrix
from irmeta.results.scores import Scores
from irmeta.stats.contributors import leave_out_effects
from irmeta.stats.correlation import volatility
from irmeta.stats.discriminative_power import detectable_difference, separation
from irmeta.stats.generalizability import d_study, g_study, queries_for
from irmeta.stats.orders import kendall_tau_b, round_means
from irmeta.stats.pairs import pairwise
from irmeta.stats.query_halves import half_orders
from irmeta.studies.papers.trust.grades import TAU
from irmeta.studies.papers.trust.options import (
    ALTERED,
    FEW_DRAWS,
    GRADED_SHARE,
    POWER,
    RELIABILITY,
    TrustOptions,
)
from irmeta.studies.papers.trust.trusted_track import TrustedTrack

Row = dict[str, Any]
UNJUDGED = "unjudged"
QUANTILES = (0.025, 0.975)
LOW = 0.1
"""Quantile of tau-b over contributors: it does not fall with their number, as the least does."""


def separates(matrix: Matrix, options: TrustOptions) -> Row:
    """Return how many pairs differ significantly, and the least difference that would.

    It is detected at alpha over the number of pairs: Holm's correction starts there.
    """
    tests = (("t", "holm"), ("hsd-randomised", "none"))
    found = [
        pairwise(matrix, test, correction=correction, resamples=options.resamples, rng=options.seed)
        for test, correction in tests
    ]
    shares = separation(found, alpha=options.alpha)["share"].to_list()
    pairs = max(len(matrix.systems) * (len(matrix.systems) - 1) // 2, 1)
    least = detectable_difference(matrix, power=POWER, alpha=options.alpha / pairs)
    return {"separated": shares[0], "separated_hsd": shares[1], "detectable": least}


def queries(matrix: Matrix, options: TrustOptions) -> Row:
    """Return how far orders and conclusions depend on the queries."""
    complete = matrix.complete()
    study = g_study(complete)
    needed = queries_for(study, RELIABILITY)
    one = d_study(study).row(0, named=True)
    row: Row = {
        "variance_system": study.system,
        "variance_query": study.query,
        "variance_interaction": study.interaction,
        "e_rho2": one["e_rho2"],
        "phi": one["phi"],
        "queries_needed": needed["queries"][0],
    }
    halves = half_orders(complete, splits=options.splits, alpha=options.alpha, rng=options.seed)
    if not halves.height:
        return row | dict.fromkeys(("half_tau", "half_tau_low", "half_tau_high", "swaps"), np.nan)
    taus, separated = halves["tau"].to_numpy(), int(halves["separated"].sum())
    low, high = np.quantile(taus, QUANTILES) if not np.isnan(taus).any() else (np.nan, np.nan)
    return row | {
        "half_tau": float(taus.mean()),
        "half_tau_low": float(low),
        "half_tau_high": float(high),
        "swaps": int(halves["swapped"].sum()) / separated if separated else np.nan,
    }


def depth(trusted: TrustedTrack) -> dict[str, Row]:
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
            whole = spec_without_cutoff(spec.name)
            (curve,) = curves_of(trusted.views, [whole], ks, [None], policy)
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
            yield spec.name, np.array([round_means(one.means) for one in rates])


def _of_curve(orders: np.ndarray, ks: Sequence[int], pool: int | None) -> Row:
    """Return the least cutoff, and tau-b at the cutoff `ks[pool]`."""
    taus = kendall_tau_b(orders, np.broadcast_to(orders[-1], orders.shape).copy(), True)
    low = np.flatnonzero(~(taus >= TAU[0] - TIE))
    first = int(low[-1]) + 1 if len(low) else 0
    row: Row = {"least_k": ks[first] if first < len(ks) else None}
    return row if pool is None else row | {"depth_tau": float(taus[pool])}


def left_out(trusted: TrustedTrack) -> tuple[dict[str, Row], str, int]:
    """Return by measure what leaving out one contributor changes; what is left out; how many.

    Groups are left out where they are known, otherwise runs.
    """
    views, options = trusted.views, trusted.options
    facts = views[0].facts
    parts, unit = dict[str, tuple[str, ...]](), "group"
    if not trusted.knows_contributors:
        return {}, unit, 0
    for unit in ("group", "run"):
        try:
            parts = parts_of(facts, unit)
        except UsageError:
            continue
        everyone = len(facts.contributors)
        parts = {name: members for name, members in parts.items() if len(members) < everyone}
        if len(parts) > 1:
            break
    if len(parts) < 2:
        return {}, unit, len(parts)
    whole, *pools = reduced_pools(
        views,
        trusted.specs,
        options.policy,
        parts,
        None,
        evaluate=trusted.scored_block,
        gained_only=all(spec.settings["unjudged"] != "condensed" for spec in trusted.preferences),
    )
    before, after = trusted.orders(whole.scores), [trusted.orders(pool.scores) for pool in pools]
    found = dict[str, Row]()
    for i, measure in enumerate(whole.scores.measures):
        taus = volatility(before[i : i + 1], np.stack([orders[i] for orders in after]))[0]
        known = not np.isnan(taus).all()
        found[measure] = {
            "left_out_tau": float(np.nanquantile(taus, LOW)) if known else np.nan,
            "left_out_least": float(np.nanmin(taus)) if known else np.nan,
            "left_out_named": pools[int(np.nanargmin(taus))].part if known else None,
            **_of_left_out(trusted, whole, pools, i),
        }
    return found, unit, len(parts)


def _of_left_out(
    trusted: TrustedTrack, whole: ReducedPool, pools: Sequence[ReducedPool], at: int
) -> Row:
    """Return how the systems that are left out of the pool fare by one measure."""
    rows, before = list[tuple[float, ...]](), whole.means[at]
    direction = whole.scores.directions[whole.scores.measures[at]]
    is_rate = at >= len(trusted.specs)
    for pool in pools:
        members = [whole.scores.systems.index(system) for system in pool.left_out]
        after = pool.means[at]
        delta, *ranks = leave_out_effects(before, after, members, direction=direction)
        change = after[members] - before[members] if is_rate else delta / 100
        rows += zip(change.tolist(), *(part.tolist() for part in ranks), strict=True)
    deltas, moves = np.array([(change, abs(new - old)) for change, old, new in rows]).T
    deltas, moves = deltas[~np.isnan(deltas)], moves[~np.isnan(moves)]
    return {
        "left_out_drop": -float(deltas.mean()) if len(deltas) else np.nan,
        "rank_change": float(moves.mean()) if len(moves) else np.nan,
        "greatest_rank_change": int(moves.max()) if len(moves) else None,
    }


Changes = list[tuple[str, str, dict[str, list[float]]]]
"""Changes of the judgments: what is changed, the amount, and tau-b of each draw by measure."""


def changed_judgments(trusted: TrustedTrack) -> Changes:
    """Return tau-b of the orders by changed judgments with those by all judgments."""
    found: Changes = [
        ("relevant docs kept", f"{1 - share:.0%}", _by_measure(draws.taus))
        for share, draws in trusted.dropped.items()
    ]
    for share in ALTERED:
        altered = [trusted.taus(trusted.altered(share, i)) for i in range(FEW_DRAWS)]
        found.append(("labels altered", f"{share:.0%}", _by_measure(altered)))
    for name, scores in trusted.other_sets.items():
        found.append(("qrels set", name, _by_measure([trusted.taus(scores)])))
    return found


def _by_measure(draws: Sequence[Mapping[str, float]]) -> dict[str, list[float]]:
    """Return the values of each draw by measure."""
    return {name: [draw[name] for draw in draws] for name in draws[0]}


def reads_grades(trusted: TrustedTrack) -> dict[str, bool]:
    """Return by measure whether any value changes when labels move by one grade."""
    altered = trusted.altered(GRADED_SHARE, 0).values
    return {
        name: not np.array_equal(before, after, equal_nan=True)
        for name, before, after in zip(
            trusted.scores.measures, trusted.scores.values, altered, strict=True
        )
    }


def undecided(trusted: TrustedTrack) -> dict[str, float]:
    """Return by measure the share of pairs whose order relevant unjudged docs could reverse.

    Of measures with an upper bound: the worse leads if all of its unjudged docs are relevant.
    """
    uppers = {spec.name: _with_upper(spec) for spec in trusted.specs}
    specs = [spec for spec in uppers.values() if spec is not None]
    if not specs:
        return {}
    policy = trusted.options.policy
    views = trusted.views
    bounds = Scores.concat([evaluate_block(view, specs, policy) for view in views]).mean_values()
    own = dict(zip(trusted.scores.measures, trusted.scores.mean_values(), strict=True))
    names = [name for name, spec in uppers.items() if spec is not None]
    found = dict[str, float]()
    for name, most in zip(names, bounds, strict=True):
        known = ~np.isnan(own[name])
        pairs = undecided_pairs(own[name][known], (most - own[name])[known])
        found[name] = float(pairs.mean()) if len(pairs) else np.nan
    return found


def _with_upper(spec: Spec) -> Spec | None:
    """Return the measure that takes unjudged docs as relevant, if there is one."""
    choices = next((one.choices for one in spec.measure.all_parameters if one.name == UNJUDGED), ())
    if "upper" not in choices:
        return None
    params = tuple((name, "upper" if name == UNJUDGED else v) for name, v in spec.params)
    return replace(spec, params=params)


def ties_and_ends(trusted: TrustedTrack) -> dict[str, Row]:
    """Return by measure how often systems tie, and what trailing docs change."""
    found = {name: {"tied_pairs": _tied_pairs(m)} for name, m in trusted.matrices.items()}
    ends = {spec.name: _least_gaining(spec) for spec in trusted.specs}
    ends |= {spec.name: spec.rel for spec in trusted.preferences}
    orders = {
        rel: trusted.orders(trusted.scored([cut_ends(view, rel) for view in trusted.views]))
        for rel in set(ends.values())
    }
    before = trusted.orders(trusted.scores)
    for i, name in enumerate(trusted.scores.measures):
        found[name]["end_flips"] = _flipped(before[i], orders[ends[name]][i])
    return found


def _least_gaining(spec: Spec) -> float:
    """Return the least grade that counts for a measure: its `rel`, if graded any above 0."""
    return spec.rel if is_thresholded(spec) else 1e-9


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


def _flipped(before: np.ndarray, after: np.ndarray) -> float:
    """Return the share of pairs of systems whose order is reversed."""
    first, second = np.triu_indices(len(before), 1)
    signs = [np.sign(row[first] - row[second]) for row in (before, after)]
    known = ~np.isnan(signs[0]) & ~np.isnan(signs[1])
    return float((signs[0] * signs[1] < 0)[known].mean()) if known.any() else np.nan
