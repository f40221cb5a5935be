"""Sentences from the numbers: most reliable measures, depths, kept conclusions, unsafe families."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from irmeta.phrases import count, listed
from irmeta.studies.framework.study import Tables
from irmeta.studies.papers.trust.conclusions import TOGETHER
from irmeta.studies.papers.trust.grades import SAFE, TAU, UNKNOWN, UNSAFE
from irmeta.studies.papers.trust.options import TrustOptions as Options

NAMED = 5
"""Measures named in a sentence."""
FEW = 3
"""Measures named where each has a number."""
SEPARATES = 0.5
"""Least share of the pairs that the most separating measure separates, for one to be named."""


def advice(tables: Tables, options: Options) -> Iterator[str]:
    """Yield the sentences on one track, from its tables."""
    grades, rows = tables["grades"], tables["trust"]
    if (grades["grade"] == UNKNOWN).all():
        yield f"No measure can be graded: {grades['why'][0]}."
        return
    named, sentence = _most_reliable(rows, grades)
    yield sentence
    yield _depths(rows, named)
    yield from _kept(tables["conditions"])
    yield _unsafe(grades)


def is_candidate() -> pl.Expr:
    """Check whether a measure reads grades and separates enough pairs of its track's systems."""
    most = pl.col("separated").max().over("track")
    return pl.col("reads_grades") & (most > 0) & (pl.col("separated") >= SEPARATES * most)


def _most_reliable(rows: pl.DataFrame, grades: pl.DataFrame) -> tuple[list[str], str]:
    """Return the measures with the best grades of those that separate, and a sentence on them."""
    candidates = rows.filter(is_candidate())
    if candidates.is_empty():
        return [], "No measure that reads grades separates a pair of systems significantly."
    top = candidates.sort("separated", descending=True, maintain_order=True).row(0, named=True)
    counts = (
        grades.filter(pl.col("measure").is_in(candidates["measure"].to_list()))
        .group_by("measure", maintain_order=True)
        .agg(*((pl.col("grade") == one).sum().alias(one) for one in (SAFE, UNSAFE)), n=pl.len())
        .sort(UNSAFE, pl.lit(-1) * pl.col(SAFE).cast(pl.Int64), maintain_order=True)
    )
    _, safe, unsafe, families = counts.row(0)
    best = counts.filter((pl.col(SAFE) == safe) & (pl.col(UNSAFE) == unsafe))["measure"].to_list()
    verb = "is" if len(best) == 1 else "are"
    return best, (
        f"Most reliable here {verb} {listed(best, NAMED)}: unsafe in {unsafe or 'none'} and safe "
        f"in {safe} of the {families} families. Considered: {count(candidates.height, 'measure')} "
        f"that read grades and separate at least {SEPARATES:.0%} as many pairs as "
        f"{top['measure']}, which separates {top['separated']:.1%}."
    )


def _depths(rows: pl.DataFrame, named: Sequence[str]) -> str:
    depths = rows.drop_nulls("least_k").select("measure", "least_k").rows()
    if not depths:
        return "No measure has a depth to choose: each has a cutoff, or compares single queries."
    depths.sort(key=lambda one: one[0] not in named)
    texts = [f"from rank {k:,} on by {measure}" for measure, k in depths[:FEW]]
    return (
        f"The order of systems has tau-b {TAU[0]:g} or more with that of full lists "
        f"{listed(texts)}."
    )


def _kept(conditions: pl.DataFrame) -> Iterator[str]:
    together = conditions.filter(condition=TOGETHER).select("measure", "conclusions", "kept")
    number = [
        f"{kept:,} of {total:,} by {measure}" for measure, total, kept in together.iter_rows()
    ]
    if number:
        yield (
            "Pairs of systems that differ significantly, and do so in the same direction under "
            f"every condition of the table of conclusions: {listed(number)}."
        )


def _unsafe(grades: pl.DataFrame) -> str:
    bad = grades.filter(grade=UNSAFE).group_by("family", maintain_order=True)
    texts = [
        f"{family} by {_numbered(own.select('measure', 'number').rows())}" for (family,), own in bad
    ]
    if not texts:
        return "No family of any measure is unsafe."
    return f"Unsafe, with the number that decides: {'; '.join(texts)}."


def _numbered(measures: Sequence[tuple[str, str]]) -> str:
    return listed([f"{measure} ({number})" for measure, number in measures], FEW)


def advice_over_tracks(tables: Tables, options: Options) -> Iterator[str]:
    """Yield the sentences on several tracks."""
    grades = tables["grades"].filter(pl.col("grade") != UNKNOWN)
    if grades.is_empty():
        yield "No measure can be graded on any track."
        return
    rows = tables["trust"].filter(is_candidate())
    free = (
        grades.join(rows, on=("track", "measure"), how="semi", maintain_order="left")
        .group_by("measure", "track", maintain_order=True)
        .agg(free=(pl.col("grade") != UNSAFE).all())
        .group_by("measure", maintain_order=True)
        .agg(pl.col("free").sum())
    )
    most, tracks = max(free["free"].to_list(), default=0), grades["track"].n_unique()
    best = free.filter(free=most)["measure"].to_list()
    yield (
        f"Without an unsafe family, and separating at least half as many pairs as the most "
        f"separating measure, on most tracks ({most} of {tracks}): {listed(best, NAMED)}."
        if most
        else "Every measure that separates enough pairs has an unsafe family on every track."
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
            f"from rank {most:,} on by {measure}"
            + ("" if least == most else f" ({least:,} on one of them)")
            for measure, least, most in depths.rows()
        ]
        yield (
            f"On every track, the order of systems has tau-b {TAU[0]:g} or more with that of full "
            f"lists {listed(texts)}."
        )
    shares = grades.group_by("family", maintain_order=True).agg(
        bad=(pl.col("grade") == UNSAFE).mean()
    )
    family, share = shares.sort("bad", descending=True, maintain_order=True).row(0)
    if share:
        yield f"The family with most unsafe grades is {family}: {share:.0%} of its grades."
