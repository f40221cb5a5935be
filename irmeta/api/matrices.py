"""`matrices`: values by query and system, from a store, results, a file, a user's table."""

from __future__ import annotations

import json
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack, cast

import numpy as np
import polars as pl

from irmeta.api.opened_store import OpenedStore
from irmeta.errors import MeasureError, UsageError, did_you_mean
from irmeta.locations import AnyLocation, Location, NamedFile, is_stream, location
from irmeta.measures.evaluate import evaluate, how_made, relevant_in_set
from irmeta.measures.names import measure_texts, parse_call, parse_measure
from irmeta.naming import split_names
from irmeta.parallel import check_not_forked
from irmeta.policies import SELECTING, EvalPolicy, ReadPolicy, columns_by_key
from irmeta.policy_keywords import EvalChoices
from irmeta.progress import Progress, shows_progress
from irmeta.rankings.track import Track, known_queries
from irmeta.results.matrix import Matrix, read_matrices, read_several
from irmeta.results.scores import Scores
from irmeta.results.tidy_files import provenance, read_parquet
from irmeta.results.value_tables import COLUMN_KEYS
from irmeta.schema.result_tables import QUERIES
from irmeta.stats.tables import NO_RESULTS, directed, is_measure, matrices_of_frame, spellings
from irmeta.store.layout import is_store, store_folder
from irmeta.store.scan import Tracks, each_track, undisturbed
from irmeta.studies.framework.recorded_files import recorded_policy
from irmeta.summaries import SummaryList
from irmeta.trec.readers.frames import renamed_columns

if TYPE_CHECKING:
    from irmeta.measures.pools import UnjudgedDocs

Results = OpenedStore | AnyLocation
"""A store, or where one lies; a folder that `reanalyze` made; a file."""
ValueFiles = Sequence[AnyLocation] | Sequence[NamedFile]
"""Files with values per query of different systems."""


@shows_progress("Evaluating")
def matrices(
    results: Results | ValueFiles | object,
    measures: str | Iterable[str] | None = None,
    *,
    track: Tracks = None,
    columns: Mapping[str, str] | Sequence[str] = (),
    workers: int | None = None,
    progress: Progress = None,
    **choices: Unpack[EvalChoices],
) -> list[Matrix]:
    """Return the per-query values of every track and measure as matrices.

    Parameters
    ----------
    results : Store, str, Path, sequence of str or Path, or frame
        A store, whose measures are computed; a folder that `reanalyze` made; a file of per-query
        values (of irmeta; of trec_eval -q or ir_measures; JSON; CSV or Parquet with the columns
        system, query, measure, value, or with one column per measure), or several of different
        systems, as a list or as a dict ``{name: file}``; a CSV or Parquet table with one column
        per system; or a frame of such columns.
        Paths may be URLs, and ``-`` is standard input.
    measures : str or iterable of str, optional
        Names; default: all of a file or folder or, for a store opened by such a folder, all of
        the folder; ``default`` of any other store.
    track : str or iterable of str, optional
        Only these tracks.
    columns : mapping or sequence of str, optional
        Columns of tables by what they hold (track, system, query, measure, value), as
        ``{"system": "model"}`` or ``"system=model"``: see `ReadPolicy`.
    workers, progress, **choices
        For a store: see `Store.evaluate`; `system`, `query` and `query_file` select systems and
        queries of all results, groups and types those of stores. Of a folder that `reanalyze` made,
        the store inside is evaluated where choices differ from the policies of the folder's values.

    Returns
    -------
    list of Matrix
        Matrices by track and qrels set (``qrels="human,judge"`` is two). A measure with its own
        average, such as ``AP(average=geometric)``, is omitted: its values are those of AP.

    Raises
    ------
    UsageError
        If there are no such results, track or measure, or an omitted measure is named.

    Examples
    --------
    >>> [matrix.values.shape for matrix in irmeta.matrices(store, "AP", track=["news", "web"])]
    [(25, 20), (20, 12)]
    """
    check_not_forked()
    path = opened(with_columns(results, columns), choices)
    if isinstance(path, OpenedStore):
        return _of_store(path, measures, track, workers, choices)
    return SummaryList(_of_values(path, measures, track, workers, choices))


