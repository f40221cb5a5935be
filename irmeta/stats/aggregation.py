"""One order of the systems from verdicts query by query: win rate, Borda, Markov chain MC4.

Each takes `Verdicts` and returns a frame with a row for each system, best first:

- system
- score: what the rule gives it; greater is better. NaN where nothing can be said.
- rank: 1 for the best; equal scores share the best of their places (1, 2, 2, 4). null for NaN.
- ties: the other systems of that rank, in their order, with spaces between; empty if there is none.

Two scores are equal if they differ by at most 1e-9 of the larger. Systems of a rank are in the
order of the verdicts. Where a system has no value for a query its verdicts there are ties, so that
it neither wins nor loses by it.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import polars as pl

from irmeta.errors import UsageError, check_choice, check_whole
from irmeta.kernels.chain import settle
from irmeta.results.verdicts import Verdicts

_EQUAL = 1e-9


def win_rate(verdicts: Verdicts, ties: Literal["half", "out"] = "half") -> pl.DataFrame:
    """The share of comparisons that each system wins, over all queries and other systems.

    Parameters
    ----------
    ties
        ``half``: a tie is half a win, so that the order is Borda's; ``out``: ties are left out, and
        the share is that of the comparisons with a winner.

    Returns
    -------
    DataFrame
        See the module. NaN where a system has no comparison: no query, no other system, or, with
        ``out``, ties alone.

    Raises
    ------
    UsageError
        If `ties` is none of these.
    """
    check_choice("ties", ties, ("half", "out"))
    size = len(verdicts.systems)
    net, decided = np.zeros(size), np.zeros(size)
    for sign in verdicts:
        net += sign.sum(axis=1, dtype=np.int64)
        decided += np.count_nonzero(sign, axis=1)
    # A comparison that is won adds 1 to the net and one that is lost takes 1 away.
    number = decided if ties == "out" else np.full(size, len(verdicts.queries) * (size - 1.0))
    rate = np.divide(net + number, 2.0 * number, out=np.full(size, np.nan), where=number > 0)
    return _ranked(verdicts.systems, rate)


def borda(verdicts: Verdicts) -> pl.DataFrame:
    """Borda's count: over all queries, how many systems each is better than, a tie being a half.

    A query's count is (systems - 1 + wins - losses) / 2. pref_eval's count is greater by 1 for each
    query, and its lists have no ties: it orders equal systems by name, descending.

    References
    ----------
    De Borda (1781), Mémoire sur les élections au scrutin; Dwork et al. (2001), Section 3.1.
    """
    size = len(verdicts.systems)
    net = np.zeros(size)
    for sign in verdicts:
        net += sign.sum(axis=1, dtype=np.int64)
    return _ranked(verdicts.systems, (net + len(verdicts.queries) * (size - 1.0)) / 2.0)


def mc4(
    verdicts: Verdicts,
    *,
    majority: Literal["queries", "decided"] = "queries",
    steps: int | None = None,
    rounds: bool = False,
) -> pl.DataFrame:
    """The Markov chain MC4 of Dwork, Kumar, Naor and Sivakumar (2001).

    From system i, one of the n systems is drawn. If a strict majority of queries ranks it above i,
    the chain moves to it; else it stays. So P(i -> j) is 1/n or 0 for every other j. The first
    distribution is uniform.

    The score is the limit of the chain. There is one from every start, as a state may always stay
    (with 1/n at least), so Cesàro's averages have it too. Where the chain falls apart, it is
    computed as it is: every closed class has the probability that the chain ends in it, shared out
    by the class's own stationary distribution, and every other system has 0. In particular, a
    system that beats each other one has 1 and all others tie at 0: see `rounds`.

    Parameters
    ----------
    majority
        Where queries tie: ``queries``: more than half of all queries rank j above i; ``decided``:
        more queries rank j above i than i above j, ties and missing values aside.
    steps
        So many power steps instead of the limit; 10 is what pref_eval takes, whose scores are n
        times these. Such an order depends on their number.
    rounds
        Rank those that the limit leaves with 0 as well, by repeating without those that have a
        place, as Dwork et al. propose. There is a column more, `round`, and a score is that of its
        round, so that scores add up to 1 in each.

    Returns
    -------
    DataFrame
        See the module. One system has the score 1; without a query all tie.

    Raises
    ------
    UsageError
        If `majority` is none of these, `steps` is negative, or there are `steps` and `rounds`.

    References
    ----------
    Rank Aggregation Methods for the Web, WWW 2001, doi:10.1145/371920.372165.
    """
    if steps is not None:
        check_whole("steps", steps, least=0)
        if rounds:
            raise UsageError("steps are not for rounds.")
    check_choice("majority", majority, ("queries", "decided"))
    better = wins(verdicts)
    losses = better.T
    worse = losses > (better if majority == "decided" else len(verdicts.queries) / 2.0)
    size = len(worse)
    if steps is not None:
        return _ranked(verdicts.systems, _stepped(worse, steps))
    score, number = np.zeros(size), np.zeros(size, np.int32)
    left = np.arange(size)
    while len(left):
        limit, closed = _limit(worse[np.ix_(left, left)])
        score[left] = limit
        number[left] += 1
        left = left[~closed] if rounds else left[:0]
    return _ranked(verdicts.systems, score, number if rounds else None)


def wins(verdicts: Verdicts) -> np.ndarray:
    """int32 [system, system]: the number of queries on which the row's system is better.

    Added up a query at a time.
    """
    size = len(verdicts.systems)
    out = np.zeros((size, size), np.int32)
    for sign in verdicts:
        out += sign > 0
    return out


def _stepped(worse: np.ndarray, steps: int) -> np.ndarray:
    size = len(worse)
    move = worse / max(size, 1)
    stay = 1.0 - worse.sum(axis=1) / max(size, 1)
    now = np.full(size, 1.0 / max(size, 1))
    for _ in range(steps):
        now = now @ move + now * stay
    return now


def _limit(worse: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The limit from the uniform start, and which systems are in a closed class."""
    size = len(worse)
    # The most beaten are eliminated first: few come to them, so there is little to hand on, and
    # each class's first state, to which the others are in proportion, is a likely one.
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
    """The frame, best first; by the number of the round first, if there are rounds."""
    rounds = np.ones(len(score), np.int32) if number is None else number
    best = np.lexsort((-score, rounds))  # NaN last
    value, layer = score[best], rounds[best]
    near = value[:-1] - value[1:] <= _EQUAL * np.abs(value[:-1])
    starts = np.flatnonzero(~near | (layer[1:] != layer[:-1])) + 1
    rows = []
    for start, group in zip([0, *starts], np.split(best, starts), strict=True):
        names = {i: systems[i] for i in sorted(group)}
        for i, name in names.items():
            rank = None if np.isnan(score[i]) else int(start) + 1
            others = " ".join(n for n in names.values() if n != name)
            rows.append((name, float(score[i]), rank, others, int(rounds[i])))
    schema = {"system": pl.String, "score": pl.Float64, "rank": pl.Int32, "ties": pl.String}
    frame = pl.DataFrame(rows, schema=schema | {"round": pl.Int32}, orient="row")
    return frame if number is not None else frame.drop("round")
