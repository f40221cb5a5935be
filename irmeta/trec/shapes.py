"""Detect a run or archive given as qrels."""

from __future__ import annotations

from irmeta.errors import DataError
from irmeta.trec.archives import archive_kind
from irmeta.trec.source import TrackSource
from irmeta.trec.streams import InputFile, open_stream
from irmeta.trec.text import WHOLE, Text, first_fields, is_number


def qrels_problem(source: TrackSource, file: InputFile) -> DataError | None:
    """Return the error for a run or archive given as qrels; None for any other file."""
    if (kind := archive_kind(file)) is not None:
        return DataError(f"a {kind} archive", file=file.name, fix="Unpack the qrels.")
    if not _looks_like_run(_first_row(file)):
        return None
    fix = "Name the qrels first, then the runs."
    for run in source.runs:
        if _looks_like_qrels(_first_row(source.input_file(run))):
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


def _looks_like_run(fields: list[bytes]) -> bool:
    if len(fields) < 6:  # prels has five columns, like a run without tags
        return False
    return bool(WHOLE.match(fields[3]) and is_number(fields[4]))


def _looks_like_qrels(fields: list[bytes]) -> bool:
    return len(fields) == 4 and WHOLE.match(fields[3]) is not None
