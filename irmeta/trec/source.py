"""Sources of a track: run files, qrels, facts about systems, and the policy to read them."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from irmeta.errors import DataError, UsageError, printable
from irmeta.locations import LOCAL_INPUT, AnyLocation, is_stream, local, not_a
from irmeta.options import Options, option
from irmeta.policies import ReadPolicy, columns_by_key
from irmeta.trec.archives import archive_kind
from irmeta.trec.qrels import QrelsFormat
from irmeta.trec.streams import InputFile, open_stream, read_stream
from irmeta.trec.system_names import track_name
from irmeta.trec.text import WHOLE, Text, first_fields, is_number

if TYPE_CHECKING:
    from irmeta.trec.readers.doc_rules import DocRules

DATASETS = ("ir_datasets:", "irds:")
"""Prefixes of the name of a data set."""


def is_dataset(name: str) -> bool:
    """Check whether a name is that of a data set of ir_datasets, instead of a file's."""
    return name.startswith(DATASETS)


def records_of_dataset(name: str, kind: str) -> Iterable[Any]:
    """Return the qrels or the scored docs (`kind`) of a data set of ir_datasets.

    Raises
    ------
    UsageError
        If ir_datasets is not installed, or has no such data set, or the data set has none of them.
    """
    known = name.partition(":")[2]
    try:
        ir_datasets: Any = import_module("ir_datasets")
    except ImportError:
        raise UsageError(f"{name}: install the extra 'datasets' (ir-datasets) first.") from None
    try:
        dataset = ir_datasets.load(known)
    except KeyError:
        raise UsageError(f"ir_datasets has no data set {known!r}.") from None
    if not getattr(dataset, f"has_{kind}")():
        raise UsageError(f"the data set {known!r} has no {kind}.")
    return getattr(dataset, f"{kind}_iter")()


def dataset_qrels(name: str) -> bytes:
    """Return the qrels of a data set as text: lines ``query subtopic doc grade``.

    The second column is the subtopic, or the iteration where qrels have no subtopics, or 0.

    Raises
    ------
    DataError
        If ir_datasets cannot give the qrels, or an id cannot be written in TREC form.
    """
    try:
        lines = "".join(_lines(records_of_dataset(name, "qrels"), name))
    except UsageError as error:
        raise DataError(str(error), file=name) from None
    except OSError as error:  # of its own downloads
        raise DataError(f"ir_datasets cannot read it ({error})", file=name) from None
    return lines.encode()


def _lines(qrels: Iterable[Any], name: str) -> Iterator[str]:
    for row, one in enumerate(qrels):
        second = getattr(one, "subtopic_id", None) or getattr(one, "iteration", None) or "0"
        fields = (one.query_id, second, one.doc_id, str(one.relevance))
        if any(len(field.split()) != 1 for field in fields):
            problem = "an id is empty or has a space"
            raise DataError(problem, file=name, line=row, unit="row", value=" ".join(fields))
        yield " ".join(fields) + "\n"


@dataclass(frozen=True)
class QrelsSource(Options):
    """One named qrels set of a track and how to read its file."""

    name: str = option("qrels", "Name of the set.")
    file: str = option("", "File of the judgments, or ir_datasets:ID.")
    format: QrelsFormat = option("trec", "Format of the file.")
    subtopics: bool = option(False, "Whether the second column of the file is a subtopic.")
    subtopics_file: str | None = option(
        None, "CSV that describes the subtopics: query, subtopic, weight, type."
    )
    rel: float = option(
        1, "Least relevant grade, for names of measures without rel=.", least=0, exclusive=True
    )

    @property
    def paths(self) -> tuple[str, ...]:
        """All files of the set."""
        return (self.file,) if self.subtopics_file is None else (self.file, self.subtopics_file)


@dataclass(frozen=True)
class FactsSource(Options):
    """A CSV of facts about systems, and the names of its columns."""

    file: str = option("", "CSV with one row per system.")
    name: str = option("", "Column of system names.")
    group: str | None = option(None, "Column of groups.")
    type: str | None = option(None, "Column of run types.")
    pooled: str | None = option(None, "Column that says whether a run contributed to the pool.")


