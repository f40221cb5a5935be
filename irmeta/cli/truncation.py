"""`irmeta truncation`: effects of non-relevant docs at the end of lists."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from irmeta.cli.app import MeasuresOption, StrictOption, TracksOption, WorkersOption
from irmeta.cli.declared import Given, with_options
from irmeta.cli.registered import command
from irmeta.cli.sources import READING, SourceArgument, open_source
from irmeta.policies import EvalPolicy, ReadPolicy
from irmeta.show.display import Display


@command(
    "irmeta truncation store/ -m AP,RBP --docs 10",
)
@with_options(choices=EvalPolicy, reading=READING, display=Display)
def truncation(
    source: SourceArgument,
    choices: Given,
    reading: ReadPolicy,
    display: Display,
    measures: MeasuresOption = None,
    track: TracksOption = None,
    docs: Annotated[int, typer.Option(min=1, help="Docs to add to the end of each list.")] = 1,
    workers: WorkersOption = None,
    strict: StrictOption = None,
) -> None:
    """Report how often scores change as non-relevant docs at the end of lists are cut or added."""
    from irmeta.measures.names import parse_measures
    from irmeta.show.frame_output import Result

    asked: Any = measures or "default"
    parse_measures(asked)  # reject unknown names before reading anything
    with open_source(
        source, reading, track or None, workers, choices=choices, strict=strict
    ) as store:
        frame = store.stability.truncation(
            asked, track=track or None, docs=docs, workers=workers, **choices
        )
        made = store.provenance(asked, track=track or None, **choices)
        made["truncation"] = {"docs": docs}
        caption = "Lists whose score changes as docs at their end are cut or added."
        display.write(Result("truncation", {"truncation": frame}, caption, made))
