"""Reading of all files of one track to rows and judgments with numbered names, and its record."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from operator import attrgetter
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import polars as pl

from irmeta.checksums import to_json
from irmeta.errors import DataError, printable, short
from irmeta.parallel import check_stopped, ordered_map
from irmeta.policies import NAMES
from irmeta.progress import REPORT
from irmeta.schema import FORMAT
from irmeta.store.assemble import Named, TrackLists, TrackRows, name_runs
from irmeta.store.facts import (
    QUERY_FACTS,
    Facts,
    read_columns,
    read_facts,
    read_pool_depths,
    read_subtopics,
    undescribed,
    with_metadata,
    without_depth,
)
from irmeta.store.long_table import GROUP_ROWS, Groups, Names, Noticed
from irmeta.store.read_run import AnyRun, InMemory, Run, SkippedRun, read_run
from irmeta.store.readers import Judgments, Readers, TrackNames, judgments
from irmeta.trec.archives import archive_kind, members
from irmeta.trec.numbered_names import Names as NumberedNames
from irmeta.trec.qrels import MOST_LISTED, SAMPLED, QrelsText
from irmeta.trec.readers.files import read_qrels
from irmeta.trec.room import Limits, OutOfRoomError
from irmeta.trec.source import AnyTrack, QrelsSource, TrackSource, qrels_problem
from irmeta.trec.streams import InputFile, file_sha256, stored_sha256
from irmeta.trec.system_names import pattern_name

MOST_ROWS = 1 << 25  # rows of a track in memory; further rows go to a temporary file


@dataclass(frozen=True)
class Beside:
    """Content of the files of a track other than its runs; `left_out` tells of unreadable sets.

    `inputs` has the SHA-256 of each file, None if unreadable; `described` set, query, subtopic,
    weight and type of subtopics files; `pool_depths` those of a file, by query; `queries` query,
    column and value of the file of facts about queries, `factors` kind, name, column and value of
    those about systems and judges.
    """

    source: TrackSource
    sets: list[tuple[QrelsSource, QrelsText]]
    facts: dict[str, Facts]
    described: pl.DataFrame
    pool_depths: dict[str, int]
    queries: pl.DataFrame
    factors: pl.DataFrame
    left_out: str | None
    inputs: dict[str, str | None]


@dataclass(frozen=True)
class ReadTrack(Beside):
    """Content of the files of a track; the limits leave memory for `workers` threads."""

    rows: TrackLists[Any]
    named: Named[Any]
    names: TrackNames
    pool: Judgments
    workers: int = 1
    warned: dict[str, str] = field(default_factory=dict)

    def record(self, noticed: Noticed) -> dict[str, Any]:
        """Return the track's record as JSON, without the checksums of its files in a store."""
        source, rows, sets = self.source, self.rows, self.sets
        judged_rows = int(noticed.judged.sum())
        notes = [
            f"{printable(given.file)}: {note}" for given, qrels in sets for note in qrels.shown
        ]
        rules, queries = source.doc_rules, set(sets[0][1].frame["query"].unique())
        warnings = {
            "names": self.named.note,
            "qrels_sets": self.left_out,
            "rows": "; ".join(notes) or None,
            "qrels": _qrels_warning(rows, self.pool, judged_rows),
            "pool_depth": without_depth(source, self.pool_depths, queries),
            "self_retrieval": _self_warning(rows, noticed.selves.tolist()),
            "drop_docs": None if rules is None else rules.note(),
        }
        record = {
            "track": source.name,
            "config": config_record(source),
            "inputs": self.inputs,
            "systems": [run.system for run in rows.runs],
            "named_by": self.named.by,
            "skipped_runs": len(self.named.skipped),
            "rows": int(rows.rows.sum()),
            "judged_rows": judged_rows,
            "deepest_rank": max(rows.deepest(run) for run in rows.runs),
            "queries_in_runs": len(rows.queries),
            "judged_pairs": len(self.pool.pairs),
            **({"pool_depths": self.pool_depths} if self.pool_depths else {}),
            "qrels": [_set_record(given, qrels, self.described) for given, qrels in sets],
            "warnings": {kind: text for kind, text in warnings.items() if text is not None}
            | self.warned,
        }
        return json.loads(to_json(record))

    def groups(self) -> tuple[Names, Groups]:
        """Return the names of the track and its lists, one group of queries at a time."""
        assert isinstance(self.rows, TrackRows)
        systems = pl.Series([run.system for run in self.rows.runs], dtype=pl.String)
        names = Names(
            self.source.name, systems, self.names.queries, self.names.docs, self.pool.levels
        )
        return names, Groups(self.rows, self.pool, self.names)


