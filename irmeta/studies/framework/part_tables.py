"""The tables of one track for its figures: written in this run, kept, or in a separate file."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from irmeta.results.tidy_files import read_parquet
from irmeta.studies.framework.recorded_files import RecordedFiles
from irmeta.studies.framework.study import Study


class PartTables(dict[str, pl.DataFrame]):
    """Tables of one track by name; a table that is `apart` is read at its first use."""

    def __init__(
        self, study: Study, files: RecordedFiles, tables: Mapping[str, pl.DataFrame]
    ) -> None:
        super().__init__(tables)
        self._study, self._files = study, files

    def __missing__(self, name: str) -> pl.DataFrame:
        """Read a table that is apart; it is empty if the track has no rows.

        Raises
        ------
        KeyError
            If the table is not apart.
        """
        table = self._study.table(name)
        if not table.apart:
            raise KeyError(name)
        file = self._files.table_file(table)
        is_written = file in self._files.recorded()
        frame = read_parquet(self._files.root / file) if is_written else table.empty()
        return self.setdefault(name, frame)


def kept_tables(study: Study, files: RecordedFiles) -> dict[str, pl.DataFrame]:
    """Keep the tables of an earlier run, and return those that are not apart."""
    kept, names = dict[str, pl.DataFrame](), set(files.recorded())
    for table in study.by_table.values():
        if (name := files.table_file(table)) in names:
            files.keep(name)
            if not table.apart:
                kept[table.name] = read_parquet(files.root / name)
    return kept
