"""Measures of the C/W/L framework: expected gain and cost of users who may stop at each doc.

A model of a user is the probability C(i) of reading on after rank i. Everything else follows: the
probability of reading rank i is the product of C(j) for j < i; W(i) is that over its sum, and L(i)
is the probability of stopping at rank i.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import mul
from typing import Any

import numpy as np

from irmeta.errors import MeasureError
from irmeta.kernels import user_models as kernels
from irmeta.kernels.user_models import expected_quantities
from irmeta.measures.spec import Cutoff, Cutoffs, Measure, OneList, Params, Term, Trace
from irmeta.measures.sums import empty_values, rank_cuts
from irmeta.naming import Parameter
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.view import Need

QUANTITIES = {
    "EU": "utility per doc read",
    "ETU": "total utility",
    "EC": "cost per doc read",
    "ETC": "total cost",
    "ED": "docs read",
}
_QUANTITY = Parameter(
    "quantity",
    "EU",
    "expected value: " + ", ".join(f"{name} {what}" for name, what in QUANTITIES.items()),
    kind="choice",
    choices=tuple(QUANTITIES),
)
_BOUND = Parameter(
    "bound",
    "lower",
    "unjudged docs and ranks below the list: without gain (lower), or of gain 1 (upper); residual: "
    "upper minus lower",
    kind="choice",
    choices=("lower", "upper", "residual"),
)
_SHARED = (
    Parameter("min_rel", 0, "grade of gain 0, as all below", kind="number", low=0),
    Parameter(
        "max_rel",
        None,
        "grade of gain 1, as all above; default the track's highest",
        kind="number",
        low=0,
        open=True,
    ),
    _QUANTITY,
    _BOUND,
    Parameter("depth", 1000, "deepest rank that a user may read", high=100_000),
)
_T = Parameter("T", 1.0, "gain that the user wants", kind="number", low=0, open=True)


@dataclass(slots=True)
class Place:
    """State of a user who reads down a list.

    `gains`, `precisions`: Gains of all ranks; and sums of gain / rank over the docs below rank 0,
    1, 2, ... `rank`, `gain`: the rank that the user has read, and its gain. `total`, `spent`: Gain
    and cost of the docs down to this rank.
    """

    gains: Sequence[float]
    precisions: Sequence[float]
    rank: int = 0
    gain: float = 0.0
    total: float = 0.0
    spent: float = 0.0

    def read(self, gain: float, cost: float) -> None:
        """Read the next doc."""
        self.rank += 1
        self.gain = gain
        self.total += gain
        self.spent += cost

    def moved(self, limit: float, step: float, middle: float) -> float:
        """Return a limit that moves by each doc above: up by gains above `middle`, or down."""
        for gain in self.gains[: self.rank - 1]:
            limit += step * (gain - middle)
        return limit


@dataclass(frozen=True, kw_only=True)
class UserModel:
    """Declaration of a model, from which its measure follows.

    `number`: function from parameters to the number of the model in the kernel. `numbers`: function
    from parameters and cutoff to the numbers that the kernel reads. `reads_on`: C(i) in plain
    Python, for traces: a function of the place, the parameters and the cutoff.
    """

    name: str
    number: Callable[[Params], int]
    numbers: Callable[[Params, Any], Sequence[float]]
    reads_on: Callable[[Place, Params, Any], float]
    cuts_list: bool = True
    """Whether a cutoff ends the list; otherwise it is a number of docs of the model."""

    def needs(self, params: Params) -> tuple[Need, ...]:
        """Return the need for costs, of measures of cost and of a user with limited patience."""
        is_of_costs = params["quantity"] in ("EC", "ETC") or self.name == "BPM"
        return ("costs",) if is_of_costs else ()

    def compute(self, view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
        """Compute one expected quantity of each list at each cutoff."""
        least, most = _scale(view.facts.highest_grade, self.name, params)
        gains = (np.clip(view.grades.astype(np.float64), least, most) - least) / (most - least)
        quantity, out = list(QUANTITIES).index(params["quantity"]), empty_values(view, ks)
        if "costs" in view.lacks and self.needs(params):
            view.require("costs")  # raises an error that says why there are none
        costs, starts = view.costs or (np.empty(0), np.zeros(view.lengths.shape, np.int64))
        all_five = np.empty((len(QUANTITIES), *view.lengths.shape))
        ends = rank_cuts(view, ks if self.cuts_list else [None] * len(ks))
        for index, (k, end) in enumerate(zip(ks, ends.tolist(), strict=True)):
            numbers = np.zeros(5)
            of_model = self.numbers(params, k)
            numbers[: len(of_model)] = of_model
            for best, sign in _BOUNDS[params["bound"]]:
                expected_quantities(
                    *(view.ranks, view.offsets, gains, view.is_judged, costs, starts),
                    *(view.lengths, self.number(params), numbers, end, params["depth"], best),
                    all_five,
                )
                out[index] += sign * all_five[quantity]
        return out

    def trace(self, ranking: OneList, params: Params, k: Any) -> Trace:
        """Trace a quantity as gains or costs times the probability of reading, or of stopping."""
        if params["bound"] == "lower":
            return self._bound(ranking, params, k, 0.0)
        terms = []
        for best, sign in _BOUNDS[params["bound"]]:
            value = self._bound(ranking, params, k, best).value
            text = f"{params['quantity']} if unjudged docs have gain {best:g}"
            terms.append(Term(None, "(all docs)", 0, text, sign * value))
        return Trace(tuple(terms), 1.0, "(nothing)")

    def _bound(self, ranking: OneList, params: Params, k: Any, best: float) -> Trace:
        depth, quantity = params["depth"], params["quantity"]
        end = min(ranking.length, k) if self.cuts_list and k is not None else ranking.length
        docs = self._docs(ranking, params, end)
        gains = [docs[rank][2] if rank in docs else best for rank in range(1, depth + 1)]
        costs = [*ranking.costs[:end], *[1.0] * depth][:depth]
        reading, stopping = self._reading(gains, costs, params, k)
        read, below = sum(reading), list(accumulate(reversed(stopping)))[::-1]
        shares, what = (reading, "P(reading)") if quantity in ("EU", "EC") else (below, "P(L)")
        divisor = (read, "docs read") if quantity in ("EU", "EC") else (1.0, "(nothing)")
        if quantity in ("EC", "ETC", "ED"):
            spent = sum(map(mul, costs, shares))
            text = f"{what} x cost, of ranks 1 to {len(reading)}"
            term = Term(None, "(docs read)", 0, text, read if quantity == "ED" else spent)
            return Trace((term,), *divisor)
        terms = [
            Term(rank, doc, grade, f"gain {gain:g} x {what} {share:g}", gain * share)
            for rank, (doc, grade, gain) in sorted(docs.items())
            if rank <= len(shares) and (share := shares[rank - 1]) * gain > 0
        ]
        remaining = sum(share for rank, share in enumerate(shares, 1) if rank not in docs)
        return Trace((*terms, Term(None, "(unjudged docs)", 0, what, best * remaining)), *divisor)

    def _docs(
        self, ranking: OneList, params: Params, end: int
    ) -> dict[int, tuple[str, float, float]]:
        """Map the rank of each judged doc down to `end` to its name, grade and gain."""
        least, most = _scale(ranking.highest_grade, self.name, params)
        return {
            rank: (doc, grade, (min(max(grade, least), most) - least) / (most - least))
            for rank, doc, grade in ranking.within(end)
            if ranking.counts_as_judged(grade)
        }

    def _reading(
        self, gains: Sequence[float], costs: Sequence[float], params: Params, k: Any
    ) -> tuple[list[float], list[float]]:
        """Return the probabilities of reading each rank, and of stopping there."""
        reading, stopping, probability = list[float](), list[float](), 1.0
        shares = [gain / rank for rank, gain in enumerate(gains, 1)]
        place = Place(gains, [*accumulate(reversed(shares), initial=0.0)][::-1])
        for gain, cost in zip(gains, costs, strict=True):
            place.read(gain, cost)
            reads_on = self.reads_on(place, params, k)
            reading.append(probability)
            stopping.append(probability * (1 - reads_on))
            probability *= reads_on
            if probability == 0:
                break
        return reading, stopping


def _scale(highest: float, measure: str, params: Params) -> tuple[float, float]:
    """Return the grades of gain 0 and 1; those between have their share of the way."""
    least, most = params["min_rel"], params["max_rel"]
    most = highest if most is None else most
    if least >= most:
        default = " (the highest grade of the track)" if params["max_rel"] is None else ""
        raise MeasureError(f"{measure}: min_rel={least:g} is not below max_rel={most:g}{default}.")
    return least, most


_BOUNDS = {"lower": ((0.0, 1),), "upper": ((1.0, 1),), "residual": ((1.0, 1), (0.0, -1))}
"""The gain of unjudged docs, and the sign, of each part of a bound."""


def _inst(place: Place, target: float) -> float:
    wanted = place.rank + 2 * target - place.total
    return ((wanted - 1) / wanted) ** 2


def _insq(place: Place, target: float) -> float:
    return ((place.rank + 2 * target - 1) / (place.rank + 2 * target)) ** 2


def _player(place: Place, params: Params, k: int) -> float:
    goal, patience = params["T"], float(k)
    if params["limits"] == "moving":
        goal = place.moved(goal, params["hb"], params["gain_med"])
        patience = place.moved(patience, params["hc"], params["gain_med"])
    return float(place.total < goal and place.spent < patience)


def _known(place: Place, params: Params, k: int | None) -> float:
    if params["model"] == "AP":
        below, at_or_below = place.precisions[place.rank], place.precisions[place.rank - 1]
        return below / at_or_below if below > 0 else 0.0
    stops = {"P": place.rank >= params["K"], "RR": place.gain > 0}
    return params["p"] if params["model"] == "RBP" else float(not stops[params["model"]])


def _check_known(params: Params, cutoff: Cutoff) -> None:
    for parameter, model in ((_KNOWN[1], "RBP"), (_KNOWN[2], "P")):
        if params[parameter.name] != parameter.default and params["model"] != model:
            raise MeasureError(f"CWL: {parameter.name} is for model={model}.")


def _check_player(params: Params, cutoff: Cutoff) -> None:
    moving = [p for p in _PLAYER if p.name in ("hb", "hc", "gain_med")]
    if params["limits"] == "fixed" and any(params[p.name] != p.default for p in moving):
        raise MeasureError(f"BPM: {', '.join(p.name for p in moving)} need limits=moving.")


_KNOWN = (
    Parameter(
        "model",
        "RBP",
        "who reads on: down to rank K (P), with probability p (RBP), until a doc has a gain (RR), "
        "or by the precision still to come (AP)",
        kind="choice",
        choices=("P", "RBP", "RR", "AP"),
    ),
    Parameter("p", 0.8, "persistence of RBP", kind="number", low=0, high=1, open=True),
    Parameter("K", 10, "number of docs of P"),
)
_PLAYER = (
    _T,
    Parameter(
        "limits",
        "fixed",
        "wanted gain T and patience k are fixed, or moving: T rises by hb, and k by hc, times gain "
        "minus gain_med of each doc",
        kind="choice",
        choices=("fixed", "moving"),
    ),
    Parameter("hb", 1.0, "factor of the change of T", kind="number", low=0),
    Parameter("hc", 1.0, "factor of the change of k", kind="number", low=0),
    Parameter("gain_med", 0.5, "gain that moves nothing", kind="number", low=0, high=1),
)
_P = Parameter("p", 0.9, "persistence", kind="number", low=0, high=1, open=True)


def _measure(
    name: str,
    summary: str,
    source: str,
    formula: str,
    model: Callable[[Params], int],
    numbers: Callable[[Params, Any], Sequence[float]],
    reads_on: Callable[[Place, Params, Any], float],
    *,
    of_docs: bool = False,
    **further: Any,
) -> Measure:
    """Return the measure of a model whose C(i) is `formula`: see `UserModel`.

    `of_docs`: the cutoff is required, and a number of docs of the model.
    """
    user = UserModel(
        name=name, number=model, numbers=numbers, reads_on=reads_on, cuts_list=not of_docs
    )

    def compute(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
        return user.compute(view, params, ks)

    compute.__doc__ = f"{_DEFINITION}\n\n{formula}\n"
    return Measure(
        name=name,
        summary=summary,
        compute=compute,
        trace=user.trace,
        source=source,
        parameters=(*further.pop("parameters", ()), *_SHARED),  # those of the model come first
        cutoff="required" if of_docs else "optional",
        family="utility",
        bounds=(-math.inf, math.inf),
        empty_list="the quantity of a list without docs: 0 of EU and ETU",
        unjudged=("condensed",),
        needs=user.needs,
        monotone=not of_docs,
        **further,
    )


_DEFINITION = """Compute an expected quantity of a user who reads on after rank i with C(i).

