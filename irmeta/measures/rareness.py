"""Measures that count docs more if few systems retrieve them: RareP, RareAP, RareDCG, RareRBP.

`RareParts` has means of RareP@k and RareAP@k for any alpha, rarity and systems, in linear form.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from irmeta.errors import MeasureError, UsageError, check_positive, check_whole
from irmeta.kernels.cutoff_sums import add_rarity, precision_weights
from irmeta.measures import rbp
from irmeta.measures.average_precision import AP
from irmeta.measures.cumulated_gain import (
    DCG,
    DISCOUNT,
    GAIN,
    NDCG,
    check_discount,
    check_gmax,
)
from irmeta.measures.precision import P
from irmeta.measures.spec import Cutoff, Cutoffs, Measure, OneList, Params, Term, Trace
from irmeta.measures.sums import (
    Sum,
    Worth,
    discounted,
    divide,
    doc_gains,
    empty_values,
    per_query,
    rank_cuts,
)
from irmeta.naming import GMAX, REL, Parameter
from irmeta.policies import Averaged, Counted, Rarity
from irmeta.rankings.holders import COUNTED, RARITIES, groups_of, holders_within, rarity_of
from irmeta.rankings.judged import JudgedRanks

PAPER = "doi:10.1007/978-3-031-28238-6_16"

RARENESS = (
    Parameter(
        "alpha",
        1.0,
        "weight of rarity; 1/R: one over the relevant docs of the query",
        kind="number",
        low=0,
        choices=("1/R",),
    ),
    Parameter(
        "mix",
        "add",
        "weight of a doc: 1 + alpha x rarity (Eq. 1), or 1 - alpha + alpha x rarity (Eq. 4)",
        kind="choice",
        choices=("add", "convex"),
    ),
    Parameter(
        "rarity",
        None,
        "1 - S_d/S; 1 - (S_d - 1)/(S - 1); log(S/S_d)/log(S); 1 if S_d = 1, else 0; default "
        "linear, under mix=convex revised",
        kind="choice",
        choices=RARITIES,
    ),
    Parameter(
        "counted",
        "systems",
        "what S and S_d count: systems; groups; for each group the systems of others, and itself "
        "once; systems that contributed to the pool",
        kind="choice",
        choices=COUNTED,
    ),
    Parameter("depth", None, "deepest rank at which S_d counts a doc; default the cutoff"),
)
"""Parameters of all measures of rareness."""

Weigh = Callable[[np.ndarray, int], np.ndarray]
"""Function from ranks [docs, systems] and a cutoff to the float64 weights of the docs' rarity."""


def default_rarity(params: Params) -> Any:
    """Return the rarity that a mix takes by default."""
    return "revised" if params["mix"] == "convex" else "linear"


def mixed(view: JudgedRanks, params: Params, plain: np.ndarray, rare: np.ndarray) -> np.ndarray:
    """Combine the values of a measure with those that weigh each doc by its rarity.

    Both are float64 [cutoff, query, system]. For alpha = 0 the result is `plain`, bit for bit.
    """
    alpha: float | np.ndarray = params["alpha"]
    if alpha == "1/R":
        relevant = view.counts(params.get("rel", REL.default))[:, None]
        alpha = np.where(relevant > 0, 1.0 / np.maximum(relevant, 1), 0.0)
    return (1.0 - alpha if params["mix"] == "convex" else 1.0) * plain + alpha * rare


def rarity_sums(
    view: JudgedRanks, params: Params, ks: Cutoffs, rows: np.ndarray, weigh: Weigh
) -> np.ndarray:
    """Sum weight times rarity of the docs of each list: float64 [cutoff, query, system].

    Neither alpha nor the rarity changes the weight of a doc at a cutoff.
    """
    out, offsets = empty_values(view, ks), view.offsets_of(rows)
    ranks, kind = np.ascontiguousarray(view.ranks[rows]), params["rarity"] or default_rarity(params)
    for index, cut in enumerate(rank_cuts(view, ks).tolist()):
        holders = holders_within(view, rows, params["depth"] or cut, params["counted"])
        rarity = np.where(holders.is_retrieved[:, None], holders.rarity(kind), 0.0)
        add_rarity(weigh(ranks, cut), offsets, rarity, holders.column, out[index])
    return out


