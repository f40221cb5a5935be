"""Policies: named choices that affect results, fixed at ingest or recorded in each result."""

from __future__ import annotations

import hashlib
import math
import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from numbers import Integral, Real
from pathlib import Path
from typing import Any, ClassVar, Literal

from irmeta.errors import DataError, UsageError, did_you_mean, printable
from irmeta.options import Options, option

TieOrder = Literal["trec_eval", "trec_eval10", "score-file", "file", "rank"]
Duplicates = Literal["error", "first", "best"]
Malformed = Literal["error", "skip"]
Comments = Literal["auto", "rows", "skip", "none"]
RunFormat = Literal["auto", "trec", "msmarco", "scores", "csv", "json", "jsonl", "parquet"]
Averaged = Literal["judged", "relevant", "retrieved"]
Negative = Literal["unjudged", "nonrelevant"]
NAMES = ("auto", "tag", "file")
"""Naming rules of systems, other than a pattern."""
Unretrieved = Literal["irrel", "floor", "irrel+1", "depth"]
Buckets = Literal["linear", "log"]
Counted = Literal["systems", "groups", "others", "pooled"]
Rarity = Literal["linear", "revised", "idf", "unique"]
Majority = Literal["queries", "decided"]
By = Literal["win-rate", "borda", "mc4"]
On = Literal["preference", "win-rate"]
Opponents = Literal["systems", "groups"]
PreferenceTest = Literal["hsd-randomised", "t"]
Correction = Literal["none", "bonferroni", "holm", "benjamini-hochberg"]
JudgingOrder = Literal[
    "depth", "movetofront", "hedge", "rbp", "maxmean", "thompson", "judge", "random", "sample",
    "bandit",
]  # fmt: skip
Missing = Literal["error", "common", "zero"]
"""What becomes of a query without a value of a system that has one of another system."""
Alternative = Literal["two-sided", "greater", "less"]
"""What a test looks for: a difference, or only a system's greater or smaller mean."""
VarianceEstimator = Literal["anova", "reml"]
"""Estimator of variance components: mean squares, or restricted maximum likelihood."""
MeanInterval = Literal["t", "bootstrap"]
"""Method of the confidence interval of a mean: see `irmeta.stats.mean_intervals`."""
Test = Literal[
    "t", "t-unpaired", "wilcoxon", "sign", "permutation", "bootstrap",
    "hsd", "hsd-blocked", "hsd-randomised", "bootstrap-max-t",
]  # fmt: skip


