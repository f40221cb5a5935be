"""Reading of a collection, or of single files, into memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Unpack

from irmeta.api.read_outcomes import whole
from irmeta.api.store import Store
from irmeta.errors import UsageError
from irmeta.locations import AnyLocation
from irmeta.policies import ReadPolicy
from irmeta.policy_keywords import ReadChoices
from irmeta.store.ingest import Outcome
from irmeta.store.layout import is_store
from irmeta.store.memory import read_into_memory
from irmeta.store.ranked_track import Evaluation
from irmeta.store.read_track import Progress
from irmeta.store.scan import Tracks
from irmeta.trec.collection import chosen, read_collection
from irmeta.trec.source import track_of_files


def read(
    collection: str | Path,
    *,
    track: Tracks = None,
    workers: int | None = None,
    memory: int | None = None,
    progress: Progress | None = None,
    **choices: Unpack[ReadChoices],
) -> Store:
    """Read a collection into memory, without writing files.

    The store behaves like one of `ingest`, except that `path` is undefined. Use `ingest` for a
    collection that is read repeatedly, or is larger than memory.

    Parameters
    ----------
    collection : str or Path
        See `ingest`.
    track : str or iterable of str, optional
        Only these tracks.
    workers : int, optional
        Threads over the run files of a track; default: the usable cores.
    memory : int, optional
        Limit in bytes, default half of the machine's memory. A row takes about 50 bytes; doc names
        are held once per track.
    progress : callable, optional
        Called with the track, the number of files read, and the number of files.
    **choices
        Fields of `ReadPolicy`: tie_order, depth, duplicates, malformed, names,
        run_format, drop_self, grade_digits, comments.

    Returns
    -------
    Store

    Warns
    -----
    SkippedRunWarning
        If runs were skipped; `store.systems()` has the reasons.
    NamesWarning
        If systems are named by file, because runs share their tags; ``names="file"`` silences it.
    QrelsWarning
        If the qrels look like those of another track.
    PoolDepthWarning
        If a file of pool depths lacks judged queries.
    SelfRetrievalWarning
        If systems rank the doc with the id of the query first for most of their queries.

    Raises
    ------
    IrmetaError
        If a track could not be read, or did not fit into memory.

    Examples
    --------
    >>> irmeta.read("collection/", track="news").tracks
    ['news']
    """
    store, outcomes = read_tracks(
        collection,
        ReadPolicy.of(choices),
        tracks=track,
        workers=workers,
        memory=memory,
        progress=progress,
    )
    return whole(store, outcomes)


def read_files(
    qrels: str | Path,
    runs: str | Path | Iterable[str | Path] | Mapping[str, str | Path],
    *,
    workers: int | None = None,
    memory: int | None = None,
    progress: Progress | None = None,
    **choices: Unpack[ReadChoices],
) -> Store:
    """Read a qrels file and run files into memory, as a store of one track.

    Parameters
    ----------
    qrels : str or Path
        A file whose name becomes the track's; its form is recognised by content. Subtopics, and
        qrels of five columns, need a collection with a collection.toml. ``-`` is standard input.
    runs : str, Path, iterable or dict
        One file or several, or archives of runs; ``-`` is standard input. A dict
        ``{name: file}`` names the systems.
    workers, memory, progress, **choices
        See `read`.

    Returns
    -------
    Store

    Warns
    -----
    SkippedRunWarning, NamesWarning, QrelsWarning, PoolDepthWarning, SelfRetrievalWarning
        See `read`.

    Raises
    ------
    UsageError
        If a file does not exist.
    IrmetaError
        If the qrels, or all runs, cannot be read.

    Examples
    --------
    >>> runs = ["collection/news/runs/aldBM25.gz", "collection/news/runs/aldBM25fb.gz"]
    >>> irmeta.read_files("collection/news/qrels.txt", runs).means("AP")["value"].round(3).to_list()
    [0.284, 0.422]
    """
    names = (None, *map(str, runs)) if isinstance(runs, Mapping) else ()
    files = runs.values() if isinstance(runs, Mapping) else runs
    store, outcomes = read_tracks(
        qrels,
        ReadPolicy.of(choices),
        runs=[files] if isinstance(files, str | Path) else files,
        names=names,
        workers=workers,
        memory=memory,
        progress=progress,
    )
    return whole(store, outcomes)


def read_tracks(
    source: AnyLocation,
    policy: ReadPolicy,
    *,
    runs: Iterable[AnyLocation] | None = None,
    names: Sequence[str | None] = (),
    tracks: Tracks = None,
    workers: int | None = None,
    memory: int | None = None,
    progress: Progress | None = None,
    evaluation: Evaluation | None = None,
) -> tuple[Store, list[Outcome]]:
    """Read like `read` or, with `runs`, `read_files`; return failures instead of warning of them.

    For `evaluation` see `read_into_memory`, for `names` `track_of_files`.
    """
    if runs is not None:
        sources = [track_of_files(source, runs, policy, names)]
    elif is_store(source):
        raise UsageError(f"{source} is a store: open it with irmeta.open_store.")
    else:
        sources = read_collection(source, policy)
    held, outcomes = read_into_memory(
        str(source),
        chosen(sources, tracks, str(source)),
        policy,
        workers=workers,
        memory=memory,
        progress=progress,
        evaluation=evaluation,
    )
    return Store(held), outcomes
