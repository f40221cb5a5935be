"""What commands read: a store, or a collection that is read for them; and what became of it."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from irmeta.cli.options import FAILED, STRICT, progress_bar
from irmeta.errors import IrmetaError, UsageError
from irmeta.policies import ReadPolicy

if TYPE_CHECKING:
    from irmeta.api import Store

SourceArgument = Annotated[
    list[Path],
    typer.Argument(
        metavar="SOURCE [RUN]",
        show_default=False,
        help="A store, a folder of reanalyze, or a collection; or a qrels file, then its runs. "
        "Collections and files are read into memory.",
    ),
]
ByFileOption = Annotated[
    bool, typer.Option("--by-file", help="Name runs by their files, not by their tags.")
]


@contextmanager
def opened(
    source: list[Path],
    policy: ReadPolicy,
    tracks: str | list[str] | None = None,
    by_file: bool = False,
    workers: int | None = None,
) -> Iterator[Store]:
    """The store in a folder, or of its collection (with `tracks`, of these alone), or of files.

    Tracks of a collection that cannot be read, and runs that are set aside, are named at the end.
    """
    from irmeta.api import open_store, read_tracks
    from irmeta.trec.source import BY_FILE

    first, *others = source
    if not others and first.is_file():
        raise UsageError(f"{first} is a file: name the qrels file, and after it the runs.")
    if by_file and not others:
        raise UsageError("--by-file is for run files; a collection has names in collection.toml.")
    if not others and (folder := _store_in(first)) is not None:
        if policy != ReadPolicy():
            raise UsageError(f"{folder} is a store: how runs are read was settled at ingest.")
        yield open_store(folder)
        return
    with progress_bar("Reading") as read:
        store, outcomes = read_tracks(
            first,
            policy,
            runs=others or None,
            names=BY_FILE if by_file else "tag",
            tracks=tracks,
            workers=workers,
            progress=read,
        )
    say_left_out(first)
    lost = [(o.track, str(o.error)) for o in outcomes if o.error is not None]
    if len(lost) == len(outcomes):
        raise IrmetaError(" ".join(error for _, error in lost))
    try:
        yield store
    except IrmetaError:  # what it asks for may be among what is not there
        say(store, lost)
        raise
    finish(store, lost)


def _store_in(source: Path) -> Path | None:
    """The folder of a store, or of the one that the results of `reanalyze` hold."""
    from irmeta.api.store import store_folder
    from irmeta.store.layout import is_store
    from irmeta.studies.base import Folder

    folder = store_folder(source)
    if is_store(folder):
        return folder
    if Folder(source).parts.is_dir():
        raise UsageError(f"{source} holds results of a store that lies elsewhere: name that one.")
    return None


def finish(
    store: Store,
    lost: Sequence[tuple[str, str]],
    strict: bool = False,
    tracks: Collection[str] | None = None,
) -> None:
    """As `say`, and end with the status that it asks for."""
    aside = say(store, lost, tracks)
    if lost:
        raise typer.Exit(FAILED)
    if strict and aside:
        raise typer.Exit(STRICT)


def say_left_out(source: Path) -> None:
    """Say on stderr what of a collection no one asked for."""
    from irmeta.trec.collection import left_out

    if names := left_out(source):
        said = ", ".join(names)
        print(f"irmeta: not named in collection.toml, left out: {said}", file=sys.stderr)


def say_kept(store: Store, read: Collection[str]) -> None:
    """Say on stderr which tracks of a store are none of the collection's, which was read whole."""
    if others := [track for track in store.tracks if track not in read]:
        said = ", ".join(others)
        print(f"irmeta: not in the collection, kept in the store: {said}", file=sys.stderr)


def say(
    store: Store, lost: Sequence[tuple[str, str]], tracks: Collection[str] | None = None
) -> list[str]:
    """Say on stderr what failed, what was dropped and, last, what was set aside.

    Returns
    -------
    The last, a word for each.
    """
    for track, error in lost:
        kept = " The store keeps what it had of it." if track in store.tracks else ""
        print(f"irmeta: failed: {error}{kept}", file=sys.stderr)
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
    return aside
