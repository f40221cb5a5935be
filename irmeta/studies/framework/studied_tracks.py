"""The table `studied_tracks`, which every study over tracks has."""

from __future__ import annotations

from irmeta.schema.columns import TRACK, Column, Table

STUDIED_TRACKS = Table(
    "studied_tracks",
    ("track",),
    {
        "track": TRACK,
        "systems": Column("count", "systems of the track"),
        "queries": Column("count", "judged queries with a relevant doc"),
        "relevant": Column("big", "relevant (query, doc) pairs", label="relevant docs"),
        "deepest_rank": Column("count", "deepest rank of all lists"),
        "highest_grade": Column("count", "highest grade of the qrels set"),
        "used": Column("yes", "whether results over tracks include the track"),
        "left_out": Column(
            "text", "why the track is excluded; null: it is not", null=True, show="none"
        ),
        "notes": Column("text", "notes on the track", null=True, show="none"),
    },
    caption="The tracks of the store.",
)
