"""Sums along lists and ideal lists, their cutoffs, gains, weights and divisors: shared by measures.

Divisors of measures that are cut at k may use the pool of depth k. Lu, Moffat and Culpepper (2016),
Table 2: options a, b and c of AP and Q are ``norm=`` all, min and pool; a and b of NDCG, i and ii
of Q are ``ideal=`` all and pool. Options c, b and ii are for k < d, where d is the depth to which a
query's pool is complete; from k = d on they equal a, a and i. If the pool is complete at no depth,
d is unknown and the value is NaN, because option a would be a different measure. `pool_depth` or
`pool_depth_by_query` in collection.toml states d.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any

import numpy as np

from irmeta.errors import MeasureError
from irmeta.kernels.cutoff_sums import (
    add_discounted_gains,
    amounts_within,
    count_within,
    shared_gain,
)
from irmeta.measures.spec import (
    Compute,
    Cutoff,
    Cutoffs,
    Events,
    OneList,
    Params,
    Steps,
    Term,
    Trace,
)
from irmeta.naming import Parameter, gain_map
from irmeta.rankings.derive.drop import pooled_at
from irmeta.rankings.derive.select import UNJUDGED_DOC
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.view import Need


def rank_cuts(view: JudgedRanks, ks: Cutoffs) -> np.ndarray:
    """Convert cutoffs to int64 ranks, at most the largest rank of the arrays (also for None)."""
    last = view.missing - 1
    return np.array([last if k is None else min(k, last) for k in ks], np.int64)


def empty_values(view: JudgedRanks, ks: Cutoffs) -> np.ndarray:
    """Return zeros of a measure's shape: [cutoff, query, system]."""
    return np.zeros((len(ks), *view.lengths.shape))


def divide(values: np.ndarray, by: np.ndarray, undefined: float | np.ndarray) -> np.ndarray:
    """Divide `values`; return `undefined` where the divisor is not above 0."""
    is_positive = by > 0
    if is_positive.all():  # np.where would take as long as the division
        return values / by
    return np.where(is_positive, values / np.where(is_positive, by, 1), undefined)


def per_query(values: np.ndarray, by: np.ndarray, undefined: float) -> np.ndarray:
    """Divide `values` [cutoff, query, system] by a divisor per query, or per cutoff and query."""
    return divide(values, by[..., None], undefined)


def retrieved(view: JudgedRanks, low: float, below: float | None = None) -> np.ndarray:
    """Count the docs with a grade from `low`, and less than `below`: float64 [query, system]."""
    ranks, offsets = view.sorted_ranks(low, below)
    counts = empty_values(view, [None])
    count_within(ranks, offsets, rank_cuts(view, [None]), counts)
    return counts[0]


