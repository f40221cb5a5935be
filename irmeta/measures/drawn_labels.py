"""Means of measures under drawn grades of unjudged docs, and under permuted labels of a judge."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, Literal, get_args

import numpy as np
import polars as pl

from irmeta.errors import UsageError, check_choice, check_whole
from irmeta.kernels.drawn_labels import drawn_precision_sums
from irmeta.measures.cumulated_gain import least_gained
from irmeta.measures.evaluate import evaluate_block, rank_cutoff, with_rel
from irmeta.measures.names import Spec, parse_measure, parse_measures
from irmeta.measures.rbp import powers
from irmeta.measures.sums import GAINS, discounts, gains, highest_grade
from irmeta.policies import EvalPolicy
from irmeta.progress import Progress, reported, shows_progress
from irmeta.rankings.derive.relabel import relabelled
from irmeta.rankings.derive.sample import Source, draw_grades, random_number, seed_of, unjudged_in
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.load import over_blocks
from irmeta.rankings.track import Track
from irmeta.rankings.view import needs_of
from irmeta.results.averages import PermutedMeans
from irmeta.results.scores import Scores

LEVELS = (2.5, 97.5)
"""Percentiles of the draws: their spread, no confidence interval."""


@dataclass(frozen=True)
class Drawing:
    """Draws of the grades of unjudged docs, from those of judged docs: see `draw_grades`."""

    source: Source = "query"
    draws: int = 200
    seed: int = 0


def check_drawable(specs: Sequence[Spec], policy: EvalPolicy) -> None:
    """Reject measures that treat unjudged docs in another way, or read more than a list."""
    for spec in specs:
        if spec.unjudged != "nonrelevant":
            raise UsageError(f"{spec.name} has its own treatment of unjudged docs: leave it out.")
        needs = sorted(set(spec.needs) - ({"costs"} if policy.costs is None else set()))
        if needs:
            raise UsageError(
                f"{spec.name} reads {needs[0]}, which docs with drawn grades do not have: ask for "
                "measures of ranks and grades."
            )


def treated(spec: Spec, treatment: str) -> Spec | None:
    """Return the measure with another treatment of unjudged docs; None if it has no such."""
    choices = [p.choices for p in spec.measure.all_parameters if p.name == "unjudged"]
    if not choices or treatment not in choices[0]:
        return None
    parts = re.fullmatch(r"([^(@]+)(?:\((.*)\))?(@.*)?", spec.name)
    assert parts is not None
    word, inside, cutoff = parts.groups(default="")
    return parse_measure(f"{word}({inside}{',' * bool(inside)}unjudged={treatment}){cutoff}")


def drawn_means(
    track: Track,
    specs: Sequence[Spec],
    drawing: Drawing,
    workers: int | None = 1,
) -> pl.DataFrame:
    """Compute the rows of `Store.pools.drawn`: means with drawn grades, and others."""
    check_drawable(specs, track.policy)
    others = {how: [treated(spec, how) for spec in specs] for how in ("condensed", "upper")}
    more = [spec for of_how in others.values() for spec in of_how if spec is not None]
    compute = partial(_draw_block, list(specs), more, track.policy, drawing)
    blocks = list(over_blocks(compute, track, needs_of(specs), workers=workers))
    scores = Scores.concat([block.scores for block in blocks])
    means = dict(zip(scores.measures, scores.mean_values(), strict=True))
    plain = _first(scores, len(specs))
    drawn = np.concatenate([block.drawn for block in blocks], axis=2)
    by_draw = np.stack([replace(plain, values=values).mean_values() for values in drawn])
    holes = np.concatenate([block.holes for block in blocks], axis=1).mean(axis=1)
    # Each system's draws are added in one order, whatever systems stand beside it.
    mean_drawn = np.ascontiguousarray(np.moveaxis(by_draw, 0, -1)).mean(axis=-1)
    low, high = np.percentile(by_draw, LEVELS, axis=0)
    unknown = np.full(len(scores.systems), np.nan)
    by_measure = []
    for m, spec in enumerate(specs):
        treatments = {
            how: means[other_spec.name] if (other_spec := of_how[m]) is not None else unknown
            for how, of_how in others.items()
        }
        value, upper = means[spec.name], treatments["upper"]
        of_draws = {"drawn": mean_drawn[m], "drawn_low": low[m], "drawn_high": high[m]}
        columns = {"value": value, **treatments, "residual": upper - value, **of_draws}
        by_measure.append({**columns, "unjudged": holes[m]})
    rows = [
        {"track": track.name, "system": system, "measure": spec.name}
        | {name: float(values[i]) for name, values in columns.items()}
        for i, system in enumerate(scores.systems)
        for spec, columns in zip(specs, by_measure, strict=True)
    ]
    return pl.DataFrame(rows)


def _first(scores: Scores, measures: int) -> Scores:
    """Return the scores of the first of the measures."""
    return replace(
        scores,
        measures=scores.measures[:measures],
        values=scores.values[:measures],
        included=scores.included[:measures],
    )


@dataclass(frozen=True)
class _Block:
    """Values of some queries.

    `drawn`: float64 [draw, measure, query, system]. `holes`: int64 [measure, query, system]: number
    of docs with a drawn grade.
    """

    scores: Scores
    drawn: np.ndarray
    holes: np.ndarray


def _draw_block(
    specs: list[Spec], more: list[Spec], policy: EvalPolicy, drawing: Drawing, view: JudgedRanks
) -> _Block:
    """Compute the values of a block, and those with drawn grades of `specs` alone."""
    scores = evaluate_block(view, [*specs, *more], policy)
    values = scores.values[: len(specs)]
    drawn = np.repeat(values[None], drawing.draws, axis=0)
    holes = np.zeros(values.shape, np.int64)
    by_cutoff = dict[int | None, list[int]]()
    for m, spec in enumerate(specs):
        by_cutoff.setdefault(rank_cutoff(spec), []).append(m)
    for s, system in enumerate(view.systems):
        for q, query in enumerate(view.queries):
            seed = random_number(drawing.seed, system, query)
            for cutoff, places in by_cutoff.items():
                deepest = cutoff or view.facts.deepest_rank
                holes[places, q, s] = number = len(unjudged_in(view, q, s, deepest))
                if not number:
                    continue
                chosen, first = [specs[m] for m in places], 0
                how: Any = {"source": drawing.source, "draws": drawing.draws}
                how["rng"] = np.random.default_rng(seed)
                for filled in draw_grades(view, q, s, deepest, **how):
                    drawn_values = evaluate_block(filled, chosen, policy).values[:, :, 0].T
                    drawn[first : first + len(drawn_values), places, q, s] = drawn_values
                    first += len(drawn_values)
    return _Block(scores, drawn, holes)


Within = Literal["query", "track"]
Views = JudgedRanks | Sequence[JudgedRanks]

_GAINS = (*GAINS, None)
FIXED = -1
"""Stratum of a doc whose label is not permuted: the reference has none, or the judge has none."""
_BOTH = ["query", "doc"]


@shows_progress("Permuting labels")
def permuted_means(
    reference: Views,
    judges: Mapping[str, Views],
    measures: str | Sequence[str],
    *,
    within: Within = "query",
    draws: int = 2_000,
    rng: int | np.random.Generator = 0,
    progress: Progress = None,
) -> list[PermutedMeans]:
    """Average measures by the labels of judges, and by permutations of them.

    The labels of a judge are permuted among the docs of a query that have one grade by the
    reference: as a judge with the same errors would label that cannot see systems. Labels of docs
    that only the judge labelled are not permuted, and docs that it did not label have no label in
    any permutation. Means are over the queries with labels by both; an undefined value counts 0.

    Parameters
    ----------
    reference : JudgedRanks or sequence of JudgedRanks
        The track by the labels of the reference, see `Store.views`.
    judges : mapping of str to JudgedRanks or sequence of JudgedRanks
        The track by the labels of each judge.
    measures : str or sequence of str
        Measures, e.g. ``"AP,nDCG@10"``; ``rel`` is that of the judge's qrels set, unless stated. P,
        R, AP, RBP, DCG and nDCG take seconds for each judge, others minutes.
    within : {'query', 'track'}, default 'query'
        ``query`` permutes labels within queries and keeps the confusion matrix of each, so that a
        judge may be lenient on some queries; ``track`` permutes over queries and keeps the pooled
        matrix.
    draws : int, default 2,000
        Permutations of the labels of each judge.
    rng : int or Generator, default 0
        Random seed.
    progress : bool or callable, optional
        See `irmeta.read`.

    Returns
    -------
    list of PermutedMeans
        One for each judge and measure, which `irmeta.stats.judge_bias` tests.

    Raises
    ------
    UsageError
        If `within` is unknown, systems of the views differ, or a measure judges by subtopic.

    Examples
    --------
    >>> view = next(store.views("news"))
    >>> (found,) = irmeta.permuted_means(view, {"same": view}, "AP", draws=10)
    >>> found.values.shape, bool((found.values == found.values[0]).all())
    ((11, 20), True)
    """
    check_choice("within", within, get_args(Within))
    check_whole("draws", draws)
    reference_blocks, seed, permuted = _blocks(reference), seed_of(rng), list[PermutedMeans]()
    for judge, views in reported(judges.items(), len(judges), "judges"):
        blocks = _blocks(views)
        facts = blocks[0].facts
        if list(blocks[0].systems) != list(reference_blocks[0].systems):
            raise UsageError(f"{judge} has other systems than the reference.")
        labels = PermutedLabels.of(reference_blocks, blocks, within == "query")
        specs = _specs(measures, facts.rel)
        generator = np.random.default_rng(random_number(seed, judge))
        means, queries = labels.means([*specs.values()], draws, generator)
        unjudged = 1.0 - labels.judged()
        permuted += [
            PermutedMeans(
                facts.track, judge, name, facts.systems, spec.measure.direction, queries, values,
                unjudged,
            )
            for (name, spec), values in zip(specs.items(), means, strict=True)
        ]  # fmt: skip
    return permuted


def _blocks(views: Views) -> list[JudgedRanks]:
    return [views] if isinstance(views, JudgedRanks) else list(views)


def _specs(measures: str | Sequence[str], rel: float) -> dict[str, Spec]:
    """Return measures by their names, with the least relevant grade of a judge."""
    specs = [spec for parsed in parse_measures(measures) for spec in with_rel(parsed, rel)]
    for spec in specs:
        if "subtopics" in spec.needs:
            raise UsageError(f"{spec.name} judges by subtopic, whose labels are not permuted.")
    return {name: spec for spec in specs for name in spec.names}


@dataclass(frozen=True)
class PermutedLabels:
    """The labels of a judge, and the docs that may exchange theirs.

    `views`: the blocks of the judge's labels. `labels`: uint8, or uint16 for more than 256 levels,
    [rows of all blocks]: the number of each doc's grade among `levels`. `levels`: float64,
    ascending: the grades of the judge. `strata`: int64 [rows of all blocks]: docs of one stratum
    exchange labels; `FIXED`: the label stays. `by_query`: whether docs of different queries are in
    different strata.
    """

    views: Sequence[JudgedRanks]
    labels: np.ndarray
    levels: np.ndarray
    strata: np.ndarray
    by_query: bool

    @classmethod
    def of(
        cls, reference: Sequence[JudgedRanks], judge: Sequence[JudgedRanks], by_query: bool = True
    ) -> PermutedLabels:
        """Let docs exchange the judge's labels if they have one query and reference grade.

        `reference`, `judge`: the blocks of a track by both sets of labels. `by_query`: False: docs
        of one reference grade exchange labels whatever their queries.
        """
        reference_labels = pl.concat([_labels(view) for view in reference]).filter("judged")
        rows = pl.concat([_labels(view) for view in judge])
        both = rows.join(
            reference_labels, on=_BOTH, how="left", maintain_order="left", suffix="_reference"
        )
        can_move = both["judged"] & both["grade_reference"].is_not_null()
        keys = both.select(["query", "grade_reference"] if by_query else ["grade_reference"])
        number = keys.to_struct("key").rank("dense").cast(pl.Int64).to_numpy()
        levels, labels = np.unique(rows["grade"].to_numpy(), return_inverse=True)
        strata = np.where(can_move.to_numpy(), number, FIXED)
        # Decimal grades may have more levels than a byte has values.
        labels = labels.astype(np.min_scalar_type(max(len(levels) - 1, 0)))
        return cls(judge, labels, levels, strata, by_query)

    @property
    def offsets(self) -> np.ndarray:
        """The rows of each query of all blocks: int64 [queries + 1]."""
        sizes = np.concatenate([np.diff(view.offsets) for view in self.views])
        return np.concatenate([[0], np.cumsum(sizes)])

    @property
    def is_common(self) -> np.ndarray:
        """Whether a query has a label by the reference and by the judge: bool [queries]."""
        return np.array([(self.strata[a:b] != FIXED).any() for a, b in pairwise(self.offsets)])

    def permuted(self, rows: slice, draws: int, rng: np.random.Generator) -> np.ndarray:
        """Return the labels of some rows as they are, then permuted: uint8 [rows, 1 + draws]."""
        labels, strata = self.labels[rows], self.strata[rows]
        out = np.repeat(labels[:, None], 1 + draws, axis=1)
        order = np.argsort(strata, kind="stable")
        bounds = np.flatnonzero(np.diff(strata[order], prepend=FIXED - 1, append=FIXED - 1))
        for start, stop in pairwise(bounds.tolist()):
            docs = order[start:stop]
            if strata[docs[0]] != FIXED and np.ptp(labels[docs]) > 0:
                tiled = np.tile(labels[docs], (draws, 1))
                out[docs, 1:] = rng.permuted(tiled, axis=1, out=tiled).T
        return out

    def means(
        self, specs: Sequence[Spec], draws: int, rng: np.random.Generator
    ) -> tuple[np.ndarray, int]:
        """Average measures over the queries that both judged, under permuted labels.

        Undefined values count 0. Returns means float64 [measures, 1 + draws, systems]: first by the
        labels of the judge. queries Number of these queries.
        """
        systems = len(self.views[0].systems)
        sums = np.zeros((len(specs), 1 + draws, systems))
        most = int(np.diff(self.offsets).max(initial=0))
        forms = [DocSum.of(spec, self.views[0], self.levels, most) for spec in specs]
        others = [spec for spec, form in zip(specs, forms, strict=True) if form is None]
        common = self.is_common
        all_labels = np.empty((0, 0), np.uint8)
        if not self.by_query or others:
            all_labels = np.concatenate([*self._each(draws, rng)])
        each = self._each(draws, rng)
        if len(all_labels):
            each = iter(np.split(all_labels, self.offsets[1:-1]))
        by_query = zip(self._ranks(), each, strict=True)
        for q, (ranks, labels) in enumerate(reported(by_query, len(common), "queries")):
            for out, form in zip(sums, forms, strict=True):
                if form is not None and common[q]:
                    out += form.values(ranks, labels, self.by_query).T
        if others:
            places = [i for i, form in enumerate(forms) if form is None]
            sums[places] = self._others(others, all_labels, common)
        number = int(common.sum())
        return sums / max(number, 1), number

    def judged(self) -> np.ndarray:
        """Return the mean share of judged docs in the first ten ranks, by system."""
        shares = [
            evaluate_block(view, parse_measures("Judged@10"), EvalPolicy()).values[0]
            for view in self.views
        ]
        common = self.is_common
        return np.concatenate(shares)[common].sum(axis=0) / max(int(common.sum()), 1)

    def _each(self, draws: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """Yield the labels of each query; of all queries at once if they exchange labels."""
        bounds = self.offsets if self.by_query else self.offsets[[0, -1]]
        for start, stop in pairwise(bounds.tolist()):
            yield self.permuted(slice(start, stop), draws, rng)

    def _ranks(self) -> Iterator[np.ndarray]:
        """Yield the ranks of each query, 0 for a doc that is not retrieved."""
        for view in self.views:
            for start, stop in pairwise(view.offsets.tolist()):
                ranks = view.ranks[start:stop]
                yield np.where(ranks == view.missing, 0, ranks)

    def _others(self, specs: Sequence[Spec], whole: np.ndarray, common: np.ndarray) -> np.ndarray:
        """Sum measures that are no sums over docs, one draw after another."""
        sums = np.zeros((len(specs), whole.shape[1], len(self.views[0].systems)))
        rows = np.cumsum([0, *(len(view.grades) for view in self.views)])
        queries = np.cumsum([0, *(len(view.queries) for view in self.views)])
        for v, view in enumerate(self.views):
            is_common = common[queries[v] : queries[v + 1]]
            for d in reported(range(whole.shape[1]), whole.shape[1], "draws"):
                grades = self.levels[whole[rows[v] : rows[v + 1], d]]
                values = evaluate_block(relabelled(view, grades), specs, EvalPolicy()).values
                sums[:, d] += np.nan_to_num(values[:, is_common]).sum(axis=1)
        return sums


def _labels(view: JudgedRanks) -> pl.DataFrame:
    """Return query, doc, grade of each row, and whether it counts as judged."""
    queries = pl.Series(view.queries, dtype=pl.String)
    return pl.DataFrame(
        {
            "query": queries.gather(view.query_of(np.arange(len(view.grades)))),
            "doc": view.docs,
            "grade": view.grades.astype(np.float64),
            "judged": view.is_judged,
        }
    )


def is_doc_sum(spec: Spec) -> bool:
    """Check whether a measure is a sum over docs, of which many draws take little time."""
    params, name = spec.settings, spec.measure.name
    plain = ("ties", "order"), ("norm", "all"), ("ideal", "all"), ("unjudged", "nonrelevant")
    differs = [key for key, default in plain if params.get(key, default) != default]
    can_differ = ["norm"] if name == "AP" and params["norm"] == "min" else []
    return name in _WEIGHTS and differs in ([], can_differ) and params.get("gain") in _GAINS


@dataclass(frozen=True)
class DocSum:
    """A measure that is a sum over docs of gain times weight, or of precisions, over a divisor.

    `weights`: float64 by rank: weight of a doc; 0 at rank 0 (not retrieved) and beyond the cutoff.
    `gains`: float64 by label. `divisor`: ``one``; ``relevant``: docs with a gain; ``least``: these
    or the cutoff, whichever is less; ``ideal``: the sum of the ideal list. `is_precision`: whether
    the precision at a doc takes the place of its weight.
    """

    weights: np.ndarray
    gains: np.ndarray
    cutoff: int
    divisor: str
    is_precision: bool = False

    @classmethod
    def of(cls, spec: Spec, view: JudgedRanks, levels: np.ndarray, docs: int) -> DocSum | None:
        """Return the sum that a measure is; None if it is none. No query has more than `docs`."""
        if not is_doc_sum(spec):
            return None
        params, name = spec.settings, spec.measure.name
        kind, is_min = params.get("gain", "binary"), params.get("norm") == "min"
        last = max(view.facts.deepest_rank, docs)
        cutoff, (weight, divisor) = int(spec.cutoff or last), _WEIGHTS[name]
        weights = weight(spec, last)
        weights[0] = weights[cutoff + 1 :] = 0.0
        highest = highest_grade(view.facts.highest_grade, kind, params.get("gmax"))
        least = least_gained(params) if name in ("DCG", "nDCG") else 0
        by_label = gains(levels, kind, params.get("rel", 1), highest, least)
        return cls(weights, by_label, cutoff, "least" if is_min else divisor, name == "AP")

    def values(self, ranks: np.ndarray, labels: np.ndarray, same_counts: bool) -> np.ndarray:
        """Compute the values on one query: float64 [system, draw].

        `ranks`: [docs, systems], 0 for a doc that is not retrieved. `labels`: uint8 [docs, draws].
        `same_counts`: whether every draw has the same number of docs of each label.
        """
        some = labels[:, :1] if same_counts else labels
        divisor = self.divided_by(self.gains[some])
        weights = self.weights[ranks]
        used = weights.any(axis=1)
        if self.is_precision:
            summed = self._precisions(ranks[used], (self.gains > 0)[labels[used]].view(np.uint8))
        else:
            summed = weights[used].T @ self.gains[labels[used]]
        return summed / np.where(divisor > 0, divisor, np.inf)

    def _precisions(self, ranks: np.ndarray, relevant: np.ndarray) -> np.ndarray:
        deep = ranks.astype(np.int64)  # numpy 2.5 refuses a number beyond the ranks' type
        deep[(ranks == 0) | (ranks > self.cutoff)] = np.iinfo(np.int64).max
        last = (ranks > 0).sum(axis=0, where=ranks <= self.cutoff)
        out = np.zeros((ranks.shape[1], relevant.shape[1]))
        order = np.argsort(deep, axis=0)
        drawn_precision_sums(order, ranks, last, relevant, np.empty(relevant.shape[1]), out)
        return out

    def divided_by(self, gain: np.ndarray) -> np.ndarray:
        """Return the divisor of each draw of gains [docs, draws]: float64 [draws] or [1]."""
        if self.divisor == "one":
            return np.ones(1)
        if self.divisor == "ideal":
            best = -np.sort(-gain, axis=0)[: self.cutoff]
            return (best * self.weights[1 : len(best) + 1, None]).sum(axis=0)
        relevant = (gain > 0).sum(axis=0)
        return np.minimum(relevant, self.cutoff if self.divisor == "least" else np.inf)


def _discount_weights(spec: Spec, deepest: int) -> np.ndarray:
    return 1.0 / discounts(deepest, spec.settings["discount"], spec.settings["b"])


def _rbp_weights(spec: Spec, deepest: int) -> np.ndarray:
    p = spec.settings["p"]
    return np.concatenate([[0.0], (1.0 - p) * powers(p, deepest - 1)])


def _equal_weights(spec: Spec, deepest: int) -> np.ndarray:
    over = (spec.cutoff or 1) if spec.measure.name == "P" else 1
    return np.full(deepest + 1, 1.0 / over)


_WEIGHTS: dict[str, tuple[Callable[[Spec, int], np.ndarray], str]] = {
    "P": (_equal_weights, "one"),
    "R": (_equal_weights, "relevant"),
    "AP": (_equal_weights, "relevant"),
    "RBP": (_rbp_weights, "one"),
    "DCG": (_discount_weights, "one"),
    "nDCG": (_discount_weights, "ideal"),
}
"""Weights by rank of the measures that are sums over docs, and their divisors."""
