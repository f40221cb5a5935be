"""`irmeta verify`: published values beside recomputed ones."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from irmeta.cli.app import (
    DIFFERENT,
    StrictOption,
    TracksOption,
    WorkersOption,
)
from irmeta.cli.declared import Given, with_options
from irmeta.cli.registered import command
from irmeta.cli.sources import READING, SourceArgument, open_source
from irmeta.errors import UsageError
from irmeta.policies import EvalPolicy, ReadPolicy
from irmeta.show.display import VerifyDisplay


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
    from irmeta.show.verification_output import print_verification

    opened = open_source(source, reading, track or None, workers, choices=choices, strict=strict)
    with opened as store:
        with consistent_read(store, track or None) as tracks:
            found = compute(
                store,
                published,
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
