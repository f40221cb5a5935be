"""Published values of systems: from the catalogue, or from a CSV file of a user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from irmeta.errors import DataError, UsageError, did_you_mean

SCHEMA = {
    "track": pl.String,
    "system": pl.String,
    "query": pl.String,  # null: a mean
    "evaluator": pl.String,
    "measure": pl.String,
    "printed": pl.String,
}
"""Columns of published values, in this module and `irmeta.api.verification`."""
LEAST_SHARED = 0.5
"""Share of a track's systems that a track of the catalogue must list to be taken for it."""
MEANS = ("all", "amean", "")  # trec_eval, ndeval


def read_published(path: Path, tracks: Sequence[str]) -> pl.DataFrame:
    """Read a CSV file with the columns system, measure and value.

    Parameters
    ----------
    path
        The file. Columns track, query (``all``, ``amean`` or empty: a mean) and evaluator are
        optional; further columns are ignored.
    tracks
        Tracks of the store; without a column track there must be only one.

    Raises
    ------
    UsageError
        If the file is missing, a column is missing, or a track is unknown.
    DataError
        If a line cannot be read, or a value is not a number.
    """
    try:
        rows = pl.read_csv(path, infer_schema_length=0)
    except FileNotFoundError:
        raise UsageError(f"{path} is not there") from None
    except (pl.exceptions.PolarsError, OSError) as error:
        raise DataError(f"cannot be read as CSV: {error}", file=str(path)) from error
    missing = [name for name in ("system", "measure", "value") if name not in rows.columns]
    if missing:
        raise UsageError(
            f"{path} lacks the columns {', '.join(missing)}; it has {', '.join(rows.columns)}. "
            "Needed: system, measure, value; optional: track, query, evaluator."
        )
    if "track" not in rows.columns:
        if len(tracks) != 1:
            raise UsageError(
                f"{path} has no column track, and there are {len(tracks)} tracks: name one with "
                "--track (track=)."
            )
        rows = rows.with_columns(track=pl.lit(tracks[0]))
    unknown = rows.filter(~pl.col("track").is_in(list(tracks)))
    if unknown.height:
        name = unknown["track"][0]
        raise UsageError(f"{path}: no track {name!r} here. {did_you_mean(str(name), tracks)}")
    _check_numbers(rows, path)
    optional = {name: pl.lit(None, pl.String) for name in ("query", "evaluator")}
    given = {name: pl.col(name) for name in optional if name in rows.columns}
    found = rows.with_columns(**(optional | given), printed=pl.col("value").str.strip_chars())
    is_mean = pl.col("query").str.to_lowercase().is_in(MEANS)
    return found.with_columns(
        query=pl.when(is_mean).then(None).otherwise("query"),
        evaluator=pl.col("evaluator").fill_null(""),
    ).select(list(SCHEMA))


def _check_numbers(rows: pl.DataFrame, path: Path) -> None:
    value = pl.col("value").str.strip_chars().cast(pl.Float64, strict=False)
    lines = rows.with_row_index("line", 2)
    wrong = lines.filter(value.is_null() | pl.col("system").is_null() | pl.col("measure").is_null())
    if wrong.height:
        row = wrong.row(0, named=True)
        names = [name for name in ("system", "measure") if row[name] is None]
        raise DataError(
            f"the {names[0]} is empty" if names else "the value is not a number",
            file=str(path),
            line=row["line"],
            value=row["value"],
            fix="Correct the line, or remove it.",
        )


def catalog_tracks(
    systems: Mapping[str, Sequence[str]], ids: Mapping[str, str], published: pl.DataFrame
) -> dict[str, str]:
    """Map tracks of a store to tracks of the catalogue.

    A track is the one of the catalogue that `ids` gives, or that alone lists at least half of its
    systems. Where several do, the track is left out; so is one that no track of the catalogue fits.

    Parameters
    ----------
    systems
        Names of systems by track.
    ids
        Track of the catalogue by track of the store, for names that do not tell.
    published
        Published values of the catalogue: id, run and more.

    Raises
    ------
    UsageError
        If `ids` names an unknown track.
    """
    known = published["id"].unique().sort().to_list()
    for track, name in ids.items():
        if track not in systems:
            raise UsageError(f"no track {track!r} here. {did_you_mean(track, list(systems))}")
        if name not in known:
            raise UsageError(f"no published values of {name!r}. {did_you_mean(name, known)}")
    names = published.select("id", system="run").unique()
    found = dict(ids)
    for track, of_track in systems.items():
        if track in found or not of_track:
            continue
        shared = names.filter(pl.col("system").is_in(list(of_track))).group_by("id").len()
        fits = shared.filter(pl.col("len") >= LEAST_SHARED * len(of_track))["id"].to_list()
        if len(fits) == 1:
            found[track] = fits[0]
    return found


def catalog_values(tracks: Mapping[str, str], published: pl.DataFrame) -> pl.DataFrame:
    """Return the published means of tracks of the catalogue, under the names of the store."""
    by_id = pl.DataFrame(
        {"track": list(tracks), "id": list(tracks.values())},
        {"track": pl.String, "id": pl.String},
    )
    return by_id.join(published, on="id", maintain_order="left_right").select(
        "track",
        pl.col("run").alias("system"),
        pl.lit(None, pl.String).alias("query"),
        "evaluator",
        "measure",
        pl.col("value").alias("printed"),
    )
