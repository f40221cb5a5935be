"""Permutations of systems within queries, for randomisation tests.

Each permutation is a Fisher-Yates shuffle over the words of SplitMix64, taken by number (Steele,
Lea, Flood 2014, doi:10.1145/2660193.2660195), two draws of 32 bits a word. A draw below n is the
upper half of draw * n, and rows with a draw whose lower half is below 2^32 mod n are drawn again
(Lemire 2019, doi:10.1145/3230636): given random words, every permutation is equally likely.

One loop without branches draws for four rows, which LLVM vectorises (32 words at a time). The test
of 60 to 2,000 systems takes 0.87 to 1.01 ns a permuted value with AVX-512, and numpy's `permuted` 7
to 10 times as long (benchmarks/bench_stats_hsd.py).
"""

import numpy as np

from irmeta.kernels.jit import Array, Int, inlined, jit

_WEYL = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_LOW = np.uint64(0xFFFFFFFF)


@jit
def permuted_ranges(values: Array, key: Int, start: Int, out: Array) -> None:
    """Compute the range of the column sums after each row is permuted independently.

    Permutation b depends only on `values`, `key` and b, not on the other permutations of a call.
    `values`: float64 [rows, columns], at least one of each; fewer than 2^31 columns. `key`: uint64:
    the stream of words. `start`: int64: the number of the first permutation. `out`: float64
    [permutations]; written.
    """
    # The exchanges of the four rows are interleaved, so that loads do not wait for stores: an
    # exchange may load what the exchange before it in the same row stored. Missing rows are
    # shuffled as zeros.
    rows, columns = values.shape
    groups = (rows + 3) // 4
    bound = _bounds(columns)
    least = np.uint64(1 << 32) % bound  # of the lower half of draw * bound
    index = np.zeros(len(bound), np.uint64)
    held = np.zeros((4, columns))
    sums = np.empty(columns)
    for b in range(len(out)):
        sums[:] = 0.0
        for group in range(groups):
            number = np.uint64(start + b) * np.uint64(groups) + np.uint64(group)
            _draw(key, number, bound, least, index)
            for d in range(4):
                row = 4 * group + d
                for s in range(columns):
                    held[d, s] = values[row, s] if row < rows else 0.0
            for j in range(columns - 1, -1, -1):
                r0, r1 = index[j], index[columns + j]
                r2, r3 = index[2 * columns + j], index[3 * columns + j]
                v0, v1, v2, v3 = held[0, r0], held[1, r1], held[2, r2], held[3, r3]
                # Add the drawn value to the sum, and replace it by the last value.
                held[0, r0] = held[0, j]
                held[1, r1] = held[1, j]
                held[2, r2] = held[2, j]
                held[3, r3] = held[3, j]
                sums[j] += (v0 + v1) + (v2 + v3)
        low = high = sums[0]
        for s in range(1, columns):
            low = min(low, sums[s])
            high = max(high, sums[s])
        out[b] = high - low


@jit
def permuted_preferences(matrices: Array, key: Int, start: Int, out: Array) -> None:
    """Compute the greatest |sum over queries| of preferences after systems are permuted.

    Each query has one permutation of its rows and columns, the same as in `permuted_ranges`, so
    that differences of values have the same statistic. `matrices`: float64 [queries, systems,
    systems], antisymmetric; at most 2^16 systems. `key`, `start`, `out`: see `permuted_ranges`.
    """
    queries, systems = matrices.shape[0], matrices.shape[1]
    groups = (queries + 3) // 4
    bound = _bounds(systems)
    least = np.uint64(1 << 32) % bound
    index = np.zeros(len(bound), np.uint64)
    held = np.zeros(systems, np.uint64)
    # 16 bits keep the places of 50 queries in the first cache: 15 to 25 % faster than 64 bits.
    place = np.zeros((queries, systems), np.uint16)
    flat, sums = matrices.reshape(matrices.size), np.empty(systems)
    for b in range(len(out)):
        for group in range(groups):
            number = np.uint64(start + b) * np.uint64(groups) + np.uint64(group)
            _draw(key, number, bound, least, index)
            for d in range(min(4, queries - 4 * group)):
                for s in range(systems):
                    held[s] = s
                for j in range(systems - 1, -1, -1):
                    drawn = index[d * systems + j]
                    place[4 * group + d, j] = held[drawn]
                    held[drawn] = held[j]
        most = 0.0
        for i in range(systems):  # a row of sums stays in the cache
            sums[i:] = 0.0
            # Four queries at a time, added one after another. Unsigned indices are never negative.
            for q in range(0, queries - 3, 4):
                r0, r1 = _row(place, q, i), _row(place, q + 1, i)
                r2, r3 = _row(place, q + 2, i), _row(place, q + 3, i)
                for j in range(i + 1, systems):
                    total = sums[j] + flat[r0 + place[q, j]]
                    total += flat[r1 + place[q + 1, j]]
                    total += flat[r2 + place[q + 2, j]]
                    sums[j] = total + flat[r3 + place[q + 3, j]]
            for q in range(queries // 4 * 4, queries):
                row = _row(place, q, i)
                for j in range(i + 1, systems):
                    sums[j] += flat[row + place[q, j]]
            for j in range(i + 1, systems):
                most = max(most, abs(sums[j]))
        out[b] = most


@inlined
def _row(place, query, system):
    """Return the first element of a permuted row of a query's matrix."""
    systems = np.uint64(place.shape[1])
    return (np.uint64(query) * systems + place[query, system]) * systems


@inlined
def _bounds(columns):
    """Return the number of values to draw from, for each exchange of four rows."""
    words = (2 * columns + 31) // 32 * 32
    bound = np.ones(2 * words, np.uint64)
    for i in range(4 * columns):
        bound[i] = np.uint64(i % columns + 1)
    return bound


@inlined
def _draw(key, number, bound, least, index):
    """Draw the exchanges of four rows: those of row d from ``index[d * columns]`` on."""
    words = len(bound) // 2
    state = key + number * np.uint64(words) * _WEYL
    rejected = True
    while rejected:
        below = np.uint64(0)
        for i in range(words):
            word = state + np.uint64(i) * _WEYL
            word = (word ^ (word >> np.uint64(30))) * _FIRST
            word = (word ^ (word >> np.uint64(27))) * _SECOND
            word ^= word >> np.uint64(31)
            one = (word & _LOW) * bound[i]
            two = (word >> np.uint64(32)) * bound[words + i]
            index[i] = one >> np.uint64(32)
            index[words + i] = two >> np.uint64(32)
            # If it is smaller, the difference wraps and its top bit is set.
            below |= ((one & _LOW) - least[i]) | ((two & _LOW) - least[words + i])
        rejected = below >> np.uint64(63) != np.uint64(0)
        state = (state ^ _SECOND) * _FIRST  # elsewhere in the stream
