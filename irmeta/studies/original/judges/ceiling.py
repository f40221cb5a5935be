"""The tables `ceiling`, `rankers` and `annotators`: judges beside several sets of people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import polars as pl

from irmeta.phrases import listed
from irmeta.stats import judged_orders as orders
from irmeta.stats.judged_orders import Estimate
from irmeta.stats.label_agreement import (
    alternative_annotator_test,
    expected_ndcg,
    query_intervals,
)
from irmeta.stats.orders import kendall_tau_b
from irmeta.stats.resampling import draw_counts
from irmeta.studies.framework.study import with_limits
from irmeta.studies.original.judges.judged_track import JudgedTrack, comparison, t_margin

Row = dict[str, Any]
_BOTH = ["query", "doc"]
CUTOFF = 10
"""Last rank of lists of docs ranked by labels."""
_UNKNOWN = Estimate(*[np.nan] * 3)


def ceiling_tables(judged: JudgedTrack) -> Iterator[tuple[str, Sequence[Row]]]:
    """Yield the tables of a track with several sets of people."""
    if not judged.people:
        return
    tables = {"ceiling": [*_ceiling(judged)], "rankers": [*_rankers(judged)]}
    if judged.options.epsilon is not None:
        tables["annotators"] = [*_annotators(judged, judged.options.epsilon)]
    yield from ((name, rows) for name, rows in tables.items() if rows)


@dataclass(frozen=True)
class ComparedSets:
    """One set and all people on the queries, and on the docs, that all of them labelled.

    `means`: float64 [1 + draws, system] by set: by all queries, then by those of each draw.
    `counts`: float64 [1 + draws, query]: how often each query of `docs` is drawn.
    """

    judged: JudgedTrack
    queries: tuple[str, ...]
    means: Mapping[str, np.ndarray]
    docs: pl.DataFrame
    counts: np.ndarray

    @classmethod
    def of(cls, judged: JudgedTrack, sets: Sequence[str]) -> ComparedSets:
        """Compare sets, of which one may be the reference, by the first measure."""
        options, every = judged.options, judged.scores.measures[0].every
        judges = [name for name in sets if name != judged.reference]
        shared = set[str].intersection(*({*every[name].queries} for name in judges))
        queries = tuple(sorted(shared))
        seed = np.random.SeedSequence(options.seed)
        draws = np.concatenate(
            [
                orders.whole(len(queries)),
                orders.drawn_queries(len(queries), options.resamples, seed)
                if queries
                else np.empty((0, 0)),
            ]
        )
        means = dict[str, np.ndarray]()
        for name in sets:
            sides = every[judges[0] if name == judged.reference else name]
            place = {query: i for i, query in enumerate(sides.queries)}
            values = sides.values[name != judged.reference]
            means[name] = orders.means_of(values[[place[query] for query in queries]], draws)
        docs = reduce(
            lambda left, right: left.join(right, on=_BOTH, how="semi"),
            (judged.labels[name].select(_BOTH) for name in sets),
        ).sort(_BOTH)
        labelled = docs["query"].n_unique()
        counts = np.concatenate(
            [np.ones((1, labelled)), draw_counts(labelled, options.resamples, seed)]
        ) if labelled else np.empty((0, 0))  # fmt: skip
        return cls(judged, queries, means, docs, counts)

    def taus(self, one: str, other: str) -> np.ndarray:
        """Return tau-b of two sets: of all queries, then of each draw."""
        return kendall_tau_b(self.means[one], self.means[other], True)

    def kappas(self, one: str, other: str) -> np.ndarray:
        """Return Cohen's kappa of relevance of two sets: of all queries, then of each draw."""
        pairs = self.judged.label_pairs(one, other, self.docs)
        tables = self.counts @ pairs.tables.reshape(len(pairs.tables), -1)
        levels = pairs.tables.shape[1:]
        return pairs.coefficients(tables.reshape(-1, *levels))["kappa_binary"]

    def kappa_row(self, one: str, other: str) -> Row:
        """Return kappa of relevance with its interval, and of grades (NaN: other scales)."""
        pairs = self.judged.label_pairs(one, other, self.docs)
        intervals = query_intervals(
            pairs.tables, pairs.coefficients, self.judged.options.resamples, pairs.options.seed
        )
        values = pairs.coefficients(pairs.tables.sum(axis=0)[None])
        kappa, of_grades = (float(values[name][0]) for name in ("kappa_binary", "kappa"))
        limits = with_limits("kappa", (kappa, *intervals["kappa_binary"]))
        return {**limits, "kappa_grades": of_grades}


