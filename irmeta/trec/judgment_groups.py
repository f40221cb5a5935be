"""Judgments by several people: trec_eval's formats prefs, qrels_prefs and qrels_jg."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from irmeta.errors import DataError
from irmeta.policies import Comments
from irmeta.trec.comments import HashLines
from irmeta.trec.streams import InputFile, open_stream
from irmeta.trec.text import Text, lines

_FIELDS: dict[str, tuple[str, ...]] = {
    "prefs": ("query", "group", "subgroup", "doc", "level"),
    "qrels_prefs": ("query", "group", "doc", "level"),
    "qrels_jg": ("query", "group", "doc", "level"),
}


class JudgedDoc(NamedTuple):
    """A doc judged in a group, such as one person's judgments; `level` is text as in the file.

    Docs of a subgroup are compared with one another; docs of two subgroups only through a third.
    """

    group: str
    subgroup: str
    doc: str
    level: str


def read_groups(
    file: InputFile, form: str, comments: Comments = "skip"
) -> dict[str, Sequence[JudgedDoc]]:
    """Read the judged docs of each query; queries are sorted. For `comments` see `ReadPolicy`.

    Raises
    ------
    DataError
        If the file cannot be read, or a line has another number of fields.
    """
    names, found = _FIELDS[form], dict[str, list[JudgedDoc]]()
    hashes = HashLines(comments, lambda fields: len(fields) == len(names))
    with open_stream(file) as stream:
        for number, piece in Text(stream, file.name).pieces():
            for line, fields in lines(piece, file.name, first=number, hashes=hashes):
                if len(fields) != len(names):
                    problem = f"{len(fields)} fields instead of {len(names)}"
                    fix = f"A line is: {' '.join(names)}."
                    value = b" ".join(fields)
                    raise DataError(problem, file=file.name, line=line, value=value, fix=fix)
                named = dict(zip(names, (field.decode() for field in fields), strict=True))
                doc = JudgedDoc(
                    named["group"], named.get("subgroup", "0"), named["doc"], named["level"]
                )
                found.setdefault(named["query"], []).append(doc)
    return dict(sorted(found.items()))
