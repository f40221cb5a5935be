"""Comparison of the values of a small track with naive twins, one list at a time.

A twin is a function of a `Cell`; twins.registry has those of all measures. `assert_twins` compares
the values of a track with them, and `assert_explained` the arithmetic that `explain` shows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import cycle

import irmeta
from irmeta.measures.names import parse_measure
from irmeta.testing.samples import Diversity
from support.making import Track, down
from twins import gain as naive_gain
from twins import incomplete as naive_incomplete
from twins import measures as naive

ORDERS = ("trec_eval", "trec_eval10", "score-file", "file", "rank")
OTHER_ORDERS = ORDERS[1:]
NEGATIVE = ("unjudged", "nonrelevant")


@dataclass(frozen=True)
class Cell:
    """One list of a track, with all that a twin may need to score it."""

    track: Track
    system: str
    query: str
    order: str = "trec_eval"
    negative: str = "unjudged"
    scale: int | None = None
    """Highest grade, if it is not that of the ad hoc qrels."""

    @cached_property
    def ranking(self) -> naive.Ranking:
        """Docs of the list by rank; None if the system has no list."""
        return self.track.ranking(self.system, self.query, self.order)

    @cached_property
    def qrels(self) -> naive.Qrels:
        """Grades of the query's judged docs."""
        return self.track.qrels[self.query]

    @cached_property
    def blocks(self) -> list[list[str]]:
        """Blocks of tied docs of the list."""
        return naive.tied_blocks(self.track.rows(self.system, self.query), self.order)

    @cached_property
    def condensed(self) -> list[str]:
        """The list without unjudged docs."""
        return naive_incomplete.condensed(self.ranking, self.qrels, self.negative)

    @cached_property
    def condensed_blocks(self) -> list[list[str]]:
        """Blocks of tied docs of the condensed list."""
        return naive_incomplete.condensed_blocks(self.blocks, self.qrels, self.negative)

    @cached_property
    def rankings(self) -> list[naive.Ranking]:
        """Lists of all systems for the query."""
        return [self.track.ranking(s, self.query, self.order) for s in self.track.runs]

    @cached_property
    def depths(self) -> naive_incomplete.Depths:
        """Pool depth of each judged doc over all systems, in tie order score-file."""
        lists = [self.track.ranking(s, self.query, "score-file") for s in self.track.runs]
        return naive_incomplete.pool_depths(lists, self.qrels)

    @property
    def subtopics(self) -> Diversity:
        """Grades of the query's judged docs by subtopic."""
        return self.track.diversity[self.query]

    @property
    def described(self) -> Mapping[str, tuple[float | None, str | None]]:
        """Weights and types of the query's subtopics."""
        return self.track.described.get(self.query, {})

    def alone(self, subtopic: str) -> Cell:
        """Return the cell with the judgments of one subtopic; other facts are the track's."""
        qrels = {self.query: self.subtopics.get(subtopic, {})}
        return replace(self, track=replace(self.track, qrels=qrels), scale=self.highest)

    @property
    def highest(self) -> int:
        """Highest grade of the track."""
        return self.track.highest if self.scale is None else self.scale

    @property
    def deepest(self) -> int:
        """Deepest rank of the track."""
        return self.track.deepest

    def upper(
        self,
        unjudged: str = "upper",
        *,
        gain: naive_gain.Gain = "binary",
        gmax: int | None = None,
        rel: int = 1,
    ) -> list[float]:
        """Return the gains of the list with unjudged docs at their largest gain."""
        gmax = self.highest if gmax is None else gmax
        return naive_incomplete.upper_gains(
            self.ranking, self.qrels, gain, gmax, rel, unjudged, self.negative
        )


Twins = dict[str, Callable[[Cell], float]]
"""Twins by canonical name of the measure."""


def _of(part: str, twin: Callable[..., float], *args: object, **choices: object):
    return lambda x: twin(getattr(x, part), x.qrels, *args, **choices)


of_list = partial(_of, "ranking")
"""Make a twin of a function of the list, the qrels and the given arguments."""
of_condensed = partial(_of, "condensed")
of_blocks = partial(_of, "blocks")
of_condensed_blocks = partial(_of, "condensed_blocks")


def named(measure: str, k: int | None = None, **params: object) -> str:
    """Return the canonical name of a measure with parameters and a cutoff."""
    inside = ",".join(f"{name}={value}" for name, value in params.items())
    parenthesized = f"({inside})" if inside else ""
    return parse_measure(measure + parenthesized + ("" if k is None else f"@{k}")).name


def every_cut(name: str, twin: Callable[[Cell, int | None], float]) -> Twins:
    """Map the names of a measure at several cutoffs and without one to its twins."""
    return {named(name, k): lambda x, k=k: twin(x, k) for k in (None, 1, 3, 5, 50)}


