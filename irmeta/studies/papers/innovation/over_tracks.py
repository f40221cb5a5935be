"""The table over tracks: the paper's numbers."""

from __future__ import annotations

from irmeta.studies.framework.study import Pieces, Tables
from irmeta.studies.papers.innovation import paper
from irmeta.studies.papers.innovation.options import InnovationOptions as Options


def over_tracks(tables: Tables, options: Options) -> Pieces:
    """Yield the numbers that the paper prints."""
    yield "paper_numbers", paper.numbers()
