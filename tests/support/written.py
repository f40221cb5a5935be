"""Pages and LaTeX tables of a reanalysis and of every study."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import irmeta
from irmeta import studies
from support.undrawn import draw_nothing

CHOICES: dict[str, dict[str, Any]] = {  # few numbers, but every table
    "search_length": {"resamples": 5},
    "depth": {"ks": [5, 10, 100]},
    "innovation": {"resamples": 50, "trials": 20, "draws": 20},
    "preference": {"resamples": 50, "replicates": 3, "label_replicates": 2, "points": 100},
}
WRITTEN = ("reanalysis", *CHOICES, "properties")


def write_all(store: irmeta.Store, folder: Path) -> None:
    """Write a reanalysis and every study into folders by the names of `WRITTEN`, undrawn."""
    with pytest.MonkeyPatch.context() as patched:
        draw_nothing(patched)
        irmeta.reanalyze(store.path, folder / "reanalysis")
        for name, choices in CHOICES.items():
            getattr(studies, name)(store, folder / name, track=["news", "web"], **choices)
        studies.properties(folder / "properties")
