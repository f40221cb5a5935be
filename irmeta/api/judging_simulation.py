"""Conclusions from the judgments of a smaller budget, simulated from full judgments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import stdtrit

from irmeta.errors import MeasureError, UsageError
from irmeta.measures.evaluate import evaluate_block, reads_gained_only
from irmeta.measures.names import Spec, parse_measure
from irmeta.policies import EvalPolicy
from irmeta.rankings.derive.sample import hash_of, random_numbers
from irmeta.rankings.derive.select import keep_gained, take_rows
from irmeta.rankings.holders import number_names
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.judging_orders import (
    NOT_HELD,
    SAMPLED,
    WITHOUT_CHANCE,
    JudgingPool,
    inclusion_probabilities,
)
from irmeta.rankings.judgments import Sample
from irmeta.rankings.pool import NOT_POOLED
from irmeta.rankings.view import replace_arrays
from irmeta.stats.orders import kendall_tau_b, round_means, tie_groups
from irmeta.stats.paired import paired_differences, significant_signs

ESTIMATED_BY = {"AP": "statAP", "P": "statP", "Rprec": "statRprec"}
"""Measures of a random sample that estimate a measure."""
SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0)
"""Budgets that are tried where none are named, as shares of the docs of the pool."""
GOALS = ("relevant", "tau", "kept")
LEAST_TEAMS = 5
"""Fewest teams for an interval of their mean."""


@dataclass(frozen=True)
class Outcome:
    """What the judgments of a budget tell beside all judgments.

    `judged`: number of docs. `relevant`: share of the relevant docs. `tau`: tau-b of the orders of
    systems by means; NaN where one ties all systems. `kept`: share of the pairs that differ
    significantly by all judgments and do so here in the same direction; NaN: no such pair. `false`:
    share of the pairs that differ significantly here, and by all judgments do not or reversed.
    """

    judged: int
    relevant: float
    tau: float
    kept: float
    false: float


@dataclass(frozen=True)
class Simulation:
    """The full judgments of a track, of which orders of judging see a part.

    `views`: its blocks, with the lists that made the pool. `specs`: a measure and, if there is one,
    the measure that estimates it from a sample. `judge`: a judge's label by query and doc_id.
    """

    views: Sequence[JudgedRanks]
    specs: Sequence[Spec]
    policy: EvalPolicy
    alpha: float = 0.05
    judge: Mapping[tuple[str, int], float] | None = None

    def __post_init__(self) -> None:
        spec = self.specs[0]
        if spec.needs or spec.average != "arithmetic":
            raise MeasureError(
                f"{spec.name}: a budget needs a measure of ranks and grades alone, averaged "
                "arithmetically."
            )

    @cached_property
    def offsets(self) -> np.ndarray:
        """The rows of each block among those of all blocks: int64 [blocks + 1]."""
        return np.cumsum([0, *(len(view.grades) for view in self.views)])

    @cached_property
    def relevant(self) -> np.ndarray:
        """Whether each doc is relevant: bool [rows]."""
        rel = self.views[0].facts.rel
        return np.concatenate([view.grades >= rel for view in self.views])

    @cached_property
    def pooled(self) -> tuple[JudgingPool, np.ndarray]:
        """The pool, and the rows of its docs.

        Its docs are the judged ones that a contributing list holds, up to the depth of the policy.
        """
        facts, most = self.views[0].facts, self.policy.pool_depth or NOT_POOLED
        parts = list[tuple[np.ndarray, ...]]()
        queries, judge, sizes = [], list[float](), list[int]()
        for view, start in zip(self.views, self.offsets[:-1], strict=True):
            lists = np.take(view.require("pooled_lists").ranks, facts.contributors, axis=1)
            ranks = np.where(lists == view.missing, NOT_HELD, lists.astype(np.int64))
            ranks[ranks > most] = NOT_HELD
            rows = np.flatnonzero((ranks < NOT_HELD).any(axis=1) & view.is_judged)
            query = view.query_of(rows)
            of_queries = [view.queries[q] for q in query]
            docs = view.docs.gather(rows)
            hashes = np.array([*map(hash_of, of_queries, docs)], np.uint64)
            parts.append((start + rows, hashes, ranks[rows]))
            queries += view.queries
            sizes += np.bincount(query, minlength=len(view.queries)).tolist()
            if self.judge is not None:
                keys = zip(of_queries, view.doc_ids[rows].tolist(), strict=True)
                judge += [self.judge.get(key, np.nan) for key in keys]
        rows, hashes, ranks = map(np.concatenate, zip(*parts, strict=True))
        systems = [facts.systems[i] for i in facts.contributors]
        labels = self.relevant[rows].astype(np.int8)
        by_judge = None if self.judge is None else np.array(judge)
        offsets = np.cumsum([0, *sizes])
        return JudgingPool(queries, systems, offsets, hashes, ranks, labels, by_judge), rows

    @cached_property
    def _gained(self) -> tuple[list[JudgedRanks], list[np.ndarray]] | None:
        """The blocks with gained docs alone and their rows, where the measure reads no others."""
        plain = all(v.diversity is None and not v.condensed for v in self.views)
        if not (plain and reads_gained_only(self.specs[0])):
            return None
        rows = [np.flatnonzero(view.grades > 0) for view in self.views]
        return [keep_gained(view) for view in self.views], rows

    def values(self, is_judged: np.ndarray, probability: np.ndarray | None = None) -> np.ndarray:
        """Return the values by some judgments, bool [rows]: float64 [query, system].

        With the inclusion probabilities of a sample, float64 [rows], values are estimates.
        """
        spec = self.specs[0 if probability is None else 1]
        views, rows_of = self.views, [np.arange(len(view.grades)) for view in self.views]
        if probability is None and self._gained is not None:
            views, rows_of = self._gained
        blocks = []
        for view, rows, start in zip(views, rows_of, self.offsets[:-1], strict=True):
            taken = np.flatnonzero(is_judged[start + rows])
            smaller = take_rows(view, taken)
            if probability is not None:
                number = len(taken)
                drawn = Sample(np.full(number, -1, np.int32), (), np.ones(number, np.int8),
                               probability[start + rows[taken]])  # fmt: skip
                facts = replace(view.facts, sampled="prels")
                smaller = replace_arrays(smaller, facts=facts, sample=drawn)
            scores = evaluate_block(smaller, [spec], self.policy)
            blocks.append(np.where(scores.included[0], scores.values[0], np.nan))
        return np.concatenate(blocks)

    @cached_property
    def full(self) -> np.ndarray:
        """The values by all judgments: float64 [query, system], NaN where undefined."""
        return self.values(np.concatenate([view.is_judged for view in self.views]))

    def means(self, values: np.ndarray) -> np.ndarray:
        """Return means by fewer judgments, of the values that all judgments define: [system].

        A value that fewer judgments leave undefined, for want of a relevant doc, counts 0.
        """
        counted = ~np.isnan(self.full)
        total = np.where(counted, np.nan_to_num(values), 0.0).sum(axis=0)
        with np.errstate(invalid="ignore"):
            return round_means(total / counted.sum(axis=0))

    def signs(self, values: np.ndarray) -> np.ndarray:
        """Return which system of each pair is significantly greater: int8 [pair].

        By the paired t-test with Holm's correction, on the queries where all systems have a value
        by all judgments.
        """
        complete = ~np.isnan(self.full).any(axis=1)
        return significant_signs(
            paired_differences(np.nan_to_num(values[complete])), self.alpha, True
        )

    @cached_property
    def _full_signs(self) -> np.ndarray:
        return self.signs(self.full)

    def outcome(self, is_judged: np.ndarray, probability: np.ndarray | None = None) -> Outcome:
        """Compare the judgments of some docs, bool [rows], with all judgments."""
        values = self.values(is_judged, probability)
        means = np.array([self.means(self.full), self.means(values)])
        known = ~np.isnan(means[0])
        tau = float(kendall_tau_b(means[:1, known], means[1:, known], True)[0])
        before, after = self._full_signs, self.signs(values)
        alike = int(((before == after) & (before != 0)).sum())
        with np.errstate(invalid="ignore"):
            remain = np.float64(alike) / np.count_nonzero(before)
            false = 1 - np.float64(alike) / np.count_nonzero(after)
        share = np.float64((is_judged & self.relevant).sum()) / max(self.relevant.sum(), 1)
        return Outcome(int(is_judged.sum()), float(share), tau, float(remain), float(false))

    def budgets(self, asked: Sequence[int]) -> list[int]:
        """Return the budgets to try, ascending; `UsageError` for one beyond the pool."""
        number = len(self.pooled[1])
        if not number:
            raise UsageError(
                f"track {self.views[0].facts.track!r}: no list that made the pool holds a judged "
                "doc, so that there is nothing to simulate."
            )
        if over := [budget for budget in asked if budget > number]:
            raise UsageError(
                f"budget = {over[0]:,}: the pool of track {self.views[0].facts.track!r} has "
                f"{number:,} judged docs."
            )
        return sorted({*asked} or {max(1, round(share * number)) for share in SHARES})

    def selections(
        self, order: str, seed: int, budgets: Sequence[int], without: Sequence[int] = ()
    ) -> Iterator[tuple[np.ndarray, np.ndarray | None]]:
        """Yield for each budget the judged docs, bool [rows], and for a sample the probabilities.

        `without`: columns of the lists that are left out of the pool.
        """
        pool, rows = self.pooled
        if len(without):
            pool, held = pool.without(without)
            rows = rows[held]
        places = None if order == SAMPLED else pool.places(order, seed, max(budgets))
        # Each doc keeps its number, so that the sample of a budget is part of that of a greater.
        numbers = random_numbers(seed, pool.hashes) / 2.0**64
        for budget in budgets:
            is_judged, probability = np.zeros(self.offsets[-1], bool), None
            if places is not None:
                is_judged[rows[places < budget]] = True
            else:
                chances = inclusion_probabilities(pool, min(budget, len(rows)))
                is_judged[rows[numbers < chances]] = True
                probability = np.ones(self.offsets[-1])
                probability[rows] = chances
            yield is_judged, probability

    def outcomes(
        self, order: str, budgets: Sequence[int], draws: int, seed: int
    ) -> list[list[Outcome]]:
        """Return the outcomes of an order by budget and draw; one draw where chance plays no part.

        The seed of a draw depends on its number and `seed` alone.
        """
        number = 1 if order in WITHOUT_CHANCE else draws
        by_draw = [
            [self.outcome(*chosen) for chosen in self.selections(order, draw_seed, budgets)]
            for draw_seed in (hash_of(str(seed), str(draw)) for draw in range(number))
        ]
        return [list(of_budget) for of_budget in zip(*by_draw, strict=True)]

    def teams(self) -> list[list[int]]:
        """Return the columns of the lists of each team; a system without a team is one itself."""
        facts = self.views[0].facts
        groups = [facts.groups[i] if facts.groups else None for i in facts.contributors]
        numbers = number_names(groups)[0]
        return [np.flatnonzero(numbers == team).tolist() for team in range(numbers.max() + 1)]

    def displacements(
        self, order: str, budgets: Sequence[int], draws: int, seed: int
    ) -> np.ndarray:
        """Return the ranks that the runs of each team lose: float64 [budget, team, 3].

        Mean ranks lost since all judgments when the team contributes, and when its docs are left
        out, and the most that a run then loses. Each team has a draw, the same with and without it.
        """
        facts = self.views[0].facts
        full = self._ranks(self.full)
        out = []
        for number, team in enumerate(self.teams()):
            runs = [facts.contributors[i] for i in team]
            draw_seed = hash_of(str(seed), str(number % draws))
            both = [
                [self._ranks(self.values(*chosen))[runs] - full[runs]
                 for chosen in self.selections(order, draw_seed, budgets, without)]
                for without in ((), team)
            ]  # fmt: skip
            out.append([(a.mean(), b.mean(), b.max()) for a, b in zip(*both, strict=True)])
        return np.array(out).transpose(1, 0, 2)

    def _ranks(self, values: np.ndarray) -> np.ndarray:
        """Return the rank of each system, equal means sharing the mean of their ranks."""
        means = self.means(values) * self.specs[0].measure.direction
        above, tied = tie_groups(means[None])
        return above[0] + (tied[0] + 1) / 2


def estimator(spec: Spec) -> Spec | None:
    """Return the measure of a random sample that estimates a measure, or None."""
    name = ESTIMATED_BY.get(spec.measure.name)
    plain = spec.name.partition("(")[0].partition("@")[0]
    if (
        name is None
        or "(" in spec.name.replace(f"(rel={spec.rel:g})", "")
        or plain not in spec.name
    ):
        return None
    settings = f"(rel={spec.rel:g})" if spec.rel != 1 else ""
    cutoff = f"@{spec.cutoff}" if spec.cutoff is not None else ""
    return parse_measure(f"{name}{settings}{cutoff}")


def outcome_row(outcomes: Sequence[Outcome], share: float) -> dict[str, Any]:
    """Return means over draws, and the values that at least a share of the draws reach."""
    row: dict[str, Any] = {"draws": len(outcomes)}
    for name in ("judged", *GOALS, "false"):
        known = [v for outcome in outcomes if not np.isnan(v := getattr(outcome, name))]
        row[name] = sum(known) / len(known) if known else np.nan
    for name in GOALS:
        row[f"{name}_low"] = reached_by([getattr(outcome, name) for outcome in outcomes], share)
    row["false_high"] = -reached_by([-outcome.false for outcome in outcomes], share)
    return row


def reached_by(values: Sequence[float], share: float) -> float:
    """Return the greatest value that at least a share of the values reach; NaN counts as none."""
    descending = sorted((value for value in values if not np.isnan(value)), reverse=True)
    needed = int(np.ceil(np.round(share * len(values), 9)))
    return descending[needed - 1] if needed <= len(descending) else np.nan


def least_budget(
    outcomes: Mapping[int, Sequence[Outcome]], goal: str, level: float, share: float
) -> tuple[int | None, int]:
    """Return the least budget from which on a share of the draws reach a goal, and their number.

    Every greater budget that was tried reaches it too. None: not even the greatest one does.
    """
    least, reached = None, 0
    for budget in sorted(outcomes, reverse=True):
        values = np.array([getattr(outcome, goal) for outcome in outcomes[budget]])
        number = int((values >= level - 1e-12).sum())
        if number < share * len(values) - 1e-9:
            break
        least, reached = budget, number
    return least, reached


def mean_interval(values: np.ndarray, confidence: float) -> tuple[float, float, float]:
    """Return the mean over teams with its limits by Student's t; NaN for fewer than five teams."""
    mean, number = float(values.mean()), len(values)
    if number < LEAST_TEAMS:
        return mean, np.nan, np.nan
    margin = float(stdtrit(number - 1, (1 + confidence) / 2) * values.std(ddof=1) / number**0.5)
    return mean, mean - margin, mean + margin
