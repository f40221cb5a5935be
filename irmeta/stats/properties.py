"""Properties that a measure should have, and counts of the rankings that violate them.

A property relates pairs of rankings, of which the lower one should not score more. A violated pair
proves that a measure lacks the property; without one up to some length, it may still lack it.

Not here, since they need more than labels: the terminal docs of Liu et al. 2016 [2]_, and the
constraints behind RBU (Amigo et al. 2018).

References
----------
.. [1] Albahem, A., Spina, D., Scholer, F., Moffat, A. and Cavedon, L. (2018). Desirable properties
   for diversity and truncated effectiveness metrics. doi:10.1145/3291992.3291996, Eqs. 9 to 11.
.. [2] Liu, F., Moffat, A., Baldwin, T. and Zhang, X. (2016). Quit while ahead: Evaluating
   truncated rankings. doi:10.1145/2911451.2914737
.. [3] Moffat, A. (2013). Seven numeric properties of effectiveness metrics.
   doi:10.1007/978-3-642-45068-6_1
.. [4] Ferrante, M., Ferro, N. and Maistro, M. (2015). Towards a formal framework for
   utility-oriented measurements of retrieval effectiveness. doi:10.1145/2808194.2809452
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations
from typing import Literal

import numpy as np

from irmeta.equality import TIE
from irmeta.errors import UsageError, check_choice
from irmeta.kernels.rank_agreement import count_drops
from irmeta.numbered_rankings import NumberedRankings

Pairs = Iterator[tuple[int, np.ndarray, np.ndarray]]
"""Pairs in pieces: the length of the longer ranking, the numbers of lower rankings, int64 [n], and
those of upper rankings, int64 [n, m]: each lower ranking is related to the m of its row."""
KINDS = ("truncated", "diverse", "ordered")
"""Kinds of rankings: of any length, of docs of several subtopics, by the order of docs."""
Weights = Sequence[float]
"""Weights of the subtopics; empty: equal weights."""


@dataclass(frozen=True)
class Property:
    """A property of measures.

    Attributes
    ----------
    formula
        The property in symbols: S, P, Q are rankings; r is a relevant doc, x a non-relevant one.
    meaning
        The property in words.
    pairs
        Function from rankings and weights of subtopics to pairs.
    strict
        Whether the lower ranking must score less. Only rankings within a measure's cutoff count.
    kinds
        Kinds of rankings that the property is about, of `KINDS`.
    """

    name: str
    formula: str
    meaning: str
    pairs: Callable[[NumberedRankings, Weights], Pairs]
    strict: bool = False
    kinds: tuple[str, ...] = ()
    source: str = ""


def relevance_pairs(rankings: NumberedRankings, weights: Weights = ()) -> Pairs:
    """Yield the pairs S, S·r (Eq. 9)."""
    for length in range(1, rankings.length + 1):
        upper = rankings.of_length(length)
        upper = upper[(upper - 1) % rankings.branching != rankings.nonrelevant]
        yield length, (upper - 1) // rankings.branching, upper[:, None]


def irrelevance_pairs(rankings: NumberedRankings, weights: Weights = ()) -> Pairs:
    """Yield the pairs S·x, S (Eq. 10)."""
    for length in range(1, rankings.length + 1):
        upper = rankings.of_length(length - 1)
        yield length, _extended(rankings, upper, rankings.nonrelevant), upper[:, None]


def redundancy_pairs(rankings: NumberedRankings, weights: Weights = ()) -> Pairs:
    """Yield the pairs S·p, S·n (Eq. 11): S has the subtopic of p, and lacks that of n.

    The paper assumes equal weights. Of unequal ones, the subtopic of n must weigh at least as much
    as that of p: otherwise either doc may be worth more.
    """
    for length, shorter, seen, unseen in _new_subtopics(rankings, weights):
        lower, upper = (_extended(rankings, shorter, label) for label in (seen, unseen))
        yield length, lower, upper[:, None]


def weight_pairs(rankings: NumberedRankings, weights: Weights = ()) -> Pairs:
    """Yield the pairs S·p, S·n where S has neither subtopic, and that of n weighs more."""
    for length in range(1, rankings.length + 1):
        shorter, has = rankings.of_length(length - 1), _subtopics_in(rankings, length - 1)
        for p, n in permutations(range(rankings.subtopics), 2):
            if weights and weights[n] > weights[p]:
                lacks_both = shorter[has & (1 << p | 1 << n) == 0]
                lower, upper = (_extended(rankings, lacks_both, label) for label in (p, n))
                yield length, lower, upper[:, None]


def swap_pairs(rankings: NumberedRankings, weights: Weights = ()) -> Pairs:
    """Yield the pairs P·x·r·Q, P·r·x·Q."""
    for length, numbers, digits in _positions(rankings, 2):
        places = [rankings.branching ** (length - rank) for rank in range(1, length + 1)]
        for i in range(length - 1):
            first, second = digits(i), digits(i + 1)
            fits = (first == rankings.nonrelevant) & (second != rankings.nonrelevant)
            rise = (second[fits] - rankings.nonrelevant) * (places[i] - places[i + 1])
            yield length, numbers[fits], (numbers[fits] + rise)[:, None]


def replacement_pairs(rankings: NumberedRankings, weights: Weights = ()) -> Pairs:
    """Yield the pairs P·x·Q, P·r·Q."""
    for length, numbers, digits in _positions(rankings, 1):
        for i in range(length):
            place = rankings.branching ** (length - i - 1)
            lower = numbers[digits(i) == rankings.nonrelevant]
            for label in range(rankings.subtopics):
                yield length, lower, (lower - (rankings.nonrelevant - label) * place)[:, None]


def extension_pairs(rankings: NumberedRankings, weights: Weights = ()) -> Pairs:
    """Yield the pairs S, S·d for every doc d."""
    for length in range(1, rankings.length + 1):
        upper = rankings.of_length(length)
        yield length, (upper - 1) // rankings.branching, upper[:, None]


def induced_pairs(rankings: NumberedRankings, weights: Weights = ()) -> Pairs:
    """Yield all pairs that relevance, irrelevance and redundancy together relate, each once.

    Upwards, non-relevant docs at the end go, the last doc may give way to one of an unseen
    subtopic, and relevant docs are appended: each pair is S·x..x, S·r..r or S·p·x..x, S·n·r..r.
    """
    for base in range(rankings.length + 1):
        roots = rankings.of_length(base)
        yield from _descendants(rankings, base, roots, roots)
    for base, shorter, seen, unseen in _new_subtopics(rankings, weights):
        lower, upper = (_extended(rankings, shorter, label) for label in (seen, unseen))
        yield from _descendants(rankings, base, lower, upper)


def count_induced(rankings: NumberedRankings) -> int:
    """Count the pairs of `induced_pairs` under equal weights, without making them."""
    m, h, total = rankings.subtopics, rankings.length, 0
    for base in range(h + 1):
        docs = h - base
        below_and_above = (docs + 1) * sum(m**n for n in range(docs + 1))
        total += rankings.branching**base * (below_and_above - 1)
        if base > 1:  # S·p and S·n: S has the subtopic of p, and lacks that of n
            total += m * (m - 1) * (m ** (base - 1) - (m - 1) ** (base - 1)) * below_and_above
    return total


def _descendants(
    rankings: NumberedRankings, base: int, lower: np.ndarray, upper: np.ndarray
) -> Pairs:
    """Yield the pairs of ``lower`` with non-relevant and ``upper`` with relevant docs appended."""
    is_same = lower is upper
    for docs in range(rankings.length - base + 1):
        below = lower
        for padding in range(rankings.length - base + 1):
            if padding or docs or not is_same:
                yield base + max(padding, docs), below, upper.reshape(len(lower), -1)
            below = _extended(rankings, below, rankings.nonrelevant)
        relevant = [_extended(rankings, upper, r) for r in range(rankings.subtopics)]
        upper = np.stack(relevant, axis=-1)


def _extended(rankings: NumberedRankings, numbers: np.ndarray, label: int) -> np.ndarray:
    return rankings.branching * numbers + 1 + label


def _subtopics_in(rankings: NumberedRankings, length: int) -> np.ndarray:
    """Return the subtopics of each ranking of a length, as bits: int32."""
    bits = np.array([1 << label for label in range(rankings.subtopics)] + [0], np.int32)
    has = np.zeros(1, np.int32)
    for _ in range(length):
        has = (has[:, None] | bits).reshape(-1)
    return has


def _new_subtopics(
    rankings: NumberedRankings, weights: Weights
) -> Iterator[tuple[int, np.ndarray, int, int]]:
    """Yield a length, the rankings one doc shorter, and a seen and an unseen subtopic of them."""
    for length in range(2, rankings.length + 1):
        shorter, has = rankings.of_length(length - 1), _subtopics_in(rankings, length - 1)
        for p, n in permutations(range(rankings.subtopics), 2):
            if not weights or weights[n] >= weights[p]:
                yield length, shorter[has & (1 << p | 1 << n) == 1 << p], p, n


def _positions(
    rankings: NumberedRankings, least: int
) -> Iterator[tuple[int, np.ndarray, Callable[[int], np.ndarray]]]:
    """Yield each length from `least`, the rankings, and a function from a rank - 1 to labels."""
    for length in range(least, rankings.length + 1):
        numbers = rankings.of_length(length)

        def labels(i: int, length: int = length, numbers: np.ndarray = numbers) -> np.ndarray:
            place = rankings.branching ** (length - i - 1)
            return (numbers - rankings.starts[length]) // place % rankings.branching

        yield length, numbers, labels


ALBAHEM = "Albahem et al. 2018, doi:10.1145/3291992.3291996"
MOFFAT = "Moffat 2013, doi:10.1007/978-3-642-45068-6_1"
FERRANTE = "Ferrante et al. 2015, doi:10.1145/2808194.2809452"

RELEVANCE = Property(
    "relevance", "m(S) <= m(S·r)", "a relevant doc at the end does not lower the score",
    relevance_pairs, kinds=("truncated",), source=f"{ALBAHEM}, Eq. 9",
)  # fmt: skip
IRRELEVANCE = Property(
    "irrelevance", "m(S·x) <= m(S)", "a non-relevant doc at the end does not raise the score",
    irrelevance_pairs, kinds=("truncated",), source=f"{ALBAHEM}, Eq. 10",
)  # fmt: skip
REDUNDANCY = Property(
    "redundancy", "m(S·p) <= m(S·n)",
    "a doc of a subtopic that the list has is worth no more than one of a subtopic that it lacks",
    redundancy_pairs, kinds=("diverse",), source=f"{ALBAHEM}, Eq. 11",
)  # fmt: skip
INDUCTION = Property(
    "induction", "m(Y) <= m(Z)",
    "rankings that one or several steps of these three properties relate score in that order",
    induced_pairs, kinds=("truncated", "diverse"), source=f"{ALBAHEM}, Section 3.2",
)  # fmt: skip
PAPER = (RELEVANCE, IRRELEVANCE, REDUNDANCY, INDUCTION)
"""The properties of the paper, in its order."""

WEIGHT = Property(
    "weight", "m(S·p) <= m(S·n)",
    "of two docs of subtopics that the list lacks, the one of greater weight is worth no less",
    weight_pairs, kinds=("diverse",),
)  # fmt: skip
SWAP = Property(
    "swap", "m(P·x·r·Q) <= m(P·r·x·Q)", "a relevant doc moved up by one does not lower the score",
    swap_pairs, kinds=("ordered",), source=f"{FERRANTE}",
)  # fmt: skip
REPLACEMENT = Property(
    "replacement", "m(P·x·Q) <= m(P·r·Q)",
    "a relevant doc in place of a non-relevant one does not lower the score",
    replacement_pairs, kinds=("ordered",), source=f"{FERRANTE}",
)  # fmt: skip
MONOTONICITY = Property(
    "monotonicity", "m(S) <= m(S·d)", "no doc at the end lowers the score",
    extension_pairs, source=f"{MOFFAT}, Property 2",
)  # fmt: skip
CONVERGENCE = Property(
    "convergence", "m(P·x·Q) < m(P·r·Q)",
    "a relevant doc from outside the list in place of a non-relevant one raises the score",
    replacement_pairs, strict=True, kinds=("ordered",), source=f"{MOFFAT}, Property 3",
)  # fmt: skip
TOP_WEIGHTEDNESS = Property(
    "top-weightedness", "m(P·x·r·Q) < m(P·r·x·Q)", "a relevant doc moved up raises the score",
    swap_pairs, strict=True, kinds=("ordered",), source=f"{MOFFAT}, Property 4",
)  # fmt: skip


def strictly(one: Property, meaning: str) -> Property:
    """Return a property that equal scores violate, with its meaning in words."""
    formula = one.formula.replace("<=", "<")
    return replace(one, name=f"strict {one.name}", formula=formula, meaning=meaning, strict=True)


FURTHER = (
    *(SWAP, REPLACEMENT, MONOTONICITY, CONVERGENCE, TOP_WEIGHTEDNESS),
    strictly(RELEVANCE, "a relevant doc at the end raises the score"),
    strictly(IRRELEVANCE, "a non-relevant doc at the end lowers the score"),
    strictly(
        REDUNDANCY,
        "a doc of a subtopic that the list has is worth less than one of a subtopic that it lacks",
    ),
)
"""Properties beyond the paper's, for any weights of the subtopics."""


