"""The tables of the study."""

from __future__ import annotations

from irmeta.measures.enumerated import score_rankings
from irmeta.stats.properties import FURTHER, PAPER, WEIGHT
from irmeta.studies.framework.study import Pieces
from irmeta.studies.papers.properties.options import PropertiesOptions as Options
from irmeta.studies.papers.properties.property_rows import (
    by_length,
    count_properties,
    count_rows,
    described,
)
from irmeta.studies.papers.properties.ranking_relations import edges, nodes
from irmeta.studies.papers.properties.truncated_rankings import truncation
from irmeta.studies.papers.properties.violated_pairs import violations


def compute(track: None, options: Options) -> Pieces:
    """Yield all tables."""
    space, specs = options.space, options.specs
    further = (*FURTHER, WEIGHT) if options.weights else FURTHER
    yield "properties", map(described, (*PAPER, *further))
    values = score_rankings(space, specs)
    paper = count_properties(PAPER, space, specs, values)
    yield "table_1", count_rows(paper, specs)
    yield "by_length", by_length(paper, specs)
    yield "violations", violations(paper, space, specs, values)
    yield "further", count_rows(count_properties(further, space, specs, values), specs)
    yield "truncation", truncation(space, specs)
    single = options.single
    alone = count_properties(PAPER, single, specs, score_rankings(single, specs))
    yield "single_subtopic", count_rows(alone, specs)
    yield "nodes", nodes(options.drawn)
    yield "edges", edges(options.drawn)
