"""Breuer et al. (2020): closeness of a rerun, doc by doc and query by query."""

from __future__ import annotations

import math
from collections.abc import Sequence


def tau_union(original: Sequence[str], rerun: Sequence[str]) -> float:
    """Pairs of ranks in one order, minus those in the other, over all pairs."""
    union = sorted({*original, *rerun})
    ranks = min(len(original), len(rerun))
    first = [union.index(doc) for doc in original[:ranks]]
    second = [union.index(doc) for doc in rerun[:ranks]]
    pairs = [(i, j) for i in range(ranks) for j in range(i)]
    if not pairs:
        return math.nan
    alike = [(first[i] > first[j]) == (second[i] > second[j]) for i, j in pairs]
    return (2 * sum(alike) - len(pairs)) / len(pairs)


def overlap(original: Sequence[str], rerun: Sequence[str], p: float, depth: int) -> float:
    """Overlap at each depth, weighted by powers of p."""
    weights = [p**i for i in range(depth)]
    shares = [len({*original[:i]} & {*rerun[:i]}) / i for i in range(1, depth + 1)]
    return sum(w * s for w, s in zip(weights, shares, strict=True)) / sum(weights)


def errors(original: Sequence[float], rerun: Sequence[float]) -> tuple[float, float]:
    """Root mean square error, and over the greatest one of values from 0 to 1."""
    squares = sum((a - b) ** 2 for a, b in zip(original, rerun, strict=True))
    most = sum(max(a, 1 - a) ** 2 for a in original)
    return math.sqrt(squares / len(original)), math.sqrt(squares / most)


def effects(*runs: Sequence[float]) -> tuple[float, float]:
    """Effect ratio and delta relative improvement of base, advanced and their reruns."""
    base, advanced, rerun_base, rerun_advanced = (sum(run) / len(run) for run in runs)
    ratio = (rerun_advanced - rerun_base) / (advanced - base)
    return ratio, (advanced - base) / base - (rerun_advanced - rerun_base) / rerun_base
