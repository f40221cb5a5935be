"""The table `verdicts`, from the other tables of a track."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from irmeta.delimited import read_cells
from irmeta.errors import DataError, UsageError, did_you_mean
from irmeta.phrases import count, listed
from irmeta.studies.framework.study import Tables
from irmeta.studies.original.judges.judged_track import Judged, JudgedTrack, common_names
from irmeta.studies.original.judges.labelled_lists import circularity
from irmeta.studies.original.judges.study import JudgesOptions as Options

Row = dict[str, Any]
UNKNOWN = "cannot be said"
LEAST_TAU = 0.9
"""Tau-b with the full reference that an order of systems should have."""
OTHER_QUERIES = "0 shared queries: orders of other queries by another judge"
"""What is said of a judge in a table of values without a query of the reference."""
CATEGORIES = ("model", "prompt", "method", "repeat")
"""Categories by which means over judges are computed."""
MOST_LISTED = 10
"""Judges that a note names."""
MOST_NAMED = 3
"""Groups that are named, those of the least p first."""
LEAST_QUERIES = 5
"""Fewer common queries have no verdict. Chosen by us: halves of four have one degree of freedom."""
MOST_UNJUDGED = 0.4
"""A judge whose unjudged@10 exceeds the reference's by more has no verdict; chosen by us."""
LEAST_DOCS = 20
"""Fewer labels of a grade by the reference show no selection; chosen by us."""
MOST_APART = 0.1
"""Shares of the labels of two grades that differ by more are a selection; chosen by us."""


def verdicts(
    judged: Judged,
    facts: Mapping[str, Row],
    made: Mapping[str, Sequence[Row]],
    frames: Sequence[tuple[str, pl.DataFrame]],
) -> Iterator[Row]:
    """Yield the rows of the table `verdicts`, by the first measure and the first test.

    Parameters
    ----------
    facts
        By judge, its queries and labels, its category, and what limits a verdict.
    made
        Rows of tables of the track, by table.
    frames
        Parts of the other tables.
    """
    measure, test = judged.scores.measures[0].measure, judged.options.tests[0]
    for judge, of_judge in facts.items():
        key = {"judge": judge, "measure": measure}
        is_known = not (of_judge["limits"] or "").startswith(UNKNOWN)
        verdict = _verdict(key, test, made, frames) if is_known else NOTHING
        effect = circularity(made.get("adoption", ()) if is_known else (), judge, judged.reference)
        yield {**key, "test": test, **of_judge, **verdict, **effect}


def _verdict(
    key: Mapping[str, str],
    test: str,
    made: Mapping[str, Sequence[Row]],
    frames: Sequence[tuple[str, pl.DataFrame]],
) -> Row:
    """Return the verdict on a judge by the first measure and the first test."""
    conclusions = _row(made["conclusions"], **key, test=test)
    holm = _row(made["conclusions"], **key, test=f"{test.partition('+')[0]}+holm")
    noise = _row(made["query_noise"], **key)
    labelled = _frame(frames, "least_labelled", key)
    every = conclusions["kept"] + conclusions["lost"] + conclusions["reversed"]
    return {
        "pairs": every + conclusions["new"] + conclusions["neither"],
        "conclusions": every,
        **{name: conclusions[name] for name in ("survived", "survived_low", "survived_high")},
        "survived_holm": holm.get("survived"),
        "survived_halves": conclusions["survived_halves"],
        "reversed": conclusions["reversed"],
        "unconfirmed": conclusions["new"],
        "bias": bias_text(
            key["measure"], *(_frame(frames, name, key) for name in ("groups", "systems"))
        )
        if any(name == "groups" for name, _ in frames)
        else None,
        "to_label": (
            None
            if labelled.is_empty()
            else labelled.filter(pl.col("wanted") == LEAST_TAU)["mixture"][0]
        ),
        "orders_as": noise.get("orders_as"),
        "least_loss": noise.get("least_loss", np.nan),
        "tau_b": _row(made["leaderboards"], **key, docs="all").get("tau_b", np.nan),
    }


NOTHING: Row = {
    **dict.fromkeys(("survived", "least_loss", "tau_b"), np.nan),
    **dict.fromkeys(
        ("pairs", "conclusions", "survived_low", "survived_high", "survived_holm",
         "survived_halves", "reversed", "unconfirmed", "bias", "to_label", "orders_as")
    ),
}  # fmt: skip
"""The verdict on a judge of which nothing can be said."""


