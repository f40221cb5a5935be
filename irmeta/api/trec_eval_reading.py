"""Reading of the files of `irmeta trec_eval`, with trec_eval's exit statuses."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from irmeta.errors import IrmetaError
from irmeta.measures.trec_eval import TrecEvalError, TrecEvalOptions
from irmeta.policies import Comments, ReadPolicy
from irmeta.results.scores import Scores
from irmeta.store.memory import MemoryStore, read_data, read_into_memory
from irmeta.store.ranked_track import Evaluation
from irmeta.store.scan import read_table
from irmeta.trec.readers.columns import QrelsColumns
from irmeta.trec.readers.files import read_qrels
from irmeta.trec.readers.given import GivenQrels, GivenRun
from irmeta.trec.runs import RowReader, parse_run
from irmeta.trec.source import TrackSource, track_of_files
from irmeta.trec.streams import InputFile, open_stream
from irmeta.trec.text import HashLines, Text, lines

CANNOT_READ, QUERY_FAILED, NO_QUERY = 2, 4, 7
"""Exit statuses of trec_eval."""
_SPOILT = "The first: "  # of the runs that cannot be used
_OTHER_OPTIONS = re.compile(r" `\w+=[^`]*`[^.]*\.")  # a sentence about a keyword of `evaluate`
_ELSEWHERE = "none of its queries is judged"
_SEVERAL_TAGS = " tags, the first is used"


def read_qrels_and_run(
    qrels: str | Path,
    run: str | Path,
    options: TrecEvalOptions,
    evaluation: Evaluation | None,
) -> tuple[MemoryStore, TrackSource, Mapping[str, Any]]:
    """Read both files for an evaluation, or with the grades of all docs if that is None.

    Returns
    -------
    store, source, system
        The track, its source, and the run's row of the table `systems`.

    Raises
    ------
    TrecEvalError
        If one cannot be read, or a list has a doc twice.
    """
    with _with_status():
        store, source = hold(qrels, [run], options, evaluation)
    if (level := decimal_grade(store)) is not None:
        fix = "trec_eval would drop its decimals; irmeta evaluate keeps them"
        raise TrecEvalError(f"{qrels}: grade {level} is not a whole number: {fix}", CANNOT_READ)
    return store, source, _checked(store, run)


def hold(
    qrels: str | Path,
    runs: Sequence[str | Path],
    options: TrecEvalOptions,
    evaluation: Evaluation | None,
) -> tuple[MemoryStore, TrackSource]:
    """Read runs as one track."""
    policy = _policy(options, options.depth)
    source = track_of_files(qrels, runs, policy)
    store, (outcome,) = read_into_memory(str(qrels), [source], policy, evaluation=evaluation)
    if outcome.error is not None:
        raise outcome.error
    return store, source


def read_given(
    sets: Sequence[GivenQrels], run: str | Path, options: TrecEvalOptions, depth: int | None
) -> tuple[MemoryStore, InputFile, Mapping[str, Any]]:
    """Read a run to a depth with qrels sets in memory, as `read_qrels_and_run`."""
    file = InputFile.at(Path(run), str(run))
    with _with_status():
        given = [GivenRun(None, file.name, file)]
        store, outcome = read_data("judgments", sets, given, _policy(options, depth))
        if outcome.error is not None:
            raise outcome.error
    return store, file, _checked(store, run)


_OF_NO_FILE = "a query of no file"
"""Query of the only list of a run that shares no query with the judgments."""


def read_apart(
    qrels: str | Path, run: str | Path, options: TrecEvalOptions
) -> tuple[MemoryStore, InputFile, Mapping[str, Any]]:
    """Read judgments, and as the run a list of another query, where both share no query.

    Returns
    -------
    store, file, system
        See `read_given`; `system` has what `runid` and `problem_of` read.
    """
    comments, file = comments_of(options), InputFile.at(Path(run), str(run))
    with _with_status():
        judged = read_qrels(InputFile.at(Path(qrels), str(qrels)), comments=comments).frame
        parsed = parse_run(file, RowReader(), comments=comments)
        frame = judged.select("query", "doc", "grade")
        row = pl.DataFrame({"query": _OF_NO_FILE, "doc": "doc", "grade": 0}, frame.schema)
        sets = [GivenQrels("qrels", (QrelsColumns(str(qrels), frame.vstack(row)),))]
        given = [GivenRun("run", str(run), {_OF_NO_FILE: {"doc": 1.0}})]
        store, outcome = read_data("judgments", sets, given, _policy(options, options.depth))
        if outcome.error is not None:
            raise outcome.error
    system: dict[str, Any] = {"tag": parsed.tag, "notes": "; ".join(parsed.notes), "file": str(run)}
    system["duplicates"] = parsed.rows.repeats
    if (problem := problem_of(run, system)) is not None:
        raise problem
    return store, file, system


def without_apart(scores: Scores) -> Scores:
    """Return scores of `read_apart` for the queries of the judgments alone."""
    kept = np.array([query != _OF_NO_FILE for query in scores.queries])
    queries = tuple(query for query in scores.queries if query != _OF_NO_FILE)
    values, included, no_list = scores.values, scores.included, scores.no_list
    return replace(
        scores,
        queries=queries,
        values=values[:, kept],
        included=included[:, kept],
        no_list=no_list[kept],
    )


def _policy(options: TrecEvalOptions, depth: int | None) -> ReadPolicy:
    order = "trec_eval10" if options.version == 10 else "trec_eval"
    return ReadPolicy(
        tie_order=order,
        depth=depth,
        names="file",
        duplicates="first",
        comments=comments_of(options),
    )


def comments_of(options: TrecEvalOptions) -> Comments:
    """Return what the version does with lines that begin with #: 9 knows no comments."""
    return "skip" if options.version == 10 else "none"


