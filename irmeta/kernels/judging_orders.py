"""Orders in which docs of one query are judged, each chosen by the labels of those before it."""

from __future__ import annotations

import math

import numpy as np

from irmeta.kernels.jit import Array, Int, inner, jit

MOVE_TO_FRONT, MAX_MEAN, THOMPSON = 0, 1, 2
NEAR = 1e-12
"""Relative difference below which two scores of docs tie: sums of other orders of addition."""


@inner
def _gamma(shape: float, rng: np.random.Generator) -> float:
    """Draw from the gamma distribution of a shape of at least 1 (Marsaglia and Tsang 2000)."""
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        radius = math.sqrt(-2.0 * math.log(1.0 - rng.random()))
        x = radius * math.cos(2.0 * math.pi * rng.random())
        v = (1.0 + c * x) ** 3
        if v > 0.0 and math.log(1.0 - rng.random()) < 0.5 * x * x + d * (1.0 - v + math.log(v)):
            return d * v


@inner
def _front(hits: Array, last: Array, ties: Array, at: Array, ends: Array) -> int:
    """Return the list of highest priority that has docs left, or -1."""
    best = -1
    for s in range(len(ends)):
        if at[s] == ends[s]:
            continue
        if best < 0 or (hits[s], last[s], ties[s]) > (hits[best], last[best], ties[best]):
            best = s
    return best


@jit
def visit_lists(
    rule: Int,
    docs: Array,
    ends: Array,
    labels: Array,
    ties: Array,
    rng: np.random.Generator,
    out: Array,
) -> int:
    """Order the docs of some lists by judging the next doc of the list that a rule picks.

    `docs`: those of all lists by rank, one list after another, each up to its of `ends`. `labels`:
    int8 [doc], 1 for a relevant doc; docs without a label have 0. `ties`: float64 [list], the
    greater first among equal lists. Fills `out`, int32, and returns the number of docs.
    """
    lists = len(ends)
    at, seen = np.zeros(lists, np.int64), np.zeros(len(labels), np.bool_)
    at[1:] = ends[:-1]
    hits, tries = np.zeros(lists), np.zeros(lists)
    count, step = 0, 0
    while count < len(out):
        step += 1
        if rule == MOVE_TO_FRONT:
            # hits: priority, tries: when the list last yielded a relevant doc
            best = _front(hits, tries, ties, at, ends)
        else:
            best, most = -1, -1.0
            for s in range(lists):
                while at[s] < ends[s] and seen[docs[at[s]]]:
                    at[s] += 1
                if at[s] == ends[s]:
                    continue
                value = (1.0 + hits[s]) / (2.0 + tries[s])
                if rule == THOMPSON:
                    relevant = _gamma(1.0 + hits[s], rng)
                    value = relevant / (relevant + _gamma(1.0 + tries[s] - hits[s], rng))
                if value > most or (value == most and ties[s] > ties[best]):
                    best, most = s, value
        if best < 0:
            break
        doc = docs[at[best]]
        at[best] += 1
        if not seen[doc]:
            seen[doc] = True
            out[count] = doc
            count += 1
        if rule == MOVE_TO_FRONT:
            if labels[doc] == 1:
                hits[best], tries[best] = 0.0, step
            else:
                hits[best] -= 1.0
        else:
            keep = 1.0 if rule == THOMPSON else 0.0
            hits[best] = keep * hits[best] + labels[doc]
            tries[best] = keep * tries[best] + 1.0
    return count


@jit
def hedge(loss: Array, labels: Array, ties: Array, beta: float, out: Array) -> int:
    """Order docs by the weighted loss that their lists would have if they were not relevant.

    `loss`: float64 [doc, list]. `labels`: int8 [doc], 1 for a relevant doc. A list's weight is
    multiplied by `beta` to the power of its loss, negative for a relevant doc. Of docs whose sums
    tie, the one with the greater of `ties` comes first.
    """
    docs, lists = loss.shape
    logs, weights, seen = np.zeros(lists), np.ones(lists), np.zeros(docs, np.bool_)
    count = min(docs, len(out))
    for place in range(count):
        best, most = -1, 0.0
        for doc in range(docs):
            if seen[doc]:
                continue
            total = 0.0
            for s in range(lists):
                total += weights[s] * loss[doc, s]
            is_tied = best >= 0 and abs(total - most) <= NEAR * most
            if best < 0 or (ties[doc] > ties[best] if is_tied else total > most):
                best, most = doc, total
        seen[best] = True
        out[place] = best
        sign = -1.0 if labels[best] == 1 else 1.0
        for s in range(lists):
            logs[s] += sign * loss[best, s] * math.log(beta)
        highest = logs.max()
        for s in range(lists):
            weights[s] = math.exp(logs[s] - highest)
    return count
