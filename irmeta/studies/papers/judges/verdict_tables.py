"""The table `verdicts`, from the other tables of a track."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from irmeta.phrases import count, listed
from irmeta.studies.papers.judges.judged_track import JudgedTrack

Row = dict[str, Any]


LEAST_TAU = 0.9
"""Tau-b with the full reference that an order of systems should have."""
MOST_NAMED = 3
"""Groups that are named, those of the least p first."""


def verdicts(
    judged: JudgedTrack,
    made: Mapping[str, Sequence[Row]],
    frames: Sequence[tuple[str, pl.DataFrame]],
) -> Iterator[Row]:
    """Yield the rows of the table `verdicts`, by the first measure and the first test.

    Parameters
    ----------
    made
        Rows of tables of the track, by table.
    frames
        Parts of the other tables.
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
            "bias": bias_text(*(_frame(frames, name, key) for name in ("groups", "systems"))),
            "to_label": _to_label(_frame(frames, "least_labelled", key)),
            "orders_as": noise.get("orders_as"),
            "tau_b": board.get("tau_b", np.nan),
        }


def _frame(
    frames: Sequence[tuple[str, pl.DataFrame]], table: str, key: Mapping[str, str]
) -> pl.DataFrame:
    """Return the rows of a judge and a measure; a frame without columns if there are none."""
    found = [frame.filter(**key) for name, frame in frames if name == table]
    filled = [frame for frame in found if frame.height]
    return pl.concat(filled) if filled else pl.DataFrame()


def bias_text(groups: pl.DataFrame, systems: pl.DataFrame) -> str | None:
    """Describe the flagged groups and systems; None where no system could be tested."""
    if systems.is_empty() or systems["p"].is_nan().all():
        return None
    parts = list[str]()
    if groups.height:
        flagged = groups.filter("flagged").sort("p_adjusted", "by", "group")
        for word, rows in (
            ("for", flagged.filter(pl.col("contrast") > 0)),
            ("against", flagged.filter(pl.col("contrast") < 0)),
        ):
            if rows.height:
                parts.append(f"{word} {listed(rows['group'].to_list(), MOST_NAMED)}")
    if number := int(systems["flagged"].sum()):
        parts.append(count(number, "system"))
    return "; ".join(parts) or "none"


def _to_label(least: pl.DataFrame) -> int | None:
    if least.is_empty():
        return None
    return least.filter(pl.col("wanted") == LEAST_TAU)["mixture"][0]


def _row(rows: Sequence[Row], **key: str) -> Row:
    """Return the row with these values, or an empty row."""
    found = (row for row in rows if all(row[name] == value for name, value in key.items()))
    return next(found, {})
