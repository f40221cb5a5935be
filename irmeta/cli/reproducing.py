"""`irmeta reproduce`: how close reruns of an experiment come to the original."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from irmeta._version import __version__
from irmeta.cli.app import StrictOption, TitlesOption, TrackOption, WorkersOption
from irmeta.cli.declared import Given, with_options
from irmeta.cli.registered import command
from irmeta.cli.sources import READING, SourceArgument, open_source
from irmeta.policies import EvalPolicy, ReadPolicy
from irmeta.show.display import Display


@command(
    "irmeta reproduce store/ -m AP --original bm25,rm3 --rerun mine-bm25,mine-rm3",
    "irmeta reproduce qrels.txt old.gz new.gz -m nDCG@10 --original old --rerun new",
)
@with_options(reading=READING, choices=EvalPolicy, display=Display)
def reproduce(
    source: SourceArgument,
    display: Display,
    choices: Given,
    reading: ReadPolicy,
    original: Annotated[
        str,
        typer.Option(
            metavar="RUN|BASELINE,ADVANCED",
            show_default=False,
            help="The original run, or the baseline and the advanced run.",
        ),
    ],
    rerun: Annotated[
        list[str],
        typer.Option(
            metavar="RUN|BASELINE,ADVANCED",
            show_default=False,
            help="The rerun, in the form of --original (repeatable).",
        ),
    ],
    measures: Annotated[
        list[str] | None,
        typer.Option(
            "-m",
            "--measures",
            help="Names of measures (repeatable).",
            show_default="basic: AP, nDCG, nDCG@10, RR, P@10",
        ),
    ] = None,
    track: TrackOption = None,
    rerun_track: Annotated[
        str | None,
        typer.Option(
            help="Track of the reruns, where they are on other queries.", show_default="--track"
        ),
    ] = None,
    list_depth: Annotated[
        int, typer.Option(min=1, help="Depth to which lists are compared.")
    ] = 1000,
    persistence: Annotated[
        float, typer.Option(help="Persistence p of rank-biased overlap.")
    ] = 0.95,
    resamples: Annotated[
        int, typer.Option(min=1, help="Resamples of the queries, for 95 % intervals.")
    ] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
    figure: Annotated[
        Path | None,
        typer.Option(
            help="Draw the effect ratios, or the RMSE of single runs: .svg, .pdf or .png.",
            show_default=False,
        ),
    ] = None,
    titles: TitlesOption = True,
    workers: WorkersOption = None,
    strict: StrictOption = None,
) -> None:
    """Compare reruns with an original experiment: lists, values and effects, with intervals."""
    from irmeta.api.reproduce import reproduce as compute
    from irmeta.report.figure_file import check_figure_file, write_figure
    from irmeta.show.frame_output import Result
    from irmeta.show.notes import note

    if figure is not None:
        check_figure_file(figure, force=display.force)
    read = None if track is None else [track, rerun_track or track]
    with open_source(source, reading, read, workers, choices=choices, strict=strict) as store:
        found = compute(
            store,
            measures or "basic",
            original=original,
            rerun=rerun,
            track=track,
            rerun_track=rerun_track,
            list_depth=list_depth,
            persistence=persistence,
            resamples=resamples,
            rng=seed,
            workers=workers,
            **choices,
        )
        tracks = list(dict.fromkeys([found.runs["track"][0], str(found.settings["rerun_track"])]))
        source_made = store.provenance(measures or "basic", track=tracks, **choices)
        made = {
            "irmeta": __version__,
            "reproduce": {"source": source_made, **found.settings},
        }
        tables = {"effects": found.effects} if found.effects.height else {}
        caption = "Reruns beside the original experiment, with 95 % intervals over queries."
        display.write(Result("reproduce", {**tables, "runs": found.runs}, caption, made))
        if figure is not None:
            write_figure(found.show(), figure, force=display.force, titles=titles)
            note(f"figure in {figure}")
