"""`read`, `read_files`, `from_data` and `evaluate`: stores of files or data in memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, cast

import numpy as np
import polars as pl

from irmeta.api.opened_store import OpenedStore
from irmeta.api.results_or_data import READ_ALONE, read_given, read_in_order, refuse_names, whole
from irmeta.api.store import Measures, Store
from irmeta.errors import UsageError
from irmeta.locations import AnyLocation, location
from irmeta.measures.evaluate import evaluate as evaluate_track
from irmeta.measures.evaluate import relevant_in_set
from irmeta.measures.names import parse_call
from irmeta.policies import MeanInterval, ReadPolicy
from irmeta.policy_keywords import DataChoices, Policies, ReadChoices
from irmeta.progress import Progress, shows_progress
from irmeta.results.scores import Scores, check_summary, concat_scores
from irmeta.store.ingest import Outcome
from irmeta.store.layout import is_store, store_folder
from irmeta.store.memory import read_into_memory
from irmeta.store.ranked_track import Evaluation
from irmeta.store.scan import Tracks
from irmeta.trec.collection import chosen, read_collection
from irmeta.trec.readers.files import refuse_without_tables
from irmeta.trec.source import track_of_files

if TYPE_CHECKING:
    from irmeta.results.factors import Factor, QueryWeights, Segments


@shows_progress("Reading")
def read(
    collection: str | Path,
    *,
    track: Tracks = None,
    workers: int | None = None,
    memory: int | None = None,
    progress: Progress = None,
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
    progress : bool or callable, optional
        Whether progress is shown on stderr: by default on a terminal or in a notebook, for work of
        over 2 seconds; False, or the environment variable IRMETA_PROGRESS=0: never. A function is
        called instead, with what is done (such as the track), the number of finished items, and of
        all items.
    **choices
        Fields of `ReadPolicy`: tie_order, depth, duplicates, malformed, names,
        run_format, drop_self, grade_digits, comments, subtopics, drop_docs, chunks,
        columns.

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
        If the qrels look like those of another track, or docs of `drop_docs` had no effect.
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
    )
    return whole(store, outcomes)


@shows_progress("Reading")
def read_files(
    qrels: str | Path,
    runs: str | Path | Iterable[str | Path] | Mapping[str, str | Path],
    *,
    workers: int | None = None,
    memory: int | None = None,
    progress: Progress = None,
    **choices: Unpack[ReadChoices],
) -> Store:
    """Read a qrels file and run files into memory, as a store of one track.

    Parameters
    ----------
    qrels : str or Path
        A file whose name becomes the track's; its form is recognised by content. Qrels of five
        columns need a collection with a collection.toml. ``-`` is standard input.
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
        from irmeta.studies.framework.recorded_files import PARTS  # collections alone read it

        if (location(source) / PARTS).is_dir():
            raise UsageError(
                f"{source} holds results of a store in another folder: name the store."
            )
        sources = read_collection(source, policy)
    asked = chosen(sources, tracks, str(source))
    if policy.columns:
        refuse_without_tables(asked)
    held, outcomes = read_into_memory(
        str(source),
        asked,
        policy,
        workers=workers,
        memory=memory,
        evaluation=evaluation,
    )
    return Store(held), outcomes