def with_columns(results: Any, columns: Mapping[str, str] | Sequence[str]) -> Any:
    """Return files or a frame of values with the columns that the user names.

    Raises
    ------
    UsageError
        If columns are named for anything but tables.
    """
    if not columns:
        return results
    texts = ReadPolicy(columns=cast(Any, columns)).columns
    several = [results] if isinstance(results, AnyLocation) and not is_store(results) else results
    if isinstance(several, list | tuple | Mapping):
        return [file._replace(columns=texts) for file in opened(several)]
    if isinstance(results, pl.DataFrame):
        return renamed_columns(results, columns_by_key(texts), COLUMN_KEYS, "the table")
    raise UsageError("the choice of columns is for tables: files, or a polars frame.")


def _of_values(
    path: Any,
    measures: str | Iterable[str] | None,
    track: Tracks,
    workers: int | None,
    choices: EvalChoices,
) -> list[Matrix]:
    """Return the matrices of a folder, of files, or of a frame."""
    selecting: dict[str, Any] = {
        name: value for name, value in choices.items() if name in SELECTING
    }
    made_by: dict[str, Any] = {n: value for n, value in choices.items() if n not in SELECTING}
    if workers is not None or (made_by and not _is_made_with(path, made_by)):
        refused = ", ".join([*made_by, *(["workers"] if workers is not None else [])])
        raise UsageError(f"{path} holds values without a store: {refused} apply only to stores.")
    if isinstance(path, Location):
        read = [m for file in _files(path) for m in read_matrices(file, is_measure=is_measure)]
        read = list(_with_judgments(read, path))
    elif isinstance(path, list):
        if len(path) == 1 and path[0].name is None:  # which may have a column for each system
            columns = columns_by_key(path[0].columns)
            read = read_matrices(path[0].path, is_measure=is_measure, columns=columns)
        else:
            read = read_several(path, is_measure)
        path = " ".join(str(file.path) for file in path)
    else:
        read, path = matrices_of_frame(path), "the table"
    directed_matrices = [directed(m) for m in read]
    if not directed_matrices:
        raise UsageError(f"{path} holds no values.")
    if measures is not None:
        directed_matrices = _named(directed_matrices, measures, path)
    asked = {track} if isinstance(track, str) else None if track is None else set(track)
    for name in sorted((asked or set()) - {m.track for m in directed_matrices}):
        hint = did_you_mean(name, {m.track for m in directed_matrices})
        raise UsageError(f"{path} has no track {name!r}. {hint}")
    of_tracks = [m for m in directed_matrices if asked is None or m.track in asked]
    of_tracks = _selected(of_tracks, EvalPolicy(**selecting), path)
    return _with_arithmetic_means(of_tracks, named=measures is not None)


def _with_judgments(matrices: list[Matrix], path: Location) -> Iterator[Matrix]:
    """Yield the values of a folder with the numbers of judged and relevant docs, if it has them."""
    file = path / f"{QUERIES.name}.parquet"
    if not (path.is_dir() and file.is_file()):
        yield from matrices
        return
    columns = ("qrels", "judged", "relevant")
    facts = {
        (track, query): row
        for track, query, *row in read_parquet(file)
        .select("track", "query", *columns)
        .unique(maintain_order=True)
        .iter_rows()
    }
    for matrix in matrices:
        rows = [facts.get((matrix.track, query), (None, None, None)) for query in matrix.queries]
        if not any(None in row for row in rows):
            judgments = np.array([row[1:] for row in rows], np.int64)
            matrix = replace(matrix, qrels=rows[0][0], judgments=judgments)
        yield matrix


def _selected(matrices: list[Matrix], policy: EvalPolicy, path: object) -> list[Matrix]:
    """Return the systems and queries of matrices that a policy selects."""
    known = {system for matrix in matrices for system in matrix.systems}
    for name in policy.system or ():
        if name not in known:
            raise UsageError(f"{path} has no system {name!r}. {did_you_mean(name, known)}")
    if policy.selects_queries:
        queries = {query for matrix in matrices for query in matrix.queries}
        asked = set(known_queries(policy, queries, f"{path} lacks"))
        matrices = [m.only_queries(_places(m.queries, asked)) for m in matrices]
    if policy.system is not None:
        systems = set(policy.system)
        matrices = [m.only_systems(_places(m.systems, systems)) for m in matrices]
    chosen = [matrix for matrix in matrices if matrix.values.size]
    if not chosen:
        raise UsageError(f"{path}: no track has both a selected system and a selected query.")
    return chosen


