"""D-measures: nDCG and Q of a gain over all subtopics, alone and with subtopic recall."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from operator import mul

import numpy as np

from irmeta.errors import MeasureError, UsageError
from irmeta.measures.diversity.subtopics import (
    LOGARITHMIC,
    STRECALL,
    SUBTOPICS,
    UNJUDGED,
    WEIGHTS,
    GainPairs,
    gains_by_rank,
    needs_subtopics,
    novelty_terms,
    shares_of,
    subtopic_shares,
    weighted_steps,
    weights_at_positions,
)
from irmeta.measures.spec import (
    Compute,
    Cutoff,
    Cutoffs,
    Measure,
    OneList,
    Params,
    Steps,
    Term,
    Trace,
)
from irmeta.measures.sums import (
    GAIN_OF,
    GAINS,
    Divisor,
    Sum,
    gains,
    highest_grade,
    running_sums,
    sums_of_first,
)
from irmeta.naming import GMAX, REL, Parameter
from irmeta.rankings.judged import JudgedRanks

GAIN = Parameter("gain", "grade", f"{GAIN_OF}, for a subtopic", kind="choice", choices=GAINS)
GAMMA = Parameter("gamma", 0.5, "weight of subtopic recall", kind="number", low=0, high=1)
Q_BETA = Parameter(
    "beta", 1.0, "weight of gains against counts of docs", kind="number", low=0, high=1e6
)


def global_gains(view: JudgedRanks, params: Params) -> np.ndarray:
    """Compute the sum over subtopics of share times gain, of each row: float64 [rows]."""
    subtopics = view.require("subtopics")
    shares = subtopic_shares(view, params)[subtopics.name_indices(view.offsets)]
    gain = shares * _pair_gains(view, params)
    return np.bincount(subtopics.rows, gain, minlength=len(view.grades))


def _pair_gains(view: JudgedRanks, params: Params) -> np.ndarray:
    """Compute the gain of each pair of a doc and a subtopic: float64 [pairs]."""
    highest = highest_grade(view.facts.highest_grade, params["gain"], params.get("gmax"))
    grades = view.require("subtopics").grade
    return gains(grades, params["gain"], params["rel"], highest, least=params["rel"])


def _by_rank(view: JudgedRanks, gain: np.ndarray) -> Steps:
    """Return ranks, offsets and gains of the docs with a gain, by rank."""
    rows = gain > 0
    numbers = np.arange(np.count_nonzero(rows), dtype=np.uint32)
    ranks, docs, offsets = view.sort_by_rank(rows, numbers)
    return ranks, offsets, gain[rows][docs]


def _ideal(view: JudgedRanks, gain: np.ndarray) -> np.ndarray:
    """Return the gains of the ideal lists: the docs with a gain, by gain descending."""
    query = view.query_of(np.arange(len(gain)))
    best = gain[np.lexsort((-gain, query))]
    return best[best > 0]


def _gain_of(ranking: OneList, params: Params) -> Callable[[float], float]:
    highest = highest_grade(ranking.highest_grade, params["gain"], params.get("gmax"))
    kind, rel = params["gain"], params["rel"]
    return lambda grade: float(gains(np.array([grade]), kind, rel, highest, least=rel)[0])


def _gains_of(ranking: OneList, params: Params) -> dict[str, float]:
    """Return the global gain of each doc that has one, for traces."""
    shares, gain_of = shares_of(ranking, params), _gain_of(ranking, params)
    total = {
        doc: sum(shares.get(name, 0.0) * gain_of(grade) for name, grade in of_doc.items())
        for doc, of_doc in ranking.subtopic_grades.items()
    }
    return {doc: gain for doc, gain in total.items() if gain > 0}


def _discounted(view: JudgedRanks, params: Params) -> Steps:
    """Step by the discounted global gain of each doc."""
    return weighted_steps(LOGARITHMIC, view, params, _by_rank(view, global_gains(view, params)))


def _terms(ranking: OneList, params: Params, k: int | None) -> Iterator[Term]:
    gain = _gains_of(ranking, params)
    for rank, doc, grade in ranking.within(k):
        if doc in gain:
            weight, text = LOGARITHMIC.at(rank, params)
            yield Term(rank, doc, grade, f"{gain[doc]:g}{text}", gain[doc] * weight)


def _ideal_dcg(view: JudgedRanks, params: Params, ks: Cutoffs | np.ndarray) -> np.ndarray:
    """Compute the discounted sum over the ideal list down to each k: float64 [k, query]."""
    gain = global_gains(view, params)
    offsets = view.offsets_of(gain > 0)
    amounts = _ideal(view, gain) * weights_at_positions(LOGARITHMIC.of_view(view, params), offsets)
    return sums_of_first(offsets, amounts, ks)


def _ideal_of(
    divisor_is: str, ranking: OneList, params: Params, k: int | None
) -> tuple[float, str]:
    best = sorted(_gains_of(ranking, params).values(), reverse=True)[:k]
    weights = (LOGARITHMIC.at(rank, params)[0] for rank in range(1, len(best) + 1))
    return sum(map(mul, best, weights)), divisor_is


DNDCG = Sum(
    """Compute the nDCG of the global gain, with the discount log2(rank + 1).

    The global gain of a doc is the sum over the subtopics of the share of the subtopic times the
    gain of the doc's grade for it, 0 below `rel`; the ideal list has all docs by global gain.
    """,
    *(_discounted, _terms),
    Divisor(_ideal_dcg, partial(_ideal_of, "the same sum over the ideal list")),
)


def _blended(view: JudgedRanks, params: Params) -> Steps:
    """Step by the blended ratio at each doc with a gain."""
    gain = global_gains(view, params)
    ranks, offsets, amounts = _by_rank(view, gain)
    amounts[ranks == view.missing] = 0.0
    beta = params["beta"]
    ideal, starts = running_sums(offsets, _ideal(view, gain))
    for start, stop, first in zip(offsets[:-1], offsets[1:], starts[:-1], strict=True):
        counts = np.arange(1.0, stop - start + 1)[:, None]
        rank = ranks[start:stop].astype(np.int64)
        best = ideal[first + np.minimum(rank, stop - start)]
        gained = np.cumsum(amounts[start:stop], axis=0)
        amounts[start:stop] = (counts + beta * gained) / (rank + beta * best)
    return ranks, offsets, amounts


def _relevant(view: JudgedRanks, params: Params, ks: Cutoffs | np.ndarray) -> np.ndarray:
    """Return min(R, k): float64 [k, query]."""
    relevant = np.diff(view.offsets_of(global_gains(view, params) > 0)).astype(np.float64)
    cuts = np.array([np.inf if k is None else k for k in ks])
    return np.minimum(relevant, cuts[:, None])


def _blended_terms(ranking: OneList, params: Params, k: int | None) -> Iterator[Term]:
    gain, beta = _gains_of(ranking, params), params["beta"]
    best = sorted(gain.values(), reverse=True)
    count, gained = 0, 0.0
    for rank, doc, grade in ranking.within(k):
        if doc in gain:
            count, gained, ideal = count + 1, gained + gain[doc], sum(best[:rank])
            text = f"({count} + {beta:g} x {gained:g}) / ({rank} + {beta:g} x {ideal:g})"
            yield Term(rank, doc, grade, text, (count + beta * gained) / (rank + beta * ideal))


def _relevant_of(ranking: OneList, params: Params, k: int | None) -> tuple[float, str]:
    relevant = len(_gains_of(ranking, params))
    return relevant if k is None else min(k, relevant), "min(k, docs with a gain)"


DQ = Sum(
    """Sum (count + beta gain) / (rank + beta ideal gain) at docs with a gain, over min(R, k).

    Counts and gains, those of the ideal list too, are sums down to the doc of the global gain, that
    of `DnDCG`; R is the number of docs with a gain. As in NTCIREVAL, the divisor is min(R, k).
    """,
    *(_blended, _blended_terms, Divisor(_relevant, _relevant_of)),
)


def _first_only(view: JudgedRanks, params: Params) -> Steps:
    """Step by the discounted gain of each doc; of a navigational subtopic by its first doc."""
    subtopics, shares = view.require("subtopics"), subtopic_shares(view, params)
    for index in np.flatnonzero(shares).tolist():
        _check_type(view, index)
    is_nav = np.array([kind == "nav" for kind in subtopics.types], bool)
    is_first = is_nav[subtopics.name_indices(view.offsets)] & (subtopics.grade >= params["rel"])
    keeps = np.where(is_first, 0.0, 1.0)
    pairs = GainPairs.of(view, _pair_gains(view, params), keeps)
    return weighted_steps(LOGARITHMIC, view, params, gains_by_rank(view, pairs, shares))


def _check_type(view: JudgedRanks, index: int) -> None:
    subtopics, track = view.require("subtopics"), view.facts.track
    subtopic, kind = subtopics.names[index], subtopics.types[index]
    if kind is None:
        raise UsageError(
            f"DINnDCG: track {track!r} has no type for subtopic {subtopic!r} of query "
            f"{view.queries[subtopics.queries[index]]!r}: add the type, inf or nav, to the "
            f"subtopics_file of the qrels set {view.facts.qrels!r} in collection.toml, or use "
            "DnDCG."
        )
    if kind not in ("inf", "nav"):
        raise UsageError(
            f"DINnDCG: track {track!r} gives subtopic {subtopic!r} the type {kind!r}, neither "
            "'inf' nor 'nav'. Correct the column `type` of its subtopics_file, or use DnDCG."
        )


def _first_terms(ranking: OneList, params: Params, k: int | None) -> Iterator[Term]:
    gain_of, kinds = _gain_of(ranking, params), ranking.subtopic_types

    def gain(subtopic: str, grade: float) -> tuple[float, float]:
        is_last = kinds[subtopic] == "nav" and grade >= params["rel"]
        return gain_of(grade), 0.0 if is_last else 1.0

    return novelty_terms(ranking, params, k, gain, shares_of(ranking, params), LOGARITHMIC)


DINNDCG = Sum(
    """Compute `DnDCG` in which a navigational subtopic gains by its first relevant doc alone.

    The types of subtopics, ``inf`` (informational) and ``nav`` (navigational), are those of the
    collection's `subtopics_file`. The ideal list is that of `DnDCG`, so that a query with
    navigational subtopics may have no list of value 1.
    """,
    *(_first_only, _first_terms),
    Divisor(_ideal_dcg, partial(_ideal_of, "the ideal sum of DnDCG")),
)


def _sharp(compute: Compute) -> Compute:
    """Return the function of a D#-measure."""

    def compute_sharp(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
        """Compute gamma times subtopic recall plus 1 - gamma times the D-measure, both down to k.

        Subtopic recall is `StRecall`, the D-measure is `DnDCG` or `DQ`, with the same parameters.
        """
        gamma = params["gamma"]
        return gamma * STRECALL.compute(view, params, ks) + (1.0 - gamma) * compute(
            view, params, ks
        )

    return compute_sharp


def trace_sharp(trace: Callable[..., Trace]) -> Callable[..., Trace]:
    """Return the function that traces a D#-measure."""

    def trace_both(ranking: OneList, params: Params, k: int | None) -> Trace:
        """Trace gamma times each part of subtopic recall, and 1 - gamma times the D-measure."""
        parts = ((STRECALL.trace, params["gamma"]), (trace, 1.0 - params["gamma"]))
        terms = []
        for trace_part, weight in parts:
            part = trace_part(ranking, params, k)
            if part.undefined is None:
                terms += [
                    replace(
                        term,
                        arithmetic=f"{weight:g} x ({term.arithmetic}) / {part.divisor:g}",
                        amount=weight * term.amount / part.divisor,
                    )
                    for term in part.terms
                ]
        return Trace(tuple(terms), 1.0, "(nothing)")

    return trace_both


def _check_dq(params: Params, cutoff: Cutoff) -> None:
    if params["gmax"] is not None and params["gain"] not in ("linear", "exp"):
        raise MeasureError("gmax of DQ and DSharpQ needs gain=linear or gain=exp. Omit gmax.")


_DNDCG = (GAIN, REL, SUBTOPICS, WEIGHTS)
_DQ = (Q_BETA, GAIN, GMAX, REL, SUBTOPICS, WEIGHTS)
_SAKAI = "Sakai and Song 2011, doi:10.1145/2009916.2010055"
_measure = partial(Measure, monotone=False, unjudged=UNJUDGED, needs=needs_subtopics)

MEASURES = (
    _measure(
        name="DnDCG",
        summary="D-nDCG: nDCG of the gain over all subtopics",
        **DNDCG.functions,
        revision=2,
        source=_SAKAI,
        parameters=_DNDCG,
    ),
    _measure(
        name="DQ",
        summary="D-Q: Q-measure of the gain over all subtopics",
        **DQ.functions,
        revision=2,
        source=_SAKAI,
        parameters=_DQ,
        check=_check_dq,
    ),
    _measure(
        name="DSharpnDCG",
        summary="D#-nDCG: subtopic recall and D-nDCG, weighted by gamma",
        compute=_sharp(DNDCG.compute),
        revision=2,
        trace=trace_sharp(DNDCG.trace),
        source=_SAKAI,
        parameters=(GAMMA, *_DNDCG),
    ),
    _measure(
        name="DSharpQ",
        summary="D#-Q: subtopic recall and D-Q, weighted by gamma",
        compute=_sharp(DQ.compute),
        revision=2,
        trace=trace_sharp(DQ.trace),
        source=_SAKAI,
        parameters=(GAMMA, *_DQ),
        check=_check_dq,
    ),
    _measure(
        name="DINnDCG",
        summary="DIN-nDCG: D-nDCG where a navigational subtopic gains by its first relevant doc",
        **DINNDCG.functions,
        revision=2,
        source="Sakai 2012, doi:10.1145/2187836.2187904",
        parameters=_DNDCG,
    ),
)
