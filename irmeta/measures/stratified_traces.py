"""Arithmetic of the estimates from a stratified sample, for one list in plain Python."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from irmeta.measures.gains import doc_gain
from irmeta.measures.spec import OneList, Params, Term, Trace

EPSILON = 0.00001
SMOOTHING: Mapping[str, tuple[float, float]] = {
    "sample_eval": (EPSILON, 3 * EPSILON),
    "infAP": (EPSILON, 2 * EPSILON),
    "none": (0.0, 0.0),
}
"""Docs added to the relevant and to the judged docs above a doc in each stratum."""


def ideal_docs(estimated: float, form: str) -> tuple[float, int]:
    """Return the ranks that docs of one gain take in the ideal list, and the docs listed there.

    Parameters
    ----------
    estimated
        Estimated number of docs of the gain, a sum of fractions.
    form
        Parameter of infNDCG.
    """
    number = round(estimated, 9)
    if form == "2011":
        whole = math.floor(number + 0.5)
        return float(whole), whole
    return estimated, math.floor(number)


@dataclass
class Seen:
    """Docs of a stratum that have been seen: all, judged and relevant ones."""

    docs: int = 0
    judged: int = 0
    relevant: int = 0

    def add(self, is_judged: bool, is_relevant: bool) -> None:
        """Count one more doc."""
        self.docs += 1
        self.judged += is_judged
        self.relevant += is_relevant

    def expected(self, params: Params) -> float:
        """Return the expected number of relevant docs."""
        extra, extra_judged = SMOOTHING[params["smoothing"]]
        judged = self.judged + extra_judged
        return self.docs * (self.relevant + extra) / judged if judged else 0.0


def _stratum(one: OneList, doc: str) -> str:
    return "" if one.sampled is None else one.sampled[doc][0]


def _count(one: OneList, rel: int, k: float | None = math.inf) -> dict[str, Seen]:
    """Count docs by stratum: of the list to rank k (None: all of it), or of the pool (infinity)."""
    pooled = k == math.inf
    seen: dict[str, Seen] = {}
    for _, doc, grade in one.judged if pooled else one.within(None if k is None else int(k)):
        is_judged = one.counts_as_judged(grade)
        seen.setdefault(_stratum(one, doc), Seen()).add(is_judged, is_judged and grade >= rel)
    return seen


def _estimated_relevant(one: OneList, rel: int) -> float:
    strata = _count(one, rel).values()
    return sum(s.relevant * s.docs / s.judged for s in strata if s.judged)


def trace_xinfap(one: OneList, params: Params, k: int | None) -> Trace:
    """Trace xinfAP as one expected precision per relevant doc retrieved."""
    rel, pool = params["rel"], _count(one, params["rel"])
    seen: dict[str, Seen] = {}
    terms = []
    for rank, doc, grade in one.within(k):
        is_judged = one.counts_as_judged(grade)
        stratum = _stratum(one, doc)
        if is_judged and grade >= rel:
            weight = pool[stratum].docs / pool[stratum].judged
            above = sum(s.expected(params) for s in seen.values())
            text = f"{weight:g} * (1 + {above:g} expected above)/{rank}"
            terms.append(Term(rank, doc, grade, text, weight * (1 + above) / rank))
        seen.setdefault(stratum, Seen()).add(is_judged, is_judged and grade >= rel)
    relevant = _estimated_relevant(one, rel)
    divisor, divisor_is = relevant, "estimated relevant docs of the query"
    if params["norm"] == "min":
        assert k is not None
        divisor, divisor_is = min(relevant, k), f"min(k, {relevant:g} estimated relevant docs)"
    return Trace(tuple(terms), divisor, divisor_is, None if relevant else 0.0)


def trace_inf_ndcg(one: OneList, params: Params, k: int | None) -> Trace:
    """Trace infNDCG as the discounted gains of docs that stand for several, over the ideal DCG."""
    listed, pool = _count(one, 1, k), _count(one, 1)
    terms = []
    for rank, doc, grade in one.within(k):
        gain = doc_gain(one, doc, grade, params) if one.counts_as_judged(grade) else 0.0
        if gain > 0:
            stratum = listed[_stratum(one, doc)]
            text = f"{stratum.docs}/{stratum.judged} * {gain:g} / log2({rank} + 1)"
            amount = stratum.docs / stratum.judged * gain / math.log2(rank + 1)
            terms.append(Term(rank, doc, grade, text, amount))
    docs: dict[float, float] = {}
    for _, doc, grade in one.judged:
        if one.counts_as_judged(grade):
            stratum = pool[_stratum(one, doc)]
            gain = doc_gain(one, doc, grade, params)
            docs[gain] = docs.get(gain, 0.0) + stratum.docs / stratum.judged
    ideal = start = 0.0
    for gain in sorted((gain for gain in docs if gain > 0), reverse=True):
        of_gain, whole = ideal_docs(docs[gain], params["form"])
        for place in range(1, whole + 1):
            if k is None or start + place <= k:
                ideal += gain / math.log2(start + place + 1)
        start += of_gain
    return Trace(tuple(terms), ideal, "ideal DCG", None if ideal else 0.0)


def _trace_expected(
    one: OneList, params: Params, k: int | None, divisor: float, what: str
) -> Trace:
    terms = (
        Term(
            None,
            f"(stratum {name or 'of all docs'})",
            0,
            f"{s.docs} docs, {s.judged} judged, {s.relevant} relevant",
            s.expected(params),
        )
        for name, s in _count(one, params["rel"], k).items()
    )
    return Trace(tuple(terms), divisor, what)


def trace_inf_precision(one: OneList, params: Params, k: int | None) -> Trace:
    """Trace infP as the expected relevant docs of each stratum over k."""
    assert k is not None
    return _trace_expected(one, params, k, k, "the cutoff k")


def trace_inf_relevant_retrieved(one: OneList, params: Params, k: None) -> Trace:
    """Trace infNumRelRet as the expected relevant docs of each stratum."""
    return _trace_expected(one, params, None, 1.0, "(nothing)")


def trace_inf_relevant(one: OneList, params: Params, k: None) -> Trace:
    """Trace infNumRel as the estimated relevant docs of each stratum."""
    terms = (
        Term(
            None,
            f"(stratum {name or 'of all docs'})",
            0,
            f"{s.relevant} of {s.judged} judged relevant, times {s.docs} docs",
            s.relevant / s.judged * s.docs,
        )
        for name, s in _count(one, params["rel"]).items()
        if s.judged
    )
    return Trace(tuple(terms), 1.0, "(nothing)")
