"""`irmeta fetch`: runs and qrels of TREC's tracks."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from irmeta.archive.fetch_options import FetchOptions, Progress
from irmeta.cli.app import STRICT
from irmeta.cli.archive import HasOption, NameOption, TaskOption, TracksArgument, YearOption
from irmeta.cli.declared import with_options
from irmeta.cli.registered import command
from irmeta.errors import UsageError
from irmeta.show.display import Display
from irmeta.show.notes import LEVEL

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

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
    from irmeta.show.fetch_output import print_fetch

    chosen = catalog(tracks or (), year=year, track=track, task=task, has=has or ())
    options = replace(options, placement="link" if link else "copy")
    password = None if options.user is None else _password(options.user)
    with fetch_bar("Looking" if options.dry_run else "Fetching") as progress:
        report = fetch_plan(plan(chosen.ids), out, options, password=password, progress=progress)
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


@contextmanager
def fetch_bar(doing: str) -> Generator[Callable[[Progress], object] | None]:
    """Show files, bytes, speed and time left on stderr, if it is a terminal and not quiet."""
    if LEVEL.quiet or LEVEL.verbose or not sys.stderr.isatty():
        yield None
        return
    from rich.filesize import decimal
    from rich.markup import escape

    with _bar() as bar:
        task = bar.add_task(doing, total=None, received="")

        def report(progress: Progress) -> None:
            received = decimal(progress.bytes)
            name = progress.path.rpartition("/")[2]
            bar.update(
                task,
                description=escape(f"{doing} {name}"),
                completed=progress.done,
                total=progress.files,
                received=received,
            )

        yield report


def _bar() -> Bar:
    from rich import progress
    from rich.console import Console

    return progress.Progress(
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TextColumn("{task.fields[received]}"),
        progress.TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
