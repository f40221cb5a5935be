"""Values of a small track, cell by cell, against twins that know one list at a time.

A twin is a function of a `Cell`; twins.registry has those of all measures. `assert_twins` compares
the values of a track with them, and `assert_explained` the arithmetic that `explain` shows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial

import irmeta
from irmeta.measures.names import parse_measure
from support.making import Track, down
from twins import gain as naive_gain
from twins import incomplete as naive_incomplete
from twins import measures as naive

ORDERS = ("trec_eval", "trec_eval10", "score-file", "file", "rank")
OTHER_ORDERS = ORDERS[1:]
NEGATIVE = ("unjudged", "nonrelevant")


@dataclass(frozen=True)
class Cell:
    """One system's list for one query, and what a twin may need beyond it."""

    track: Track
    system: str
    query: str
    order: str = "trec_eval"
    negative: str = "unjudged"

    @cached_property
    def ranking(self) -> naive.Ranking:
        """The list, best first; None where there is none."""
        return self.track.ranking(self.system, self.query, self.order)

    @cached_property
    def qrels(self) -> naive.Qrels:
        """The query's grades."""
        return self.track.qrels[self.query]

    @cached_property
    def blocks(self) -> list[list[str]]:
        """The list as blocks of tied docs."""
        return naive.tied_blocks(self.track.rows(self.system, self.query), self.order)

    @cached_property
    def condensed(self) -> list[str]:
        """The list without its unjudged docs."""
        return naive_incomplete.condensed(self.ranking, self.qrels, self.negative)

    @cached_property
    def condensed_blocks(self) -> list[list[str]]:
        """The condensed list as blocks of docs that were tied."""
        return naive_incomplete.condensed_blocks(self.blocks, self.qrels, self.negative)

    @cached_property
    def rankings(self) -> list[naive.Ranking]:
        """All systems' lists for the query."""
        return [self.track.ranking(s, self.query, self.order) for s in self.track.runs]

    @cached_property
    def depths(self) -> naive_incomplete.Depths:
        """The pool depth of each judged doc: of all systems, by score, then line."""
        lists = [self.track.ranking(s, self.query, "score-file") for s in self.track.runs]
        return naive_incomplete.pool_depths(lists, self.qrels)

    @property
    def highest(self) -> int:
        """The highest grade of the track."""
        return self.track.highest

    @property
    def deepest(self) -> int:
        """The deepest rank of the track."""
        return self.track.deepest

    def upper(
        self,
        unjudged: str = "upper",
        *,
        gain: naive_gain.Gain = "binary",
        gmax: int | None = None,
        rel: int = 1,
    ) -> list[float]:
        """The gains of the list, where unjudged docs are as good as they may be."""
        gmax = self.highest if gmax is None else gmax
        return naive_incomplete.upper_gains(
            self.ranking, self.qrels, gain, gmax, rel, unjudged, self.negative
        )


Twins = dict[str, Callable[[Cell], float]]
"""By canonical name."""


def _of(part: str, twin: Callable[..., float], *args: object, **choices: object):
    return lambda x: twin(getattr(x, part), x.qrels, *args, **choices)


of_list = partial(_of, "ranking")
"""A twin that needs the list and the qrels alone, with its other arguments."""
of_condensed = partial(_of, "condensed")
of_blocks = partial(_of, "blocks")
of_condensed_blocks = partial(_of, "condensed_blocks")


def named(measure: str, k: int | None = None, **params: object) -> str:
    """The canonical name of a measure with these parameters and cutoff."""
    inside = ",".join(f"{name}={value}" for name, value in params.items())
    parenthesized = f"({inside})" if inside else ""
    return parse_measure(measure + parenthesized + ("" if k is None else f"@{k}")).name


def every_cut(name: str, twin: Callable[[Cell, int | None], float]) -> Twins:
    """A twin of a cell and a cutoff, at several cutoffs and for the whole list."""
    return {named(name, k): lambda x, k=k: twin(x, k) for k in (None, 1, 3, 5, 50)}


Values = dict[tuple[str, str, str], float]
"""By system, query and measure."""


def values_of(store: irmeta.Store, measures: object, **choices: object) -> Values:
    """What `evaluate` gives."""
    frame = store.evaluate(measures, **choices)
    found = {(s, q, m): v for _, s, q, m, v in frame.iter_rows()}
    assert len(found) == frame.height
    return found


def cells(track: Track, order: str, negative: str) -> Iterator[Cell]:
    """Every system's list, or the lack of it, for every judged query."""
    for system in track.runs:
        for query in track.qrels:
            yield Cell(track, system, query, order, negative)


def twin_values(
    track: Track, twins: Twins, order: str = "trec_eval", negative: str = "unjudged"
) -> Values:
    """What the twins say."""
    return {
        (cell.system, cell.query, name): twin(cell)
        for cell in cells(track, order, negative)
        for name, twin in twins.items()
    }


def close(value: float, expected: float, within: float = 1e-12) -> bool:
    """Equal to 1e-12, relative or absolute; NaN equals NaN."""
    both = math.isnan(value) and math.isnan(expected)
    return both or math.isclose(value, expected, rel_tol=within, abs_tol=within)


def assert_equal(found: Values, expected: Values) -> None:
    """Every value that is expected and no other, each equal to its twin."""
    assert found.keys() == expected.keys()
    wrong = {c: (v, expected[c]) for c, v in found.items() if not close(v, expected[c])}
    assert not wrong, wrong


def assert_twins(store: irmeta.Store, track: Track, twins: Twins, order: str = "trec_eval") -> None:
    """Every value is its twin's, under both policies for negative grades."""
    for negative in NEGATIVE:
        found = values_of(store, list(twins), negative=negative, tie_order=order)
        assert_equal(found, twin_values(track, twins, order, negative))


# Docs: x is unjudged, m as good as unjudged; e is relevant and in no list.
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
)
EXPLAINED_CELLS = (
    Cell(EXPLAINED, "tied", "q"),
    Cell(EXPLAINED, "absent", "q"),  # no list
    Cell(EXPLAINED, "tied", "none", negative="nonrelevant"),  # no relevant docs
    Cell(EXPLAINED, "tied", "q", negative="nonrelevant"),
    Cell(EXPLAINED, "short", "q"),  # relevant docs only, some not retrieved
)


def assert_explained(twins: Twins) -> None:
    """`explain` gives the twin's number, of each twin once, and checks its own arithmetic.

    It reads the store for each number, so the cutoffs of a measure take turns in the cells above;
    but a measure with its parameters, whatever the cutoff, is explained in every one of them.
    """
    by_measure: dict[str, list[str]] = {}
    for name in twins:
        by_measure.setdefault(name.partition("@")[0], []).append(name)
    store = EXPLAINED.read()
    for names in by_measure.values():
        for turn in range(max(len(names), len(EXPLAINED_CELLS))):
            name = names[turn % len(names)]
            cell = EXPLAINED_CELLS[turn % len(EXPLAINED_CELLS)]
            found = store.explain(
                name, system=cell.system, query=cell.query, negative=cell.negative
            )
            assert close(found.trace.value, twins[name](cell)), (name, cell)
