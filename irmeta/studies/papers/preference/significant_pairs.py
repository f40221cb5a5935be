"""Significantly different pairs of systems: Tables 3 and 4."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from irmeta.results.matrix import Matrix
from irmeta.results.preference import Preference
from irmeta.stats.pairs import pairwise
from irmeta.stats.preferences import preference_pairs
from irmeta.studies.papers.preference.compared_track import ComparedTrack
from irmeta.studies.papers.preference.options import PreferenceOptions as Options
from irmeta.studies.papers.preference.paper import PERCENT

TESTS = {"table_3": ("hsd-randomised", "none"), "table_4": ("t", "bonferroni")}
"""Test and correction of each table."""


def significant_pairs(
    compared: ComparedTrack, options: Options, table: str, dataset: str | None
) -> Iterator[dict[str, Any]]:
    """Yield the rows of the table `table_3` or `table_4`."""
    test, correction = TESTS[table]
    for part, methods in compared.parts(options).items():
        for name in methods:
            tested, number = _tested(compared, options, name), options.resamples
            if isinstance(tested, Matrix):
                found = pairwise(
                    tested, test, correction=correction, resamples=number, rng=options.seed
                )
            else:
                found = preference_pairs(
                    tested,
                    test,
                    correction=correction,
                    resamples=number,
                    rng=options.seed,
                    workers=1,
                )
            p = found.p[found.upper]
            separated = int((p < options.alpha).sum())
            known = len(p) > 0 and not np.isnan(p).all()
            yield {
                "part": part,
                "measure": name,
                "pairs": len(p),
                "separated": separated,
                "percent": 100.0 * separated / len(p) if known else np.nan,
                "printed": None if dataset is None else PERCENT[table].get((dataset, name)),
            }


def _tested(compared: ComparedTrack, options: Options, name: str) -> Matrix | Preference:
    """Return what is tested: values of a measure, preferences of pairs, or win rates."""
    if name not in compared.preferences:
        return compared.matrix(name)
    if options.on == "win-rate":
        return compared.rates[name]
    return compared.preferences[name].preference()
