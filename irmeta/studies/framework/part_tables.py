"""The tables of a part of a study: written with provenance, kept, read and joined."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, Self

import polars as pl
import pyarrow as pa

from irmeta._version import __version__
from irmeta.errors import IrmetaError, NoMeasureError
from irmeta.locations import Location
from irmeta.measures.evaluate import how_made, recorded_measures
from irmeta.options import Options
from irmeta.parallel import check_stopped
from irmeta.policies import TrackOptions
from irmeta.rankings.track import Track
from irmeta.results.tidy_files import ParquetFile, read_parquet, scan_files
from irmeta.schema.columns import Table, by_name
from irmeta.schema.result_tables import QUERIES
from irmeta.stats.tables import facts_of_measures
from irmeta.store.scan import StoreReader
from irmeta.studies.framework.plan import file_checksums, scored_specs
from irmeta.studies.framework.recorded_files import RecordedFiles, folder_of
from irmeta.studies.framework.study import STUDIED_TRACKS, Study, Tables


def provenance(
    study: Study, store: StoreReader | None, options: Options, tracks: Sequence[str]
) -> dict[str, Any]:
    """Return the provenance of the results of some tracks as JSON values."""
    specs = scored_specs(study, store, options)
    record: dict[str, Any] = {"irmeta": __version__}
    if store is not None and isinstance(options, TrackOptions):
        opened = [Track.of(store, track, options.policy) for track in tracks]
        specs = [replace(spec, preset=True) for spec in specs]  # left out where decimals need rel
        try:
            record = how_made(opened, specs, options.policy)
        except NoMeasureError:  # the track is left out
            record = how_made(opened, [], options.policy)
    elif specs:
        record["measures"] = recorded_measures(specs)
    if store is None and study.file_tracks is not None:
        record["value_files"] = file_checksums(options)
    return record | {"study": study.name, "revision": study.revision, "options": options.record()}


class TableWriter:
    """Writer of one part's tables; rows of a table that is `apart` are written at once.

    Rows without a column track are those of `track`.
    """

    def __init__(
        self,
        study: Study,
        files: RecordedFiles,
        made: Mapping[str, Any],
        tables: Iterable[Table],
        track: str | None = None,
    ) -> None:
        self._track = track
        self._study, self._files, self._made = study, files, made
        self._tables = by_name(tables)
        self._rows: dict[str, list[pl.DataFrame]] = {}
        self._open: dict[str, ParquetFile] = {}
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        self._stack.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.__exit__(*error)

    def add(self, name: str, rows: Any) -> None:
        """Add rows of a table; raise IrmetaError if the table or its columns are not declared."""
        check_stopped()
        if name not in self._tables:
            raise IrmetaError(f"study {self._study.name}: {name!r} is not a table of this part")
        table = self._tables[name]
        rows = (
            rows if isinstance(rows, pa.Table) and table.apart else table.frame(rows, self._track)
        )
        if table.apart:
            self._file(table).write(rows)
        else:
            self._rows.setdefault(name, []).append(rows)

    def finish(self, expected: Iterable[Table]) -> dict[str, pl.DataFrame]:
        """Write the tables, expected tables also without rows; return those that are not apart."""
        expected = list(expected)
        for table in expected:
            if table.apart:
                self._file(table)
        joined = self.joined(expected)
        for name, frame in joined.items():
            table = self._tables[name]
            _check_key(table, frame)
            with self._files.parquet(table, self._made) as file:
                file.write(frame)
        return joined

    def joined(self, expected: Iterable[Table] = ()) -> dict[str, pl.DataFrame]:
        """Return the rows so far by table, expected tables also without rows; none is apart."""
        for table in expected:
            if not table.apart:
                self._rows.setdefault(table.name, [])
        return {
            name: pl.concat([self._tables[name].empty(), *frames], how="vertical_relaxed")
            for name, frames in self._rows.items()
        }

    def _file(self, table: Table) -> ParquetFile:
        if table.name not in self._open:
            file = self._files.parquet(table, self._made)
            self._open[table.name] = self._stack.enter_context(file)
        return self._open[table.name]


def _check_key(table: Table, frame: pl.DataFrame) -> None:
    key = list(table.key)
    if not key and frame.height > 1:
        raise IrmetaError(f"table {table.name}: {frame.height} rows without a key")
    if key and frame.select(key).is_duplicated().any():
        raise IrmetaError(f"table {table.name}: two rows with the same {', '.join(key)}")


class PartTables(dict[str, pl.DataFrame]):
    """Tables of one track by name; a table that is `apart` is read at its first use."""

    def __init__(
        self, study: Study, files: RecordedFiles, tables: Mapping[str, pl.DataFrame]
    ) -> None:
        super().__init__(tables)
        self._study, self._files = study, files

    def __missing__(self, name: str) -> pl.DataFrame:
        """Read a table that is apart; it is empty if the track has no rows."""
        table = self._study.table(name)
        if not table.apart:
            raise KeyError(name)
        file = self._files.table_file(table)
        is_written = file in self._files.recorded()
        frame = read_parquet(self._files.root / file) if is_written else table.empty()
        return self.setdefault(name, frame)


class JoinedTables(dict[str, pl.DataFrame]):
    """Joined tables of included tracks by name; `scan` reads a table that is `apart`."""

    def __init__(self, study: Study, root: Location, tables: Tables) -> None:
        super().__init__(used_only(tables, study.of_orders))
        self._study, self._root = study, root

    def scan(self, name: str) -> pl.LazyFrame:
        """Return the rows of included tracks of a table that is apart."""
        table = self._study.table(name)
        excluded = not_compared(self) if name in self._study.of_orders else {}
        tracks = self[STUDIED_TRACKS.name].filter("used")["track"]
        parts = [RecordedFiles(self._root, folder_of(t)) for t in tracks if t not in excluded]
        paths = [
            self._root / file
            for files in parts
            if (file := files.table_file(table)) in files.recorded()
        ]
        return scan_files(paths) if paths else table.empty().lazy()


def measures(tables: Tables, options: Options) -> list[dict[str, Any]] | None:
    """Return the rows of the table `measures` of a study: of its values, or else of its options."""
    measured = options.scored()
    if QUERIES.name in tables:
        measured = tables[QUERIES.name]["measure"].unique(maintain_order=True)
    return list(facts_of_measures(dict.fromkeys(measured, 1))) or None


def kept_tables(study: Study, files: RecordedFiles) -> dict[str, pl.DataFrame]:
    """Keep the tables of an earlier run, and return those that are not apart."""
    frames, recorded = dict[str, pl.DataFrame](), set(files.recorded())
    for table in study.by_table.values():
        if (name := files.table_file(table)) in recorded:
            files.keep(name)
            if not table.apart:
                frames[table.name] = read_parquet(files.root / name)
    return frames


def joined_parts(
    study: Study, root: Location, folders: Iterable[str]
) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield the joined tables of all parts; raise DataError if a file was damaged meanwhile."""
    recorded = [RecordedFiles(root, folder) for folder in folders]
    for table in study.by_table.values():
        if table.apart:
            continue
        paths = [
            root / name
            for files in recorded
            if (name := files.table_file(table)) in files.recorded()
        ]
        if paths:
            yield (
                table.name,
                pl.concat([table.empty(), *map(read_parquet, paths)], how="vertical_relaxed"),
            )


