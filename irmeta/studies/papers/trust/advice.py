"""Up to three sentences from the numbers: what to report, to which depth, what not to claim."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from irmeta.phrases import listed
from irmeta.studies.framework.study import Tables
from irmeta.studies.papers.trust.conclusions import TOGETHER
from irmeta.studies.papers.trust.grades import CARE, UNKNOWN, UNSAFE
from irmeta.studies.papers.trust.options import TrustOptions as Options

NAMED = 5
"""Measures named in a sentence."""
FEW = 3
"""Measures named where each has a number."""
CLAIMED = {
    "queries": "of the queries",
    "depth": "of the depth",
    "judgments": "of the judgments",
    "ties and ends": "of ties and ends of lists",
}
"""What an order of systems may depend on, by family."""


def advice(tables: Tables, options: Options) -> Iterator[str]:
    """Yield the sentences on one track, from its tables."""
    grades = tables["grades"]
    if (grades["grade"] == UNKNOWN).all():
        yield f"No measure can be graded: {grades['why'][0]}."
        return
    reported, sentence = _reported(grades)
    yield sentence
    yield _depths(tables["trust"], reported, options)
    yield _not_to_claim(tables["conditions"], grades)


def _reported(grades: pl.DataFrame) -> tuple[list[str], str]:
    """Return the measures to report, and a sentence on them."""
    counts = (
        grades.filter(pl.col("grade") != UNKNOWN)
        .group_by("measure", maintain_order=True)
        .agg(*((pl.col("grade") == one).sum().alias(one) for one in (CARE, UNSAFE)), n=pl.len())
    )
    if safe := counts.filter(pl.col(CARE) + pl.col(UNSAFE) == 0)["measure"].to_list():
        verb = "is" if len(safe) == 1 else "are"
        return safe, f"Report {listed(safe, NAMED)}, which {verb} safe in every graded family."
    if (
        free := counts.filter(pl.col(UNSAFE) == 0)
        .sort(CARE, maintain_order=True)["measure"]
        .to_list()
    ):
        verb = "has" if len(free) == 1 else "have"
        return free, (
            f"Report {listed(free, NAMED)} with care: no measure is safe in every family, but "
            f"{'it' if len(free) == 1 else 'they'} {verb} no unsafe one."
        )
    fewest = counts.filter(pl.col(UNSAFE) == pl.col(UNSAFE).min())["measure"].to_list()
    return fewest, (
        f"Every measure has an unsafe family, so report several: {listed(fewest, NAMED)} "
        f"{'has' if len(fewest) == 1 else 'have'} the fewest."
    )


def _depths(rows: pl.DataFrame, reported: Sequence[str], options: Options) -> str:
    depths = rows.drop_nulls("least_k").select("measure", "least_k").rows()
    if not depths:
        return "No measure has a depth to choose: each has a cutoff, or compares single queries."
    depths.sort(key=lambda one: one[0] not in reported)
    texts = [f"{measure} to rank {k:,}" for measure, k in depths[:FEW]]
    return (
        f"Evaluate {listed(texts)} or deeper, where the order of systems has tau-b "
        f"{options.least_tau:g} or more with that of full lists."
    )


def _not_to_claim(conditions: pl.DataFrame, grades: pl.DataFrame) -> str:
    together = conditions.filter(condition=TOGETHER).select("measure", "conclusions", "kept")
    undone = [
        f"{number - kept:,} of the {number:,} significant differences by {measure}"
        for measure, number, kept in together.iter_rows()
        if kept < number
    ]
    claims = [f"{listed(undone)}, which other conditions undo"] if undone else []
    bad = grades.filter(grade=UNSAFE).group_by("family", maintain_order=True)
    depends = [
        f"{CLAIMED[str(family)]} by {_numbered(own.select('measure', 'number').rows())}"
        for (family,), own in bad
    ]
    if depends:
        claims.append(f"that orders of systems are independent {listed(depends)}")
    if not claims:
        return "No family is unsafe, and no condition undoes a significant difference."
    return f"Do not claim {', nor '.join(claims)}."


def _numbered(measures: Sequence[tuple[str, str]]) -> str:
    return listed([f"{measure} ({number})" for measure, number in measures], FEW)


def advice_over_tracks(tables: Tables, options: Options) -> Iterator[str]:
    """Yield the sentences on several tracks."""
    grades = tables["grades"].filter(pl.col("grade") != UNKNOWN)
    if grades.is_empty():
        yield "No measure can be graded on any track."
        return
    free = (
        grades.group_by("measure", "track", maintain_order=True)
        .agg(free=(pl.col("grade") != UNSAFE).all())
        .group_by("measure", maintain_order=True)
        .agg(pl.col("free").sum())
    )
    most, tracks = max(free["free"].to_list()), grades["track"].n_unique()
    best = free.filter(free=most)["measure"].to_list()
    yield (
        f"On most tracks without an unsafe family ({most} of {tracks}): {listed(best, NAMED)}."
        if most
        else "Every measure has an unsafe family on every track."
    )
    depths = (
        tables["trust"]
        .drop_nulls("least_k")
        .group_by("measure", maintain_order=True)
        .agg(least=pl.min("least_k"), most=pl.max("least_k"))
        .head(FEW)
    )
    if depths.height:
        texts = [
            f"{measure} to rank {most:,}"
            + ("" if least == most else f" ({least:,} suffices on one)")
            for measure, least, most in depths.rows()
        ]
        yield f"To order systems as full lists do on every track, evaluate {listed(texts)}."
    shares = grades.group_by("family", maintain_order=True).agg(
        bad=(pl.col("grade") == UNSAFE).mean()
    )
    family, share = shares.sort("bad", descending=True, maintain_order=True).row(0)
    if share:
        yield (
            f"Do not claim from one track that orders are independent {CLAIMED[family]}: "
            f"{share:.0%} of the grades of that family are unsafe, more than of any other."
        )
