"""Write a track's tables to Parquet: row groups of complete queries, strings by dictionary."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from irmeta.schema import TABLES
from irmeta.schema.arrow import with_grades

if TYPE_CHECKING:
    import pyarrow.parquet as pq

PART_ROWS = 1 << 25  # a file is closed at the first row group after this many rows


@dataclass
class PartWriter:
    """Writer of record batches as row groups to `folder`/part-0.parquet, part-1.parquet, ..."""

    table: str
    folder: Path
    parts: int = 0  # files begun
    _writer: pq.ParquetWriter | None = None
    _rows: int = 0

    def write(self, columns: dict[str, pa.Array]) -> None:
        """Write one row group; the columns are those of the table's schema."""
        import pyarrow.parquet as pq

        schema = stored_schema(self.table, columns)
        if self._writer is None or self._rows >= PART_ROWS:
            self.close()
            self.folder.mkdir(parents=True, exist_ok=True)
            path = self.folder / f"part-{self.parts}.parquet"
            self._writer = pq.ParquetWriter(path, schema, **_options(self.table))
            self.parts += 1
            self._rows = 0
        group = pa.Table.from_arrays([columns[name] for name in schema.names], schema=schema)
        self._writer.write_table(group, row_group_size=max(1, group.num_rows))
        self._rows += group.num_rows

    def close(self) -> None:
        """Finish the current file."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None


def stored_schema(table: str, columns: Mapping[str, pa.Array]) -> pa.Schema:
    """Return the schema of a table with these columns: grades are int8, or float64 if need be."""
    schema = TABLES[table].arrow(dictionary=True)
    return with_grades(schema, columns["grade"].type) if "grade" in columns else schema


@contextmanager
def part_writer(table: str, folder: Path) -> Generator[PartWriter]:
    """Yield a `PartWriter` that writes at least one file, so that every table can be read."""
    writer = PartWriter(table, folder)
    try:
        yield writer
        if writer.parts == 0:
            schema = TABLES[table].arrow(dictionary=True)
            writer.write({f.name: pa.array([], f.type) for f in schema})
    finally:
        writer.close()


def _options(table: str) -> dict[str, Any]:
    """Return a table's Parquet options; benchmarks/README.md has the bytes per row.

    `store_schema=False` keeps the dictionary type out of the file: every reader sees strings.
    Statistics serve to find a track, set or query: each row group holds all systems.
    """
    columns = TABLES[table].columns
    strings = [c for c, column in columns.items() if column.kind in ("name", "text")]
    encodings = {"score": "BYTE_STREAM_SPLIT"}
    encodings |= dict.fromkeys(("rank", "position", "rank_given", "doc_id"), "DELTA_BINARY_PACKED")
    levels = dict.fromkeys(columns, 1)
    few = []
    if table == "runs":
        few.append("grade")
        # Scores are smaller at level -1 than at 1 on the real tracks, and zstd does not compress
        # the unsorted numbers of docs. With the dictionary of grades, writing takes 61 ns a row,
        # where it took 76, at the same size.
        levels["score"] = -1
        del levels["doc_id"]
    return {
        "compression": {c: "zstd" if c in levels else "none" for c in columns},
        "compression_level": levels,
        "store_schema": False,
        "use_dictionary": strings + few,
        "column_encoding": {c: e for c, e in encodings.items() if c in columns},
        "dictionary_pagesize_limit": 1 << 27,
        "write_batch_size": 1 << 16,  # the same bytes as with the default 2^10, in less time
        # Of 100 single bits flipped in a long table without checksums, 13 changed values in
        # silence. Checksums take 0.03 % more bytes, and 5 % more time of reading scores.
        "write_page_checksum": True,
        "write_statistics": [c for c in ("track", "query", "set") if c in strings],
    }
