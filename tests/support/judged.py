"""Values under people and judges: of the real track with fourteen judges, and made ones."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np

import irmeta

JUDGE = "gpt4o-umbrela"


@cache
def judged_matrices(shared: Path, measure: str = "nDCG@10") -> dict[str, irmeta.Matrix]:
    """Return the values by each set of labels; those of people are called `reference`."""
    folder = shared / "judges" / "trec-dl-2021-passage"
    sets = {"reference": folder / "qrels.txt"}
    sets |= {path.stem: path for path in sorted((folder / "judges").iterdir())}
    store = irmeta.from_data(sets, sorted((folder / "runs").iterdir()))
    return {name: irmeta.matrices(store, measure, qrels=name)[0] for name in sets}


def judged_store(source: Path, folder: Path) -> irmeta.Store:
    """Return a store in `folder` of the track in `source` with the labels of people."""
    track = folder / "collection" / source.name
    (track / "runs").mkdir(parents=True)
    for file in (*(source / "runs").iterdir(), source / "qrels.txt"):
        (track / file.relative_to(source)).symlink_to(file)
    return irmeta.ingest(folder / "collection", folder / "store")


def numbered_matrix(
    values: object, measure: str = "A", direction: Literal[1, -1] = 1, track: str = "t"
) -> irmeta.Matrix:
    """Return values [query, system] with the names q0, q1, ... and s0, s1, ..."""
    values = np.asarray(values, float)
    queries, systems = (
        tuple(f"{letter}{i}" for i in range(size))
        for letter, size in zip("qs", values.shape, strict=True)
    )
    return irmeta.Matrix(values, queries, systems, measure, track, direction)
