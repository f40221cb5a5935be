"""Lists scored again: re-ranked by a judge's labels (adoption), or with holes filled by them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from irmeta.errors import UsageError, did_you_mean
from irmeta.measures.drawn_labels import DocSum
from irmeta.measures.names import Spec, parse_measures
from irmeta.phrases import agreeing
from irmeta.rankings.derive.lists import rank_by_grades
from irmeta.rankings.judged import JudgedRanks
from irmeta.stats import judged_orders as orders
from irmeta.stats.filling import Map, Orders, mapped_grades, mean_grades
from irmeta.stats.judged_orders import Adoption, Estimate, Values, circular_effect
from irmeta.stats.label_agreement import SAME, scale_text
from irmeta.stats.resampling import draw_counts
from irmeta.studies.framework.study import with_limits
from irmeta.studies.original.judges.judged_track import JudgedTrack, Sides, common_names
from irmeta.studies.original.judges.study import read_map

Row = dict[str, Any]
_BOTH = ["query", "doc"]
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
class ScoredSet:
    """A set of labels by which lists are scored.

    `docs`: int64 [labels]: its docs among those of `RankedDocs`, query after query; `codes`: the
    number of each one's grade; `form`: the measure.
    """

    docs: np.ndarray
    codes: np.ndarray
    form: DocSum


@dataclass(frozen=True)
class RankedDocs:
    """The docs with a label by any set, and their ranks in the lists of all systems.

    `offsets`: int64 [queries + 1]: the docs of each query. `ranks`: int64 [docs, systems], from 1;
    0: not retrieved. `grades`: float64 [docs] by set; NaN: no label. `scored`: the sets by which
    lists are scored.
    """

    queries: tuple[str, ...]
    offsets: np.ndarray
    ranks: np.ndarray
    grades: Mapping[str, np.ndarray]
    scored: Mapping[str, ScoredSet]

    @classmethod
    def of(cls, judged: JudgedTrack, measure: str, sets: Sequence[str]) -> RankedDocs:
        """Read the ranks of all docs with a label; `sets` score the lists by a sum over docs."""
        track, labels = judged.track, judged.labels
        docs = pl.concat([rows.select(_BOTH) for rows in labels.values()]).unique().sort(_BOTH)
        docs = docs.with_row_index("place")
        queries = docs["query"].unique(maintain_order=True)
        offsets = np.append(docs["query"].search_sorted(queries).to_numpy(), docs.height)
        ranks = np.zeros((docs.height, len(track.facts.systems)), np.int64)
        scored = dict[str, ScoredSet]()
        for name in dict.fromkeys([*labels, *sets]):
            views = list(track.blocks(qrels=name))
            rows = pl.concat(
                [
                    pl.DataFrame(
                        {
                            "query": pl.Series(view.queries, dtype=pl.String).gather(
                                view.query_of(np.arange(len(view.grades)))
                            ),
                            "doc": view.docs,
                            "grade": view.grades.astype(np.float64),
                        }
                    )
                    for view in views
                ]
            ).with_row_index("row")
            shared = rows.join(docs, on=_BOTH).sort("place")
            place, row = shared["place"].to_numpy(), shared["row"].to_numpy()
            of_set = np.concatenate([np.where(v.ranks == v.missing, 0, v.ranks) for v in views])
            ranks[place] = of_set[row]
            if name not in sets:
                continue
            (spec,) = track.named_in_set(parse_measures(measure), qrels=name)
            levels, codes = np.unique(shared["grade"].to_numpy(), return_inverse=True)
            most = int(np.diff(offsets).max(initial=0))
            form = DocSum.of(spec, views[0], levels, most)
            assert form is not None
            scored[name] = ScoredSet(place.astype(np.int64), codes, form)
        grades = {
            name: docs.join(rows, on=_BOTH, how="left", maintain_order="left")["grade"]
            .fill_null(np.nan)
            .to_numpy()
            for name, rows in labels.items()
        }
        return cls(tuple(queries), offsets, ranks, grades, scored)

    def places(self, queries: Sequence[str]) -> list[int]:
        """Return the places of some queries among all."""
        place = {query: i for i, query in enumerate(self.queries)}
        return [place[query] for query in queries]

    def values(self, adopted: str | None, depth: int) -> dict[str, np.ndarray]:
        """Score the lists, re-ranked by the labels of a set: float64 [query, system] by set."""
        shape = len(self.queries), self.ranks.shape[1]
        values = {name: np.zeros(shape) for name in self.scored}
        bounds = {n: np.searchsorted(s.docs, self.offsets) for n, s in self.scored.items()}
        for q in range(len(self.queries)):
            start, stop = self.offsets[q : q + 2]
            ranks = self.ranks[start:stop]
            if adopted is not None:
                ranks = rank_by_grades(ranks, self.grades[adopted][start:stop], depth)
            for name, scored in self.scored.items():
                of_query = slice(*bounds[name][q : q + 2])
                docs, codes = scored.docs[of_query] - start, scored.codes[of_query, None]
                values[name][q] = scored.form.values(ranks[docs], codes, True)[:, 0]
        return values


def ranked_docs(judged: JudgedTrack) -> RankedDocs | None:
    """Return the docs with a label; None if no table needs them, or the measure is no such sum."""
    options, measure = judged.options, judged.options.measures[0]
    tables = [name for name in ("adoption", "holes") if getattr(options, name)]
    if not tables:
        return None
    if not judged.is_by_doc_sum:
        judged.track.note(
            f"{' and '.join(tables)} {agreeing(len(tables), 'is', 'are')} not computed: the first "
            f"measure, {measure}, is no sum over docs"
        )
        return None
    sets = [name for judge in judged.judges for name in scored_sets(judged, judge)]
    return RankedDocs.of(judged, measure, list(dict.fromkeys([judged.reference, *sets])))


def scored_sets(judged: JudgedTrack, judge: str) -> tuple[str, str]:
    """Return the two sets by which a judge is compared with the reference."""
    return common_names(judge) if judged.options.common else (judged.reference, judge)


@dataclass(frozen=True)
class AdoptedLabels:
    """The values of all lists, as they are (None) and re-ranked by the labels of each set."""

    judged: JudgedTrack
    docs: RankedDocs

    @cached_property
    def _values(self) -> dict[str | None, dict[str, np.ndarray]]:
        return {
            adopted: self.docs.values(adopted, self.judged.options.adoption)
            for adopted in (None, *self.judged.labels)
        }

    def adoption(self, sides: Sides, adopted: str) -> Adoption:
        """Return the values on the queries of a judge before and after systems adopt a set."""
        rows = self.docs.places(sides.queries)

        def both(labels: str | None) -> Values:
            values, sets = self._values[labels], scored_sets(self.judged, sides.judge)
            reference, judge = (sides.direction * values[name][rows] for name in sets)
            return reference, judge

        return Adoption(both(None), both(adopted))


def adoption_tables(
    judged: JudgedTrack, docs: RankedDocs | None
) -> Iterator[tuple[str, Sequence[Row]]]:
    """Yield the tables `adoption` and `adopters`, by the first measure."""
    if docs is None or not judged.options.adoption:
        return
    measure, labels = judged.options.measures[0], AdoptedLabels(judged, docs)
    for sides in judged.scores.measures[0].sides:
        by_set = {name: labels.adoption(sides, name) for name in judged.labels}
        key = {"judge": sides.judge, "measure": measure}
        yield "adoption", [key | row for row in _rows(judged, sides, by_set)]
        yield "adopters", [key | row for row in _adopters(judged, by_set[sides.judge])]


def _rows(judged: JudgedTrack, sides: Sides, by_set: Mapping[str, Adoption]) -> Iterator[Row]:
    """Yield the rows of a judge: its labels and the reference's for all numbers of adopters."""
    options, systems = judged.options, len(judged.scores.systems)
    some = {max(1, round(share * systems)) for share in options.shares} | {1}
    queries, of_judge = len(sides.queries), by_set[sides.judge]
    before = Adoption(of_judge.before, of_judge.before).taus(orders.whole(queries))
    weights = orders.drawn_queries(queries, options.resamples, np.random.SeedSequence(options.seed))
    for adopted, adoption in by_set.items():
        of_pair = adopted in (sides.judge, judged.reference)
        for adopters in sorted({systems, *(some if of_pair else ())}):
            is_all = adopters == systems
            if is_all:
                value = float(adoption.taus(orders.whole(queries))[0])
                draws = adoption.taus(weights) if queries > 1 else np.empty(0)
                tau = Estimate.of(value, draws)
            else:
                rng = np.random.default_rng((options.seed, adopters))
                tau = adoption.tau_of(adopters, options.adoption_draws, rng)
            confirmed = effect = Estimate(*[np.nan] * 3)
            if is_all and adopted != sides.judge:
                effect = circular_effect(of_judge, adoption, weights)
            if adopted != judged.reference:  # whose gain confirms nothing
                confirmed = adoption.confirmed(weights)
            gains = [float(gain.mean()) for gain in adoption.gains]
            reference, judge = adoption.places
            is_single = adopters == 1 and adopted == sides.judge
            won = reference - judge if is_single else None
            kind = {sides.judge: "judge", judged.reference: "reference"}.get(adopted, "other judge")
            yield {
                "adopted": adopted,
                "labels": kind,
                "adopters": adopters,
                "share": adopters / systems,
                "queries": queries,
                "tau_before": float(before[0]),
                **with_limits("tau", tau),
                "gain_judge": gains[1] * sides.direction,
                "gain_reference": gains[0] * sides.direction,
                **with_limits("confirmed", confirmed),
                "sd_reference": adoption.deviations[0] if is_all else np.nan,
                "sd_judge": adoption.deviations[1] if is_all else np.nan,
                **with_limits("effect", effect),
                "detectable": effect.detectable,
                "places": None if won is None else float(won.mean()),
                "most_places": None if won is None else int(won.max()),
            }