@dataclass(frozen=True)
class TrackSource:
    """The files of one track. Paths are relative to `root` and use / everywhere.

    Attributes
    ----------
    root
        The folder of the collection, as it was given.
    runs
        Every run file, sorted.
    qrels
        The qrels sets; the first is primary.
    pool_depth
        The depth to which contributing lists were judged, if the collection states it.
    pool_depth_by_query
        A file of such depths by query, which override `pool_depth`.
    queries, systems, judges
        CSVs of facts about queries, systems and judges (qrels sets): query, system or judge, and
        any other columns. `facts` replaces `systems`.
    metadata
        Files of ir_metadata beside the runs.
    outside
        Files and folders of the collection outside of `root`.
    given
        Paths as typed by the user, for files named one by one.
    held
        Content of standard input and pipes, which can be read only once.
    named
        Names that the user gives to the systems of run files.
    doc_rules
        What the policy does to docs, while the track is read; None: nothing.
    """

    name: str
    root: Path
    runs: tuple[str, ...]
    qrels: tuple[QrelsSource, ...]
    facts: FactsSource | None = None
    policy: ReadPolicy = field(default_factory=ReadPolicy)
    pool_depth: int | None = None
    pool_depth_by_query: str | None = None
    queries: str | None = None
    systems: str | None = None
    judges: str | None = None
    metadata: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    given: Mapping[str, str] = field(default_factory=dict)
    held: Mapping[str, bytes] = field(default_factory=dict)
    named: Mapping[str, str] = field(default_factory=dict)
    doc_rules: DocRules | None = field(default=None, compare=False, repr=False)

    def input_file(self, file: str) -> InputFile:
        """Return an input file of the track, or the qrels of a data set of ir_datasets."""
        if is_dataset(file):
            return InputFile(file, lambda: io.BytesIO(dataset_qrels(file)))
        opened = InputFile.at(self.root / file, file)
        if file in self.held:
            opened = InputFile(file, partial(io.BytesIO, self.held[file]))
        if not self.policy.columns:
            return opened
        return replace(opened, columns=columns_by_key(self.policy.columns))

    def as_given(self, file: str) -> str:
        """Return the path of a file, or of a member of an archive, as the user would type it."""
        if is_dataset(file) or file == self.policy.drop_docs:
            return file
        for known, given in self.given.items():
            if file == known or file.startswith(f"{known}/"):
                return given + file.removeprefix(known)
        return printable((self.root / file).as_posix())

    def located(self, file: str, message: str) -> str:
        """Replace the path of a file at the start of a message with the path as given."""
        name = printable(file)
        return (
            self.as_given(file) + message.removeprefix(name)
            if message.startswith(name)
            else message
        )

    def may_quote(self, file: str) -> bool:
        """Check whether messages may quote from a file.

        Content behind a symbolic link to elsewhere is read, but not shown: a foreign collection may
        link to any file of the user.
        """
        path = os.path.realpath(self.root / file)
        parts = (".", *self.outside, *self.given)
        allowed = [os.path.realpath(self.root / part).rstrip(os.sep) for part in parts]
        return any(f"{path}{os.sep}".startswith(f"{folder}{os.sep}") for folder in allowed)


@dataclass(frozen=True)
class BrokenTrack:
    """A track of a collection with missing or ambiguous files, with the error."""

    name: str
    error: DataError
    runs: tuple[str, ...] = ()

    def as_given(self, file: str) -> str:
        """Return a path unchanged: the error names files as the user would type them."""
        return file

    def located(self, file: str, message: str) -> str:
        """Return a message unchanged."""
        return message


AnyTrack = TrackSource | BrokenTrack


