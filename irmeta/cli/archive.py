"""`irmeta catalog`, `fetch` and `verify`: TREC's tracks, their files and their published values."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import typer

from irmeta.archive.fetch_options import FetchOptions
from irmeta.cli.app import (
    DIFFERENT,
    STRICT,
    TRACKS,
    TracksOpening,
    progress_line,
)
from irmeta.cli.display import Display, VerifyDisplay
from irmeta.cli.registered import Given, command, with_options
from irmeta.cli.sources import READING, SourceArgument, open_source
from irmeta.errors import UsageError
from irmeta.options import Options, option
from irmeta.policies import EvalPolicy, ReadPolicy

if TYPE_CHECKING:
    from irmeta.archive.catalog import Catalog

TracksArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[TRACK]...",
        help="Ids such as trec8/adhoc, or patterns such as 'trec1?/web'.",
        show_default=False,
    ),
]
Listed = Literal["tracks", "runs", "sets", "left_out", "qrels", "topics", "published"]


@dataclass(frozen=True)
class TrackChoice(Options):
    """Which tracks of TREC a command lists or fetches, and how."""

    year: str | None = option(None, "A year, or a range such as 1999-2005.", metavar="YEARS")
    track: str | None = option(None, "Name of a track: web.", metavar="NAME")
    task: str | None = option(None, "Name of a task: adhoc.", metavar="NAME")
    has: str | None = option(
        None,
        "Only tracks with addresses of qrels, addresses of runs, or published scores.",
        metavar="qrels,runs,published",
    )
    state: str | None = option(
        None,
        "ready, needs a choice, not a ranking task, no qrels, or no runs.",
        metavar="STATE",
    )
    listed: Listed | None = option(
        None,
        "What to list of the tracks: sets are the qrels that irmeta uses, left_out the tasks that "
        "it does not evaluate.",
        flag="--list",
        metavar=f"<{'|'.join(get_args(Listed))}>",
        shown="tracks",
    )
    link: bool = option(True, "Link or copy files of a mirror's folder.", flag="--link/--copy")

    def look_up(self, tracks: Sequence[str] | None) -> Catalog:
        """Return the chosen tracks of the catalogue."""
        from irmeta.archive.catalog import catalog

        facts: Any = {**self.by_facts(), "has": self.has or (), "state": self.state}
        return catalog(tracks or (), **facts)

    def by_facts(self) -> dict[str, Any]:
        """Return what tracks are chosen by, but for their state."""
        return {name: getattr(self, name) for name in ("year", "track", "task", "has")}


FETCHED = (TrackChoice, ("year", "track", "task", "has", "link"))
LISTED = (TrackChoice, ("year", "track", "task", "has", "state", "listed"))


@command(
    "irmeta catalog",
    "irmeta catalog --year 1999-2005 --track web --has qrels,runs",
    "irmeta catalog trec13/robust",
    "irmeta catalog 'trec1?/web' --list runs --format csv",
)
@with_options(display=Display, choice=LISTED)
def catalog(
    display: Display,
    choice: TrackChoice,
    tracks: TracksArgument = None,
) -> None:
    """List TREC's tracks and which can be evaluated; with one TRACK, describe it in full."""
    from irmeta.cli.archive_tables import print_catalog, print_one_track

    asked = choice.by_facts() | {"state": choice.state}
    listed = choice.look_up(tracks)
    is_plain = choice.listed is None and display.format is None and display.file is None
    if is_plain and tracks == [*listed.ids]:
        print_one_track(listed)
    else:
        print_catalog(listed, choice.listed or "tracks", asked | {"tracks": tracks}, display)


PASSWORD = "IRMETA_PASSWORD"


@command(
    "irmeta fetch trec8/adhoc trec13/robust --out tracks/",
    "irmeta fetch 'trec1?/web' --dry-run",
    "irmeta fetch --year 1999-2005 --out tracks/ --mirror /archive/trec.nist.gov",
)
@with_options(
    options=FetchOptions, display=(Display, ("format", "digits", "csv_safe")), choice=FETCHED
)
def fetch(
    options: FetchOptions,
    display: Display,
    choice: TrackChoice,
    tracks: TracksArgument = None,
    out: Annotated[Path, typer.Option(help="Folder of the collection.")] = Path("tracks"),
) -> None:
    """Fetch runs and qrels of TREC's tracks as a collection for reanalyze.

    Without TRACK, all tracks that irmeta can evaluate: see irmeta catalog. Run again to continue.
    The exit status is 3 if a file could not be fetched.
    """
    from irmeta.archive.fetch import fetch_plan
    from irmeta.archive.fetch_plan import plan
    from irmeta.cli.archive_tables import print_fetch

    chosen = choice.look_up(tracks)
    options = replace(options, placement="link" if choice.link else "copy")
    password = None if options.user is None else _password(options.user)
    with progress_line("Looking" if options.dry_run else "Fetching"):
        report = fetch_plan(plan(chosen.ids), out, options, password=password)
    print_fetch(report, choice.by_facts() | {"tracks": tracks}, display)
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


@dataclass(frozen=True)
class Published(Options):
    """Published values to verify."""

    published: str | None = option(
        None,
        "CSV file with the columns system, measure, value, and optionally track, query and "
        "evaluator.",
        metavar="FILE",
        shown="the scores in the catalogue of TREC",
    )
    catalog: tuple[str, ...] = option(
        (),
        "Track of the catalogue for a track, as robust=trec12/robust (repeatable).",
        metavar="TRACK=ID",
        shown="by name, or by the names of systems",
    )

    def tracks_of_catalog(self) -> dict[str, str]:
        """Return the track of the catalogue for each track that --catalog names."""
        by_track = dict[str, str]()
        for pair in self.catalog:
            track, is_pair, name = pair.partition("=")
            if not (track and is_pair and name):
                raise UsageError(f"--catalog {pair}: write TRACK=ID, as robust=trec12/robust.")
            by_track[track] = name
        return by_track


@command(
    "irmeta verify results/",
    "irmeta verify store/ --track robust --catalog robust=trec12/robust --out verified.parquet",
    "irmeta verify collection/ --track news --published leaderboard.csv",
)
@with_options(
    reading=READING, choices=EvalPolicy, display=VerifyDisplay, opening=TRACKS, asked=Published
)
def verify(
    source: SourceArgument,
    choices: Given,
    reading: ReadPolicy,
    display: VerifyDisplay,
    opening: TracksOpening,
    asked: Published,
) -> None:
    """Recompute published values. Exit with status 1 if a value differs in its printed digits."""
    from irmeta.api.matrices import consistent_read
    from irmeta.api.verify import verify as compute
    from irmeta.cli.comparison_tables import print_verification

    # Without published values, the columns are those of the runs.
    columns = () if asked.published is None else reading.columns
    reading = replace(reading, columns=() if columns else reading.columns)
    with open_source(source, reading, opening, choices=choices) as store:
        with consistent_read(store, opening.track) as tracks:
            verification = compute(
                store,
                None if asked.published is None else Path(asked.published),
                columns=columns,
                track=tracks,
                catalog=asked.tracks_of_catalog(),
                workers=opening.workers,
                **choices,
            )
        print_verification(verification, display)
    if not verification.agrees:
        raise typer.Exit(DIFFERENT)
