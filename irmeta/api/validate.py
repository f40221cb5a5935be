"""`validate`: what is wrong with run files, before there are judgments."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path, PurePath
from typing import Any, Unpack

import numpy as np
import polars as pl

from irmeta._version import __version__
from irmeta.errors import DataError, UsageError, short, shown
from irmeta.escapes import escape_text
from irmeta.files import file_names as names_of_files
from irmeta.files import write_text
from irmeta.locations import AnyLocation, local, not_a
from irmeta.options import check_names
from irmeta.phrases import count
from irmeta.policies import Comments, ReadPolicy, RunRules
from irmeta.policy_keywords import RunChoices
from irmeta.progress import Progress, reported, shows_progress
from irmeta.schema.pool_tables import RUN_FINDINGS, VALIDATED_RUNS
from irmeta.store.read_run import Run, read_run
from irmeta.store.read_track import prepared
from irmeta.summaries import Result, Summary
from irmeta.trec.archives import archive_kind, members
from irmeta.trec.collection import files_below, is_beside_runs
from irmeta.trec.readers.forms import recognize
from irmeta.trec.runs import RowReader, row_errors
from irmeta.trec.source import TrackSource
from irmeta.trec.streams import InputFile
from irmeta.trec.system_names import file_names, stem
from irmeta.trec.text import line_ids, query_ids

MOST_ERRORS = 20
"""Errors of a run that are listed; all are counted."""
SYSTEMS = "systems.csv"
"""File of facts about systems, in a folder of runs or in the folder above it."""
NAMED = 3
"""Queries or docs that a note names."""
Finding = tuple[int | None, str | None, str]
"""Line, value and problem of an error."""
_MARK = b"Validation of a run by irmeta"
FIRST_LINE = f"{_MARK.decode()} {__version__}"


@dataclass(frozen=True, repr=False)
class Validation(Result):
    """What is wrong with some runs, and what is unusual.

    Attributes
    ----------
    runs : DataFrame
        run, file, valid, errors, notes, tag, queries, rows: one row per run. A run is valid if its
        file has no error; `queries` and `rows` are null for a run that cannot be read.
    findings : DataFrame
        run, kind (``error`` or ``note``), line, value, problem: the first 20 errors and all notes
        of each run; `line` is null where a finding is not about a single line.
    rules : dict
        What was checked: ``max_depth``, ``query_file``, ``doc_file``.
    """

    runs: pl.DataFrame
    findings: pl.DataFrame
    rules: dict[str, object]

    @property
    def passed(self) -> bool:
        """Whether all runs are valid."""
        return bool(self.runs["valid"].all())

    def text(self, run: str) -> str:
        """Return the findings of one run as a text, to send to those who made the run.

        Raises
        ------
        UsageError
            If there is no such run.
        """
        facts = self.runs.filter(pl.col("run") == run)
        if facts.is_empty():
            raise UsageError(f"no run {run!r}: the runs are {', '.join(self.runs['run'])}.")
        return _text(facts.row(0, named=True), self.findings.filter(run=run), self.rules)

    def write(self, folder: AnyLocation, *, force: bool = False) -> list[Path]:
        """Write the text of each run to a file of a folder, named after the run.

        Parameters
        ----------
        folder : str or Path
            The folder, which is made.
        force : bool, default False
            Whether files that irmeta did not write are replaced.

        Returns
        -------
        list of Path
            The files.

        Raises
        ------
        UsageError
            If a file exists that irmeta did not write; then none is written.
        """
        target = local(folder)
        files = names_of_files(self.runs["run"])
        paths = {run: target / f"{name}.txt" for run, name in files.items()}
        for path in paths.values():
            is_own = not path.exists() or path.read_bytes().startswith(_MARK)
            if not (is_own or force):
                raise UsageError(
                    f"{path} exists and irmeta did not write it: use `force=True` to replace it."
                )
        target.mkdir(parents=True, exist_ok=True)
        for run, path in paths.items():
            write_text(path, self.text(run))
        return [*paths.values()]

    def _summary(self) -> Summary:
        invalid = int((~self.runs["valid"]).sum())
        facts = [count(self.runs.height, "run"), f"{invalid:,} not valid"]
        return Summary("", facts)

    def frame(self) -> pl.DataFrame:
        """Return `findings`."""
        return self.findings

    def _table(self) -> pl.DataFrame:
        is_valid = pl.when("valid").then(pl.lit("yes")).otherwise(pl.lit("no"))
        return self.runs.drop("file").with_columns(valid=is_valid)


@shows_progress("Validating")
def validate(
    runs: AnyLocation | Iterable[AnyLocation],
    *,
    query_file: AnyLocation | None = None,
    max_depth: int = 1000,
    doc_file: AnyLocation | None = None,
    progress: Progress = None,
    **choices: Unpack[RunChoices],
) -> Validation:
    """Check run files without judgments, as the organisers of a track do when runs come in.

    Parameters
    ----------
    runs : str, Path or iterable of them
        Run files in any form that irmeta reads, archives of runs, and folders with such files.
    query_file : str or Path, optional
        The topics: a text with one query per line that begins with the query's id.
    max_depth : int, default 1000
        Most docs of one query.
    doc_file : str or Path, optional
        The collection: a text with one doc per line that begins with the doc's id, also compressed.
        It is streamed, and only the ids of the runs are held in memory.
    progress : bool or callable, optional
        See `read`.
    **choices
        Fields of `ReadPolicy`: duplicates, malformed, run_format, drop_self, comments, drop_docs,
        chunks, columns. What they let pass is no error; a note counts the docs of a run that
        `drop_docs` takes out.

    Returns
    -------
    Validation
        Errors make a run invalid: lines that are no row of a run, scores that are not finite, docs
        that a query has twice, and files that cannot be read. Notes say what irmeta can read but
        an organiser may not accept: queries with more than `max_depth` docs, topics without docs
        and queries that are no topics, docs outside the collection, lists whose scores are all
        equal or contradict the ranks, a tag with blanks or unlike the file's name, several tags,
        decimal commas, a run with the same lists as another.

    Raises
    ------
    UsageError
        If no run is named, a path does not exist, a folder holds no run, or `query_file` is not
        a list of queries.
    DataError
        If `query_file` or `doc_file` cannot be read.

    Examples
    --------
    >>> done = irmeta.validate("collection/news/runs", max_depth=100)
    >>> done.passed
    True
    """
    files = {"query_file": query_file, "doc_file": doc_file}
    paths = {name: None if file is None else str(file) for name, file in files.items()}
    check_names(choices, [*RunChoices.__annotations__])
    return validate_by(runs, RunRules(max_depth=max_depth, **paths), ReadPolicy.of(choices))


def validate_by(
    runs: AnyLocation | Iterable[AnyLocation], rules: RunRules, reading: ReadPolicy
) -> Validation:
    """Validate runs: see `validate`."""
    source = run_files([runs] if isinstance(runs, AnyLocation) else list(runs), reading)
    topics = None if rules.query_file is None else query_ids(rules.query_file)
    reader = RowReader()
    checked = [
        _check(source, file, reader, rules.max_depth, topics)
        for name in reported(source.runs, len(source.runs), "runs")
        for file in runs_in(source, name)
    ]
    run_names = file_names(entry.file for entry in checked)
    if rules.doc_file is not None:
        _note_outside(checked, reader.docs.strings(), rules.doc_file)
    _note_equal(checked, run_names)
    return Validation(
        VALIDATED_RUNS.frame([entry.facts(run_names[entry.file]) for entry in checked]),
        RUN_FINDINGS.frame(
            [row for entry in checked for row in entry.findings(run_names[entry.file])],
        ),
        rules.record(),
    )


@dataclass
class _Checked:
    """A run file with its errors and notes, and what is compared with other runs and the docs.

    Attributes
    ----------
    count
        Number of errors, of which `errors` has the first.
    queries, rows, ranking, docs, doc_rows
        None, or empty, for a file with errors: the number of queries and of rows, a hash of the
        lists, the numbers of the distinct docs, and the rows of each.
    """

    file: str
    errors: list[Finding] = field(default_factory=list)
    count: int = 0
    notes: list[str] = field(default_factory=list)
    tag: str | None = None
    queries: int | None = None
    rows: int | None = None
    ranking: bytes | None = None
    docs: np.ndarray = field(default_factory=lambda: np.empty(0, np.int32))
    doc_rows: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))

    def facts(self, name: str) -> dict[str, object]:
        """Return the row of the run."""
        return {
            "run": name,
            "file": self.file,
            "valid": self.count == 0,
            "errors": self.count,
            "notes": len(self.notes),
            "tag": self.tag,
            "queries": self.queries,
            "rows": self.rows,
        }

    def findings(self, name: str) -> Iterator[dict[str, object]]:
        """Yield the rows of errors and notes."""
        for line, value, problem in self.errors:
            yield {"run": name, "kind": "error", "line": line, "value": value, "problem": problem}
        for note in self.notes:
            yield {"run": name, "kind": "note", "line": None, "value": None, "problem": note}


def _check(
    source: TrackSource,
    file: InputFile | DataError,
    reader: RowReader,
    max_depth: int,
    topics: dict[str, None] | None,
) -> _Checked:
    """Read a run, and all its errors if it has any; its rows are not kept."""
    if isinstance(file, DataError):  # of a member of an archive
        return _Checked(file.file or "", [_finding(file)], 1)
    outcome = read_run(source, file, reader)
    if isinstance(outcome, Run):
        docs, doc_rows = np.unique(outcome.columns.rows(0, outcome.rows)["doc"], return_counts=True)
        return _Checked(
            file.name,
            notes=[*outcome.notes, *_notes(outcome, max_depth, topics)],
            tag=outcome.tag,
            queries=len(outcome.queries),
            rows=outcome.rows,
            ranking=_ranking(outcome),
            docs=docs,
            doc_rows=doc_rows,
        )
    may_quote = source.may_quote(file.name)
    errors = _all_errors(file, source.policy.comments) if may_quote else iter(())
    first: list[Finding] = [_finding(error) for error in islice(errors, MOST_ERRORS)]
    further = sum(1 for _ in errors)
    if not first:  # of a file in another form
        reason = outcome.reason.removeprefix(file.name).removeprefix(":").removeprefix(",")
        first = [(None, None, reason.strip())]
    return _Checked(file.name, first, len(first) + further)


def run_files(paths: Sequence[AnyLocation], policy: ReadPolicy) -> TrackSource:
    """Return the run files: those named, and those below folders but for readmes and facts."""
    if not paths:
        raise UsageError("name the run files, or a folder of them.")
    files = list[str]()
    for path in map(local, paths):
        if path.is_dir():
            below = [
                file
                for file in files_below(path, ".")
                if not (is_beside_runs(file) or PurePath(file).name == SYSTEMS)
            ]
            if not below:
                raise UsageError(f"{path} holds no run.")
            files += [(path / file).as_posix() for file in below]
        elif path.is_file():
            files.append(path.as_posix())
        else:
            raise UsageError(not_a("file", path) + ".")
    typed = {path.as_posix(): str(path) for path in map(local, paths)}
    source = TrackSource("", Path(), tuple(dict.fromkeys(files)), (), None, policy, given=typed)
    return prepared(source)


def runs_in(source: TrackSource, name: str) -> Iterator[InputFile | DataError]:
    """Yield a run file, or the members of an archive."""
    file = source.input_file(name)
    kind = archive_kind(file)
    if kind is None:
        yield file
    else:
        yield from members(file, kind)


def _all_errors(file: InputFile, comments: Comments) -> Iterator[DataError]:
    """Yield all errors of a file in TREC form; none of a file in another form."""
    try:
        if recognize(file, "run") == "trec":
            yield from row_errors(file, comments)
    except DataError as error:  # nothing after it can be read
        yield error


def _finding(error: DataError) -> Finding:
    """Return the line, value and problem of an error."""
    problem = error.problem
    if error.ids:
        problem = problem.format_map({name: short(value) for name, value in error.ids.items()})
    value = error.value
    text = value.decode(errors="replace") if isinstance(value, bytes) else value
    return error.line, None if text is None else str(text), problem


def _note_outside(checked: Iterable[_Checked], docs: pl.Series, path: AnyLocation) -> None:
    """Note the docs of each run that the collection does not have; `docs` are those of all runs."""
    outside = set(docs)
    for ids in line_ids(path):
        outside.difference_update(ids)
        if not outside:
            return
    is_outside = docs.is_in(list(outside)).to_numpy()
    for entry in checked:
        of_run = is_outside[entry.docs]
        doc_names = docs.gather(entry.docs[of_run]).to_list()
        if doc_names:
            verb = "doc is" if len(doc_names) == 1 else "docs are"
            rows = count(int(entry.doc_rows[of_run].sum()), "row")
            note = f"{len(doc_names):,} {verb} not in the collection, in {rows}: "
            entry.notes.append(note + _few(doc_names))


def _note_equal(checked: Iterable[_Checked], run_names: dict[str, str]) -> None:
    """Note each run whose lists are those of an earlier run."""
    first: dict[bytes, str] = {}
    for entry in checked:
        if entry.ranking is not None:
            same = first.setdefault(entry.ranking, entry.file)
            if same != entry.file:
                entry.notes.append(f"the same lists as the run {run_names[same]}")


def _notes(run: Run, max_depth: int, topics: dict[str, None] | None) -> Iterator[str]:
    """Yield the notes on a run, but for those that need other runs or the collection."""
    queries = run.reader.queries.strings().gather(run.queries).to_list()
    lengths = np.diff(run.starts)
    deep = np.flatnonzero(lengths > max_depth)
    if len(deep):
        counts = [f"{queries[i]} ({lengths[i]:,})" for i in deep]
        yield f"{count(len(deep), 'query has', 'queries have')} more than {max_depth:,} docs: " + (
            _few(counts)
        )
    if topics is not None:
        yield from _topic_notes(queries, topics)
    columns = run.columns.rows(0, run.rows)
    low = np.minimum.reduceat(columns["score"], run.starts[:-1])
    high = np.maximum.reduceat(columns["score"], run.starts[:-1])
    equal = np.flatnonzero((low == high) & (lengths > 1))
    if len(equal):
        named = _few([queries[i] for i in equal])
        yield f"all scores of {count(len(equal), 'query', 'queries')} are equal: {named}"
    if run.tag is not None:
        if any(character.isspace() for character in run.tag):
            yield f"the tag {run.tag!r} has blanks"
        elif run.tag != stem(run.file):
            yield f"the tag {run.tag!r} is not the name of the file, {stem(run.file)!r}"


def _topic_notes(queries: Sequence[str], topics: dict[str, None]) -> Iterator[str]:
    present = set(queries)
    missing = [topic for topic in topics if topic not in present]
    unknown = [query for query in queries if query not in topics]
    if missing:
        yield f"{count(len(missing), 'topic has', 'topics have')} no docs: {_few(missing)}"
    if unknown:
        yield f"{count(len(unknown), 'query is', 'queries are')} no topic: {_few(unknown)}"


def _ranking(run: Run) -> bytes:
    """Return a hash of the docs of each query by score, ties by doc; scores themselves differ."""
    columns = run.columns.rows(0, run.rows)
    query = np.repeat(run.queries, np.diff(run.starts))
    order = np.lexsort((columns["doc"], -columns["score"], query))
    lists = np.stack([query[order], columns["doc"][order]])
    return hashlib.sha256(lists.tobytes()).digest()


def _few(names: Sequence[str]) -> str:
    """Return the first names, and the number of the others."""
    more = len(names) - NAMED
    return ", ".join(map(short, names[:NAMED])) + (f" and {more:,} more" if more > 0 else "")


def _text(facts: dict[str, object], findings: pl.DataFrame, rules: dict[str, object]) -> str:
    """Return the text of one run."""
    lines = [FIRST_LINE, "", f"run:   {facts['run']}", f"file:  {facts['file']}"]
    lines.append(f"valid: {'yes' if facts['valid'] else 'no'}")
    if facts["rows"] is not None:
        lines.append(f"size:  {facts['queries']:,} queries, {facts['rows']:,} rows")
    for kind, total in (("error", facts["errors"]), ("note", facts["notes"])):
        rows = findings.filter(kind=kind)
        if rows.height:
            shown = f", the first {rows.height}" if rows.height != total else ""
            lines += ["", f"{count(int(str(total)), kind)}{shown}:"]
            lines += [f"- {finding_line(row)}" for row in rows.iter_rows(named=True)]
    checked = [f"at most {rules['max_depth']:,} docs of a query"]
    checked += [f"topics of {rules['query_file']}"] if rules["query_file"] else []
    checked += [f"docs of {rules['doc_file']}"] if rules["doc_file"] else []
    return escape_text("\n".join([*lines, "", f"Checked: {', '.join(checked)}."]), "\n") + "\n"


def finding_line(row: dict[str, Any]) -> str:
    """Return an error or a note with its line and value."""
    line = "" if row["line"] is None else f"line {row['line']:,}: "
    value = "" if row["value"] is None else f": {shown(row['value'])}"
    return f"{line}{row['problem']}{value}"