def properties_for(kinds: Collection[str]) -> list[Property]:
    """Return the properties that are about some kinds of rankings, and about no other kind.

    Parameters
    ----------
    kinds : collection of str
        ``truncated``, ``diverse`` or ``ordered``.

    Returns
    -------
    list of Property
        In the order of the papers.

    Raises
    ------
    UsageError
        If a kind is unknown, or none is given.

    Examples
    --------
    >>> [one.formula for one in irmeta.stats.properties_for(["truncated", "diverse"])][:3]
    ['m(S) <= m(S·r)', 'm(S·x) <= m(S)', 'm(S·p) <= m(S·n)']
    """
    for kind in kinds:
        check_choice("kind of rankings", kind, KINDS)
    if not kinds:
        raise UsageError(f"no kind of rankings was given. Known: {', '.join(KINDS)}.")
    known = (*PAPER, SWAP, REPLACEMENT, CONVERGENCE, TOP_WEIGHTEDNESS)
    return [item for item in known if set(item.kinds) <= set(kinds)]


Case = Literal["first", "smallest", "largest"]
CASES: tuple[Case, ...] = ("first", "smallest", "largest")
FAILED = 0  # column of `count_drops`
_DIGITS = 12  # of differences that are compared with one another, as of `TIE`


@dataclass
class PropertyCounts:
    """Counts of the pairs of one property for several measures.

    Pairs with the empty ranking are counted apart, in `with_empty` alone.

    Attributes
    ----------
    applicable
        int64 [measures, lengths]: pairs by the length of the longer ranking, from 0. They differ by
        measure only for a strict property.
    violated, tied, undefined
        int64 [measures, lengths]: pairs whose lower ranking scores more (of a strict property: not
        less), pairs of equal scores, and pairs of which a score is NaN, which violate nothing.
    with_empty, with_empty_violated
        int64 [measures]: pairs of which one ranking is empty, and how many are violated.
    examples
        By measure and case, the numbers of a lower and an upper ranking of a violated pair:
        ``first``, of the shortest rankings, ``smallest`` and ``largest``, by the difference of
        scores. A measure without violations has none.
    """

    property: Property
    applicable: np.ndarray
    violated: np.ndarray
    tied: np.ndarray
    undefined: np.ndarray
    with_empty: np.ndarray
    with_empty_violated: np.ndarray
    examples: dict[tuple[int, Case], tuple[int, int]] = field(default_factory=dict)


