"""`irmeta catalog`: TREC's tracks."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from irmeta.cli.declared import with_options
from irmeta.cli.registered import command
from irmeta.show.display import Display

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
        Literal["tracks", "runs", "sets", "left_out", "qrels", "published"] | None,
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
    from irmeta.show.catalog_output import print_catalog, print_one_track

    found = look_up(tracks or (), year=year, track=track, task=task, has=has or (), state=state)
    asked = {"year": year, "track": track, "task": task, "has": has, "state": state}
    is_plain = listed is None and display.format is None and display.file is None
    if is_plain and tracks == [*found.ids]:
        print_one_track(found)
    else:
        print_catalog(found, listed or "tracks", asked | {"tracks": tracks}, display)