def gated(tracks: pl.DataFrame, least: int) -> pl.DataFrame:
    """Return the table `studied_tracks` with the reasons in `not_compared`.

    A track is not compared if it has fewer systems than `least`, or most of its lists hold only
    relevant docs, whose order says nothing.
    """
    systems, saturated = pl.col("systems"), pl.col("saturated").fill_nan(None)
    few = pl.format("{} systems, fewer than {}", systems, pl.lit(least))
    full = pl.format(
        "{}% of the lists hold no doc that is not relevant",
        (100 * saturated).round().cast(pl.Int64),
    )
    reason = pl.when(systems < least).then(few).when(saturated > 0.5).then(full)
    reason = reason.str.replace("^1 systems", "1 system")
    return tracks.with_columns(not_compared=pl.when("used").then(reason))


def not_compared(tables: Tables) -> dict[str, str]:
    """Return why tracks are not compared, by track; empty where no track is compared."""
    if STUDIED_TRACKS.name not in tables:
        return {}
    used = tables[STUDIED_TRACKS.name].filter("used")
    excluded = used.drop_nulls("not_compared")
    is_some = excluded.height < used.height
    return dict(excluded.select("track", "not_compared").iter_rows()) if is_some else {}


def used_only(tables: Tables, of_orders: Collection[str] = ()) -> dict[str, pl.DataFrame]:
    """Return the tables with rows of included tracks only; `studied_tracks` keeps all rows.

    Tables `of_orders` have no rows of tracks that are not compared, unless there is no other track.
    """
    name = STUDIED_TRACKS.name
    if name not in tables:
        return dict(tables)
    used, excluded = tables[name].filter("used"), list(not_compared(tables))
    compared = used.filter(~pl.col("track").is_in(excluded))
    return {
        table: frame
        if table == name or "track" not in frame.columns
        else frame.join(
            compared if table in of_orders else used, on="track", how="semi", maintain_order="left"
        )
        for table, frame in tables.items()
    }
