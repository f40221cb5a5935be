"""Output of ingest, reanalyze, info, check and studies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
from rich.console import Console

from irmeta._version import __version__
from irmeta.cli.display import Display, ValidationDisplay
from irmeta.cli.notes import in_options, note
from irmeta.cli.tables import (
    Result,
    counted,
    open_console,
    print_parts,
    print_text,
    with_system_names,
)
from irmeta.errors import check_choice
from irmeta.escapes import escape_name, print_line
from irmeta.measures.evaluate import how_made
from irmeta.phrases import count
from irmeta.report.table_grid import Grid
from irmeta.studies.framework.claim_matrix import CLAIM_BOUNDS, CLAIM_FACTS
from irmeta.studies.framework.claim_print import (
    claims_for_print,
    in_notations,
    matrix_for_print,
    papers_of,
)
from irmeta.studies.framework.registry import find
from irmeta.studies.framework.study import FAILS, HOLDS, OPEN, UNDECIDED
from irmeta.studies.framework.study_results import sources_in_words
from irmeta.summaries import print_table

if TYPE_CHECKING:
    from irmeta.api import Reanalysis, Store
    from irmeta.api.checks import Checked
    from irmeta.api.validate import Validation
    from irmeta.cli.studies import ClaimsOptions
    from irmeta.store.ingest import Outcome
    from irmeta.studies.framework.claim_matrix import ClaimMatrix
    from irmeta.studies.framework.run_all import Done
    from irmeta.studies.framework.study import Study
    from irmeta.studies.framework.study_results import StudyResults


def print_outcomes(outcomes: Sequence[Outcome], store: Store) -> None:
    """Print one line per track, and the path of the store."""
    complete = [outcome.track for outcome in outcomes if outcome.error is None]
    facts = (
        {row["track"]: row for row in store.info(complete).iter_rows(named=True)}
        if complete
        else {}
    )
    for outcome in outcomes:
        line = outcome.state
        if outcome.error is None:
            row = facts[outcome.track]
            line += f": {row['systems']} systems, {row['queries']} queries, {row['rows']:,} rows"
            if row["skipped_runs"]:
                line += f", {row['skipped_runs']} skipped"
        print_line(f"{escape_name(outcome.track)}: {in_options(line)}")
    print_line(f"store: {store.reader}")


def print_study_list(studies: Sequence[Study], display: Display) -> None:
    """Print or write the name, the input, the results and the paper of each study."""
    attributes = {"study": "name", "input": "inputs", "results": "gives", "paper": "paper"}
    rows = [
        {key: getattr(listed, name) or None for key, name in attributes.items()}
        for listed in studies
    ]
    frame = pl.DataFrame(rows, dict.fromkeys(attributes, pl.String))

    def show(digits: int) -> None:
        console = open_console()
        print_table(console, frame.drop("input"), fit=True)
        print_text(console, "\nirmeta study all runs every study.")
        print_text(console, "irmeta study claims reports which claims of the papers hold.")
        print_text(console, "irmeta study NAME --help shows the options of a study.")

    provenance = {"irmeta": __version__}
    display.write(Result("study", {"studies": frame}, "Studies.", provenance, show=show))


def print_study(done: StudyResults) -> None:
    """Print the counts of a study, and the paths of its files."""
    for line in done.lines():
        print_line(in_options(line))
    _print_files(done)


def _print_files(done: StudyResults) -> None:
    study = done.study
    files = [("report.html", "the page: open it in a browser")]
    files.append(("*.parquet", f"{len(done.tables)} tables, each named on the page"))
    apart = [table for table in study.by_table.values() if table.apart]
    files += [(f"{table.name}/", f"{table.caption} One file per track.") for table in apart]
    if (done.folder / "figures").is_dir():
        images = " and ".join(name.upper() for name in done.formats if name != "pdf")
        files.append(("figures/", f"every figure as {images}"))
    if (done.folder / "latex").is_dir():
        pdf = " and the figures as PDF," if "pdf" in done.formats else ""
        files.append(("latex/", f"the tables{pdf} for a paper"))
    for name, holds in files:
        print_line(f"  {done.folder / name!s:<46} {holds}")


def print_studies(out: Path, done: Sequence[Done]) -> None:
    """Print the path of each study's page."""
    print_line(f"  {out / 'index.html'!s:<46} the index: open it in a browser")
    for outcome in done:
        if outcome.results is not None:
            print_line(f"  {outcome.results.report!s:<46} {outcome.study.title}")
        if outcome.left_out:
            note(f"irmeta: {outcome.study.name} left out: {outcome.left_out}")