def config_record(source: TrackSource) -> dict[str, Any]:
    """Return a track's settings in the collection as JSON values without absolute paths."""
    optional = ("pool_depth", "pool_depth_by_query", "queries", "systems", "judges")
    stated = {name: getattr(source, name) for name in optional}
    return {
        "format": FORMAT,
        "runs": list(source.runs),
        "qrels": [_qrels_config(one) for one in source.qrels],
        "facts": asdict(source.facts) if source.facts else None,
        "policy": source.policy.record(),
        **{name: value for name, value in stated.items() if value is not None},
    }


def _qrels_config(source: QrelsSource) -> dict[str, Any]:
    """Return a qrels set's settings in the collection, without unset files and the usual `rel`.

    Sets of a sampled pool that an earlier version read, without their samples, are read again.
    """
    config = asdict(source)
    if source.format in SAMPLED:
        config["keeps_sample"] = True
    if source.subtopics_file is None:
        del config["subtopics_file"]
    if source.rel == 1:
        del config["rel"]
    return config


def _qrels_warning(rows: TrackLists[Any], pool: Judgments, judged_rows: int) -> str | None:
    """Return a warning if the qrels look like those of another track, else None."""
    queries = pool.queries()
    missed = len(queries) - len(np.intersect1d(queries, rows.queries))
    problems = []
    if 2 * missed > len(queries):
        problems.append(f"{missed:,} of {len(queries):,} judged queries have no list in any run")
    if not judged_rows:
        problems.append(f"none of {len(pool.pairs):,} judged docs is retrieved by any run")
    signs = " and ".join(problems)
    return f"{signs}: are these the qrels of another track?" if problems else None


def _self_warning(rows: TrackLists[Any], selves: list[int]) -> str | None:
    """Return a warning of systems that rank docs with the id of the query first, else None."""
    counts = [
        (run.system, count, len(run.queries))
        for run, count in zip(rows.runs, selves, strict=True)
        if 2 * count > len(run.queries)
    ]
    if not counts:
        return None
    system, count, queries = counts[0]
    return (
        f"{len(counts)} of {len(rows.runs)} systems rank the doc with the id of the query first "
        f"for most of their queries (such as {short(system)!r}: {count:,} of {queries:,}). "
        "`drop_self=True` removes such docs."
    )


def _set_record(given: QrelsSource, parsed: QrelsText, described: pl.DataFrame) -> dict[str, Any]:
    grade = pl.col("grade")
    facts = parsed.frame.select(
        judgments=pl.len(),
        queries=pl.col("query").n_unique(),
        subtopics=pl.col("subtopic").n_unique(),
        lowest=grade.min(),
        highest=grade.max(),
    ).row(0, named=True)
    facts["subtopics"] = facts["subtopics"] if given.subtopics else 0
    if parsed.frame["grade"].dtype == pl.Float64:
        levels = parsed.frame["grade"].unique().sort()
        facts["levels"] = levels.to_list() if len(levels) <= MOST_LISTED else []
    note = undescribed(given, parsed, described)
    return {"name": given.name, "notes": [*parsed.notes, *([note] if note else [])], **facts}


