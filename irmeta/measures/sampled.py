"""Measures of sampled judgments: statAP and xinfAP, and those related to them.

statAP and related measures estimate from docs that were judged with known probabilities. The weight
of a judged doc is the inverse of its inclusion probability: the number of docs that it stands for
(Horvitz and Thompson). xinfAP, infNDCG and related measures are expectations where each stratum of
the pool was sampled. A doc of the pool of negative grade was not sampled. All docs of a qrels set
without strata are one stratum.

Where all docs are judged and nothing is smoothed, the estimates are AP, P@k, Rprec, nDCG and the
number of relevant docs.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from irmeta.errors import UsageError
from irmeta.kernels.incomplete import (
    stratified_precision_sum,
    sum_by_stratum,
    weighted_precision_sum,
)
from irmeta.measures.spec import Cutoffs, Measure, OneList, Params, Term, Trace
from irmeta.measures.sums import (
    GAIN_OF,
    GAINS,
    divide,
    doc_gain,
    doc_gains,
    empty_values,
    per_query,
    rank_cuts,
    refuse_without_cutoff,
)
from irmeta.naming import GMAX, REL, Parameter
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.judgments import Sample
from irmeta.rankings.view import Need

BY_MTC = (0, 2)
"""Methods of prels by which a doc was chosen for its weight in MTC, not drawn at random."""
ONLY_MTC = 0


@dataclass(frozen=True)
class Strata:
    """Strata of the queries of a view, int64: `of_row` of each doc, `offsets` of each query.

    float64 [strata]: `docs` of the pool, and how many of them are `judged`.
    """

    of_row: np.ndarray
    offsets: np.ndarray
    docs: np.ndarray
    judged: np.ndarray

    @property
    def weights(self) -> np.ndarray:
        """Docs that each judged doc of a stratum stands for: float64 [strata]."""
        return self.docs / np.maximum(self.judged, 1.0)


def sample_of(view: JudgedRanks) -> Sample | None:
    """Return the sample of a view; None if its qrels set does not state that it is a sample."""
    return None if view.facts.sampled is None else view.require("sample")


def strata_of(view: JudgedRanks) -> Strata:
    """Return the strata of a view; all docs of a qrels set that is no sample are one stratum."""
    query = view.query_of(np.arange(len(view.grades)))
    sample, queries = sample_of(view), np.arange(len(view.queries) + 1)
    if sample is None:
        of_row, offsets = query, queries
    elif not sample.names:
        raise UsageError(
            f"the qrels {view.facts.qrels!r} of track {view.facts.track!r} have inclusion "
            "probabilities instead of strata: use statAP and other measures of probabilities."
        )
    else:
        width = len(sample.names)
        known, of_row = np.unique(query * width + sample.stratum, return_inverse=True)
        offsets = np.searchsorted(known, queries * width)
    docs = np.bincount(of_row, minlength=offsets[-1])
    judged = np.bincount(of_row[view.is_judged], minlength=offsets[-1])
    return Strata(of_row, offsets, docs.astype(np.float64), judged.astype(np.float64))


def inclusion_weights(view: JudgedRanks, mtc: str) -> np.ndarray:
    """Return the inverse inclusion probability of each doc, 0 for docs to ignore: float64 [rows].

    1 for judged docs of a set that is no sample; equal within a stratum. In prels, docs chosen for
    MTC have 1 (``certain``), or only docs drawn at random count (``excluded``).
    """
    sample = sample_of(view)
    if sample is None:
        return view.is_judged.astype(np.float64)
    if sample.names:
        strata = strata_of(view)
        return np.where(view.is_judged, strata.weights[strata.of_row], 0.0)
    probability, is_chosen = sample.probability, np.isin(sample.method, BY_MTC)
    is_counted = view.is_judged & ~np.isnan(probability)
    if mtc == "certain":
        probability = np.where(is_chosen, 1.0, probability)
    else:
        is_counted &= sample.method != ONLY_MTC
    return np.where(is_counted, 1.0 / np.where(is_counted, probability, 1.0), 0.0)


def is_random_sample(view: JudgedRanks) -> np.ndarray:
    """Return whether any doc of a query was drawn at random: bool [query].

    All judgments of some queries of a million query track were chosen for MTC.
    """
    sample = sample_of(view)
    if sample is None or sample.names:
        return np.ones(len(view.queries), bool)
    is_drawn = (sample.method != ONLY_MTC) & ~np.isnan(sample.probability)
    return np.diff(view.offsets_of(is_drawn)) > 0


_STAT_SOURCE = "Aslam, Pavlu and Yilmaz 2006, doi:10.1145/1148170.1148263; statAP_MQ_eval_v3.pl"
MTC = Parameter(
    "mtc",
    "certain",
    "docs of prels that were chosen for MTC: of probability 1, or excluded",
    kind="choice",
    choices=("certain", "excluded"),
)


def needs_sample(params: Params) -> Collection[Need]:
    """Return the need for the sample of the qrels."""
    return ("sample",)


def relevant_weights(
    view: JudgedRanks, params: Params
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the rows of relevant docs with a weight (bool), these weights, and their sums.

    The sums are float64 [query, 1], NaN for a query that was not sampled.
    """
    weights = inclusion_weights(view, params["mtc"])
    rows = (view.grades >= params["rel"]) & (weights > 0)
    query = view.query_of(np.flatnonzero(rows))
    total = np.bincount(query, weights[rows], minlength=len(view.queries))
    return rows, weights[rows], np.where(is_random_sample(view), total, math.nan)[:, None]