def _places(names: Sequence[str], selected: Collection[str]) -> np.ndarray:
    return np.flatnonzero([name in selected for name in names])


def made_from(
    results: Results | ValueFiles,
    measures: Iterable[str],
    tracks: Iterable[str],
    **choices: Unpack[EvalChoices],
) -> dict[str, Any]:
    """Return the provenance of a store or of each file; of a table without one its name."""
    path, named = opened(results, choices), set(tracks)
    if isinstance(path, OpenedStore):
        specs, policy = parse_call(measures, path.merged(choices))
        return how_made(list(path.each(named, policy)), specs, policy)
    selecting = {name: value for name, value in choices.items() if name in SELECTING}
    policy = EvalPolicy(**cast("Any", selecting))
    selected = {name: value for name, value in policy.record().items() if name in SELECTING}
    selection = {"selection": selected} if selected else {}
    if isinstance(path, list):
        columns = {"columns": list(path[0].columns)} if path[0].columns else {}
        return {"files": [file.path.name for file in path], **columns, **selection}
    if path.is_file() or is_stream(path):
        record = (None if is_stream(path) else provenance(path)) or {"file": path.name}
        return {**record, **selection}
    records = {file.stem: provenance(file) or {} for file in _files(path)}
    return {
        name: {**record, **selection}
        for name, record in records.items()
        if named & record.get("tracks", {}).keys()
    }


def unjudged_of(
    results: Results | ValueFiles, tracks: Iterable[str], **choices: Unpack[EvalChoices]
) -> list[UnjudgedDocs]:
    """Return the unjudged docs of some tracks of a store, or of a folder that `reanalyze` made.

    Raises
    ------
    UsageError
        If there is no store, and so no list whose docs could be unjudged.
    """
    from irmeta.api.pools import StorePools

    path = opened(results, choices)
    if isinstance(path, OpenedStore):
        return StorePools(path).unjudged(tracks, **choices)
    if isinstance(path, list) or not is_store(folder := store_folder(path)):
        fix = "name the store, or a folder of reanalyze with one"
        raise UsageError(f"{path} holds values without lists, so unjudged docs are unknown: {fix}.")
    pools = StorePools(OpenedStore(folder))
    unjudged: list[UnjudgedDocs] = []
    for name, record in made_from(path, (), tracks).items():
        of_file: Any = EvalPolicy.from_record(record["eval_policy"]).record()
        unjudged += pools.unjudged(name, **of_file)
    return unjudged


def opened(results: Any, choices: Mapping[str, Any] | None = None) -> Any:
    """Open a store; return any other folder or file as its path, and several files as a list.

    A frame is returned as it is.

    The folder of `reanalyze`'s results holds values; where choices differ from the policies that
    these were made with, its store is opened instead.
    """
    if isinstance(results, Mapping):
        results = [NamedFile(str(name), file) for name, file in cast("Any", results).items()]
    if isinstance(results, list | tuple):
        files = cast("Sequence[object]", results)
        named = [f if isinstance(f, NamedFile) else NamedFile(None, cast(Any, f)) for f in files]
        if not all(isinstance(cast(object, file.path), AnyLocation) for file in named):
            raise UsageError(NO_RESULTS)
        return [file._replace(path=location(file.path)) for file in named]
    if isinstance(results, OpenedStore) or not isinstance(results, AnyLocation):
        return results
    if is_store(results):
        return OpenedStore(results)
    path = location(results)
    differs = bool(choices) and not _is_made_with(path, choices)
    return OpenedStore(path) if differs and is_store(store_folder(path)) else path


def _is_made_with(path: Location, choices: Mapping[str, Any]) -> bool:
    """Check whether the values in a folder of results were made with these policies."""
    if not path.is_dir():
        return False
    recorded = recorded_policy(path)
    return EvalPolicy(**{**recorded.changed(), **choices}) == recorded