def count_violations(
    one: Property,
    rankings: NumberedRankings,
    scores: np.ndarray,
    weights: Weights = (),
    cutoffs: Sequence[int | None] = (),
) -> PropertyCounts:
    """Count the pairs of rankings by which each measure violates a property.

    Parameters
    ----------
    one : Property
        Property, such as those of `properties_for`.
    rankings : NumberedRankings
        The rankings.
    scores : ndarray of float64, shape (measures, rankings)
        Values of all rankings, by their numbers; greater is better. Values that differ by at most
        1e-12 are equal. NaN violates nothing.
    weights : sequence of float, optional
        Weights of the subtopics; default equal.
    cutoffs : sequence of int or None, optional
        Cutoff of each measure, None without one; default none has. A measure cannot tell rankings
        apart below its cutoff, so a strict property is checked on rankings down to there.

    Returns
    -------
    PropertyCounts
        Pairs, violated pairs and ties by measure and length, and examples of violated pairs.

    References
    ----------
    .. [1] Albahem, A., Spina, D., Scholer, F., Moffat, A. and Cavedon, L. (2018). Desirable
       properties for diversity and truncated effectiveness metrics.
       doi:10.1145/3291992.3291996, Section 3.3

    Examples
    --------
    The share of relevant docs in a list violates irrelevance nowhere, that of non-relevant docs
    everywhere but after x:

    >>> from irmeta.numbered_rankings import NumberedRankings
    >>> rankings = NumberedRankings(subtopics=1, length=2)
    >>> rankings.names(range(7))
    ['empty', 'a', 'x', 'aa', 'ax', 'xa', 'xx']
    >>> relevant = np.array([0, 1, 0, 1, 0.5, 0.5, 0])
    >>> _, irrelevance = irmeta.stats.properties_for(["truncated"])
    >>> scores = np.stack([relevant, 1 - relevant])
    >>> counts = irmeta.stats.count_violations(irrelevance, rankings, scores)
    >>> counts.applicable.sum(axis=1).tolist(), counts.violated.sum(axis=1).tolist()
    ([2, 2], [0, 1])
    >>> rankings.names(counts.examples[1, "first"])
    ['ax', 'a']
    """
    depths = np.full(len(scores), rankings.length)
    if one.strict:
        depths = np.array([c or rankings.length for c in cutoffs or [None] * len(scores)])
    counts = np.zeros((rankings.length + 1, len(scores), 3), np.int64)
    applicable = np.zeros((len(scores), rankings.length + 1), np.int64)
    with_empty, with_empty_violated = np.zeros((2, len(scores)), np.int64)
    examples = _Examples()
    for length, lower, upper in one.pairs(rankings, weights):
        is_counted, has_empty = depths >= length, (lower[:, None] == 0) | (upper == 0)
        new = _count(one, scores, is_counted, lower, upper)
        applicable[is_counted, length] += upper.size
        if has_empty.any():
            row, column = np.nonzero(has_empty)
            empty = _count(one, scores, is_counted, lower[row], upper[row, column][:, None])
            new -= empty
            applicable[is_counted, length] -= len(row)
            with_empty[is_counted] += len(row)
            with_empty_violated += empty[:, FAILED]
        counts[length] += new
        for measure in np.flatnonzero(new[:, FAILED]).tolist():
            examples.add(measure, length, scores[measure], lower, upper, one.strict)
    violated, tied, undefined = counts.transpose(2, 1, 0)
    return PropertyCounts(
        one,
        applicable,
        violated,
        tied,
        undefined,
        with_empty,
        with_empty_violated,
        examples.pairs(),
    )


