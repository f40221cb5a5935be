"""Small tracks for tests of the study of innovation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl

from irmeta.rankings.judged import JudgedRanks
from irmeta.studies.papers.innovation.rare_track import RareTrack, parts_of
from irmeta.studies.papers.innovation.study import TABLES, InnovationOptions
from support.making import Track
from twins.innovation import Data

DECLARED = {table.name: table for table in TABLES}
GROUPS = (None, "g", "g", None)
TYPES = ("manual", "automatic", None, "automatic")


def rare_track(track: Track, grouped: bool = True, **choices: Any) -> RareTrack:
    """Return a track for the study, with two systems of one group."""
    (view,) = track.read().views("t", needs=("pool",), pool_order="trec_eval")
    return of_views([_grouped(view) if grouped else view], **choices)


def of_views(views: list[JudgedRanks], **choices: Any) -> RareTrack:
    options = InnovationOptions(**choices)
    return RareTrack(views[0].facts, views, options, parts_of(views, options), None)


def _grouped(view: JudgedRanks) -> JudgedRanks:
    systems = len(view.systems)
    facts = replace(view.facts, groups=GROUPS[:systems], types=TYPES[:systems])
    return replace(view, facts=facts)


def rows_of(name: str, rows: Any) -> pl.DataFrame:
    """Return rows as the declared table."""
    return DECLARED[name].frame(rows, "t")


def data_of(track: Track) -> Data:
    """Return the lists of all systems and the judgments of each judged query."""
    return {
        query: ({s: track.ranking(s, query) for s in sorted(track.runs)}, docs)
        for query, docs in sorted(track.qrels.items())
    }


def groups_of(track: Track) -> dict[str, str | None]:
    return dict(zip(sorted(track.runs), GROUPS, strict=False))
