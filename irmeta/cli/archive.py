"""`irmeta catalog`, `fetch` and `verify`: TREC's tracks, their files and their published values."""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

import typer

from irmeta.archive.fetch_options import FetchOptions
from irmeta.cli.app import (
    DIFFERENT,
    STRICT,
    StrictOption,
    TracksOption,
    WorkersOption,
    progress_line,
)
from irmeta.cli.display import Display, VerifyDisplay
from irmeta.cli.registered import Given, command, with_options
from irmeta.cli.sources import READING, SourceArgument, open_source
from irmeta.errors import UsageError
from irmeta.policies import EvalPolicy, ReadPolicy

TracksArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[TRACK]...",
        help="Ids such as trec8/adhoc, or patterns such as 'trec1?/web'.",
        show_default=False,
    ),
]
YearOption = Annotated[
    str | None,
    typer.Option(metavar="YEARS", help="A year, or a range such as 1999-2005.", show_default=False),
]
NameOption = Annotated[
    str | None,
    typer.Option("--track", metavar="NAME", help="Name of a track: web.", show_default=False),
]
TaskOption = Annotated[
    str | None, typer.Option(metavar="NAME", help="Name of a task: adhoc.", show_default=False)
]
HasOption = Annotated[
    str | None,
    typer.Option(
        metavar="qrels,runs,published",
        help="Only tracks with addresses of qrels, addresses of runs, or published scores.",
        show_default=False,
    ),
]
StateOption = Annotated[
    str | None,
    typer.Option(
        metavar="STATE",
        help="ready, needs a choice, not a ranking task, no qrels, or no runs.",
        show_default=False,
    ),
]


@command(
    "irmeta catalog",
    "irmeta catalog --year 1999-2005 --track web --has qrels,runs",
    "irmeta catalog trec13/robust",
    "irmeta catalog 'trec1?/web' --list runs --format csv",
)
@with_options(display=Display)
def catalog(
    display: Display,
    tracks: TracksArgument = None,
    year: YearOption = None,
    track: NameOption = None,
    task: TaskOption = None,
    has: HasOption = None,
    state: StateOption = None,
    listed: Annotated[
        Literal["tracks", "runs", "sets", "left_out", "qrels", "topics", "published"] | None,
        typer.Option(
            "--list",
            help="What to list of the tracks: sets are the qrels that irmeta uses, left_out the "
            "tasks that it does not evaluate.",
            show_default="tracks",
        ),
    ] = None,
) -> None:
    """List TREC's tracks and which can be evaluated; with one TRACK, describe it in full."""
    from irmeta.archive.catalog import catalog as look_up
    from irmeta.cli.archive_tables import print_catalog, print_one_track

    found = look_up(tracks or (), year=year, track=track, task=task, has=has or (), state=state)
    asked = {"year": year, "track": track, "task": task, "has": has, "state": state}
    is_plain = listed is None and display.format is None and display.file is None
    if is_plain and tracks == [*found.ids]:
        print_one_track(found)
    else:
        print_catalog(found, listed or "tracks", asked | {"tracks": tracks}, display)


PASSWORD = "IRMETA_PASSWORD"


@command(
    "irmeta fetch trec8/adhoc trec13/robust --out tracks/",
    "irmeta fetch 'trec1?/web' --dry-run",
    "irmeta fetch --year 1999-2005 --out tracks/ --mirror /archive/trec.nist.gov",
)
@with_options(options=FetchOptions, display=(Display, ("format", "digits", "csv_safe")))
def fetch(
    options: FetchOptions,
    display: Display,
    tracks: TracksArgument = None,
    out: Annotated[Path, typer.Option(help="Folder of the collection.")] = Path("tracks"),
    year: YearOption = None,
    track: NameOption = None,
    task: TaskOption = None,
    has: HasOption = None,
    link: Annotated[
        bool, typer.Option("--link/--copy", help="Link or copy files of a mirror's folder.")
    ] = True,
) -> None:
    """Fetch runs and qrels of TREC's tracks as a collection for reanalyze.

    Without TRACK, all tracks that irmeta can evaluate: see irmeta catalog. Run again to continue.
    The exit status is 3 if a file could not be fetched.
    """
    from irmeta.archive.catalog import catalog
    from irmeta.archive.fetch import fetch_plan
    from irmeta.archive.fetch_plan import plan
    from irmeta.cli.archive_tables import print_fetch

    chosen = catalog(tracks or (), year=year, track=track, task=task, has=has or ())
    options = replace(options, placement="link" if link else "copy")
    password = None if options.user is None else _password(options.user)
    with progress_line("Looking" if options.dry_run else "Fetching"):
        report = fetch_plan(plan(chosen.ids), out, options, password=password)
    asked = {"year": year, "track": track, "task": task, "has": has, "tracks": tracks}
    print_fetch(report, asked, display)
    if not report.is_complete:
        raise typer.Exit(STRICT)


def _password(user: str) -> str:
    """Return the password of the environment, or ask for it."""
    if (given := os.environ.get(PASSWORD)) is not None:
        return given
    if not sys.stdin.isatty():
        raise UsageError(
            f"the password of {user} cannot be asked for without a terminal: set {PASSWORD}, or "
            "omit `user` and use a netrc file."
        )
    if sys.platform != "win32":  # polars makes the system read on after Ctrl-C
        signal.siginterrupt(signal.SIGINT, True)
    return typer.prompt(f"Password of {user}", hide_input=True, err=True)


@command(
    "irmeta verify results/",
    "irmeta verify store/ --track robust --catalog robust=trec12/robust --out verified.parquet",
    "irmeta verify collection/ --track news --published leaderboard.csv",
)
@with_options(reading=READING, choices=EvalPolicy, display=VerifyDisplay)
def verify(
    source: SourceArgument,
    choices: Given,
    reading: ReadPolicy,
    display: VerifyDisplay,
    published: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="CSV file with the columns system, measure, value, and optionally track, query "
            "and evaluator.",
            show_default="the scores in the catalogue of TREC",
        ),
    ] = None,
    catalog: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TRACK=ID",
            help="Track of the catalogue for a track, as robust=trec12/robust (repeatable).",
            show_default="by name, or by the names of systems",
        ),
    ] = None,
    track: TracksOption = None,
    workers: WorkersOption = None,
    strict: StrictOption = None,
) -> None:
    """Recompute published values. Exit with status 1 if a value differs in its printed digits."""
    from irmeta.api.matrices import consistent_read
    from irmeta.api.verify import verify as compute
    from irmeta.cli.comparison_tables import print_verification

    columns = () if published is None else reading.columns  # else they are those of the runs
    reading = replace(reading, columns=() if columns else reading.columns)
    opened = open_source(source, reading, track or None, workers, choices=choices, strict=strict)
    with opened as store:
        with consistent_read(store, track or None) as tracks:
            found = compute(
                store,
                published,
                columns=columns,
                track=tracks,
                catalog=dict(map(_pair, catalog or ())),
                workers=workers,
                **choices,
            )
        print_verification(found, display)
    if not found.agrees:
        raise typer.Exit(DIFFERENT)


def _pair(given: str) -> tuple[str, str]:
    track, is_pair, name = given.partition("=")
    if not (track and is_pair and name):
        raise UsageError(f"--catalog {given}: write TRACK=ID, as robust=trec12/robust.")
    return track, name