def read_track(
    source: TrackSource,
    limits: Limits,
    spill: Path | None,
    count: Callable[[str], None] | None = None,
) -> ReadTrack:
    """Read a track's qrels, facts and runs; rows beyond the limits go to the folder `spill`.

    Raises `DataError` if all qrels sets, or facts or depths are unreadable, no run can be used,
    rows exceed the limits without a folder, or names exceed strict limits.
    """
    source = prepared(source)
    workers = limits.workers

    def read(readers: Readers) -> tuple[list[Run | SkippedRun], dict[str, str | None]]:
        nonlocal workers
        runs = _Runs(source, spill, readers, limits, Extent(judged_bytes=judged_bytes))
        done = runs.read(count)
        workers = runs.workers
        return done

    sets, unreadable = read_sets(source, limits)
    judged_bytes = _judged_bytes(sets)
    track = read_with(source, sets, read, unreadable)
    return replace(track, workers=workers)


def read_with(
    source: TrackSource,
    sets: list[tuple[QrelsSource, QrelsText]],
    read_runs: Callable[[Readers], tuple[list[Run | SkippedRun], dict[str, str | None]]],
    unreadable: Mapping[QrelsSource, DataError] | None = None,
) -> ReadTrack:
    """Read the facts and the runs of a track with the given qrels sets.

    `read_runs` returns all runs, and the SHA-256 of each of their files; `unreadable` has the
    errors of sets that are left out.
    """
    beside = read_beside(source, sets, unreadable)
    judged = pl.concat([parsed.frame.select("query", "doc") for _, parsed in sets])
    readers = Readers(judged["query"], judged["doc"])
    read, hashes = read_runs(readers)
    named = name_runs(source, read, readers.judged)
    names = readers.names()
    pool = judgments(sets, readers, names)
    rows = TrackRows(named.runs, names, source.policy)
    return complete_track(beside, hashes, rows=rows, named=named, names=names, pool=pool)


def complete_track(beside: Beside, hashes: Mapping[str, str | None], **runs: Any) -> ReadTrack:
    """Return a track with its runs, and the SHA-256 of each of their files."""
    if (rules := beside.source.doc_rules) is not None:
        rules.check_effect()
    fields = {**vars(beside), **runs}
    named, facts, factors = runs["named"].runs, beside.facts, beside.factors
    if beside.source.metadata or any(map(attrgetter("metadata"), named)):
        facts, factors, warned = with_metadata(beside.source, named, facts, factors)
        fields |= {"facts": facts, "factors": factors, "warned": warned}
    fields["inputs"] = {**beside.inputs, **hashes}
    return ReadTrack(**fields)


def read_beside(
    source: TrackSource,
    sets: list[tuple[QrelsSource, QrelsText]],
    unreadable: Mapping[QrelsSource, DataError] | None = None,
) -> Beside:
    """Read the files of a track other than its runs and the given qrels sets."""
    inputs: dict[str, str | None] = {given.file: parsed.sha256 for given, parsed in sets}
    (facts, factors), described = read_facts(source), read_subtopics(source, sets)
    queries = pl.concat([parsed.frame["query"] for _, parsed in sets]).unique()
    depths = read_pool_depths(source, queries.to_list())
    facts_of_queries = QUERY_FACTS.to_frame()
    if source.queries is not None:
        facts_of_queries = read_columns(source, source.queries, queries)
    if source.judges is not None:
        sets_of_track = pl.Series([qrels_set.name for qrels_set in source.qrels])
        judges = read_columns(source, source.judges, sets_of_track, "judge")
        judges = judges.rename({"judge": "name"})
        judges = judges.select(pl.lit("judge").alias("kind"), pl.all())
        factors = pl.concat([judges, factors])
    others = [source.facts.file if source.facts else None, source.pool_depth_by_query]
    others += [source.queries, source.systems, source.judges, *source.metadata]
    for file in (*others, *(given.subtopics_file for given in source.qrels)):
        if file is not None:
            inputs[file] = file_sha256(source.root / file)
    for given in unreadable or ():
        inputs.setdefault(given.file, stored_sha256(source.input_file(given.file)))
    left_out = None
    if unreadable:
        reasons = [f"qrels set {s.name!r} is left out: {error}" for s, error in unreadable.items()]
        if source.qrels[0] in unreadable:
            reasons.append(f"the primary qrels set is now {sets[0][0].name!r}")
        left_out = "; ".join(reasons)
    tables = (described, depths, facts_of_queries, factors)
    return Beside(source, sets, facts, *tables, left_out, inputs)