@dataclass(frozen=True)
class ReadPolicy(Options):
    """Policy that turns run files into ranked lists, fixed when a track is ingested.

    Parameters
    ----------
    tie_order
        ``trec_eval``: score descending compared as float32, then doc descending by bytes
        (trec_eval 7-9, pytrec_eval, TREC's published numbers). ``trec_eval10``: in float64.
        ``score-file``: score descending, ties in line order. ``file``: line order, scores ignored.
        ``rank``: the file's rank column, ties in line order.
    depth
        Keep the first `depth` docs of each list, after ordering (trec_eval -M); None keeps all.
    duplicates
        A doc twice in a list: ``error`` skips the run, ``first`` keeps the first line, ``best`` the
        one that the tie order ranks highest: that of the best score, under ``rank`` of the
        smallest rank, under ``file`` the first.
    malformed
        A line that cannot be read: ``error`` skips the run, ``skip`` drops the line and counts it.
    names
        Names of systems. ``tag``: the last column of the run, or the file name where the column is
        missing; a second run of the same name is skipped. ``file``: the file name without
        extension, compression and a common first word (``input.``); files of the same name are
        distinguished by folder or extension. ``auto``: the tag, or the file name for all runs of a
        track where two runs share a tag. Any other value is a regular expression with one group
        that matches the complete file name; the group is the name.
    run_format
        Form of run files. ``auto``: recognised by content. ``trec``: query Q0 doc rank score tag.
        ``msmarco``: query doc rank, and a score if there is a fourth column. ``scores``: query doc
        score. ``csv``: CSV or TSV with named columns. ``json``: {query: {doc: score}}. ``jsonl``: a
        record per line. ``parquet``: named columns.
    drop_self
        Whether docs with the id of their query are removed from the lists, as in BEIR's ArguAna and
        Quora, whose queries are docs of the collection.
    grade_digits
        Decimals to which the grades of qrels are rounded; None keeps them.
    comments
        Lines of TREC and MS MARCO text that begin with #. Those whose first field is longer and
        that have all fields of a row are rows under ``auto``, with a note, and an error if the
        query without # is in the file too (a row that is commented out?); ``rows``: always rows;
        ``skip``: never. All others are comments. ``none``: no line is a comment, as in trec_eval 9.
    subtopics
        Whether the second column of qrels in TREC form, or a column ``iteration``, is a subtopic.
        A column ``subtopic`` is always read as one.
    drop_docs
        File of docs that are taken out of the lists and judgments of queries, before ranks are
        counted: those judged before (residual collections), items that users know, the doc that a
        query was made from. Lines ``query doc``; or a table with such columns, or qrels of any
        grades. Lines without effect are counted; a file of nothing else is an error. Queries
        without judgments left are not averaged. Records have the file's name and SHA-256.
    chunks
        Separator of ids of chunks, such as ``#``: what stands before the first one is the id of the
        doc, which has the rank of its best chunk (see `duplicates`). Judgments are of docs.
    columns
        Columns of tables (CSV, JSON records, JSONL, Parquet, frames) by what they hold, as
        ``doc=sku,grade=ctr``, or in Python a dict ``{"doc": "sku"}``: query, doc, system, score,
        rank, grade, subtopic, iteration; in tables of values also measure, value, track and
        evaluator. The name is exact, and a table without it is an error. What is named twice may be
        either: the first that a table has. Other columns keep their usual names.

    Examples
    --------
    >>> irmeta.ReadPolicy(tie_order="rank", depth=100).names
    'auto'
    """

    tie_order: TieOrder = option("trec_eval", "Order of the docs of a list, and of tied docs.")
    depth: int | None = option(None, "Keep only the first DEPTH docs of each list.", least=1)
    duplicates: Duplicates = option("error", "Treatment of a doc that occurs twice in a list.")
    malformed: Malformed = option("error", "Treatment of malformed lines.")
    names: str = option(
        "auto",
        "Names of systems; auto: by tag, or by file in tracks where runs share a tag.",
        parse="irmeta.policies:checked_names",
        metavar="auto|tag|file|PATTERN",
    )
    run_format: RunFormat = option("auto", "Format of run files; auto: recognised by content.")
    drop_self: bool = option(False, "Remove docs that have the id of their query.")
    grade_digits: int | None = option(
        None, "Round grades to DIGITS decimals.", least=0, most=15, metavar="DIGITS"
    )
    comments: Comments = option("auto", "Meaning of lines of text that begin with #.")
    subtopics: bool = option(
        False,
        "Read the second column of qrels as a subtopic, as a column named subtopic always is.",
    )
    drop_docs: str | None = option(
        None,
        "Take docs out of lists and judgments; lines of FILE: query doc.",
        metavar="FILE",
        file=True,
    )
    chunks: str | None = option(
        None,
        "Rank docs by their best chunks; the id of a doc is the text before SEPARATOR.",
        metavar="SEPARATOR",
        parse="irmeta.policies:checked_separator",
    )
    columns: tuple[str, ...] = option(
        (),
        "Columns of tables by what they hold: doc=sku,grade=ctr.",
        metavar="KEY=COLUMN,...",
    )

    def __post_init__(self) -> None:
        if isinstance(self.drop_docs, os.PathLike):
            object.__setattr__(self, "drop_docs", os.fspath(self.drop_docs))
        super().__post_init__()
        if self.columns:
            object.__setattr__(self, "columns", checked_columns(self.columns))

    def record(self) -> dict[str, Any]:
        """Return the options; those of later versions only where they are not the default.

        Stores of earlier versions, which lack them, stay up to date.

        Raises
        ------
        DataError
            If the file of `drop_docs` cannot be read.
        """
        changed = self.changed()
        late = ("run_format", "drop_self", "grade_digits", "comments", "subtopics")
        late += ("drop_docs", "chunks", "columns")
        record = super().record()
        if self.drop_docs is not None:
            record["drop_docs"] = recorded_file(self.drop_docs)
        return {n: value for n, value in record.items() if n not in late or n in changed}


