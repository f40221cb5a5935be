"""Scores of the worked examples of the paper."""

from __future__ import annotations

from collections.abc import Iterator

from irmeta.measures.evaluate import evaluate_block
from irmeta.measures.names import parse_measure
from irmeta.policies import EvalPolicy
from irmeta.rankings.enumeration import RankingSpace
from irmeta.studies.papers.properties.paper import RELEVANT, WORKED
from irmeta.studies.papers.properties.property_rows import Row


def worked() -> Iterator[Row]:
    """Score the rankings of Section 4.3, over two subtopics with five relevant docs each."""
    space = RankingSpace(2, 4, RELEVANT)
    for (measure, ranking), printed in WORKED.items():
        view, spec = space.view([space.number(ranking)]), parse_measure(measure)
        value = evaluate_block(view, [spec], EvalPolicy()).values.item()
        yield {"measure": spec.name, "ranking": ranking, "value": value, "printed": printed}
