"""Orders of subsets of systems."""

from __future__ import annotations

import numpy as np
import pytest

import irmeta
from irmeta.errors import UsageError
from irmeta.stats.resampling import system_subsets

VALUES = np.array([3.0, 1.0, 2.0, 2.0, 5.0, 4.0])


def by_size(members: np.ndarray) -> np.ndarray:
    """Two measures: fixed values, and values that turn round in sets of less than four systems."""
    turned = np.where(members.sum(axis=1) < 4, -1.0, 1.0)[:, None] * VALUES
    return np.stack([np.broadcast_to(VALUES, members.shape), turned])


def test_system_subsets__all_sets_of_few_systems():
    frame = system_subsets(by_size, ["fixed", "turned"], 6, [2, 5])
    assert frame.columns == ["size", "replicate", "measure", "systems", "tau"]
    counts = frame.group_by("size", "measure").len().sort("size", "measure").rows()
    assert counts == [(2, "fixed", 15), (2, "turned", 15), (5, "fixed", 6), (5, "turned", 6)]
    tau = {key: rows["tau"] for key, rows in frame.group_by("size", "measure")}
    assert tau[2, "fixed"].is_nan().sum() == 1  # the systems that tie
    assert tau[2, "fixed"].drop_nans().unique().to_list() == [1.0]
    assert tau[2, "turned"].drop_nans().unique().to_list() == [-1.0]
    assert tau[5, "turned"].unique().to_list() == [1.0]


def test_system_subsets__draws_of_a_size_depend_on_nothing_else():
    """Sets are told by the values of their systems, which only their members have."""
    drawn: dict[int, list[list[int]]] = {}

    def remember(members: np.ndarray) -> np.ndarray:
        for row in members:
            drawn.setdefault(int(row.sum()), []).append(np.flatnonzero(row).tolist())
        return by_size(members)[:1]

    def sets(sizes: list[int], draws: int, seed: int = 1) -> list[list[int]]:
        drawn.clear()
        system_subsets(remember, ["fixed"], 6, sizes, draws, rng=seed)
        return drawn[3]

    first = sets([3], 10)
    assert len(first) == 10
    assert all(len({*of}) == 3 for of in first)
    assert sets([2, 3, 4], 10) == first
    assert sets([3], 15)[:10] == first
    assert sets([3], 10, seed=2) != first
    assert len(sets([3], 20)) == len({*map(tuple, sets([3], 20))}) == 20  # all sets, each once


@pytest.mark.parametrize("sizes", [[], [7], [2, 7]])
def test_system_subsets__refuses_sizes_that_cannot_be_drawn(sizes: list[int]):
    with pytest.raises(UsageError, match="from 1 to all 6"):
        irmeta.stats.system_subsets(by_size, ["a", "b"], 6, sizes)
    with pytest.raises(UsageError, match="size = 0"):
        system_subsets(by_size, ["a", "b"], 6, [0])
    with pytest.raises(UsageError, match="draws = 0"):
        system_subsets(by_size, ["a", "b"], 6, [2], 0)


@pytest.mark.parametrize(
    ("values", "order"),
    [
        (np.ones((1, 1)), [0]),
        (np.full((2, 2), np.nan), [0, 1]),
        (np.array([[1, 0.2, 0.8, 0.1], [0.2, 1, 0.1, 0.9], [0.8, 0.1, 1, 0], [0.1, 0.9, 0, 1]]),
         [2, 0, 1, 3]),
    ],
)  # fmt: skip
def test_cluster_order__neighbours_are_alike(values: np.ndarray, order: list[int]):
    found = irmeta.stats.cluster_order(values).tolist()
    assert found in (order, order[::-1])