_RECORDED = re.compile(r".+ sha256:[0-9a-f]{64}", re.DOTALL)


def recorded_file(path: str) -> str:
    """Return the name and SHA-256 of a file as one text; such a text as it is.

    Raises
    ------
    DataError
        If the file cannot be read.
    """
    if _RECORDED.fullmatch(path):
        return path
    try:
        with Path(path).open("rb") as file:
            digest = hashlib.file_digest(file, "sha256")
    except OSError as error:
        problem = error.strerror or "it cannot be read"
        raise DataError(problem, file=printable(path)) from None
    return f"{printable(Path(path).name)} sha256:{digest.hexdigest()}"


def checked_separator(text: str) -> str:
    """Return the separator of `chunks`.

    Raises
    ------
    UsageError
        If it is empty, or white space, which ids cannot hold in every form.
    """
    if not text.strip():
        raise UsageError(f"chunks = {text!r} is no separator: give one such as '#'.")
    return text


def checked_names(names: str) -> str:
    """Return a valid value of `names`: one of `NAMES`, or a pattern with one group."""
    if names in NAMES:
        return names
    import regex  # slow to import, and few collections have a pattern

    hint = did_you_mean(names, NAMES)
    known = f'Known: {", ".join(sorted(NAMES))}; or a pattern such as "input\\\\.(.*)\\\\.gz".'
    fix = hint if hint.startswith("Did") else known
    try:
        groups = regex.compile(names).groups
    except regex.error as error:
        raise UsageError(f"names = {names!r} is not a pattern ({error}). {fix}") from None
    if groups != 1:
        raise UsageError(f"names = {names!r} has {groups} groups, not one. {fix}")
    return names


HOLDS = (
    *("query", "doc", "system", "score", "rank", "grade", "subtopic", "iteration"),
    *("measure", "value", "track", "evaluator"),
)
"""What a column of a table may hold."""
Columns = Mapping[str, Sequence[str]]
"""Names of columns by what they hold, of which a table has one."""


def checked_columns(given: tuple[str, ...]) -> tuple[str, ...]:
    """Return texts ``KEY=COLUMN``, one for each column.

    Raises
    ------
    UsageError
        If a text has no such form, a key is not in `HOLDS`, or a column holds two things.
    """
    parts = [part.strip() for text in given for part in re.split(r",(?=\s*\w+=)", text)]
    for text in parts:
        key, equals, column = text.partition("=")
        if not (equals and column):
            raise UsageError(f"columns: {text!r} is not KEY=COLUMN, as in doc=sku,grade=ctr.")
        if key not in HOLDS:
            raise UsageError(f"columns: no column holds {key!r}. {did_you_mean(key, HOLDS)}")
        if (first := next(p for p in parts if p.partition("=")[2] == column)) != text:
            raise UsageError(
                f"columns: {column!r} is given for {first.partition('=')[0]} and {key}."
            )
    return tuple(dict.fromkeys(parts))


def columns_by_key(columns: Sequence[str]) -> Columns:
    """Return checked texts of `ReadPolicy.columns` by what they hold."""
    by_key = dict[str, list[str]]()
    for text in columns:
        key, _, column = text.partition("=")
        by_key.setdefault(key, []).append(column)
    return by_key


