"""The tables of one track."""

from __future__ import annotations

from irmeta.studies.framework.study import Pieces
from irmeta.studies.framework.track_view import TrackView
from irmeta.studies.papers.innovation.docs_by_rarity import docs_by_holders
from irmeta.studies.papers.innovation.options import InnovationOptions as Options


def compute(track: TrackView, options: Options) -> Pieces:
    """Yield the tables of one track, from a single pass over its blocks."""
    views = list(track.blocks())
    yield "docs_by_holders", docs_by_holders(views, options)
