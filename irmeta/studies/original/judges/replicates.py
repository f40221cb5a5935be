"""Judges of one model by several prompts or repeats: faults, spread, variance components."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from irmeta.errors import UsageError
from irmeta.phrases import count
from irmeta.results.matrix import Matrix
from irmeta.stats import judged_orders as orders
from irmeta.stats.generalizability import crossed_components
from irmeta.stats.orders import kendall_tau_b, rank_rows, round_means
from irmeta.stats.replicates import FacetStudy, facet_study
from irmeta.studies.framework.study import with_limits
from irmeta.studies.original.judges.judged_track import (
    EMPTY_FILE,
    Judged,
    JudgedTrack,
    Sides,
    comparison,
    of_shared_pairs,
)
from irmeta.studies.original.judges.verdicts import (
    MOST_UNJUDGED,
    UNKNOWN,
    labelled_text,
    shares_by_grade,
)

Row = dict[str, Any]
ALL, SHARED = "all", "shared"
ALIKE = "holes of both sides make orders alike: the spread is too small"
MOST_LACKING = 0.01
"""Share of the reference's labels that a judge may lack before it is partial; chosen by us."""
NUMBERS = (1, 2, 5, 10)
"""Numbers of replicates of the table `replicate_reliability`, besides that of the model."""
FACETS = ("model", "replicate", "query", "system")


def judge_faults(judged: JudgedTrack, agreement: Sequence[Row]) -> list[Row]:
    """Return the rows of the table `judge_faults`."""
    faults = [
        (judge, "empty" if note == EMPTY_FILE else "repeated", note)
        for judge, note in judged.file_notes.items()
    ]
    queries = judged.labels[judged.reference]["query"].unique().to_list()
    for row in agreement:
        grades = shares_by_grade(judged, row["judge"], queries)
        share = float(np.average(grades["share"].to_numpy(), weights=grades["docs"].to_numpy()))
        if share < 1.0 - MOST_LACKING:
            text = f"{share:.1%} of the reference's labels; by its grade {labelled_text(grades)}"
            faults.append((row["judge"], "partial", text))
        kappa, low, high = (row[f"kappa_binary{end}"] for end in ("", "_low", "_high"))
        if kappa <= 0.0:
            told = "worse than chance" if high < 0.0 else "no better than chance"
            text = f"{told}: kappa of relevance {kappa:.3f} [{low:.3f}, {high:.3f}]"
            faults.append((row["judge"], "chance", text))
    out = ("empty", *judged.options.leave_out)
    return [
        {"judge": judge, "fault": fault, "text": text, "left_out": fault in out}
        for judge, fault, text in faults
    ]


@dataclass(frozen=True)
class Replicates:
    """Judges by model, and the prompt or repeat of each."""

    judged: Judged
    models: Mapping[str, Mapping[str, str]]  # judge by prompt and repeat, by model
    repeats: Mapping[str, Mapping[str, str]]  # prompt by judge, by model with repeats of a prompt

    @classmethod
    def of(cls, judged: Judged, categories: Mapping[str, Mapping[str, str]]) -> Replicates:
        """Group judges with the same model and method; those without a model are in no group."""
        models = dict[str, dict[str, str]]()
        prompts = dict[str, dict[str, str]]()
        for judge, of_judge in categories.items():
            if "model" not in of_judge:
                continue
            model = ", ".join(of_judge[name] for name in ("model", "method") if name in of_judge)
            parts = (f"{n} {of_judge[n]}" for n in ("prompt", "repeat") if n in of_judge)
            replicate = ", ".join(parts) or judge
            members = models.setdefault(model, {})
            if replicate in members:
                raise UsageError(
                    f"categories: {members[replicate]!r} and {judge!r} of {model} have the same "
                    f"{replicate}: give them other prompts or repeats."
                )
            members[replicate] = judge
            prompts.setdefault(model, {})[judge] = of_judge.get("prompt", "")
        repeated = {model: of for model, of in prompts.items() if 1 < len({*of.values()}) < len(of)}
        return cls(judged, models, repeated)

    @property
    def judges(self) -> list[str]:
        """All judges that are in a group."""
        return [judge for members in self.models.values() for judge in members.values()]

    def shared_by(self, models: Sequence[str]) -> list[str]:
        """Return the prompts and repeats that all of some models have."""
        return [r for r in self.models[models[0]] if all(r in self.models[m] for m in models)]


