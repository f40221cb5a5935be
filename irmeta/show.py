"""What the command line prints, for people; frames go to a pipe as CSV."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
from rich.console import Console
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table

from irmeta.api import Reanalysis, Store
from irmeta.escapes import escape_name, escape_text, print_line
from irmeta.measures.catalog import SHARED, Description
from irmeta.measures.explain import Explanation
from irmeta.results.diff import Difference
from irmeta.results.tables import to_csv
from irmeta.store.ingest import Outcome

if TYPE_CHECKING:
    from irmeta.api.check import Checked
    from irmeta.api.significance import Comparison
    from irmeta.studies.framework.every import Done
    from irmeta.studies.framework.results import StudyResults

MOST_ROWS = 500  # of a frame on a terminal
MOST_TERMS = 40  # of an explanation, unless all are asked for


def print_frame(frame: pl.DataFrame, csv_safe: bool = False) -> None:
    """A table on a terminal, CSV with full precision in a pipe: see `to_csv`."""
    if not sys.stdout.isatty():
        try:
            sys.stdout.write(to_csv(frame, safe=csv_safe))
            sys.stdout.flush()
        except BrokenPipeError:  # the reader has seen enough, as `head` does
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return
    console = _console()
    _print_table(console, frame.head(MOST_ROWS))
    if frame.height > MOST_ROWS:
        left = frame.height - MOST_ROWS
        console.print(f"... and {left:,} rows more: use --out FILE, or a pipe.")


def _console() -> Console:
    """As wide as the terminal; in a pipe, wide enough for whatever is printed."""
    return Console() if sys.stdout.isatty() else Console(width=1000)


def _print_table(console: Console, frame: pl.DataFrame, fit: bool = False) -> None:
    """Each row on a line of its own; or, to `fit` a terminal, its long texts on several."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name, dtype in frame.schema.items():
        heading = escape(escape_name(name.replace("_", " ")))
        justify = "right" if dtype.is_numeric() else "left"
        table.add_column(heading, justify=justify, overflow="fold")
    for row in frame.iter_rows():
        table.add_row(*(escape(_cell(value)) for value in row))
    # Too wide for the terminal, lines wrap: better than numbers cut short.
    boundless = console.options.update(max_width=10_000)
    widest = Measurement.get(console, boundless, table).maximum
    console.width = console.width if fit else max(console.width, widest)
    console.print(table)


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.4f}" if value == 0 or not abs(value) < 5e-5 else f"{value:.1e}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return escape_name(str(value))


def print_outcomes(outcomes: Sequence[Outcome], store: Store) -> None:
    """One line a track, and where the store is."""
    kept = [outcome.track for outcome in outcomes if outcome.error is None]
    facts = {row["track"]: row for row in store.info(kept).iter_rows(named=True)} if kept else {}
    for outcome in outcomes:
        said = outcome.state
        if outcome.error is None:
            row = facts[outcome.track]
            said += f": {row['systems']} systems, {row['queries']} queries, {row['rows']:,} rows"
            if row["set_aside"]:
                said += f", {row['set_aside']} set aside"
        print_line(f"{escape_name(outcome.track)}: {said}")
    print_line(f"store: {store.path}")


def print_study(done: StudyResults) -> None:
    """Print what a study counted, and where everything is."""
    if "studied_tracks" in done.tables:
        tracks = done.tables["studied_tracks"]
        used = tracks.filter("used")
        print_line(
            f"tracks {used.height}, systems {used['systems'].sum():,}, "
            f"queries {used['queries'].sum():,}; tracks left out: {tracks.height - used.height}"
        )
    _print_left_out(done)
    _print_files(done)


def _print_left_out(done: StudyResults) -> None:
    if "studied_tracks" in done.tables:
        left_out = done.tables["studied_tracks"].filter(~pl.col("used"))
        for row in left_out.iter_rows(named=True):
            print_line(f"  {row['track']}: {row['left_out']}")


def _print_files(done: StudyResults) -> None:
    study = done.study
    places = [("report.html", "the page: open it in a browser")]
    joined = sum(not table.apart for table in study.by_table.values())
    places.append(("*.parquet", f"{joined} tables, each named on the page"))
    apart = [table for table in study.by_table.values() if table.apart]
    places += [(f"{table.name}/", f"{table.caption} One file a track.") for table in apart]
    if study.drawn:
        formats = ", ".join(name.upper() for name in study.formats)
        places.append(("figures/", f"every figure as {formats}"))
    if (done.folder / "latex").is_dir():
        places.append(("latex/", "the tables for a paper"))
    for name, holds in places:
        print_line(f"  {done.folder / name!s:<46} {holds}")


def print_studies(out: Path, done: Sequence[Done]) -> None:
    """Print where the page of each study is."""
    print_line(f"  {out / 'report.html'!s:<46} the index: open it in a browser")
    for one in done:
        if one.results is not None:
            print_line(f"  {one.results.report!s:<46} {one.study.title}")


