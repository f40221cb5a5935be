"""Facts, groups and orders of tracks, which may explain verdicts; means of tables over tracks."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import polars as pl

from irmeta.delimited import natural_key
from irmeta.errors import DataError, UsageError, did_you_mean
from irmeta.locations import not_a
from irmeta.phrases import listed
from irmeta.schema.columns import TRACK, Column, Table
from irmeta.studies.framework.study import EVERY, STUDIED_TRACKS, GroupedOptions, Show, Tables
from irmeta.trec.streams import InputFile
from irmeta.trec.text import read_csv_rows, refuse_rows

if TYPE_CHECKING:
    from irmeta.studies.framework.study_results import StudyResults

Order = Literal["year", "size", "group", "name"]
"""Orders of tracks: by year, by systems x queries, by group and year, by name."""
FIRST_EDITION = 1991  # TREC-N was in this year + N
COVID = 2020
_YEAR = re.compile(r"(?<!\d)(19[89]\d|20[0-4]\d)(?!\d)")
_EDITION = re.compile(r"^trec-?(\d{1,2})(?!\d)", re.IGNORECASE)
_ROUND = re.compile(r"(?<![a-z])(?:round|r)-?\d+$", re.IGNORECASE)
_absent = "; null: the studies in the folders do not say"
FACTS: Mapping[str, Column] = {
    "year": Column("count", "year; null: unknown", null=True, format="d"),
    "group": Column("name", "tracks of one task over the years"),
    "systems": Column("count", "systems"),
    "queries": Column("count", "judged queries with a relevant doc"),
    "relevant_per_query": Column("real", "relevant docs per such query", format=".1f"),
    "deepest_rank": Column("count", "deepest rank of all lists"),
    "pool_depth": Column("count", f"depth to which the pool is judged{_absent}", null=True),
    "list_length": Column("real", f"mean docs of a list{_absent}", null=True, format=".0f"),
    "saturated": Column(
        "real", f"share of lists without a non-relevant doc{_absent}", null=True, format="percent"
    ),
    "missed": Column(
        "real", f"share of relevant docs that the median system misses{_absent}", null=True,
        format="percent",
    ),
}  # fmt: skip
"""Facts of a track that may explain a verdict."""
CLAIM_TRACKS = Table(
    "claim_tracks", ("track",), {"track": TRACK, **FACTS}, caption="Facts of the tracks.", by="all"
)


class Source(NamedTuple):
    """A table of a study that has a fact: `value` of the rows of a track."""

    fact: str
    study: str
    table: str
    value: pl.Expr


_depth = pl.col("depth").cast(pl.Int32, strict=False)  # text where queries differ
_is_known = pl.col("depth_source") != "default"
_has_lists = pl.col("lists_without_nonrelevant").is_not_null()
_lists = (pl.col("queries") - pl.col("no_list")).filter(_has_lists)
_saturated = (pl.col("lists_without_nonrelevant").sum() / _lists.sum()).fill_nan(None)
SOURCES = (
    Source("pool_depth", "depth", "collections", _depth.filter(_is_known).first()),
    Source("list_length", "overview", "systems", pl.col("rows").sum() / pl.col("lists").sum()),
    Source("saturated", "search-length", "means", _saturated),
    Source("saturated", "overview", "means", _saturated),
    Source("missed", "search-length", "headroom", pl.col("median_missed").drop_nulls().first()),
)
"""Tables with facts beside `studied_tracks`; of several for one fact, the first with a number."""


def year_of(track: str) -> int | None:
    """Return the year in a track's name, or of its edition of TREC; None if it names none."""
    if match := _YEAR.search(track):
        return int(match[1])
    if match := _EDITION.match(track):
        return FIRST_EDITION + int(match[1])
    return COVID if track.lower().startswith("trec-covid") else None


def group_of(track: str) -> str:
    """Return a track's name without year, edition and round: web of trec21-web and of web-2012."""
    words = track
    for pattern in (_EDITION, _YEAR, _ROUND):
        words = pattern.sub("", words)
    words = re.sub(r"[-_. ]{2,}", "-", words)
    return words.strip("-_. ") or track


