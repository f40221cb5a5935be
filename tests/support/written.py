"""Pages and LaTeX tables of a reanalysis and of every study."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import irmeta
from irmeta import studies
from support.undrawn import draw_nothing

CHOICES: dict[str, dict[str, Any]] = {  # few numbers, but every table
    "search_length": {"resamples": 5},
    "depth": {"ks": [5, 10, 100]},
    "innovation": {"resamples": 50, "trials": 20, "draws": 20},
    "trust": {"resamples": 20, "splits": 5},
    "preference": {"resamples": 50, "replicates": 3, "label_replicates": 2},
}
FEWER_MEASURES: dict[str, dict[str, Any]] = {  # every table, and half of the time
    "depth": {"ks": [5, 10], "measures": ["AP(norm=min)", "nDCG"]},
    "trust": {"measures": ["AP", "nDCG@10"]},
    "judges": {"measures": ["AP", "nDCG@10"], "resamples": 20, "splits": 5},
}
WRITTEN = ("reanalysis", *CHOICES, "judges", "properties")
NOISE = 5
"""Every label of this number is turned by the judge of the study of judges."""


def write_all(store: irmeta.Store, folder: Path, fewer_measures: bool) -> None:
    """Write a reanalysis and every study into folders by the names of `WRITTEN`, undrawn."""
    fewer = FEWER_MEASURES if fewer_measures else {}
    with pytest.MonkeyPatch.context() as patched:
        draw_nothing(patched)
        irmeta.reanalyze(store.path, folder / "reanalysis")
        for name, choices in CHOICES.items():
            choices = choices | fewer.get(name, {})
            getattr(studies, name)(store, folder / name, track=["news", "web"], **choices)
        judge = write_judge(store, folder / "judge.txt")
        choices = {"resamples": 50, "splits": 20, "judges": [f"noisy={judge}"]}
        choices |= fewer.get("judges", {})
        studies.judges(store, folder / "judges", track=["news", "web"], **choices)
        studies.properties(folder / "properties")


def write_judge(store: irmeta.Store, file: Path) -> Path:
    """Write the labels of a noisy judge of the tracks news and web as qrels."""
    rows = store.qrels(["news", "web"]).filter(pl.col("subtopic").is_null()).collect()
    turned = pl.int_range(pl.len()) % NOISE == 0
    grade = pl.when(turned).then(pl.when(pl.col("grade") > 0).then(0).otherwise(1))
    labels = rows.select("query", "doc", grade=grade.otherwise(pl.col("grade")))
    lines = (f"{query} 0 {doc} {grade}\n" for query, doc, grade in labels.iter_rows())
    file.write_text("".join(lines), encoding="utf-8")
    return file
