"""Rules that end the judging of a query, and how often they miss relevant docs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from irmeta.api.judging_simulation import Simulation
from irmeta.rankings.derive.sample import hash_of, random_numbers
from irmeta.rankings.judging_orders import WITHOUT_CHANCE

PUBLISHED = ("50 non-relevant", "knee", "target 10")
"""Rules with the parameters of their papers."""
RUNS = (10, 20, 30, 40, 50, 75, 100, 150, 200, 300, 500)
"""Numbers of non-relevant docs one after another, of which one is chosen on other tracks."""
MOST_ERRED = 0.05
"""Share of the queries of other tracks that a chosen rule may miss the recall of."""
Z = 1.959963984540054


class Stop(NamedTuple):
    """Where a rule ends judging: numbers of judged docs and of relevant ones among them."""

    judged: int
    relevant: int


def after_nonrelevant(labels: np.ndarray, number: int) -> Stop:
    """Stop after so many non-relevant docs one after another, in the order of judging.

    Fifty: Ros, Bjarnason and Runeson 2017, doi:10.1145/3084226.3084243.
    """
    hits = np.flatnonzero(labels)
    gaps = np.diff(hits, prepend=-1, append=len(labels)) - 1
    too_long = np.flatnonzero(gaps >= number)
    if not len(too_long):
        return Stop(len(labels), len(hits))
    start = hits[too_long[0] - 1] + 1 if too_long[0] else 0
    return Stop(int(start) + number, int(too_long[0]))


def at_knee(labels: np.ndarray, least: int = 1000) -> Stop:
    """Stop where the gain curve has a knee (Cormack and Grossman 2016).

    With R relevant of s docs, the knee i is furthest above the line to (s, R), and the slope before
    it is at least 156 - min(R, 150) times (1 + R - R_i) / (s - i), the slope behind it. Checks
    begin at 1,000 docs, after batches that grow by a tenth. doi:10.1145/2911451.2911510
    """
    gain, size, batch = np.cumsum(labels), 1, 1
    while size < len(labels):
        total = int(gain[size - 1])
        if size >= max(least, 2) and total:
            ranks = np.arange(1, size)
            above = gain[: size - 1] - total * ranks / size
            knee = int(above.argmax()) + 1
            before, behind = gain[knee - 1] / knee, (1 + total - gain[knee - 1]) / (size - knee)
            if before / behind >= 156 - min(total, 150):
                return Stop(size, total)
        batch += -(-batch // 10)
        size += batch
    return Stop(len(labels), int(labels.sum()))


def at_target(labels: np.ndarray, random_order: np.ndarray, number: int = 10) -> Stop:
    """Stop when all of ten relevant docs, found at random before, were met (same paper).

    Docs drawn at random count as judged. Without ten relevant docs, all docs are judged.
    """
    drawn = np.flatnonzero(np.cumsum(labels[random_order]) == number)
    if not len(drawn):
        return Stop(len(labels), int(labels.sum()))
    sample = random_order[: drawn[0] + 1]
    is_judged = np.zeros(len(labels), bool)
    is_judged[sample] = True
    is_judged[: sample[labels[sample] > 0].max() + 1] = True
    return Stop(int(is_judged.sum()), int(labels[is_judged].sum()))


Shares = Mapping[str, np.ndarray]
"""By rule, float64 [draw, query, 2]: recall, and judged share of the pool, when it stops."""


def stops_of(simulation: Simulation, order: str, draws: int, seed: int) -> Shares:
    """Apply all rules to the queries of an order that have a relevant doc in the pool."""
    pool = simulation.pooled[0]
    shares: dict[str, list[list[tuple[float, float]]]] = {}
    for draw in range(1 if order in WITHOUT_CHANCE else draws):
        draw_seed = hash_of(str(seed), str(draw))
        places = pool.places(order, draw_seed)
        # Not the numbers of the order itself, which may be random.
        numbers = random_numbers(hash_of(str(draw_seed), "target"), pool.hashes)
        by_rule: dict[str, list[tuple[float, float]]] = {}
        for first, last in zip(pool.offsets[:-1], pool.offsets[1:], strict=True):
            rows = first + np.argsort(places[first:last])
            labels = pool.labels[rows].astype(np.int64)
            if not (relevant := int(labels.sum())):
                continue
            stops = {run_name(number): after_nonrelevant(labels, number) for number in RUNS}
            stops |= {"knee": at_knee(labels)}
            stops |= {"target 10": at_target(labels, np.argsort(numbers[rows]))}
            for rule, stop in stops.items():
                shares_of = stop.relevant / relevant, stop.judged / len(labels)
                by_rule.setdefault(rule, []).append(shares_of)
        for rule, of_queries in by_rule.items():
            shares.setdefault(rule, []).append(of_queries)
    return {rule: np.array(of_draws) for rule, of_draws in shares.items()}


def run_name(number: int) -> str:
    """Return the name of the rule of so many non-relevant docs."""
    return f"{number} non-relevant"


def stop_rows(by_track: Mapping[str, Shares], recall: float) -> Iterator[dict[str, Any]]:
    """Yield the rows of `BUDGET_STOPS` of one order: published rules, and one chosen elsewhere.

    On each track, the chosen rule is that of the fewest non-relevant docs that misses the recall on
    at most 5 % of the queries of all other tracks, mean of the draws; if none does, the last one.
    """
    for track, shares in by_track.items():
        if not shares:  # no query has a relevant doc
            continue
        for rule in PUBLISHED:
            yield {"track": track, "rule": rule} | _row(shares[rule], recall)
        others = {name: of for name, of in by_track.items() if name != track and of}
        if others:
            rule = chosen_rule([*others.values()], recall)
            made_on = {"rule": f"chosen: {rule}", "chosen_on": ", ".join(others)}
            yield {"track": track} | made_on | _row(shares[rule], recall)


def chosen_rule(tracks: Sequence[Shares], recall: float) -> str:
    """Return the rule of the fewest non-relevant docs that errs rarely enough on some tracks."""
    for number in RUNS:
        by_query = [(of[run_name(number)][..., 0] < recall).mean(axis=0) for of in tracks]
        if np.concatenate(by_query).mean() <= MOST_ERRED:
            return run_name(number)
    return run_name(RUNS[-1])


def _row(shares: np.ndarray, recall: float) -> dict[str, Any]:
    """Return means over draws and queries, with Wilson's interval of the share of errors."""
    draws, queries = shares.shape[:2]
    erred = float((shares[..., 0] < recall).mean())
    middle = (erred + Z**2 / (2 * queries)) / (1 + Z**2 / queries)
    spread = (erred * (1 - erred) / queries + Z**2 / (4 * queries**2)) ** 0.5
    margin = Z / (1 + Z**2 / queries) * spread
    means = {"recall": shares[..., 0].mean(), "judged": shares[..., 1].mean()}
    limits = {"low": max(round(middle - margin, 12), 0.0), "high": min(middle + margin, 1.0)}
    return {"queries": queries, "draws": draws, "erred": erred} | limits | means