@contextmanager
def _with_status() -> Generator[None]:
    """Give errors of reading trec_eval's exit status."""
    try:
        yield
    except IrmetaError as error:
        text = str(error).partition(_SPOILT)[2] or str(error)
        text = _OTHER_OPTIONS.sub("", text)
        raise TrecEvalError(text, NO_QUERY if _ELSEWHERE in text else CANNOT_READ) from None


def _checked(store: MemoryStore, run: str | Path) -> Mapping[str, Any]:
    """Return the row of the only run in the table `systems`."""
    (system,) = systems_of(store)
    if (problem := problem_of(run, system)) is not None:
        raise problem
    return system


def systems_of(store: MemoryStore) -> Iterator[dict[str, Any]]:
    """Return the rows of the table `systems`."""
    track = store.track(store.tracks()[0])
    return read_table(track, "systems").iter_rows(named=True)


def decimal_grade(store: MemoryStore) -> float | None:
    """Return the first grade of the qrels that is not a whole number, or None."""
    levels = store.track(store.tracks()[0]).record["qrels"][0].get("levels", ())
    return next((level for level in levels if level != int(level)), None)


def problem_of(run: str | Path, system: Mapping[str, Any]) -> TrecEvalError | None:
    """Return why trec_eval would not use a run that was read."""
    if system["duplicates"]:
        return TrecEvalError(f"{run}: duplicate doc in a list", QUERY_FAILED)
    if system["tag"] is None:
        return TrecEvalError(f"{run}: five columns, where a run has six", CANNOT_READ)
    return None


def runid(run: InputFile, system: Mapping[str, Any], options: TrecEvalOptions) -> str:
    """Return the tag of the last line of a run, its first word."""
    tag = str(system["tag"])
    hashes = HashLines(comments_of(options), lambda _: True)
    if _SEVERAL_TAGS in (system["notes"] or ""):
        with open_stream(run) as stream:
            for _, piece in Text(stream, system["file"]).pieces():
                for _, fields in lines(piece, system["file"], hashes=hashes):
                    tag = fields[5].decode()
    return tag.split()[0]