def _adopters(judged: JudgedTrack, adoption: Adoption) -> Iterator[Row]:
    """Yield the rows of a judge of the table `adopters`."""
    gains = [
        (changed - plain).mean(axis=0)
        for plain, changed in zip(adoption.before, adoption.after, strict=True)
    ]
    for system, gain, judged_gain, place, judged_place in zip(
        judged.scores.systems, *gains, *adoption.places, strict=True
    ):
        yield {
            "system": system,
            "gain_judge": float(judged_gain),
            "gain_reference": float(gain),
            "place_judge": int(judged_place),
            "place_reference": int(place),
            "won": int(place - judged_place),
        }


def circularity(rows: Sequence[Row], judge: str, reference: str) -> Row:
    """Return the circular effect of a judge, beside adoption of the reference, and its verdict."""
    unknown = {"effect": np.nan, "effect_low": np.nan, "effect_high": np.nan}
    of_pair = (row for row in rows if (row["judge"], row["adopted"]) == (judge, reference))
    effect = next((row for row in of_pair if row["share"] == 1), unknown)
    is_above, is_below = effect["effect_low"] > 0, effect["effect_high"] < 0
    verdict = "circular" if is_above else "less than people" if is_below else "not shown"
    limits = {f"circular_{name}": effect[name] for name in unknown}
    return {**limits, "circular": None if np.isnan(effect["effect_low"]) else verdict}


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
    queries = docs.places(sides.queries)
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
    queries, draws = docs.places(sides.queries), len(pools.is_new)
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
    undefined = [np.nan] * 3
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
            **with_limits("tau", effect.tau),
            **with_limits("places", effect.places),
            **with_limits("difference", effect.difference if is_other else undefined),
            **with_limits("beyond_mean", beyond if is_judge else undefined),
            "raised": effect.raised if is_other else np.nan,
            "excess": ways[way][1],
            "verdict": effect.verdict if is_other else None,
        }
