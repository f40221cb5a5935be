"""The command line: `irmeta reanalyze`, `ingest`, `info`, `evaluate`, `explain`."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from irmeta._version import __version__
from irmeta.errors import IrmetaError, MeasureError, UsageError
from irmeta.policies import Averaged, Duplicates, Malformed, Negative, ReadPolicy, TieOrder

FAILED, USAGE, STRICT, INTERRUPTED = 1, 2, 3, 130

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Meta-evaluation of information retrieval: measures over whole TREC tracks.",
)

TieOption = Annotated[TieOrder, typer.Option(help="How ties are ordered.")]
DepthOption = Annotated[int | None, typer.Option(help="Keep the first DEPTH docs of each list.")]
DuplicatesOption = Annotated[Duplicates, typer.Option(help="A doc twice in a list.")]
MalformedOption = Annotated[Malformed, typer.Option(help="A line that cannot be read.")]
StrictOption = Annotated[bool, typer.Option("--strict", help="Exit 3 if runs were set aside.")]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace what is not irmeta's own.")]
TrackOption = Annotated[str | None, typer.Option(help="Only this track.")]
QrelsOption = Annotated[
    str | None, typer.Option(metavar="SET", help="Qrels set, if not the first.")
]
NegativeOption = Annotated[Negative, typer.Option(help="What grades below 0 mean.")]
OrderOption = Annotated[TieOrder | None, typer.Option(help="Another tie order than the store's.")]
StoreArgument = Annotated[Path, typer.Argument(metavar="STORE", show_default=False)]
WorkersOption = Annotated[int | None, typer.Option(min=1, help="Threads that read run files.")]


def main() -> NoReturn:
    """Run the command line; errors become one line and an exit status."""
    _speak_utf8()
    try:
        app()
    except SystemExit as left:
        if left.code == INTERRUPTED:  # typer has caught Ctrl-C
            _fail("stopped; what is finished is kept, run it again to go on", INTERRUPTED)
        raise
    except (UsageError, MeasureError) as error:
        _fail(error, USAGE)
    except IrmetaError as error:
        _fail(error, FAILED)
    except Exception as error:
        if _is_outside(error):
            _fail(error, FAILED)
        raise
    raise SystemExit(0)


def _speak_utf8() -> None:
    """CSV in a pipe is UTF-8 everywhere; a terminal that cannot show a character escapes it."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            encoding = None if stream.isatty() else "utf-8"
            stream.reconfigure(encoding=encoding, errors="backslashreplace")


def _is_outside(error: Exception) -> bool:
    """Whether an error comes from the disk or from a damaged Parquet file, not from a bug."""
    return isinstance(error, OSError) or type(error).__module__.split(".")[0] in (
        "polars",
        "pyarrow",
    )


def _fail(error: Exception | str, status: int) -> NoReturn:
    print(f"irmeta: {' '.join(str(error).split())}", file=sys.stderr)
    raise SystemExit(status)


def _version(asked: bool) -> None:
    if asked:
        print(f"irmeta {__version__}")
        raise typer.Exit


@app.callback()
def _top(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print it.")
    ] = False,
) -> None:
    """Meta-evaluation of information retrieval: measures over whole TREC tracks."""


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
    strict: StrictOption = False,
    force: ForceOption = False,
) -> None:
    """Scores, search lengths and rarity of every track as Parquet, and a page to look at."""
    from irmeta import api
    from irmeta.show import print_reanalysis

    policy = ReadPolicy(tie_order, depth, duplicates, malformed)
    # A store was read under its own policy: say so only if another is asked for.
    choices: Any = {} if policy == ReadPolicy() else policy.record()
    with _progress("Reading") as read, _progress("Analysing") as analysed:
        done = api.reanalyze(
            source,
            out,
            measures=measures,
            rarity_depth=rarity_depth,
            force=force,
            workers=workers,
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
    strict: StrictOption = False,
) -> None:
    """Read TREC runs and qrels into a Parquet store."""
    from irmeta import api
    from irmeta.show import print_outcomes

    policy = ReadPolicy(tie_order, depth, duplicates, malformed)
    with _progress("Reading") as read:
        outcomes = api.ingest_tracks(collection, store, workers, read, policy)
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


@app.command()
def evaluate(
    store: StoreArgument,
    measures: Annotated[
        str, typer.Option("-m", "--measures", help="Names or presets.")
    ] = "default",
    per_query: Annotated[bool, typer.Option("--per-query", help="Values, not means.")] = False,
    wide: Annotated[bool, typer.Option("--wide", help="A column for each measure.")] = False,
    track: TrackOption = None,
    system: Annotated[list[str] | None, typer.Option(help="Only this; may be repeated.")] = None,
    qrels: QrelsOption = None,
    queries: Annotated[Averaged, typer.Option(help="Which queries count.")] = "judged",
    negative: NegativeOption = "unjudged",
    tie_order: OrderOption = None,
    out: Annotated[Path | None, typer.Option(help="File: .parquet or .csv.")] = None,
    force: ForceOption = False,
) -> None:
    """Measures of every system: a table on a terminal, CSV in a pipe, or a file."""
    from irmeta.api import EvalChoices, open_store
    from irmeta.results.scores import wide as spread
    from irmeta.results.tables import check_ending, write_out
    from irmeta.show import print_frame

    if out is not None:
        check_ending(out)
    opened = open_store(store)
    choices = EvalChoices(queries=queries, negative=negative, qrels=qrels, tie_order=tie_order)
    compute = opened.evaluate if per_query else opened.means
    frame = compute(measures, track=track, system=system or None, **choices)
    if wide:
        frame = spread(frame)
    if out is not None:
        write_out(frame, out, opened.provenance(measures, track=track, **choices), force=force)
        print(f"{frame.height:,} rows in {out}", file=sys.stderr)
    else:
        print_frame(frame)


@app.command()
def explain(
    store: StoreArgument,
    measure: Annotated[str, typer.Option("-m", "--measure", help="One.", show_default=False)],
    system: Annotated[str, typer.Option(help="The system.", show_default=False)],
    query: Annotated[str, typer.Option(help="The query.", show_default=False)],
    track: TrackOption = None,
    qrels: QrelsOption = None,
    negative: NegativeOption = "unjudged",
    tie_order: OrderOption = None,
    every: Annotated[bool, typer.Option("--all", help="Every term, however many.")] = False,
) -> None:
    """The arithmetic behind one number."""
    from irmeta.api import EvalChoices, open_store
    from irmeta.show import print_explanation

    choices = EvalChoices(negative=negative, qrels=qrels, tie_order=tie_order)
    opened = open_store(store)
    print_explanation(
        opened.explain(measure, system=system, query=query, track=track, **choices), every
    )


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


@contextmanager
def _progress(doing: str) -> Iterator[Callable[[str, int, int], None]]:
    """A bar on stderr that appears with the first report; nothing where that is no terminal."""
    if not sys.stderr.isatty():
        yield lambda track, done, total: None
        return
    from rich.console import Console
    from rich.progress import Progress

    bar = Progress(console=Console(stderr=True), transient=True)
    task = bar.add_task(doing, visible=False)

    def report(track: str, done: int, total: int) -> None:
        bar.start()
        bar.update(task, description=f"{doing} {track}", completed=done, total=total, visible=True)

    try:
        yield report
    finally:
        bar.stop()