def prepared(source: TrackSource) -> TrackSource:
    """Return a track with the rules for its docs, before any run is read.

    Raises
    ------
    DataError
        For a pattern of names that takes too long, and for docs to drop that cannot be read.
    """
    policy = source.policy
    if policy.names not in NAMES:
        for file in source.runs:
            pattern_name(policy.names, file)
    if policy.drop_docs is None and policy.chunks is None:
        return source
    from irmeta.trec.readers.doc_rules import DocRules  # few tracks have such rules

    return replace(source, doc_rules=DocRules(policy))


def read_sets(
    source: TrackSource, limits: Limits
) -> tuple[list[tuple[QrelsSource, QrelsText]], dict[QrelsSource, DataError]]:
    """Return the qrels sets that can be read, and the errors of others; raise if all have one."""
    sets: list[tuple[QrelsSource, QrelsText]] = []
    unreadable: dict[QrelsSource, DataError] = {}
    for given in source.qrels:
        file = source.input_file(given.file)
        try:
            parsed = read_qrels(
                file,
                given.format,
                subtopics=given.subtopics or (source.policy.subtopics and given.format == "trec"),
                grade_digits=source.policy.grade_digits,
                comments=source.policy.comments,
                room=lambda: limits.for_file - 3 * _judged_bytes(sets),
            )
            if source.doc_rules is not None:
                parsed = source.doc_rules.without_dropped(parsed, file.name)
        except OutOfRoomError as error:
            raise limits.of_file(error, 3 * _judged_bytes(sets)) from None
        except DataError as error:
            problem = qrels_problem(source, file) or error
            if not source.may_quote(given.file):
                problem.conceal()
            unreadable[given] = problem
        else:
            sets.append((replace(given, subtopics=parsed.has_subtopics), parsed))
    if not sets:
        raise next(iter(unreadable.values()))
    return sets, unreadable


def _judged_bytes(sets: Sequence[tuple[QrelsSource, QrelsText]]) -> int:
    return int(sum(parsed.frame.estimated_size() for _, parsed in sets))


@dataclass(frozen=True)
class Extent:
    """Sizes of a track that determine the memory for reading it.

    `names` distinct docs of `name_bytes`; rows of the `longest_run`, and of the longest list of
    each run in total (`list_rows`), which bound those of a query.
    """

    names: int = 0
    name_bytes: int = 0
    judged_bytes: int = 0
    longest_run: int = 0
    list_rows: int = 0
    rows: int = 0

    def with_run(self, run: Run | SkippedRun) -> Extent:
        """Return the extent with one more run."""
        if isinstance(run, SkippedRun):
            return self
        return replace(
            self,
            longest_run=max(self.longest_run, run.rows),
            list_rows=self.list_rows + int(np.diff(run.starts).max()),
            rows=self.rows + run.rows,
        )

    def with_names(self, names: Iterable[NumberedNames]) -> Extent:
        """Return the extent with the names of all readers, each counted in each reader."""
        several = list(names)
        size = sum(of_reader.used for of_reader in several)
        return replace(self, names=sum(map(len, several)), name_bytes=size)

    def needed(self, workers: int = 1) -> int:
        """Return the largest number of bytes that reading, sorting or writing takes.

        The bytes per name and row are measured; a test compares the sum with a process's peak.
        """
        group_rows = min(self.rows, GROUP_ROWS + self.list_rows)
        reading = self.read_names() + 200 * workers * self.longest_run
        sorting = self.name_bytes + 76 * self.names
        writing = self.name_bytes + (60 + 10 * workers) * self.names
        length = self.name_bytes // max(1, self.names)
        per_name = 400 + 5 * max(0, length - 40)  # the names of a group are held several times
        writing += workers * (200 * group_rows + per_name * min(group_rows, self.names))
        return 3 * self.judged_bytes + max(reading, sorting, writing)

    def read_names(self) -> int:
        """Return the bytes that the names take while files are read."""
        return self.name_bytes * 5 // 4 + 32 * self.names


