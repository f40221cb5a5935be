"""Agreement of preferences by pair of systems and query: Figure 5, and ties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from irmeta.results.preference import Preference, Source
from irmeta.results.verdicts import TIE
from irmeta.stats.verdict_agreement import agreement
from irmeta.studies.framework.study import TableRows
from irmeta.studies.papers.preference.compared_track import ComparedTrack
from irmeta.studies.papers.preference.options import PreferenceOptions as Options
from irmeta.studies.papers.preference.recall_levels import LevelCounts

Row = dict[str, Any]
MOST_HELD = 1 << 22
"""Preferences of one kind that are held in memory: 32 MB."""


def points(compared: ComparedTrack, counts: LevelCounts, options: Options) -> TableRows:
    """Yield the tables `figure_5`, `figure_5_points` and `ties`."""
    rpp = options.preference()
    ap, ndcg, rr = options.measures
    panels = (ap, ndcg, options.search_length, rr, *options.interleavings)
    sources: dict[str, Source] = {
        name: _held(one.preference()) for name, one in compared.preferences.items()
    }
    sources |= {name: compared.matrix(name) for name in (*panels, rr) if name not in sources}
    drawn = DrawnPoints(compared, options, Preference.of(sources[rpp]))
    rows, tied = list[Row](), dict[str, Row]()
    for other in (*options.preferences[1:], *panels):
        found = agreement(sources[rpp], sources[other]).frame().row(0, named=True)
        rows.append(_agreement(rpp, other, found, len(drawn.pairs) if other in panels else 0))
        decides = _deciding(counts, other, options)
        tied.setdefault(rpp, _tied(found, "tied_a", counts.share_unequal()))
        tied[other] = _tied(found, "tied_b", decides)
        if other in panels:
            yield "figure_5_points", drawn.beside(other, Preference.of(sources[other]))
    for other in (ap, ndcg, options.search_length):
        found = agreement(sources[rr], sources[other]).frame().row(0, named=True)
        rows.append(_agreement(rr, other, found, 0))
    yield "figure_5", rows
    yield "ties", [{"measure": name, **row} for name, row in tied.items()]


def _held(preference: Preference) -> Preference:
    """Compute the preferences of all queries once, where they are few enough to hold."""
    queries = len(preference.queries)
    if queries * len(preference.systems) ** 2 > MOST_HELD:
        return preference
    table = [preference.difference(query) for query in range(queries)]
    return replace(preference, difference=table.__getitem__)


def _agreement(a: str, b: str, found: Row, drawn: int) -> Row:
    return {
        "measure_a": a,
        "measure_b": b,
        "points": found["points"],
        "queries": found["queries"],
        "r": found["pearson"],
        "sa": found["sign_agreement"],
        "opposite": found["opposite"],
        "drawn": drawn,
    }


def _tied(found: Row, side: str, deciding: float | None) -> Row:
    return {"points": found["points"], "tied": found[side], "deciding_levels": deciding}


def _deciding(counts: LevelCounts, name: str, options: Options) -> float | None:
    """Return the share of recall levels that decide; None for interleaving, which has others."""
    if name in options.interleavings:
        return None
    return counts.share_unequal(only_first=name == options.measures[2])


class DrawnPoints:
    """Points drawn at random from all pairs of systems and queries with a preference.

    Attributes
    ----------
    queries
        int64 [point], ascending: index of the query among those of the track.
    pairs
        int64 [point, 2]: the two systems, in random order.
    """

    def __init__(self, compared: ComparedTrack, options: Options, rpp: Preference) -> None:
        self._rpp = rpp
        defined = np.flatnonzero(compared.is_relevant)
        upper = np.stack(np.triu_indices(len(rpp.systems), 1), axis=1)
        rng = np.random.default_rng(options.seed)
        number = len(defined) * len(upper)
        chosen = rng.choice(number, min(options.points, number), replace=False, shuffle=False)
        chosen.sort()
        self.queries: np.ndarray = defined[chosen // max(1, len(upper))]
        self.pairs: np.ndarray = upper[chosen % max(1, len(upper))]
        is_turned = rng.integers(0, 2, len(chosen)).astype(bool)
        self.pairs[is_turned] = self.pairs[is_turned, ::-1]
        self._values = self._of(rpp)

    def _of(self, preference: Preference) -> np.ndarray:
        """Return the preferences of the points: float64 [point]."""
        places = {query: place for place, query in enumerate(preference.queries)}
        out = np.empty(len(self.queries))
        for query in np.unique(self.queries).tolist():
            here = self.queries == query
            values = preference.difference(places[self._rpp.queries[query]])
            out[here] = values[self.pairs[here, 0], self.pairs[here, 1]]
        return out

    def beside(self, name: str, other: Preference) -> pl.DataFrame:
        """Return the rows of the table `figure_5_points` for another measure."""
        values = self._of(other)
        return pl.DataFrame(
            {
                "point": np.arange(1, len(values) + 1),
                "query": _named(self._rpp.queries, self.queries),
                "system_a": _named(self._rpp.systems, self.pairs[:, 0]),
                "system_b": _named(self._rpp.systems, self.pairs[:, 1]),
                "preference": self._values,
                "difference": values,
                "same_sign": _sign(self._values) == _sign(values),
            }
        ).with_columns(measure=pl.lit(name))


def _named(names: Sequence[str], index: np.ndarray) -> pl.Series:
    return pl.Series([names[i] for i in index.tolist()], dtype=pl.String)


def _sign(values: np.ndarray) -> np.ndarray:
    return np.where(np.abs(values) <= TIE, 0.0, np.sign(values))
