"""Technology-assisted review: recall, work saved, area, loss and cost of reviewing ranked docs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from irmeta.kernels.cutoff_sums import count_to_own_cut
from irmeta.measures.spec import Cutoffs, Measure, OneList, Params, Term, Trace
from irmeta.measures.sums import divide, empty_values, per_query
from irmeta.naming import REL, Parameter
from irmeta.rankings.judged import JudgedRanks

DOCS = Parameter(
    "N",
    None,
    "docs to review, beyond which a list is not read; default all judged docs of the query",
    high=10**12,
)
SOURCE = "CLEF TAR, tar_eval.py and tar_eval_2018.py; Kanoulas et al. 2017, CEUR-WS 1866"


def docs_to_review(view: JudgedRanks, params: Params) -> np.ndarray:
    """Return the number of docs to review for each query: int64 [query]."""
    if params["N"] is not None:
        return np.full(len(view.queries), params["N"], np.int64)
    return np.diff(view.offsets_of(view.is_judged))


def retrieved_within(view: JudgedRanks, rel: float, cuts: np.ndarray) -> np.ndarray:
    """Count the relevant docs at ranks up to a cutoff per query: float64 [query, system]."""
    ranks, offsets = view.sorted_ranks(rel)
    counts = np.zeros(view.lengths.shape)
    count_to_own_cut(ranks, offsets, np.minimum(cuts, view.missing - 1).astype(np.int64), counts)
    return counts


def _nth_rank(view: JudgedRanks, rel: float, nth: np.ndarray) -> np.ndarray:
    """Return the rank of the nth relevant doc, 0 for the 0th, infinite if it is not retrieved.

    `nth` is int64 [query, 1 or system], at most the number of relevant docs.
    """
    ranks, offsets = view.sorted_ranks(rel)
    out = np.zeros(view.lengths.shape)
    query, system = np.nonzero(np.broadcast_to(nth, out.shape))
    rows = offsets[query] + np.broadcast_to(nth, out.shape)[query, system] - 1
    of_nth = ranks[rows, system]
    out[query, system] = np.where(of_nth == view.missing, np.inf, of_nth)
    return out


def docs_at(level: float, total: np.ndarray | int) -> np.ndarray:
    """Round a share of a number of docs to the nearest integer, and halves to the even one."""
    return np.rint(np.round(level * np.asarray(total, np.float64), 9))


def docs_for_recall(level: float, relevant: np.ndarray | int, needed: str) -> np.ndarray:
    """Return the number of relevant docs that count as a level of recall: float64.

    ``least`` is the least number with that recall, ``nearest`` the number nearest to the level, as
    in tar_eval.py.
    """
    if needed == "nearest":
        return docs_at(level, relevant)
    return np.ceil(np.round(level * np.asarray(relevant, np.float64), 9))


def compute_effort_recall(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Divide the relevant docs among the first r * N docs of the list by all relevant docs.

    N is the number of docs to review, and r * N is rounded to the nearest integer, halves to even.
    """
    docs = docs_to_review(view, params)
    retrieved = np.stack([retrieved_within(view, params["rel"], docs_at(k, docs)) for k in ks])
    return per_query(retrieved, view.counts(params["rel"]), math.nan)


