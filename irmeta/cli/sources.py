"""Sources of commands: a store, or a collection read into memory; and reports of its problems."""

from __future__ import annotations

from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from irmeta.cli.app import FAILED, STRICT, Opening, progress_line
from irmeta.cli.notes import error_line, in_options, note
from irmeta.cli.registered import Given
from irmeta.errors import IrmetaError, UsageError, first_few
from irmeta.locations import Location, NamedFile, is_stream, location, named_file
from irmeta.policies import EvalPolicy, ReadPolicy
from irmeta.policy_keywords import RunChoices

if TYPE_CHECKING:
    from irmeta.api import Store
    from irmeta.store.ingest import Outcome
    from irmeta.store.ranked_track import Evaluation
    from irmeta.store.scan import Tracks

WHOLE_LISTS = (
    ReadPolicy,
    tuple(name for name in ReadPolicy.__dataclass_fields__ if name not in ("tie_order", "depth")),
)
"""Read options of commands that have another option for the tie order, and read complete lists."""
READING = (ReadPolicy, (*WHOLE_LISTS[1], "depth"))
"""Read options of commands that have another option for the tie order."""
RUN_CHOICES = tuple(RunChoices.__annotations__)
"""Read options of runs without judgments."""
SOURCE = (
    "A store (a folder, or a URL such as s3://bucket/store), a folder of reanalyze, or a "
    "collection; or a qrels file, then its runs (- is standard input; NAME=FILE names a run). "
    "Collections and files are read into memory."
)
SourceArgument = Annotated[
    list[Path], typer.Argument(metavar="SOURCE [RUN]", show_default=False, help=SOURCE)
]


ResultsArgument = Annotated[
    list[Path],
    typer.Argument(
        metavar="SOURCE [RUN]",
        show_default=False,
        help="A store, a folder of reanalyze, files of per-query values (of irmeta, trec_eval -q, "
        "ir_measures, JSON, CSV), or a table with systems in columns; or a collection, or a qrels "
        "file, then its runs, which are read into memory.",
    ),
]


@contextmanager
def open_results(
    source: list[Path],
    policy: ReadPolicy,
    opening: Opening,
    *,
    choices: Given | None = None,
    measures: Sequence[str] | None = None,
    unjudged: bool = False,
) -> Generator[Store | Location | list[NamedFile]]:
    """Yield a folder or files with values as they are; open any other source: see `open_source`.

    Where choices differ from the policies of a folder's values, the store inside is opened. Runs
    are read for `measures` alone, if given, and with `unjudged` for counts of unjudged docs.
    """
    from irmeta.api.matrices import opened
    from irmeta.results.matrix import holds_values
    from irmeta.stats.tables import is_measure
    from irmeta.studies.framework.recorded_files import PARTS, recorded_policy

    columns = policy.columns
    pairs = map(named_file, map(str, source))
    named = [NamedFile(name, location(file), columns) for name, file in pairs]
    first, *runs = (file.path for file in named)
    is_results = (first / "scores").is_dir() and (first / PARTS).is_dir()
    if is_results and not runs:
        is_results = isinstance(opened(first, choices), Location)
    is_file = first.is_file() or is_stream(first)
    if runs and all(holds_values(file, is_measure, columns) for file in (first, *runs)):
        is_file = True
    elif runs:
        is_file = False
    if not (is_file or is_results):
        evaluation = None if measures is None else _evaluation(measures, choices or {}, unjudged)
        with open_source(source, policy, opening, choices=choices, evaluation=evaluation) as store:
            yield store
        return
    if is_results:
        report_policies(first, recorded_policy(first), choices)
    if policy != ReadPolicy(columns=() if is_results else columns):
        raise UsageError(f"{first} holds values: reading options apply only to runs.")
    if opening.strict is not None:
        raise UsageError(f"{first} holds values: --strict and --no-strict apply only to runs.")
    yield named if runs or columns or named[0].name is not None else first