def print_reanalysis(done: Reanalysis) -> None:
    """Print a short summary that says where everything is."""
    lost = {track for track, _ in done.batch.failed}
    lost |= {outcome.track for outcome in done.outcomes if outcome.error is not None}
    finished = [*done.batch.analysed, *done.batch.unchanged]
    if not finished:
        print_line("nothing was analysed")
        return
    from irmeta.studies.framework.words import count

    rows = done.store.info(finished)
    total = rows.select(pl.col("systems", "queries", "rows", "set_aside").sum()).row(0, named=True)
    print_line(
        f"{count(rows.height, 'track')}, {total['systems']:,} systems, "
        f"{total['queries']:,} queries, {total['rows']:,} rows; runs skipped: {total['set_aside']}"
        + (f"; tracks failed: {len(lost)} ({', '.join(sorted(lost)[:5])})" if lost else "")
    )
    _print_left_out(done.results)
    _print_files(done.results)
    print_line(f"  {done.store.path!s:<46} the store: irmeta info, evaluate and explain read it")


def print_info(store: Store) -> None:
    """Tracks, then what reading noticed of their systems."""
    console = _console()
    frame = store.info()
    if frame.is_empty():
        _line(console, f"{store.reader} holds no complete track.")
        _print_failures(console, store)
        return
    _print_table(console, frame.drop("notes"))
    systems = store.systems()
    missed = pl.col("missing_queries") + pl.col("unjudged_queries")
    noticed = systems.filter(
        pl.col("notes").is_not_null() | pl.col("set_aside").is_null() & (missed > 0)
    )
    said = pl.concat_str(
        _count("missing_queries", "judged queries without a list:"),
        _count("unjudged_queries", "lists for queries that no one judged:"),
        pl.col("notes"),
        separator="; ",
        ignore_nulls=True,
    )
    of_runs = noticed.select("track", "system", noticed=said)
    of_qrels = frame.drop_nulls("notes").select("track", system=pl.lit("-"), noticed="notes")
    if of_runs.height + of_qrels.height:
        console.print("\n[bold]What reading noticed[/bold]")
        _print_table(console, pl.concat([of_qrels, of_runs]))
    aside = systems.drop_nulls("set_aside")
    if aside.height:
        console.print("\n[bold]Set aside[/bold]")
        for track, reason in aside.select("track", "set_aside").iter_rows():
            _line(console, f"{track}: {reason}")
    _print_failures(console, store)


def _print_failures(console: Console, store: Store) -> None:
    if store.failures:
        console.print("\n[bold]Failed at the last ingest[/bold]")
        for error in store.failures.values():
            _line(console, error)


def _line(console: Console, text: str, style: str = "") -> None:
    """One line or several, as they are: ids may hold what rich would take for markup."""
    text = escape_text(text, keep="\n")
    console.print(text, style=style, markup=False, highlight=False, soft_wrap=True)


def _count(column: str, what: str) -> pl.Expr:
    return pl.when(pl.col(column) > 0).then(pl.format(what + " {}", column))


def print_explanation(explained: Explanation, every: bool) -> None:
    """The facts, the policies, the terms, and the sum."""
    console = _console()
    place = f"{explained.system} on query {explained.query} (track {explained.track})"
    _line(console, f"{explained.measure} of {place} = {explained.value:.6g}", "bold")
    _line(console, f"{explained.summary}\nsource: {explained.source}", "dim")
    for facts in (explained.facts, explained.policies):
        _line(console, "; ".join(f"{name}: {value}" for name, value in facts.items()))
    terms = explained.trace.terms
    shown = terms if every else terms[:MOST_TERMS]
    details = {row["doc"]: row for row in explained.docs.iter_rows(named=True)}
    table = Table(box=None, header_style="bold", pad_edge=False)
    by_subtopic = ("subtopics",) if "subtopics" in explained.docs.columns else ()
    for name in ("rank", "doc", "grade", *by_subtopic, "score", "tied", "arithmetic", "adds"):
        is_text = name in ("doc", "subtopics", "arithmetic")
        table.add_column(name, justify="left" if is_text else "right")
    for term in shown:
        found = details.get(term.doc, {"score": None, "tied": None})
        tied = found["tied"]
        table.add_row(
            "-" if term.rank is None else str(term.rank),
            escape(escape_name(term.doc)),
            str(term.grade) if term.doc in details else "-",
            *(escape(escape_text(found.get(name) or "")) for name in by_subtopic),
            "-" if found["score"] is None else f"{found['score']:g}",
            "" if tied in (None, 1) else f"with {tied - 1}",
            term.arithmetic,
            f"{term.amount:.6g}",
        )
    console.print()
    console.print(table)
    if rest := terms[len(shown) :]:
        amount = sum(t.amount for t in rest)
        _line(console, f"... {len(rest)} more add {amount:.6g}; --all shows them.")
    _print_sum(console, explained)


