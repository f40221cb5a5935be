"""Tables of labels: the judges, and their agreement with the reference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl

from irmeta.stats.judge_agreement import AgreementOptions, LabelPairs
from irmeta.studies.papers.judges.judged_track import JudgedTrack

Row = dict[str, Any]


def judges(judged: JudgedTrack) -> Iterator[Row]:
    """Yield the rows of the table `judges`, the reference first."""
    own = judged.labels[judged.reference]
    for name, rows in judged.labels.items():
        both = rows.join(own, on=["query", "doc"], how="semi").height
        rel = judged.rels[name]
        yield {
            "judge": name,
            "is_reference": name == judged.reference,
            "queries": rows["query"].n_unique(),
            "labels": rows.height,
            "outside": judged.outside[name],
            "rel": rel,
            "relevant": int((rows["grade"] >= rel).sum()),
            "grades": rows["grade"].n_unique(),
            "mean_grade": rows["grade"].mean(),
            "unjudged": judged.scores.unjudged(name, rows["query"]),
            "common": both,
            "reference_alone": own.height - both,
        }


def shares_by_grade(judged: JudgedTrack, judge: str, queries: Sequence[str]) -> pl.DataFrame:
    """Count the reference's labels of some queries, and the share that a judge labelled, by grade.

    Returns
    -------
    DataFrame
        grade, docs, share; sorted by grade.
    """
    own = judged.labels[judged.reference].filter(pl.col("query").is_in(queries))
    labelled = judged.labels[judge].select("query", "doc", is_labelled=True)
    both = own.join(labelled, on=["query", "doc"], how="left")
    return (
        both.group_by("grade")
        .agg(docs=pl.len(), share=pl.col("is_labelled").fill_null(False).mean())
        .sort("grade")
    )


def pairs_of(judged: JudgedTrack) -> dict[str, LabelPairs]:
    """Return the labels that the reference and each judge have in common, by judge."""
    chosen = judged.options
    options = AgreementOptions(
        chosen.same_scale, chosen.raw, chosen.resamples, np.random.SeedSequence(chosen.seed)
    )
    own = judged.labels[judged.reference]
    rel = judged.rels[judged.reference]
    return {
        name: LabelPairs(own, judged.labels[name], rel, judged.rels[name], options)
        for name in judged.judges
    }


def agreement(judged: JudgedTrack) -> Iterator[tuple[str, Any]]:
    """Yield the tables `agreement`, `agreement_by_query` and `confusion`."""
    for name, pairs in pairs_of(judged).items():
        yield "agreement", [{"judge": name, **pairs.row()}]
        judge = pl.lit(name, pl.String).alias("judge")
        yield "agreement_by_query", pairs.by_query().select(judge, pl.all())
        yield "confusion", pairs.confusion().select(judge, pl.all())
