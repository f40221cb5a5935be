"""Twins of measures by canonical name: families that read judgments by subtopic."""

from __future__ import annotations

import math
from itertools import cycle

from irmeta.measures.names import parse_measure, registry
from support.cells import Cell, Twins, named
from twins import cubes
from twins import diversity as naive
from twins import gain as naive_gain
from twins import incomplete as naive_incomplete

CUTS = (1, 2, 3, 5, 1000)
COUNTED = ({}, {"subtopics": "all"}, {"rel": 2}, {"rel": 2, "subtopics": "all"})
DISCOUNTED = ({}, {"alpha": 0}, {"alpha": 0.3}, {"alpha": 1}, {"alpha": 0.3, "rel": 2})


def _own(params: dict) -> dict:
    """Parameters as a naive twin names them."""
    return {("which" if name == "subtopics" else name): value for name, value in params.items()}


def _condensed(x: Cell) -> list[str]:
    """The list without docs that are not judged for any subtopic."""
    greatest = {d: g for docs in x.subtopics.values() for d, g in docs.items()}
    greatest = {d: max(docs.get(d, -99) for docs in x.subtopics.values()) for d in greatest}
    return naive_incomplete.condensed(x.ranking, greatest, x.negative)


def novelty() -> Twins:
    """Twins of alpha_DCG, alpha_nDCG, NRBP and nNRBP."""
    twins: Twins = {}
    for own in (*DISCOUNTED, *COUNTED[1:], {"norm": "none"}, {"norm": "none", "alpha": 0.3}):
        how = _own(own)
        for k in CUTS:
            twins[named("alpha_DCG", k, **own)] = lambda x, k=k, how=how: naive.alpha_dcg(
                x.ranking, x.subtopics, k, x.described, **how
            )
    for own in DISCOUNTED:
        for k in (None, *CUTS):
            twins[named("alpha_nDCG", k, **own)] = lambda x, k=k, own=own: naive.over_greedy(
                x.ranking, x.subtopics, k, naive.log_discount, **own
            )
    for own in (*DISCOUNTED, *COUNTED[1:], {"alpha": 0.3, "beta": 0.8}, {"beta": 0}, {"beta": 1}):
        how = _own(own)
        twins[named("NRBP", **own)] = lambda x, how=how: naive.nrbp(
            x.ranking, x.subtopics, x.described, **how
        )
        if "subtopics" not in own:
            rest = {name: value for name, value in own.items() if name != "beta"}
            beta = own.get("beta", 0.5)
            twins[named("nNRBP", **own)] = lambda x, own=rest, b=beta: naive.over_greedy(
                x.ranking, x.subtopics, None, lambda i: b ** (i - 1), **own, undefined=math.nan
            )
    twins[named("alpha_DCG", 3, unjudged="condensed")] = lambda x: naive.alpha_dcg(
        _condensed(x), x.subtopics, 3, x.described
    )
    return twins


def err_ia() -> Twins:
    """Twins of ERR_IA and nERR_IA."""
    twins: Twins = {}
    graded = ({"gain": "exp"}, {"gain": "exp", "gmax": 6}, {"gain": "exp", "rel": 2})
    for changed in (*DISCOUNTED, *COUNTED[1:], *graded):
        for own in (changed, {**changed, "norm": "none"}, {**changed, "weights": "given"}):
            how = _own(own)
            for k in CUTS:
                twins[named("ERR_IA", k, **own)] = lambda x, k=k, how=how: naive.err_ia(
                    x.ranking, x.subtopics, k, x.described, **{"gmax": x.highest} | how
                )
    for own in DISCOUNTED:
        for k in (None, *CUTS):
            twins[named("nERR_IA", k, **own)] = lambda x, k=k, own=own: naive.over_greedy(
                x.ranking, x.subtopics, k, naive.reciprocal, **own
            )
    return twins


