"""Values that others published for data in the shared folder, as tables for `irmeta.verify`."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

Row = tuple[str, str, str, str]
"""System, query (``all`` or ``amean``: a mean), measure, value as printed."""
COLUMNS = ("system", "query", "measure", "value")

NTCIR = {
    "MSnDCG": "nDCG@10",
    "Q": "Q(norm=min)@10",
    "nERR": "nERR(stop=ntcir)@10",
}
"""irmeta's names of NTCIREVAL's measures."""
LEADERBOARD = {"RBP(p=.5)": "RBP(p=0.5,gain=linear)"}
"""irmeta's name of a measure that the leaderboard of TREC-COVID spells otherwise."""


@dataclass(frozen=True)
class Published:
    """Values of one publisher.

    Attributes
    ----------
    by
        Publisher and program.
    track
        Track of the store.
    rows
        Function from the shared folder to the values; None: the catalogue of irmeta.
    choices
        Fields of `EvalPolicy` that the publisher's program follows.
    values
        Number of values.
    explained
        How many of them differ, and are explained.
    """

    by: str
    track: str
    rows: Callable[[Path], Iterator[Row]] | None
    values: int
    choices: dict[str, Any] = field(default_factory=dict)
    explained: int = 0

    def table(self, shared: Path) -> pl.DataFrame | None:
        """Return the values as a table for `verify`."""
        if self.rows is None:
            return None
        return pl.DataFrame(list(self.rows(shared)), COLUMNS, orient="row")


def leaderboard(shared: Path) -> Iterator[Row]:
    """Read the leaderboard of TREC-COVID, round 1."""
    file = shared / "tracks" / "trec-covid-r1" / "leaderboard.csv"
    with file.open(newline="") as lines:
        for row in csv.DictReader(lines):
            for name in ("ndcg@10", "p@5", "RBP(p=.5)", "bpref", "MAP"):
                yield row["run"], "all", LEADERBOARD.get(name, name), row[name]


def clef_ehealth(shared: Path) -> Iterator[Row]:
    """Read the output of trec_eval per topic in CLEF eHealth 2015."""
    for file in sorted((shared / "tracks" / "clef-ehealth-2015" / "official").glob("*.dat.gz")):
        with gzip.open(file, "rt") as lines:
            for line in lines:
                name, query, value = line.split()
                if name != "runid":
                    yield file.name.removesuffix(".dat.gz"), query, name, value


def legaldiv(shared: Path) -> Iterator[Row]:
    """Read the output of ndeval per topic."""
    for file in sorted((shared / "tracks" / "legaldiv" / "official").iterdir()):
        with gzip.open(file, "rt", newline="") as lines:
            for row in csv.DictReader(lines):
                system, query = row.pop("runid"), row.pop("topic")
                yield from ((system, query, name, value) for name, value in row.items())


def ntcir(shared: Path) -> Iterator[Row]:
    """Read the matrices of NTCIR-13 We Want Web, for the four runs at hand."""
    folder = shared / "oracles" / "ntcir13_www"
    for name, ours in NTCIR.items():
        with (folder / f"wwwE.official.{name}@0010.topic-by-run.csv").open(newline="") as lines:
            for row in csv.DictReader(lines):
                for number in range(1, 5):
                    system = f"RMIT-E-NU-Own-{number}"
                    yield system, row[""], ours, row[system]


NTCIR_CONFIG = """[tracks.ntcir-13-www]
runs = ["{folder}/*.run.gz"]
names = '(.*)\\.run\\.gz'
qrels = "{folder}/wwwE.trec.qrels"
"""
"""A `collection.toml` of the track of NTCIR-13, which `tests/tracks.toml` does not have."""

PUBLISHED = (
    Published("TREC-COVID's leaderboard", "trec-covid-r1", leaderboard, 715),
    Published("NIST's result pages (trec_eval)", "trec-covid-r1", None, 572),
    Published("NIST's result pages (trec_eval)", "robust-2003", None, 85, explained=2),
    Published(
        "CLEF eHealth 2015 (trec_eval 9)",
        "clef-ehealth-2015",
        clef_ehealth,
        63_385,
        {"qrels": "binary"},
    ),
    Published(
        "Legal case retrieval by topic (ndeval)",
        "legaldiv",
        legaldiv,
        117_450,
        {"tie_order": "rank", "queries": "retrieved"},
    ),
    Published(
        "NTCIR-13 We Want Web (NTCIREVAL)", "ntcir-13-www", ntcir, 1200, {"tie_order": "file"}
    ),
)
