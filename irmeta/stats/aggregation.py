"""Ranks of systems by aggregated verdicts: win rate, Borda, MC4.

`win_rate`, `borda` and `mc4` take `Verdicts` and return a frame with one row per system, best
first:

- system
- score: the system's score under the rule; greater is better. NaN where it is undefined.
- rank: 1 for the best system; equal scores share the smallest rank (1, 2, 2, 4). null for NaN.
- ties: the other systems of the same rank, separated by spaces; empty without ties.

Two scores are equal if they differ by at most 1e-9 of the larger. Systems of equal rank keep the
order of the verdicts. Where a system has no value for a query, its verdicts for that query are
ties.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
import polars as pl

from irmeta.equality import tolerances
from irmeta.errors import UsageError, check_choice, check_whole
from irmeta.kernels.pair_statistics import count_signs
from irmeta.kernels.rank_agreement import settle
from irmeta.policies import Majority
from irmeta.results.verdicts import Verdicts
from irmeta.stats.orders import rank_rows

_EQUAL = 1e-9


def win_rate(verdicts: Verdicts, ties: Literal["half", "out"] = "half") -> pl.DataFrame:
    """Rank systems by the share of comparisons that they win, over all queries and other systems.

    Parameters
    ----------
    verdicts : Verdicts
        Per-query comparisons of the systems.
    ties : {'half', 'out'}, default 'half'
        ``half``: a tie is half a win, so that the order is Borda's; ``out``: ties are excluded, and
        the share is over the comparisons with a winner.

    Returns
    -------
    DataFrame
        See the module. The score, from 0 to 1, is NaN for a system without a comparison: no query,
        no other system, or, with ``out``, only ties.

    Raises
    ------
    UsageError
        If `ties` is neither of these.

    Examples
    --------
    >>> irmeta.stats.win_rate(irmeta.stats.Verdicts.of(ap)).select("system", "score").rows()
    [('a', 0.875), ('b', 0.625), ('c', 0.0)]
    """
    check_choice("ties", ties, ("half", "out"))
    size, better = len(verdicts.systems), wins(verdicts)
    number = np.full(size, len(verdicts.queries) * (size - 1.0))
    if ties == "out":
        number = (better + better.T).sum(axis=1, dtype=np.int64).astype(np.float64)
    # A win adds 1 to the net count and a loss subtracts 1.
    rate = np.full(size, np.nan)
    np.divide(_net(better) + number, 2.0 * number, out=rate, where=number > 0)
    return _ranked(verdicts.systems, rate)


def borda(verdicts: Verdicts) -> pl.DataFrame:
    """Rank systems by Borda count: the systems that each beats over all queries, a tie a half.

    Parameters
    ----------
    verdicts : Verdicts
        Per-query comparisons of the systems.

    Returns
    -------
    DataFrame
        See the module. A query adds (systems - 1 + wins - losses) / 2 to the score.

    Notes
    -----
    pref_eval's count is greater by 1 for each query, and pref_eval breaks ties by system name,
    descending.

    References
    ----------
    .. [1] De Borda (1781). Mémoire sur les élections au scrutin.
    .. [2] Dwork et al. (2001), Section 3.1. doi:10.1145/371920.372165

    Examples
    --------
    >>> irmeta.stats.borda(irmeta.stats.Verdicts.of(ap))["score"].to_list()
    [7.0, 5.0, 0.0]
    """
    size = len(verdicts.systems)
    counts = (_net(wins(verdicts)) + len(verdicts.queries) * (size - 1.0)) / 2.0
    return _ranked(verdicts.systems, counts)


def _net(better: np.ndarray) -> np.ndarray:
    """Return the wins minus losses of each system: int64 [system]."""
    return (better - better.T).sum(axis=1, dtype=np.int64)


def mc4(
    verdicts: Verdicts,
    *,
    majority: Majority = "queries",
    steps: int | None = None,
    rounds: bool = False,
) -> pl.DataFrame:
    """Rank systems by the Markov chain MC4.

    From system i, the chain draws one of the n systems. If a strict majority of queries ranks the
    drawn system above i, the chain moves to it; else the chain stays. So P(i -> j) is 1/n or 0 for
    every other j. The initial distribution is uniform. The score is the limit of the chain.

    Parameters
    ----------
    verdicts : Verdicts
        Per-query comparisons of the systems.
    majority : {'queries', 'decided'}, default 'queries'
        Where queries tie: ``queries``: more than half of all queries rank j above i; ``decided``:
        more queries rank j above i than i above j, ties and missing values aside.
    steps : int, optional
        Number of power steps to take instead of the limit. pref_eval takes 10, and its scores are
        n times these. The order depends on this number.
    rounds : bool, default False
        Also rank the systems with limit 0, by repeating the chain without the systems already
        ranked, as in [1]_. The column `round` is added; scores add up to 1 in each round.

    Returns
    -------
    DataFrame
        See the module. A single system has the score 1; without a query all systems tie.

    Raises
    ------
    UsageError
        If `majority` is neither of these, `steps` is negative, or both `steps` and `rounds` are
        given.

    Notes
    -----
    The limit exists from every start, because every state has a self-loop of at least 1/n; Cesàro
    averages have the same limit. In a reducible chain, every closed class has the probability that
    the chain ends in the class, split by the class's stationary distribution, and every transient
    system has 0. A system that beats all others scores 1 and all others tie at 0: see `rounds`.

    References
    ----------
    .. [1] Dwork, Kumar, Naor and Sivakumar (2001). doi:10.1145/371920.372165

    Examples
    --------
    >>> irmeta.stats.mc4(irmeta.stats.Verdicts.of(ap))["score"].to_list()
    [1.0, 0.0, 0.0]
    """
    if steps is not None:
        check_whole("steps", steps, least=0)
        if rounds:
            raise UsageError("steps and rounds cannot be combined.")
    check_choice("majority", majority, get_args(Majority))
    worse = _worse(verdicts, majority)
    size = len(worse)
    if steps is not None:
        return _ranked(verdicts.systems, power_steps(worse, steps))
    score, number = np.zeros(size), np.zeros(size, np.int32)
    unranked = np.arange(size)
    while len(unranked):
        limit, closed = _limit(worse[np.ix_(unranked, unranked)])
        score[unranked] = limit
        number[unranked] += 1
        unranked = unranked[~closed] if rounds else unranked[:0]
    return _ranked(verdicts.systems, score, number if rounds else None)


def mc4_ranks(verdicts: Sequence[Verdicts], majority: Majority, steps: int) -> np.ndarray:
    """Return the ranks by power steps of `mc4` of the same systems: int32 [verdicts, system]."""
    step = max(1, MEANS_HELD // max(1, len(verdicts[0].systems) ** 2))
    scores = list[np.ndarray]()
    for start in range(0, len(verdicts), step):
        worse = np.stack([_worse(each, majority) for each in verdicts[start : start + step]])
        scores.append(power_steps(worse, steps))
    return rank_rows(np.concatenate(scores), True)


def _worse(verdicts: Verdicts, majority: Majority) -> np.ndarray:
    """Check whether the row's system loses to the column's: see `loses`."""
    return loses(wins(verdicts), len(verdicts.queries), majority)


def wins(verdicts: Verdicts) -> np.ndarray:
    """Count the queries on which the row's system is better: int32 [system, system].

    One query is in memory at a time.
    """
    size = len(verdicts.systems)
    out = np.zeros((size, size), np.int32)
    if verdicts.values is not None:
        losses = np.zeros_like(out)
        values, within = np.ascontiguousarray(verdicts.values), verdicts.tolerances
        count_signs(values, tolerances(values) if within is None else within, out, losses)
        return out + losses.T
    for sign in verdicts:
        out += sign > 0
    return out


def loses(better: np.ndarray, queries: float | np.ndarray, majority: Majority) -> np.ndarray:
    """Check whether the row's system loses to the column's: bool [..., system, system].

    `better` counts the queries won by the row's; `queries` are [..., 1, 1] or all.
    """
    losses = np.swapaxes(better, -1, -2)
    return losses > (better if majority == "decided" else queries / 2.0)


def power_steps(worse: np.ndarray, steps: int) -> np.ndarray:
    """Take power steps of MC4 from `worse`, whether the row loses: float64 [..., system]."""
    size = max(worse.shape[-1], 1)
    move = worse / size
    stay = 1.0 - worse.sum(axis=-1) / size
    now = np.full(worse.shape[:-1], 1.0 / size)
    for _ in range(steps):
        now = (now[..., None, :] @ move)[..., 0, :] + now * stay
    return now


def _limit(worse: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute the limit from the uniform start, and which systems are in a closed class."""
    size = len(worse)
    # Eliminating the most beaten systems first keeps rounding small: few transitions lead to them,
    # and the first state of each class, to which the others are scaled, is a probable one.
    order = np.argsort(worse.sum(axis=1), kind="stable")
    rates = worse[np.ix_(order, order)].astype(np.float64)
    limit, home = np.empty(size), np.empty(size, np.int64)
    settle(rates, np.full(size, 1.0 / size), limit, home)
    score, closed = np.empty(size), np.empty(size, bool)
    score[order], closed[order] = limit / limit.sum(), home >= 0  # 1 but for rounding
    return score, closed


def _ranked(
    systems: tuple[str, ...], score: np.ndarray, number: np.ndarray | None = None
) -> pl.DataFrame:
    """Build the frame, sorted by round if there are rounds, then best first."""
    rounds = np.ones(len(score), np.int32) if number is None else number
    best = np.lexsort((-score, rounds))  # NaN last
    value, layer = score[best], rounds[best]
    near = value[:-1] - value[1:] <= _EQUAL * np.abs(value[:-1])
    starts = np.flatnonzero(~near | (layer[1:] != layer[:-1])) + 1
    rows = []
    for start, group in zip([0, *starts], np.split(best, starts), strict=True):
        ranked = {i: systems[i] for i in sorted(group)}
        for i, name in ranked.items():
            rank = None if np.isnan(score[i]) else int(start) + 1
            others = " ".join(n for n in ranked.values() if n != name)
            rows.append((name, float(score[i]), rank, others, int(rounds[i])))
    schema = {"system": pl.String, "score": pl.Float64, "rank": pl.Int32, "ties": pl.String}
    frame = pl.DataFrame(rows, schema=schema | {"round": pl.Int32}, orient="row")
    return frame if number is not None else frame.drop("round")


MEANS_HELD = 1 << 22  # cells of verdicts at once
