"""`irmeta pool`: docs for assessors."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from irmeta.cli.app import StrictOption, TrackOption
from irmeta.cli.declared import Given, with_options
from irmeta.cli.registered import command
from irmeta.cli.sources import WHOLE_LISTS, SourceArgument, open_source
from irmeta.escapes import escape_text
from irmeta.policies import EvalPolicy, ReadPolicy
from irmeta.show.display import PoolDisplay
from irmeta.show.notes import note


@command(
    "irmeta pool store/ --track news --pool-depth 10",
    "irmeta pool store/ --track news --budget 100 --out docs.txt",
)
@with_options(
    choices=(EvalPolicy, ("qrels", "negative", "tie_order")),
    reading=WHOLE_LISTS,
    display=PoolDisplay,
)
def pool(
    source: SourceArgument,
    choices: Given,
    reading: ReadPolicy,
    display: PoolDisplay,
    track: TrackOption = None,
    system: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SYSTEM|group=NAME|type=NAME",
            help="Only docs of these systems (repeatable).",
            show_default="all; with --pool-depth, those that contributed to the pool",
        ),
    ] = None,
    pool_depth: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Depth of the pool: all docs down to this rank, instead of unjudged docs; tie "
            "order score-file.",
        ),
    ] = None,
    budget: Annotated[
        int | None, typer.Option(min=1, help="Number of docs, for all queries together.")
    ] = None,
    strict: StrictOption = None,
) -> None:
    """List unjudged docs by weight in RBP, or a pool of some depth, as lines `query 0 doc`."""
    from irmeta.measures.evaluate import how_made
    from irmeta.rankings.pool import pool_of
    from irmeta.results.text_files import check_pool_file, pool_lines, write_pool
    from irmeta.show.console import write_to_pipe
    from irmeta.show.frame_output import Result
    from irmeta.store.scan import only_track, undisturbed

    out, is_lines = display.file, display.form == "lines"
    if out is not None and is_lines:
        check_pool_file(out, force=display.force)
    with open_source(source, reading, track, choices=choices, strict=strict) as store:
        name = only_track(store.reader, track)
        with undisturbed(store.reader, name):
            docs = store.pools.to_judge(
                name,
                system=system or None,
                pool_depth=pool_depth,
                budget=budget,
                **choices,
            )
            made_by = pool_of(store.reader, name) if pool_depth and not system else None
        if made_by is not None and not made_by.known:
            note(f"irmeta: {name}: the pool is taken from {made_by.note}")
        unsure = docs.filter(~docs["judged"] & docs["grade"].is_not_null()).height
        if unsure:
            note(
                f"irmeta: {name}: {unsure:,} of {docs.height:,} docs have a grade below 0 and "
                "count as unjudged (--negative)"
            )
        if not is_lines:
            made = how_made(store.reader, [], EvalPolicy(**store.merged(choices)), [name])
            made["pool"] = {"system": system or None, "pool_depth": pool_depth, "budget": budget}
            display.write(Result("pool", {"docs": docs}, "Docs for assessors.", made))
        elif out is not None:
            write_pool(docs, out, force=display.force)
            note(f"{docs.height:,} docs in {out}")
        else:
            lines = pool_lines(docs)
            write_to_pipe(escape_text(lines, keep="\n") if sys.stdout.isatty() else lines)
