"""The table that a reader acts on, from the other tables of a track."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from irmeta.studies.papers.judges.judged_track import JudgedTrack

Row = dict[str, Any]


def verdicts(judged: JudgedTrack, made: Mapping[str, Sequence[Row]]) -> Iterator[Row]:
    """Yield the rows of the table `verdicts`, by the first measure and the first test.

    Parameters
    ----------
    made
        Rows of the other tables of the track, by table.
    """
    measure, test = judged.options.measures[0], judged.options.tests[0]
    for judge in judged.judges:
        key = {"judge": judge, "measure": measure}
        board = _row(made["leaderboards"], **key, docs="all")
        kept = _row(made["conclusions"], **key, test=test)
        noise = _row(made["query_noise"], **key)
        yield {
            "judge": judge,
            "measure": measure,
            "test": test,
            "survived": kept.get("survived", np.nan),
            "survived_halves": kept.get("survived_halves"),
            "reversed": kept.get("reversed", 0),
            "unconfirmed": kept.get("new", 0),
            "orders_as": noise.get("orders_as"),
            "tau_b": board.get("tau_b", np.nan),
        }


def _row(rows: Sequence[Row], **key: str) -> Row:
    """Return the row with these values, or an empty row."""
    found = (row for row in rows if all(row[name] == value for name, value in key.items()))
    return next(found, {})