@dataclass(frozen=True)
class Archive:
    """A run file that is an archive of runs."""

    file: InputFile
    kind: str

    @property
    def sha256(self) -> str | None:
        """Hash the archive as stored."""
        return stored_sha256(self.file)


class _Runs:
    """Reader of the runs of a track, in the order of files and of archives, within limits.

    Beyond them, rows move to files in the folder `spill`; then one thread reads on, with the names
    of all; then strict limits refuse the track. `hashes` has the SHA-256 of each file.
    """

    def __init__(
        self,
        source: TrackSource,
        spill: Path | None,
        readers: Readers,
        limits: Limits,
        extent: Extent,
    ) -> None:
        self.runs: list[Run | SkippedRun] = []
        self.hashes: dict[str, str | None] = {}
        self.workers: int = limits.workers
        self._source, self._spill, self._readers, self._limits = source, spill, readers, limits
        self._extent, self._rows, self._held = extent, 0, 0
        self._is_alone = limits.workers == 1

    def read(
        self, count: Callable[[str], None] | None
    ) -> tuple[list[Run | SkippedRun], dict[str, str | None]]:
        """Read all runs; return `runs` and `hashes`."""
        files = self._source.runs
        while (done := len(self.hashes)) < len(files):
            self._read_some(files[done:], count)
            if self.workers == 1 and not self._is_alone:
                self._readers.unite()
                self._is_alone = True
        self._keep_limits()
        return self.runs, self.hashes

    def _read_some(self, files: Sequence[str], count: Callable[[str], None] | None) -> None:
        """Read runs until the last, or until memory is short for those that follow."""
        before = len(self.runs), self._extent
        try:
            for _ in self._each(files, count):
                before = len(self.runs), self._extent
        except OutOfRoomError as error:
            count_before, self._extent = before
            del self.runs[count_before:]  # of an archive, which is read again
            held = [run for run in self.runs if isinstance(run, Run) and run.columns.held]
            self._rows, self._held = sum(r.rows for r in held), sum(r.columns.held for r in held)
            if self.workers > 1:
                self.workers = 1
            elif self._spill is not None and self._held:
                self._spill_rows(self._spill)
            else:
                raise self._limits.of_file(error, self._beside_file()) from None

    def _each(self, files: Sequence[str], count: Callable[[str], None] | None) -> Iterator[None]:
        workers = self.workers
        # Some files are read ahead, because sizes differ; `held` does not count them.
        with closing(ordered_map(self._item, files, workers=workers, ahead=workers)) as items:
            for name, item in zip(files, items, strict=True):
                for run in unpacked(item, self._run):
                    self._add(run)
                    self._keep_limits()
                self.hashes[name] = item.sha256
                if count is not None:
                    count(self._source.name)
                yield
                if self.workers < workers:
                    return

    def _item(self, name: str) -> Run | SkippedRun | Archive:
        return run_or_archive(self._source.input_file(name), self._run)

    def _run(self, file: InputFile) -> Run | SkippedRun:
        with self._readers.borrow() as reader:
            reader.room = self._room
            return read_run(self._source, file, reader)

    def _room(self) -> int:
        """Return the bytes that are left for reading one file in each thread."""
        return (self._limits.for_file - self._held - self._beside_file()) // self.workers

    def _beside_file(self) -> int:
        """Return the bytes that names and judgments take while a file is read.

        Sorting and writing, which may take more, come after: `_keep_limits` counts them.
        """
        if not self._limits.is_strict:
            return self._readers.held
        extent = self._extent.with_names(self._readers.docs)
        return 3 * extent.judged_bytes + extent.read_names()

    def _add(self, run: Run | SkippedRun) -> None:
        self.runs.append(run)
        self._extent = self._extent.with_run(run)
        if isinstance(run, Run):
            self._rows, self._held = self._rows + run.rows, self._held + run.columns.held

    def _keep_limits(self) -> None:
        """Use less memory where the limits demand it."""
        if self._spill is not None and (self._rows > MOST_ROWS or self._is_short()):
            self._spill_rows(self._spill)
        if not self._is_short():
            return
        if self.workers > 1:
            self.workers = 1
        elif self._is_alone and self._spill is None:
            fix = "Raise the limit, or use irmeta ingest, which needs less memory."
            raise DataError("its rows and names exceed the memory limit", fix=fix)
        elif self._is_alone and self._limits.is_strict:
            raise self._limits.refusal(self._needed())

    def _is_short(self) -> bool:
        needed = self._needed() if self._limits.is_strict else self._readers.held
        return self._held + needed > self._limits.memory

    def _needed(self) -> int:
        return self._extent.with_names(self._readers.docs).needed(self.workers)

    def _spill_rows(self, folder: Path) -> None:
        for i, run in enumerate(self.runs):
            if isinstance(run, Run) and isinstance(run.columns, InMemory):
                self.runs[i] = replace(run, columns=run.columns.spill(folder / f"rows-{i}"))
        self._rows = self._held = 0


