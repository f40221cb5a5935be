"""The tables `adoption` and `adopters`: systems that re-rank their lists by labels of a judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from irmeta.measures.drawn_labels import DocSum, is_doc_sum
from irmeta.measures.names import parse_measures
from irmeta.preferences.registry import is_preference
from irmeta.rankings.derive.lists import rank_by_grades
from irmeta.stats import judged_orders as orders
from irmeta.stats.judged_orders import Adoption, Estimate, Values, circular_effect
from irmeta.studies.original.judges.judged_track import JudgedTrack, Sides, common_names

Row = dict[str, Any]
_BOTH = ["query", "doc"]


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
    if is_preference(measure) or not is_doc_sum(parse_measures(measure)[0]):
        verb = "is" if len(tables) == 1 else "are"
        judged.track.note(
            f"{' and '.join(tables)} {verb} not computed: the first measure, {measure}, is no sum "
            "over docs"
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
    def _values(self) -> tuple[dict[str, int], dict[str | None, dict[str, np.ndarray]]]:
        place = {query: i for i, query in enumerate(self.docs.queries)}
        return place, {
            adopted: self.docs.values(adopted, self.judged.options.adoption)
            for adopted in (None, *self.judged.labels)
        }

    def adoption(self, sides: Sides, adopted: str) -> Adoption:
        """Return the values on the queries of a judge before and after systems adopt a set."""
        place, values = self._values
        rows = [place[query] for query in sides.queries]

        def both(labels: str | None) -> Values:
            of_sets = [values[labels][name][rows] for name in scored_sets(self.judged, sides.judge)]
            reference, judge = (sides.direction * of_set for of_set in of_sets)
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
            unknown = Estimate(*[np.nan] * 3)
            is_other = is_all and adopted != sides.judge
            effect = circular_effect(of_judge, adoption, weights) if is_other else unknown
            is_gamed = adopted == judged.reference  # so that its gain confirms nothing
            confirmed = unknown if is_gamed else adoption.confirmed(weights)
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
                **_limits("tau", tau),
                "gain_judge": gains[1] * sides.direction,
                "gain_reference": gains[0] * sides.direction,
                **_limits("confirmed", confirmed),
                "sd_reference": adoption.deviations[0] if is_all else np.nan,
                "sd_judge": adoption.deviations[1] if is_all else np.nan,
                **_limits("effect", effect),
                "detectable": effect.detectable,
                "places": None if won is None else float(won.mean()),
                "most_places": None if won is None else int(won.max()),
            }


def _limits(name: str, estimate: Estimate) -> Row:
    return dict(zip((name, f"{name}_low", f"{name}_high"), estimate, strict=True))


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
