"""Agreement of judges with a reference: tables by judge, by query and by pair of grades."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import polars as pl

from irmeta.errors import UsageError
from irmeta.phrases import count
from irmeta.schema.result_tables import SAME_SCALE, SCALE_FREE
from irmeta.stats.label_agreement import (
    ALPHAS,
    alphas,
    coefficients,
    count_coincidences,
    count_labels,
    interval_text,
    query_intervals,
)

SAME = "same"
"""Scale of a judge with the grades of the reference."""
MOST_GRADES = 6  # of a scale that are listed
MOST_LEVELS = 510  # of two sets, whose tables of labels by query grow with the square
MOST_STRAY = 0.01  # share of a judge's labels outside the scale of the reference


@dataclass(frozen=True)
class AgreementOptions:
    """Options of the agreement of judges.

    Attributes
    ----------
    same_scale
        Whether all sets have one scale, though some lack a grade of it.
    raw
        Whether coefficients of grades are computed where scales differ too.
    resamples, seed
        Number of resamples of the queries, and their seed.
    """

    same_scale: bool
    raw: bool
    resamples: int
    seed: np.random.SeedSequence


class LabelPairs:
    """Labels of the docs that the reference and a judge both judged.

    Parameters
    ----------
    reference, judge
        query, doc, grade (Float64); each doc of a query once.
    rel_reference, rel_judge
        Least grade of a relevant doc in each set.
    """

    def __init__(
        self,
        reference: pl.DataFrame,
        judge: pl.DataFrame,
        rel_reference: float,
        rel_judge: float,
        options: AgreementOptions,
    ) -> None:
        both = reference.join(judge, on=["query", "doc"], suffix="_judge").sort("query", "doc")
        self.labels: pl.DataFrame = both
        self.reference_alone: int = reference.height - both.height
        self.judge_alone: int = judge.height - both.height
        self.rels: tuple[float, float] = float(rel_reference), float(rel_judge)
        self.scale: str = scale_text(reference["grade"], judge["grade"])
        self.options: AgreementOptions = options
        has_scale = self.scale.startswith(SAME) or options.same_scale
        self.is_comparable: bool = has_scale or options.raw
        # Without a common scale, the grades of the common docs are the levels.
        sides = (reference["grade"], judge["grade"]) if has_scale else (both["grade"], self._judge)
        self.grades: np.ndarray = np.union1d(*(side.to_numpy() for side in sides))
        if len(self.grades) > MOST_LEVELS:
            raise UsageError(
                f"{len(self.grades):,} distinct grades are more than {MOST_LEVELS}, which can be "
                "compared: round them at reading by `grade_digits=`."
            )
        counts_all = options.same_scale or options.raw
        stray = [] if counts_all else stray_grades(reference["grade"], judge["grade"])
        self.on_scale: np.ndarray = ~np.isin(self.grades, stray)

    @property
    def _judge(self) -> pl.Series:
        return self.labels["grade_judge"]

    @cached_property
    def tables(self) -> np.ndarray:
        """Numbers of docs, float64 [query, grade of the reference, grade of the judge]."""
        return count_labels(
            self.labels["query"].rle_id().to_numpy(),
            np.searchsorted(self.grades, self.labels["grade"].to_numpy()),
            np.searchsorted(self.grades, self._judge.to_numpy()),
            self.labels["query"].n_unique(),
            len(self.grades),
        )

    def coefficients(self, tables: np.ndarray) -> dict[str, np.ndarray]:
        """Compute all coefficients of some tables; NaN where they need a common scale.

        Docs of stray grades do not count for those of the scale.
        """
        found = coefficients(tables, self.grades, *self.rels)
        if self.is_comparable and not self.on_scale.all():
            inside = tables[:, self.on_scale][:, :, self.on_scale]
            of_scale = coefficients(inside, self.grades[self.on_scale], *self.rels)
            found |= {name: of_scale[name] for name in SAME_SCALE}
        if not self.is_comparable:
            found |= dict.fromkeys(SAME_SCALE, np.full(len(tables), np.nan))
        return found

    def row(self) -> dict[str, object]:
        """Return counts, coefficients and their intervals."""
        whole = self.tables.sum(axis=0)
        relevant, judged = (self.grades >= rel for rel in self.rels)
        values = self.coefficients(whole[None])
        intervals = query_intervals(
            self.tables, self.coefficients, self.options.resamples, self.options.seed
        )
        return {
            "queries": len(self.tables),
            "docs": self.labels.height,
            "reference_alone": self.reference_alone,
            "judge_alone": self.judge_alone,
            "rel_reference": self.rels[0],
            "rel_judge": self.rels[1],
            "both_relevant": int(whole[relevant][:, judged].sum()),
            "reference_relevant": int(whole[relevant][:, ~judged].sum()),
            "judge_relevant": int(whole[~relevant][:, judged].sum()),
            "none_relevant": int(whole[~relevant][:, ~judged].sum()),
            "scale": self.scale,
            **{
                column: value
                for name in (*SCALE_FREE, *SAME_SCALE)
                for column, value in zip(
                    (name, f"{name}_low", f"{name}_high"),
                    (float(values[name][0]), *intervals[name]),
                    strict=True,
                )
            },
        }

    def by_query(self) -> pl.DataFrame:
        """Return the coefficients of each query: query, docs, then the coefficients."""
        return pl.DataFrame(
            {
                "query": self.labels["query"].unique(maintain_order=True),
                "docs": self.tables.sum(axis=(1, 2)).astype(np.int64),
                **self.coefficients(self.tables),
            }
        )

    def confusion(self) -> pl.DataFrame:
        """Count the docs of each pair of grades that occurs."""
        grades = pl.col("grade").alias("reference_grade"), pl.col("grade_judge")
        counts = self.labels.group_by(*grades).agg(docs=pl.len().cast(pl.Int64))
        return counts.rename({"grade_judge": "judge_grade"}).sort("reference_grade", "judge_grade")


def stray_grades(reference: pl.Series, judge: pl.Series) -> list[float]:
    """Return the grades of few of a judge's labels without which both sets have the same grades."""
    scale = reference.unique().to_list()
    others = judge.filter(~judge.is_in(scale))
    is_few = len(others) <= MOST_STRAY * len(judge)
    has_all = judge.n_unique() == len(scale) + others.n_unique()
    return others.unique().sort().to_list() if is_few and has_all else []