@contextmanager
def consistent_read(results: Results | ValueFiles, track: Tracks = None) -> Generator[Tracks]:
    """Read a store and its provenance without an ingest in between; see `undisturbed`.

    Yields the tracks of the store, or for other results the requested tracks.
    """
    store = opened(results)
    if not isinstance(store, OpenedStore):
        yield track
        return
    tracks = list(each_track(store.reader, track))
    with undisturbed(*tracks):
        yield [opened.name for opened in tracks]


def _files(path: Location) -> list[Location]:
    files = sorted((path / "scores").glob("*.parquet"), key=str) if path.is_dir() else [path]
    if not files:
        raise UsageError(f"{path} holds no scores: name a folder that reanalyze made, or a file.")
    return files


def _named(matrices: list[Matrix], measures: str | Iterable[str], path: object) -> list[Matrix]:
    """Those of the measures asked for: by the very name in the file, or by another spelling."""
    wanted_names = [name for text in measure_texts(measures) for name in split_names(text)]
    if not wanted_names:
        raise UsageError("no measure was given")
    chosen: dict[int, Matrix] = {}
    for name in wanted_names:
        wanted = {name} if name in {m.measure for m in matrices} else set(spellings(name))
        places = [i for i, m in enumerate(matrices) if wanted & {m.measure, *spellings(m.measure)}]
        if not places:
            hint = did_you_mean(name, {m.measure for m in matrices})
            raise UsageError(f"{path} has no measure {name!r}. {hint}")
        chosen |= {i: matrices[i] for i in places}
    return [chosen[i] for i in sorted(chosen)]


def _of_store(
    store: OpenedStore,
    measures: str | Iterable[str] | None,
    track: Tracks,
    workers: int | None,
    choices: EvalChoices,
) -> list[Matrix]:
    names = measure_texts(_default_measures(store) if measures is None else measures)
    specs, policy = parse_call(names, store.merged(choices))  # before anything is read for them
    matrices = []
    for opened in store.each(track, policy):
        for of_set in opened.by_set():
            scores = evaluate(of_set, relevant_in_set(of_set, specs), workers)
            scores = _with_empty_lists(opened, scores)
            matrices += map(scores.matrix, scores.measures)
    return SummaryList(_with_arithmetic_means(matrices, named=measures is not None))


def _with_empty_lists(track: Track, scores: Scores) -> Scores:
    """Count empty lists as lists: a system that answers a query with no doc has not lost it."""
    if not scores.no_list.any():
        return scores
    rows = track.systems_table.filter(pl.col("empty_lists").is_not_null())
    no_list, queries = scores.no_list.copy(), pl.Series(scores.queries, dtype=pl.String)
    places = {system: place for place, system in enumerate(scores.systems)}
    for system, empty in rows.select("system", "empty_lists").iter_rows():
        if system in places:
            no_list[queries.is_in(json.loads(empty)).to_numpy(), places[system]] = False
    return replace(scores, no_list=no_list)


def _default_measures(store: OpenedStore) -> list[str] | str:
    """Return the measures of the results by which a store was opened, or the preset default."""
    if store.results is None or not (store.results / "scores").is_dir():
        return "default"
    provenances = (provenance(file) or {} for file in _files(store.results))
    return list(dict.fromkeys(name for record in provenances for name in record["measures"]))


def _with_arithmetic_means(matrices: list[Matrix], *, named: bool) -> list[Matrix]:
    """Drop measures whose mean is not arithmetic; such a measure, if named, is an error."""
    averaged = [m.measure for m in matrices if _has_own_average(m.measure)]
    compared = [m for m in matrices if m.measure not in averaged]
    if averaged and (named or not compared):
        raise UsageError(
            f"{averaged[0]}: systems are compared by their values per query and the arithmetic "
            "mean of these; name the measure without average=."
        )
    return compared


def _has_own_average(name: str) -> bool:
    """Whether a name says how to average: counts add up by themselves, and may be compared."""
    try:
        spec = parse_measure(name)
    except MeasureError:
        return False
    return spec.average != spec.measure.average