def _print_sum(console: Console, explained: Explanation) -> None:
    trace = explained.trace
    total = sum(t.amount for t in trace.terms)
    if trace.undefined is not None:
        said = f"nothing to divide by: defined as {trace.undefined:g}"
    elif trace.divisor == 1:
        said = f"sum = {total:.6g}"
    else:
        said = f"{total:.6g} / {trace.divisor:.6g} ({trace.divisor_is}) = {explained.value:.6g}"
    _line(console, said, "bold")


def print_measures(frame: pl.DataFrame) -> None:
    """The table of all measures, and on a terminal what their parameters have in common."""
    if not sys.stdout.isatty():
        print_frame(frame)
        return
    console = _console()
    _print_table(console, frame, fit=True)
    console.print(f"\n{SHARED}", markup=False, highlight=False)
    console.print("irmeta measures NAME says all there is to say of one.", highlight=False)


def print_description(asked: str, described: Description) -> None:
    """One page about a measure."""
    console = _console()
    _line(console, described.name, "bold")
    _line(console, described.summary)
    if described.asked not in ((), (asked,)):
        _line(console, f"\n{asked} stands for {', '.join(described.asked)}")
    _line(console, f"\n{described.definition}")
    _line(console, f"\nwrite {described.written}, such as {described.example}\n")
    _print_table(console, described.parameters, fit=True)
    console.print()
    table = Table(box=None, show_header=False, pad_edge=False)
    for fact, said in described.facts.items():
        table.add_row(escape(escape_text(fact)), escape(escape_text(said, keep="\n")))
    console.print(table)


def print_difference(difference: Difference, a: str, b: str) -> None:
    """How two files were made differently, then how their values differ, then the upshot."""
    console = _console()
    _line(console, f"A: {a}\nB: {b}")
    if difference.made.height:
        _line(console, "\nMade differently", "bold")
        _print_table(console, difference.made)
    else:
        _line(console, "\nBoth were made alike: irmeta, policies, measures and input.")
    exact = pl.col("greatest", "a", "b").map_elements("{:.10g}".format, pl.String)
    _line(console, "\nValues by measure", "bold")
    _print_table(console, difference.measures.with_columns(exact))
    both, lone_a, lone_b, different = (
        difference.measures.select("both", "only_a", "only_b", "different").sum().row(0)
    )
    _line(
        console,
        f"\n{different:,} of {both:,} values differ by more than {difference.tolerance:g}; "
        f"{lone_a:,} rows are in A alone, {lone_b:,} in B alone.",
        "bold",
    )


def print_checked(checked: Checked) -> None:
    """A line for each damaged file, then how many were read."""
    for file, problem in checked.problems.iter_rows():
        print_line(f"{file}: {problem}")
    damaged = checked.problems.height
    files = "1 file" if checked.files == 1 else f"{checked.files:,} files"
    print_line(f"{files} read, {damaged:,} not as irmeta wrote them")


def print_comparisons(found: Sequence[Comparison], csv_safe: bool = False) -> None:
    """The systems, best first; a star where none is told apart from it as better."""
    if not sys.stdout.isatty():
        print_frame(pl.concat(_labelled(comparison) for comparison in found), csv_safe)
    for comparison in found:
        pairs = comparison.pairs
        apart = int(pairs.separated(comparison.alpha)[pairs.upper].sum())
        possible = int(pairs.upper.sum())
        share = f" ({100 * apart / possible:.1f}%)" if possible else ""
        on = f" on {pairs.track}" if pairs.track else ""
        corrected = "" if pairs.correction == "none" else f", {pairs.correction}"
        said = (
            f"{pairs.measure}{on}, {pairs.test}{corrected}: {apart:,} of {possible:,} pairs{share} "
            f"told apart at {comparison.alpha:g}; "
            f"{'greater' if pairs.direction > 0 else 'less'} is better"
        )
        if sys.stdout.isatty():
            top = pl.when("top").then(pl.lit("*")).otherwise(pl.lit("")).alias("top")
            console = _console()
            _print_table(console, comparison.systems.with_columns(top))
            _line(console, f"{said}; * none is better by the test", "bold")
        else:
            print_line(said, sys.stderr)


def _labelled(comparison: Comparison) -> pl.DataFrame:
    pairs = comparison.pairs
    named = {"track": pairs.track, "measure": pairs.measure, "test": pairs.test}
    labels = [pl.lit(value).alias(name) for name, value in named.items()]
    return comparison.systems.select(*labels, pl.all())


def print_power(frame: pl.DataFrame, csv_safe: bool = False) -> None:
    """Pairs, separated, and the percentage for each level."""
    shown = frame.with_columns(percent=100 * pl.col("share")).drop("share")
    columns = [c for c in shown.columns if c not in ("percent", "median_p", "queries")]
    print_frame(shown.select(*columns, "percent", "median_p", "queries"), csv_safe)
