"""What reading noticed of each track, as one table."""

from __future__ import annotations

import polars as pl

from irmeta.store.scan import StoreReader, Tracks, track_notes, tracks_of


def track_info(reader: StoreReader, track: Tracks) -> pl.DataFrame:
    """Return a row for each of some tracks of a store: see `Store.info`."""
    rows = []
    for name in tracks_of(reader, track) if track else []:
        record = reader.read_record(name)
        primary = record["qrels"][0]
        rows.append(
            {
                "track": record["track"],
                "systems": len(record["systems"]),
                "skipped_runs": record["skipped_runs"],
                "rows": record["rows"],
                "queries": primary["queries"],
                "judgments": primary["judgments"],
                "highest_grade": primary["highest"],
                "deepest_rank": record["deepest_rank"],
                "qrels": ", ".join(q["name"] for q in record["qrels"]),
                "tie_order": record["config"]["policy"]["tie_order"],
                "pool_depth": record["config"].get("pool_depth"),
                "named_by": record.get("named_by", "tag"),
                "notes": track_notes(record),
            }
        )
    return pl.DataFrame(rows, schema_overrides={"pool_depth": pl.Int64, "notes": pl.String})