@shows_progress("Reading")
def from_data(
    qrels: object,
    runs: object,
    *,
    track: str | None = None,
    rel: float | Mapping[str, float] | None = None,
    workers: int | None = None,
    progress: Progress = None,
    **choices: Unpack[DataChoices],
) -> Store:
    """Make a store in memory from qrels and runs in memory, of other packages, or in files.

    Parameters
    ----------
    qrels : object
        One of the forms below. A dict of several, ``{name: qrels}``, is as many qrels sets, the
        first of which is primary.
    runs : object
        One of the forms below: one run, or several as a dict ``{name: run}``, as a list, or as a
        frame with a column ``system`` (or run_id, run, tag). Runs without a name are called
        ``run``, or ``run1``, ``run2``, ... by their places in a list; files are named by their
        tags.
    track : str, optional
        Name of the track; default: the name of the qrels file or data set, else ``data``.
    rel : float or dict, optional
        Least relevant grade of the qrels, or ``{name: grade}`` of some qrels sets, for names of
        measures without `rel=`, except graded gains; default 1.
    workers : int, optional
        Threads over the runs; default: the usable cores.
    progress : bool or callable, optional
        See `read`.
    **choices
        Fields of `ReadPolicy` but `names`: tie_order, depth, duplicates, malformed, run_format,
        drop_self, grade_digits, comments, subtopics, drop_docs, chunks,
        columns.

    Returns
    -------
    Store
        As one of `read_files`; values of measures are the same to the last bit.

    Warns
    -----
    SkippedRunWarning
        If a run has no judged query, or a run file cannot be read.
    QrelsWarning
        If the qrels look like those of another track, or docs of `drop_docs` had no effect.

    Raises
    ------
    UsageError
        If data have an unknown form, or two runs the same name.
    DataError
        If a value is missing or invalid; the message names its column and row, or its query and
        doc.

    Notes
    -----
    Forms of runs and qrels:

    - dicts of dicts, ``{query: {doc: score}}``, as in pytrec_eval and BEIR; ranx's Run and Qrels;
    - dicts of lists, ``{query: [doc, ...]}``: of a run the docs in order, the best first; of qrels
      the relevant docs, which may be a set, with grade 1;
    - frames of polars, pandas, PyArrow, PyTerrier, DuckDB and others, with columns query_id (or
      qid, q_id, query), docno (or doc_id, docid, corpus_id, doc, pid), score or rank; in qrels
      relevance (or label, grade, rel, rating, score) and, if there is one, subtopic or iteration;
    - iterables of named tuples, such as ir_measures' ScoredDoc and Qrel;
    - paths of files whose form is recognised by content (TREC, MS MARCO, BEIR, JSON, CSV, Parquet),
      and open files; ``-`` is standard input;
    - ``ir_datasets:ID``, with the extra ``datasets``: the qrels or scored docs of a data set.

    Ids that are whole numbers become text.

    Examples
    --------
    >>> qrels = {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 2}}
    >>> run = {"q1": {"d1": 0.5, "d2": 1.0}, "q2": {"d1": 0.7}}
    >>> irmeta.from_data(qrels, {"bm25": run}).means("AP")["value"].to_list()
    [0.75]
    """
    refuse_names(choices)
    held, outcome = read_given(qrels, runs, track, workers, ReadPolicy.of(choices), rel)
    return whole(Store(held), [outcome])


class EvaluateChoices(Policies, total=False):
    """Keywords of `evaluate` beside its parameters."""

    memory: int | None
    progress: Progress
    summary: str | Iterable[str] | None
    segments: Segments | pl.DataFrame | str | Path | None
    query_weights: QueryWeights | pl.DataFrame | str | Path | None
    resample_by: Factor | pl.DataFrame | str | Path | None


