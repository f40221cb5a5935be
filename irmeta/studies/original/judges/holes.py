"""The tables `holes`, `maps` and `filling`: labels of a judge where the reference has none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from irmeta.errors import UsageError, did_you_mean
from irmeta.measures.drawn_labels import DocSum
from irmeta.measures.names import Spec, parse_measures
from irmeta.rankings.judged import JudgedRanks
from irmeta.stats import judged_orders as orders
from irmeta.stats.filling import Map, Orders, mapped_grades, mean_grades
from irmeta.stats.label_agreement import SAME, scale_text
from irmeta.stats.resampling import draw_counts
from irmeta.studies.original.judges.adoption import RankedDocs
from irmeta.studies.original.judges.judged_track import JudgedTrack, Sides
from irmeta.studies.original.judges.study import read_map

Row = dict[str, Any]
LEAST_TEAMS = 4
"""Fewest teams of which half are left out."""
RESAMPLED = 5
"""Resamples of the queries for each resample of `filling`, which has many orders of systems."""
NONRELEVANT = "nonrelevant"
"""The treatment of docs without a label that the others are compared with."""
CONTROL = "filled: mean grade"
"""Docs that the judge labelled, all with the reference's mean grade of those in the pool: no judge.

On DL 2021 it orders systems better than nonrelevant holes (tau-b .908 and .822), so that a judge's
merit is the difference from it.
"""


@dataclass(frozen=True)
class LabelledLists:
    """The lists of a track, scored by labels on the reference's scale, by the first measure."""

    docs: RankedDocs
    judged: JudgedTrack
    spec: Spec
    views: tuple[JudgedRanks, ...]

    @classmethod
    def of(cls, judged: JudgedTrack, docs: RankedDocs) -> LabelledLists:
        """Score by the first measure, with the relevant grade of the reference."""
        asked = parse_measures(judged.options.measures[0])
        (spec,) = judged.track.named_in_set(asked, qrels=judged.reference)
        return cls(docs, judged, spec, tuple(judged.track.blocks(qrels=judged.reference)))

    def values(self, labels: np.ndarray, condensed: bool = False) -> np.ndarray:
        """Score the lists by labels, float64 [doc, draw] (NaN: none): [draw, query, system].

        Docs without a label are not relevant or, if `condensed`, removed from the lists.
        """
        offsets, ranks = self.docs.offsets, self.docs.ranks
        grades = np.nan_to_num(labels)
        levels, codes = np.unique(grades, return_inverse=True)
        codes = codes.reshape(grades.shape).astype(np.min_scalar_type(len(levels)))
        form = self._form(levels)
        out = np.empty((labels.shape[1], len(offsets) - 1, ranks.shape[1]))
        for q, (start, stop) in enumerate(pairwise(offsets)):
            of_query, drawn = ranks[start:stop], codes[start:stop]
            if not condensed:
                out[:, q] = form.values(of_query, drawn, False).T
                continue
            for d, has_label in enumerate(~np.isnan(labels[start:stop].T)):
                places = of_query[has_label]
                deep = np.where(places > 0, places, np.iinfo(places.dtype).max)
                shorter = np.where(places > 0, deep.argsort(axis=0).argsort(axis=0) + 1, 0)
                out[d, q] = form.values(shorter, drawn[has_label, d : d + 1], True)[:, 0]
        return out

    def _form(self, levels: np.ndarray) -> DocSum:
        """Return the measure as a sum over docs of these grades."""
        most = int(np.diff(self.docs.offsets).max(initial=0))
        form = DocSum.of(self.spec, self.views[0], levels, most)
        assert form is not None
        return form

    def bounds(self, people: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Bound each list over all grades of its own docs without a label: [query, system] each.

        Least: these docs add nothing, and all of them to the divisor; most: the reverse. Both hold
        for any grades, but need not be reached. NaN for precisions (AP).
        """
        values = self.values(people[:, None])[0]
        top = max(float(np.nanmax(people, initial=0.0)), 0.0)
        form = self._form(np.array([0.0, top]))
        if form.is_precision:
            return np.full_like(values, np.nan), np.full_like(values, np.nan)
        gain, sums = form.gains[1], np.cumsum(form.weights)
        lengths = {q: row for v in self.views for q, row in zip(v.queries, v.lengths, strict=True)}
        low, high = np.zeros_like(values), np.zeros_like(values)
        for q, (start, stop) in enumerate(pairwise(self.docs.offsets)):
            has_label = ~np.isnan(people[start:stop])
            ranks, grades = self.docs.ranks[start:stop][has_label], people[start:stop][has_label]
            last = np.minimum(lengths[self.docs.queries[q]], form.cutoff).astype(np.int64)
            holes = last - ((ranks > 0) & (ranks <= last)).sum(axis=0)
            missed = gain * (sums[last] - form.weights[ranks].sum(axis=0))
            levels, codes = np.unique(grades, return_inverse=True)
            known = self._form(levels).gains[codes][:, None]
            extra = np.where(np.arange(holes.max(initial=0))[:, None] < holes, gain, 0.0)
            divisor = float(form.divided_by(known)[0])
            added = form.divided_by(np.concatenate([np.repeat(known, len(holes), axis=1), extra]))
            total = values[q] * divisor
            low[q] = total / np.where(added > 0, added, np.inf)
            high[q] = (total + missed) / divisor if divisor > 0 else holes > 0
        return low, high if form.divisor == "one" else np.minimum(high, 1.0)


@dataclass(frozen=True)
class PartialPools:
    """Random halves of the teams, whose docs are left out of the pool.

    `is_new`: bool [draw, system]: systems of these teams. `labels`: float64 [doc, draw]: grades by
    the reference of the docs in the first ranks of the other teams; NaN: none.
    """

    teams: int
    is_new: np.ndarray
    labels: np.ndarray

    @classmethod
    def of(cls, judged: JudgedTrack, docs: RankedDocs) -> PartialPools | None:
        """Draw the teams; None, with a note, if the collection names too few."""
        facts, options = judged.track.facts, judged.options
        groups = list(facts.groups) or [None] * len(facts.systems)
        teams = sorted({group for group in groups if group is not None})
        if len(teams) < LEAST_TEAMS or None in groups:
            unnamed = "some systems have no group" if teams and None in groups else (
                f"the collection names {len(teams)} groups of systems, of at least {LEAST_TEAMS}"
            )  # fmt: skip
            judged.track.note(f"filling is not tested: {unnamed}")
            return None
        team = np.searchsorted(teams, np.array(groups, dtype=str))
        rng = np.random.default_rng(options.seed)
        order = rng.random((options.hole_draws, len(teams))).argsort(axis=1).argsort(axis=1)
        is_new = (order < len(teams) // 2)[:, team]
        contributes = np.isin(np.arange(len(team)), facts.contributors)
        is_first = (docs.ranks > 0) & (docs.ranks <= options.holes)
        in_pool = is_first.astype(np.float32) @ (contributes & ~is_new).T.astype(np.float32) > 0
        labels = np.where(in_pool, docs.grades[judged.reference][:, None], np.nan)
        return cls(len(teams), is_new, labels)


def hole_tables(
    judged: JudgedTrack, docs: RankedDocs | None
) -> Iterator[tuple[str, Sequence[Row]]]:
    """Yield the tables of docs without a label by the reference, by the first measure."""
    if docs is None or not judged.options.holes:
        return
    maps, lists = maps_of(judged), LabelledLists.of(judged, docs)
    measure, pools = judged.options.measures[0], PartialPools.of(judged, docs)
    untouched = {
        way: lists.values(pools.labels, way == "condensed")
        for way in (NONRELEVANT, "condensed")
        if pools is not None
    }
    for judge, sides in judged.scores.measures[0].every.items():
        if not sides.queries:
            continue
        key = {"judge": judge, "measure": measure}
        yield "maps", [key | row for row in _maps(judged, docs, judge, maps[judge])]
        yield "holes", [key | row for row in _holes(lists, sides, maps[judge])]
        if pools is not None:
            rows = _filling(lists, sides, maps[judge], pools, untouched)
            yield "filling", [key | row for row in rows]


def maps_of(judged: JudgedTrack) -> dict[str, str]:
    """Return the map of the grades of each judge: that of the options, or by the scales."""
    reference, options = judged.labels[judged.reference]["grade"], judged.options
    for text in options.maps:
        name, named, _ = text.rpartition("=")
        if named and name not in judged.judges:
            raise UsageError(f"maps: no judge {name!r}. {did_you_mean(name, judged.judges)}")
    maps = dict[str, str]()
    for judge in judged.judges:
        grades = judged.labels[judge]["grade"]
        is_same = options.same_scale or scale_text(reference, grades).startswith(SAME)
        maps[judge] = options.map_of(judge) or ("same" if is_same else "expected")
        pairs = read_map(maps[judge])
        if isinstance(pairs, str):
            continue
        if absent := sorted({*grades.to_list()} - {*pairs}):
            raise UsageError(f"maps: {judge} has the grade {absent[0]:g}, which its map lacks.")
        low, high = min(reference.to_list()), max(reference.to_list())
        for grade in pairs.values():
            if not low <= grade <= high:
                raise UsageError(
                    f"maps: {judge}: {grade:g} is not between {low:g} and {high:g}, the grades of "
                    f"{judged.reference}."
                )
    return maps


def _maps(judged: JudgedTrack, docs: RankedDocs, judge: str, how: str) -> Iterator[Row]:
    """Yield the rows of the table `maps`: grades of a judge, on all docs that people labelled."""
    levels, counts, means = mean_grades(docs.grades[judge], docs.grades[judged.reference])
    pairs = read_map(how)
    for grade, number, mean in zip(levels.tolist(), counts.tolist(), means.tolist(), strict=True):
        used = pairs[grade] if isinstance(pairs, dict) else grade if how == "same" else mean
        yield {
            "map": how,
            "judge_grade": grade,
            "docs": number,
            "expected": mean,
            "filled": np.nan if how == "drawn" else used,
        }


def _holes(lists: LabelledLists, sides: Sides, how: str) -> Iterator[Row]:
    """Yield the rows of the table `holes`: each system by labels of people, and with a judge's."""
    judged, docs = lists.judged, lists.docs
    options, reference = judged.options, docs.grades[judged.reference]
    place = {query: i for i, query in enumerate(docs.queries)}
    queries = [place[query] for query in sides.queries]
    draws, rng = options.hole_draws if how == "drawn" else 1, np.random.default_rng(options.seed)
    mapped = [_filled(reference, docs.grades[sides.judge], how, rng) for _ in range(draws)]
    with_judge = lists.values(np.stack(mapped, axis=1)).mean(axis=0)[queries]
    least, most = lists.bounds(reference)
    columns = {
        "lower": least[queries].mean(axis=0),
        "upper": most[queries].mean(axis=0),
        "people": lists.values(reference[:, None])[0, queries].mean(axis=0),
        "condensed": lists.values(reference[:, None], condensed=True)[0, queries].mean(axis=0),
        "filled": with_judge.mean(axis=0),
        "judge_alone": sides.judged.values.mean(axis=0),
        "holes": _unlabelled(docs, ~np.isnan(reference), options.holes)[queries].mean(axis=0),
        "holes_filled": _unlabelled(docs, ~np.isnan(mapped[0]), options.holes)[queries].mean(
            axis=0
        ),
    }
    for s, system in enumerate(sides.reference.systems):
        values = {name: float(of_systems[s]) for name, of_systems in columns.items()}
        yield {"system": system, "map": how, "queries": len(queries), **values}


def _filled(
    people: np.ndarray, judge: np.ndarray, how: str, rng: np.random.Generator
) -> np.ndarray:
    """Return people's grades and, where they have none, the judge's on their scale."""
    pairs: Map = read_map(how)
    return np.where(np.isnan(people), mapped_grades(pairs, judge, people, rng), people)


def _unlabelled(docs: RankedDocs, has_label: np.ndarray, depth: int) -> np.ndarray:
    """Return the share of the first ranks without a label: float64 [query, system]."""
    is_first = (docs.ranks > 0) & (docs.ranks <= depth) & has_label[:, None]
    bounds = zip(docs.offsets[:-1], docs.offsets[1:], strict=True)
    return 1.0 - np.array([is_first[start:stop].sum(axis=0) for start, stop in bounds]) / depth


def _filling(
    lists: LabelledLists,
    sides: Sides,
    how: str,
    pools: PartialPools,
    untouched: dict[str, np.ndarray],
) -> Iterator[Row]:
    """Yield the rows of the table `filling`: orders of systems without half of the teams' docs."""
    judged, docs = lists.judged, lists.docs
    options, reference = judged.options, docs.grades[judged.reference]
    place = {query: i for i, query in enumerate(docs.queries)}
    queries, draws = [place[query] for query in sides.queries], len(pools.is_new)
    if len(queries) < 2:
        return
    is_used = np.isin(np.repeat(np.arange(len(docs.queries)), np.diff(docs.offsets)), queries)
    rng = np.random.default_rng(options.seed)
    seed, resamples = np.random.SeedSequence(options.seed), max(2, options.resamples // RESAMPLED)
    weights = draw_counts(len(queries), resamples, seed) / len(queries)
    weights = np.concatenate([orders.whole(len(queries)), weights])
    people = np.where(is_used[:, None], pools.labels, np.nan)
    # Docs without a label by the reference are not filled: nobody knows what they are worth.
    judge = np.where(np.isnan(reference), np.nan, docs.grades[sides.judge])
    ways = {way: (values[:, queries], np.nan) for way, values in untouched.items()}
    ways["judge alone"] = np.repeat(sides.values[1][None], draws, axis=0), np.nan
    labels = {f"filled: {each}": (judge, each) for each in [how, "expected", "drawn"]}
    labels[CONTROL] = np.where(np.isnan(judge), np.nan, 0.0), "expected"
    for way, (grades, each) in labels.items():
        filled = np.stack([_filled(of_draw, grades, each, rng) for of_draw in people.T], axis=1)
        gaps = np.where(np.isnan(people), filled - reference[:, None], np.nan)[is_used]
        excess = float(np.nanmean(gaps)) if (~np.isnan(gaps)).any() else np.nan
        ways[way] = lists.values(filled)[:, queries], excess
    by_way = {
        way: Orders.of(sides.values[0], values, pools.is_new, weights)
        for way, (values, _) in ways.items()
    }
    labelled = (~np.isnan(people[is_used])).sum() / draws / (~np.isnan(reference[is_used])).sum()
    for way, of_way in by_way.items():
        effect, is_other = of_way.effect(by_way[NONRELEVANT], options.seed), way != NONRELEVANT
        is_judge = way.startswith("filled") and way != CONTROL
        beyond = of_way.effect(by_way[CONTROL], options.seed).difference
        yield {
            "way": way,
            "queries": len(queries),
            "teams": pools.teams,
            "draws": draws,
            "labelled": float(labelled),
            **dict(zip(("tau", "tau_low", "tau_high"), effect.tau, strict=True)),
            **dict(zip(("places", "places_low", "places_high"), effect.places, strict=True)),
            **{
                name: value if is_other else np.nan
                for name, value in zip(
                    ("difference", "difference_low", "difference_high"),
                    effect.difference,
                    strict=True,
                )
            },
            **{
                name: value if is_judge else np.nan
                for name, value in zip(
                    ("beyond_mean", "beyond_mean_low", "beyond_mean_high"), beyond, strict=True
                )
            },
            "raised": effect.raised if is_other else np.nan,
            "excess": ways[way][1],
            "verdict": effect.verdict if is_other else None,
        }
