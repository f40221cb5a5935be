"""The tables of one track."""

from __future__ import annotations

from irmeta.studies.framework.study import Pieces
from irmeta.studies.framework.track_view import TrackView
from irmeta.studies.papers.innovation.added_runs import added_runs
from irmeta.studies.papers.innovation.docs_by_rarity import (
    docs_by_holders,
    rare_grades,
    relevant_docs,
)
from irmeta.studies.papers.innovation.example_docs import table_4
from irmeta.studies.papers.innovation.fewer_systems import table_3
from irmeta.studies.papers.innovation.found_docs import contributions, greedy, overlap
from irmeta.studies.papers.innovation.made_systems import figure_1, query_of_figure_1
from irmeta.studies.papers.innovation.options import InnovationOptions as Options
from irmeta.studies.papers.innovation.orders_by_alpha import dethroned, figure_2, swaps
from irmeta.studies.papers.innovation.other_labels import other_labels
from irmeta.studies.papers.innovation.rare_track import RareTrack
from irmeta.studies.papers.innovation.tested_pairs import table_1, table_2
from irmeta.studies.papers.innovation.unpooled_groups import pool_bias


def compute(track: TrackView, options: Options) -> Pieces:
    """Yield the tables of one track, from a single pass over its blocks."""
    rare = RareTrack.of(track, options)
    docs = relevant_docs(rare)
    query = query_of_figure_1(rare)

    yield "docs_by_holders", docs_by_holders(docs)
    if query is None:
        asked = f"query {options.query} with " if options.query else ""
        track.note(f"Figure 1 is absent: no {asked}a relevant doc")
    else:
        yield "figure_1", figure_1(rare, query)
    yield "figure_2", figure_2(rare)
    yield "table_1", table_1(rare)
    yield "table_2", table_2(rare)
    yield "table_3", table_3(rare)
    yield "table_4", table_4(rare, docs)
    yield "contributions", contributions(rare)
    yield "greedy", greedy(rare)
    yield "overlap", overlap(rare)
    yield "swaps", swaps(rare)
    yield "dethroned", dethroned(rare)
    yield from added_runs(rare)
    yield "rare_grades", rare_grades(docs)
    yield "pool_bias", pool_bias(rare)
    yield from other_labels(track, rare)