def weights_in_precisions(
    view: JudgedRanks, rows: np.ndarray, ranks: np.ndarray, cut: int
) -> np.ndarray:
    """Return W(d) of RareAP for the docs `rows` (bool) at `ranks`: float64 [docs, systems]."""
    weights, space = np.zeros(ranks.shape), np.empty(int(view.lengths.max(initial=0)) + 1)
    precision_weights(ranks, view.offsets_of(rows), view.lengths, cut, space, weights)
    return weights


def rare_weight(ranking: OneList, doc: str, params: Params, k: int | None) -> tuple[float, str]:
    """Return the weight of a doc of a list, as a number and as text, for traces."""
    alpha, retrieved_by, total, is_retrieved = _counts(ranking, doc, params, k)
    kind = params["rarity"] or default_rarity(params)
    rarity = float(rarity_of(np.array(retrieved_by), total, kind)) if is_retrieved else 0.0
    base = 1.0 - alpha if params["mix"] == "convex" else 1.0
    text = f"({base:.4g} + {alpha:.4g} x R), R = {rarity:.4g}, S_d = {retrieved_by}, S = {total}"
    return base + alpha * rarity, text


def _counts(
    ranking: OneList, doc: str, params: Params, k: int | None
) -> tuple[float, int, int, bool]:
    """Return alpha, S_d, S, and whether any system retrieves the doc within the depth."""
    depth = params["depth"] or k or math.inf
    held = {
        s for s, rank in enumerate(ranking.all_ranks(doc)) if rank is not None and rank <= depth
    }
    relevant = len(ranking.relevant(params.get("rel", REL.default)))
    alpha = params["alpha"] if params["alpha"] != "1/R" else 1.0 / relevant if relevant else 0.0
    if params["counted"] == "groups":
        return alpha, len({ranking.groups[s] for s in held}), len(set(ranking.groups)), bool(held)
    if params["counted"] == "others":
        its_group = ranking.groups[ranking.system]
        others = {s for s, group in enumerate(ranking.groups) if group != its_group}
        return alpha, len(held & others) + 1, len(others) + 1, bool(held)
    is_pooled = params["counted"] == "pooled"
    counted = {*ranking.contributors} if is_pooled else {*range(len(ranking.groups))}
    return alpha, len(held & counted), len(counted), bool(held)


def _weight_terms(ranking: OneList, params: Params, k: int | None) -> Iterator[Term]:
    """Yield the weights of the relevant docs down to k."""
    for rank, doc, grade in ranking.within(k):
        if grade >= params["rel"]:
            weight, text = rare_weight(ranking, doc, params, k)
            yield Term(rank, doc, grade, text, weight)


def _trace_rare_precision(ranking: OneList, params: Params, k: int) -> Trace:
    """Trace RareP@k as weights over k."""
    return Trace(tuple(_weight_terms(ranking, params, k)), k, "the cutoff k")


def _trace_rare_average_precision(ranking: OneList, params: Params, k: int | None) -> Trace:
    """Trace RareAP as RareP at relevant docs, over the relevant docs."""
    relevant, total, terms = len(ranking.relevant(params["rel"])), 0.0, []
    for term in _weight_terms(ranking, params, k):
        assert term.rank is not None
        before, total = total, total + term.amount
        arithmetic = f"({before:.4g} + w) / {term.rank}, w = {term.arithmetic}"
        terms.append(replace(term, arithmetic=arithmetic, amount=total / term.rank))
    undefined = None if relevant else 0.0
    return Trace(tuple(terms), relevant, "relevant docs of the query", undefined)


def _check_rareness(measure: str, params: Params) -> None:
    if params["mix"] == "convex" and params["alpha"] != "1/R" and params["alpha"] > 1:
        raise MeasureError(
            f"{measure}: alpha={params['alpha']:g} is above 1, the most under mix=convex. Give a "
            "smaller alpha, or omit mix."
        )


def _printed(of: Sequence[Parameter], params: Params, cutoff: Cutoff) -> list[str]:
    """List the parameters that a name prints: alpha, and those that are not the default."""
    return [p.name for p in of if p.name == "alpha" or params[p.name] != p.default]


def _printed_rbp(params: Params, cutoff: Cutoff) -> list[str]:
    return [*_printed(RARENESS, params, cutoff), *rbp.printed_rbp(params, cutoff)]


def _simplify(params: Params, cutoff: Cutoff) -> dict[str, Any]:
    """Set the rarity and the depth to None where they are the default."""
    rarity = None if params["rarity"] == default_rarity(params) else params["rarity"]
    depth = None if params["depth"] == cutoff else params["depth"]
    return {**params, "rarity": rarity, "depth": depth}