def scale_text(reference: pl.Series, judge: pl.Series) -> str:
    """Return `SAME` where two sets have the same grades, or else both grades as text.

    Stray grades of the judge follow `SAME`.
    """
    sides = [side.unique().sort().to_list() for side in (judge, reference)]
    if sides[0] == sides[1]:
        return SAME
    if stray := stray_grades(reference, judge):
        labels = count(int(judge.is_in(stray).sum()), "label")
        grades = ", ".join(f"{grade:g}" for grade in stray[:MOST_GRADES])
        return f"{SAME}, without {labels} of grade {grades}"
    texts = [", ".join(f"{g:g}" for g in side[:MOST_GRADES]) for side in sides]
    more = [f" and {len(side) - MOST_GRADES} more" * (len(side) > MOST_GRADES) for side in sides]
    return f"grades {texts[0]}{more[0]}; reference: {texts[1]}{more[1]}"


def common_alpha(sets: Mapping[str, pl.DataFrame], options: AgreementOptions) -> dict[str, object]:
    """Compute Krippendorff's alpha of any number of sets of labels, which may miss docs.

    Parameters
    ----------
    sets
        query, doc, grade of each judge, on one scale.

    Returns
    -------
    dict
        judges, docs (with two labels or more), the kind of interval, and each of `ALPHAS` with its
        interval.
    """
    frame = pl.concat(sets.values()).with_columns(unit=pl.struct("query", "doc").rank("dense") - 1)
    units = frame.unique("unit").sort("unit")
    grades = np.unique(frame["grade"].to_numpy())
    tables = count_coincidences(
        frame["unit"].to_numpy(),
        np.searchsorted(grades, frame["grade"].to_numpy()),
        units["query"].rle_id().to_numpy(),
        len(grades),
    )
    compute = partial(alphas, grades=grades)
    values = compute(tables.sum(axis=0)[None])
    intervals = query_intervals(tables, compute, options.resamples, options.seed)
    row: dict[str, object] = {
        "judges": len(sets),
        "docs": int((frame["unit"].value_counts()["count"] > 1).sum()),
        "interval": interval_text(len(tables)),
    }
    for name in ALPHAS:
        row[name], (row[f"{name}_low"], row[f"{name}_high"]) = values[name][0], intervals[name]
    return row
