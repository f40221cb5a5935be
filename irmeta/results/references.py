"""References of measures, papers and statistics, and of irmeta, in BibTeX."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

VENUES = {
    "article": "journal",
    "inproceedings": "booktitle",
    "incollection": "booktitle",
    "book": "publisher",
    "phdthesis": "school",
    "misc": "howpublished",
}
"""BibTeX's field of the venue, by kind of entry."""
_DOI = re.compile(r"10\.\d{4,9}/[^\s,;`\"]+")
_SPECIAL, ESCAPED = re.compile(r"([&%#_])"), r"\\\1"


class Reference(NamedTuple):
    """Entry of the bibliography; `phrase` names it in sources without a DOI.

    `statistics` are the names of those that it is a reference of, separated by semicolons.
    An entry of which only the DOI, address or source is known has no author and title.
    """

    key: str
    doi: str
    phrase: str
    kind: str
    author: str
    title: str
    venue: str
    year: str
    statistics: str = ""

    def bibtex(self) -> str:
        """Return the entry in BibTeX, ending in a newline."""
        is_address = self.venue.startswith("http")
        fields = {
            "author": self.author,
            "title": f"{{{self.title}}}" if self.title else "",
            "url" if is_address else VENUES[self.kind]: self.venue,
            "year": self.year,
            "doi": self.doi,
        }
        lines = [
            f"  {name} = {{{value if name in ('url', 'doi') else _SPECIAL.sub(ESCAPED, value)}}},\n"
            for name, value in fields.items()
            if value
        ]
        return f"@{self.kind}{{{self.key},\n{''.join(lines)}}}\n"


@cache
def bibliography() -> tuple[Reference, ...]:
    """Return the entries of ``bibliography.csv``."""
    text = files("irmeta.results").joinpath("bibliography.csv").read_text(encoding="utf-8")
    return tuple(Reference(*row) for row in list(csv.reader(text.splitlines()))[1:])


@cache
def statistics() -> Mapping[str, Sequence[Reference]]:
    """Return the references of tests, corrections and other statistics, by name."""
    pairs = [(name, entry) for entry in bibliography() for name in entry.statistics.split(";")]
    return {name: [entry for of, entry in pairs if of == name] for name, _ in pairs if name}


def dois(text: str) -> list[str]:
    """Return the DOIs in a text, without the punctuation behind them."""
    matches = [match.rstrip(".:") for match in _DOI.findall(text)]
    return [doi[:-1] if doi.count("(") < doi.count(")") else doi for doi in matches]


def references_of(name: str, source: str) -> list[Reference]:
    """Return the entries that a source names; where none is known, one of its DOI or text."""
    present = dois(source)
    cited = [
        entry
        for entry in bibliography()
        if entry.doi in present or (entry.phrase and entry.phrase in source)
    ]
    known = {entry.doi for entry in cited}
    for doi in present:
        if doi not in known:
            key = re.sub(r"[^a-zA-Z0-9]+", "-", doi)
            cited.append(Reference(key, doi, "", "misc", "", "", "", ""))
    key = re.sub(r"[^a-zA-Z0-9]+", "-", name)
    return cited or [Reference(key, "", "", "misc", "", name, source, "")]


def irmeta_itself(version: str) -> Reference:
    """Return the entry of irmeta, of one version or several in words."""
    return Reference(
        *("irmeta", "", "", "misc", "{The irmeta developers}"),
        "irmeta: meta-evaluation of information retrieval",
        f"Version {version}",
        "",
    )


def bibtex_of(sources: Mapping[str, str], version: str) -> str:
    """Return the references of sources by name, each once, and that of irmeta, in BibTeX."""
    cited = [entry for name, source in sources.items() for entry in references_of(name, source)]
    entries = {entry.key: entry for entry in [*cited, irmeta_itself(version)]}
    return "\n".join(entry.bibtex() for entry in entries.values())