def _count(
    one: Property, scores: np.ndarray, is_counted: np.ndarray, lower: np.ndarray, upper: np.ndarray
) -> np.ndarray:
    """Return the counts of `count_drops` for some pairs: int64 [measures, 3]."""
    counts = np.zeros((len(scores), 3), np.int64)
    numbers = lower.astype(np.uint32), np.ascontiguousarray(upper, np.uint32)
    count_drops(scores, is_counted, *numbers, TIE, one.strict, counts)
    return counts


class _Examples:
    """The first, the smallest and the largest violation of each measure."""

    def __init__(self) -> None:
        self._best: dict[tuple[int, Case], tuple[float, int, int, int]] = {}

    def add(
        self,
        measure: int,
        length: int,
        scores: np.ndarray,
        lower: np.ndarray,
        upper: np.ndarray,
        strict: bool,
    ) -> None:
        """Compare the violated pairs of a piece with the best pairs so far."""
        low, high = np.broadcast_to(scores[lower][:, None], upper.shape), scores[upper]
        with np.errstate(invalid="ignore"):
            drop = np.where(low == high, 0.0, low - high)
        fails = drop >= -TIE if strict else drop > TIE
        fails &= (lower[:, None] != 0) & (upper != 0)
        lower, upper = np.broadcast_to(lower[:, None], upper.shape)[fails], upper[fails]
        drop = np.round(drop[fails], _DIGITS)
        sizes = (np.zeros(len(drop)), drop, -drop)
        for case, size in zip(CASES, sizes, strict=True):
            chosen = size == size.min()
            first = lower[chosen].min()
            last = upper[chosen & (lower == first)].min()
            key = float(size.min()), length, int(first), int(last)
            self._best[measure, case] = min(key, self._best.get((measure, case), key))

    def pairs(self) -> dict[tuple[int, Case], tuple[int, int]]:
        """Return lower and upper ranking by measure and case."""
        return {case: (lower, upper) for case, (_, _, lower, upper) in self._best.items()}
