"""Conclusions: significantly different pairs of systems, and the conditions that undo them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from irmeta.equality import TIE
from irmeta.results.matrix import Matrix
from irmeta.stats.pairs import Pairs, pairwise
from irmeta.stats.rank_confidence import rank_sets
from irmeta.studies.framework.study import TableRows
from irmeta.studies.papers.trust.options import TrustOptions
from irmeta.studies.papers.trust.trusted_track import TrustedTrack

HALVED = 0.5
TOGETHER = "all conditions together"
Test = Callable[[Matrix], Pairs]


@dataclass(frozen=True)
class Checked:
    """Conclusions on one measure, and what conditions leave of them.

    Attributes
    ----------
    own
        The test of the measure.
    better
        bool [system, system]: whether the row is significantly better than the column.
    undone
        bool [system, system] by condition: conclusions that are no longer significant.
    turned
        The same for conclusions whose difference of means has the other sign.
    """

    matrix: Matrix
    own: Pairs
    better: np.ndarray
    undone: Mapping[str, np.ndarray]
    turned: Mapping[str, np.ndarray]

    @property
    def safe(self) -> np.ndarray:
        """Conclusions that no condition undoes or reverses: bool [system, system]."""
        found = self.better.copy()
        for lost in (*self.undone.values(), *self.turned.values()):
            found &= ~lost
        return found


def conclusion_tables(trusted: TrustedTrack, test: Test | None = None) -> TableRows:
    """Yield the tables `conclusions`, `conditions` and `best`.

    Parameters
    ----------
    test
        Test of all pairs of systems; default the paired t-test with Holm's correction.
    """
    tested = test or partial(pairwise, test="t", correction="holm")
    checked = [_check(trusted, measure, tested) for measure in trusted.concluded]
    yield "conclusions", pl.concat(map(_conclusions, checked))
    yield "conditions", [row for one in checked for row in _conditions(one)]
    yield "best", [row for one in checked for row in _best(one, trusted.options)]


def _check(trusted: TrustedTrack, measure: str, test: Test) -> Checked:
    matrix, alpha = trusted.matrices[measure], trusted.options.alpha
    own = test(matrix)
    better = own.better(alpha)
    undone, turned = dict[str, np.ndarray](), dict[str, np.ndarray]()
    for condition, changed in _changed(trusted, measure):
        other = test(changed)
        turned[condition] = better & (other.difference * other.direction < -TIE)
        undone[condition] = better & ~other.better(alpha) & ~turned[condition]
    undone["other queries"] = better & ~_sampled(trusted, matrix)
    turned["other queries"] = np.zeros_like(better)
    return Checked(matrix, own, better, undone, turned)


def _changed(trusted: TrustedTrack, measure: str) -> Iterator[tuple[str, Matrix]]:
    """Yield each condition except other queries, with the values under it."""
    for other in trusted.checks:
        if other != measure:
            yield f"measure {other}", trusted.matrices[other]
    at = list(trusted.matrices).index(measure)
    for name, scores in trusted.other_sets.items():
        yield f"qrels set {name}", scores.matrix(scores.measures[at])
    if trusted.shallower:
        half, scores = trusted.shallower
        yield f"pool to depth {half}", scores.matrix(measure)
    yield "half of the relevant docs", trusted.dropped[HALVED].matrix(measure)


def _sampled(trusted: TrustedTrack, matrix: Matrix) -> np.ndarray:
    """Return whether the row is better in 97.5 % of bootstrap samples: bool [system, system]."""
    options = trusted.options
    found = pairwise(matrix, "bootstrap", resamples=options.resamples, rng=options.seed)
    assert found.low is not None
    assert found.high is not None
    return found.low > 0 if found.direction > 0 else found.high < 0


def _conclusions(checked: Checked) -> pl.DataFrame:
    rows, columns = np.nonzero(checked.better)
    systems = pl.Series(checked.matrix.systems, dtype=pl.String)
    return pl.DataFrame(
        {
            "measure": pl.Series([checked.matrix.measure] * len(rows), dtype=pl.String),
            "better": systems.gather(rows) if len(rows) else systems.clear(),
            "worse": systems.gather(columns) if len(rows) else systems.clear(),
            "difference": checked.own.difference[rows, columns],
            "p": checked.own.p[rows, columns],
            "undone_by": _listed(checked.undone, rows, columns),
            "reversed_by": _listed(checked.turned, rows, columns),
            "safe": checked.safe[rows, columns],
        }
    )


def _listed(found: Mapping[str, np.ndarray], rows: np.ndarray, columns: np.ndarray) -> pl.Series:
    """Return the names of the conditions of each pair, as one text; null without any."""
    held = np.array([mask[rows, columns] for mask in found.values()]).T
    kinds, of_pair = np.unique(held.reshape(-1, len(found)), axis=0, return_inverse=True)
    names = np.array(list(found), object)
    texts = ["; ".join(names[kind]) or None for kind in kinds]
    return pl.Series([texts[i] for i in of_pair.ravel()], dtype=pl.String)


def _conditions(checked: Checked) -> Iterator[dict[str, Any]]:
    number, every = int(checked.better.sum()), list(checked.turned.values())
    held = {
        condition: (checked.better & ~lost & ~checked.turned[condition], checked.turned[condition])
        for condition, lost in checked.undone.items()
    }
    for condition, (kept, turned) in (
        held | {TOGETHER: (checked.safe, np.any(every, axis=0))}
    ).items():
        yield {
            "measure": checked.matrix.measure,
            "condition": condition,
            "conclusions": number,
            "kept": int(kept.sum()),
            "kept_share": int(kept.sum()) / number if number else np.nan,
            "reversed": int(turned.sum()),
        }


def _best(checked: Checked, options: TrustOptions) -> Iterator[dict[str, Any]]:
    safe, place = checked.safe, {name: i for i, name in enumerate(checked.matrix.systems)}
    sets = rank_sets(checked.matrix, confidence=1 - options.alpha, rng=options.seed)
    for row in sets.systems.drop_nulls("rank").iter_rows(named=True):
        i = place[row["system"]]
        if not safe[:, i].any():
            yield {
                "measure": checked.matrix.measure,
                **{name: row[name] for name in ("rank", "rank_low", "rank_high", "system", "mean")},
                "beats": int(safe[i].sum()),
                "worse_than": int(checked.better[:, i].sum()),
            }