def compute_stat_ap(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Sum w (1 + W) / r of the relevant docs retrieved, over the estimated number R of them.

    w is the weight of the doc at rank r, W the sum of weights of relevant docs above it, and R the
    sum of weights of all relevant docs.
    """
    rows, weights, relevant = relevant_weights(view, params)
    labels = np.arange(np.count_nonzero(rows), dtype=np.uint32)
    ranks, labels, offsets = view.sort_by_rank(rows, labels)
    out = empty_values(view, ks)
    weighted_precision_sum(ranks, labels, weights, offsets, rank_cuts(view, ks), out)
    return divide(out, relevant, math.nan)


def compute_stat_precision(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Divide the weights of the relevant docs at ranks up to k by k."""
    rows, weights, relevant = relevant_weights(view, params)
    query = view.query_of(np.flatnonzero(rows)).astype(np.int64)
    within, ones = empty_values(view, ks), np.ones(int(view.lengths.max(initial=0)) + 1)
    sum_by_stratum(view.ranks[rows], query, weights, ones, rank_cuts(view, ks), within)
    return np.where(relevant > 0, within / np.array(ks, np.float64)[:, None, None], math.nan)


def compute_stat_r_precision(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Divide the weights of the relevant docs at ranks up to R by R, rounded to an integer.

    R is the estimated number of relevant docs. If the list is shorter than R, the divisor is not
    rounded, as in statAP_MQ_eval_v3.pl.
    """
    rows, weights, relevant = relevant_weights(view, params)
    cuts = np.floor(np.nan_to_num(relevant) + 0.5)
    query = view.query_of(np.flatnonzero(rows))
    ranks = view.ranks[rows]
    is_within = ranks <= np.minimum(cuts[query], view.missing - 1)
    totals = np.zeros(view.lengths.shape)
    np.add.at(totals, query, np.where(is_within, weights[:, None], 0.0))
    value = divide(totals, np.where(view.lengths >= cuts, cuts, relevant), math.nan)
    return np.broadcast_to(value, (len(ks), *totals.shape))


def compute_stat_relevant(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Sum the weights of the relevant docs of the query."""
    *_, relevant = relevant_weights(view, params)
    return np.broadcast_to(relevant, (len(ks), *view.lengths.shape))


def doc_weight(ranking: OneList, params: Params, doc: str, grade: float) -> float:
    """Return the inverse inclusion probability of a doc, 0 for a doc to ignore."""
    if not ranking.counts_as_judged(grade):
        return 0.0
    if ranking.sampled is None:
        return 1.0
    stratum, method, probability = ranking.sampled[doc]
    if stratum:
        same = [g for _, d, g in ranking.judged if ranking.sampled[d][0] == stratum]
        return len(same) / sum(map(ranking.counts_as_judged, same))
    if math.isnan(probability) or (params["mtc"] == "excluded" and method == ONLY_MTC):
        return 0.0
    return 1.0 if params["mtc"] == "certain" and method in BY_MTC else 1 / probability


def _weighted_relevant(
    ranking: OneList, params: Params
) -> list[tuple[int | None, str, float, float]]:
    """List rank, doc, grade and weight of the relevant docs with a weight, by rank."""
    relevant = ranking.relevant(params["rel"])
    weighted = ((*doc, doc_weight(ranking, params, doc[1], doc[2])) for doc in relevant)
    return [doc for doc in weighted if doc[3] > 0]


def _estimated(ranking: OneList, params: Params) -> float:
    """Return the estimated number of relevant docs; NaN for a query that was not sampled."""
    sampled = ranking.sampled
    if sampled is not None and not any(
        stratum or (method != ONLY_MTC and not math.isnan(probability))
        for stratum, method, probability in sampled.values()
    ):
        return math.nan
    return sum(weight for *_, weight in _weighted_relevant(ranking, params))


def _trace(terms: list[Term], relevant: float, divisor: float, divisor_is: str) -> Trace:
    return Trace(tuple(terms), divisor, divisor_is, None if relevant > 0 else math.nan)


def trace_stat_ap(ranking: OneList, params: Params, k: int | None) -> Trace:
    """Trace statAP as weighted precisions over the estimated number of relevant docs."""
    terms, above = [], 0.0
    for rank, doc, grade, weight in _weighted_relevant(ranking, params):
        if rank is None or (k is not None and rank > k):
            continue
        text = f"{weight:g} * (1 + {above:g})/{rank}"
        terms.append(Term(rank, doc, grade, text, weight * (1 + above) / rank))
        above += weight
    relevant = _estimated(ranking, params)
    return _trace(terms, relevant, relevant, "estimated relevant docs of the query")


def _within(ranking: OneList, params: Params, k: float) -> list[Term]:
    return [
        Term(rank, doc, grade, f"{weight:g}", weight)
        for rank, doc, grade, weight in _weighted_relevant(ranking, params)
        if rank is not None and rank <= k
    ]


def trace_stat_r_precision(ranking: OneList, params: Params, k: None) -> Trace:
    """Trace statRprec as weights over the estimated number of relevant docs."""
    relevant = _estimated(ranking, params)
    cut = 0 if math.isnan(relevant) else math.floor(relevant + 0.5)
    divisor = cut if ranking.length >= cut else relevant
    divisor_is = f"estimated relevant docs of the query, counted to rank {cut}"
    return _trace(_within(ranking, params, cut), relevant, divisor, divisor_is)


def trace_stat_relevant(ranking: OneList, params: Params, k: None) -> Trace:
    """Trace statNumRel as weights."""
    terms = tuple(
        Term(rank, doc, grade, f"{weight:g}", weight)
        for rank, doc, grade, weight in _weighted_relevant(ranking, params)
    )
    undefined = math.nan if math.isnan(_estimated(ranking, params)) else None
    return Trace(terms, 1.0, "(nothing)", undefined)


_estimate = partial(
    Measure,
    source=_STAT_SOURCE,
    parameters=(REL, MTC),
    bounds=(0.0, math.inf),
    unjudged=(),
    needs=needs_sample,
    no_relevant=math.nan,
)
_ESTIMATES = (
    _estimate(
        name="statAP",
        summary="AP estimated from docs judged with known probabilities",
        compute=compute_stat_ap,
        trace=trace_stat_ap,
    ),
    _estimate(
        name="statP",
        summary="P@k estimated from docs judged with known probabilities",
        compute=compute_stat_precision,
        trace=lambda ranking, params, k: _trace(
            _within(ranking, params, k), _estimated(ranking, params), k, "the cutoff k"
        ),
        cutoff="required",
        family="utility",
        monotone=False,
    ),
    _estimate(
        name="statRprec",
        summary="Rprec estimated from docs judged with known probabilities",
        compute=compute_stat_r_precision,
        trace=trace_stat_r_precision,
        cutoff="none",
    ),
    _estimate(
        name="statNumRel",
        summary="number of relevant docs, estimated from docs judged with known probabilities",
        compute=compute_stat_relevant,
        trace=trace_stat_relevant,
        cutoff="none",
        family="count",
        average="sum",
        format="count",
        no_relevant=0.0,
        empty_list="estimated relevant docs of the query",
    ),
)


EPSILON = 0.00001
SMOOTHING: Mapping[str, tuple[float, float]] = {
    "sample_eval": (EPSILON, 3 * EPSILON),
    "infAP": (EPSILON, 2 * EPSILON),
    "none": (0.0, 0.0),
}
"""Docs added to the relevant and to the judged docs above a doc in each stratum."""


def ideal_docs(estimated: float, form: str) -> tuple[float, int]:
    """Return the ranks that docs of one gain take in the ideal list, and the docs listed there.

    The estimated number of docs of a gain is a sum of fractions.
    """
    number = round(estimated, 9)
    if form == "2011":
        rounded = math.floor(number + 0.5)
        return float(rounded), rounded
    return estimated, math.floor(number)


_EXPECTED_SOURCE = "Yilmaz, Kanoulas and Aslam 2008, doi:10.1145/1390334.1390437; sample_eval.pl"
_SMOOTHING = Parameter(
    "smoothing",
    "sample_eval",
    "smoothing of a stratum's precision (h + 1e-5)/(j + 3e-5); infAP: of (h + 1e-5)/(j + 2e-5)",
    kind="choice",
    choices=tuple(SMOOTHING),
)
_NORM = Parameter(
    "norm",
    "all",
    "divisor: the estimated number R of relevant docs, or min(R, k), as sample_eval since 2012",
    kind="choice",
    choices=("all", "min"),
)
_FORM = Parameter(
    "form",
    "2012",
    "docs of each gain in the ideal list: the whole part of their estimated number, as "
    "sample_eval.pl of 2012, or (2011) the nearest whole number, as that of 2011",
    kind="choice",
    choices=("2012", "2011"),
)
_GAIN = Parameter("gain", "grade", GAIN_OF, kind="gain", choices=GAINS)


def _is_relevant(view: JudgedRanks, rel: float) -> np.ndarray:
    return (view.grades >= rel) & view.is_judged


def _by_query(values: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Sum values [cutoff, stratum, system] over the strata of each query."""
    out = np.zeros((len(values), len(offsets) - 1, values.shape[2]))
    has_strata = np.diff(offsets) > 0
    if has_strata.any():
        starts = offsets[:-1][has_strata]
        out[:, has_strata] = np.add.reduceat(values, starts, axis=1)
    return out


def _estimated_relevant(view: JudgedRanks, strata: Strata, rel: float) -> np.ndarray:
    """Estimate the number of relevant docs of each query: float64 [query]."""
    rows = _is_relevant(view, rel)
    relevant = np.bincount(strata.of_row[rows], minlength=len(strata.docs))
    return _by_query((relevant * strata.weights)[None, :, None], strata.offsets)[0, :, 0]


def _sums(
    view: JudgedRanks, strata: Strata, ks: Cutoffs, values: np.ndarray, discounted: bool = False
) -> np.ndarray:
    """Sum a value of each doc at ranks up to k by stratum: [cutoff, stratum, system]."""
    out = np.zeros((len(ks), len(strata.docs), len(view.systems)))
    ranks = np.arange(int(view.lengths.max(initial=0)) + 1)
    discounts = 1.0 / np.log2(np.maximum(ranks, 1) + 1.0) if discounted else np.ones(len(ranks))
    stratum = strata.of_row.astype(np.int64)
    sum_by_stratum(
        view.ranks, stratum, values.astype(np.float64), discounts, rank_cuts(view, ks), out
    )
    return out


def compute_xinfap(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Sum w (1 + E) / r of the relevant docs retrieved, over the estimated number R of them.

    The doc at rank r stands for w = n / j docs of its stratum, of whose n docs j are judged. E is
    the expected number of relevant docs above it: the sum over strata of n (h + e) / (j + 3e), here
    with n docs above the doc, j of them judged and h relevant. R is the sum of w over all relevant
    docs.

    Notes
    -----
    sample_eval.pl cuts lists at 1000 docs and, since 2012, divides by 1000 if R is greater:
    ``xinfAP(norm=min)@1000``.
    """
    strata, rows = strata_of(view), _is_relevant(view, params["rel"])
    every = np.ones(len(view.grades), bool)
    labels = np.arange(len(view.grades), dtype=np.uint32)
    ranks, labels, offsets = view.sort_by_rank(every, labels)
    first = np.repeat(strata.offsets[:-1], np.diff(view.offsets))
    out = empty_values(view, ks)
    stratified_precision_sum(
        *(ranks, labels),
        (view.is_judged.astype(np.int8) + rows).astype(np.int8),
        (strata.of_row - first).astype(np.int64),
        *(strata.weights[strata.of_row], offsets, rank_cuts(view, ks)),
        int(np.diff(strata.offsets).max(initial=0)),
        *(*SMOOTHING[params["smoothing"]], out),
    )
    relevant = _estimated_relevant(view, strata, params["rel"])[None]
    if params["norm"] == "min":
        relevant = np.minimum(relevant, np.array(ks, np.float64)[:, None])
    return per_query(out, relevant, 0.0)


def compute_inf_ndcg(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Divide the estimated DCG at k by the ideal DCG of the estimated number of docs of each gain.

    In each stratum, the sum of gain / log2(rank + 1) of the docs retrieved is multiplied by n / j:
    n docs of the stratum are retrieved, j of them judged.

    Notes
    -----
    As in sample_eval.pl, the ideal list has the whole part of the estimated number of docs of each
    gain, and the first of these docs is one rank below the (fractional) number of docs of higher
    gains; with ``form=2011`` all these numbers are rounded. The ideal list ends at k; the program,
    which cuts at 1000, also has the first doc of each gain below that rank, and a doc at a
    fractional rank between 1000 and 1001.
    """
    strata, by_row = strata_of(view), doc_gains(view, params["gain"], gmax=params["gmax"])
    gains = np.where(view.is_judged, by_row, 0.0)
    listed = _sums(view, strata, ks, np.ones(len(gains)))
    judged = _sums(view, strata, ks, view.is_judged)
    gained = _sums(view, strata, ks, gains, discounted=True)
    dcg = _by_query(divide(listed * gained, judged, 0.0), strata.offsets)
    weights = strata.weights[strata.of_row]
    ideal = [
        ideal_dcg(gains[rows], weights[rows], ks, params["form"])
        for rows in map(slice, view.offsets[:-1].tolist(), view.offsets[1:].tolist())
    ]
    return per_query(dcg, np.array(ideal).reshape(-1, len(ks)).T, 0.0)


def ideal_dcg(gains: np.ndarray, weights: np.ndarray, ks: Cutoffs, form: str) -> list[float]:
    """Compute the greatest DCG of docs that stand for several docs each, at each cutoff."""
    start, terms, ranks = 0.0, list[np.ndarray](), list[np.ndarray]()
    for gain in np.unique(gains[gains > 0])[::-1]:
        docs, in_list = ideal_docs(float(weights[gains == gain].sum()), form)
        places = start + np.arange(1, in_list + 1)
        terms.append(gain / np.log2(places + 1.0))
        ranks.append(places)
        start += docs
    amounts, places = np.concatenate([[], *terms]), np.concatenate([[], *ranks])
    return [float(amounts[places <= (math.inf if k is None else k)].sum()) for k in ks]


def compute_inf_relevant_retrieved(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Estimate the number of relevant docs of the list, as `infP` does."""
    strata = strata_of(view)
    listed = _sums(view, strata, ks, np.ones(len(view.grades)))
    judged = _sums(view, strata, ks, view.is_judged)
    relevant = _sums(view, strata, ks, _is_relevant(view, params["rel"]))
    extra, extra_judged = SMOOTHING[params["smoothing"]]
    expected = divide(listed * (relevant + extra), judged + extra_judged, 0.0)
    return _by_query(expected, strata.offsets)


def compute_inf_precision(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Divide the expected number of relevant docs at ranks up to k by k.

    A stratum with n docs there, j of them judged and h relevant, has n (h + e) / (j + 3e).
    """
    within = compute_inf_relevant_retrieved(view, params, ks)
    return within / np.array(ks, np.float64)[:, None, None]


def compute_inf_relevant(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Sum, over the strata, the share of relevant docs among judged ones times the docs."""
    relevant = _estimated_relevant(view, strata_of(view), params["rel"])
    return np.broadcast_to(relevant[:, None], (len(ks), *view.lengths.shape))


@dataclass
class Seen:
    """Counts of the docs of a stratum above a rank: all, judged and relevant."""

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


def _stratum(ranking: OneList, doc: str) -> str:
    return "" if ranking.sampled is None else ranking.sampled[doc][0]


def _count(ranking: OneList, rel: float, k: float | None = math.inf) -> dict[str, Seen]:
    """Count docs by stratum: of the list to rank k (None: all of it), or of the pool (infinity)."""
    pooled = k == math.inf
    seen: dict[str, Seen] = {}
    for _, doc, grade in (
        ranking.judged if pooled else ranking.within(None if k is None else int(k))
    ):
        is_judged = ranking.counts_as_judged(grade)
        seen.setdefault(_stratum(ranking, doc), Seen()).add(is_judged, is_judged and grade >= rel)
    return seen


def trace_xinfap(ranking: OneList, params: Params, k: int | None) -> Trace:
    """Trace xinfAP as one expected precision per relevant doc retrieved."""
    rel, pool = params["rel"], _count(ranking, params["rel"])
    seen: dict[str, Seen] = {}
    terms = []
    for rank, doc, grade in ranking.within(k):
        is_judged = ranking.counts_as_judged(grade)
        stratum = _stratum(ranking, doc)
        if is_judged and grade >= rel:
            weight = pool[stratum].docs / pool[stratum].judged
            above = sum(s.expected(params) for s in seen.values())
            text = f"{weight:g} * (1 + {above:g} expected above)/{rank}"
            terms.append(Term(rank, doc, grade, text, weight * (1 + above) / rank))
        seen.setdefault(stratum, Seen()).add(is_judged, is_judged and grade >= rel)
    relevant = sum(s.relevant * s.docs / s.judged for s in pool.values() if s.judged)
    divisor, divisor_is = relevant, "estimated relevant docs of the query"
    if params["norm"] == "min":
        assert k is not None
        divisor, divisor_is = min(relevant, k), f"min(k, {relevant:g} estimated relevant docs)"
    return Trace(tuple(terms), divisor, divisor_is, None if relevant else 0.0)


def trace_inf_ndcg(ranking: OneList, params: Params, k: int | None) -> Trace:
    """Trace infNDCG as the discounted gains of docs that stand for several, over the ideal DCG."""
    listed, pool = _count(ranking, 1, k), _count(ranking, 1)
    terms = []
    for rank, doc, grade in ranking.within(k):
        gain = doc_gain(ranking, doc, grade, params) if ranking.counts_as_judged(grade) else 0.0
        if gain > 0:
            stratum = listed[_stratum(ranking, doc)]
            text = f"{stratum.docs}/{stratum.judged} * {gain:g} / log2({rank} + 1)"
            amount = stratum.docs / stratum.judged * gain / math.log2(rank + 1)
            terms.append(Term(rank, doc, grade, text, amount))
    docs: dict[float, float] = {}
    for _, doc, grade in ranking.judged:
        if ranking.counts_as_judged(grade):
            stratum = pool[_stratum(ranking, doc)]
            gain = doc_gain(ranking, doc, grade, params)
            docs[gain] = docs.get(gain, 0.0) + stratum.docs / stratum.judged
    ideal = start = 0.0
    for gain in sorted((gain for gain in docs if gain > 0), reverse=True):
        of_gain, in_list = ideal_docs(docs[gain], params["form"])
        for place in range(1, in_list + 1):
            if k is None or start + place <= k:
                ideal += gain / math.log2(start + place + 1)
        start += of_gain
    return Trace(tuple(terms), ideal, "ideal DCG", None if ideal else 0.0)


def _trace_expected(
    ranking: OneList, params: Params, k: int | None, divisor: float, what: str
) -> Trace:
    """Trace the expected relevant docs of each stratum, at ranks up to k."""
    terms = (
        Term(
            None,
            f"(stratum {name or 'of all docs'})",
            0,
            f"{s.docs} docs, {s.judged} judged, {s.relevant} relevant",
            s.expected(params),
        )
        for name, s in _count(ranking, params["rel"], k).items()
    )
    return Trace(tuple(terms), divisor, what)


def trace_inf_relevant(ranking: OneList, params: Params, k: None) -> Trace:
    """Trace infNumRel as the estimated relevant docs of each stratum."""
    terms = (
        Term(
            None,
            f"(stratum {name or 'of all docs'})",
            0,
            f"{s.relevant} of {s.judged} judged relevant, times {s.docs} docs",
            s.relevant / s.judged * s.docs,
        )
        for name, s in _count(ranking, params["rel"]).items()
        if s.judged
    )
    return Trace(tuple(terms), 1.0, "(nothing)")


_expectation = partial(
    Measure,
    source=_EXPECTED_SOURCE,
    bounds=(0.0, math.inf),
    unjudged=(),
    needs=needs_sample,
    parameters=(REL, _SMOOTHING),
    monotone=False,
)


MEASURES = (
    *_ESTIMATES,
    _expectation(
        name="xinfAP",
        summary="extended inferred AP: AP expected from a stratified sample of the pool",
        compute=compute_xinfap,
        trace=trace_xinfap,
        parameters=(REL, _NORM, _SMOOTHING),
        monotone=True,
        check=lambda params, cutoff: refuse_without_cutoff("xinfAP", params, cutoff),
    ),
    _expectation(
        name="infNDCG",
        summary="inferred nDCG: nDCG estimated from a stratified sample of the pool",
        compute=compute_inf_ndcg,
        trace=trace_inf_ndcg,
        parameters=(_GAIN, GMAX, _FORM),
    ),
    _expectation(
        name="infP",
        summary="inferred P@k: P@k expected from a stratified sample of the pool",
        compute=compute_inf_precision,
        trace=lambda ranking, params, k: _trace_expected(ranking, params, k, k, "the cutoff k"),
        cutoff="required",
        family="utility",
    ),
    _expectation(
        name="infNumRelRet",
        summary="number of relevant docs of the list, expected from a stratified sample",
        compute=compute_inf_relevant_retrieved,
        trace=lambda ranking, params, k: _trace_expected(ranking, params, k, 1.0, "(nothing)"),
        cutoff="none",
        family="count",
        average="sum",
        format="count",
    ),
    _expectation(
        name="infNumRel",
        summary="number of relevant docs of the query, estimated from a stratified sample",
        compute=compute_inf_relevant,
        trace=trace_inf_relevant,
        parameters=(REL,),
        cutoff="none",
        family="count",
        average="sum",
        format="count",
        empty_list="estimated relevant docs of the query",
        monotone=True,
    ),
)
