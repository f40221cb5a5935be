"""The tables of the study."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from irmeta.measures.evaluate import score_rankings
from irmeta.measures.names import canonical
from irmeta.stats.properties import FURTHER, PAPER, WEIGHT
from irmeta.studies.framework.study import TableRows
from irmeta.studies.papers.properties.options import MEASURES, every_spec
from irmeta.studies.papers.properties.options import PropertiesOptions as Options
from irmeta.studies.papers.properties.paper import NUMBERS, SPACE, printed
from irmeta.studies.papers.properties.property_rows import (
    Row,
    by_length,
    count_properties,
    count_rows,
    described,
)
from irmeta.studies.papers.properties.ranking_rows import edges, nodes, truncation, worked
from irmeta.studies.papers.properties.violated_pairs import violations


def compute(track: None, options: Options) -> TableRows:
    """Yield all tables."""
    space, specs = options.space, options.specs
    further = (*FURTHER, WEIGHT) if options.weights else FURTHER
    yield "properties", map(described, (*PAPER, *further))
    every = every_spec(options)  # those of `specs` are the first
    values = score_rankings(space, every)
    paper = count_properties(PAPER, space, every, values)
    yield "table_1", with_printed(count_rows(paper, specs), options)
    yield "iterations", by_iteration(count_rows(paper, every), options)
    values = values[: len(specs)]
    yield "by_length", by_length(paper, specs)
    yield "violations", violations(paper, space, specs, values)
    yield "worked", worked()
    yield "further", count_rows(count_properties(further, space, specs, values), specs)
    yield "truncation", truncation(space, specs, values)
    single = options.single
    alone = paper
    if single != space:
        alone = count_properties(PAPER, single, specs, score_rankings(single, specs))
    yield "single_subtopic", count_rows(alone, specs)
    yield "nodes", nodes(options.drawn)
    yield "edges", edges(options.drawn)
    yield "paper_numbers", NUMBERS


def by_iteration(rows: Iterable[Row], options: Options) -> Iterator[Row]:
    """Yield the rows of the cube tests with the docs of an iteration, test by test."""
    of_measure = defaultdict[str, list[Row]](list)
    for row in rows:
        of_measure[row["measure"]].append(row)
    for name, spec in options.iterated.items():
        for row in of_measure[name]:
            yield row | {"per": str(dict(spec.params)["per"])}


def with_printed(rows: Iterable[Row], options: Options) -> Iterator[Row]:
    """Add what the paper prints, where measure, rankings and judgments are the paper's."""
    space = options.space
    is_papers = (space.subtopics, space.length) == SPACE and not space.weights
    names = canonical(MEASURES) if is_papers and space.relevant_docs >= space.length else []
    for row in rows:
        measure = row["measure"]
        yield row | {"printed": printed(measure, row["property"]) if measure in names else None}