def _ceiling(judged: JudgedTrack) -> Iterator[Row]:
    """Yield the rows of the table `ceiling`: each set with each person."""
    everyone = (judged.reference, *judged.people)
    reference = judged.labels[judged.reference]
    for name in judged.labels:
        others = [person for person in everyone if person != name]
        compared = ComparedSets.of(judged, [name, *others])
        if not compared.queries or compared.docs.is_empty():
            judged.track.note(f"{name} and all people have no labelled doc in common: no ceiling")
            continue
        grades = reference.filter(pl.col("query").is_in(compared.queries)).join(
            compared.docs.with_columns(labelled=True), on=_BOTH, how="left"
        )
        shares = grades.group_by("grade").agg(pl.col("labelled").fill_null(False).mean())
        for person in others:
            beside = [colleague for colleague in others if colleague != person]
            taus = compared.taus(name, person)
            tau = orders.around_estimate(float(taus[0]), taus[1:])
            row = {
                "judge": name,
                "person": person,
                "measure": judged.options.measures[0],
                "is_person": name in everyone,
                "beside": listed(beside) if beside else None,
                "queries": len(compared.queries),
                "docs": compared.docs.height,
                "labelled": ", ".join(
                    f"{grade:g}: {share:.0%}" for grade, share in shares.sort("grade").rows()
                ),
                **with_limits("tau", (tau.value, tau.low, tau.high)),
                **compared.kappa_row(name, person),
            }
            for what, of_pair in (("tau", compared.taus), ("kappa", compared.kappas)):
                people, difference = np.nan, _UNKNOWN
                if beside:
                    mean = np.mean([of_pair(colleague, person) for colleague in beside], axis=0)
                    people, gaps = float(mean[0]), of_pair(name, person) - mean
                    difference = Estimate.of(float(gaps[0]), gaps[1:])
                row |= {
                    f"{what}_people": people,
                    **with_limits(f"{what}_difference", difference),
                    f"{what}_beside": comparison(difference.low, difference.high),
                }
            yield row


def _rankers(judged: JudgedTrack) -> Iterator[Row]:
    """Yield the rows of the table `rankers`: lists of docs ranked by labels, by the reference."""
    reference = judged.labels[judged.reference]
    measure = f"nDCG@{CUTOFF}"
    values = judged.track.scores(measure, qrels=judged.reference).matrix(measure)
    for name in judged.judges:
        labelled = judged.labels[name]
        docs = reference.join(labelled, on=_BOTH, how="full", coalesce=True, suffix="_judge")
        both = set(labelled["query"]) & set(reference["query"])
        by_query = dict[str, float]()
        for (query,), rows in docs.sort(_BOTH).group_by("query", maintain_order=True):
            if query in both:
                gains = rows["grade"].fill_null(0.0).clip(0.0).to_numpy()
                labels = rows["grade_judge"].fill_null(np.nan).to_numpy()
                by_query[str(query)] = expected_ndcg(labels, gains, CUTOFF)
        ranked = {query: value for query, value in by_query.items() if not np.isnan(value)}
        places = [i for i, query in enumerate(values.queries) if query in ranked]
        if not places:
            continue
        of_ranker = np.array([ranked[values.queries[i]] for i in places])
        of_systems = values.values[places]
        best = int(np.argmax(np.nan_to_num(of_systems.mean(axis=0), nan=-1.0)))
        yield {
            "judge": name,
            "is_person": name in judged.people,
            "queries": len(places),
            **_mean_of("ndcg", of_ranker),
            "best_system": values.systems[best],
            "best": float(of_systems[:, best].mean()),
            **_mean_of("difference", of_ranker - of_systems[:, best]),
            "systems_above": int((of_systems.mean(axis=0) > of_ranker.mean()).sum()),
        }


def _mean_of(name: str, values: np.ndarray) -> Row:
    """Return the mean over queries with its 95 % interval by Student's t."""
    mean, margin = float(values.mean()), t_margin(values)
    return with_limits(name, (mean, mean - margin, mean + margin))


def _annotators(judged: JudgedTrack, epsilon: float) -> Iterator[Row]:
    """Yield the rows of the table `annotators`: the alternative annotator test of each judge."""
    people = (judged.reference, *judged.people)
    judges = [name for name in judged.judges if name not in people]
    if not judges:
        judged.track.note("epsilon: all sets are of people, so no judge is tested to replace one")
    for name in judges:
        docs = judged.labels[name].select(_BOTH)
        query = docs["query"].rank("dense").to_numpy().astype(np.int64)
        is_comparable = judged.label_pairs(judged.reference, name).is_comparable
        labels = np.stack(
            [
                docs.join(judged.labels[rater], on=_BOTH, how="left", maintain_order="left")[
                    "grade"
                ]
                .fill_null(np.nan)
                .to_numpy()
                for rater in (name, *people)
            ]
        )
        if not is_comparable:
            rels = np.array([judged.rels[rater] for rater in (name, *people)])[:, None]
            labels = np.where(np.isnan(labels), np.nan, labels >= rels)
        test = alternative_annotator_test(
            labels[0], labels[1:], query, epsilon, alpha=judged.options.alpha
        )
        yield {
            "judge": name,
            "labels": "grades" if is_comparable else "relevance",
            "people": len(people),
            "epsilon": epsilon,
            **test._asdict(),
        }