def _evaluation(
    measures: Sequence[str], choices: Mapping[str, Any], unjudged: bool
) -> Evaluation | None:
    """Return what the evaluation of measures reads of runs; unknown names are an error."""
    from irmeta.measures.names import parse_call, parse_measures
    from irmeta.measures.pools import unjudged_measures
    from irmeta.rankings.load import evaluation_of
    from irmeta.rankings.view import needs_of

    specs, policy = parse_call(measures, choices)
    specs += parse_measures(unjudged_measures()) if unjudged else []
    return evaluation_of(policy, needs_of(specs))


def report_policies(
    results: Location | None, policy: EvalPolicy, choices: Given | None = None
) -> None:
    """Report on stderr the recorded policies of results, and choices that differ from them."""
    if results is None:
        return
    fields_of_policy = [field.name for field in fields(EvalPolicy)]
    accepted = fields_of_policy if choices is None else choices.accepted
    recorded = {name: value for name, value in policy.changed().items() if name in accepted}
    line = {name: value for name, value in (choices or {}).items() if name in accepted}
    line = {name: value for name, value in line.items() if name in fields_of_policy}
    here = EvalPolicy(**line)
    differing = {n: getattr(here, n) for n in line if getattr(here, n) != getattr(policy, n)}
    if not (recorded or differing):
        return
    text = f"irmeta: {results} was made with {_on_line(recorded) or 'default policies'}"
    if differing:
        text += f"; different here: {_on_line(differing)}"
    note(text)


def _on_line(choices: Mapping[str, Any]) -> str:
    """Return choices as on a command line."""
    return " ".join(
        f"--{name.replace('_', '-')} {item}"
        for name, value in choices.items()
        for item in (value if isinstance(value, tuple) else [value])
    )


@contextmanager
def open_source(
    source: list[Path],
    policy: ReadPolicy,
    opening: Opening,
    *,
    choices: Given | None = None,
    evaluation: Evaluation | None = None,
) -> Generator[Store]:
    """Open a store, or read a collection, or some of its tracks, or files into memory.

    The policies of results by which a store is opened, and `choices` that differ, are reported.

    Tracks of a collection that cannot be read, and skipped runs, are reported at the end; with
    --strict, skipped runs give exit status STRICT. The default is strict for runs named on the
    line. With --dask, only a store is accepted. `evaluation` is the only use of a collection or
    files.
    """
    tracks, strict = opening.track, opening.strict
    named = [named_file(str(file)) for file in source]
    first, *runs = (location(file) for _, file in named)
    run_names = [name for name, _ in named]
    if not runs and run_names[0] is not None:
        raise UsageError(f"{source[0]}: only files of runs, qrels and values have names.")
    if not runs and (first.is_file() or is_stream(first)):
        raise UsageError(f"{first} is a file: name the qrels file, and after it the runs.")
    from irmeta.store.layout import is_store, store_folder

    if not runs and is_store(folder := store_folder(first)):
        if policy != ReadPolicy():
            raise UsageError(
                f"{folder} is a store: its reading options were fixed at ingest. A cutoff such as "
                "AP@100 needs no other depth."
                if policy == ReadPolicy(depth=policy.depth)
                else f"{folder} is a store: its reading options were fixed at ingest."
            )
        from irmeta.api.store import Store
        from irmeta.store.scan import tracks_of

        store = Store(first)
        report_policies(store.results, store.eval_policy, choices)
        yield store
        used = tracks_of(store.reader, tracks)
        if strict:
            finish(store, (), strict, tracks=used, choices=choices)
        else:
            report_runs(store, used, choices)
        return
    if opening.dask is not None:
        raise UsageError(f"{first} is not a store: for --dask, make one by irmeta ingest.")
    from irmeta.api.in_memory import read_tracks

    with progress_line("Reading"):
        store, outcomes = read_tracks(
            first,
            policy,
            runs=runs or None,
            names=run_names,
            tracks=tracks,
            workers=opening.workers,
            evaluation=evaluation,
        )
    report_ignored_folders(first)
    lost = [str(o.error) for o in outcomes if o.error is not None]
    if len(lost) == len(outcomes):
        raise IrmetaError(first_few(lost, "fix these to see the others.", " "))
    try:
        yield store
    except IrmetaError:  # an unreadable track or run may be the cause
        report_problems(store, outcomes)
        raise
    finish(store, outcomes, bool(runs) if strict is None else strict, choices=choices)


