"""Made tracks for the study of trust."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import irmeta
from irmeta.studies.framework.study_results import StudyResults

FEW: dict[str, Any] = {
    "resamples": 20,
    "splits": 10,
    "measures": ("AP", "RBP(p=0.8)"),
    "min_systems": 1,
}
Labels = dict[str, dict[str, float]]


def results_of(out: Path, qrels: object, runs: dict[str, Labels], **choices: Any) -> StudyResults:
    return irmeta.studies.trust(irmeta.from_data(qrels, runs), out, **(FEW | choices))


def lists(
    systems: int = 8, queries: int = 30, noise: float = 1.0, seed: int = 0
) -> tuple[Labels, dict[str, Labels]]:
    """Return labels of 20 docs a query, and systems that are the better, the greater their name."""
    rng = np.random.default_rng(seed)
    qrels: Labels = {
        f"q{q}": {f"d{d}": float(rng.random() < 0.4) for d in range(20)} for q in range(queries)
    }
    runs = {
        f"s{s}": {
            q: {d: float(g * s / systems * 3 + noise * rng.normal()) for d, g in docs.items()}
            for q, docs in qrels.items()
        }
        for s in range(systems)
    }
    return qrels, runs
