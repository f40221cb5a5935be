"""Slow, obvious twin of confidence sets of ranks, written from the paper.

Mogstad, Romano, Shaikh and Wilhelm (2024), Inference for ranks, doi:10.1093/restud/rdad006. It
shares no code with irmeta and uses no numpy; scipy gives Student's t alone. Values are rows of
floats, one row a query and one column a system, NaN where undefined; greater is better. A draw is
the rows of one resample.
"""

import math
import statistics
from collections.abc import Sequence

from scipy.stats import t as student

Rows = Sequence[Sequence[float]]
NEVER = 0.0
"""t of a pair that is never sure."""


def differences(values: Rows, draw: Sequence[int], a: int, b: int) -> list[float]:
    """The differences of a pair on the drawn rows where both systems have a value."""
    found = [values[q][a] - values[q][b] for q in draw]
    return [one for one in found if not math.isnan(one)]


def mean(numbers: Sequence[float]) -> float:
    """The arithmetic mean."""
    return math.fsum(numbers) / len(numbers)


def error(numbers: Sequence[float]) -> float:
    """The standard error of the mean; 0 where there is no spread or fewer than two numbers."""
    if len(numbers) < 2 or max(numbers) - min(numbers) < 1e-9:
        return 0.0
    variance = math.fsum((one - mean(numbers)) ** 2 for one in numbers) / (len(numbers) - 1)
    return math.sqrt(variance / len(numbers))


class Pairs:
    """Ordered pairs of systems: t of the sample, and t* of each resample."""

    def __init__(self, values: Rows, draws: Sequence[Sequence[int]], renewed: bool, least: int):
        self.size = len(values[0])
        self.t: dict[tuple[int, int], float] = {}
        self.resampled: dict[tuple[int, int], list[float]] = {}
        self.never: set[tuple[int, int]] = set()
        for a in range(self.size):
            for b in range(self.size):
                if a != b:
                    self._add(values, draws, renewed, least, a, b)

    def _add(self, values, draws, renewed, least, a, b):
        own = differences(values, range(len(values)), a, b)
        if len(own) < least or error(own) == 0:
            self.never.add((a, b))
            return
        found = []
        for draw in draws:
            drawn = differences(values, draw, a, b)
            if not drawn or (renewed and error(drawn) == 0):
                self.never.add((a, b))
                return
            found.append((mean(drawn) - mean(own)) / (error(drawn) if renewed else error(own)))
        self.t[a, b], self.resampled[a, b] = mean(own) / error(own), found

    def critical(self, some: Sequence[tuple[int, int]], confidence: float) -> float:
        """The least t* maximum that 1 - confidence of the resamples and the sample reach not."""
        number = len(next(iter(self.resampled.values()), []))
        if not number:
            return math.inf
        largest = sorted(max([0.0, *(self.resampled[p][r] for p in some)]) for r in range(number))
        above = math.floor((1 - confidence) * (1 + number) + 1e-9) - 1
        return math.inf if above < 0 else largest[number - 1 - above]

    def better(self, family: Sequence[tuple[int, int]], confidence: float, step_down: bool):
        """The ordered pairs of a family whose first system is surely better."""
        rejected: set[tuple[int, int]] = set()
        while True:
            rest = [pair for pair in family if pair not in rejected]
            limit = self.critical(rest, confidence)
            found = {pair for pair in family if self.t[pair] > limit}
            if not step_down or found == rejected:
                return found
            rejected = found


def rank_sets(
    values: Rows,
    draws: Sequence[Sequence[int]],
    *,
    confidence: float = 0.95,
    renewed: bool = False,
    marginal: bool = False,
    step_down: bool = False,
    least: int = 2,
) -> list[tuple[int, int]]:
    """The least and greatest rank of each system's confidence set.

    Pairs that share fewer than `least` rows are never sure.
    """
    pairs = Pairs(values, draws, renewed, least)
    every, sets = list(pairs.t), []
    for j in range(pairs.size):
        family = [pair for pair in every if j in pair] if marginal else every
        sure = pairs.better(family, confidence, step_down)
        better = sum(pair[1] == j for pair in sure)
        worse = sum(pair[0] == j for pair in sure)
        sets.append((1 + better, pairs.size - worse))
    return sets


def joint_limits(
    values: Rows, draws: Sequence[Sequence[int]], confidence: float, renewed: bool
) -> dict[tuple[int, int], tuple[float, float]]:
    """The intervals of all differences at once; infinite for a pair without spread.

    With the standard errors of the sample, the limit is Student's t with the normal tail.
    """
    pairs, n = Pairs(values, draws, renewed, 2), len(values)
    limit = pairs.critical(list(pairs.t), confidence)
    if not renewed and math.isfinite(limit):
        tail = statistics.NormalDist().cdf(-limit * math.sqrt(n / (n - 1)))
        limit = -student.ppf(tail, n - 1)
    found = {}
    for a in range(pairs.size):
        for b in range(a + 1, pairs.size):
            own = differences(values, range(len(values)), a, b)
            margin = limit * error(own) if (a, b) in pairs.t else math.inf
            found[a, b] = (mean(own) - margin, mean(own) + margin)
    return found


def tiers(sets: Sequence[tuple[int, int]]) -> list[int]:
    """The tier of each system, best first: it ends where all above are surely before all below."""
    tier, found = 1, []
    for k in range(len(sets)):
        if k and max(high for _, high in sets[:k]) < min(low for low, _ in sets[k:]):
            tier += 1
        found.append(tier)
    return found
