"""Loss and cost of a technology-assisted review that ends where the list ends."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from irmeta.measures.review import (
    DOCS,
    SOURCE,
    docs_to_review,
    found_by,
    found_within,
    to_review,
)
from irmeta.measures.spec import Compute, Cutoffs, Measure, OneList, Params, Term, Trace
from irmeta.naming.parameters import REL, Parameter
from irmeta.rankings.judged import JudgedRanks


class _Review(NamedTuple):
    """Numbers of docs of a review: floats that broadcast to [query, system]."""

    docs: Any
    read: Any
    relevant: Any
    found: Any


def _reviews(view: JudgedRanks, params: Params) -> _Review:
    docs = docs_to_review(view, params)
    read = np.minimum(view.lengths, docs[:, None]).astype(np.float64)
    relevant = view.counts(params["rel"]).astype(np.float64)[:, None]
    return _Review(
        docs[:, None].astype(np.float64), read, relevant, found_within(view, params["rel"], docs)
    )


def _review(one: OneList, params: Params) -> _Review:
    docs = to_review(one, params)
    found = len(found_by(one, params, docs))
    return _Review(docs, min(one.length, docs), len(one.relevant(params["rel"])), found)


def _defined(ks: Cutoffs, review: _Review, values: np.ndarray) -> np.ndarray:
    """Return values of a query with relevant docs for each cutoff, NaN for other queries."""
    return np.broadcast_to(
        np.where(review.relevant > 0, values, math.nan), (len(ks), *review.found.shape)
    )


def _recall_loss(review: _Review) -> Any:
    return (1.0 - review.found / np.maximum(review.relevant, 1.0)) ** 2


def _effort_loss(review: _Review, b: float) -> Any:
    return (
        b / np.maximum(review.docs, 1.0) * review.read / np.maximum(review.relevant + b, 1)
    ) ** 2


def _penalty(review: _Review, kind: str, amount: float) -> Any:
    missing, unread = review.relevant - review.found, review.docs - review.read
    if kind == "uniform":
        return amount * unread * missing / np.maximum(review.relevant, 1.0)
    share = 1.0 - 0.5 ** np.maximum(missing - 1.0, 0.0)
    return amount * unread * (share if kind == "weighted" else 0.0)


def compute_recall_loss(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Compute (1 - recall)^2."""
    review = _reviews(view, params)
    return _defined(ks, review, _recall_loss(review))


def compute_effort_loss(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Compute (b / N)^2 (n / (R + b))^2, with n docs of the list read out of N."""
    review = _reviews(view, params)
    return _defined(ks, review, _effort_loss(review, params["b"]))


def compute_loss(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Compute (1 - recall)^2 + (b / N)^2 (n / (R + b))^2, with n docs read out of N."""
    review = _reviews(view, params)
    return _defined(ks, review, _recall_loss(review) + _effort_loss(review, params["b"]))


def compute_cost(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Add up the cost of the docs of the list, and of N - n unread docs if relevant ones are lost.

    With m of R relevant docs lost, the penalty is ``missed`` * (N - n) times m / R (uniform), or
    times 1/2 + 1/4 + ... of m - 1 terms (weighted). The sum of m - 1 terms is that of tar_eval.py,
    where a single lost doc costs nothing. Reading a doc costs 1 there, and 3 if the system asks for
    feedback on it (action AF, which runs have in column 2 and stores do not keep).
    """
    review = _reviews(view, params)
    penalty = _penalty(review, params["penalty"], params["missed"])
    return _defined(ks, review, params["doc"] * review.read + penalty)


def _recall_term(review: _Review) -> Term:
    text = f"(1 - {review.found}/{review.relevant})^2"
    return Term(None, "(recall)", 0, text, float(_recall_loss(review)))


def _effort_term(review: _Review, b: float) -> Term:
    text = f"({b:g}/{review.docs})^2 * ({review.read}/({review.relevant} + {b:g}))^2"
    return Term(None, "(effort)", 0, text, float(_effort_loss(review, b)))


def _trace(review: _Review, *terms: Term) -> Trace:
    return Trace(terms, 1.0, "(nothing)", None if review.relevant else math.nan)


def trace_recall_loss(one: OneList, params: Params, k: None) -> Trace:
    """Trace LossR as one term."""
    review = _review(one, params)
    return _trace(review, _recall_term(review))


def trace_effort_loss(one: OneList, params: Params, k: None) -> Trace:
    """Trace LossE as one term."""
    review = _review(one, params)
    return _trace(review, _effort_term(review, params["b"]))


def trace_loss(one: OneList, params: Params, k: None) -> Trace:
    """Trace LossER as the losses of recall and of effort."""
    review = _review(one, params)
    return _trace(review, _recall_term(review), _effort_term(review, params["b"]))


def trace_cost(one: OneList, params: Params, k: None) -> Trace:
    """Trace ReviewCost as the costs of docs read and the penalty."""
    review, cost = _review(one, params), params["doc"]
    read = Term(None, "(docs read)", 0, f"{review.read} docs * {cost:g}", review.read * cost)
    lost, unread = review.relevant - review.found, review.docs - review.read
    text = f"{params['penalty']} penalty: {lost} relevant docs lost, {unread} docs unread"
    amount = float(_penalty(review, params["penalty"], params["missed"]))
    return _trace(review, read, Term(None, "(docs not read)", 0, text, amount))


_B = Parameter("b", 100.0, "docs that a review may read beyond R", "number", 0, 1e12)


def _loss(
    name: str,
    summary: str,
    compute: Compute,
    trace: Callable[[OneList, Params, Any], Trace],
    **more: Any,
) -> Measure:
    return Measure(
        name=name,
        summary=summary,
        compute=compute,
        trace=trace,
        source=f"Cormack and Grossman 2016, doi:10.1145/2911451.2911510; {SOURCE} (loss_er)",
        cutoff="none",
        direction=-1,
        no_relevant=math.nan,
        **more,
    )


MEASURES = (
    _loss(
        "LossR",
        "loss of recall of a review: (1 - recall)^2",
        compute_recall_loss,
        trace_recall_loss,
        parameters=(REL, DOCS),
        empty_list="1",
    ),
    _loss(
        "LossE",
        "loss of effort of a review, from 0 for no doc read",
        compute_effort_loss,
        trace_effort_loss,
        parameters=(REL, DOCS, _B),
        family="count",
        monotone=False,
    ),
    _loss(
        "LossER",
        "loss of recall and effort of a review: LossR + LossE",
        compute_loss,
        trace_loss,
        parameters=(REL, DOCS, _B),
        bounds=(0.0, 2.0),
        empty_list="1",
        monotone=False,
    ),
    Measure(
        name="ReviewCost",
        summary="cost of reading the docs of the list, and a penalty for relevant docs lost",
        compute=compute_cost,
        trace=trace_cost,
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
        cutoff="none",
        direction=-1,
        format="length",
        unit="cost",
        bounds=(0.0, math.inf),
        no_relevant=math.nan,
        empty_list="the penalty for N unread docs",
        family="count",
        monotone=False,
    ),
)