def print_reanalysis(done: Reanalysis) -> None:
    """Print a short summary, and the paths of the results."""
    lost = {track for track, _ in done.batch.failed}
    lost |= {outcome.track for outcome in done.outcomes if outcome.error is not None}
    finished = [*done.batch.analysed, *done.batch.unchanged]
    if not finished:
        print_line("nothing was analysed")
        return
    rows = done.store.info(finished)
    total = rows.select(pl.col("systems", "queries", "rows", "skipped_runs").sum()).row(
        0, named=True
    )
    print_line(
        f"{count(rows.height, 'track')}, {total['systems']:,} systems, "
        f"{total['queries']:,} queries, {total['rows']:,} rows; "
        f"runs skipped: {total['skipped_runs']}"
        + (f"; tracks failed: {len(lost)} ({', '.join(sorted(lost)[:5])})" if lost else "")
    )
    for line in done.results.lines()[1:]:
        print_line(in_options(line))
    _print_files(done.results)
    print_line(f"  {done.store.reader!s:<46} the store: irmeta info, evaluate and explain read it")
    print_line("irmeta study trust says which measures, depths and differences can be trusted.")


def print_info(store: Store, display: Display, notes: Sequence[str]) -> None:
    """Print or write the tracks and systems; as text and JSON with notes on reading."""
    frame = store.info()
    tables = {"tracks": frame, "systems": store.systems() if frame.height else pl.DataFrame()}
    tables["qrels"] = store.qrels_sets() if frame.height else pl.DataFrame()
    queries = store.queries().collect() if frame.height else pl.DataFrame()
    factors = store.factors().collect() if frame.height else pl.DataFrame()
    beside = {"queries": queries, "factors": factors}
    tables |= {name: rows for name, rows in beside.items() if rows.height}
    policy = store.policy_with({})
    is_table = display.form == "table"
    provenance = {} if is_table else how_made(list(store.each(None, policy)), [], policy)
    facts: dict[str, object] = {"failed": store.failures, "notes": list(notes)}
    display.write(
        Result("info", tables, "Tracks.", provenance, facts, show=partial(_show_info, store))
    )


def _show_info(store: Store, digits: int) -> None:
    console = open_console()
    frame = store.info()
    if frame.is_empty():
        print_text(console, f"{store.reader} holds no complete track.")
        _print_failures(console, store)
        return
    print_table(console, frame.drop("notes"))
    console.print("\n[bold]Judgments[/bold]")
    print_table(console, store.qrels_sets())
    factors = store.factors().collect().with_columns(pl.col("kind").cast(pl.String))
    described = {"queries": store.queries().collect()}
    described |= {f"{kind}s": factors.filter(kind=kind) for kind in ("system", "judge")}
    for things, rows in described.items():
        if rows.height:
            console.print(f"\n[bold]Columns of {things}[/bold]")
            print_table(console, _columns_beside(rows, things))
    systems = store.systems()
    missed = pl.col("missing_queries") + pl.col("unjudged_queries")
    noticed = systems.filter(
        pl.col("notes").is_not_null() | pl.col("skip_reason").is_null() & (missed > 0)
    )
    notes = pl.concat_str(
        counted("missing_queries", "judged queries without a list:"),
        counted("unjudged_queries", "lists for unjudged queries:"),
        pl.col("notes"),
        separator="; ",
        ignore_nulls=True,
    )
    of_runs = noticed.select("track", "system", noticed=notes)
    of_qrels = frame.drop_nulls("notes").select("track", system=pl.lit("-"), noticed="notes")
    if of_runs.height + of_qrels.height:
        console.print("\n[bold]Notes of reading[/bold]")
        print_table(console, _joined_notes(pl.concat([of_qrels, of_runs])))
    skipped = systems.drop_nulls("skip_reason")
    if skipped.height:
        console.print("\n[bold]Skipped runs[/bold]")
        for track, reason in skipped.select("track", "skip_reason").iter_rows():
            print_text(console, f"{track}: {reason}")
    _print_failures(console, store)


MOST_VALUES = 5
"""Number of values of a column of queries, systems or judges that are printed."""


def _columns_beside(rows: pl.DataFrame, things: str) -> pl.DataFrame:
    """Return for each column of a file how many queries, say, and values it has, and which."""
    keys = ["track", "column"]
    counts = rows.with_columns(pl.col(keys).cast(pl.String)).group_by(*keys, "value").len()
    counts = counts.sort(*keys, "len", "value", descending=[False, False, True, False])
    values = pl.format("{} ({})", "value", "len").head(MOST_VALUES).str.join(", ")
    more = pl.when(pl.len() > MOST_VALUES).then(pl.lit(", ...")).otherwise(pl.lit(""))
    by_column = counts.group_by(keys, maintain_order=True)
    return by_column.agg(
        pl.col("len").sum().alias(things),
        pl.len().alias("segments" if things == "queries" else "values"),
        largest=pl.concat_str(values, more.first()),
    )


def _joined_notes(notes: pl.DataFrame) -> pl.DataFrame:
    """Return one row for equal notes on several systems of a track, with their number."""
    first, number = pl.col("system").first(), pl.len()
    several = pl.format("{} and {} more", first, number - 1)
    return (
        notes.group_by("track", "noticed", maintain_order=True)
        .agg(system=pl.when(number > 1).then(several).otherwise(first))
        .select("track", "system", "noticed")
    )


def _print_failures(console: Console, store: Store) -> None:
    if store.failures:
        console.print("\n[bold]Failed at the last ingest[/bold]")
        for error in store.failures.values():
            print_text(console, error)


