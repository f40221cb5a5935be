"""Gains of docs by subtopic that shrink with each relevant doc above them, or fill a cube.

Docs are numbered over a block of queries. The pairs of doc d and its subtopics are
``starts[d]:starts[d + 1]``: `subtopic` (int32, numbered within the query), `gains` and `keeps`
(float64). A doc gains ``weight x gain`` for each of its subtopics, whose weight is then multiplied
by `keep`, one factor after another as in ndeval, so that equal gains are equal as floats.
"""

import math

from irmeta.kernels.jit import Array, Int, jit


@jit
def novelty_gains(
    ranks: Array,
    docs: Array,
    offsets: Array,
    missing: Int,
    starts: Array,
    subtopic: Array,
    gains: Array,
    keeps: Array,
    shares: Array,
    first: Array,
    weights: Array,
    amounts: Array,
) -> None:
    """Compute the gain of each doc of each list.

    `ranks`, `docs`: [docs, systems], ranks ascending in the rows of query q, ``offsets[q]:offsets[q
    + 1]``, and `missing` where not retrieved; `docs` (uint32) has the number of the doc at each
    rank. `shares`, `first`: float64: the initial weights of the subtopics of query q are
    ``shares[first[q]:first[q + 1]]``. `weights`: float64 [subtopics of a query, systems]: working
    space. `amounts`: float64 [docs, systems], zero; written.
    """
    for q in range(len(offsets) - 1):
        for a in range(first[q + 1] - first[q]):
            for s in range(ranks.shape[1]):
                weights[a, s] = shares[first[q] + a]
        for row in range(offsets[q], offsets[q + 1]):
            for s in range(ranks.shape[1]):
                if ranks[row, s] != missing:
                    doc = docs[row, s]
                    gain = 0.0
                    for pair in range(starts[doc], starts[doc + 1]):
                        gain += weights[subtopic[pair], s] * gains[pair]
                        weights[subtopic[pair], s] *= keeps[pair]
                    amounts[row, s] = gain


@jit
def greedy_gains(
    offsets: Array,
    names: Array,
    starts: Array,
    subtopic: Array,
    keep: float,
    weights: Array,
    bounds: Array,
    out: Array,
) -> None:
    """Compute the gains along the greedy ideal list of each query, of pairs with gain 1.

    The next doc is always one of the greatest gain, of these the one with the greatest name.
    `offsets`: int64 [queries + 1]: the docs of query q are ``offsets[q]:offsets[q + 1]``. `names`:
    int32 by doc: numbers in the order of the names. `weights`, `bounds`: float64 by subtopic of a
    query and by doc: working space. A gain never grows, so the last one computed is a bound of the
    next. `out`: float64 by doc, zero; written: the gain at each rank.
    """
    for q in range(len(offsets) - 1):
        weights[:] = 1.0
        bounds[offsets[q] : offsets[q + 1]] = math.inf
        for place in range(offsets[q], offsets[q + 1]):
            best = -1
            gain = 0.0
            for doc in range(offsets[q], offsets[q + 1]):
                if bounds[doc] < gain or bounds[doc] <= 0.0:
                    continue
                bounds[doc] = 0.0
                for pair in range(starts[doc], starts[doc + 1]):
                    bounds[doc] += weights[subtopic[pair]]
                is_later = best >= 0 and names[doc] > names[best]
                if bounds[doc] > gain or (bounds[doc] == gain and is_later):
                    best = doc
                    gain = bounds[doc]
            if best < 0:
                break
            out[place] = gain
            bounds[best] = -1.0
            for pair in range(starts[best], starts[best + 1]):
                weights[subtopic[pair]] *= keep


@jit
def perfect_sums(keep: float, is_log: bool, ks: Array, out: Array) -> None:
    """Sum ``keep ** (i - 1)`` over log2(i + 1), or over i, for i from 1 to each k.

    `ks` is int64, ascending; `out` float64 [k] is written.
    """
    total = 0.0
    weight = 1.0
    rank = 0
    for index in range(len(ks)):
        while rank < ks[index] and weight > 0.0:
            rank += 1
            total += weight / (math.log2(rank + 1.0) if is_log else rank)
            weight *= keep
        out[index] = total


@jit
def cube_gains(
    ranks: Array,
    docs: Array,
    offsets: Array,
    missing: Int,
    starts: Array,
    subtopic: Array,
    ratings: Array,
    shares: Array,
    first: Array,
    initial: float,
    gamma: float,
    height: float,
    is_discounted: bool,
    weights: Array,
    heights: Array,
    amounts: Array,
) -> None:
    """Compute the gain of each doc of each list where subtopics fill the columns of a cube.

    A doc gains the share of each of its subtopics times its rating times the subtopic's weight,
    which is multiplied by `gamma` after each doc. A subtopic whose column has `height` is full.
    `ranks`, `docs`: see `novelty_gains`. `ratings`: float64 [pairs]; may be negative. `shares`,
    `first`: float64: the shares of the subtopics of query q are ``shares[first[q]:first[q + 1]]``.
    `initial`: float64: the weight of every subtopic at rank 1. `is_discounted`: True: the rating
    times the weight fills the column, up to its height. False: the rating fills it, and may exceed
    its height. `weights`, `heights`: float64 [subtopics of a query, systems]: working space.
    `amounts`: float64 [docs, systems], zero; written.
    """
    for q in range(len(offsets) - 1):
        weights[: first[q + 1] - first[q]] = initial
        heights[: first[q + 1] - first[q]] = 0.0
        for row in range(offsets[q], offsets[q + 1]):
            for s in range(ranks.shape[1]):
                if ranks[row, s] != missing:
                    for pair in range(starts[docs[row, s]], starts[docs[row, s] + 1]):
                        a = subtopic[pair]
                        if heights[a, s] < height:
                            gain = ratings[pair] * weights[a, s]
                            if is_discounted:
                                gain = min(gain, height - heights[a, s])
                            heights[a, s] += gain if is_discounted else ratings[pair]
                            weights[a, s] *= gamma
                            amounts[row, s] += shares[first[q] + a] * gain