With V(i), the probability of reading rank i, and W(i), V(i) over the sum of V: EU sums W(i) times
the gain, EC W(i) times the cost, and ED is the sum of V. ETU and ETC sum the probability of
stopping at rank i times the gain and the cost of the first i docs. The gain of grade g is
(g - min_rel) / (max_rel - min_rel), from 0 to 1. Nobody reads beyond rank `depth`.

EC, ETC and ED say how much the user reads, not how good the list is; comparisons of systems still
count greater values as better."""
_ANY = "Nearly ERR: Azzopardi et al. 2021, doi:10.1145/3471158.3472239, Eq. {}"

MEASURES = (
    _measure(
        "INST",
        "expected utility of a user who wants T relevant docs, and adapts to what is found",
        "Moffat et al. 2017, doi:10.1145/3052768",
        "C(i) = ((i + T + T(i) - 1) / (i + T + T(i)))^2, T(i) = T minus the gain of the first i.",
        lambda params: kernels.INST,
        lambda params, k: (params["T"],),
        lambda place, params, k: _inst(place, params["T"]),
        parameters=(_T,),
    ),
    _measure(
        "INSQ",
        "expected utility of a user who wants T relevant docs",
        "Moffat et al. 2012, doi:10.1145/2407085.2407092",
        "C(i) = ((i + 2T - 1) / (i + 2T))^2.",
        lambda params: kernels.INSQ,
        lambda params, k: (params["T"],),
        lambda place, params, k: _insq(place, params["T"]),
        parameters=(_T,),
    ),
    _measure(
        "SDCG",
        "scaled DCG: DCG@k over the sum of its discounts",
        "Jarvelin and Kekalainen 2002, doi:10.1145/582415.582418, as in cwl_eval 1.0.12",
        "C(i) = log2(i + 1) / log2(i + 2) for i < k, then 0.",
        lambda params: kernels.SDCG,
        lambda params, k: (k,),
        lambda place, params, k: (
            math.log2(place.rank + 1) / math.log2(place.rank + 2) if place.rank < k else 0.0
        ),
        of_docs=True,
    ),
    _measure(
        "BPM",
        "expected utility of a Bejeweled player, who stops at gain T or after k docs",
        "Zhang et al. 2017, doi:10.1145/3077136.3080841",
        "C(i) = 1 while the gain of the first i docs is below T and their cost below k, then 0.",
        lambda p: kernels.DYNAMIC_BPM if p["limits"] == "moving" else kernels.STATIC_BPM,
        lambda p, k: (k, p["T"], p["hb"], p["hc"], p["gain_med"]),
        _player,
        parameters=_PLAYER,
        of_docs=True,
        check=_check_player,
    ),
    _measure(
        "NERR8",
        "nearly ERR: expected utility of a user who stops by gain, after k docs at last",
        _ANY.format(8),
        "C(i) = 1 - gain for i < k, then 0.",
        lambda params: kernels.NERR8,
        lambda params, k: (k,),
        lambda place, params, k: 1 - place.gain if place.rank < k else 0.0,
        of_docs=True,
    ),
    _measure(
        "NERR9",
        "nearly ERR: expected utility of a user who stops by gain and rank, after k docs at last",
        _ANY.format(9),
        "C(i) = (1 - gain) i / (i + 1) for i < k, then 0.",
        lambda params: kernels.NERR9,
        lambda params, k: (k,),
        lambda place, params, k: (
            place.rank / (place.rank + 1) * (1 - place.gain) if place.rank < k else 0.0
        ),
        of_docs=True,
    ),
    _measure(
        "NERR10",
        "nearly ERR: expected utility of a user who stops by gain, with the persistence of RBP",
        _ANY.format(10),
        "C(i) = (1 - gain) p.",
        lambda params: kernels.NERR10,
        lambda params, k: (params["p"],),
        lambda place, params, k: params["p"] * (1 - place.gain),
        parameters=(_P,),
    ),
    _measure(
        "NERR11",
        "nearly ERR: expected utility of a user who stops by gain, and wants T relevant docs",
        _ANY.format(11),
        "C(i) = (1 - gain) ((i + 2T - 1) / (i + 2T))^2.",
        lambda params: kernels.NERR11,
        lambda params, k: (params["T"],),
        lambda place, params, k: _insq(place, params["T"]) * (1 - place.gain),
        parameters=(_T,),
    ),
    _measure(
        "CWL",
        "expected utility of P, RBP, RR or AP as models of users",
        "Moffat et al. 2013, doi:10.1145/2505515.2507665; cwl_eval 1.0.12",
        "C(i) of P is 1 for i < K, then 0; of RBP p; of RR 1 above the first doc with a gain, "
        "then 0; of AP the sum of gain / rank over the docs below rank i, over that from rank i "
        "on. The EU of AP divides by the relevant docs of the list.",
        lambda params: _KERNELS[params["model"]],
        lambda params, k: (params["p"] if params["model"] == "RBP" else params["K"],),
        _known,
        parameters=_KNOWN,
        check=_check_known,
    ),
)
_KERNELS = {"P": kernels.PRECISION, "RBP": kernels.RBP, "RR": kernels.RR, "AP": kernels.AP}