def replicate_tables(
    judged: Judged,
    categories: Mapping[str, Mapping[str, str]],
    made: Mapping[str, Sequence[Row]],
    facts: Mapping[str, Row],
    note: Callable[[str], None],
) -> Iterator[tuple[str, list[Row]]]:
    """Yield the tables on replicates, by the first measure; none without two of one model."""
    scores = judged.scores.measures[0]
    compared = {judge for judge, sides in scores.every.items() if sides.queries}
    categories = {judge: of for judge, of in categories.items() if judge in compared}
    replicates = Replicates.of(judged, categories)
    if all(len(members) < 2 for members in replicates.models.values()):
        return
    boards = {r["judge"]: r for r in made["leaderboards"]
              if (r["measure"], r["docs"]) == (scores.measure, "all")}  # fmt: skip
    kappas = {row["judge"]: row["kappa_binary"] for row in made.get("agreement", ())}
    values: Row = {
        judge: (boards[judge]["tau_b"], kappas.get(judge, np.nan), facts[judge]["unjudged"])
        for judge in replicates.judges
    }
    rows = list(_judge_rows(replicates, ALL, scores.every, values))
    systems = list(_system_rows(replicates, ALL, scores.every))
    summary = list(_summaries(rows, facts, scores.measure))
    shared = _shared_sides(judged, replicates.judges)
    if shared is None:
        note("all replicates have no pair of query and doc in common: models are not compared")
    else:
        sides, values = shared
        rows += (of_shared := list(_judge_rows(replicates, SHARED, sides, values)))
        systems += _system_rows(replicates, SHARED, sides)
        summary += _summaries(of_shared, {}, scores.measure)
        yield "replicate_models", list(_compared(replicates, sides))
        yield "replicate_components", list(_components(replicates, sides))
        yield "replicate_reliability", list(_reliability(replicates, sides))
    yield "replicates", summary
    yield "replicate_judges", rows
    yield "replicate_systems", systems


def _shared_sides(judged: Judged, judges: Sequence[str]) -> tuple[dict[str, Sides], Row] | None:
    """Return the values on the pairs (of tables of values: queries) that all judges have.

    With tau-b, kappa of relevance and unjudged@10 of each judge; None if they share none.
    """
    every, kappas, unjudged = judged.scores.measures[0].every, dict[str, float](), np.nan
    if isinstance(judged, JudgedTrack):
        pairs = judged.on_shared_pairs(judges)
        reference, *sets = map(of_shared_pairs, (judged.reference, *judges))
        if pairs.labels[reference].is_empty():
            return None
        scores = pairs.scores
        every = dict(zip(judges, (scores.measures[0].every[n] for n in sets), strict=True))
        unjudged = scores.unjudged(reference, every[judges[0]].queries)
        for judge, name in zip(judges, sets, strict=True):
            labels = pairs.label_pairs(reference, name)
            total = labels.tables.sum(axis=0)[None]
            kappas[judge] = float(labels.coefficients(total)["kappa_binary"][0])
    queries = set.intersection(*(set(every[judge].queries) for judge in judges))
    if not queries:
        return None
    sides = dict[str, Sides]()
    for judge in judges:
        side = every[judge]
        places = np.flatnonzero([query in queries for query in side.queries])
        sides[judge] = Sides(
            judge,
            SHARED,
            side.reference.only_queries(places),
            side.judged.only_queries(places),
            side.undefined,
        )
    taus = _taus(sides, orders.whole(len(queries)))[:, 0]
    return sides, {
        judge: (float(tau), kappas.get(judge, np.nan), unjudged)
        for judge, tau in zip(judges, taus, strict=True)
    }