def track_of_files(
    qrels: AnyLocation,
    runs: Iterable[AnyLocation],
    policy: ReadPolicy,
    names: Sequence[str | None] = (),
) -> TrackSource:
    """Build a track from files in any folders, named after its qrels file or data set.

    `names` are those of the track and of the systems of the runs; None: by the usual rules.

    Its root is the nearest common folder, so that relative and absolute paths give the same track.

    Raises
    ------
    UsageError
        If a path is not a local file, no run is given, or standard input is given twice.
    """
    called = list(names)
    dataset = PurePath(qrels).as_posix() if isinstance(qrels, str | PurePath) else ""
    dataset = dataset if is_dataset(dataset) else None
    files = [local(file, LOCAL_INPUT) for file in (*([] if dataset else [qrels]), *runs)]
    if [str(file) for file in files].count("-") > 1:
        raise UsageError("- is given twice: standard input holds the qrels or one run.")
    streams = [file for file in files if is_stream(file)]
    for file in files:
        if not (file.is_file() or file in streams):
            problem = f"{file} is a folder" if file.is_dir() else not_a("file", file)
            fix = "name the file of the qrels, then the run files"
            example = f", such as {file / '*'}" if file.is_dir() and file is not files[0] else ""
            raise UsageError(f"{problem}: {fix}{example}.")
    if len(files) == (0 if dataset else 1):
        raise UsageError(f"{qrels} alone is not a track: also name its run files.")
    paths = [Path(os.path.abspath(file)) for file in files]  # links are not resolved
    folders = [path.parent for path, file in zip(paths, files, strict=True) if file not in streams]
    try:
        root = Path(os.path.commonpath(folders)) if folders else Path()
    except ValueError:
        problem = f"{qrels} and its runs are on different drives: copy them to one."
        raise UsageError(problem) from None
    names, held = list[str](), dict[str, bytes]()
    for path, file in zip(paths, files, strict=True):
        if file in streams:
            kind = "stdin" if str(file) in ("-", "/dev/stdin") else "pipe"
            names.append(kind if kind not in held else f"{kind}{len(held) + 1}")
            held[names[-1]] = read_stream(file)
        else:
            names.append(path.relative_to(root).as_posix())
    given = {file: printable(str(path)) for file, path in zip(names, files, strict=True)}
    name = dataset.partition(":")[2] if dataset else names[0]
    if not dataset and files[0] not in streams:
        name = track_name(paths[0])
    if printable(name) != name:
        raise DataError("its name is not UTF-8", file=printable(str(qrels)), fix="Rename it.")
    first, *run_names = [dataset, *names] if dataset else names
    named = {file: own for file, own in zip(run_names, called[1:], strict=False) if own is not None}
    if len(set(named.values())) < len(named):
        raise UsageError("two runs have the same name: give each another.")
    return TrackSource(
        (called[0] if called else None) or name,
        root,
        tuple(sorted(set(run_names))),
        (QrelsSource("qrels", first),),
        policy=policy,
        given=given,
        held=held,
        named=named,
    )


def qrels_problem(source: TrackSource, file: InputFile) -> DataError | None:
    """Return the error for a run or archive given as qrels; None for any other file."""
    if (kind := archive_kind(file)) is not None:
        return DataError(f"a {kind} archive", file=file.name, fix="Unpack the qrels.")
    fields = _first_row(file)
    # A file of the form prels has five columns, like a run without tags.
    if len(fields) < 6 or not (WHOLE.match(fields[3]) and is_number(fields[4])):
        return None
    fix = "Name the qrels first, then the runs."
    for run in source.runs:
        fields = _first_row(source.input_file(run))
        if len(fields) == 4 and WHOLE.match(fields[3]):
            problem = f"a run, and {source.as_given(run)} holds qrels: these look swapped"
            return DataError(problem, file=file.name, fix=fix)
    return DataError("a run, where qrels are expected", file=file.name, fix=fix)


def _first_row(file: InputFile) -> list[bytes]:
    try:
        with open_stream(file) as stream:
            for _, piece in Text(stream, file.name).pieces():
                if fields := first_fields(piece):
                    return fields
    except DataError:
        pass
    return []
