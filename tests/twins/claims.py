"""Verdicts on a claim, from the words of its condition and the numbers of some tracks."""

from __future__ import annotations

import math

HOLDS, FAILS, OPEN = "holds", "does not hold", "cannot be said"


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
    share = sum(on_track(one, condition) == HOLDS for one in known) / len(known)
    asked = {"most": "> 0.5", "nearly all": ">= 0.9", "all": ">= 1", "about half": "0.4 to 0.6"}
    return on_track(share, asked[over])
