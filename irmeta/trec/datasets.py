"""Qrels of ir_datasets, as records and as text in TREC form."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any

from irmeta.errors import DataError, UsageError
from irmeta.trec.streams import InputFile

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


def dataset_file(name: str) -> InputFile:
    """Return the qrels of a data set as a file that is made whenever it is opened."""
    return InputFile(name, lambda: io.BytesIO(dataset_qrels(name)))


def _lines(qrels: Iterable[Any], name: str) -> Iterator[str]:
    for row, one in enumerate(qrels):
        second = getattr(one, "subtopic_id", None) or getattr(one, "iteration", None) or "0"
        fields = (one.query_id, second, one.doc_id, str(one.relevance))
        if any(len(field.split()) != 1 for field in fields):
            problem = "an id is empty or has a space"
            raise DataError(problem, file=name, line=row, unit="row", value=" ".join(fields))
        yield " ".join(fields) + "\n"
