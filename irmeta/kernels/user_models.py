"""Expected quantities of models of users, who read down a list and may stop at each doc.

A model gives the probability of reading on after rank i: the C of the C/W/L framework.
"""

from __future__ import annotations

import numpy as np

from irmeta.kernels.jit import Array, Int, inner, jit

INST, INSQ, SDCG, STATIC_BPM, DYNAMIC_BPM, NERR8, NERR9, NERR10, NERR11 = range(9)
PRECISION, RBP, RR, AP = range(9, 13)


@inner
def _reads_on(model, numbers, rank, gain, total, spent, goal, patience):
    """Return the probability of reading on after a rank, for models without memory of the rest.

    `gain` is that of the doc, `total` and `spent` are the gain and cost so far.
    """
    first = numbers[0]  # a number of docs, where the model has one
    # `goal` and `patience` are the moving limits of the Bejeweled player.
    if model in (INST, INSQ, NERR11):
        wanted = rank + 2.0 * first
        if model == INST:
            wanted -= total
        reads = ((wanted - 1.0) / wanted) ** 2
        return reads * (1.0 - gain) if model == NERR11 else reads
    if model in (STATIC_BPM, DYNAMIC_BPM):
        return 1.0 if total < goal and spent < patience else 0.0
    if model == RBP:
        return first
    if model == NERR10:
        return first * (1.0 - gain)
    if model == RR:
        return 0.0 if gain > 0.0 else 1.0
    if rank >= first:
        return 0.0
    if model == SDCG:
        return np.log2(rank + 1.0) / np.log2(rank + 2.0)
    if model == NERR8:
        return 1.0 - gain
    if model == NERR9:
        return rank / (rank + 1.0) * (1.0 - gain)
    return 1.0


@jit
def expected_quantities(
    ranks: Array,
    offsets: Array,
    gains: Array,
    is_judged: Array,
    costs: Array,
    starts: Array,
    lengths: Array,
    model: Int,
    numbers: Array,
    cut: Int,
    depth: Int,
    best: float,
    out: Array,
) -> None:
    """Compute EU, ETU, EC, ETC and ED of each list.

    `ranks`: [docs, systems]; the rows of query q are ``offsets[q]:offsets[q + 1]``. `gains`,
    `is_judged`: float64 and bool [docs]. `costs`, `starts`: float64, and int64 [queries, systems]:
    the cost of rank i of a list is ``costs[starts + i - 1]`` up to its end; all costs are 1 if
    `costs` is empty. `lengths`: uint32 [queries, systems]. `model`, `numbers`: a model and its
    parameters, float64 [5]. `cut`, `depth`: int64: ranks beyond `cut` hold unjudged docs; no user
    reads beyond `depth`. `best`: float64: the gain of unjudged docs, and of the ranks below the end
    of a list. `out`: float64 [5, queries, systems]; written.
    """
    gained, rest = np.empty(depth + 2), np.zeros(depth + 2)
    for q in range(len(offsets) - 1):
        for s in range(ranks.shape[1]):
            gained[:] = best
            for row in range(offsets[q], offsets[q + 1]):
                if ranks[row, s] <= cut and ranks[row, s] <= depth and is_judged[row]:
                    gained[ranks[row, s]] = gains[row]
            if model == AP:
                for rank in range(depth, 0, -1):
                    rest[rank] = rest[rank + 1] + gained[rank] / rank
            reading, total, spent, read = 1.0, 0.0, 0.0, 0.0
            goal, patience = numbers[1], numbers[0]
            utility, total_utility, cost, total_cost = 0.0, 0.0, 0.0, 0.0
            for rank in range(1, depth + 1):
                gain, paid = gained[rank], 1.0
                if len(costs) > 0 and rank <= lengths[q, s] and rank <= cut:
                    paid = costs[starts[q, s] + rank - 1]
                total += gain
                spent += paid
                read += reading
                utility += reading * gain
                cost += reading * paid
                if model == AP:
                    reads = rest[rank + 1] / rest[rank] if rest[rank + 1] > 0.0 else 0.0
                else:
                    reads = _reads_on(model, numbers, rank, gain, total, spent, goal, patience)
                if model == DYNAMIC_BPM:
                    goal += numbers[2] * (gain - numbers[4])
                    patience += numbers[3] * (gain - numbers[4])
                total_utility += reading * (1.0 - reads) * total
                total_cost += reading * (1.0 - reads) * spent
                reading *= reads
                if reading == 0.0:
                    break
            out[0, q, s] = utility / read
            out[1, q, s] = total_utility
            out[2, q, s] = cost / read
            out[3, q, s] = total_cost
            out[4, q, s] = read
