"""Numbers printed in the paper, and where the paper contradicts itself.

Figures 1 to 7 are images; of their numbers, the text states only those listed here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from irmeta.schema.columns import Paper
from irmeta.studies.framework.printed_numbers import read_notes, read_printed, values_of

SOURCE = (
    "Lu, Moffat and Culpepper 2016, The Effect of Pooling and Evaluation Depth on IR Metrics, "
    "doi:10.1007/s10791-016-9282-6"
)
DATA = Paper("4 collections of 21 to 42 contributing runs and 50 topics each", "Table 3")

NOTATION = {"AP": "AP_{a}", "nDCG": "nDCG_{a}", "Q(gain=linear)": "QM_{a,i}"}
"""The paper's names of measures."""
NUMBERS = read_printed("irmeta.studies.papers.depth")
"""All numbers of the papers, with the digits that they print."""

SLIPS = read_notes("irmeta.studies.papers.depth")
"""Contradictions in the paper, and the choice made here, by table."""

_VALUES = values_of(NUMBERS)
_NAMES: Mapping[str, Sequence[str]] = {  # "Table 7" of paper_notes.toml says which are one
    "Robust04": ("Robust04", "TREC 8", "TREC 8 Robust", "TREC 8 Robust04"),
    "ClueWeb2010": ("ClueWeb2010", "ClueWeb10"),
}
"""What the tables call a collection of Table 3, where that is not one name."""
_RATIOS = {"discrimination": "Disc.", "coverage": "Covr.", "inversion": "Invr."}
_CHANGES = {"delta_percent": "change %", "delta_rank": "ranks moved"}
_TIES = {"median_of_means": "median of ties %", "tau_b": "tau"}
Printed = Mapping[str, Callable[[Mapping[str, Any]], str | None]]


def collection_of(contributors: int, depth: int | None) -> str | None:
    """Return the collection of Table 3 with as many contributing runs and as deep a pool."""
    size = {"contributing runs": str(contributors), "pooling depth": str(depth)}
    names = dict.fromkeys(row["collection"] for row in NUMBERS if row["item"] == "Table 3")
    return next(
        (n for n in names if all(_VALUES["Table 3", n, "", c] == v for c, v in size.items())), None
    )


def printed_beside(item: str, collections: Mapping[str, str | None]) -> Printed:
    """Return the paper's numbers of a table, by column, as functions of the rows of ours.

    `collections` has the paper's collection of each track, or None.
    """

    def find(row: Mapping[str, Any], ending: str, line: str, column: str) -> str | None:
        known = collections.get(row["track"]) or ""
        keys = ((item, name + ending, line, column) for name in _NAMES.get(known, (known,)))
        return next((_VALUES[key] for key in keys if key in _VALUES), None)

    def ratio(row: Mapping[str, Any], column: str) -> str | None:
        endings = ["", f", d = {row['depth']}"] if row["depth"] == 20 else [f", d = {row['depth']}"]
        named = f"{_measure(row)} {_RATIOS[column]}"
        found = (find(row, ending, f"k = {row['k']}", named) for ending in endings)
        return next(filter(None, found), None)

    def change(row: Mapping[str, Any], column: str) -> str | None:
        if row["k"] != row["depth"]:
            return None
        ending, line = f", k = d = {row['k']}", f"{row['level']}, {_measure(row)}"
        return find(row, ending, line, _CHANGES[column])

    def outcome(row: Mapping[str, Any]) -> str | None:
        line = "all" if row["depth"] is None else f"d = {row['depth']}"
        text = find(row, "", line, row["quantity"])
        return None if text in (None, "n/a") else text.replace("\u00b1", " \u00b1 ")

    def with_residual(row: Mapping[str, Any]) -> str | None:
        ending, line = f", d = {row['depth']}", f"k = {row['k']}"
        both = [find(row, ending, line, f"{_measure(row)} {n}") for n in ("score", "residual")]
        return None if None in both else " + ".join(filter(None, both))

    def tied(row: Mapping[str, Any], column: str) -> str | None:
        return _VALUES.get((item, _track_of_table_6(row["track"]), "", _TIES[column]))

    return {
        "Table 4": {"mean": outcome},
        "Table 5": {name: partial(change, column=name) for name in _CHANGES},
        "Table 6": {name: partial(tied, column=name) for name in _TIES},
        "Table 7": {name: partial(ratio, column=name) for name in _RATIOS},
        "Table 8": {name: partial(ratio, column=name) for name in _RATIOS},
        "Table 9": {"score": with_residual},
    }[item]


def _measure(row: Mapping[str, Any]) -> str:
    """Return the paper's spelling of a row's measure, without its cutoff."""
    return row["measure"].partition("@")[0].replace(",rel=1", "")


def _track_of_table_6(track: str) -> str:
    """Return the name of a track as Table 6 spells it: TREC8 of trec-8, Robust04 of robust-2004."""
    plain = re.sub(r"[^a-z0-9]", "", track.lower()).removesuffix("adhoc")
    plain = re.sub(r"^(robust)20(?=\d\d$)", r"\1", plain).replace("terabyte20", "trec20")
    names = {row["collection"] for row in NUMBERS if row["item"] == "Table 6"}
    return next((name for name in names if name.lower() == plain), "")
