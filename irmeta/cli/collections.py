"""`irmeta reanalyze`, `ingest` and `info`: over whole collections."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from irmeta.cli.options import (
    FAILED,
    STRICT,
    DepthOption,
    DuplicatesOption,
    ForceOption,
    MalformedOption,
    MemoryOption,
    StoreArgument,
    StrictOption,
    TieOption,
    WorkersOption,
    app,
    bytes_of,
    progress_bar,
)
from irmeta.policies import ReadPolicy


@app.command()
def reanalyze(
    source: Annotated[Path, typer.Argument(help="A collection or a store.", show_default=False)],
    out: Annotated[Path, typer.Option(help="Folder for the results.", show_default=False)],
    measures: Annotated[
        str, typer.Option("-m", "--measures", help="Names or presets.")
    ] = "default",
    rarity_depth: Annotated[int, typer.Option(min=1, help="Rarity looks this deep.")] = 100,
    tie_order: TieOption = "trec_eval",
    depth: DepthOption = None,
    duplicates: DuplicatesOption = "error",
    malformed: MalformedOption = "error",
    workers: WorkersOption = None,
    memory: MemoryOption = None,
    strict: StrictOption = False,
    force: ForceOption = False,
) -> None:
    """Scores, search lengths and rarity of every track as Parquet, and a page to look at."""
    from irmeta import api
    from irmeta.show import print_reanalysis

    policy = ReadPolicy(tie_order, depth, duplicates, malformed)
    # A store was read under its own policy: say so only if another is asked for.
    choices: Any = {} if policy == ReadPolicy() else policy.record()
    with progress_bar("Reading") as read, progress_bar("Analysing") as analysed:
        done = api.reanalyze(
            source,
            out,
            measures=measures,
            rarity_depth=rarity_depth,
            force=force,
            workers=workers,
            memory=bytes_of(memory),
            read_progress=read,
            batch_progress=analysed,
            **choices,
        )
    print_reanalysis(done)
    lost = [(o.track, str(o.error)) for o in done.outcomes if o.error] + list(done.batch.failed)
    _end(done.store, lost, strict, {o.track for o in done.outcomes} or None)


@app.command()
def ingest(
    collection: Annotated[Path, typer.Argument(help="Folder of tracks.", show_default=False)],
    store: Annotated[Path, typer.Option(help="Folder of the store.", show_default=False)],
    tie_order: TieOption = "trec_eval",
    depth: DepthOption = None,
    duplicates: DuplicatesOption = "error",
    malformed: MalformedOption = "error",
    workers: WorkersOption = None,
    memory: MemoryOption = None,
    strict: StrictOption = False,
) -> None:
    """Read TREC runs and qrels into a Parquet store."""
    from irmeta import api
    from irmeta.show import print_outcomes

    policy = ReadPolicy(tie_order, depth, duplicates, malformed)
    with progress_bar("Reading") as read:
        outcomes = api.ingest_tracks(
            collection,
            store,
            policy,
            workers=workers,
            memory=bytes_of(memory),
            progress=read,
        )
    opened = api.open_store(store)
    print_outcomes(outcomes, opened)
    lost = [(o.track, str(o.error)) for o in outcomes if o.error]
    _end(opened, lost, strict, {o.track for o in outcomes})


@app.command()
def info(
    store: StoreArgument,
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Tracks, systems, queries, and what reading noticed."""
    from irmeta.api import open_store
    from irmeta.show import print_info

    opened = open_store(store)
    if as_json:
        tracks = opened.info().to_dicts()
        systems = opened.systems().to_dicts() if tracks else []
        print(json.dumps({"tracks": tracks, "systems": systems}, indent=1, ensure_ascii=False))
    else:
        print_info(opened)


def _end(store: Any, lost: list[tuple[str, str]], strict: bool, tracks: set[str] | None) -> None:
    """Say on stderr what failed, what was dropped and, last, what was set aside."""
    for track, error in lost:
        kept = "; the store keeps what it had of it" if track in store.tracks else ""
        print(f"irmeta: failed: {error}{kept}", file=sys.stderr)
    if others := [t for t in store.tracks if tracks is not None and t not in tracks]:
        print(
            f"irmeta: not in the collection, kept in the store: {', '.join(others)}",
            file=sys.stderr,
        )
    aside: list[str] = []
    for track in store.tracks:
        if tracks is None or track in tracks:
            for row in store.systems(track).iter_rows(named=True):
                if row["malformed"] or row["duplicates"]:
                    print(f"irmeta: {track}: {row['file']}: {row['notes']}", file=sys.stderr)
                if row["set_aside"]:
                    print(f"irmeta: {track}: {row['set_aside']}", file=sys.stderr)
                    aside.append(f"{track}: {row['file']}")
    if aside:
        runs = "1 run" if len(aside) == 1 else f"{len(aside)} runs"
        print(f"irmeta: {runs} set aside: {', '.join(aside)}", file=sys.stderr)
    if lost:
        raise typer.Exit(FAILED)
    if strict and aside:
        raise typer.Exit(STRICT)