def unpacked(
    item: AnyRun | SkippedRun | Archive, read: Callable[[InputFile], AnyRun | SkippedRun]
) -> Iterator[AnyRun | SkippedRun]:
    """Yield a run, or each run of an archive."""
    if not isinstance(item, Archive):
        yield item
        return
    for member in members(item.file, item.kind):
        if isinstance(member, DataError):
            yield SkippedRun(member.file or item.file.name, None, None, str(member))
            continue
        run = read(member)
        if isinstance(run, SkippedRun) and archive_kind(member) is not None:
            problem, fix = "an archive in an archive", "Unpack the outer one."
            reason = str(DataError(problem, file=member.name, fix=fix))
            run = replace(run, reason=reason)
        yield run


def run_or_archive(
    file: InputFile, read: Callable[[InputFile], AnyRun | SkippedRun]
) -> AnyRun | SkippedRun | Archive:
    """Read a run file; return an archive of runs without reading them."""
    run = read(file)
    kind = archive_kind(file) if isinstance(run, SkippedRun) else None
    return run if kind is None else Archive(file, kind)


class Count:
    """Counter of files read by all threads."""

    def __init__(self, sources: Sequence[AnyTrack]) -> None:
        self._report = REPORT.get()
        self._files = sum(len(source.runs) for source in sources)
        self._done = {source.name: 0 for source in sources}
        self._lock = Lock()

    def add(self, track: str) -> None:
        """Count one file of a track as read and report the progress."""
        check_stopped()
        with self._lock:
            self._done[track] += 1
            if self._report is not None:
                self._report(track, sum(self._done.values()), self._files)

    def finish(self, source: AnyTrack) -> None:
        """Count all files of a track as read, including unread files."""
        with self._lock:
            if self._done[source.name] < len(source.runs):
                self._done[source.name] = len(source.runs)
                if self._report is not None:
                    self._report(source.name, sum(self._done.values()), self._files)