def subtopic_recall() -> Twins:
    """Twins of StRecall."""
    twins: Twins = {}
    for own in COUNTED:
        how = _own(own)
        for k in (None, *CUTS):
            twins[named("StRecall", k, **own)] = lambda x, k=k, how=how: naive.subtopic_recall(
                x.ranking, x.subtopics, k, x.described, **how
            )
    twins[named("StRecall", 2, unjudged="condensed")] = lambda x: naive.subtopic_recall(
        _condensed(x), x.subtopics, 2, x.described
    )
    return twins


GAINED = ({"gain": "exp"}, {"gain": "linear"}, {"gain": "binary", "rel": 2})


def d_measures(of_types: bool = False) -> Twins:
    """Twins of D- and D#-measures; with `of_types` of DINnDCG, which needs types."""
    twins: Twins = {}
    for changed in (*COUNTED, *GAINED, {"gain": "exp", "gmax": 6}, {"beta": 0.3}):
        for own in (changed, {**changed, "weights": "given"}):
            for k in (None, *CUTS):
                twins |= _d_measures(own, k, of_types)
    return twins


def _d_measures(own: dict, k: int | None, of_types: bool) -> Twins:
    rel, beta = own.get("rel", 1), own.get("beta", 1.0)

    def gain(x: Cell) -> naive.Gain:
        kind, gmax = own.get("gain", "grade"), own.get("gmax", x.highest)
        return lambda grade: naive_gain.gain_of(grade, kind, gmax, rel) if grade >= rel else 0.0

    def shares(x: Cell) -> dict[str, float]:
        names = naive.counted(x.subtopics, rel, own.get("subtopics", "found"), x.described)
        return naive.shares(names, own.get("weights", "uniform"), x.described)

    def gains(x: Cell) -> dict[str, float]:
        return naive.global_gains(x.subtopics, shares(x), gain(x))

    def q(x: Cell) -> float:
        return naive.d_q(x.ranking, k, gains(x), beta)

    def ndcg(x: Cell) -> float:
        return naive.d_ndcg(x.ranking, k, gains(x))

    def din(x: Cell) -> float:
        how = (shares(x), gain(x), rel, x.described)
        return naive.din_ndcg(x.ranking, k, x.subtopics, *how)

    def sharp(twin, gamma: float):
        which = own.get("subtopics", "found")
        return lambda x: (
            gamma * naive.subtopic_recall(x.ranking, x.subtopics, k, x.described, rel, which)
            + (1 - gamma) * twin(x)
        )

    if of_types:
        return {} if {"beta", "gmax"} & own.keys() else {named("DINnDCG", k, **own): din}
    twins = {named("DQ", k, **own): q, named("DSharpQ", k, **own): sharp(q, 0.5)}
    if not {"beta", "gmax"} & own.keys():
        twins[named("DnDCG", k, **own)] = ndcg
        twins[named("DSharpnDCG", k, gamma=0.2, **own)] = sharp(ndcg, 0.2)
    return twins


CUBES = (
    *COUNTED,
    {"weights": "given"},
    *({"gamma": 0.8, "height": 2}, {"gamma": 1, "height": 0.7, "rel": 2}),
    *({"per": "all"}, {"per": 2}, {"per": "all", "unjudged": "condensed"}),
)
PRINTED_FORM = (
    *({"form": "paper"}, {"form": "paper", "gamma": 1, "height": 1.5, "per": 3}),
    {"form": "paper", "gmax": 6},
)


def cube_tests() -> Twins:
    """Twins of CT, ACT and nCT."""
    twins: Twins = {}
    bounds = ({"bound": "time"}, {"bound": "time", "per": "all"}, {"iterations": 10, "per": "all"})
    for own in (*CUBES, *PRINTED_FORM):
        for k in (None, *CUTS):
            twins[named("CT", k, **own)] = _cube_test(own, k, cubes.cube_test)
            twins[named("ACT", k, **own)] = _cube_test(own, k, cubes.average_cube_test)
    for own in (*CUBES, *bounds):
        for k in CUTS:
            twins[named("nCT", k, **own)] = _normalised_cube_test(own, k)
    return twins


