"""Conclusions: significantly different pairs of systems, and the conditions that undo them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
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
from irmeta.studies.original.trust.study import TrustOptions
from irmeta.studies.original.trust.trusted_track import TrustedTrack

HALVED = 0.5
TOGETHER = "all conditions together"
RESAMPLED = "other queries"
Test = Callable[[Matrix], Pairs]


@dataclass(frozen=True)
class Effect:
    """What a condition leaves of some conclusions: bool [system, system] each."""

    confirmed: np.ndarray  # conclusions that are significant in the same direction, in most draws
    turned: np.ndarray  # conclusions whose difference of means has the other sign, in most draws
    counts: Sequence[int]  # number of confirmed conclusions, of each draw
    # float64 [system, system]: p under the condition, median over draws; None: not a test
    p: np.ndarray | None

    @classmethod
    def of(cls, better: np.ndarray, tests: Sequence[Pairs], alpha: float) -> Effect:
        """Compare conclusions with tests under a condition, one of each draw."""
        turned = [better & (test.difference * test.direction < -TIE) for test in tests]
        keeps = [better & test.better(alpha) for test in tests]
        return cls(
            np.mean(keeps, axis=0) > 0.5,
            np.mean(turned, axis=0) > 0.5,
            [int(test.sum()) for test in keeps],
            np.median([test.p_adjusted for test in tests], axis=0),
        )


@dataclass(frozen=True)
class Checked:
    """Conclusions on one measure, and what conditions leave of them."""

    matrix: Matrix
    tests: Pairs  # the test of the measure
    # bool [system, system]: whether the row is significantly better than the column
    better: np.ndarray
    effects: Mapping[str, Effect]  # what each condition leaves of the conclusions

    @property
    def safe(self) -> np.ndarray:
        """Conclusions that every condition keeps: bool [system, system]."""
        return np.logical_and.reduce(
            [self.better, *(effect.confirmed for effect in self.effects.values())]
        )


def conclusion_tables(trusted: TrustedTrack, test: Test | None = None) -> TableRows:
    """Yield the tables `conclusions`, `conditions` and `best`; default: paired t-test, Holm."""
    tested = test or partial(pairwise, test="t", correction="holm")
    checked = [_check(trusted, measure, tested) for measure in trusted.concluded]
    yield "conclusions", pl.concat(map(_conclusions, checked))
    yield "conditions", [row for conclusions in checked for row in _conditions(conclusions)]
    yield "best", [row for conclusions in checked for row in _best(conclusions, trusted.options)]


def _check(trusted: TrustedTrack, measure: str, test: Test) -> Checked:
    matrix, alpha = trusted.matrices[measure], trusted.options.alpha
    tested = test(matrix)
    better = tested.better(alpha)
    effects = {
        condition: Effect.of(better, [test(changed_matrix) for changed_matrix in changed], alpha)
        for condition, changed in _changed(trusted, measure)
    }
    resampled = better & _sampled(trusted, matrix)
    effects[RESAMPLED] = Effect(resampled, np.zeros_like(resampled), [int(resampled.sum())], None)
    return Checked(matrix, tested, better, effects)


def _changed(trusted: TrustedTrack, measure: str) -> Iterator[tuple[str, list[Matrix]]]:
    """Yield each condition except other queries, with the values of its draws."""
    for check in trusted.checks:
        if check != measure:
            yield f"measure {check}", [trusted.matrices[check]]
    for name, scores in trusted.other_sets.items():
        yield f"qrels set {name}", [scores.matrix(measure)]
    if trusted.shallower:
        half, scores = trusted.shallower
        yield f"pool to depth {half}", [scores.matrix(measure)]
    dropped = trusted.dropped[HALVED].matrices
    yield "half of the relevant docs", [draw[measure] for draw in dropped]


def _sampled(trusted: TrustedTrack, matrix: Matrix) -> np.ndarray:
    """Return whether the row is better in 97.5 % of bootstrap samples: bool [system, system]."""
    options = trusted.options
    bootstrapped = pairwise(matrix, "bootstrap", resamples=options.resamples, rng=options.seed)
    assert bootstrapped.low is not None
    assert bootstrapped.high is not None
    return bootstrapped.low > 0 if bootstrapped.direction > 0 else bootstrapped.high < 0


def _conclusions(checked: Checked) -> pl.DataFrame:
    rows, columns = np.nonzero(checked.better)
    systems = pl.Series(checked.matrix.systems, dtype=pl.String)
    return pl.DataFrame(
        {
            "measure": pl.Series([checked.matrix.measure] * len(rows), dtype=pl.String),
            "better": systems.gather(rows) if len(rows) else systems.clear(),
            "worse": systems.gather(columns) if len(rows) else systems.clear(),
            "difference": checked.tests.difference[rows, columns],
            "p_adjusted": checked.tests.p_adjusted[rows, columns],
            "undone_by": _joined(
                [_undone(name, effect, rows, columns) for name, effect in checked.effects.items()]
            ),
            "reversed_by": _joined(
                [
                    _where(effect.turned[rows, columns], pl.lit(name))
                    for name, effect in checked.effects.items()
                ]
            ),
            "safe": checked.safe[rows, columns],
        }
    )


def _undone(name: str, effect: Effect, rows: np.ndarray, columns: np.ndarray) -> pl.Series:
    """Return the condition and its p where a pair does not differ significantly, else null."""
    is_undone = ~(effect.confirmed | effect.turned)[rows, columns]
    if effect.p is None:
        return _where(is_undone, pl.lit(name))
    p = pl.Series("p", effect.p[rows, columns])
    return _where(is_undone, pl.format("{} (p = {})", pl.lit(name), p.round_sig_figs(2)))


def _where(held: np.ndarray, text: pl.Expr) -> pl.Series:
    """Return a text where a pair is held, else null."""
    frame = pl.DataFrame({"held": pl.Series(held, dtype=pl.Boolean)})
    return frame.select(pl.when("held").then(text)).to_series()


def _joined(texts: Sequence[pl.Series]) -> pl.Series:
    """Join the texts of each pair; null without any."""
    joined = pl.select(pl.concat_str(texts, separator="; ", ignore_nulls=True)).to_series()
    return joined.replace("", None)


def _conditions(checked: Checked) -> Iterator[dict[str, Any]]:
    number, effects = int(checked.better.sum()), list(checked.effects.values())
    turned = np.any([effect.turned for effect in effects], axis=0)
    together = Effect(checked.safe, turned, [int(checked.safe.sum())], None)
    for condition, effect in {**checked.effects, TOGETHER: together}.items():
        number_kept = int(effect.confirmed.sum())
        yield {
            "measure": checked.matrix.measure,
            "condition": condition,
            "draws": len(effect.counts),
            "conclusions": number,
            "kept": number_kept,
            "kept_low": min(effect.counts),
            "kept_high": max(effect.counts),
            "kept_share": number_kept / number if number else np.nan,
            "reversed": int(effect.turned.sum()),
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