def named_groups(tracks: Iterable[str], facts: Sequence[str]) -> dict[str, str]:
    """Return the group, the year, or both, that the name of each track states, as text.

    Raise `UsageError` if a year is asked and a name states none.
    """
    groups = dict[str, str]()
    for track in tracks:
        stated = {"group": group_of(track), "year": year_of(track)}
        if "year" in facts and stated["year"] is None:
            raise UsageError(
                f"independent_by = {','.join(facts)!r}: the name of track {track!r} states no "
                "year. Name a file with a column track: FILE:COLUMN."
            )
        groups[track] = " ".join(str(stated[fact]) for fact in facts)
    return groups


def facts_of_tracks(
    results: Sequence[StudyResults], tracks: Iterable[str], file: str | Path | None = None
) -> pl.DataFrame:
    """Return a row of `CLAIM_TRACKS` for each track.

    Year and group are those of `file` (CSV or TSV with the columns track and year, group, or both),
    for other tracks those of their names.

    Raises
    ------
    UsageError, DataError
        If there is no such file, or it has another column, a year that is none, or a track twice.
    """
    of_claims = pl.DataFrame({"track": [*tracks]}, {"track": pl.String})
    studied = [
        result.tables[STUDIED_TRACKS.name].select(*STUDIED_TRACKS.columns)
        for result in results
        if STUDIED_TRACKS.name in result.tables
    ]
    counted = pl.concat(studied or [STUDIED_TRACKS.empty()], how="vertical_relaxed")
    facts = of_claims.join(counted.unique("track", keep="first"), on="track", how="left")
    facts = facts.with_columns(
        year=pl.Series([year_of(name) for name in facts["track"]], dtype=pl.Int32),
        group=pl.Series([group_of(name) for name in facts["track"]], dtype=pl.String),
        relevant_per_query=pl.col("relevant") / pl.col("queries"),
        **{source.fact: pl.lit(None) for source in SOURCES if source.fact not in facts.columns},
    )
    by_study = {result.study.name: result for result in results}
    for source in SOURCES:
        tables = by_study[source.study].tables if source.study in by_study else {}
        if source.table in tables:
            rows = tables[source.table].group_by("track").agg(value=source.value)
            facts = facts.join(rows, on="track", how="left")
            facts = facts.with_columns(pl.coalesce(source.fact, "value").alias(source.fact))
            facts = facts.drop("value")
    facts = CLAIM_TRACKS.frame(facts.select(*CLAIM_TRACKS.columns))
    return facts if file is None else with_stated(facts, Path(file))


def with_stated(facts: pl.DataFrame, path: Path) -> pl.DataFrame:
    """Return facts of tracks with the years and groups of a file: see `facts_of_tracks`."""
    rows = read_facts(path)
    stated = [name for name in ("year", "group") if name in rows.columns]
    joined = facts.join(rows, on="track", how="left", suffix="_stated")
    return CLAIM_TRACKS.frame(
        joined.with_columns(
            pl.coalesce(pl.col(f"{name}_stated").cast(facts.schema[name]), name).alias(name)
            for name in stated
        ).select(*CLAIM_TRACKS.columns)
    )


def read_facts(path: Path) -> pl.DataFrame:
    """Read the years, the groups, or both of tracks, as text; null: none."""
    if not path.is_file():
        raise UsageError(f"{not_a('file', path)}.")
    rows = read_csv_rows(InputFile.at(path, str(path)), ("track", "year", "group"))
    if "track" not in rows.columns or rows.width < 3:
        raise DataError("lacks the column track, or year and group", file=str(path))
    track = pl.col("track")
    problems = {"no track": track.is_null(), "a track twice": track.is_duplicated()}
    if "year" in rows.columns:
        problems["not a year"] = ~pl.col("year").fill_null("2000").str.contains(r"^\d{4}$")
    refuse_rows(rows, problems, str(path))
    return rows.drop("line")