def label_facts(judged: JudgedTrack, judge: str) -> Row:
    """Return what a judge is compared on: its queries and labels, and what limits a verdict."""
    sides = judged.scores.measures[0].compared[judge]
    grades = shares_by_grade(judged, judge, sides.queries)
    sets = common_names(judge) if judged.options.common else (judged.reference, judge)
    of_reference, of_judge = (judged.scores.unjudged(name, sides.queries) for name in sets)
    return {
        "queries": len(sides.queries),
        "labels": judged.labels[judge].filter(pl.col("query").is_in(sides.queries)).height,
        "labelled": labelled_text(grades),
        "unjudged": of_judge,
        "unjudged_reference": of_reference,
        "limits": limits_text(len(sides.queries), grades, (of_reference, of_judge)),
    }


def shares_by_grade(judged: JudgedTrack, judge: str, queries: Sequence[str]) -> pl.DataFrame:
    """Count the reference's labels of some queries, and the share a judge labelled, by grade."""
    reference = judged.labels[judged.reference].filter(pl.col("query").is_in(queries))
    labelled = judged.labels[judge].select("query", "doc", is_labelled=True)
    both = reference.join(labelled, on=["query", "doc"], how="left")
    return (
        both.group_by("grade")
        .agg(docs=pl.len(), share=pl.col("is_labelled").fill_null(False).mean())
        .sort("grade")
    )


def limits_text(queries: int, grades: pl.DataFrame, unjudged: tuple[float, float]) -> str | None:
    """Describe why a judge has no verdict, or in what its agreement is an upper bound.

    `grades` are `shares_by_grade`; `unjudged` is unjudged@10 of the reference and of the judge.
    """
    if queries < LEAST_QUERIES:
        return f"{UNKNOWN}: only {count(queries, 'common query')}"
    of_reference, of_judge = unjudged
    if of_judge - of_reference > MOST_UNJUDGED:
        return f"{UNKNOWN}: {of_judge:.0%} of the first ten docs unjudged"
    known = grades.filter(pl.col("docs") >= LEAST_DOCS).sort("share")
    if known.height and known["share"][-1] - known["share"][0] > MOST_APART:
        return "an upper bound, if docs were selected by the reference's grade"
    return None


def labelled_text(grades: pl.DataFrame) -> str:
    """Describe the share of the reference's labels of each grade that a judge has."""
    shares = [f"{share:.0%}" for share in grades["share"]]
    if len(set(shares)) < 2:
        return "".join(shares[:1])
    pairs = zip(grades["grade"], shares, strict=True)
    return ", ".join(f"{grade:g}: {share}" for grade, share in pairs)


def _frame(
    frames: Sequence[tuple[str, pl.DataFrame]], table: str, key: Mapping[str, str]
) -> pl.DataFrame:
    """Return the rows of a judge and a measure; a frame without columns if there are none."""
    selected = (frame.filter(**key) for name, frame in frames if name == table)
    filled = [frame for frame in selected if frame.height]
    return pl.concat(filled) if filled else pl.DataFrame()


def bias_text(measure: str, groups: pl.DataFrame, systems: pl.DataFrame) -> str:
    """Describe the flagged groups and systems, or the contrasts that would have been found."""
    if groups.is_empty():
        return f"cannot be said: no permuted labels by {measure}"
    if groups["p"].is_nan().all() and systems["p"].is_nan().all():
        return f"cannot be said: permuted labels change no mean by {measure}"
    flagged = groups.filter("flagged").sort("p", -pl.col("z").abs(), "by", "group")
    parts = list[str]()
    if (every := flagged.filter(by="all")).height:
        parts.append(f"all systems {'raised' if every['contrast'][0] > 0 else 'lowered'}")
    for word, sign in (("for", 1), ("against", -1)):
        has_sign = pl.col("contrast") * sign > 0
        groups_flagged = flagged.filter(pl.col("by") != "all", has_sign)["group"].to_list()
        number = systems.filter("flagged", has_sign).height
        named = [listed(groups_flagged, MOST_NAMED)] if groups_flagged else []
        if named := named + [count(number, "system")] * (number > 0):
            parts.append(f"{word} {', '.join(named)}")
    if parts:
        return "; ".join(parts)
    low, high = (systems["detectable"].drop_nans().quantile(share) for share in (0.1, 0.9))
    return f"none; a contrast of {low:.3f} to {high:.3f} would be found"


