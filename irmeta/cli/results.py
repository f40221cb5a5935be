"""`irmeta diff`, `check`, `compare` and `power`: commands over existing results."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import typer

from irmeta._version import __version__
from irmeta.api.arguments import CompareOptions, PowerOptions
from irmeta.cli.app import (
    DAMAGED,
    DIFFERENT,
    FAILED,
    TRACKS,
    Drawn,
    MeasuresOfValues,
    Opening,
    PathArgument,
    QueryFiles,
    TracksOpening,
    UnjudgedDocs,
    progress_line,
)
from irmeta.cli.display import FolderDisplay, GateDisplay, ReportDisplay
from irmeta.cli.notes import error_line, note, note_duration
from irmeta.cli.registered import Given, command, with_options
from irmeta.cli.sources import READING, ResultsArgument, open_results, run_notes
from irmeta.errors import UsageError
from irmeta.locations import Location, NamedFile, is_stream, location, named_file
from irmeta.options import Options, option
from irmeta.policies import EvalPolicy, Missing, ReadPolicy
from irmeta.report import parse_formats

if TYPE_CHECKING:
    from irmeta.api import Store
    from irmeta.api.gates import Gate


@dataclass(frozen=True)
class Gating(Options):
    """Options of a gate: see `Comparisons.gate`."""

    max_drop: str | None = option(
        None,
        "Exit with status 1 if the mean of a system is worse than the baseline's by more than "
        "this, or than the amount of its measure: nDCG@10=.01,RR=.02.",
        parse="irmeta.api.gates:checked_drops",
        metavar="AMOUNT|MEASURE=AMOUNT,...",
    )
    lost: str = option(
        "0",
        "With --max-drop, number or share of the baseline's queries that a system may lack.",
        parse="irmeta.api.gates:checked_losses",
        metavar="N|P%",
    )
    non_inferior: bool = option(
        False,
        "With --max-drop, pass only if the one-sided lower limit of the difference at level "
        "1 - alpha is above the drop that is allowed.",
    )

    @property
    def rule(self) -> dict[str, Any]:
        """Keywords of the gate beside the drop."""
        return {"lost": self.lost, "non_inferior": self.non_inferior}

    def check_gate(self) -> None:
        """Raise `UsageError` for an option of a gate without one."""
        unused = [name for name, value in self.rule.items() if value not in ("0", False)]
        if self.max_drop is None and unused:
            flag = unused[0].replace("_", "-")
            raise UsageError(f"--{flag} belongs to a gate: give --max-drop too.")


def parse_pairs(pairs: Sequence[str]) -> dict[str, str] | None:
    """Parse pairs of systems written as OLD=NEW; the last = is that between them."""
    if not pairs:
        return None
    parsed = dict[str, str]()
    for text in pairs:
        old, _, new = text.rpartition("=")
        if not (old and new):
            raise UsageError(f"--pair {text!r} is not of the form OLD=NEW.")
        if old in parsed or new in parsed.values():
            raise UsageError(f"--pair {text!r} names a system that has a pair already.")
        parsed[old] = new
    return parsed


def first_system(source: Store | Location | list[NamedFile], named: Sequence[Path]) -> str:
    """Return the system of the first run, or of the first file of values, on the command line.

    A store, a table of several systems or an archive of runs has no single one: a `UsageError`.
    """
    systems = list[str]()
    if isinstance(source, list):
        from irmeta.results.matrix import first_systems
        from irmeta.stats.tables import is_measure

        systems = first_systems(source, is_measure)
    elif not isinstance(source, Location) and len(named) > 1 and not is_stream(location(named[1])):
        first = Path(named_file(str(named[1]))[1]).absolute().as_posix()
        files = source.systems().select("system", "file").iter_rows()
        held = {file: system for system, file in files if first.endswith(f"/{file}")}
        systems = [held[max(held, key=len)]] if held else []
    if len(systems) != 1:
        raise UsageError("--max-drop needs a baseline: name it by --baseline.")
    return systems[0]


def write_page(gate: Gate, path: Path, made: Mapping[str, Any], *, force: bool) -> None:
    """Write the page of a gate, which may replace a page that irmeta wrote."""
    from irmeta.files import check_ours, write_text

    check_ours(path, force=force)
    lines = {"irmeta": __version__, "source": json.dumps(made, sort_keys=True)}
    write_text(path, f"{gate.to_html(lines)}\n<!-- irmeta {__version__} -->\n")
    note(f"the page of the gate in {path}")


def finish_gate(gate: Gate) -> None:
    """Report why systems fail, a line each, and exit with status 1; or that all pass."""
    for reason in gate.rows.filter(~gate.rows["passed"])["reason"]:
        error_line(f"irmeta: failed: {reason}")
    if not gate.passed:
        raise typer.Exit(FAILED)
    for reason in gate.rows["reason"]:
        note(f"irmeta: passed: {reason}")


ROBUST = 2e-4
"""Measured seconds per ordered pair of systems of all conditions of --robust."""


@dataclass(frozen=True)
class DiffOptions(Options):
    """Options of `diff`."""

    tolerance: float = option(
        1e-9,
        "Largest difference that counts as equal.",
        least=0,
        metavar="<float range> [x>=0]",
    )
    pairs: tuple[str, ...] = option(
        (),
        "Compare the system OLD of A with the system NEW of B, and no others (repeatable).",
        flag="--pair",
        metavar="OLD=NEW",
    )
    worse_only: bool = option(False, "Count values that are better in B as equal.")
    missing: Missing = option(
        "error",
        "Rows of one file alone: differences, left out, or 0 in the other.",
        metavar=f"<{'|'.join(get_args(Missing))}>",
    )


@command(
    "irmeta diff before.parquet after.parquet --tolerance 1e-6",
    "irmeta diff before.parquet after.parquet --format json",
    "irmeta diff old.csv new.csv --pair bm25=bm25-v2 --tolerance 0.01 --worse-only",
)
@with_options(display=ReportDisplay, options=DiffOptions)
def diff(
    a: Annotated[
        Path, typer.Argument(metavar="A", help="First file of results.", show_default=False)
    ],
    b: Annotated[
        Path, typer.Argument(metavar="B", help="Second file of results.", show_default=False)
    ],
    display: ReportDisplay,
    options: DiffOptions,
) -> None:
    """Compare two result files: provenance and values. Exit with status 1 if values differ."""
    from irmeta.api.checks import diff as compared
    from irmeta.cli.explanations import print_difference

    asked: Any = {**vars(options), "pairs": parse_pairs(options.pairs)}
    difference = compared(a, b, **asked)
    print_difference(difference, str(location(a)), str(location(b)), display)
    if not difference.same:
        raise typer.Exit(DIFFERENT)


@dataclass(frozen=True)
class Citing(Options):
    """What `cite` prints."""

    date: str = option("", "When the results were computed, for the paragraph.")
    bibtex: bool = option(False, "Print the references alone.")


@command(
    "irmeta cite results/ --date '1 May 2026'",
    "irmeta cite results/ --bibtex",
)
@with_options(display=ReportDisplay, asked=Citing)
def cite(path: PathArgument, display: ReportDisplay, asked: Citing) -> None:
    """Describe how results were computed, with references in BibTeX."""
    from irmeta.api.cite import cite as compute
    from irmeta.cli.tables import Result, open_console, print_text, write_to_pipe

    if asked.bibtex and (asked.date or display.changed()):
        raise UsageError("--bibtex prints the references alone: omit other options.")
    cited = compute(path, date=asked.date)
    if asked.bibtex:
        write_to_pipe(cited.bibtex)
        return
    display.write(
        Result(
            "cite",
            {"references": cited.references},
            "References.",
            {"irmeta": __version__, "cite": {"date": asked.date}},
            {"text": cited.text, "bibtex": cited.bibtex},
            show=lambda digits: print_text(open_console(), str(cited).rstrip()),
        )
    )


@command(
    "irmeta check store/",
)
@with_options(display=ReportDisplay, opening=(Opening, ("workers",)))
def check(path: PathArgument, display: ReportDisplay, opening: Opening) -> None:
    """Verify the checksum of every file. Exit with status 1 if any file is damaged."""
    from irmeta.api.checks import check_files
    from irmeta.cli.batches import print_checked

    checked = check_files(path, workers=opening.workers)
    print_checked(checked, str(location(path)), display)
    if checked.problems.height:
        raise typer.Exit(DAMAGED)


@dataclass(frozen=True)
class ComparedValues(QueryFiles, UnjudgedDocs):
    """What `compare` compares, and what it prints or writes beside."""

    measures: tuple[str, ...] = option(
        (), "Measures to compare, e.g. AP (repeatable).", flag="-m --measures"
    )
    table: Literal["systems", "pairs"] = option(
        "systems",
        "Table: a row per system, or per tested pair of systems with its p-values.",
        metavar="<systems|pairs>",
    )
    differences_file: str | None = option(
        None,
        "Also write the differences of systems by query: a table (.csv, .parquet) or, of two "
        "systems by one measure, a figure (.svg, .pdf, .png).",
        flag="--differences",
        metavar="<path>",
    )

    @property
    def differences(self) -> Path | None:
        """The file of differences by query."""
        return None if self.differences_file is None else Path(self.differences_file)

    def check(self, options: CompareOptions, display: GateDisplay, *, is_gate: bool) -> None:
        """Raise `UsageError` for options that contradict each other."""
        if options.relative and (self.table == "pairs" or display.is_paper):
            conflicting = "--table pairs" if self.table == "pairs" else display.form
            raise UsageError(
                f"--relative adds columns to the table of systems: omit it or {conflicting}."
            )
        if options.robust and self.segment is not None:
            raise UsageError("--robust checks conclusions over all queries: omit --segment.")
        if self.query_weights is not None and (options.robust or options.relative):
            unweighted = "--robust" if options.robust else "--relative"
            raise UsageError(
                f"{unweighted} has no form for weights of queries: omit --query-weights."
            )
        if options.robust and (options.baseline or is_gate):
            conflicting = "--baseline" if options.baseline else "--max-drop"
            problem = f"{conflicting} compares with one system, and --robust tests all pairs"
            raise UsageError(f"{problem}: use one of them.")
        if self.differences_file is None:
            return
        if options.replicates is not None:
            raise UsageError("--differences has runs, and --replicates compares methods: omit one.")
        if len(options.baseline or ()) > 1:
            raise UsageError("--differences has one baseline: name one by --baseline.")


@command(
    "irmeta compare results/ -m AP --test hsd-randomised",
    "irmeta compare collection/ -m AP,nDCG@10 --track news --baseline aldBM25 --format latex",
    "irmeta compare qrels.txt run1.gz run2.gz -m AP --test permutation",
    "irmeta compare qrels.txt old.gz new.gz -m nDCG@10 --max-drop 0.01 --differences queries.svg",
    "irmeta compare qrels.txt old.gz new.gz --max-drop nDCG@10=.01,RR=.02 --out gate.html",
    "irmeta compare store/ -m AP --track news --robust",
    "irmeta compare my-table.csv --correction benjamini-hochberg",
)
@with_options(
    reading=READING,
    choices=EvalPolicy,
    options=CompareOptions,
    gating=Gating,
    display=GateDisplay,
    opening=TRACKS,
    drawn=Drawn,
    asked=ComparedValues,
)
def compare(
    results: ResultsArgument,
    options: Given,
    gating: Gating,
    choices: Given,
    reading: ReadPolicy,
    display: GateDisplay,
    opening: TracksOpening,
    drawn: Drawn,
    asked: ComparedValues,
) -> None:
    """Test all pairs of systems, or all systems against a baseline."""
    import irmeta.api.significance as significance
    from irmeta.api.differences import check_differences_file, differences, write_differences
    from irmeta.api.gates import UNJUDGED_AT, parsed_drops
    from irmeta.api.matrices import consistent_read, made_from, unjudged_of
    from irmeta.cli.comparison_tables import print_comparisons
    from irmeta.cli.score_tables import print_unjudged
    from irmeta.results.factors import QueryWeights

    at_least = asked.least_judged()
    max_drop = None if gating.max_drop is None else parsed_drops(gating.max_drop)
    chosen = CompareOptions.of(options)
    gating.check_gate()
    display.check_page(is_gate=max_drop is not None)
    measures = list(asked.measures) or None
    if measures is None and isinstance(max_drop, dict):
        measures = [*max_drop]
    read = list(measures or ())  # an empty list reads all of the runs
    read += [f"Judged@{UNJUDGED_AT}"] * (max_drop is not None and bool(read))
    if asked.differences is not None:
        check_differences_file(asked.differences, force=display.force)
    drawing: Any = {"titles": drawn.titles, "formats": parse_formats(drawn.formats)}
    out = display.folder_for(drawn.formats)
    asked.check(chosen, display, is_gate=max_drop is not None)
    weights = None if asked.query_weights is None else QueryWeights.of(Path(asked.query_weights))
    opened = open_results(
        results,
        reading,
        opening,
        choices=choices,
        measures=None if chosen.robust else read or None,  # conditions read all of the runs
        unjudged=asked.unjudged,
    )
    with opened as source:
        baselines = chosen.baseline or ()
        if max_drop is not None and not baselines:
            baselines = (first_system(source, results),)
        with consistent_read(source, opening.track) as tracks:
            if chosen.robust and not isinstance(source, Location | list):
                for name in tracks or ():
                    systems = len(source.track(name).systems)
                    faster = "fewer systems, or no --robust, take a fraction."
                    note_duration(name, systems, ROBUST * systems**2, faster)
            testing: dict[str, Any] = {**options, "baseline": baselines or None, **choices}
            with progress_line("Testing all pairs"):
                comparisons = significance.compare(
                    source,
                    measures,
                    segments=asked.segment,
                    query_weights=weights,
                    track=tracks,
                    workers=None if isinstance(source, Location | list) else opening.workers,
                    **testing,
                )
            notes = run_notes(source, tracks, choices)
            tested = [comparison.pairs for comparison in comparisons]
            measures_compared = list(dict.fromkeys(pairs.measure for pairs in tested))
            tracks_compared = list(dict.fromkeys(pairs.track for pairs in tested))
            source_record = made_from(
                source, measures or measures_compared, tracks_compared, **choices
            )
            unjudged_docs = (
                unjudged_of(source, tracks_compared, **choices) if asked.unjudged else []
            )
            if asked.differences is not None:
                by_query = differences(
                    source,
                    measures or measures_compared,
                    None,
                    baselines[0] if baselines else None,
                    tracks,
                    choices,
                    less_is_better=chosen.less_is_better,
                )
                write_differences(
                    by_query,
                    asked.differences,
                    source_record,
                    force=display.force,
                    titles=drawn.titles,
                )
                note(f"differences by query in {asked.differences}")
        record = significance.comparison_record(comparisons, source_record)
        gate = None
        if max_drop is not None:
            is_level = "alpha" in options and not gating.non_inferior
            gate = comparisons.gate(max_drop, significant=is_level, **gating.rule)
        print_comparisons(comparisons, record, display, gate, notes, asked.table)
        print_unjudged(unjudged_docs, at_least)
        if gate is not None and display.page is not None:
            write_page(gate, display.page, source_record, force=display.force)
        if out is not None:
            write = significance.write_comparisons
            for path in write(comparisons, out, source_record, force=display.force, **drawing):
                note(str(path))
    if gate is not None:
        finish_gate(gate)


@command(
    "irmeta power results/ --test t --test hsd --alpha 0.05",
    "irmeta power collection/ -m AP,nDCG@10 --track news",
)
@with_options(
    reading=READING,
    choices=EvalPolicy,
    options=PowerOptions,
    display=FolderDisplay,
    opening=TRACKS,
    drawn=Drawn,
    values=MeasuresOfValues,
)
def power(
    results: ResultsArgument,
    options: Given,
    choices: Given,
    reading: ReadPolicy,
    display: FolderDisplay,
    opening: TracksOpening,
    drawn: Drawn,
    values: MeasuresOfValues,
) -> None:
    """Count the significantly different pairs of systems by each measure."""
    import irmeta.api.significance as significance
    from irmeta.api.matrices import consistent_read, made_from
    from irmeta.cli.tables import Result

    drawing: Any = {"titles": drawn.titles, "formats": parse_formats(drawn.formats)}
    out, measures = display.folder_for(drawn.formats), list(values.measures) or None
    opened = open_results(results, reading, opening, choices=choices, measures=measures)
    with opened as source:
        with consistent_read(source, opening.track) as tracks:
            counted = significance.power(
                source,
                measures,
                track=tracks,
                workers=None if isinstance(source, Location | list) else opening.workers,
                **options,
                **choices,
            )
            shares = counted.counts
            measures_counted, compared = shares["measure"].unique(), shares["track"].unique()
            source_record = made_from(source, measures_counted, compared, **choices)
        asked = PowerOptions.of(options).record()
        display.write(
            Result(
                "power",
                {"power": shares},
                "Significantly different pairs of systems.",
                significance.power_record(source_record, asked),
            )
        )
        if out is not None:
            write, force = significance.write_power, display.force
            for path in write(counted, out, source_record, asked, force=force, **drawing):
                note(str(path))
