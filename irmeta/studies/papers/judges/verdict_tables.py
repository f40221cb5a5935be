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
            "bias": bias_text(
                measure, *(_frame(frames, name, key) for name in ("groups", "systems"))
            ),
            "to_label": _to_label(_frame(frames, "least_labelled", key)),
            "orders_as": noise.get("orders_as"),
            "least_loss": noise.get("least_loss", np.nan),
            "tau_b": board.get("tau_b", np.nan),
        }


def _frame(
    frames: Sequence[tuple[str, pl.DataFrame]], table: str, key: Mapping[str, str]
) -> pl.DataFrame:
    """Return the rows of a judge and a measure; a frame without columns if there are none."""
    found = [frame.filter(**key) for name, frame in frames if name == table]
    filled = [frame for frame in found if frame.height]
    return pl.concat(filled) if filled else pl.DataFrame()


def bias_text(measure: str, groups: pl.DataFrame, systems: pl.DataFrame) -> str:
    """Describe the flagged groups and systems, or the contrasts that would have been found."""
    if groups.is_empty():
        return f"cannot be said: no permuted labels by {measure}"
    if groups["p"].is_nan().all() and systems["p"].is_nan().all():
        return f"cannot be said: permuted labels change no mean by {measure}"
    flagged = groups.filter("flagged").sort("p", -pl.col("z").abs(), "by", "group")
    parts = list[str]()
    if (every := flagged.filter(by="all")).height:
        parts.append(f"all systems {'raised' if every['contrast'][0] > 0 else 'lowered'}")
    for word, sign in (("for", 1), ("against", -1)):
        has_sign = pl.col("contrast") * sign > 0
        names = flagged.filter(pl.col("by") != "all", has_sign)["group"].to_list()
        number = systems.filter("flagged", has_sign).height
        named = [listed(names, MOST_NAMED)] if names else []
        if named := named + [count(number, "system")] * (number > 0):
            parts.append(f"{word} {', '.join(named)}")
    if parts:
        return "; ".join(parts)
    low, high = (systems["detectable"].drop_nans().quantile(share) for share in (0.1, 0.9))
    return f"none; a contrast of {low:.3f} to {high:.3f} would be found"


def _to_label(least: pl.DataFrame) -> int | None:
    if least.is_empty():
        return None
    return least.filter(pl.col("wanted") == LEAST_TAU)["mixture"][0]


def _row(rows: Sequence[Row], **key: str) -> Row:
    """Return the row with these values, or an empty row."""
    found = (row for row in rows if all(row[name] == value for name, value in key.items()))
    return next(found, {})
