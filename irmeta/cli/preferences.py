"""`irmeta prefer` and `preferences`: leaderboards by preference, and the list of preferences."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from irmeta.cli.app import StrictOption, TracksOption, WorkersOption, loop_bar
from irmeta.cli.declared import Given, with_options
from irmeta.cli.registered import command
from irmeta.cli.significance_options import PreferenceTesting
from irmeta.cli.sources import READING, SourceArgument, open_source
from irmeta.policies import EvalPolicy, ReadPolicy
from irmeta.show.display import Display
from irmeta.show.notes import note, note_duration

TESTED, COMPARED_ONCE = 1e-9, 1e-5
"""Measured seconds per ordered pair of systems: HSD test by query and resample, and all else."""
COMPARED = (
    EvalPolicy,
    ("qrels", "negative", "tie_order", "pool_order", "pool_depth", "pool_without", "rel"),
)


@command(
    "irmeta prefer store/ --track news",
    "irmeta prefer collection/ -m RPP@100 --baseline aldBM25 --track news",
)
@with_options(reading=READING, choices=COMPARED, testing=PreferenceTesting, display=Display)
def prefer(
    source: SourceArgument,
    testing: PreferenceTesting,
    choices: Given,
    reading: ReadPolicy,
    display: Display,
    measures: Annotated[
        list[str] | None,
        typer.Option(
            "-m",
            "--measures",
            help="Preferences, e.g. RPP(p=dcg)@100 (repeatable); `irmeta preferences` lists them.",
            show_default="RPP",
        ),
    ] = None,
    by: Annotated[str, typer.Option(help="Rule of the order: win-rate, borda, mc4.")] = "win-rate",
    majority: Annotated[
        str,
        typer.Option(
            help="Queries that mc4 needs to rank a system above another: more than half of all "
            "(queries), or more than rank it below (decided)."
        ),
    ] = "queries",
    baseline: Annotated[
        str | None,
        typer.Option(help="Compare every other system with this one alone.", show_default=False),
    ] = None,
    opponents: Annotated[
        str,
        typer.Option(
            help="Equal weights of opponents: for all systems, or for all groups of systems."
        ),
    ] = "systems",
    segment: Annotated[
        Path | None,
        typer.Option(
            help="CSV or TSV of queries and their segments (columns query, segment): compare the "
            "systems by segment too.",
            show_default=False,
        ),
    ] = None,
    on: Annotated[
        str, typer.Option(help="Values to test: preferences of pairs, or their win rates.")
    ] = "preference",
    track: TracksOption = None,
    rank_resamples: Annotated[
        int, typer.Option(min=1, help="Resamples of the queries, for rank sets.")
    ] = 1000,
    workers: WorkersOption = None,
    strict: StrictOption = None,
) -> None:
    """Order systems by preferences between all pairs, with rank sets and tests."""
    from irmeta.api.matrices import consistent_read
    from irmeta.api.prefer import prefer as compute
    from irmeta.preferences.registry import parse_preferences
    from irmeta.results.segments import Segments
    from irmeta.show.preference_output import print_boards

    asked = measures or "RPP"
    parse_preferences(asked)  # reject unknown names before reading anything
    options: Any = {
        "by": by,
        "majority": majority,
        "baseline": baseline,
        "opponents": opponents,
        "on": on,
        "test": testing.test,
        "correction": testing.correction,
        "alpha": testing.alpha,
        "resamples": testing.resamples,
        "rank_resamples": rank_resamples,
    }
    segments = None if segment is None else Segments.of(segment)
    opened = open_source(source, reading, track or None, workers, choices=choices, strict=strict)
    with opened as store:
        with consistent_read(store, track or None) as tracks:
            made = store.pairs.provenance(asked, track=tracks, **choices)
            given = options | choices | {"track": tracks, "rng": testing.seed, "workers": workers}
            for name in tracks or ():
                record = store.reader.read_record(name)
                systems, queries = len(record["systems"]), record["queries_in_runs"]
                rate = (
                    TESTED * queries * testing.resamples if "hsd" in testing.test else COMPARED_ONCE
                )
                note_duration(name, systems, rate * systems**2, "--test t takes a fraction.")
            with loop_bar("Testing all pairs"):
                boards = compute(store, asked, segments=segments, **given)
        for name, facts in made["tracks"].items():
            if "qrels_by_subtopic" in facts:
                set_name = facts["qrels_by_subtopic"]
                note(f"irmeta: {name}: subtopics of the qrels set {set_name!r}")
        if segments is not None:
            options["segments_sha256"] = segments.sha256
        print_boards(boards, made | {"prefer": {**options, "seed": testing.seed}}, display)


@command(
    "irmeta preferences",
    "irmeta preferences RPP",
)
@with_options(display=Display)
def preferences(
    display: Display,
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="A preference.")] = None,
) -> None:
    """List the preferences; with NAME, describe one preference."""
    from irmeta.preferences.registry import describe_preference, list_preferences
    from irmeta.show.frame_output import Result
    from irmeta.show.measures import MADE
    from irmeta.show.preference_output import rule_result

    if name is None:
        listed = {"preferences": list_preferences()}
        display.write(Result("preferences", listed, "Preferences.", MADE))
    else:
        display.as_report().write(rule_result(*describe_preference(name)))