def compute_work_saved(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Compute r - n / N, with n docs reviewed until recall reaches r.

    A review in random order has to read the share r of the N docs. All N docs are read where the
    list does not reach that recall within its first N docs; tar_eval.py then prints 0
    (``unreached=zero``).
    """
    relevant, docs = view.counts(params["rel"]), docs_to_review(view, params)[:, None]
    values = empty_values(view, ks)
    for i, level in enumerate(ks):
        needed = docs_for_recall(level, relevant, params["needed"]).astype(np.int64)
        read = _nth_rank(view, params["rel"], needed[:, None])
        unreached = 0.0 if params["unreached"] == "zero" else level - 1.0
        values[i] = np.where(read <= docs, level - divide(read, docs, 0.0), unreached)
    return np.where(relevant[:, None] > 0, values, math.nan)


def compute_last_relevant(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Return the rank of the last relevant doc; N if one is not among the first N docs.

    ``unretrieved=ignored`` is the rank of the last relevant doc that the list has, 0 without any,
    as in tar_eval.py.
    """
    relevant, docs = view.counts(params["rel"])[:, None], docs_to_review(view, params)
    retrieved = retrieved_within(view, params["rel"], docs)
    last = _nth_rank(view, params["rel"], retrieved.astype(np.int64))
    if params["unretrieved"] == "all":
        last = np.where(retrieved < relevant, docs[:, None], last)
    return np.broadcast_to(np.where(relevant > 0, last, math.nan), (len(ks), *last.shape))


def compute_area(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Divide the area below the curve of relevant docs found by docs read by the greatest area.

    A relevant doc at rank i adds N - i + 1/2: it counts from its rank to N, and half at its rank.
    The greatest area is R * N - R^2 / 2, that of a list with the R relevant docs first.
    """
    ranks, offsets = view.sorted_ranks(params["rel"])
    docs, relevant = docs_to_review(view, params), np.diff(offsets)
    is_read = ranks <= np.minimum(np.repeat(docs, relevant), view.missing - 1)[:, None]
    totals = np.zeros((len(ranks) + 1, ranks.shape[1]), np.int64)
    np.cumsum(np.where(is_read, ranks, 0), axis=0, out=totals[1:])
    retrieved = retrieved_within(view, params["rel"], docs)
    area = retrieved * (docs[:, None] + 0.5) - (totals[offsets[1:]] - totals[offsets[:-1]])
    most = np.minimum(relevant, docs).astype(np.float64)
    value = per_query(area[None], most * docs - most * most / 2.0, math.nan)
    return np.broadcast_to(value, (len(ks), *area.shape))


def to_review(ranking: OneList, params: Params) -> int:
    """Return the number of docs to review."""
    if params["N"] is not None:
        return params["N"]
    return sum(ranking.counts_as_judged(grade) for *_, grade in ranking.judged)


def relevant_to(ranking: OneList, params: Params, last: float) -> list[tuple[int, str, float]]:
    """Return the relevant docs at ranks up to `last`, by rank."""
    return [d for d in ranking.within(None) if d[2] >= params["rel"] and d[0] <= last]


def trace_effort_recall(ranking: OneList, params: Params, k: float | None) -> Trace:
    """Trace EffortR as counts over R."""
    assert k is not None
    relevant = len(ranking.relevant(params["rel"]))
    last = float(docs_at(k, to_review(ranking, params)))
    terms = tuple(Term(*doc, "1", 1.0) for doc in relevant_to(ranking, params, last))
    divisor_is = f"relevant docs of the query; counted to rank {last:g}"
    return Trace(terms, relevant, divisor_is, None if relevant else math.nan)


def trace_work_saved(ranking: OneList, params: Params, k: float | None) -> Trace:
    """Trace WSS as the level of recall less the share of docs read."""
    assert k is not None
    relevant, docs = len(ranking.relevant(params["rel"])), to_review(ranking, params)
    needed = int(docs_for_recall(k, relevant, params["needed"]))
    retrieved = relevant_to(ranking, params, docs)
    terms = [Term(None, "(recall)", 0, f"recall {k:g}", k)]
    if needed <= len(retrieved):
        rank, doc, grade = retrieved[needed - 1] if needed else (0, "(no doc)", 0)
        text = f"- {rank}/{docs} read for {needed} of {relevant} relevant docs"
        terms.append(Term(rank or None, doc, grade, text, -rank / max(docs, 1)))
    elif params["unreached"] == "zero":
        terms.append(Term(None, "(not reached)", 0, f"not reached: - {k:g}", -k))
    else:
        terms.append(Term(None, "(not reached)", 0, f"not reached: - {docs}/{docs} read", -1.0))
    return Trace(tuple(terms), 1.0, "(nothing)", None if relevant else math.nan)


def trace_last_relevant(ranking: OneList, params: Params, k: None) -> Trace:
    """Trace LastRel as one rank."""
    relevant, docs = len(ranking.relevant(params["rel"])), to_review(ranking, params)
    retrieved = relevant_to(ranking, params, docs)
    terms = [Term(*doc, f"rank {doc[0]}", float(doc[0])) for doc in retrieved[-1:]]
    if len(retrieved) < relevant and params["unretrieved"] == "all":
        text = f"{relevant - len(retrieved)} relevant docs not retrieved: all {docs} docs"
        terms = [Term(None, "(no doc)", 0, text, float(docs))]
    return Trace(tuple(terms), 1.0, "(nothing)", None if relevant else math.nan)


def trace_area(ranking: OneList, params: Params, k: None) -> Trace:
    """Trace NormArea as the area that each relevant doc adds."""
    relevant, docs = len(ranking.relevant(params["rel"])), to_review(ranking, params)
    terms = tuple(
        Term(rank, doc, grade, f"{docs} - {rank} + 1/2", docs - rank + 0.5)
        for rank, doc, grade in relevant_to(ranking, params, docs)
    )
    most = min(relevant, docs)
    divisor_is = f"area with {most} relevant docs first"
    return Trace(terms, most * docs - most**2 / 2, divisor_is, None if relevant else math.nan)


def _choice(name: str, meaning: str, choices: Sequence[str]) -> Parameter:
    return Parameter(name, choices[0], meaning, kind="choice", choices=tuple(choices))


class _Review(NamedTuple):
    """Numbers of docs of a review: floats that broadcast to [query, system]."""

    docs: Any
    read: Any
    relevant: Any
    retrieved: Any


def _reviews(view: JudgedRanks, params: Params) -> _Review:
    docs = docs_to_review(view, params)
    read = np.minimum(view.lengths, docs[:, None]).astype(np.float64)
    relevant = view.counts(params["rel"]).astype(np.float64)[:, None]
    return _Review(
        docs[:, None].astype(np.float64),
        read,
        relevant,
        retrieved_within(view, params["rel"], docs),
    )


def _review(ranking: OneList, params: Params) -> _Review:
    docs = to_review(ranking, params)
    retrieved = len(relevant_to(ranking, params, docs))
    return _Review(docs, min(ranking.length, docs), len(ranking.relevant(params["rel"])), retrieved)


@dataclass(frozen=True)
class _Cost:
    """A part of the cost of a review, by its numbers of docs and the parameters."""

    name: str
    amount: Callable[[_Review, Params], Any]
    text: Callable[[_Review, Params], str]


def _effort_loss(review: _Review, params: Params) -> Any:
    b = params["b"]
    return (
        b / np.maximum(review.docs, 1.0) * review.read / np.maximum(review.relevant + b, 1)
    ) ** 2


def _penalty(review: _Review, params: Params) -> Any:
    missing, unread = review.relevant - review.retrieved, review.docs - review.read
    if params["penalty"] == "uniform":
        return params["missed"] * unread * missing / np.maximum(review.relevant, 1.0)
    share = 1.0 - 0.5 ** np.maximum(missing - 1.0, 0.0)
    return params["missed"] * unread * (share if params["penalty"] == "weighted" else 0.0)


_RECALL = _Cost(
    "(recall)",
    lambda review, params: (1.0 - review.retrieved / np.maximum(review.relevant, 1.0)) ** 2,
    lambda review, params: f"(1 - {review.retrieved}/{review.relevant})^2",
)
_EFFORT = _Cost(
    "(effort)",
    _effort_loss,
    lambda review, params: (
        f"({params['b']:g}/{review.docs})^2 * "
        f"({review.read}/({review.relevant} + {params['b']:g}))^2"
    ),
)
_READ = _Cost(
    "(docs read)",
    lambda review, params: params["doc"] * review.read,
    lambda review, params: f"{review.read} docs * {params['doc']:g}",
)
_NOT_READ = _Cost(
    "(docs not read)",
    _penalty,
    lambda review, params: (
        f"{params['penalty']} penalty: {review.relevant - review.retrieved} relevant docs lost, "
        f"{review.docs - review.read} docs unread"
    ),
)


_B = Parameter("b", 100.0, "docs that a review may read beyond R", "number", 0, 1e12)


_LOSS_SOURCE = f"Cormack and Grossman 2016, doi:10.1145/2911451.2911510; {SOURCE} (loss_er)"


def _cost_measure(
    name: str, summary: str, definition: str, *costs: _Cost, source: str = _LOSS_SOURCE, **more: Any
) -> Measure:
    """Return the measure of a sum of costs, undefined for a query without relevant docs."""

    def compute(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
        review = _reviews(view, params)
        values = sum(cost.amount(review, params) for cost in costs)
        values = np.where(review.relevant > 0, values, math.nan)
        return np.broadcast_to(values, (len(ks), *review.retrieved.shape))

    def trace(ranking: OneList, params: Params, k: None) -> Trace:
        review = _review(ranking, params)
        terms = (
            Term(None, cost.name, 0, cost.text(review, params), float(cost.amount(review, params)))
            for cost in costs
        )
        return Trace(tuple(terms), 1.0, "(nothing)", None if review.relevant else math.nan)

    compute.__doc__ = definition
    return Measure(
        name=name,
        summary=summary,
        compute=compute,
        trace=trace,
        source=source,
        cutoff="none",
        direction=-1,
        no_relevant=math.nan,
        **more,
    )


MEASURES = (
    Measure(
        name="EffortR",
        summary="recall at fixed effort: the share of the relevant docs among the first r * N docs",
        compute=compute_effort_recall,
        trace=trace_effort_recall,
        source=f"{SOURCE} (recall@%, NCG@%)",
        parameters=(REL, DOCS),
        cutoff="required",
        cutoff_is="level",
        no_relevant=math.nan,
    ),
    Measure(
        name="WSS",
        summary="work saved over sampling: docs of a random order less docs read until recall is r",
        compute=compute_work_saved,
        trace=trace_work_saved,
        source="Cohen et al. 2006, doi:10.1197/jamia.M1929; tar_eval.py (wss_95, wss_100)",
        parameters=(
            REL,
            DOCS,
            _choice(
                "needed", "relevant docs for recall r: at least, or nearest", ("least", "nearest")
            ),
            _choice("unreached", "value if recall stays below r", ("level-1", "zero")),
        ),
        cutoff="required",
        cutoff_is="level",
        bounds=(-1.0, 1.0),
        no_relevant=math.nan,
        empty_list="r - 1, or 0 with unreached=zero; r if no relevant doc is needed",
        monotone=False,
    ),
    Measure(
        name="LastRel",
        summary="the rank of the last relevant doc: docs to read until all are found",
        compute=compute_last_relevant,
        trace=trace_last_relevant,
        source=f"{SOURCE} (last_rel)",
        parameters=(
            REL,
            DOCS,
            _choice(
                "unretrieved",
                "docs read if a relevant doc is not retrieved: all N, or to the last one retrieved",
                ("all", "ignored"),
            ),
        ),
        cutoff="none",
        direction=-1,
        format="length",
        unit="docs",
        bounds=(0.0, math.inf),
        no_relevant=math.nan,
        empty_list="N; 0 with unretrieved=ignored",
        monotone=False,
    ),
    Measure(
        name="NormArea",
        summary="area below the curve of relevant docs by docs read, over the greatest area",
        compute=compute_area,
        trace=trace_area,
        source=f"{SOURCE} (norm_area)",
        parameters=(REL, DOCS),
        cutoff="none",
        no_relevant=math.nan,
    ),
    _cost_measure(
        "LossR",
        "loss of recall of a review: (1 - recall)^2",
        "Compute (1 - recall)^2.",
        _RECALL,
        parameters=(REL, DOCS),
        empty_list="1",
    ),
    _cost_measure(
        "LossE",
        "loss of effort of a review, from 0 for no doc read",
        "Compute (b / N)^2 (n / (R + b))^2, with n docs of the list read out of N.",
        _EFFORT,
        parameters=(REL, DOCS, _B),
        family="count",
        monotone=False,
    ),
    _cost_measure(
        "LossER",
        "loss of recall and effort of a review: LossR + LossE",
        "Compute (1 - recall)^2 + (b / N)^2 (n / (R + b))^2, with n docs read out of N.",
        _RECALL,
        _EFFORT,
        parameters=(REL, DOCS, _B),
        bounds=(0.0, 2.0),
        empty_list="1",
        monotone=False,
    ),
    _cost_measure(
        "ReviewCost",
        "cost of reading the docs of the list, and a penalty for relevant docs lost",
        """\
    Add up the cost of the docs of the list, and of N - n unread docs if relevant ones are lost.

    With m of R relevant docs lost, the penalty is ``missed`` * (N - n) times m / R (uniform), or
    times 1/2 + 1/4 + ... of m - 1 terms (weighted). The sum of m - 1 terms is that of tar_eval.py,
    where a single lost doc costs nothing. Reading a doc costs 1 there, and 3 if the system asks for
    feedback on it (action AF, which runs have in column 2 and stores do not keep).
    """,
        _READ,
        _NOT_READ,
        source=f"{SOURCE} (total_cost, total_cost_uniform, total_cost_weighted)",
        parameters=(
            REL,
            DOCS,
            Parameter("doc", 1.0, "cost of reading a doc", "number", 0, 1e12),
            Parameter(
                "penalty",
                "none",
                "penalty for relevant docs lost",
                kind="choice",
                choices=("none", "uniform", "weighted"),
            ),
            Parameter("missed", 2.0, "penalty for an unread doc", "number", 0, 1e12),
        ),
        format="length",
        unit="cost",
        bounds=(0.0, math.inf),
        empty_list="the penalty for N unread docs",
        family="count",
        monotone=False,
    ),
)
