"""The tables of one track."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np
import polars as pl

from irmeta.equality import TIE
from irmeta.errors import UsageError
from irmeta.measures.drawn_labels import is_doc_sum, permuted_means
from irmeta.measures.names import parse_measures
from irmeta.preferences.registry import is_preference
from irmeta.rankings.view import needs_of
from irmeta.results.matrix import Matrix
from irmeta.stats import judged_orders as orders
from irmeta.stats.bias import JudgeBias, judge_bias
from irmeta.stats.conclusions import (
    conclusions_of_halves,
    count_conclusions,
    pair_signs,
    survival_limits,
)
from irmeta.stats.judged_orders import (
    Decisiveness,
    decisiveness,
    many_query_tau,
    order_loss,
    split_taus,
)
from irmeta.stats.mixed_judgments import least_labelled, mixtures
from irmeta.stats.orders import kendall_tau_b, rank_rows, round_means
from irmeta.stats.paired import paired_differences, significant_signs, upper_values
from irmeta.stats.pairs import Pairs, pairwise
from irmeta.stats.prediction_powered import LEAST_LABELLED, correction_gain
from irmeta.stats.resampling import draw_query_sets
from irmeta.studies.framework.study import TableRows, with_limits
from irmeta.studies.framework.track_view import TrackView
from irmeta.studies.original.judges.ceiling import ceiling_tables
from irmeta.studies.original.judges.families import family_tables
from irmeta.studies.original.judges.judged_track import (
    Judged,
    JudgedTrack,
    Sides,
    common_names,
    t_margin,
)
from irmeta.studies.original.judges.labelled_lists import adoption_tables, hole_tables, ranked_docs
from irmeta.studies.original.judges.replicates import judge_faults, replicate_tables
from irmeta.studies.original.judges.study import (
    HALVED,
    INTERVAL_TEST,
    LABELLED,
    REPEATS,
    SIZES,
    Test,
)
from irmeta.studies.original.judges.study import JudgesOptions as Options
from irmeta.studies.original.judges.verdicts import (
    category_means,
    category_text,
    label_facts,
    read_categories,
    stored_categories,
    verdicts,
)

Row = dict[str, Any]
DRAWS = 5
"""Resamples of the queries for each resample that is split, which is slow."""
COMPARED = (5, 10, 20)
"""Numbers of best systems of the table `leaderboards`."""
COUNTED = ("kept", "reversed", "lost", "new", "new_agree", "neither", "survived", "false")
"""Columns of the table `conclusions` that count pairs of systems."""
Halves = dict[str, float | None]
NOT_HALVED: Halves = {"survived_halves": None, "false_halves": None}
NO_LIMITS: Halves = {"survived_low": None, "survived_high": None}
INTERVAL_SPLITS = 50
"""Splits whose halves give the standard deviation of a share: its own error is then 7 %."""
FACTS = ("group", "type")
"""Facts of systems by which they are grouped."""
TESTED = ("displacement", "contrast", "sd", "z", "p", "flagged", "detectable", "unjudged")
MOST_SIZES = 60
"""Largest number of sizes of mixtures; of more queries, these are evenly spaced."""
PAIR_DRAWS = 5
"""Draws of systems for each draw of pairs, which are many."""


def judges(judged: JudgedTrack) -> Iterator[Row]:
    """Yield the rows of the table `judges`, the reference first."""
    reference = judged.labels[judged.reference]
    for name, rows in judged.labels.items():
        both = rows.join(reference, on=["query", "doc"], how="semi").height
        rel = judged.rels[name]
        yield {
            "judge": name,
            "is_reference": name == judged.reference,
            "queries": rows["query"].n_unique(),
            "labels": rows.height,
            "outside": judged.outside[name],
            "rel": rel,
            "relevant": int((rows["grade"] >= rel).sum()),
            "grades": rows["grade"].n_unique(),
            "mean_grade": rows["grade"].mean(),
            "unjudged": judged.scores.unjudged(name, rows["query"]),
            "common": both,
            "reference_alone": reference.height - both,
        }


def agreement(judged: JudgedTrack) -> Iterator[tuple[str, Any]]:
    """Yield the tables `agreement`, `agreement_by_query` and `confusion`."""
    for name in judged.judges:
        pairs = judged.label_pairs(judged.reference, name)
        yield "agreement", [{"judge": name, **pairs.row()}]
        judge = pl.lit(name, pl.String).alias("judge")
        yield "agreement_by_query", pairs.by_query().select(judge, pl.all())
        yield "confusion", pairs.confusion().select(judge, pl.all())


@lru_cache(maxsize=4)
def draws_of(queries: int, resamples: int, seed: int) -> np.ndarray:
    """Return the weights of resampled queries, the same for all measures and judges."""
    return orders.drawn_queries(queries, resamples, np.random.SeedSequence(seed))


@lru_cache(maxsize=4)
def splits_of(queries: int, splits: int, seed: int) -> np.ndarray:
    """Return the random halves of the queries, the same for all measures and judges."""
    return draw_query_sets(queries, queries // 2, 2, splits, np.random.default_rng(seed))


def leaderboards(judged: Judged) -> Iterator[Row]:
    """Yield the rows of the table `leaderboards`."""
    options, systems = judged.options, judged.scores.systems
    for scores in judged.scores.measures:
        drawn = dict[int, np.ndarray]()
        for sides in (*scores.every.values(), *scores.common.values()):
            queries, key = len(sides.queries), id(sides.reference)
            if not queries:
                continue
            draws = draws_of(queries, options.resamples, options.seed)
            every = orders.whole(queries)
            reference, judge = (orders.means_of(side, every) for side in sides.values)
            if key not in drawn:
                drawn[key] = orders.means_of(sides.values[0], draws)
            resampled = orders.order_correlations(
                drawn[key], orders.means_of(sides.values[1], draws)
            )
            correlations = orders.order_correlations(reference, judge)
            many = many_query_tau(*sides.values, draws[: max(2, len(draws) // DRAWS)])
            yield {
                "judge": sides.judge,
                "measure": scores.measure,
                "docs": sides.docs,
                "queries": queries,
                "undefined": sides.undefined,
                **correlated(correlations, resampled if queries > 1 else {}),
                **_by_query(*sides.values),
                **with_limits("tau_many", (many.value, many.low, many.high)),
                **_places(reference[0], judge[0], systems),
                "mean_reference": float(reference.mean()) * sides.direction,
                "mean_judge": float(judge.mean()) * sides.direction,
            }


def correlated(correlations: dict[str, np.ndarray], resampled: Mapping[str, np.ndarray]) -> Row:
    """Return the correlations with their intervals, and the bootstrap of tau-b."""
    row: Row = {}
    for name, limits in orders.LIMITS.items():
        draws = resampled.get(name, np.empty(0))
        interval = orders.around_estimate(float(correlations[name][0]), draws, limits)
        row |= with_limits(name, (interval.value, interval.low, interval.high))
        if name == "tau_b":
            row |= {"sd": interval.sd, "drawn": interval.drawn}
    return row


def _by_query(reference: np.ndarray, judge: np.ndarray) -> Row:
    """Return the mean of tau-b over queries, with its interval by Student's t."""
    taus = kendall_tau_b(round_means(reference), round_means(judge), True)
    taus = taus[~np.isnan(taus)]
    mean = float(taus.mean()) if len(taus) else np.nan
    margin = t_margin(taus)
    return with_limits("tau_by_query", (mean, max(mean - margin, -1.0), min(mean + margin, 1.0)))