def _taus(sides: Mapping[str, Sides], weights: np.ndarray) -> np.ndarray:
    """Return tau-b of the judges with the reference by weights of queries: float64 [judge, draw].

    All sides have the same queries.
    """
    reference = orders.means_of(next(iter(sides.values())).values[0], weights)
    return np.array(
        [
            kendall_tau_b(reference, orders.means_of(side.values[1], weights), True)
            for side in sides.values()
        ]
    )


def _judge_rows(
    replicates: Replicates, pairs: str, sides: Mapping[str, Sides], values: Mapping[str, Any]
) -> Iterator[Row]:
    for model, members in replicates.models.items():
        for replicate, judge in members.items():
            tau, kappa, unjudged = values[judge]
            yield {
                "model": model, "pairs": pairs, "judge": judge, "replicate": replicate,
                "queries": len(sides[judge].queries), "unjudged": unjudged, "tau_b": tau,
                "kappa": kappa,
            }  # fmt: skip


def _summaries(rows: Sequence[Row], facts: Mapping[str, Row], measure: str) -> Iterator[Row]:
    """Yield the rows of the table `replicates`: the spread over the replicates of each model."""
    by_model = dict[str, list[Row]]()
    for row in rows:
        by_model.setdefault(row["model"], []).append(row)
    for model, members in by_model.items():
        limits = [facts.get(row["judge"], {}).get("limits") or "" for row in members]
        unsaid = sum(text.startswith(UNKNOWN) for text in limits)
        unjudged = float(np.mean([row["unjudged"] for row in members]))
        text = f"{UNKNOWN}: {unsaid} of {count(len(members), 'replicate')} (see verdicts)"
        is_shared = members[0]["pairs"] == SHARED
        row: Row = {
            "model": model, "pairs": members[0]["pairs"], "measure": measure,
            "replicates": len(members), "queries": min(row["queries"] for row in members),
            "unjudged": unjudged,
            "limits": text if unsaid else ALIKE if is_shared and unjudged > MOST_UNJUDGED else None,
        }  # fmt: skip
        for column, name in (("tau_b", "tau"), ("kappa", "kappa")):
            numbers = np.array([member[column] for member in members])
            places = np.flatnonzero(~np.isnan(numbers))
            known = numbers[places]
            few = [np.nan] * 5
            if len(known):
                sd = known.std(ddof=1) if len(known) > 1 else np.nan
                few = [known.mean(), sd, known.min(), np.median(known), known.max()]
            parts = ("mean", "sd", "least", "median", "greatest")
            row |= {f"{name}_{p}": float(x) for p, x in zip(parts, few, strict=True)}
            if name == "tau":
                ends = (places[known.argmin()], places[known.argmax()]) if len(known) else ()
                row |= {"least_judge": members[ends[0]]["judge"] if ends else None,
                        "greatest_judge": members[ends[1]]["judge"] if ends else None}  # fmt: skip
        yield row


def _system_rows(replicates: Replicates, pairs: str, sides: Mapping[str, Sides]) -> Iterator[Row]:
    """Yield the rows of the table `replicate_systems`."""
    for model, members in replicates.models.items():
        of_model = [sides[judge] for judge in members.values()]
        if len(of_model) < 2:
            continue
        oriented = np.array([side.values[1].mean(axis=0) for side in of_model])
        means, ranks = oriented * of_model[0].direction, rank_rows(round_means(oriented))
        for s, system in enumerate(of_model[0].judged.systems):
            yield {
                "model": model, "pairs": pairs, "system": system,
                "mean": float(means[:, s].mean()), "sd": float(means[:, s].std(ddof=1)),
                "least": float(means[:, s].min()), "greatest": float(means[:, s].max()),
                "rank_first": float(ranks[:, s].min()), "rank_last": float(ranks[:, s].max()),
            }  # fmt: skip


