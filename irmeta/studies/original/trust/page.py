"""The page of the study: advice, sections and figures; paragraphs are in page.toml."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import polars as pl

from irmeta.phrases import agreeing, count, listed
from irmeta.report.charts.heat import graded_table, heat_map
from irmeta.studies.framework.sections import data_section
from irmeta.studies.framework.study import Figure, Section, Show, Tables, filled, read_notes
from irmeta.studies.original.trust.conclusions import TOGETHER
from irmeta.studies.original.trust.grades import (
    CRITERIA,
    FLIPS,
    GRADES,
    HALVES,
    SAFE,
    SWAPS,
    TAU,
    UNKNOWN,
    UNSAFE,
)
from irmeta.studies.original.trust.study import (
    GRADED_SHARE,
    HOME,
    LEAST_QUERIES,
    LEAST_SYSTEMS,
    POWER,
    RELIABILITY,
    TABLES,
)
from irmeta.studies.original.trust.study import TrustOptions as Options

NAMED = 5
"""Measures named in a sentence."""
FEW = 3
"""Measures named where each has a number."""
SEPARATES = 0.5
"""Least share of the pairs that the most separating measure separates, for one to be named."""
TEXTS = read_notes(HOME, "page.toml")
FAMILY_GRADES = Show(
    "grades", ("track", "measure", "family", "grade", "number"), pivot="family",
    name="trust_grades",
    caption="Grade of each family of criteria, and the number that decides it.",
)  # fmt: skip
_KEY = ("track", "measure")
CRITERIA_SHOWN = (
    Show("trust", (*_KEY, "queries", "separated", "separated_hsd", "detectable", "half_tau",
         "swaps", "e_rho2", "phi", "queries_needed", "queries_grade"), name="trust_queries",
         caption="Separation of systems, and dependence on the queries."),
    Show("trust", (*_KEY, "least_k", "depth_tau", "depth_grade", "tied_pairs", "tie_tau",
         "tie_pairs", "tie_movers", "end_flips", "ties_and_ends_grade"), name="trust_depth",
         caption="Depth of lists, ties, and ends of lists."),
    Show("trust", (*_KEY, "contributors", "left_out_tau", "left_out_named", "left_out_drop",
         "rank_change", "greatest_rank_change", "dropped_tau", "altered_tau",
         "other_qrels_tau", "other_qrels_named", "undecided", "judgments_grade"),
         name="trust_judgments", caption="Dependence on the judgments."),
)  # fmt: skip


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
        .agg(
            *((pl.col("grade") == grade).sum().alias(grade) for grade in (SAFE, UNSAFE)), n=pl.len()
        )
        .sort(UNSAFE, pl.lit(-1) * pl.col(SAFE).cast(pl.Int64), maintain_order=True)
    )
    _, safe, unsafe, families = counts.row(0)
    best = counts.filter((pl.col(SAFE) == safe) & (pl.col(UNSAFE) == unsafe))["measure"].to_list()
    return best, (
        f"Most reliable here {agreeing(len(best), 'is', 'are')} {listed(best, NAMED)}: unsafe in "
        f"{unsafe or 'none'} and safe in {safe} of the {families} families. Considered: "
        f"{count(candidates.height, 'measure')} that read grades and separate at least "
        f"{SEPARATES:.0%} as many pairs as {top['measure']}, which separates "
        f"{top['separated']:.1%}."
    )


def _depths(rows: pl.DataFrame, named: Sequence[str]) -> str:
    depths = rows.drop_nulls("least_k").select("measure", "least_k").rows()
    if not depths:
        return "No measure has a depth to choose: each has a cutoff, or compares single queries."
    depths.sort(key=lambda depth: depth[0] not in named)
    texts = [f"from rank {k:,} on by {measure}" for measure, k in depths[:FEW]]
    return (
        f"The order of systems has tau-b {TAU[0]:g} or more with that of full lists "
        f"{listed(texts)}."
    )


def _kept(conditions: pl.DataFrame) -> Iterator[str]:
    together = conditions.filter(condition=TOGETHER).select("measure", "conclusions", "kept")
    number = [
        f"{number_kept:,} of {total:,} by {measure}"
        for measure, total, number_kept in together.iter_rows()
    ]
    if number:
        yield (
            "Pairs of systems that differ significantly, and do so in the same direction under "
            f"every condition of the table of conclusions: {listed(number)}."
        )


def _unsafe(grades: pl.DataFrame) -> str:
    bad = grades.filter(grade=UNSAFE).group_by("family", maintain_order=True)
    texts = list[str]()
    for (family,), rows in bad:
        numbered = pl.format("{} ({})", "measure", "number")
        texts.append(f"{family} by {listed(rows.select(numbered).to_series().to_list(), FEW)}")
    if not texts:
        return "No family of any measure is unsafe."
    return f"Unsafe, with the number that decides: {'; '.join(texts)}."


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


def sections(tables: Tables, options: Options) -> Iterator[Section]:
    """Yield the sections over tracks."""
    used = tables["studied_tracks"]["used"]
    if used.sum() > 1:
        yield Section(
            "Which measures can be trusted",
            "The section of each track shows every criterion.",
            ["safe"],
            below=list(advice_over_tracks(tables, options)),
            is_first=True,
        )
    yield data_section(tables, options)
    if not used.any():
        return
    texts = filled(
        TEXTS,
        halves=HALVES,
        swaps=SWAPS,
        flips=FLIPS,
        tau=TAU,
        graded_share=GRADED_SHARE,
        systems=count(LEAST_SYSTEMS, "system"),
        queries=count(LEAST_QUERIES, "query", "queries"),
        power=POWER,
        alpha=options.alpha,
        reliability=RELIABILITY,
    )
    yield Section("Grades", texts["grades"], [FAMILY_GRADES])
    yield Section("Criteria", texts["criteria"], CRITERIA_SHOWN)
    yield Section("Conclusions", texts["conclusions"])
    yield Section("Judgments", texts["judgments"])
    yield Section("Other measures", texts["other_measures"])
    yield Section("Over tracks", texts["over_tracks"])
    yield Section("Sources", texts["sources"])


def track_section(tables: Tables, options: Options, track: str) -> Section:
    """Return the section of one track: every criterion, sentences from them, grades by measure."""
    facts = tables["studied_tracks"].row(0, named=True)
    return Section(
        track,
        [],
        [
            "criteria_wide",
            Show("grades", ("measure", "family", "grade", "number"), pivot="family", name="grades",
                 page_only=True),
        ],
        below=list(advice(tables, options)) if facts["used"] else [],
        is_first=True,
    )  # fmt: skip


CELLS = ("track", "grade", "column", "group", "row", "text", "name")
"""Columns of the cells of a heat table: measures in `row` are printed as in papers."""


def _grades_by_family(tables: Tables, options: Options) -> pl.DataFrame:
    return tables["grades"].select(
        "track",
        "grade",
        column="family",
        group=pl.lit("families"),
        row="measure",
        text="number",
        name=pl.format("{}, {}: {}, {}", "measure", "family", "grade", "why"),
    )


def _draw(rows: pl.DataFrame, options: Options, is_wide: bool = False) -> Any:
    return graded_table(
        rows,
        GRADES,
        title=f"Reliability on {rows['track'][0]}",
        subtitle="numbers, shaded by their grades",
        is_wide=is_wide,
    )


def _criteria_cells(tables: Tables, options: Options) -> pl.DataFrame:
    columns = next(table.columns for table in TABLES if table.name == "trust")
    rows = list[dict[str, str]]()
    for row in tables["trust"].iter_rows(named=True):
        for criterion in CRITERIA:
            value, label = row[criterion.column], columns[criterion.column].label
            grade = criterion.grade(value)
            text = "\u2014" if grade == UNKNOWN else criterion.short.format(value)
            rows.append(
                {
                    "track": row["track"],
                    "grade": grade,
                    "column": label,
                    "group": criterion.family.replace("_", " "),
                    "row": row["measure"],
                    "text": text,
                    "name": f"{row['measure']}, {label}: {grade}, {text}",
                }
            )
    return pl.DataFrame(rows, dict.fromkeys(CELLS, pl.String))


def _safe(tables: Tables, options: Options) -> pl.DataFrame:
    """Return the shares of tracks on which each measure is safe, where there are several."""
    rows = tables["safe_measures"]
    if tables["trust"]["track"].n_unique() < 2:
        rows = rows.clear()
    safe = (pl.col("safe").fill_nan(0) * pl.col("tracks")).round().cast(pl.Int64)
    words = pl.format("{} of {}", safe, "tracks")
    return rows.select(
        across=pl.col("family"),
        down="measure",
        value="safe",
        text=pl.when(pl.col("tracks") > 0).then(words),
        name=pl.format("{}, {}", "measure", "family"),
    )


def _draw_safe(rows: pl.DataFrame, options: Options) -> Any:
    return heat_map(
        rows,
        title="Tracks on which each measure is safe",
        subtitle="of the tracks where the family has a grade; a dash: none",
    )


_EVERY = "Every criterion on {track}: its value and grade."
_READING = (
    "Rows are measures, columns criteria, by their families: queries, depth, judgments, ties and "
    "ends. The darker a cell, the less reliable. A dash: cannot be said."
)


FIGURES = (
    Figure("criteria_wide", _criteria_cells, partial(_draw, is_wide=True), _EVERY, _READING,
           by="track"),
    Figure("criteria", _criteria_cells, _draw, _EVERY, _READING, by="track"),
    Figure("families", _grades_by_family, _draw,
           "Reliability of measures on {track}: grade, and the number that decides it.",
           "Rows are measures, columns families of criteria. The darker a cell, the less reliable; "
           "its number is that of the criterion with the worst grade. A dash: nothing can be said.",
           by="track"),
    Figure("safe", _safe, _draw_safe,
           "Number of tracks on which each measure is safe by all criteria of a family.",
           "The darker a cell, the more tracks."),
)  # fmt: skip
