"""Means of measures whose unjudged docs have drawn grades, beside other treatments of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from irmeta.errors import UsageError
from irmeta.measures.evaluate import evaluate_block, rank_cutoff
from irmeta.measures.names import Spec, parse_measure
from irmeta.policies import EvalPolicy
from irmeta.rankings.derive.sample import Source, draw_grades, random_number, unjudged_in
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.load import over_blocks
from irmeta.rankings.view import needs_of
from irmeta.results.scores import Scores
from irmeta.store.scan import StoreReader

LEVELS = (2.5, 97.5)
"""Percentiles of the draws: their spread, no confidence interval."""


@dataclass(frozen=True)
class Drawing:
    """Draws of grades.

    Attributes
    ----------
    source
        Judged docs whose grades are drawn, see `draw_grades`.
    draws
        Number of draws.
    seed
        Random seed.
    systems
        Names of the systems; None: all.
    """

    source: Source = "query"
    draws: int = 200
    seed: int = 0
    systems: tuple[str, ...] | None = None


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
    store: StoreReader,
    track: str,
    specs: Sequence[Spec],
    policy: EvalPolicy,
    drawing: Drawing,
    workers: int | None = 1,
) -> pl.DataFrame:
    """Compute the rows of `Store.pools.drawn`: means with drawn grades, and others."""
    check_drawable(specs, policy)
    others = {how: [treated(spec, how) for spec in specs] for how in ("condensed", "upper")}
    more = [one for of_how in others.values() for one in of_how if one is not None]
    compute = partial(_draw_block, list(specs), more, policy, drawing)
    needs = needs_of(specs)
    blocks = list(over_blocks(compute, store, track, policy, needs, workers=workers))
    scores = Scores.concat([block.scores for block in blocks])
    means = dict(zip(scores.measures, scores.mean_values(), strict=True))
    plain = _first(scores, len(specs))
    drawn = np.concatenate([block.drawn for block in blocks], axis=2)
    by_draw = np.stack([replace(plain, values=values).mean_values() for values in drawn])
    holes = np.concatenate([block.holes for block in blocks], axis=1).mean(axis=1)
    low, high = np.percentile(by_draw, LEVELS, axis=0)
    asked = [i for i, name in enumerate(scores.systems) if _is_asked(drawing, name)]
    unknown = np.full(len(scores.systems), np.nan)
    by_measure = []
    for m, spec in enumerate(specs):
        treatments = {
            how: means[one.name] if (one := of_how[m]) is not None else unknown
            for how, of_how in others.items()
        }
        value, upper = means[spec.name], treatments["upper"]
        of_draws = {"drawn": by_draw[:, m].mean(axis=0), "drawn_low": low[m], "drawn_high": high[m]}
        columns = {"value": value, **treatments, "residual": upper - value, **of_draws}
        by_measure.append({**columns, "unjudged": holes[m]})
    rows = [
        {"track": track, "system": scores.systems[i], "measure": spec.name}
        | {name: float(values[i]) for name, values in columns.items()}
        for i in asked
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


def _is_asked(drawing: Drawing, system: str) -> bool:
    return drawing.systems is None or system in drawing.systems


@dataclass(frozen=True)
class _Block:
    """Values of some queries.

    Attributes
    ----------
    drawn
        float64 [draw, measure, query, system].
    holes
        int64 [measure, query, system]: number of docs with a drawn grade.
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
        if not _is_asked(drawing, system):
            continue
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