def win_rate_fits(judged: Judged) -> dict[tuple[str, str], Decisiveness]:
    """Fit the win rates of each judge by each measure, by judge and measure."""
    options = judged.options
    few = max(2, options.resamples // DRAWS)
    return {
        (sides.judge, measure): decisiveness(
            *sides.values,
            draws_of(len(sides.queries), options.resamples, options.seed)[:few],
            (float(sides.reference.tolerances.max()), float(sides.judged.tolerances.max())),
        )
        for measure, sides in judged.sides
    }


def decisiveness_rows(
    judged: Judged, fits: Mapping[tuple[str, str], Decisiveness]
) -> Iterator[Row]:
    """Yield the rows of the table `decisiveness`."""
    systems = judged.scores.systems
    for measure, sides in judged.sides:
        fit = fits[sides.judge, measure]
        yield {
            "judge": sides.judge,
            "measure": measure,
            "queries": len(sides.queries),
            **with_limits("decisiveness", (fit.shape, fit.low, fit.high)),
            "bias_spread": fit.spread,
            "most_raised": systems[int(fit.biases[0].argmax())],
            "most_lowered": systems[int(fit.biases[0].argmin())],
        }


def _places(reference: np.ndarray, judge: np.ndarray, systems: tuple[str, ...]) -> Row:
    """Return what the two orders have in common at the top, and the greatest changes of places."""
    falls = orders.places(judge) - orders.places(reference)
    down, up = (int(np.flatnonzero(falls == change)[-1]) for change in (falls.max(), falls.min()))
    first, second = (np.flatnonzero(means == means.max()) for means in (reference, judge))
    return {
        "best_reference": systems[first[0]],
        "best_judge": systems[second[0]],
        "same_best": bool(np.intersect1d(first, second).size),
        **{
            f"common_{size}": orders.common_best(reference, judge, size)
            if size <= len(systems)
            else None
            for size in COMPARED
        },
        "drop": int(falls[down]),
        "dropped": systems[down] if falls[down] > 0 else None,
        "rise": int(-falls[up]),
        "risen": systems[up] if falls[up] < 0 else None,
    }


def query_noise(judged: Judged) -> Iterator[Row]:
    """Yield the rows of the table `query_noise`."""
    options = judged.options
    for measure, sides in judged.sides:
        queries = len(sides.queries)
        if queries < 2:
            continue
        halves = orders.half_weights(splits_of(queries, options.splits, options.seed), queries)
        taus = split_taus(*sides.values, halves)
        draws = max(2, options.resamples // DRAWS)
        loss = order_loss(*sides.values, taus, draws, options.seed)
        yield {
            "judge": sides.judge,
            "measure": measure,
            "queries": queries,
            "splits": options.splits,
            **spread("tau_reference", taus.people),
            **spread("tau_judge", taus.judge),
            "difference": loss.difference,
            "error": loss.error,
            "difference_low": loss.low,
            "least_loss": loss.least,
            "orders_as": loss.as_people(options.margin),
        }


def spread(name: str, values: np.ndarray) -> Row:
    """Return the mean and the quantiles .025 and .975; NaN are left out."""
    defined = values[~np.isnan(values)]
    statistics = [np.nan] * 3
    if len(defined):
        statistics = [float(defined.mean()), *map(float, np.quantile(defined, (0.025, 0.975)))]
    return with_limits(name, statistics)


def single_queries(measure: str, sides: Sides, alpha: float) -> Iterator[Row]:
    """Yield the rows of the table `single_queries` of one judge and measure."""
    reference, values = sides.values
    queries = len(reference)
    weights = 1.0 - np.eye(queries)
    without = weights / max(queries - 1, 1)
    signs = significant_signs(paired_differences(reference), alpha, holm=False)
    first, second = (side[signs != 0] for side in np.triu_indices(reference.shape[1], 1))
    is_first = signs[signs != 0] > 0
    better, worse = (np.where(is_first, first, second), np.where(is_first, second, first))
    gaps = reference[:, better] - reference[:, worse]
    by_query = kendall_tau_b(round_means(reference), round_means(values), True)
    left = kendall_tau_b(
        orders.means_of(reference, without), orders.means_of(values, without), True
    )
    turned = (gaps > TIE) & (values[:, better] - values[:, worse] < -TIE)
    difference = (values.mean(axis=1) - reference.mean(axis=1)) * sides.direction
    for i, query in enumerate(sides.queries):
        yield {
            "judge": sides.judge,
            "measure": measure,
            "query": query,
            "tau_b": float(by_query[i]),
            "difference": float(difference[i]),
            "conclusions": int((gaps[i] > TIE).sum()),
            "turned": int(turned[i].sum()),
            "tau_without": float(left[i]),
        }


def top(judged: Judged) -> Iterator[Row]:
    """Yield the rows of the table `top`."""
    systems, options = judged.scores.systems, judged.options
    for measure, sides in judged.sides:
        every = orders.whole(len(sides.queries))
        reference, means = (orders.means_of(side, every)[0] for side in sides.values)
        order = np.lexsort((np.arange(len(means)), -means))
        draws = draws_of(len(sides.queries), options.resamples, options.seed)
        drawn = [orders.means_of(side, draws) for side in sides.values]
        for size in (size for size in SIZES if size <= len(systems)):
            best, regret = orders.regret_of_best(reference, means, size)
            chosen = np.flatnonzero(orders.shares_of_best(means, size) > 0)
            first = np.flatnonzero(orders.shares_of_best(reference, size) > 0)
            tau = float(kendall_tau_b(reference[None, first], means[None, first], True)[0])
            taus = kendall_tau_b(drawn[0][:, first], drawn[1][:, first], True)
            limits = orders.around_estimate(tau, taus if len(sides.queries) > 1 else taus[:0])
            yield {
                "judge": sides.judge,
                "measure": measure,
                "size": size,
                "best": best * sides.direction,
                "regret": regret,
                "common": orders.common_best(reference, means, size),
                "chosen": ", ".join(systems[i] for i in order[: len(chosen)]),
                **with_limits("tau_first", (tau, limits.low, limits.high)),
            }


def conclusions(judged: Judged) -> Iterator[Row]:
    """Yield the rows of the table `conclusions`."""
    alpha = judged.options.alpha
    for scores in judged.scores.measures:
        for reference, judges in scores.by_queries:
            halves = _halves(judged, reference)
            limits = {judge: _limits(judged, reference, values) for judge, values in judges.items()}
            for test in judged.options.run_tests:
                tested = _tested(judged, reference, test)
                signs = pair_signs(tested.better(alpha))
                difference = upper_values(tested.difference) * tested.direction
                for judge, values in judges.items():
                    of_judge = pair_signs(_tested(judged, values, test).better(alpha))
                    counts = count_conclusions(signs, of_judge, difference)
                    yield {
                        "judge": judge,
                        "measure": scores.measure,
                        "test": test.name,
                        "queries": len(reference.queries),
                        **{name: getattr(counts, name) for name in COUNTED},
                        **(limits[judge] if test.name == INTERVAL_TEST else NO_LIMITS),
                        **halves.get(test.name, NOT_HALVED),
                    }


def _tested(judged: Judged, values: Matrix, test: Test) -> Pairs:
    """Test all pairs of systems by one set of labels; all sets share the random numbers."""
    return pairwise(
        values,
        test.test,
        correction=test.correction,
        resamples=judged.options.resamples,
        rng=judged.options.seed,
    )


def _halves(judged: Judged, reference: Matrix) -> dict[str, Halves]:
    """Return the shares of conclusions of a half of the queries that the other keeps, by test."""
    options, queries = judged.options, len(reference.queries)
    tests = [test for test in options.run_tests if test.name in HALVED]
    if not tests or queries < 4:
        return {}
    halves = conclusions_of_halves(
        reference.oriented,
        splits_of(queries, options.splits, options.seed),
        options.alpha,
        [test.correction == "holm" for test in tests],
    )
    shares = np.array([[(counts.survived, counts.false) for counts in both] for both in halves])
    means: dict[str, Halves] = {}
    for test, of_test in zip(tests, shares.swapaxes(0, 1), strict=True):
        of_test = of_test[~np.isnan(of_test[:, 0])]
        survived, false = of_test.mean(axis=0).tolist() if len(of_test) else (None, None)
        means[test.name] = {"survived_halves": survived, "false_halves": false}
    return means


def _limits(judged: Judged, reference: Matrix, judge: Matrix) -> Halves:
    """Return the interval of the share of conclusions by t, uncorrected, that the judge keeps."""
    options, queries = judged.options, len(reference.queries)
    if INTERVAL_TEST not in options.tests or queries < 4:
        return NO_LIMITS
    halves = splits_of(queries, min(options.splits, INTERVAL_SPLITS), options.seed)
    low, high = survival_limits(reference.oriented, judge.oriented, halves, options.alpha)
    return {"survived_low": low, "survived_high": high}


def bias_tables(
    judged: JudgedTrack, fits: Mapping[tuple[str, str], Decisiveness]
) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield the tables `groups` and `systems`."""
    rows = bias_of(judged).rows
    yield (
        "groups",
        rows.filter(pl.col("by") != "system").select(
            "judge", "measure", "by", pl.col("name").alias("group"), "systems", *TESTED
        ),
    )
    tested = rows.filter(by="system").select(
        "judge", "measure", pl.col("name").alias("system"), *TESTED
    )
    yield from systems_tables(judged, tested, facts_of(judged), fits)


def systems_tables(
    judged: Judged,
    tested: pl.DataFrame,
    facts: pl.DataFrame,
    fits: Mapping[tuple[str, str], Decisiveness],
) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield the table `systems`, from the tests of bias, facts of systems, and win rates."""
    reals = [name for name in TESTED if name != "flagged"]
    for measure, sides in judged.sides:
        key = {"judge": pl.lit(sides.judge), "measure": pl.lit(measure)}
        biases = with_limits("bias_win", fits[sides.judge, measure].biases)
        systems = pl.Series(judged.scores.systems, dtype=pl.String)
        placed = _placed(sides.reference, sides.judged).join(facts, on="system")
        placed = placed.join(
            pl.DataFrame({"system": systems, **biases}), on="system", maintain_order="left"
        )
        placed = placed.with_columns(**key).join(
            tested, on=["judge", "measure", "system"], how="left", maintain_order="left"
        )
        yield (
            "systems",
            placed.with_columns(
                pl.col(reals).fill_null(float("nan")), pl.col("flagged").fill_null(False)
            ),
        )


def bias_of(judged: JudgedTrack) -> JudgeBias:
    """Test the bias of all judges, by the measures of which draws take little time.

    The first measure, which verdicts are by, is tested also if they take long.
    """
    options = judged.options
    specs = {name: parse_measures(name)[0] for name in options.measures if not is_preference(name)}
    specs = {
        name: spec
        for name, spec in specs.items()
        if is_doc_sum(spec) or (name == options.measures[0] and "subtopics" not in spec.needs)
    }
    needs = needs_of(specs.values())
    sets = {j: common_names(j)[1] if options.common else j for j in judged.judges}
    permuted = permuted_means(
        list(judged.track.blocks(needs, qrels=judged.reference)),
        {judge: list(judged.track.blocks(needs, qrels=name)) for judge, name in sets.items()},
        [*specs],
        within=options.within,
        draws=options.draws,
        rng=options.seed,
    ) if specs else []  # fmt: skip
    return judge_bias(permuted, groups=groups_of(judged), confidence=1 - options.alpha)


def groups_of(judged: JudgedTrack) -> dict[str, Mapping[str, str | None]]:
    """Return the group and the type of each system, where the systems differ in them."""
    facts = judged.track.facts
    known = {"group": facts.groups, "type": facts.types}
    return {
        fact: dict(zip(facts.systems, known[fact], strict=True))
        for fact in FACTS
        if len({value for value in known[fact] if value}) > 1
    }


def facts_of(judged: JudgedTrack) -> pl.DataFrame:
    """Return the group and the type of each system; null where unknown."""
    facts = judged.track.facts
    systems = facts.systems
    named = {"group": facts.groups, "type": facts.types}
    columns = {name: list(values) or [None] * len(systems) for name, values in named.items()}
    return pl.DataFrame(
        {"system": list(systems), **columns}, dict.fromkeys(("system", *FACTS), pl.String)
    )


def _placed(reference: Matrix, judge: Matrix) -> pl.DataFrame:
    """Return means, ranks and places of the systems, best by the reference first.

    In places ties are ordered by name.
    """
    columns = dict[str, object]()
    for side, matrix in (("reference", reference), ("judge", judge)):
        means = matrix.means
        columns[f"mean_{side}"] = means
        columns[f"rank_{side}"] = rank_rows(round_means(means * matrix.direction)[None])[0]
    frame = pl.DataFrame({"system": pl.Series(reference.systems, dtype=pl.String), **columns})
    places = (
        pl.struct(f"rank_{side}", "system").rank("ordinal").cast(pl.Int32).alias(f"place_{side}")
        for side in ("reference", "judge")
    )
    return frame.with_columns(places).sort("place_reference")


def mixture_tables(judged: Judged) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield the tables `mixtures` and `least_labelled`."""
    options = judged.options
    for scores in judged.scores.measures:
        measure = pl.lit(scores.measure).alias("measure")
        for reference, judges in scores.by_queries:
            count = len(reference.queries)
            sizes = np.linspace(0, count, min(count, MOST_SIZES) + 1)
            mixed = mixtures(
                reference,
                judges,
                sizes=np.unique(sizes.round().astype(int)).tolist(),
                repeats=REPEATS,
                rng=options.seed,
            )
            yield "mixtures", mixed.select("judge", measure, pl.exclude("judge"))
            least = least_labelled(mixed)
            yield "least_labelled", least.select("judge", measure, pl.exclude("judge"))


def corrected_tables(judged: Judged) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield the rows of the table `corrected`, by measure."""
    options = judged.options
    for scores in judged.scores.measures:
        measure = pl.lit(scores.measure).alias("measure")
        for reference, judges in scores.by_queries:
            queries, half = len(reference.queries), len(reference.queries) // 2
            sizes = [size for size in LABELLED if LEAST_LABELLED <= size < queries]
            sizes = sizes or [half] * (LEAST_LABELLED <= half < queries)
            if not sizes:
                continue
            corrected = correction_gain(
                reference,
                judges,
                sizes,
                draws=options.resamples,
                pair_draws=max(1, options.resamples // PAIR_DRAWS),
                rng=options.seed,
            )
            yield "corrected", corrected.select("judge", measure, pl.exclude("judge"))


def compute(track: TrackView, options: Options) -> TableRows:
    """Yield the tables of one track; all sets of labels are scored once."""
    judged = JudgedTrack.of(track, options)
    if judged is None:
        return
    if not any(True for _ in judged.scores.measures[0].sides):
        track.leave_out(
            f"no query that a judge labelled has a value of {options.measures[0]} for every system"
        )
    categories = read_categories(options.categories, judged.judges, track.note)
    if options.categories is None:
        categories = stored_categories(track.judges, judged.judges)
    if options.leave_out and not categories:
        raise UsageError(
            "leave_out has no effect without categories of judges: name their file, or let the "
            "track's judges.csv have model, prompt, method or repeat."
        )
    yield from family_tables(judged)  # first, since the file may be wrong
    yield "judges", list(judges(judged))
    agreements = list(agreement(judged))
    yield from agreements
    fits = win_rate_fits(judged)
    rows = rows_of_values(judged, fits)
    docs = ranked_docs(judged)
    for name, some in chain(adoption_tables(judged, docs), hole_tables(judged, docs)):
        rows.setdefault(name, []).extend(some)
    yield from rows.items()
    yield from ceiling_tables(judged)
    frames = [*bias_tables(judged, fits), *mixture_tables(judged), *corrected_tables(judged)]
    yield from frames
    facts = {
        judge: {"category": category_text(categories.get(judge)), **label_facts(judged, judge)}
        for judge in judged.judges
    }
    yield "verdicts", list(verdicts(judged, facts, rows, frames))
    if categories:
        rows["agreement"] = [row for name, of in agreements if name == "agreement" for row in of]
        faults = judge_faults(judged, rows["agreement"])
        yield "judge_faults", faults
        out = {row["judge"] for row in faults if row["left_out"]}
        categories = {judge: of for judge, of in categories.items() if judge not in out}
    yield from category_means(categories, rows["leaderboards"])
    yield from replicate_tables(judged, categories, rows, facts, track.note)


def rows_of_values(
    judged: Judged, fits: Mapping[tuple[str, str], Decisiveness]
) -> dict[str, list[Row]]:
    """Return the rows of the tables that need only values, by table."""
    alpha = judged.options.alpha
    by_query = (single_queries(measure, sides, alpha) for measure, sides in judged.sides)
    return {
        "leaderboards": list(leaderboards(judged)),
        "decisiveness": list(decisiveness_rows(judged, fits)),
        "query_noise": list(query_noise(judged)),
        "conclusions": list(conclusions(judged)),
        "single_queries": list(chain.from_iterable(by_query)),
        "top": list(top(judged)),
    }
