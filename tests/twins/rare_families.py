"""Twins by canonical name of the measures that depend on the lists of other systems."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from support.cells import Cell, Twins, named
from twins import incomplete, rareness

CUTS = (None, 1, 2, 5, 50)


def lists_of(x: Cell, unjudged: str = "nonrelevant") -> rareness.Lists:
    """Lists of all systems for the query of a cell, without unjudged docs if condensed."""
    lists = dict(zip(x.track.runs, x.rankings, strict=True))
    if unjudged == "nonrelevant":
        return lists
    return {s: incomplete.condensed(docs, x.qrels, x.negative) for s, docs in lists.items()}


def _twins(
    measure: str,
    twin: Callable[..., float],
    variants: dict[str, dict[str, Any]],
    of_track: Callable[[Cell], dict[str, Any]] = lambda x: {},
) -> Twins:
    """Map names at several cutoffs to twins; a variant's key is the parameters as written."""
    twins: Twins = {}
    for said, how in variants.items():
        unjudged = how.get("unjudged", "nonrelevant")
        rest = {name: value for name, value in how.items() if name != "unjudged"}

        def value(x: Cell, k: int | None, u=unjudged, rest=rest) -> float:
            return twin(x.system, lists_of(x, u), x.qrels, k, **rest, **of_track(x))

        for k in CUTS[measure == "RareP" :]:
            name = named(f"{measure}({said})" if said else measure, k)
            twins[name] = lambda x, k=k, value=value: value(x, k)
    return twins


COMMON: dict[str, dict[str, Any]] = {
    "": {},
    "alpha=0": {"alpha": 0},
    "alpha=1/R": {"alpha": "1/R"},
    "alpha=2.5,rarity=revised": {"alpha": 2.5, "kind": "revised"},
    "alpha=0.3,rarity=idf,depth=3": {"alpha": 0.3, "kind": "idf", "depth": 3},
    "rarity=unique,depth=1": {"kind": "unique", "depth": 1},
    "alpha=0.4,mix=convex": {"alpha": 0.4, "mix": "convex"},
    "mix=convex,rarity=linear": {"mix": "convex", "kind": "linear"},
    "alpha=1/R,mix=convex,rarity=idf": {"alpha": "1/R", "mix": "convex", "kind": "idf"},
    "counted=groups": {"counted": "groups"},
    "counted=others,depth=2": {"counted": "others", "depth": 2},
    "counted=pooled,rarity=revised": {"counted": "pooled", "kind": "revised"},
    "unjudged=condensed": {"unjudged": "condensed"},
}
BINARY: dict[str, dict[str, Any]] = {
    "rel=2": {"rel": 2},
    "alpha=1/R,rel=3,unjudged=condensed": {"alpha": "1/R", "rel": 3, "unjudged": "condensed"},
}


def rare_relevance() -> Twins:
    """Twins of RareP and RareAP."""
    variants = COMMON | BINARY
    return _twins("RareP", rareness.rare_precision, variants) | _twins(
        "RareAP", rareness.rare_ap, variants
    )


def rare_gain() -> Twins:
    """Twins of RareDCG, RarenDCG and RareRBP."""

    def scale(x: Cell) -> dict[str, Any]:
        return {"gmax": x.highest}

    discounts: dict[str, dict[str, Any]] = {
        "gain=exp,discount=zipf": {"gain": "exp", "discount": ("zipf", 2)},
        "gain=linear,discount=jk,b=3.5": {"gain": "linear", "discount": ("jk", 3.5)},
        "gain=0:0.5;1:3;3:1": {"gain": {0: 0.5, 1: 3.0, 3: 1.0}},
    }
    persistent: dict[str, dict[str, Any]] = {
        "p=0.5,gain=linear": {"p": 0.5, "gain": "linear"},
        "p=0.95,gain=exp,alpha=1/R": {"p": 0.95, "gain": "exp", "alpha": "1/R"},
    }
    largest = {"gain=exp,gmax=6": {"gain": "exp", "gmax": 6}}
    return (
        _twins("RareDCG", rareness.rare_dcg, COMMON | discounts, scale)
        | _twins("RareDCG", rareness.rare_dcg, largest)
        | _twins("RarenDCG", rareness.rare_ndcg, COMMON | discounts, scale)
        | _twins("RareRBP", rareness.rare_rbp, COMMON | BINARY | persistent, scale)
        | _twins("RareRBP", rareness.rare_rbp, largest)
    )