def print_checked(checked: Checked, path: str, display: Display) -> None:
    """Print or write the damaged files; as text also the number of files read."""

    def show(digits: int) -> None:
        for file, problem in checked.problems.iter_rows():
            print_line(f"{file}: {problem}")
        damaged = checked.problems.height
        print_line(f"{count(checked.files, 'file')} read, {damaged:,} damaged")

    provenance = {"irmeta": __version__, "check": {"path": path}}
    tables = {"problems": checked.problems}
    display.write(
        Result("check", tables, "Damaged files.", provenance, {"files": checked.files}, show=show)
    )


def print_validation(validation: Validation, display: ValidationDisplay) -> None:
    """Print runs and findings, write the findings to a file, or a text per run to a folder."""
    from irmeta.api.validate import finding_line

    runs, findings = validation.runs, validation.findings

    def show(digits: int) -> None:
        print_parts(validation.parts())
        for row in findings.iter_rows(named=True):
            print_line(f"{row['run']}: {row['kind']}: {finding_line(row)}")
        invalid = runs.filter(~pl.col("valid")).height
        print_line(f"{count(runs.height, 'run')}, {invalid:,} not valid")

    provenance = {"irmeta": __version__, "validate": validation.rules}
    tables = {"findings": findings, "runs": runs}
    display.write(Result("validate", tables, "Errors of runs, and notes.", provenance, show=show))
    if display.folder is not None:
        files = validation.write(display.folder, force=display.force)
        note(f"{count(len(files), 'text')} in {display.folder}")


def claims_result(matrix: ClaimMatrix, asked: ClaimsOptions) -> Result:
    """Return a table of claims as the result of a command."""
    tables = {
        "claims": matrix.rows if asked.per_track else matrix.over(),
        "facts": matrix.facts(),
        "bounds": matrix.bounds(),
    }
    rows = tables[asked.table]
    if asked.claim is not None:
        check_choice("claim", asked.claim, matrix.rows["id"].unique(maintain_order=True).to_list())
        rows = rows.filter(id=asked.claim)
    differing = matrix.provenance.get("differences", [])
    options = {**matrix.provenance["study claims"], **asked.record()}
    record = {**matrix.provenance, "study claims": options}
    sources = f"irmeta {__version__}; {sources_in_words(record['studies'])}"
    if asked.table != "claims":
        table = CLAIM_FACTS if asked.table == "facts" else CLAIM_BOUNDS
        caption = " ".join([table.caption, *differing])
        return Result("study claims", {asked.table: rows}, caption, record, comment=sources)
    caption = " ".join(["Claims of the papers and their verdicts.", *differing])
    claimed = matrix.rows if asked.claim is None else matrix.rows.filter(id=asked.claim)
    for_print = partial(_for_print, matrix, claimed, asked.per_track, differing)
    return Result(
        *("study claims", {"claims": rows, "tracks": matrix.tracks}, caption, record),
        show=partial(print_claims, rows),
        grid=for_print,
        comment=sources,
    )


def claims_chart(matrix: ClaimMatrix, asked: ClaimsOptions) -> Any:
    """Return a figure of claims."""
    if asked.table == "claims":
        return matrix.figure()
    claim = asked.claim or ""
    return matrix.scatter(claim, asked.fact or "") if asked.fact else matrix.sweep(claim)


def print_claims(rows: pl.DataFrame, digits: int) -> None:
    """Print the claims of each study with their numbers, which are text, and verdicts."""
    console = open_console()
    for (name,), of_study in rows.group_by("study", maintain_order=True):
        study = find(str(name))
        print_text(console, f"{study.title}: {study.paper}".removesuffix(": "), "bold")
        columns = ["claim", "track", "shown", "condition", "verdict", "printed"]
        if of_study["track"].null_count() == of_study.height:
            columns.remove("track")
        headings = {"shown": "here", "condition": "holds for", "printed": "the paper"}
        print_table(console, of_study.select(pl.col(n).alias(headings.get(n, n)) for n in columns))
    over = rows.filter(pl.col("track").is_null(), kind="paper")
    counts = (f"{v}: {over.filter(verdict=v).height}" for v in (HOLDS, FAILS, UNDECIDED, OPEN))
    note(
        f"irmeta: {count(over.height, 'claim')} of papers: {', '.join(counts)}; "
        "--format csv has the claims in words, and why"
    )


def _for_print(
    matrix: ClaimMatrix,
    rows: pl.DataFrame,
    per_track: bool,
    differing: Sequence[str],
    digits: int,
    system_names: str | None,
) -> list[Grid]:
    """Return the claims over tracks, or the matrix, as tables for a paper."""
    if per_track:
        tracks = matrix.tracks["track"].to_list()
        grids = [*matrix_for_print(rows, tracks, matrix.in_order_of)]
    else:
        papers = papers_of(rows["study"].unique(maintain_order=True))
        rows, legend = in_notations(rows)
        grids = [claims_for_print(rows, papers, legend)]
    grids = [replace(grid, caption=" ".join([grid.caption, *differing])) for grid in grids]
    return (
        grids if system_names is None else [with_system_names(grid, system_names) for grid in grids]
    )