def first_measure(tables: Tables, options: Options) -> str:
    """Return the measure of the verdicts; files of values may lack the first of the options."""
    rows = tables.get("verdicts")
    return options.measures[0] if rows is None or rows.is_empty() else str(rows["measure"][0])


def read_categories(
    path: str | None, judges: Sequence[str], note: Callable[[str], None]
) -> dict[str, dict[str, str]]:
    """Return the categories of judges in a CSV file, by judge; empty without a file.

    Notes the judges without a row, and rows of others, such as those of other tracks. Raises
    DataError for a column that is no category, or a judge named twice; UsageError if no judge of
    the file is studied.
    """
    if path is None:
        return {}
    rows = read_cells(Path(path), path, trim=True)
    fix = f"The columns are judge, and any of {', '.join(CATEGORIES)}."
    if "judge" not in rows.columns:
        raise DataError("no column judge", file=path, line=1, fix=fix)
    for column in rows.columns:
        if column not in ("judge", *CATEGORIES):
            raise DataError("not a category of judges", file=path, line=1, value=column, fix=fix)
    categories = dict[str, dict[str, str]]()
    for line, row in enumerate(rows.iter_rows(named=True), 2):
        judge = row.pop("judge")
        if judge is None or judge in categories:
            problem = "no name of a judge" if judge is None else "the judge has two rows"
            raise DataError(problem, file=path, line=line, value=judge or "")
        categories[judge] = {name: value for name, value in row.items() if value is not None}
    if not set(categories) & set(judges):
        hint = did_you_mean(next(iter(categories), ""), judges)
        raise UsageError(f"categories = {path!r} has no judge of this study. {hint}")
    for problem, absent in (
        ("has no row of", [judge for judge in judges if judge not in categories]),
        ("has rows of no judge of the track:", [j for j in categories if j not in judges]),
    ):
        if absent:
            note(f"{path} {problem} {listed(absent, MOST_LISTED)}")
    return {judge: categories[judge] for judge in judges if judge in categories}


def stored_categories(
    beside_runs: pl.DataFrame, judges: Sequence[str]
) -> dict[str, dict[str, str]]:
    """Return the categories in a track's ``judges.csv``, by judge; see `TrackView.judges`."""
    categories = dict[str, dict[str, str]]()
    for judge, column, value in beside_runs.select("name", "column", "value").iter_rows():
        if judge in judges and column in CATEGORIES:
            categories.setdefault(judge, {})[column] = value
    return categories


def category_text(categories: Mapping[str, str] | None) -> str | None:
    """Return the categories of a judge as text, such as "model gpt-4o, prompt 3"."""
    if not categories:
        return None
    return ", ".join(f"{name} {value}" for name, value in categories.items())


def category_means(
    categories: Mapping[str, Mapping[str, str]], boards: Sequence[Row]
) -> Iterator[tuple[str, list[Row]]]:
    """Yield the table `categories`: means over judges of rows of the table `leaderboards`."""
    groups = dict[tuple[str, str, str], list[Row]]()
    for row in boards:
        if row["docs"] == "all" and not np.isnan(row["tau_b"]):
            for name, value in categories.get(row["judge"], {}).items():
                groups.setdefault((row["measure"], name, value), []).append(row)
    means = ("tau_b", "tau_ap", "tau_gap", "spearman", "rmse", "tau_by_query")
    rows = [
        {
            "measure": measure,
            "category": name,
            "value": value,
            "judges": len(members),
            **{column: float(np.mean([row[column] for row in members])) for column in means},
            "tau_least": min(row["tau_b"] for row in members),
            "tau_greatest": max(row["tau_b"] for row in members),
        }
        for (measure, name, value), members in groups.items()
    ]
    if rows:
        yield "categories", rows


def _row(rows: Sequence[Row], **key: str) -> Row:
    """Return the row with these values, or an empty row."""
    matching = (row for row in rows if all(row[name] == value for name, value in key.items()))
    return next(matching, {})