def _compared(replicates: Replicates, sides: Mapping[str, Sides]) -> Iterator[Row]:
    """Yield the rows of the table `replicate_models`: mean tau-b of two models.

    Queries are drawn for all together, and prompts with them: shared ones for both models together.
    """
    options, queries = replicates.judged.options, len(next(iter(sides.values())).queries)
    drawn = orders.drawn_queries(queries, options.resamples, np.random.SeedSequence(options.seed))
    taus = _taus(sides, np.concatenate([orders.whole(queries), drawn]))
    by_judge = dict(zip(sides, taus, strict=True))
    for first, second in combinations(replicates.models, 2):
        rng = np.random.default_rng(options.seed)
        both = [replicates.models[model] for model in (first, second)]
        shared = replicates.shared_by((first, second))
        means, weights = list[np.ndarray](), None
        for members in both:
            judges = [members[r] for r in shared] if shared else [*members.values()]
            of_model = np.array([by_judge[judge] for judge in judges])
            if weights is None or not shared:
                sizes = rng.multinomial(len(judges), [1 / len(judges)] * len(judges),
                                        options.resamples)  # fmt: skip
                ones = np.ones((1, len(judges)))
                weights = np.concatenate([ones, sizes]).T / len(judges)
            means.append((of_model * weights).sum(axis=0))
        gaps = means[0] - means[1]
        gap = orders.around_estimate(float(gaps[0]), gaps[1:], (-2.0, 2.0))
        yield {
            "model": first, "other_model": second, "queries": queries,
            "replicates": len(shared) or None, "tau": float(means[0][0]),
            "tau_other": float(means[1][0]),
            **with_limits("difference", (gap.value, gap.low, gap.high)),
            "verdict": comparison(gap.low, gap.high),
        }  # fmt: skip


def _values(sides: Mapping[str, Sides], judges: Sequence[str]) -> np.ndarray:
    """Return the values of some judges: float64 [judge, query, system]."""
    return np.array([sides[judge].judged.values for judge in judges])


def _components(replicates: Replicates, sides: Mapping[str, Sides]) -> Iterator[Row]:
    """Yield the rows of the table `replicate_components`."""
    designs = dict[str, tuple[np.ndarray, Sequence[str]]]()
    several = [model for model, members in replicates.models.items() if len(members) > 1]
    for model in several:
        values = _values(sides, [*replicates.models[model].values()])
        designs[model] = values, FACETS[1:]
    shared = replicates.shared_by(several)
    if len(several) > 1 and len(shared) > 1:
        crossed = [[replicates.models[model][r] for r in shared] for model in several]
        designs["all models"] = np.array([_values(sides, judges) for judges in crossed]), FACETS
    parts = [
        (design, " x ".join(facets[i] for i in axes) if len(axes) < len(facets) else "rest", of)
        for design, (values, facets) in designs.items()
        if min(values.shape) > 1
        for axes, of in crossed_components(values).items()
    ]
    for model, prompts in replicates.repeats.items():
        values = _values(sides, [*prompts]).reshape(len(prompts), -1)
        cells = tuple(map(str, range(values.shape[1])))
        matrix = Matrix(values.T, cells, tuple(prompts), "")
        nested = ("prompt", "repeat", "cell", "prompt x cell", "rest")
        study = facet_study(matrix, prompts)
        parts += (
            (f"{model}: repeats", *part) for part in zip(nested, study.components, strict=True)
        )
    for design, component, variance in parts:
        positive = sum(max(of, 0.0) for name, _, of in parts if name == design)
        share = max(variance, 0.0) / positive if positive else np.nan
        yield {"design": design, "component": component, "variance": variance, "share": share}


def _reliability(replicates: Replicates, sides: Mapping[str, Sides]) -> Iterator[Row]:
    """Yield the rows of the table `replicate_reliability`: the D study of each model.

    All systems have the same prompts, so that only their interaction counts as that of replicates.
    """
    for model, members in replicates.models.items():
        values = _values(sides, [*members.values()])
        number, queries, systems = values.shape
        if min(values.shape) < 2:
            continue
        of = crossed_components(values)
        parts = (of[2,], of[0, 2], of[1,], of[1, 2], of[0, 1, 2])
        study = FacetStudy("", "", systems, systems * number, queries, parts)
        numbers = sorted({*NUMBERS, number})
        for row in study.d_study(numbers, [queries]).iter_rows(named=True):
            yield {"model": model, **row}
