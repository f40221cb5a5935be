"""`from_data` and `evaluate`: runs and qrels that a program has in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Unpack

import numpy as np
import polars as pl

from irmeta.api.read_outcomes import whole
from irmeta.api.results_or_data import READ_ALONE, read_given, read_in_order, refuse_names
from irmeta.api.store import Measures, Store
from irmeta.errors import UsageError
from irmeta.measures.evaluate import evaluate as evaluate_track
from irmeta.measures.evaluate import relevant_in_set
from irmeta.measures.names import parse_call
from irmeta.policies import MeanInterval, ReadPolicy
from irmeta.policy_keywords import DataChoices, Policies
from irmeta.results.scores import Scores, concat_scores


def from_data(
    qrels: object,
    runs: object,
    *,
    track: str | None = None,
    subtopics: bool = False,
    rel: float | Mapping[str, float] | None = None,
    workers: int | None = None,
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
    subtopics : bool, default False
        Whether a column ``iteration``, or the second column of a qrels file, is a subtopic. A
        column ``subtopic`` always is.
    rel : float or dict, optional
        Least relevant grade of the qrels, or ``{name: grade}`` of some qrels sets, for names of
        measures without `rel=`, except graded gains; default 1.
    workers : int, optional
        Threads over the runs; default: the usable cores.
    **choices
        Fields of `ReadPolicy` but `names`: tie_order, depth, duplicates, malformed, run_format,
        drop_self, grade_digits, comments.

    Returns
    -------
    Store
        As one of `read_files`; values of measures are the same to the last bit.

    Warns
    -----
    SkippedRunWarning
        If a run has no judged query, or a run file cannot be read.
    QrelsWarning
        If the qrels look like those of another track.

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
    held, outcome = read_given(qrels, runs, track, subtopics, workers, ReadPolicy(**choices), rel)
    return whole(Store(held), [outcome])


def evaluate(
    qrels: object,
    runs: object,
    measures: Measures = "default",
    *,
    per_query: bool = False,
    interval: MeanInterval | None = None,
    rng: int | np.random.Generator = 0,
    subtopics: bool = False,
    rel: float | Mapping[str, float] | None = None,
    workers: int | None = None,
    **choices: Unpack[Policies],
) -> pl.DataFrame:
    """Compute the mean of each system by each measure, or the values of queries.

    Parameters
    ----------
    qrels, runs, subtopics, rel, workers
        See `from_data`.
    measures : str or iterable of str, default 'default'
        See `Store.evaluate`.
    per_query : bool, default False
        Whether rows are values of queries instead of means.
    interval, rng
        Confidence interval of each mean: see `Store.evaluate`.
    **choices
        Fields of `ReadPolicy` and `EvalPolicy` but `names` and `qrels`: tie_order, depth,
        duplicates, malformed, run_format, drop_self, grade_digits, comments, queries, negative,
        pool_order, pool_depth, pool_without.

    Returns
    -------
    DataFrame
        system, measure, asked (the name as written; a row for each name), value, queries (number
        in the mean); with `per_query`: system, query, measure, asked, value. NaN: undefined. Of
        several qrels sets (a dict ``{name: qrels}``), a first column qrels names the set.

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
    >>> irmeta.evaluate(qrels, run, "map", per_query=True).select("query", "value").rows()
    [('q1', 0.5), ('q2', 1.0)]
    """
    refuse_names(choices)
    if interval is not None and per_query:
        raise UsageError("`interval` is of means: omit `per_query`.")
    given: Any = dict(choices)
    reading = {name: given.pop(name) for name in READ_ALONE if name in given}
    specs, policy = parse_call(measures, given)
    reading |= {"subtopics": subtopics, "rel": rel, "tie_order": policy.tie_order}
    store = read_in_order(qrels, runs, workers, reading)
    policy = replace(policy, tie_order=None)  # the lists are in this order
    (track,), found = store.tracks, list[Scores]()
    for one in store.reader.read_record(track)["qrels"]:
        of_set = replace(policy, qrels=one["name"])
        named = relevant_in_set(store.reader, track, specs, of_set)
        found.append(evaluate_track(store.reader, track, named, of_set, workers))
    frames = [scores.to_frame(per_query=per_query) for scores in found]
    if interval is not None:
        from irmeta.stats.means import with_intervals  # only intervals need scipy

        pairs = zip(frames, found, strict=True)
        frames = [with_intervals(frame, scores, interval, rng) for frame, scores in pairs]
    return concat_scores(found, frames)
