"""Counts of all pairs of systems at recall levels: a plain twin."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from irmeta.kernels.rank_agreement import count_level_pairs

MISSING = 65535
BINS = 20


def plain(ranks, is_first, terms):
    counts, distances = np.zeros(3, np.int64), np.zeros((len(terms), 2 * BINS + 1), np.int64)
    for level, row in enumerate(ranks):
        for a, b in combinations(range(len(row)), 2):
            differs = row[a] != row[b]
            counts += (differs, row[a] == row[b] == MISSING, differs and is_first[level])
            for d, term in enumerate(terms):
                scaled = abs(term[level, a] - term[level, b]) * BINS
                nearest = round(scaled)
                if not differs:
                    place = 0
                elif abs(scaled - nearest) <= 1e-9 and nearest > 0:
                    place = 2 * nearest
                else:
                    place = 2 * int(scaled) + 1
                distances[d, place] += 1
    return counts, distances


@pytest.mark.parametrize("seed", range(4))
def test_count_level_pairs__equals_plain_loops(seed: int):
    rng = np.random.default_rng(seed)
    ranks = np.sort(rng.integers(1, 9, (12, 7)), axis=0).astype(np.uint16)
    ranks[rng.random(ranks.shape) < 0.3] = MISSING
    is_first = rng.random(len(ranks)) < 0.3
    rank = ranks.astype(float)
    # 0.05 steps lie on the borders of bins, to rounding.
    terms = np.stack([0.5 ** (rank - 1), 1 / np.log2(rank + 1), np.maximum(1 - 0.05 * rank, 0)])
    terms[:, ranks == MISSING] = 0.0
    counts, distances = np.zeros(3, np.int64), np.zeros((len(terms), 2 * BINS + 1), np.int64)
    for part in (slice(0, 5), slice(5, None)):
        args = (ranks[part], is_first[part], MISSING, np.ascontiguousarray(terms[:, part]))
        count_level_pairs(*args, BINS, counts, distances)
    expected = plain(ranks.tolist(), is_first, terms)
    np.testing.assert_array_equal(counts, expected[0])
    np.testing.assert_array_equal(distances, expected[1])
    assert distances[:, 2::2].any()