Values = dict[tuple[str, str, str], float]
"""Values by system, query and measure."""


def values_of(store: irmeta.Store, measures: object, **choices: object) -> Values:
    """Return the values of `evaluate`."""
    frame = store.evaluate(measures, **choices, per_query=True)
    found = {(s, q, m): v for _, s, q, m, v in frame.iter_rows()}
    assert len(found) == frame.height
    return found


def cells(track: Track, order: str, negative: str) -> Iterator[Cell]:
    """Yield a cell for each system and judged query, with or without a list.

    The queries, and the highest grade, are those of the qrels by subtopic, if there are any.
    """
    grades = [g for of in track.diversity.values() for docs in of.values() for g in docs.values()]
    scale = max(1, *grades) if grades else track.highest
    for system in track.runs:
        for query in track.diversity or track.qrels:
            yield Cell(track, system, query, order, negative, scale)


def twin_values(
    track: Track, twins: Twins, order: str = "trec_eval", negative: str = "unjudged"
) -> Values:
    """Return the values of the twins for all cells of a track."""
    return {
        (cell.system, cell.query, name): twin(cell)
        for cell in cells(track, order, negative)
        for name, twin in twins.items()
    }


def close(value: float, expected: float, within: float = 1e-12) -> bool:
    """Check equality to a relative or absolute tolerance; NaN equals NaN."""
    both = math.isnan(value) and math.isnan(expected)
    return both or math.isclose(value, expected, rel_tol=within, abs_tol=within)


def assert_equal(found: Values, expected: Values) -> None:
    """Check that two sets of values have the same cells and equal values."""
    assert found.keys() == expected.keys()
    wrong = {c: (v, expected[c]) for c, v in found.items() if not close(v, expected[c])}
    assert not wrong, wrong


def assert_twins(
    store: irmeta.Store,
    track: Track,
    twins: Twins,
    order: str = "trec_eval",
    policies: Sequence[str] = NEGATIVE,
) -> None:
    """Check the values of a track against twins, under some policies for negative grades."""
    for negative in policies:
        found = values_of(store, list(twins), negative=negative, tie_order=order)
        assert_equal(found, twin_values(track, twins, order, negative))


# Doc x is unjudged, m has a negative grade, e is relevant but not retrieved.
EXPLAINED = Track(
    {
        "tied": {
            "q": [("x", 9), ("a", 5), ("n", 5), ("b", 5), ("d", 3), ("m", 3), ("y", 1), ("c", 0)],
            "none": [("x", 2), ("n", 2), ("m", 1)],
        },
        "short": {"q": down("c", "a"), "none": down("m")},
        "absent": {"none": down("x", "n")},
    },
    {"q": {"a": 1, "b": 3, "c": 2, "d": 4, "e": 1, "n": 0, "m": -1}, "none": {"n": 0, "m": -1}},
    diversity={
        "q": {
            "1": {"a": 1, "b": 2, "m": -1},
            "10": {"b": 4, "c": 1, "e": 2, "n": 0},
            "2": {"n": 0, "m": -1},
        },
        "none": {"1": {"n": 0}, "2": {"m": -1}},
    },
    described={
        "q": {"1": (0.5, "nav"), "10": (1.5, "inf"), "2": (1.0, "nav"), "3": (2.0, "inf")},
        "none": {"1": (1.0, "inf"), "2": (0.0, "nav")},
    },
)
EXPLAINED_CELLS = (
    Cell(EXPLAINED, "tied", "q"),
    Cell(EXPLAINED, "absent", "q"),  # no list
    Cell(EXPLAINED, "tied", "none", negative="nonrelevant"),  # no relevant docs
    Cell(EXPLAINED, "tied", "q", negative="nonrelevant"),
    Cell(EXPLAINED, "short", "q"),  # relevant docs only, some not retrieved
)


def assert_explained(twins: Twins) -> None:
    """Check the value of `explain` against each twin, in one or two of EXPLAINED_CELLS.

    `explain` reads the store for each value, so the names take turns in the cells. A measure with
    its parameters is explained in at least two of them.
    """
    by_measure: dict[str, list[str]] = {}
    for name in twins:
        by_measure.setdefault(name.partition("@")[0], []).append(name)
    store, turns = EXPLAINED.read(), cycle(EXPLAINED_CELLS)
    for names in by_measure.values():
        for name in names if len(names) > 1 else names * 2:
            cell = next(turns)
            found = store.explain(
                name, system=cell.system, query=cell.query, negative=cell.negative
            )
            assert close(found.trace.value, twins[name](cell)), (name, cell)
