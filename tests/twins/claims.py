"""Verdicts on a claim, from the words of its condition and the numbers of some tracks."""

from __future__ import annotations

import math

from scipy.stats import t

HOLDS, FAILS, OPEN = "holds", "does not hold", "cannot be said"
UNDECIDED = "undecided"


def meets(number: float, condition: str) -> bool:
    """Check a number against "> 1", ">= 1", "< 1", "<= 1" or "1 to 2", but for rounding errors."""
    words = condition.split()
    if len(words) == 3:
        return meets(number, f">= {words[0]}") and meets(number, f"<= {words[2]}")
    bound = float(words[1])
    is_equal = abs(number - bound) <= 1e-12
    if words[0] in (">=", "<=") and is_equal:
        return True
    return not is_equal and (number > bound if words[0][0] == ">" else number < bound)


def on_track(number: float | None, condition: str) -> str:
    """None and NaN: there is no number."""
    if number is None or math.isnan(number):
        return OPEN
    return HOLDS if meets(number, condition) else FAILS


def over_tracks(numbers: list[float | None], condition: str, over: str) -> str:
    """The verdict over tracks, by those of them that have one."""
    known = [one for one in numbers if on_track(one, condition) != OPEN]
    if not known:
        return OPEN
    if over == "mean":
        return on_track(math.fsum(known) / len(known), condition)  # type: ignore[arg-type]
    if over == "about half" and len(known) <= 3:
        return OPEN
    if len(known) < 3:
        verdicts = {on_track(one, condition) for one in known}
        return verdicts.pop() if len(verdicts) == 1 else UNDECIDED
    share = sum(on_track(one, condition) == HOLDS for one in known) / len(known)
    asked = {"most": "> 0.5", "nearly all": ">= 0.9", "all": ">= 1", "about half": "0.4 to 0.6"}
    return on_track(share, asked[over])


def random_effects(tracks: list[tuple[float, float]]) -> tuple[float, ...]:
    """Mean, its interval, the prediction interval and the variance between tracks, by bisection."""
    number = len(tracks)

    def weighted(variance: float) -> tuple[float, float, float]:
        weights = [1 / (variance + error**2) for _, error in tracks]
        mean = sum(w * value for w, (value, _) in zip(weights, tracks, strict=True)) / sum(weights)
        squares = sum(w * (v - mean) ** 2 for w, (v, _) in zip(weights, tracks, strict=True))
        return mean, squares, sum(weights)

    low, high = 0.0, 1000.0
    for _ in range(200):
        middle = (low + high) / 2
        if weighted(middle)[1] > number - 1:
            low = middle
        else:
            high = middle
    variance = 0.0 if weighted(0.0)[1] <= number - 1 else low
    mean, squares, weights = weighted(variance)
    of_mean = max(1.0, squares / (number - 1)) / weights
    margin = t.ppf(0.975, number - 1) * math.sqrt(of_mean)
    ahead = t.ppf(0.975, number - 2) * math.sqrt(of_mean + variance)
    return mean, mean - margin, mean + margin, mean - ahead, mean + ahead, variance