def report_runs(
    store: Store, tracks: Sequence[str], choices: Mapping[str, Any] | None = None
) -> None:
    """Report on stderr the notes on runs of some tracks, see `OpenedStore.run_notes`."""
    for text in run_notes(store, tracks, choices):
        place = f"{tracks[0]}: " if len(tracks) == 1 else ""
        note(f"irmeta: {place}{text}")


def run_notes(
    source: object, tracks: Tracks, choices: Mapping[str, Any] | None = None
) -> list[str]:
    """Return the notes on runs of a store; a source of values has none."""
    from irmeta.api.opened_store import OpenedStore

    if not isinstance(source, OpenedStore) or not source.tracks or tracks == []:
        return []
    asked = {name: (choices or {}).get(name) for name in ("tie_order", "system")}
    notes = source.run_notes(tracks, **asked)
    return [in_options(text) for text in notes]


def finish(
    store: Store,
    outcomes: Sequence[Outcome],
    strict: bool | None = None,
    lost: Sequence[tuple[str, str]] = (),
    tracks: Collection[str] = (),
    choices: Mapping[str, Any] | None = None,
) -> None:
    """Report problems and notes on runs, and exit with status FAILED or STRICT for problems."""
    skipped = report_problems(store, outcomes, lost, tracks, are_errors=bool(strict))
    read = {outcome.track for outcome in outcomes if outcome.error is None} | {*tracks}
    report_runs(store, sorted(read), choices)
    if lost or any(outcome.error is not None for outcome in outcomes):
        raise typer.Exit(FAILED)
    if strict and skipped:
        raise typer.Exit(STRICT)


def report_ignored_folders(source: Location) -> None:
    """Report on stderr the folders that `only_described` of collection.toml leaves out."""
    from irmeta.trec.collection import left_out

    if ignored := left_out(source):
        listed = first_few(ignored, "all other folders with runs/")
        note(
            f"irmeta: ignored, since collection.toml has only_described and does not describe "
            f"them: {listed}"
        )


def report_kept_tracks(store: Store, read: Collection[str]) -> None:
    """Report on stderr the tracks of a store that are not in the collection."""
    if absent := [track for track in store.tracks if track not in read]:
        listed = first_few(absent, f"irmeta info {store.reader}")
        note(f"irmeta: not in the collection, kept in the store: {listed}")


def report_problems(
    store: Store,
    outcomes: Sequence[Outcome],
    lost: Sequence[tuple[str, str]] = (),
    tracks: Collection[str] = (),
    *,
    are_errors: bool = False,
) -> list[str]:
    """Report on stderr failed tracks, notes on reading and, last, skipped runs.

    `lost` are tracks that failed later, with the error, and `tracks` tracks of the store that this
    command has not read. Return paths of skipped runs, and tracks with an unreadable qrels set.
    """
    failed = [(o.track, str(o.error)) for o in outcomes if o.error is not None]
    for track, error in [*failed, *lost]:
        previous = " The store keeps its previous data." if track in store.tracks else ""
        error_line(f"irmeta: failed: {error}{previous}")
    sources = {o.track: o.source for o in outcomes if o.error is None}
    report = error_line if are_errors else note
    reported = [track for track in store.tracks if track in sources or track in tracks]
    skipped = list[str]()
    for track in reported:
        for warning in store.warnings(track).values():
            note(f"irmeta: {track}: {warning}")
        for row in store.systems(track).iter_rows(named=True):
            file, reason = row["file"], row["skip_reason"]
            if (source := sources.get(track)) is not None:  # paths relative to the collection
                file, reason = source.as_given(file), source.located(file, reason or "")
            if row["malformed"] or row["duplicates"]:
                note(f"irmeta: {track}: {file}: {row['notes']}")
            if reason:
                report(f"irmeta: {track}: {reason}")
                skipped.append(file)
    if skipped:
        runs = "1 run" if len(skipped) == 1 else f"{len(skipped)} runs"
        listed = first_few(skipped, "the reasons are above")
        report(f"irmeta: {runs} skipped: {listed}")
    return [*skipped, *(t for t in reported if "qrels_sets" in store.warnings(t))]