def checked_rel(given: tuple[str, ...]) -> tuple[str, ...]:
    """Return least relevant grades, ``GRADE`` or ``SET=GRADE``, each set once and finite."""
    rel_by_set(given)
    return given


def _rel_texts(given: Any) -> Any:
    """Return a number, or a dict of grades by set, as texts; None as no text."""
    if given is None:
        return ()
    if isinstance(given, Mapping):
        return tuple(f"{name}={one}" if name else f"{one}" for name, one in given.items())
    return (f"{given}",) if isinstance(given, Real) else given


def checked_selection(given: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """Return names of systems or queries without repetitions; none at all are an error."""
    if given == ():
        raise UsageError("no system or query was given: omit `system` or `query` for all.")
    return None if given is None else tuple(dict.fromkeys(given))


def checked_sets(given: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """Return texts ``[TRACK=]SET[,SET]``, one at most for each track and one for all others."""
    if given is None:
        return None
    tracks = [text.partition("=")[0] if "=" in text else "" for text in given]
    if again := [track for i, track in enumerate(tracks) if track in tracks[:i]]:
        of = f"track {again[0]!r}" if again[0] else "all tracks"
        raise UsageError(
            f"qrels: two texts are given for {of}: write the sets with a comma between them, or "
            "TRACK=SET."
        )
    return given or None


def sets_of_track(given: Sequence[str] | None, track: str, sets: Collection[str]) -> str | None:
    """Return what texts ``[TRACK=]SET[,SET]`` name for a track with these sets; None: nothing."""
    chosen = None
    for text in given or ():
        name, equals, of_track = text.partition("=")
        if equals and name == track and text not in sets:
            return of_track
        if not equals or text in sets:
            chosen = text
    return chosen


def no_systems(given: tuple[str, ...] | None) -> None:
    """Refuse a selection of systems, where results are of all."""
    if given is not None:
        raise UsageError("system: this study has results of all systems: omit `system`.")


def _query_texts(given: Any) -> Any:
    """Return ids of queries that are whole numbers as texts."""
    if isinstance(given, Integral):
        return (f"{given}",)
    if isinstance(given, str) or not isinstance(given, Iterable):
        return given
    return tuple(f"{query}" if isinstance(query, Integral) else query for query in given)


SELECTING = ("system", "query", "query_file")
"""The fields of `EvalPolicy` that select systems and queries."""


def rel_by_set(given: tuple[str, ...]) -> dict[str | None, float]:
    """Return least relevant grades by qrels set, None for all others: see `checked_rel`."""
    found = dict[str | None, float]()
    for one in given:
        name, equals, grade = one.rpartition("=")
        try:
            number = float(grade)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise UsageError(f"rel: {grade!r} of {one!r} is not a grade.")
        key = name if equals else None
        if key in found:
            raise UsageError(f"rel: two grades are given for {name or 'all sets'}.")
        found[key] = number
    return found


@dataclass(frozen=True)
class EvalPolicy(Options):
    """Policy for averaging and for reading qrels, recorded in each result's metadata.

    Parameters
    ----------
    queries
        Queries that a mean covers. ``judged``: every query in the qrels, as trec_eval -c; a query
        without a list scores the measure's worst value. ``relevant``: queries with a relevant doc
        at the measure's `rel`. ``retrieved``: queries with a list of the system (trec_eval without
        -c).
    negative
        Grades below 0. ``unjudged``: in the pool but unjudged (trec_eval). ``nonrelevant``:
        judged and not relevant.
    qrels
        The qrels set by name; None is the track's primary set. `evaluate`, `compare` and `matrices`
        also take several, with commas between them. ``TRACK=SET`` is that of one track; in Python
        also a dict of sets by track, None for all others.
    overlay
        Qrels sets that are laid over one another, such as people's and a judge's: the label of a
        doc is that of the first set that has one. A grade below 0 is no label, unless `negative`
        is ``nonrelevant``. The sets have one scale and one least relevant grade. Results record
        how many labels come from each set. Empty: one set, see `qrels`.
    tie_order
        Tie order of the lists; None keeps the store's. An error where the lists were cut to a depth
        at ingest, since the docs below the cut are lost.
    pool_order
        Tie order of the lists that made the pool, for measures that use the depth of a doc in the
        pool. ``score-file``: as `head` on a run sorted by score would.
    pool_depth
        Judgments as a pool of this depth would have made them: docs that no contributing system
        ranks so high are unjudged. None: all judgments. Below the depth to which the pool is
        complete, docs that were never judged are missing, so the pool is only a part of that one.
    pool_without
        Systems, ``group=NAME`` or ``type=NAME`` that are removed from the pool and still scored:
        docs that they alone contributed are unjudged. See `JudgedRanks.with_pool`.
    rel
        Least relevant grade of all qrels sets, or ``SET=GRADE`` of one, for names of measures and
        preferences without `rel=` (in Python also a number, or a dict by set): as `rel` of a
        collection states it. Empty: that of the collection, else 1.
    system
        The only systems in the results, by name, ``group=NAME`` or ``type=NAME``. The values of a
        system do not depend on the others: pools, rarity and all else that lists of other systems
        decide are those of the whole track. None: all systems.
    query
        The only queries that are read and averaged, by name; None: all.
    query_file
        File of such queries: a line per query that begins with its id. None: all, or `query`.
    costs
        File of the costs of reading docs, for the measures of the C/W/L framework with
        ``quantity=EC`` or ``ETC`` and for BPM: lines ``query doc cost`` or ``doc cost``. All other
        docs, and ranks below the end of a list, cost 1. None: all do.

    Examples
    --------
    >>> irmeta.EvalPolicy(queries="relevant").negative
    'unjudged'
    """

    queries: Averaged = option("judged", "Queries that are averaged.")
    negative: Negative = option("unjudged", "Meaning of grades below 0.")
    qrels: tuple[str, ...] | None = option(
        None,
        "Qrels set, of all tracks or of one (repeatable); default the track's first. evaluate and "
        "compare take several: A,B.",
        metavar="[TRACK=]SET[,SET]",
        parse="irmeta.policies:checked_sets",
        names="qrels",
    )
    tie_order: TieOrder | None = option(None, "Tie order; default the store's.")
    pool_order: TieOrder = option("score-file", "Tie order of the lists that made the pool.")
    pool_depth: int | None = option(
        None, "Depth of the pool that judgments are cut to; default all judgments.", least=1
    )
    pool_without: tuple[str, ...] = option(
        (),
        "Systems to remove from the pool; they are still scored (repeatable).",
        metavar="SYSTEM|group=NAME|type=NAME",
        names="systems",
    )
    costs: str | None = option(
        None, "File of costs of docs: query doc cost, or doc cost.", metavar="FILE", file=True
    )

    system: tuple[str, ...] | None = option(
        None,
        "Only these systems; their values do not change (repeatable).",
        metavar="SYSTEM|group=NAME|type=NAME",
        parse="irmeta.policies:checked_selection",
    )
    query: tuple[str, ...] | None = option(
        None,
        "Only these queries (repeatable).",
        parse="irmeta.policies:checked_selection",
    )
    query_file: str | None = option(
        None,
        "Only the queries of a file: a line per query that begins with its id.",
        metavar="FILE",
        file=True,
    )

    rel: tuple[str, ...] = option(
        (),
        "Least relevant grade, of all qrels sets or of one (repeatable); default as the collection "
        "states, or 1.",
        metavar="GRADE|SET=GRADE",
        parse="irmeta.policies:checked_rel",
    )
    overlay: tuple[str, ...] = option(
        (),
        "Qrels sets, as A,B: a label comes from the first set that has one.",
        metavar="SET,SET",
        names="qrels",
    )

    def __post_init__(self) -> None:
        default: Any = type(self).rel
        stated: Any = self.rel
        if isinstance(default, tuple) and not isinstance(stated, tuple):
            object.__setattr__(self, "rel", _rel_texts(stated))  # a study may have its own grade
        if self.query is not None:
            object.__setattr__(self, "query", _query_texts(self.query))
        if isinstance(self.qrels, Mapping):
            sets: Mapping[Any, Any] = self.qrels
            texts = (f"{track}={names}" if track else names for track, names in sets.items())
            object.__setattr__(self, "qrels", tuple(texts))
        super().__post_init__()
        if self.overlay:
            overlaid = [name.strip() for text in self.overlay for name in text.split(",")]
            if len(overlaid) < 2 or not all(overlaid) or len(set(overlaid)) < len(overlaid):
                raise UsageError(
                    f"overlay = {','.join(self.overlay)!r}: name two or more different qrels "
                    "sets, as human,judge."
                )
            if self.qrels is not None:
                raise UsageError("overlay and qrels both name qrels sets: give one of them.")
            object.__setattr__(self, "overlay", tuple(overlaid))

    def record(self) -> dict[str, Any]:
        """Return the options; late ones only if they are given, so that older records stay equal.

        These are `costs`, `rel`, `overlay`, and those that select systems and queries.
        """
        record, late = super().record(), ("costs", "rel", "overlay", *SELECTING)
        if self.qrels is not None and len(self.qrels) == 1:
            record["qrels"] = self.qrels[0]
        return {name: v for name, v in record.items() if name not in late or v}

    @property
    def all_systems(self) -> EvalPolicy:
        """The policy without a selection of systems."""
        return replace(self, system=None)

    @property
    def everything(self) -> EvalPolicy:
        """The policy without a selection of systems and queries."""
        return replace(self, **dict.fromkeys(SELECTING))

    @property
    def selects_queries(self) -> bool:
        """Whether some queries are selected."""
        return self.query is not None or self.query_file is not None

    @property
    def has_smaller_pool(self) -> bool:
        """Whether judgments are cut to a smaller pool."""
        return self.pool_depth is not None or bool(self.pool_without)


@dataclass(frozen=True)
class TrackOptions(EvalPolicy):
    """Options of every study over tracks."""

    min_systems: int = option(
        1, "Exclude tracks with fewer systems from summaries over tracks.", least=1
    )
    computes_few: ClassVar[bool] = True
    """Whether a track with fewer systems than `min_systems` has tables of its own."""

    def used(self) -> dict[str, Any]:
        """Return what empty options stand for."""
        return {
            "qrels": "the first set of each track",
            "tie_order": "that of the lists",
            "pool_depth": "all judgments",
            "pool_without": "all systems in the pool",
            "system": "all systems",
            "query": "all queries",
            "query_file": "all queries",
        }

    def check_sets(self, sets: Mapping[str, Sequence[str]]) -> None:
        """Check the qrels sets without subtopics of all tracks, by track.

        Raises
        ------
        NothingToStudyError
            If no track has what the study compares.
        """

    @property
    def policy(self) -> EvalPolicy:
        """The evaluation policy among the options."""
        values = {one.name: getattr(self, one.name) for one in fields(EvalPolicy)}
        own: Any = self.rel
        if not isinstance(own, tuple):  # a study's own, which names of its measures state
            del values["rel"]
        return EvalPolicy(**values)


@dataclass(frozen=True)
class RunRules(Options):
    """What `irmeta.validate` compares runs with."""

    query_file: str | None = option(
        None, "The topics: a line per query that begins with its id.", metavar="FILE"
    )
    max_depth: int = option(1000, "Largest number of docs of a query.", least=1)
    doc_file: str | None = option(
        None, "The collection: a line per doc that begins with its id.", metavar="FILE"
    )
