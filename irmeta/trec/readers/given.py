"""Qrels and runs that a user passes, in forms recognised by their types."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl

from irmeta.errors import DataError, UsageError, printable, shown
from irmeta.locations import is_stream
from irmeta.policies import Columns
from irmeta.trec.readers.columns import QrelsColumns, RunColumns
from irmeta.trec.readers.frames import (
    NOT_CHOSEN,
    as_frame,
    frame_of_columns,
    has_doc_lists,
    holds_columns,
    qrels_of_dict,
    qrels_of_frame,
    run_of_dict,
    runs_of_frame,
)
from irmeta.trec.source import is_dataset, records_of_dataset
from irmeta.trec.streams import InputFile, read_stream
from irmeta.trec.system_names import stem


def is_record(item: object) -> bool:
    """Check whether an item is one row: a named tuple with a query."""
    return isinstance(item, tuple) and "query_id" in getattr(item, "_fields", ())


def frame_of_records(records: Iterable[Any], place: str) -> pl.DataFrame:
    """Return named tuples as a frame with a column for each field.

    Raises
    ------
    DataError
        If there is no record, the records differ in their fields, or a field in its type.
    """
    rows = list(records)
    if not rows:
        raise DataError("has no rows", file=place)
    fields = {getattr(kind, "_fields", ()) for kind in set(map(type, rows))}
    if len(fields) > 1 or () in fields:
        fix = "Give every row the same fields: query_id, doc_id, and score or relevance."
        raise DataError("the rows are not named tuples of one kind", file=place, fix=fix)
    try:
        columns = zip(fields.pop(), zip(*rows, strict=True), strict=True)
        return pl.DataFrame([pl.Series(name, values) for name, values in columns])
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError) as error:
        why = {"why": " ".join(str(error).split())}
        fix = "Give every field one type: ids are text, scores and grades numbers."
        raise DataError("a field cannot be read ({why})", file=place, ids=why, fix=fix) from None


FORMS = (
    "pass a dict of dicts or of lists of docs, a frame, named tuples with query_id and doc_id, a "
    "path, an open file, 'ir_datasets:ID', or a list of these"
)


@dataclass(frozen=True)
class GivenRun:
    """One run with its name; None for a file that names itself.

    A dict of dicts is converted by `load`, which several threads may call: one converts while
    others sort.
    """

    name: str | None
    place: str
    content: RunColumns | InputFile | Mapping[Any, Any]

    def load(self) -> RunColumns | InputFile:
        """Return the rows of the run, or its file.

        Raises
        ------
        DataError
            If the run has an invalid value.
        """
        if isinstance(self.content, Mapping):
            return run_of_dict(self.content, self.place)
        return self.content


@dataclass(frozen=True)
class GivenQrels:
    """One named qrels set; its parts are concatenated."""

    name: str
    parts: tuple[QrelsColumns | InputFile, ...]


def given_runs(data: object, columns: Columns = NOT_CHOSEN) -> list[GivenRun]:
    """Return the runs of an argument, in order; `columns` maps names of columns.

    A run without a name is called ``run``, or ``run1``, ``run2``, ... by its place in a list.

    Raises
    ------
    UsageError
        If data have an unknown form, or two runs the same name.
    DataError
        If a frame has an invalid value.
    """
    named, found = _several(data, columns), list[GivenRun]()
    if named is not None:
        for name, one in named.items():
            found.append(replace(_alone(name, one, columns), name=name_text(name, "a run")))
    elif _is_list(data):
        for place, one in enumerate(cast(Sequence[Any], data), 1):
            found += _runs(one, f"runs[{place - 1}]", f"run{place}", columns)
    else:
        found = _runs(data, "runs", "run", columns)
    if not found:
        raise UsageError("no run was given.")
    names = [run.name for run in found if run.name is not None]
    for name in names:
        if names.count(name) > 1:
            fix = "name them in a dict, {name: run}, or in a column 'system'"
            raise UsageError(f"two runs are called {name!r}: {fix}.")
    return found


def given_qrels(data: object, columns: Columns = NOT_CHOSEN) -> list[GivenQrels]:
    """Return the qrels sets that a user passes; the first is primary.

    `columns` are those that the user names.

    Raises
    ------
    UsageError
        If data have an unknown form.
    DataError
        If data have an invalid value.
    """
    named = _several(data, columns)
    if named is None:
        sets = [GivenQrels("qrels", tuple(_qrels(data, "qrels", columns)))]
    else:
        sets = [
            GivenQrels(
                name_text(name, "a qrels set"), tuple(_qrels(one, f"qrels[{shown(name)}]", columns))
            )
            for name, one in named.items()
        ]
    if not all(one.parts for one in sets):
        raise UsageError("no qrels were given.")
    return sets


def name_text(name: object, what: str) -> str:
    """Return the name that a user gives to a run, a qrels set or a track as text.

    Raises
    ------
    UsageError
        If an object has no text, or the text is not Unicode.
    """
    try:
        text = str(name)
        text.encode()
    except UnicodeEncodeError:
        raise UsageError(f"the name of {what}, {shown(name)}, is not Unicode text.") from None
    except Exception as error:  # whatever a user's __str__ raises
        raise UsageError(f"the name of {what} is {shown(name)}.") from error
    return text


def name_of(data: object) -> str | None:
    """Return the name of qrels: of a data set, or of a file without endings."""
    if isinstance(data, str) and is_dataset(data):
        return data.partition(":")[2]
    return stem(Path(data).name) if isinstance(data, str | os.PathLike) else None


def _several(data: object, columns: Columns) -> Mapping[Any, object] | None:
    """Return a dict of named runs or sets, None for anything else; ``{query: {doc: 1}}`` is one."""
    if not isinstance(data, Mapping):
        return None
    named = cast(Mapping[Any, object], data)
    if holds_columns(named, columns):
        return None
    for value in named.values():
        if _is_empty(value) and len(named) > 1:
            continue  # a query without docs
        if not isinstance(value, Mapping):
            return None if _are_docs(value) else named
        of_name = cast(Mapping[Any, object], value).values()
        for inner in (one for one in of_name if not _is_empty(one)):
            return named if isinstance(inner, Mapping) or _are_docs(inner) else None
    return None


def _is_empty(value: object) -> bool:
    return isinstance(value, list | tuple | AbstractSet) and not value


def _are_docs(value: object) -> bool:
    """Check whether a value is the docs of a query: a set, or a list of ids, not of files."""
    if isinstance(value, AbstractSet):
        return True
    if not isinstance(value, list | tuple):
        return False
    first = next(iter(cast(Sequence[object], value)), None)
    if isinstance(first, str):
        return not (is_dataset(first) or os.path.isfile(first))
    return isinstance(first, int | np.integer)


def _is_list(data: object) -> bool:
    """Check whether data are a list of runs or qrels, not of the rows of one."""
    if not isinstance(data, list | tuple):
        return False
    items = cast(Sequence[object], data)
    return not (is_record(items) or any(map(is_record, items[:1])))


def _alone(name: object, data: object, columns: Columns) -> GivenRun:
    place = f"runs[{shown(name)}]"
    found = _runs(data, place, "run", columns)
    if len(found) > 1:
        raise UsageError(f"{place} holds {len(found)} runs: pass them without this name.")
    return found[0]


def _runs(data: object, place: str, name: str, columns: Columns) -> list[GivenRun]:
    """Return the runs of one object; `name` is for a run without its own."""
    content = _recognized(data, place, "scoreddocs", columns)
    if isinstance(content, InputFile):
        return [GivenRun(None, content.name, replace(content, columns=columns))]
    if isinstance(content, Mapping):
        own = getattr(data, "name", None)  # of a run of ranx
        return [GivenRun(own if isinstance(own, str) else name, place, content)]
    found = runs_of_frame(content, place, columns)
    return [GivenRun(own or name, rows.place, rows) for own, rows in found]


def _qrels(data: object, place: str, columns: Columns) -> Iterator[QrelsColumns | InputFile]:
    if _is_list(data):
        for index, one in enumerate(cast(Sequence[Any], data)):
            yield from _qrels(one, f"{place}[{index}]", columns)
        return
    content = _recognized(data, place, "qrels", columns)
    if isinstance(content, InputFile):
        yield replace(content, columns=columns)
    elif isinstance(content, Mapping):
        yield qrels_of_dict(content, place)
    else:
        yield qrels_of_frame(content, place, columns)


def _recognized(
    data: Any, place: str, kind: str, columns: Columns
) -> Mapping[Any, Any] | InputFile | Any:
    """Return one object as a dict of dicts, a file or a frame; `kind` is for data sets."""
    if isinstance(data, Mapping):
        named = cast(Mapping[Any, Any], data)
        if holds_columns(named, columns):
            return as_frame(frame_of_columns(named, place), place)
        if all(isinstance(docs, Mapping) for docs in named.values()) or has_doc_lists(named):
            return named
        raise UsageError(f"{place} is a dict with values other than dicts, or lists: {FORMS}.")
    if isinstance(data, str) and is_dataset(data):
        return as_frame(frame_of_records(records_of_dataset(data, kind), place), place)
    if isinstance(data, str | os.PathLike):
        path = Path(cast(str, data))
        if is_stream(path):
            return InputFile(str(path), partial(io.BytesIO, read_stream(path)))
        if not os.path.isfile(path):  # Path.is_file raises an error for a text that is no path
            problem = "is not a file" if os.path.lexists(path) else "does not exist"
            raise UsageError(f"{place}: {shown(printable(str(path)))} {problem}: {FORMS}.")
        return InputFile.at(path, printable(str(path)))
    if hasattr(data, "read"):
        return _open_file(data, place)
    if (frame := as_frame(data, place)) is not None:
        return frame
    if hasattr(data, "to_dict") and (hasattr(data, "run") or hasattr(data, "qrels")):
        return data.to_dict()  # of ranx
    is_scalar = isinstance(data, bytes) or getattr(data, "ndim", 1) == 0
    if isinstance(data, Iterable) and not is_scalar:
        return as_frame(frame_of_records(cast(Iterable[Any], data), place), place)
    raise UsageError(f"{place} is {type(data).__name__}: {FORMS}.")


def _open_file(file: Any, place: str) -> InputFile:
    """Return the rest of an open file, of text or bytes."""
    try:
        content = file.read()
        data = content.encode() if isinstance(content, str) else bytes(memoryview(content))
    except (ValueError, TypeError, OSError) as error:  # closed, open for writing, not text
        raise UsageError(f"{place}: the open file cannot be read ({error}).") from None
    name = getattr(file, "name", place)
    return InputFile(printable(name) if isinstance(name, str) else place, partial(io.BytesIO, data))