@shows_progress("Evaluating")
def evaluate(
    qrels: object,
    runs: object = None,
    measures: Measures | None = None,
    *,
    track: Tracks = None,
    per_query: bool = False,
    interval: MeanInterval | None = None,
    rng: int | np.random.Generator = 0,
    workers: int | None = None,
    **choices: Unpack[EvaluateChoices],
) -> pl.DataFrame:
    """Compute the mean of each system by each measure, or the values of queries.

    Parameters
    ----------
    qrels, runs, workers, progress
        See `from_data`. Or a store, a folder that holds one, such as that of `reanalyze`'s results,
        or a collection, followed by the measures: their values are those of `Store.evaluate`.
    measures : str or iterable of str, default 'default'
        See `Store.evaluate`.
    track : str or iterable of str, optional
        Only these tracks of a store or collection.
    per_query : bool, default False
        Whether rows are values of queries instead of means.
    interval, rng
        Confidence interval of each mean: see `Store.evaluate`.
    **choices
        Fields of `ReadPolicy` and `EvalPolicy` but `names` and `qrels`: tie_order, depth,
        duplicates, malformed, run_format, drop_self, grade_digits, comments, subtopics, drop_docs,
        chunks, columns, queries, negative, pool_order, pool_depth, pool_without, system, query,
        query_file; rel as in `from_data`; memory, for a collection, as in `read`; segments,
        query_weights, resample_by and summary as in `Store.evaluate`.

    Returns
    -------
    DataFrame
        system, measure, asked (the name as written; a row for each name), value, queries (number
        in the mean); with `per_query`: system, query, measure, asked, value. NaN: undefined. Of
        several qrels sets (a dict ``{name: qrels}``), a first column qrels names the set. Of a
        store or collection, the columns of `Store.evaluate`.

    Warns
    -----
    SkippedRunWarning, QrelsWarning
        See `from_data`.

    Raises
    ------
    MeasureError
        If a measure is unknown.
    UsageError, DataError
        See `from_data`.

    Examples
    --------
    >>> qrels = {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 2}}
    >>> run = {"q1": {"d1": 0.5, "d2": 1.0}, "q2": {"d1": 0.7}}
    >>> irmeta.evaluate(qrels, run, "map").rows()
    [('run', 'AP', 'map', 0.75, 2)]
    >>> irmeta.evaluate(qrels, run, "map", per_query=True, query="q2")["value"].to_list()
    [1.0]
    >>> irmeta.evaluate("store/", "AP", track="news", system="aldBM25")["value"].round(3).item()
    0.284
    """
    refuse_names(choices)
    if interval is not None and per_query:
        raise UsageError("`interval` is of means: omit `per_query`.")
    given: Any = dict(choices)
    rel = given.pop("rel", None)
    of_means = (given.pop("segments", None), given.pop("query_weights", None))
    if (resample_by := given.pop("resample_by", None)) is not None and interval is None:
        raise UsageError("`resample_by` is of intervals: name one by `interval`.")
    if (summary := given.pop("summary", None)) is not None:
        check_summary(summary, per_query=per_query)
    reading = {name: given.pop(name) for name in READ_ALONE if name in given}
    memory = given.pop("memory", None)
    limit = {} if memory is None else {"memory": memory}
    if isinstance(qrels, OpenedStore) or (
        isinstance(qrels, AnyLocation) and location(qrels).is_dir()
    ):
        if runs is not None and measures is not None:
            raise UsageError(f"{qrels} holds its runs: pass only measures.")
        wanted: Any = "default" if runs is None and measures is None else runs or measures
        asked = {"track": track, "per_query": per_query, "interval": interval, "rng": rng}
        asked |= dict(zip(("segments", "query_weights"), of_means, strict=True))
        asked |= {"summary": summary, "resample_by": resample_by}
        given |= {} if rel is None else {"rel": rel}
        source = _store_of(qrels, track, workers, reading | limit)
        return source.evaluate(wanted, workers=workers, **asked, **given)
    if limit:
        raise UsageError("`memory` is for a collection: omit it for qrels and runs.")
    if runs is None or track is not None:
        problem = "no runs were given" if runs is None else "qrels and runs are of one track"
        raise UsageError(f"{problem}: pass qrels, runs and measures, or a store and measures.")
    specs, policy = parse_call("default" if measures is None else measures, given)
    reading |= {"rel": rel, "tie_order": policy.tie_order}
    store = read_in_order(qrels, runs, workers, reading)
    policy = replace(policy, tie_order=None)  # the lists are in this order
    opened, of_sets = store.track(None, policy), list[Scores]()
    for name in (None,) if policy.overlay else opened.set_names:
        of_set = opened.under(replace(policy, qrels=name))
        of_sets.append(evaluate_track(of_set, relevant_in_set(of_set, specs), workers))
    labels = list[str | None]()
    if any(of_queries is not None for of_queries in of_means):
        from irmeta.results.factors import parts_by_query

        by_query = {"per_query": per_query, "selected": policy.selects_queries}
        of_sets, labels = parts_by_query(of_sets, *of_means, **by_query)
    if summary is not None:
        frames = [scores.query_summary(summary).drop("track") for scores in of_sets]
        return concat_scores(of_sets, frames)
    frames = [scores.frame(per_query=per_query) for scores in of_sets]
    for frame, segment in zip(frames, labels, strict=False):
        column = pl.Series("segment", [segment], pl.String).new_from_index(0, frame.height)
        frame.insert_column(0, column)
    if interval is not None:
        from irmeta.results.factors import Factor
        from irmeta.stats.means import with_intervals  # only intervals need scipy

        groups = None if resample_by is None else Factor.of(resample_by).by_name("")
        pairs = zip(frames, of_sets, strict=True)
        frames = [with_intervals(frame, scores, interval, rng, groups) for frame, scores in pairs]
    return concat_scores(of_sets, frames)


def _store_of(source: object, track: Tracks, workers: int | None, reading: dict[str, Any]) -> Store:
    """Open a store or a folder that holds one; read a collection into memory."""
    if isinstance(source, OpenedStore) or is_store(store_folder(cast("Any", source))):
        if reading:
            fixed = f"{source} is a store, which was read at ingest"
            raise UsageError(f"{fixed}: omit {', '.join(reading)}.")
        return source if isinstance(source, Store) else Store(cast("Any", source))
    collection: Any = source
    return read(collection, track=track, workers=workers, **reading)