RareDocs = Callable[[JudgedRanks, Params], tuple[np.ndarray, Weigh]]
"""Function that returns the docs with a gain, bool [rows], and their weights in a plain measure."""


def _of_gains(gain: np.ndarray, worth: Worth) -> tuple[np.ndarray, Weigh]:
    """Weight docs by the worth of their gains at their ranks."""
    rows = gain > 0
    by_rank, gains = worth(np.ones(1))[0], gain[rows][:, None]
    return rows, lambda ranks, cut: gains * by_rank[np.where(ranks <= cut, ranks, 0)]


def _in_precision(view: JudgedRanks, params: Params) -> tuple[np.ndarray, Weigh]:
    return view.grades >= params["rel"], lambda ranks, cut: (ranks <= cut) * 1.0


def _in_average_precision(view: JudgedRanks, params: Params) -> tuple[np.ndarray, Weigh]:
    rows = view.grades >= params["rel"]
    return rows, partial(weights_in_precisions, view, rows)


def _in_dcg(view: JudgedRanks, params: Params) -> tuple[np.ndarray, Weigh]:
    worth = discounted(view.facts.deepest_rank, params["discount"], params["b"])
    return _of_gains(doc_gains(view, params["gain"], gmax=params.get("gmax")), worth)


def _rare(
    name: str,
    summary: str,
    definition: str,
    plain: Sum,
    docs: RareDocs,
    parameters: tuple[Parameter, ...],
    *checks: Callable[[str, Params], None],
    fixed: Params,
    **fields: Any,
) -> Measure:
    """Return the measure that adds alpha times the rarity of docs to a plain measure.

    `fixed` are parameters of the plain measure that rareness leaves at their defaults.
    """

    def compute(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
        of_plain = {**params, **fixed}
        rare = rarity_sums(view, params, ks, *docs(view, params))
        if plain.scale is not None:
            rare = plain.scale(of_plain) * rare
        if plain.divisor is not None:
            rare = per_query(rare, plain.divisor.of_view(view, of_plain, ks), 0.0)
        return mixed(view, params, plain.compute(view, of_plain, ks), rare)

    def trace(ranking: OneList, params: Params, k: int | None) -> Trace:
        of_plain, terms = plain.trace(ranking, {**params, **fixed}, k), []
        for term in of_plain.terms:
            weight, text = rare_weight(ranking, term.doc, params, k)
            arithmetic, amount = f"{term.arithmetic} x {text}", term.amount * weight
            terms.append(replace(term, arithmetic=arithmetic, amount=amount))
        return replace(of_plain, terms=tuple(terms))

    def check(params: Params, cutoff: Cutoff) -> None:
        for refuse in checks:
            refuse(name, {**params, **fixed})
        _check_rareness(name, params)

    compute.__doc__ = definition
    changeable: dict[str, Any] = {"trace": trace, "printed": partial(_printed, parameters)}
    return Measure(
        name=name,
        summary=summary,
        compute=compute,
        parameters=parameters,
        bounds=(0.0, math.inf),
        monotone=False,
        unjudged=("condensed",),
        simplify=_simplify,
        check=check,
        **changeable | fields,
    )


_BINARY = (*RARENESS, REL)
_PLAIN = {"ties": "order"}
_PLAIN_DCG = {**_PLAIN, "ideal": "all", "rel": 1}

MEASURES = (
    _rare(
        "RareP",
        "precision that weighs relevant docs by rarity",
        """Sum 1 + alpha R(d) over the relevant docs up to k, over k (Eq. 1).

    S is the number of all systems of the track, also of those without a list for the query. S_d is
    how many of them retrieve doc d at a rank up to `depth`. R(d) is 1 - S_d / S (Eq. 2), or another
    `rarity`. R(d) is 0 if S = 1, and for a doc that no system retrieves within `depth`. A doc that
    only systems which are not counted retrieve has R(d) = 1.

    Notes
    -----
    Values are P@k + alpha B, so they are P@k for alpha = 0. They are at most 1 + alpha (S - 1) / S
    by linear rarity (not 2 (S - 1) / S for alpha = 1, as printed), 1 + alpha by the others, and 1
    under ``mix=convex``.

    Under ``mix=convex`` (Eq. 4) a doc weighs 1 - alpha + alpha R(d), by default with the revised
    rarity of Section 5.2. For alpha < 1 that is 1 - alpha times Eq. 1 with linear rarity and a
    weight of alpha / (1 - alpha) x S / (S - 1): both order systems alike. For alpha = 1 it is
    rarity alone.

    The released code also counts S_d within the cutoff, and its alpha ``None`` is 1/R. Its means
    and those of its baselines are of different queries; irmeta averages both by one policy.
    """,
        *(P, _in_precision, _BINARY),
        fixed={},
        trace=_trace_rare_precision,
        source=f"{PAPER}, Eqs. 1, 2 and 4",
        cutoff="required",
        family="utility",
    ),
    _rare(
        "RareAP",
        "average precision that weighs relevant docs by rarity",
        """Sum RareP at the ranks of the relevant docs up to k, over all relevant docs R (Eq. 3).

    RareP at each of these ranks has the same S_d, which counts docs down to `depth`: by default the
    cutoff k, or whole lists without a cutoff.

    Notes
    -----
    Values are AP@k + alpha C, so they are AP@k for alpha = 0. C is the sum of R(d) times W(d) over
    R, where W(d) is the sum of 1 / rank over the relevant docs at or below doc d, down to k. For
    the rarity R(d), the bounds and ``mix=convex`` see RareP.

    The divisor is R at any cutoff, as in AP@k and in the released code; it is never min(R, k).
    """,
        *(AP, _in_average_precision, _BINARY),
        fixed={"norm": "all"},
        trace=_trace_rare_average_precision,
        source=f"{PAPER}, Eq. 3",
    ),
    _rare(
        "RareDCG",
        "discounted cumulated gain that weighs docs by rarity",
        """Sum gain times 1 + alpha R(d), over the discount of the rank.

    The gains and discounts are those of DCG, the rarity R(d) and the other parameters those of
    RareP: it is DCG for alpha = 0.
    """,
        *(DCG, _in_dcg, (*RARENESS, GAIN, GMAX, *DISCOUNT)),
        *(check_gmax, check_discount),
        fixed=_PLAIN_DCG,
        source=f"{PAPER}, Eq. 1, for the gains of doi:10.1145/582415.582418",
        family="utility",
    ),
    _rare(
        "RarenDCG",
        "RareDCG over the DCG of the ideal list, up to 1 + alpha",
        """Compute RareDCG over the DCG of the ideal list, in which rarity does not count.

    Values are therefore up to 1 + alpha, or 1 under ``mix=convex``: it is nDCG for alpha = 0.
    """,
        *(NDCG, _in_dcg, (*RARENESS, GAIN, *DISCOUNT)),
        check_discount,
        fixed=_PLAIN_DCG,
        source=f"{PAPER}, Eq. 1, for the gains of doi:10.1145/582415.582418",
    ),
    _rare(
        "RareRBP",
        "rank-biased precision that weighs docs by rarity, binary by default",
        """Compute (1 - p) times the sum of gain times 1 + alpha R(d), times p^(rank - 1).

    The gains and p are those of RBP, the rarity R(d) and the other parameters those of RareP: it is
    RBP for alpha = 0.
    """,
        rbp.RBP,
        lambda view, params: _of_gains(rbp.gains(view, params), rbp.worth(view, params)),
        (*RARENESS, rbp.PERSISTENCE, REL, rbp.GAIN, GMAX),
        rbp.check_rbp,
        fixed=_PLAIN,
        source=f"{PAPER}, Eq. 1, for the gains of doi:10.1145/1416950.1416952",
        family="utility",
        printed=_printed_rbp,
    ),
)


_BLOCK = 1 << 20  # docs x draws at a time


@dataclass(frozen=True)
class RareParts:
    """Parts of the means of RareP@k and RareAP@k over queries: P + alpha B and AP + alpha C.

    B and C are sums of weight times rarity over docs. The weights depend neither on alpha nor on
    the rarity, so other systems, which change S and S_d alone, need no lists. `systems`: names of
    the systems. `plain`: float64 [2, systems]: means of P@k and AP@k. `weights`: float64 [2, docs,
    systems]: weights of the relevant docs in B and C. `hits`: bool [docs, runs]: whether a run
    retrieves a doc at a rank that S_d counts. The runs are the systems, and after them those of
    `with_runs`. `groups`: int64 [runs]: number of the group of each run. `pooled`: bool [runs]:
    whether a run contributed to the pool.
    """

    systems: Sequence[str]
    plain: np.ndarray
    weights: np.ndarray
    hits: np.ndarray
    groups: np.ndarray
    pooled: np.ndarray

    def with_runs(self, hits: np.ndarray, groups: np.ndarray) -> RareParts:
        """Add runs that are counted in S and S_d, and that are not scored.

        `hits`: bool [docs, runs]: whether a run retrieves a doc. `groups`: int64 [runs]: number of
        the group of each run, see `groups`.
        """
        return replace(
            self,
            hits=np.hstack([self.hits, hits]),
            groups=np.concatenate([self.groups, groups]),
            pooled=np.concatenate([self.pooled, np.ones(len(groups), bool)]),
        )

    def means(
        self,
        members: np.ndarray,
        alpha: float = 1.0,
        rarity: Rarity = "linear",
        counted: Counted = "systems",
    ) -> np.ndarray:
        """Compute the means as if only some runs had taken part, for many choices of runs.

        Parameters
        ----------
        members
            bool [draws, runs]: the runs of each draw; or whole numbers, how often each run took
            part (2: the run and a copy of it).
        alpha
            Weight of rarity.
        rarity
            Kind of rarity, see `irmeta.rankings.holders.Holders`.
        counted
            What S and S_d count, see `irmeta.rankings.holders.holders_within`.

        Returns
        -------
        ndarray of float64, shape (2, draws, systems)
            Means of RareP@k and RareAP@k, to rounding those of the measures on the lists of the
            draw alone; NaN for systems that are not in the draw.

        References
        ----------
        .. [1] Tuerkmen, Lease and Kutlu (2023), Algorithm 1. doi:10.1007/978-3-031-28238-6_16

        Examples
        --------
        >>> parts = rare_parts(store.views("news"), 20)
        >>> first = np.arange(20) < 10
        >>> parts.means(first[None])[0, 0].round(3)[:2].tolist()
        [0.609, 0.84]
        """
        members = np.asarray(members)
        means = self.plain[:, None] + alpha * self.rare_sums(members, rarity, counted)
        return np.where(members[:, : len(self.systems)] > 0, means, np.nan)

    def rare_sums(
        self,
        members: np.ndarray,
        rarity: Rarity = "linear",
        counted: Counted = "systems",
        *,
        all_scored: bool = False,
    ) -> np.ndarray:
        """Compute B and C of all systems, in the draw or not: float64 [2, draws, systems].

        `members`, `rarity`, `counted`: see `means`. `all_scored`: whether systems that are not in a
        draw are scored too: a doc that only they retrieve has rarity 1 instead of 0.
        """
        members = np.asarray(members)
        is_counts = members.dtype == bool or members.dtype.kind in "iu"
        if not is_counts or members.shape[1:] != (self.hits.shape[1],):
            raise UsageError(
                f"members is {members.dtype} {members.shape}, not bool (draws, "
                f"{self.hits.shape[1]} runs)."
            )
        # The sum over docs is faster for few draws, the sum over runs for many.
        is_linear = rarity == "linear" and counted != "groups" and self._is_own_hit
        if is_linear and len(members) > len(self.systems):
            return self._linear_sums(members.astype(np.float64), counted)
        out = np.zeros((len(self.weights), len(members), len(self.systems)))
        by_any = self.hits[:, : len(self.systems)].any(axis=1, keepdims=True)
        step = max(1, _BLOCK // max(1, len(self.hits)))
        for first in range(0, len(members), step):
            chosen = members[first : first + step].astype(np.int64)
            is_retrieved = by_any if all_scored else self._held(chosen) > 0
            for systems, held, total in self._counts(chosen, counted):
                by_draw = np.where(is_retrieved, rarity_of(held, total, rarity), 0.0).T
                out[:, first : first + step, systems] = by_draw @ self.weights[:, :, systems]
        return out

    @cached_property
    def _is_own_hit(self) -> bool:
        """Whether S_d counts every doc of a system that has a weight."""
        return not ((self.weights > 0) & ~self.hits[:, : len(self.systems)]).any()

    @cached_property
    def _weighted_hits(self) -> np.ndarray:
        """Weights of a system's docs that a run retrieves: float64 [2, systems, runs]."""
        return self.weights.transpose(0, 2, 1) @ self.hits.astype(np.float64)

    def _linear_sums(self, members: np.ndarray, counted: Counted) -> np.ndarray:
        """Compute `rare_sums` for 1 - S_d / S, whose sum over docs is a sum over runs."""
        totals = self.weights.sum(axis=1)[:, None]
        if counted == "pooled":
            members = members * self.pooled
        total = np.repeat(members.sum(axis=1)[:, None], len(self.systems), axis=1)
        held = members @ self._weighted_hits.transpose(0, 2, 1)
        if counted == "others":
            groups = self.groups[: len(self.systems)]
            is_same = groups[:, None] == self.groups
            total += 1.0 - members @ is_same.T
            held += totals - members @ (self._weighted_hits * is_same).transpose(0, 2, 1)
        return np.where(total > 0, totals - held / np.maximum(total, 1.0), totals)

    def _held(self, members: np.ndarray, runs: np.ndarray | slice = slice(None)) -> np.ndarray:
        """Count the members among some runs that retrieve each doc: int64 [docs, draws]."""
        # Counts below 2^24 are exact in float32, which halves the time of the product.
        counts = self.hits[:, runs].astype(np.float32) @ members[:, runs].T.astype(np.float32)
        return counts.astype(np.int64)

    def _counts(
        self, members: np.ndarray, counted: Counted
    ) -> Iterator[tuple[np.ndarray | slice, np.ndarray, np.ndarray]]:
        """Yield systems with S_d [docs, draws] and S [draws] as they see them."""
        every = slice(None)
        if counted == "systems":
            yield every, self._held(members), members.sum(axis=1)
        elif counted == "pooled":
            yield every, self._held(members, self.pooled), members[:, self.pooled].sum(axis=1)
        elif counted == "groups":
            held = np.zeros((len(self.hits), len(members)), np.int64)
            total = np.zeros(len(members), np.int64)
            for group in np.unique(self.groups):
                runs = self.groups == group
                held += self._held(members, runs) > 0
                total += members[:, runs].any(axis=1)
            yield every, held, total
        else:
            held, total = self._held(members), members.sum(axis=1)
            groups = self.groups[: len(self.systems)]
            for group in np.unique(groups):
                runs = self.groups == group
                outside = total - members[:, runs].sum(axis=1) + 1
                yield groups == group, held - self._held(members, runs) + 1, outside


def rare_parts(
    views: Iterable[JudgedRanks],
    k: int,
    rel: float = 1,
    depth: int | None = None,
    queries: Averaged = "judged",
) -> RareParts:
    """Return the parts of the means of RareP@k and RareAP@k over the queries of a track.

    `depth` is the deepest rank at which S_d counts a doc; default the cutoff.
    """
    check_whole("k", k)
    rel = check_positive("rel", rel)
    depth = k if depth is None else check_whole("depth", depth)
    if queries == "retrieved":
        raise UsageError(
            "queries=retrieved averages other queries for each system, but the effect of rarity on "
            "means is computed over the same queries. Use queries=judged."
        )
    blocks = list(views)
    if not blocks:
        raise UsageError("there are no queries: give at least one view.")
    params = {"rel": rel, "norm": "all"}
    hits, plain, weights, number = [], [], [], 0
    for view in blocks:
        relevant = view.counts(rel)
        number += len(relevant) if queries == "judged" else int((relevant > 0).sum())
        rows = np.flatnonzero(view.grades >= rel)
        deepest = min(max(k, depth), view.missing - 1)
        rows = rows[(view.ranks[rows] <= deepest).any(axis=1)]  # any other doc adds nothing
        is_chosen = np.zeros(len(view.grades), bool)
        is_chosen[rows] = True
        ranks, cut = np.ascontiguousarray(view.ranks[rows]), min(k, view.missing - 1)
        tails = weights_in_precisions(view, is_chosen, ranks, cut)
        of_measures = P.compute, AP.compute
        hits.append(ranks <= min(depth, view.missing - 1))
        plain.append([f(view, params, [k])[0].sum(axis=0) for f in of_measures])
        of_query = relevant[view.query_of(rows)][:, None]
        weights.append(np.stack([(ranks <= cut) / k, divide(tails, of_query, 0.0)]))
    facts, of_mean = blocks[0].facts, max(number, 1)
    is_pooled = np.zeros(len(facts.systems), bool)
    is_pooled[facts.contributors] = True
    return RareParts(
        systems=blocks[0].systems,
        plain=np.sum(plain, axis=0) / of_mean,
        weights=np.concatenate(weights, axis=1) / of_mean,
        hits=np.concatenate(hits),
        groups=groups_of(facts)[0],
        pooled=is_pooled,
    )
