"""Calls of the Python interface whose results are in the manifest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import irmeta
from irmeta.measures.catalog import example
from irmeta.measures.names import registry

NEWS, WEB = {"track": "news"}, {"track": "web"}

CALLS: dict[str, Callable[[irmeta.Store], Any]] = {
    "evaluate": lambda s: s.evaluate("AP,RBP", per_query=True, **NEWS),
    "means": lambda s: s.means("AP,nDCG@10"),
    "curve": lambda s: s.curve("P", [5, 10], **WEB),
    "per_doc.search_lengths": lambda s: s.per_doc.search_lengths(**WEB),
    "per_doc.rarity": lambda s: s.per_doc.rarity(**WEB),
    "per_doc.contributions": lambda s: s.per_doc.contributions(**WEB),
    "pools.to_judge": lambda s: s.pools.to_judge(budget=20, **WEB),
    "pools.unjudged": lambda s: s.pools.unjudged(**WEB),
    "pools.leave_out": lambda s: s.pools.leave_out("AP", **WEB),
    "pools.drawn": lambda s: s.pools.drawn("P@10", draws=5, **WEB),
    "pairs.preferences": lambda s: s.pairs.preferences("RPP", **WEB),
    "pairs.win_rates": lambda s: s.pairs.win_rates("RPP", **WEB),
    "pairs.ties": lambda s: s.pairs.ties("P@10", **WEB),
    "pairs.differences": lambda s: s.pairs.differences("aldDFR", "birchDep", "AP", **NEWS),
    "stability.volatility": lambda s: s.stability.volatility("AP", **WEB),
    "stability.truncation": lambda s: s.stability.truncation("AP", **WEB),
    "compare": lambda s: s.compare("AP", **WEB),
    "power": lambda s: s.power("AP,P@10", **WEB),
    "prefer": lambda s: s.prefer(**WEB),
    "explain": lambda s: s.explain("AP", system="aldDFR", query=901, **NEWS),
    "list_measures": lambda s: irmeta.list_measures(),
    "list_preferences": lambda s: irmeta.list_preferences(),
}
"""Of the results, `recording.digest_results` digests the fields."""


def values_of_measures(store: irmeta.Store) -> dict[str, np.ndarray]:
    """Return the values of each measure, plain and by an example of its parameters."""
    values: dict[str, np.ndarray] = {}
    for measure in registry().values():
        for name in dict.fromkeys((example(measure), measure.name)):
            for track in ("news", "web"):
                try:
                    scores = store.scores(name, track=track)
                except irmeta.IrmetaError:
                    continue
                values[f"{name} {track}"] = scores.values
    return values
