"""Output of evaluate, and of evaluate and compare about unjudged docs."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from irmeta.cli.display import Display
from irmeta.cli.notes import LEVEL
from irmeta.cli.tables import PAPER_DIGITS, Result, write_to_pipe
from irmeta.delimited import in_natural_order
from irmeta.errors import MeasureError, UsageError, did_you_mean
from irmeta.escapes import escape_text, print_line
from irmeta.measures.names import parse_measures
from irmeta.measures.trec_eval import SUMMARY_ONLY, line_of, trec_eval_name
from irmeta.report.table_grid import Grid, score_grid
from irmeta.results.scores import wide, without_zero_counts
from irmeta.trec.system_names import printed_names

if TYPE_CHECKING:
    from irmeta.measures.pools import UnjudgedDocs


def sort_key(name: str) -> str:
    """Return the canonical name of a measure; any other text, such as a column, as it is."""
    try:
        specs = parse_measures(name)
    except MeasureError:
        return name
    return specs[0].name if len(specs) == 1 else name


def sort_scores(
    frame: pl.DataFrame, name: str, directions: Mapping[str, int], means: pl.DataFrame | None
) -> pl.DataFrame:
    """Sort a frame of values by a column, or the systems of each track by a measure, best first.

    Parameters
    ----------
    frame
        Tidy values or means.
    name
        A column (numbers descending, text ascending) or the canonical name of a measure.
    directions
        1 (greater is better) or -1 for each measure.
    means
        Means of the measure; only for a measure.

    Raises
    ------
    UsageError
        If there is neither such a column nor such a measure.
    """
    if name in frame.columns:
        is_number = frame.schema[name].is_numeric()
        key = pl.col(name).fill_nan(None) if frame.schema[name].is_float() else pl.col(name)
        return frame.sort(key, descending=is_number, nulls_last=True, maintain_order=True)
    if name not in directions or means is None:
        hint = did_you_mean(name, [*frame.columns, *directions])
        raise UsageError(f"no column or measure {name!r} to sort by. {hint}")
    order = means.filter(pl.col("measure") == name).select(
        *(keys := [key for key in ("track", "qrels", "system") if key in frame.columns]),
        order=pl.col("value").fill_nan(None) * -directions[name],
    )
    joined = frame.join(order, on=keys, how="left", maintain_order="left")
    by_set = [pl.col(key).rank("dense") for key in keys[:-1]]
    return joined.sort(*by_set, "order", nulls_last=True, maintain_order=True).drop("order")


def print_trec_eval(
    per_query: pl.DataFrame | None, means: pl.DataFrame, digits: int | None = None
) -> None:
    """Print values as trec_eval does, by trec_eval's names of measures.

    Of several systems, the means of each follow a line with its name (`runid`).

    Parameters
    ----------
    per_query
        Values of one track; None: only means are printed.
    means
        Means of the track, after the values of the queries of each system.

    Raises
    ------
    UsageError
        If there are several tracks or qrels sets.
    """
    tracks = means["track"].unique().to_list()
    if len(tracks) > 1:
        some = ", ".join(sorted(tracks)[:5])
        raise UsageError(f"--format trec_eval is for one track: name it with --track ({some}).")
    if "qrels" in means.columns:
        raise UsageError("--format trec_eval is for one qrels set: name one with --qrels.")
    names = {name: trec_eval_name(name) for name in means["measure"].unique()}
    decimals = PAPER_DIGITS if digits is None else digits
    lines: list[str] = []
    frames = [] if per_query is None else [per_query]
    frames.append(means.with_columns(query=pl.lit("all")))
    systems = frames[0]["system"].unique(maintain_order=True)
    of_system = [
        {name: rows for (name,), rows in frame.group_by("system", maintain_order=True)}
        for frame in frames
    ]
    for system in systems:
        for groups in of_system:
            if groups is of_system[-1] and len(systems) > 1:
                lines.append(f"{'runid':<22}\tall\t{system}\n")
            rows = groups[system].select("measure", "query", "value")
            lines += (
                line_of(names[name], query, value, decimals)
                for name, query, value in rows.iter_rows()
                if query == "all" or names[name] not in SUMMARY_ONLY
            )
    write_to_pipe(escape_text("".join(lines), keep="\t\n"))


def print_scores(
    frame: pl.DataFrame,
    display: Display,
    directions: Mapping[str, int],
    made: Mapping[str, Any],
    notes: Sequence[str],
) -> None:
    """Print or write values; a printed table without counts of lists that are 0, unless verbose.

    Parameters
    ----------
    frame
        Tidy values or means, or the result of `wide`; for LaTeX and Markdown the latter.
    directions
        1 (greater is better) or -1 for each measure, by the names in the frame.
    made
        Provenance of the values.
    notes
        Notes on the runs, for JSON.
    """
    if display.form == "table" and not LEVEL.verbose:
        frame = without_zero_counts(frame)
    means = "Weighted means" if "query_weights_sha256" in made else "Means"
    subject = "Values of each query" if "query" in frame.columns else f"{means} over queries"
    tracks = list(made["tracks"])
    subject += f" of {tracks[0]}" if len(tracks) == 1 else ""

    def grid(digits: int, names_file: str | None) -> Grid:
        printed = printed_names(names_file, frame["system"])
        caption = f"{subject}."
        rows = in_natural_order(frame)
        return score_grid(rows, directions, caption=caption, digits=digits, system_names=printed)

    facts = {"notes": list(notes)}
    display.write(Result("evaluate", {"scores": frame}, f"{subject}.", made, facts, grid=grid))


def wide_with_counts(means: pl.DataFrame) -> pl.DataFrame:
    """Pivot means to one column per measure, and a last column `no_list`, the largest of them."""
    keys = [key for key in ("track", "qrels", "segment", "system") if key in means.columns]
    largest = means.group_by(keys).agg(pl.col("no_list").max())
    return wide(means).join(largest, on=keys, how="left", maintain_order="left")


WORST = 5  # systems named on a line


def print_unjudged(found: Iterable[UnjudgedDocs], at_least: float) -> None:
    """Print a line per track on stderr: systems with few judged docs, and undecided pairs."""
    for one in found:
        print_line(
            f"irmeta: {one.unjudged['track'][0]}: {_unjudged_text(one, at_least)}", sys.stderr
        )


def _unjudged_text(one: UnjudgedDocs, at_least: float) -> str:
    if one.only_relevant:
        return "only relevant docs are judged, so unjudged docs say nothing about the systems"
    systems = one.unjudged.drop_nans("judged_at_10").sort("judged_at_10", "system")
    few = systems.filter(pl.col("judged_at_10") < at_least).height
    worst = systems.select("system", "judged_at_10").head(WORST).rows()
    listed = ", ".join(f"{name} {value:.3f}" for name, value in worst)
    return (
        f"{few:,} of {one.unjudged.height:,} systems have a mean Judged@10 below {at_least:g}; "
        f"{one.undecided.height:,} of {one.pairs:,} pairs are undecided: their RBP(p=0.8) differs "
        f"by less than the RBPResidual(p=0.8) of the worse system; fewest judged (Judged@10): "
        f"{listed}"
    )