def _poured(x: Cell, own: dict, k: int | None) -> tuple[list[float], list[int]]:
    """Cumulated gains of a list down to k, and the iteration of each doc."""
    docs = (_condensed(x) if "unjudged" in own else x.ranking or [])[:k]
    per = own.get("per", 5)
    iterations = [1 if per == "all" else index // per + 1 for index in range(len(docs))]
    how = {name: own[name] for name in ("gamma", "height", "form") if name in own}
    return cubes.cumulated_gains(docs, *_rated(x, own), **how), iterations


def _rated(x: Cell, own: dict) -> tuple[cubes.Ratings, dict[str, float]]:
    """Ratings and shares of the subtopics that count."""
    rel, highest = own.get("rel", 1), own.get("gmax", x.highest) if "form" in own else 1
    names = naive.counted(x.subtopics, rel, own.get("subtopics", "found"), x.described)
    ratings = {
        name: {doc: grade / highest for doc, grade in docs.items() if grade >= rel}
        for name, docs in x.subtopics.items()
    }
    return ratings, naive.shares(names, own.get("weights", "uniform"), x.described)


def _cube_test(own: dict, k: int | None, twin):
    height = 1 if "form" in own else own.get("height", 5)
    return lambda x: twin(*_poured(x, own, k), height)


def _normalised_cube_test(own: dict, k: int):
    gamma, height, per = own.get("gamma", 0.5), own.get("height", 5), own.get("per", 5)

    def twin(x: Cell) -> float:
        gains, iterations = _poured(x, own, k)
        used = own.get("iterations", 1 if per == "all" else math.ceil(k / per))
        most = used * (5 if per == "all" else per) + 1
        if own.get("bound") == "time":
            used, most = max(iterations, default=1), k
        ideal = cubes.greatest_gain(*_rated(x, own), most, gamma, height) / height / used
        return cubes.cube_test(gains, iterations, height) / ideal if ideal else 0.0

    return twin


HOW = ({}, {"weights": "given"}, {"subtopics": "all"}, {"subtopics": "all", "weights": "given"})


def intent_aware(twins: Twins, of_each: int = 6) -> Twins:
    """Twins of intent-aware measures, of some names of each measure that has a twin."""
    by_measure: dict[str, list[str]] = {}
    for name in twins:
        measure = parse_measure(name).measure.name
        if measure + "_IA" in registry() and "upper" not in name and "ERR" not in measure:
            by_measure.setdefault(measure, []).append(name)
    made: Twins = {}
    for names in by_measure.values():
        chosen = names[:: max(1, len(names) // of_each)]
        for name, how in zip(chosen, cycle(HOW), strict=False):
            made |= _intent_aware(name, twins, how)
    return made


def _intent_aware(name: str, twins: Twins, how: dict) -> Twins:
    spec = parse_measure(name)
    if math.isnan(spec.measure.no_relevant):
        how = {"weights": how.get("weights", "uniform")}  # subtopics=all would be undefined
    inside = [f"{p}={v}" for p, v in spec.params if v is not None and p != "average"]
    inside += [f"{p}={v}" for p, v in how.items()]
    cut = name.partition("@")[2]
    text = f"{spec.measure.name}_IA({','.join(inside)})" + (f"@{cut}" if cut else "")
    which, weights = how.get("subtopics", "found"), how.get("weights", "uniform")

    def twin(x: Cell) -> float:
        return naive.intent_aware(
            lambda subtopic: twins[name](x.alone(subtopic)),
            x.subtopics,
            x.described,
            spec.rel,
            which,
            weights,
            spec.measure.no_relevant,
        )

    return {parse_measure(text).name: twin}