def in_order(facts: pl.DataFrame, order: Order) -> pl.DataFrame:
    """Return tracks in an order; those of unknown year or size are last, equal ones by name."""

    def key(row: Mapping[str, Any]) -> tuple[object, ...]:
        year = row["year"]
        by_year = (year is None, year or 0)
        size = (row["systems"] or 0) * (row["queries"] or 0)
        name = natural_key(str(row["track"]))
        return {
            "year": (by_year, name),
            "size": (-size, name),
            "group": (natural_key(str(row["group"])), by_year, name),
            "name": (name,),
        }[order]

    rows = sorted(facts.iter_rows(named=True), key=key)
    return pl.DataFrame(rows, facts.schema) if rows else facts


def groups_of(file: str | None, tracks: Collection[str]) -> dict[str, str]:
    """Read the groups of tracks; empty without a file.

    Raises
    ------
    DataError
        If the file lacks a column or the name of a track, or has a track twice.
    UsageError
        If there is no such file, or it has no group for one of the tracks.
    """
    if file is None:
        return {}
    rows = read_facts(Path(file))
    if "group" not in rows.columns:
        fix = "It needs the columns track and group."
        raise DataError("has no column 'group'", file=file, fix=fix)
    groups = dict(rows.select("track", "group").drop_nulls().iter_rows())
    if EVERY in groups.values():
        raise DataError("is the name of all tracks together", file=file, value=EVERY)
    for track in sorted({*tracks} - groups.keys()):
        raise UsageError(
            f"track_groups = {file!r} has no group of track {track!r}. "
            f"{did_you_mean(track, groups)} Add a line {track},GROUP, or choose other tracks."
        )
    return groups


def over_tracks(
    table: Table,
    tables: Tables,
    options: GroupedOptions,
    *,
    frame: pl.DataFrame | None = None,
) -> list[dict[str, Any]] | None:
    """Return the rows of a table NAME_tracks: means of the table NAME, each track with one vote.

    Parameters
    ----------
    table
        A table of `table_over_tracks`.
    tables
        The tables of included tracks; the table NAME has a row for each track and key.
    options
        With the file of groups.
    frame
        Rows instead of those of the table NAME.

    Returns
    -------
    list of dict, or None
        Means and sample standard deviations over tracks, undefined values left out; None for fewer
        than two tracks.
    """
    frame = tables[table.name.removesuffix("_tracks")] if frame is None else frame
    if frame["track"].n_unique() < 2:
        return None

    values = [name for name, column in table.columns.items() if column.joined is not None]
    named = sorted(groups_of(options.track_groups, frame["track"].unique()).items())
    groups = pl.DataFrame(named, {"track": pl.String, "group": pl.String}, orient="row")
    in_order = groups.sort("group", maintain_order=True)
    of_groups = in_order.join(frame, on="track", maintain_order="left_right")
    every = frame.with_columns(group=pl.lit(EVERY))
    both = pl.concat([every, of_groups.select(every.columns)])

    rows = list[dict[str, Any]]()
    by_key = both.group_by(table.key, maintain_order=True).agg("track", *values)
    for of_key in by_key.iter_rows(named=True):
        row = {name: of_key[name] for name in table.key}
        row["tracks"] = len(of_key["track"])
        for name in values:
            known = np.array(of_key[name], np.float64)
            known = known[~np.isnan(known)]
            row[name] = float(known.mean()) if len(known) else np.nan
            row[f"{name}_sd"] = float(known.std(ddof=1)) if len(known) > 1 else np.nan
            row[f"{name}_tracks"] = len(known)
        rows.append(row)
    return rows


def show_over_tracks(tables: Tables, show: Show) -> list[Show]:
    """Return a table over tracks with the numbers of tracks in its caption; none without rows."""
    rows = tables[show.table].sort(pl.col("group") != EVERY, maintain_order=True)
    sizes = rows.group_by("group", maintain_order=True).agg(pl.col("tracks").max())
    texts = [f"{group} ({number})" for group, number in sizes.iter_rows()]
    if not texts:
        return []
    about = {"": f"Mean \u00b1 standard deviation over tracks: {listed(texts)}."}
    return [replace(show, about=about)]