def valued_by_rank(
    view: JudgedRanks, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Sort the docs of positive value, float64 by row, by rank, for each query and system.

    Return ranks, labels and offsets as `JudgedRanks.sort_by_rank` does, and the value of each
    label.
    """
    rows = values > 0
    by_label, labels = np.unique(values[rows], return_inverse=True)
    is_uniform = len(by_label) < 2
    narrow = None if is_uniform else labels.astype(label_type(len(by_label)))
    return *view.sort_by_rank(rows, narrow), by_label


def label_type(labels: int) -> type[np.unsignedinteger]:
    """Return the narrowest type of a number of labels; ranks are sorted with them."""
    return np.uint8 if labels <= 1 << 8 else np.uint16 if labels <= 1 << 16 else np.uint32


def running_sums(offsets: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute the sums of the first 0, 1, 2, ... values of each query, and their starts.

    The sum of the first i values of query q is ``sums[starts[q] + i]``.
    """
    starts = offsets + np.arange(len(offsets))
    sums = np.zeros(starts[-1])
    for q, (start, stop) in enumerate(pairwise(offsets)):
        np.cumsum(values[start:stop], out=sums[starts[q] + 1 : starts[q + 1]])
    return sums, starts


def sums_of_first(offsets: np.ndarray, values: np.ndarray, ks: Cutoffs | np.ndarray) -> np.ndarray:
    """Sum the first k values of each query, or as many as it has: float64 [k, query]."""
    sums, starts = running_sums(offsets, values)
    firsts = np.array([len(values) if k is None else k for k in ks], np.int64)
    return sums[starts[:-1] + np.minimum(firsts[:, None], np.diff(offsets))]


def positions(offsets: np.ndarray) -> np.ndarray:
    """Compute the number of each row within its query, from 1: int64."""
    sizes = np.diff(offsets)
    return np.arange(1, offsets[-1] + 1) - np.repeat(offsets[:-1], sizes)


def add_up(
    view: JudgedRanks, ranks: np.ndarray, offsets: np.ndarray, amounts: np.ndarray, ks: Cutoffs
) -> np.ndarray:
    """Add up the amounts at ranks up to each cutoff: float64 [cutoff, query, system]."""
    out = empty_values(view, ks)
    amounts_within(ranks, offsets, amounts, rank_cuts(view, ks), out)
    return out


NORM = Parameter(
    "norm",
    "all",
    "divisor of the sum: all relevant docs R, min(R, k), or relevant docs in the depth-k pool",
    kind="choice",
    choices=("all", "min", "pool"),
)
IDEAL = Parameter(
    "ideal",
    "all",
    "docs of the ideal list: all judged docs, or judged docs in the depth-k pool",
    kind="choice",
    choices=("all", "pool"),
)


def needs_pool(params: Params) -> tuple[Need, ...]:
    """Return the need for pool depths, if a parameter refers to the pool."""
    return ("pool",) if "pool" in (params.get("norm"), params.get("ideal")) else ()


def refuse_without_cutoff(measure: str, params: Params, cutoff: Cutoff) -> None:
    """Raise an error if the norm or the ideal depends on a missing cutoff."""
    for parameter in (NORM, IDEAL):
        chosen = params.get(parameter.name, parameter.default)
        if cutoff is None and chosen != parameter.default:
            name = f"{measure}({parameter.name}={chosen})"
            raise MeasureError(f"{name} needs a cutoff, such as {name}@10.")


GAINS = ("grade", "binary", "linear", "exp")
GAIN_OF = "gain of a doc of grade g: linear g / highest grade, exp (2^g - 1) / 2^highest"
MOST_EXPONENT = 127
"""Highest grade for which exponential gains are divided as in their formula."""
OF_QUERY = "trec_eval10"
"""The kind of gain that divides grades by the highest grade of the query, as trec_eval 10's rbp."""


def gains(
    grades: np.ndarray, kind: str, rel: float = 1, highest: float = 1, least: float = 0
) -> np.ndarray:
    """Compute the gain of each grade, float64; grades below 0 (`rel` for binary) have gain 0.

    `kind`: ``binary``: 1 from `rel` on. ``grade``: g. ``linear``: g / highest. ``exp``: (2^g - 1) /
    2^highest. Other values are gains by grade, such as ``1:3;2:9``; the gain of an omitted grade is
    the grade, and grade 0 may have a gain. `highest`: the highest grade of the track's qrels set,
    or a given grade; never the query's. `least`: Grades below it have gain 0, whatever the kind.
    """
    gain = np.maximum(grades, 0).astype(np.float64)
    if kind == "binary":
        gain = (grades >= rel).astype(np.float64)
    elif kind == "linear":
        gain /= highest
    elif kind == "exp":
        if highest > MOST_EXPONENT:  # powers of 2 would overflow
            gain = 2.0 ** (gain - highest) - 2.0**-highest
        else:
            gain = (2.0**gain - 1.0) / 2.0**highest
    elif kind != "grade":
        for grade, of_grade in gain_map(kind).items():
            gain[grades == grade] = of_grade
    gain[grades < least] = 0.0
    return gain


def doc_gains(
    view: JudgedRanks, kind: str, rel: float = 1, gmax: float | None = None, least: float = 0
) -> np.ndarray:
    """Compute the gain of each row of a view; for `least` see `gains`.

    Docs that are assumed to be relevant have gain 1, or the gain of the highest grade.
    """
    highest = highest_grade(view.facts.highest_grade, kind, gmax)
    if kind == OF_QUERY:
        queries = view.query_of(np.arange(len(view.grades)))
        highest_of = np.zeros(len(view.queries))
        np.maximum.at(highest_of, queries, view.grades)
        by_row = gains(view.grades, "grade") / np.where(highest_of > 0, highest_of, 1)[queries]
    else:
        by_row = gains(view.grades, kind, rel, highest, least)
    if view.assumed is not None:
        by_row[view.assumed] = _assumed(view.assumed_gain, kind, rel, highest, least)
    return by_row


def doc_gain(ranking: OneList, doc: str, grade: float, params: Params, least: float = 0) -> float:
    """Compute the gain of one doc of a list, for traces, under the measure's `params`."""
    kind, rel, gmax = params["gain"], params.get("rel", 1), params.get("gmax")
    highest = highest_grade(ranking.highest_grade, kind, gmax)
    if doc == UNJUDGED_DOC and ranking.assumed_gain is not None:
        return _assumed(ranking.assumed_gain, kind, rel, highest, least)
    if kind == OF_QUERY:
        return max(grade, 0) / (max(0, *(judged for _, _, judged in ranking.judged)) or 1)
    return float(gains(np.array([grade]), kind, rel, highest, least)[0])


def highest_grade(track_highest: float, kind: str, gmax: float | None) -> float:
    """Return the grade that gains are divided by: the track's highest, or `gmax`."""
    if gmax is None:
        return track_highest
    if gmax < track_highest and kind != "binary":
        raise MeasureError(
            f"gmax={gmax} is below {track_highest}, the highest grade of the track: gains would "
            "be greater than 1."
        )
    return gmax


def _assumed(gain: str, kind: str, rel: float, highest: float, least: float) -> float:
    if gain == "one" or kind in ("binary", OF_QUERY):
        return 1.0
    # The greatest gain, because gains by grade need not be greatest at the highest grade.
    top, named = int(highest), [] if kind in GAINS else list(gain_map(kind))
    nearby = range(max(top - len(named), 0), top + 1)  # named grades may be those of less gain
    grades = np.array([*(grade for grade in named if grade <= highest), *nearby, highest])
    return float(gains(grades, kind, rel, highest, least).max())


LARGEST_TABLE = 1 << 20
"""Most entries of a table of worths, by gain and rank; with more gains each doc has its own."""


@dataclass(frozen=True)
class Worth:
    """Worth of a gain at a rank.

    `by_rank`: float64 [rank]: the factor of each rank, or the divisor. Rank 0 means docs that are
    not retrieved, with worth 0. `divides`: whether gains are divided.
    """

    by_rank: np.ndarray
    divides: bool = False

    def at(self, gains: np.ndarray, ranks: np.ndarray) -> np.ndarray:
        """Return the worth of gains at as many ranks."""
        by_rank = self.by_rank[ranks]
        return gains / by_rank if self.divides else gains * by_rank

    def __call__(self, gains: np.ndarray) -> np.ndarray:
        """Return the worth of gains at each rank: float64 [gain, rank]."""
        return self.at(gains[:, None], np.arange(len(self.by_rank)))

    def table(
        self, gains: np.ndarray, ranks: np.ndarray, labels: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return labels, and a table of the worth by label and rank.

        `gains`: float64: the gain of each label. `ranks`, `labels`: [docs, systems], see
        `valued_by_rank`. Where a table of all gains would be large, each cell becomes a label,
        whose worth does not depend on the rank.
        """
        if len(gains) * len(self.by_rank) <= LARGEST_TABLE:
            return labels, self(gains)
        retrieved = np.where(ranks < len(self.by_rank), ranks, 0)
        amounts = self.at(gains[labels], retrieved).reshape(-1, 1)
        cells = np.arange(labels.size, dtype=np.uint32).reshape(labels.shape)
        return cells, np.broadcast_to(amounts, (labels.size, len(self.by_rank)))


def discounted(deepest: int, discount: str = "log2", b: float = 2.0) -> Worth:
    """Return the worth of gains that are divided by a discount of the rank: see `discounts`."""
    return Worth(discounts(deepest, discount, b), divides=True)


def discounts(deepest: int, discount: str = "log2", b: float = 2.0) -> np.ndarray:
    """Compute the divisor of gains at each rank: float64 [rank], infinite at 0.

    ``log2``: log2(rank + 1). ``zipf``: the rank. ``jk``, Jarvelin and Kekalainen's: 1 at ranks
    below b, then log_b(rank). The logarithms are the C library's, as in trec_eval: the last bit of
    numpy's depends on the processor.
    """
    return _divisors(1 << int(deepest).bit_length(), discount, b)[: deepest + 1]


@lru_cache(maxsize=16)
def _divisors(deepest: int, discount: str, b: float) -> np.ndarray:
    """Compute `discounts` down to one of a few depths, whose leading ranks others share."""
    ranks = range(1, deepest + 1)
    if discount == "zipf":
        positive = [float(rank) for rank in ranks]
    elif discount == "jk":
        base = math.log(b)
        positive = [math.log(max(rank, b)) / base for rank in ranks]
    else:
        positive = [math.log2(rank + 1) for rank in ranks]
    divisors = np.array([math.inf, *positive])
    divisors.flags.writeable = False
    return divisors


def weighted_gain(
    view: JudgedRanks, gain: np.ndarray, worth: Worth, ks: Cutoffs, ties: str
) -> np.ndarray:
    """Sum the worth of the docs of each list: float64 [cutoff, query, system].

    Docs are added up in the order of the list, as in trec_eval; where tied docs share weights, in
    the order of the judgments.
    """
    out, cuts = empty_values(view, ks), rank_cuts(view, ks)
    if ties == "order":
        ranks, labels, offsets, gains = valued_by_rank(view, gain)
        add_discounted_gains(ranks, *worth.table(gains, ranks, labels), offsets, cuts, out)
        return out
    cumulative = np.cumsum(worth(np.ones(1))[0])
    firsts, lasts = view.require("ties")
    shared_gain(view.ranks, firsts, lasts, view.offsets, gain, cumulative, cuts, out)
    return out


def needs_ties(params: Params) -> tuple[Need, ...]:
    """Return the need for blocks of tied docs, if a measure shares weights within blocks."""
    return () if params["ties"] == "order" else ("ties",)


def refuse_assumed(measure: str, params: Params) -> None:
    """Raise an error for shared ties with unjudged docs assumed relevant, which are in no block."""
    ties, unjudged = params["ties"], params.get("unjudged", "nonrelevant")
    if ties != "order" and unjudged.startswith("upper"):
        raise MeasureError(
            f"{measure}: ties={ties} cannot be combined with unjudged={unjudged}. Omit one."
        )


def weight_at(
    ranking: OneList, rank: int, k: int | None, ties: str, weight: Callable[[int], float]
) -> tuple[float, str]:
    """Return the weight of the doc at a rank, and how tied docs share the weight, in words.

    For traces. The weight is 0 beyond the cutoff, the words are empty for an untied doc.
    """
    deepest = ranking.length if k is None else k
    first, last = (rank, rank) if ties == "order" else ranking.ties.get(rank, (rank, rank))
    size, inside = last - first + 1, min(last, deepest) - first + 1
    if inside <= 0:
        return 0.0, ""
    if size == 1:
        return weight(rank), ""
    shared = sum(weight(i) for i in range(first, first + inside)) / size
    return shared, f"(weights of ranks {first} to {first + inside - 1}) / {size} tied docs"


def weighted_terms(
    ranking: OneList,
    params: Params,
    k: int | None,
    weight: Callable[[int], float],
    write: Callable[[int, float], str],
    least: float = 0,
) -> Iterator[Term]:
    """Yield gain times weight of judged docs if both are positive; `write` formats untied docs.

    Grades below `least` have no gain.
    """
    for rank, doc, grade in ranking.within(None):
        amount, shared = weight_at(ranking, rank, k, params["ties"], weight)
        gain = doc_gain(ranking, doc, grade, params, least) if amount > 0 else 0.0
        if gain > 0:
            arithmetic = f"gain {gain:g} x {shared}" if shared else write(rank, gain)
            yield Term(rank, doc, grade, arithmetic, gain * amount)


@dataclass(frozen=True)
class Divisor:
    """What a sum is divided by.

    Attributes
    ----------
    of_view
        Function that returns the divisor of each query of a block: float64 [cutoff or 1, query].
    of_list
        Function that returns the divisor of one list, and what it is in words.
    undefined
        Value where the divisor is 0.
    in_pool
        What it is in words under the judgments of the pool of depth ``{k}``.
    """

    of_view: Callable[[JudgedRanks, Params, Cutoffs | np.ndarray], np.ndarray]
    of_list: Callable[[OneList, Params, Any], tuple[float, str]]
    undefined: float = 0.0
    in_pool: str = ""


@dataclass(frozen=True)
class Sum:
    """A measure that is a sum over the docs of a list, over a divisor.

    The value at k is scale times the sum of the amounts at ranks up to k, over the divisor at k;
    `compute`, `events` and `trace` derive from this declaration.

    Attributes
    ----------
    definition
        Docstring of the measure for users.
    steps
        Function that returns ranks, offsets and amounts, see `Events`.
    terms
        Function that yields the amounts of one list down to a cutoff, times the scale.
    divisor
        None: the sum itself.
    scale
        Function from parameters to a factor of the sum; None: 1.
    add
        Kernel that adds up the steps without an array of amounts, where there is one.
    pooled_steps, pooled_terms
        As `steps` and `terms` under the judgments of a pool, where they also read all judgments.
    """

    definition: str
    steps: Callable[[JudgedRanks, Params], Steps]
    terms: Callable[[OneList, Params, Any], Iterable[Term]]
    divisor: Divisor | None = None
    scale: Callable[[Params], float] | None = None
    add: Compute | None = None
    pooled_steps: Callable[[JudgedRanks, JudgedRanks, Params], Steps] | None = None
    pooled_terms: Callable[[OneList, OneList, Params, Any], Iterable[Term]] | None = None

    @property
    def functions(self) -> dict[str, Any]:
        """Functions of the `Measure`."""

        def compute(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
            return self.compute(view, params, ks)

        compute.__doc__ = self.definition
        return {"compute": compute, "trace": self.trace, "events": self.events}

    def compute(self, view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
        """Compute the values at each cutoff: float64 [cutoff, query, system]."""
        if needs_pool(params):
            return np.stack([self._under_pool(view, params, k) for k in ks])
        sums = self.sums(view, params, ks)
        if self.divisor is None:
            return sums
        return per_query(sums, self.divisor.of_view(view, params, ks), self.divisor.undefined)

    def sums(self, view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
        """Add up the steps down to each cutoff, times the scale."""
        add = self.add or self._add_steps
        sums = add(view, params, ks)
        return sums if self.scale is None else self.scale(params) * sums

    def _add_steps(self, view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
        return add_up(view, *self.steps(view, params), ks)

    def _under_pool(self, view: JudgedRanks, params: Params, k: int) -> np.ndarray:
        """Compute the values at k under the judgments of the pool of depth k: [query, system]."""
        assert self.divisor is not None
        pool = pooled_at(view, k)
        if self.pooled_steps is None:
            sums = self.sums(pool, params, [k])
        else:
            sums = add_up(pool, *self.pooled_steps(pool, view, params), [k])
        if _divides_by_pool(params):
            divisor = self.divisor.of_view(pool, params, [k])[0]
            undefined = np.where(k < view.require("complete_depth"), np.nan, 0.0)
            values = divide(sums[0], divisor[:, None], undefined[:, None])
        else:
            divisor = self.divisor.of_view(view, params, [k])
            values = per_query(sums, divisor, self.divisor.undefined)[0]
        is_unknown = view.require("complete_depth") == 0
        return np.where(is_unknown[:, None], np.nan, values)

    def events(self, view: JudgedRanks, params: Params) -> Events | None:
        """Return the sum as a step function of the cutoff.

        Tied docs that share weights have no steps, nor have docs of a pool that changes with k.
        """
        is_shared = params.get("ties", "order") != "order"
        if is_shared or needs_pool(params):
            return None
        scale = 1.0 if self.scale is None else self.scale(params)
        steps = self.steps(view, params)
        if self.divisor is None:
            return Events(*steps, lambda ks: np.ones((1, len(view.queries))), scale=scale)
        divisors = partial(self.divisor.of_view, view, params)
        return Events(*steps, divisors, self.divisor.undefined, scale)

    def trace(self, ranking: OneList, params: Params, k: Any) -> Trace:
        """Trace the value as terms over the divisor."""
        judged = ranking
        if needs_pool(params):
            if ranking.complete_depth <= 0:
                unknown = "nothing: the pool of the query is complete at no depth"
                return Trace((), 0.0, unknown, math.nan)
            judged = ranking.pooled_at(k)
        if self.pooled_terms is not None:
            terms = tuple(self.pooled_terms(judged, ranking, params, k))
        else:
            terms = tuple(self.terms(judged, params, k))
        if self.divisor is None:
            return Trace(terms, 1.0, "(nothing)")
        if judged is not ranking and _divides_by_pool(params):
            divisor, _ = self.divisor.of_list(judged, params, k)
            divisor_is, undefined = self.divisor.in_pool.format(k=k), math.nan
        else:
            divisor, divisor_is = self.divisor.of_list(ranking, params, k)
            undefined = self.divisor.undefined
        return Trace(terms, divisor, divisor_is, None if divisor > 0 else undefined)


def _divides_by_pool(params: Params) -> bool:
    """Check whether the divisor is that of the pool; nDCG has no `norm`, and its ideal list is."""
    return params.get("norm", "pool") == "pool"


def _relevant(
    view: JudgedRanks, params: Params, ks: Cutoffs | np.ndarray, norm: str | None = None
) -> np.ndarray:
    """Return R, or min(R, k) for ``norm=min``: float64 [cutoff or 1, query]."""
    relevant = view.counts(params["rel"]).astype(np.float64)[None]
    if (norm or params.get("norm")) == "min":
        return np.minimum(relevant, np.asarray(ks, np.float64)[:, None])
    return relevant


def _relevant_of(
    ranking: OneList, params: Params, k: Any, norm: str | None = None
) -> tuple[float, str]:
    relevant = len(ranking.relevant(params["rel"]))
    if (norm or params.get("norm")) == "min":
        return min(k, relevant), "min(k, relevant docs of the query)"
    return relevant, "relevant docs of the query"


RELEVANT = Divisor(_relevant, _relevant_of, in_pool="relevant docs in the pool of depth {k}")
"""The relevant docs R of the query, or what the parameter `norm` says."""
LEAST_RELEVANT = Divisor(partial(_relevant, norm="min"), partial(_relevant_of, norm="min"))
"""min(R, k)."""


def weighted_gains(
    gains: Callable[[JudgedRanks, Params], np.ndarray],
    worth: Callable[[JudgedRanks, Params], Worth],
) -> dict[str, Any]:
    """Return the steps of a `Sum` of worths of gains, which tied docs may share, and its kernel.

    `gains` returns the gain of each row: float64.
    """

    def steps(view: JudgedRanks, params: Params) -> Steps:
        ranks, labels, offsets, of_label = valued_by_rank(view, gains(view, params))
        amounts = np.zeros(ranks.shape)
        if len(of_label):
            retrieved = np.where(ranks == view.missing, 0, ranks)
            amounts = worth(view, params).at(of_label[labels], retrieved)
        return ranks, offsets, amounts

    def add(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
        return weighted_gain(view, gains(view, params), worth(view, params), ks, params["ties"])

    return {"steps": steps, "add": add}
