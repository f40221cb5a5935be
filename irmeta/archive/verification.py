"""Verification of published values: reproduced or not, and readings that explain differences."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any, get_args

import numpy as np
import polars as pl

from irmeta.archive.published_values import (
    CatalogTrack,
    add_meanings,
    catalog_tracks,
    catalog_values,
    match_names,
    published_rows,
    read_published,
    with_parameter,
)
from irmeta.errors import IrmetaError, MeasureError, UsageError, first_few
from irmeta.locations import local
from irmeta.measures.evaluate import evaluate, how_made
from irmeta.measures.names import Spec, parse_measure, parse_measures
from irmeta.measures.search_length import UNRETRIEVED
from irmeta.measures.sums import GAINS, OF_QUERY
from irmeta.parallel import ordered_map
from irmeta.phrases import count
from irmeta.policies import Averaged, EvalPolicy, TieOrder, columns_by_key
from irmeta.progress import reported
from irmeta.rankings.track import Track
from irmeta.results.averages import mean_over_queries
from irmeta.results.scores import Scores
from irmeta.schema.result_tables import UNMATCHED
from irmeta.store.scan import StoreReader, Tracks, tracks_of
from irmeta.summaries import Result, Summary

CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
"""Cutoffs of trec_eval that a column may hold under another name."""
DEPTHS = (1000, 100)
"""Depths to which evaluators cut lists."""
ROUNDING = 1e-9
"""Tolerance beyond half a unit of the last printed digit, for sums in another order."""
_BY_PARAMETER = (
    ("gain", (*GAINS, OF_QUERY)),
    ("stop", ("exp", "linear", "ntcir")),
    ("unretrieved", UNRETRIEVED),
    ("form", ("2011", "2012")),  # of infNDCG
    ("norm", ("all", "min")),
)
"""Values of parameters that other definitions of a measure use."""
_LIKELY: tuple[TieOrder, ...] = ("trec_eval10", "file", "score-file", "rank", "trec_eval")
_MEANS: tuple[Averaged, ...] = ("retrieved", "relevant", "judged")
assert set(_LIKELY) == set(get_args(TieOrder))
assert set(_MEANS) == set(get_args(Averaged))


@dataclass(frozen=True)
class Reading:
    """A way of computing a measure that may explain a published value.

    `choices` are differing fields of `EvalPolicy`; `other` returns the measure to compute, None
    where it is not concerned. One `of_column` must explain at least half of the differing values;
    one that `needs_another` another value of the column, too. The best of a `family` comes first.
    """

    reason: str
    choices: dict[str, Any] = field(default_factory=dict)
    other: Callable[[Spec], Spec | None] = lambda spec: spec
    of_column: bool = True
    needs_another: bool = False
    family: str = ""

    def names(self, measures: Iterable[str]) -> dict[str, str]:
        """Map the measures that this reading concerns to those that are computed."""
        computed = dict[str, str]()
        for name in measures:
            try:
                spec = self.other(parse_measure(name))
            except MeasureError:  # the measure does not take the parameter or the cutoff
                continue
            if spec is not None:
                computed[name] = spec.name
        return computed


def other_readings(
    policy: EvalPolicy, tie_order: str, sets: list[str], highest_grade: float
) -> Iterator[Reading]:
    """Yield readings of a track's values, the likelier first; `sets` are its other qrels sets."""
    for order in _LIKELY:
        if order != tie_order:
            choices = {"tie_order": order}
            yield Reading(f"tie order {order}", choices, of_column=False, needs_another=True)
    for queries in _MEANS:
        if queries != policy.queries:
            reason = f"mean over {queries} queries"
            yield Reading(reason, {"queries": queries}, of_column=False)
    for name in sets:
        yield Reading(f"qrels set {name}", {"qrels": name})
    for rel in range(1, int(highest_grade) + 1):
        yield Reading(f"relevant from grade {rel}", other=_setter("rel", rel))
    for name, values in _BY_PARAMETER:
        for value in values:
            yield Reading(f"{name}={value}", other=_setter(name, value), family=name)
    for depth in DEPTHS:
        cut = _cutter(depth, only_uncut=True)
        yield Reading(f"lists cut at {depth:,} docs", other=cut, of_column=False)
    negative = "unjudged" if policy.negative == "nonrelevant" else "nonrelevant"
    yield Reading(f"negative grades as {negative}", {"negative": negative})
    for form in ("trec_eval", "trec_eval7", "original", "bpref-10"):
        yield Reading(f"bpref by the definition {form}", other=_setter("form", form))
    for k in CUTOFFS:
        yield Reading(f"measured at cutoff {k}", other=_cutter(k))


def _setter(name: str, value: Any) -> Callable[[Spec], Spec | None]:
    return lambda spec: with_parameter(spec, name, value)


def _cutter(k: int, *, only_uncut: bool = False) -> Callable[[Spec], Spec | None]:
    """Return a function that gives a measure another cutoff."""

    def change(spec: Spec) -> Spec | None:
        measure = spec.measure
        if measure.cutoff == "none" or measure.cutoff_is != "rank" or measure.cutoff_prefix:
            return None
        if spec.cutoff == k or (only_uncut and spec.cutoff is not None):
            return None
        return parse_measure(replace(spec, cutoff=k, asked="").name)

    return change


def equal_as_printed(values: np.ndarray, printed: np.ndarray, digits: np.ndarray) -> np.ndarray:
    """Return whether values, rounded to a number of decimals, may be the printed ones.

    NaN equals NaN.
    """
    bound = 0.5 * 10.0 ** -digits.astype(np.float64) + ROUNDING
    with np.errstate(invalid="ignore"):
        is_near = np.abs(values - printed) <= bound
    return is_near | (np.isnan(values) & np.isnan(printed))


def other_means(
    values: np.ndarray, queries: Sequence[str], printed: np.ndarray, digits: np.ndarray
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield alternative means in words, and whether they equal the published ones: bool [mean].

    `values` are float64 [query, mean], `printed` means of one measure for systems, with `digits`.
    """
    for places in np.unique(digits).tolist():
        rounded = mean_over_queries(values.round(places))
        is_equal = equal_as_printed(rounded, printed, digits) & (digits == places)
        yield f"mean of values per query with {places} digits", is_equal
    counted = ~np.isnan(values)
    number = counted.sum(axis=0) - counted
    total = np.nansum(values, axis=0) - np.where(counted, values, 0.0)
    without = np.divide(total, number, out=np.full(values.shape, np.nan), where=number > 0)
    is_equal = equal_as_printed(without, printed, digits) & counted
    best = int(is_equal.sum(axis=1).argmax())
    if is_equal[best].sum() > 1:  # among many queries, one fits a single mean by chance
        yield f"mean without query {queries[best]}", is_equal[best]


DIGITS_OF_ONE = 3
"""Fewest digits for which a single equal value identifies a reading; fewer may match by chance."""
REPRODUCED, DIFFER, NOT_OURS = "reproduced", "differ", "not ours"
_COLUMN = ("evaluator", "measure", pl.col("query").is_null().alias("is_mean"))
COLUMNS = (
    *("track", "system", "query", "evaluator", "measure", "printed", "canonical", "qrels"),
    *("published", "digits", "value", "difference", "verdict", "reason"),
)


class TrackVerifier:
    """Compare published values of one track with those of its store, first under `policy`."""

    def __init__(
        self, store: StoreReader, track: str, policy: EvalPolicy, workers: int | None = 1
    ) -> None:
        self.track: Track = Track.of(store, track, policy)
        self.policy: EvalPolicy = policy
        self._values = _Values(self.track, workers)

    def verify(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Compare published values with recomputed ones: add value, difference, verdict and reason.

        For the columns of `rows` see `add_meanings`; canonical is null where irmeta has no measure.
        """
        rows = rows.with_row_index("row")
        is_ours = pl.col("canonical").is_not_null()
        frames = [_not_ours(rows.filter(~is_ours), pl.col("reason"))]
        for of_set in rows.filter(is_ours).partition_by("qrels", maintain_order=True):
            frames += self._of_set(of_set)
        sorted_rows = pl.concat([frame.select("row", *COLUMNS) for frame in frames]).sort("row")
        return sorted_rows.select(COLUMNS)

    def _of_set(self, rows: pl.DataFrame) -> Iterator[pl.DataFrame]:
        """Compare the published values of one qrels set."""
        qrels = rows["qrels"][0]
        policy = self.policy if qrels is None else replace(self.policy, qrels=qrels)
        problems = self._problems(rows["canonical"].unique().sort().to_list(), policy)
        of_problem = pl.col("canonical").replace_strict(
            problems, default=None, return_dtype=pl.String
        )
        yield _not_ours(rows.filter(of_problem.is_not_null()), of_problem)
        rows = rows.filter(of_problem.is_null())
        if rows.is_empty():
            return
        computed = {name: name for name in rows["canonical"].unique()}
        rows = self._values.of_rows(rows, computed, policy)
        is_there = pl.col("value").is_not_null()
        yield _not_ours(rows.filter(~is_there), pl.format("no value for query {}", "query"))
        rows = rows.filter(is_there).with_columns(difference=pl.col("value") - pl.col("published"))
        rows, is_equal = rows.with_columns(size=pl.len().over(_COLUMN)), _equals(rows)
        yield rows.filter(is_equal).with_columns(verdict=pl.lit(REPRODUCED))
        differ = rows.filter(~is_equal).with_columns(verdict=pl.lit(DIFFER))
        reasons = self._reasons(differ, rows, policy)
        yield differ.drop("reason").join(reasons, on="row", how="left", maintain_order="left")

    def _problems(self, names: list[str], policy: EvalPolicy) -> dict[str, str]:
        """Map measures that cannot be computed on the track to the reason, e.g. no subtopics.

        Raises UsageError if no measure at all can be computed under this policy.
        """
        try:
            self._values.scores(names, policy)
        except (MeasureError, UsageError) as error:
            if len(names) == 1:
                self._values.scores(["AP"], policy)
                return {names[0]: str(error)}
            middle = len(names) // 2
            halves = (names[:middle], names[middle:])
            problems = [self._problems(half, policy) for half in halves]
            return {
                name: problem
                for half_problems in problems
                for name, problem in half_problems.items()
            }
        return {}

    def _reasons(self, rows: pl.DataFrame, every: pl.DataFrame, policy: EvalPolicy) -> pl.DataFrame:
        """Explain differing values by the first reading that reproduces them: row, reason.

        `every` has all values of the columns of `rows`.
        """
        rows = rows.with_columns(differing=pl.len().over(_COLUMN))
        reason = pl.format("equal to its {} digits, of {} in the column", "own_digits", "digits")
        is_own = _equals(rows.with_columns(digits="own_digits"))
        equal_to_own_digits = rows.filter(is_own).with_columns(reason=reason)
        rows, explained_frames = rows.drop("value"), list[pl.DataFrame]()
        readings = list(self._readings(policy)) if rows.height else []
        of_measures = [reading for reading in readings if not reading.choices]
        for _, family in groupby(readings, key=lambda one: one.family or one.reason):
            alternatives = list(family)
            if alternatives[0] in of_measures[:1]:
                self._compute_ahead(rows, of_measures, policy)
            trying = reported(alternatives, len(alternatives), "readings")
            tried = [
                (reading.reason, self._accepted(rows, every, reading, policy)) for reading in trying
            ]
            tried.sort(key=lambda one: one[1].height, reverse=True)
            for reason, explained in tried:
                left = explained.join(rows, on="row", how="semi", maintain_order="left")
                explained_frames.append(left.with_columns(reason=pl.lit(reason)))
                rows = rows.join(left, on="row", how="anti", maintain_order="left")
        means = rows.filter(pl.col("query").is_null())
        for of_column in means.partition_by("evaluator", "measure", maintain_order=True):
            explained_frames += self._by_arithmetic(of_column, policy)
        parts = [
            frame.select("row", "reason") for frame in [*explained_frames, equal_to_own_digits]
        ]
        return pl.concat(parts).unique("row", keep="first", maintain_order=True)

    def _compute_ahead(
        self, rows: pl.DataFrame, readings: Sequence[Reading], policy: EvalPolicy
    ) -> None:
        """Compute the measures of several readings in one pass, since reading lists is slow."""
        measures = rows["canonical"].unique().sort().to_list()
        computed = [name for reading in readings for name in reading.names(measures).values()]
        with suppress(IrmetaError):  # then each reading computes its own
            self._values.scores(computed, policy)

    def _accepted(
        self, rows: pl.DataFrame, every: pl.DataFrame, reading: Reading, policy: EvalPolicy
    ) -> pl.DataFrame:
        """Return the rows that a reading reproduces, if too many match for chance."""
        explained, alike = self._explained(rows, reading, policy), pl.len().over(_COLUMN)
        if reading.of_column:
            return explained.filter(_is_told(alike), alike >= pl.col("differing") / 2)
        if reading.needs_another and explained.height:
            columns = explained.select(_COLUMN).unique()
            column = every.drop("value").with_columns(*_COLUMN)
            column = column.join(columns, on=columns.columns, how="semi")
            reproduced = self._explained(column, reading, policy).filter(_is_told(alike))
            return explained.join(reproduced, on="row", how="semi", maintain_order="left")
        return explained

    def _readings(self, policy: EvalPolicy) -> Iterator[Reading]:
        facts = self.track.under(policy).facts
        others = [name for name in self.track.set_names if name != facts.qrels]
        order = policy.tie_order or facts.policy["tie_order"]
        return other_readings(policy, order, others, facts.highest_grade)

    def _explained(self, rows: pl.DataFrame, reading: Reading, policy: EvalPolicy) -> pl.DataFrame:
        """Return the rows whose published value equals that of a reading."""
        computed = reading.names(rows["canonical"].unique().sort().to_list())
        concerned = rows.filter(pl.col("canonical").is_in(list(computed)))
        if concerned.is_empty():
            return concerned
        try:
            values = self._values.of_rows(concerned, computed, replace(policy, **reading.choices))
        except IrmetaError:  # e.g. tie order rank of lists without ranks
            return concerned.clear()
        return concerned.filter(_equals(values))

    def _by_arithmetic(self, rows: pl.DataFrame, policy: EvalPolicy) -> Iterator[pl.DataFrame]:
        """Explain published means of a column by other averages, e.g. of rounded values."""
        measure = rows["canonical"][0]
        (scores,) = self._values.scores([measure], policy)
        if measure in scores.averages:  # not arithmetic
            return
        matrix = scores.matrix(measure)
        columns = [matrix.systems.index(system) for system in rows["system"]]
        values, digits = matrix.values[:, columns], rows["digits"].to_numpy()
        printed = rows["published"].to_numpy()
        for reason, is_equal in other_means(values, matrix.queries, printed, digits):
            if is_equal.sum() >= rows["differing"][0] / 2:
                yield rows.filter(pl.Series(is_equal)).with_columns(reason=pl.lit(reason))


class _Values:
    """Cache of the values of measures on one track, by policy."""

    def __init__(self, track: Track, workers: int | None) -> None:
        self._track = track
        self._workers = workers
        self._kept: dict[EvalPolicy, dict[str, Scores]] = {}

    def scores(self, names: Iterable[str], policy: EvalPolicy) -> list[Scores]:
        """Return scores with the given measures; those that are not cached take one pass."""
        cached = self._kept.setdefault(policy, {})
        asked = dict.fromkeys(names)
        if new := [name for name in asked if name not in cached]:
            specs = parse_measures(new)
            scores = evaluate(self._track.under(policy), specs, self._workers)
            cached |= dict.fromkeys(new, scores)
        return list({id(cached[name]): cached[name] for name in asked}.values())

    def of_rows(
        self, rows: pl.DataFrame, names: Mapping[str, str], policy: EvalPolicy
    ) -> pl.DataFrame:
        """Add the column `value`: that of measure `names[canonical]`, null if there is none."""
        measures = rows["canonical"].replace_strict(names, return_dtype=pl.String)
        is_mean = rows["query"].is_null().to_numpy()
        values, is_there = np.full(rows.height, np.nan), np.zeros(rows.height, bool)
        for scores in self.scores(names.values(), policy):
            measure, query, system = (
                _positions(texts, known)
                for texts, known in (
                    (measures, scores.measures),
                    (rows["query"], scores.queries),
                    (rows["system"], scores.systems),
                )
            )
            of_mean, of_query = (measure >= 0) & is_mean, (measure >= 0) & (query >= 0)
            cells = measure[of_query], query[of_query], system[of_query]
            values[of_mean] = scores.mean_values()[measure[of_mean], system[of_mean]]
            values[of_query] = scores.values[cells]
            is_there[of_mean], is_there[of_query] = True, scores.included[cells]
        value = pl.when(pl.Series(is_there)).then(pl.Series(values))
        return rows.with_columns(value=value)


def _positions(texts: pl.Series, known: Sequence[str]) -> np.ndarray:
    """Return the index of each text in the known texts; -1 if absent."""
    numbers = pl.Series(np.arange(len(known)))
    positions = texts.replace_strict(list(known), numbers, default=-1, return_dtype=pl.Int64)
    return positions.fill_null(-1).to_numpy()


def _is_told(alike: pl.Expr) -> pl.Expr:
    """Check whether enough values match: one may match by chance, unless it has many digits."""
    is_alone = (pl.col("size") == 1) & (pl.col("own_digits") >= DIGITS_OF_ONE)
    return (alike > 1) | is_alone


def _not_ours(rows: pl.DataFrame, reason: pl.Expr) -> pl.DataFrame:
    nothing = pl.lit(None, pl.Float64)
    return rows.with_columns(
        value=nothing, difference=nothing, verdict=pl.lit(NOT_OURS), reason=reason
    )


def _equals(rows: pl.DataFrame) -> pl.Series:
    """Check whether each value, rounded to the printed digits, equals the published one."""
    values = rows["value"].to_numpy()
    is_equal = equal_as_printed(values, rows["published"].to_numpy(), rows["digits"].to_numpy())
    return pl.Series(is_equal & rows["value"].is_not_null().to_numpy())


@dataclass(frozen=True, repr=False)
class Verification(Result):
    """Published values beside recomputed ones.

    Attributes
    ----------
    values : DataFrame
        track, system, query (null: a mean), evaluator, measure (as published), printed (its text),
        canonical (the measure of irmeta), qrels (the set that the evaluator's name says; null: that
        of the policy), published, digits (decimals), value, difference, verdict (``reproduced``,
        ``differ`` or ``not ours``) and reason: what else reproduces a value that differs, or why a
        value is not ours.
    tracks : DataFrame
        One row per track: track, catalog (its id in the catalogue; null: it is not there, or the
        values come from a table), published (values of systems in the store), reproduced, differ,
        explained (of `differ`: reproduced by another reading), not_ours, unmatched (published
        systems that the store does not have).
    unmatched : DataFrame
        track, system, absent_from: ``store`` for published systems that the store does not have,
        ``published`` for systems without a published value in tracks that have some.
    provenance : dict
        Versions, policies, fingerprints of the tracks, and where the published values come from.
    """

    values: pl.DataFrame
    tracks: pl.DataFrame
    unmatched: pl.DataFrame
    provenance: dict[str, Any]

    @property
    def agrees(self) -> bool:
        """Whether no value differs."""
        return not (self.values["verdict"] == DIFFER).any()

    @property
    def reasons(self) -> pl.DataFrame:
        """Number of values by track, verdict, evaluator, measure, canonical and reason.

        Values that were reproduced without a remark are left out; a value that differs without a
        known reason has none.
        """
        keys = ("track", "verdict", "evaluator", "measure", "canonical", "reason")
        plain = (pl.col("verdict") == REPRODUCED) & pl.col("reason").is_null()
        rows = self.values.filter(~plain).group_by(keys, maintain_order=True)
        return rows.agg(pl.len().alias("values"))

    def _summary(self) -> Summary:
        total = self.tracks.select(pl.exclude("track", "catalog").sum()).row(0, named=True)
        facts = [
            f"{count(total['published'], 'published value')} of "
            f"{count(self.tracks.height, 'track')}",
            f"{total['reproduced']:,} reproduced",
            f"{total['differ']:,} differ ({total['explained']:,} explained)",
            f"{total['not_ours']:,} not ours",
        ]
        return Summary("", facts)

    def frame(self) -> pl.DataFrame:
        """Return `values`."""
        return self.values

    def _table(self) -> pl.DataFrame:
        return self.tracks


def verify_tracks(
    store: StoreReader,
    published: str | Path | pl.DataFrame | None,
    track: Tracks,
    catalog: Mapping[str, str],
    policy: EvalPolicy,
    workers: int | None = None,
    columns: Sequence[str] = (),
) -> Verification:
    """Verify published values of a store's tracks; see `irmeta.verify`."""
    tracks, known = tracks_of(store, track), store.tracks()
    opened = [Track.of(store, name, policy) for name in tracks]
    systems = {each.name: each.facts_of(None).systems for each in opened}
    of_catalog = dict[str, CatalogTrack]()
    source = {"name": "catalogue"}
    if published is None:
        of_catalog = catalog_tracks(systems, catalog)
        rows = catalog_values(of_catalog)
    elif catalog:
        raise UsageError("`catalog=` is for the values of the catalogue, without `published=`.")
    elif isinstance(published, pl.DataFrame):
        source = {"name": "frame"}
        rows = published.drop("line", strict=False)
        rows = published_rows(rows, "published", tracks, known, columns_by_key(columns))
    else:
        path = local(published)
        rows = read_published(path)
        rows = published_rows(rows, str(path), tracks, known, columns_by_key(columns))
        source = {"name": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
    inside = workers if len(tracks) == 1 else 1
    jobs = [
        _Track(
            TrackVerifier(store, name, policy, inside),
            of_catalog.get(name),
            rows.filter(track=name),
        )
        for name in tracks
    ]
    done = ordered_map(_verify, jobs, workers=workers)
    verified = list(reported(done, len(jobs), "tracks"))
    values = pl.concat([verification.values for verification in verified])
    if values.is_empty():
        raise UsageError(_nothing(rows, systems))
    measures = values["canonical"].drop_nulls().unique().sort().to_list() or ["AP"]
    provenance = how_made(opened, parse_measures(measures), policy)
    return Verification(
        values,
        pl.concat([verification.tracks for verification in verified]),
        pl.concat([verification.unmatched for verification in verified]),
        provenance | {"published": source},
    )


def _nothing(rows: pl.DataFrame, systems: Mapping[str, Sequence[str]]) -> str:
    """Return the message for tables and tracks without a common system."""
    tracks = first_few(list(systems), "name some of them", ", ")
    if rows.is_empty():
        return (
            f"no published values of {tracks}: name the track of the catalogue by `catalog=`, or a "
            "file by `published=`."
        )
    track, name = rows.select("track", "system").row(0)
    return (
        f"no published system is in the store: the first is {name!r} of {track}, whose systems "
        f"are {first_few(list(systems[track]), 'irmeta info lists them')}."
    )


@dataclass(frozen=True)
class _Track:
    """Track with its published values, a frame of schema `PUBLISHED`."""

    verifier: TrackVerifier
    catalog: CatalogTrack | None
    rows: pl.DataFrame


def _verify(track: _Track) -> Verification:
    """Verify one track, without provenance."""
    opened = track.verifier.track
    name, systems = opened.name, opened.facts_of(None).systems
    matches = match_names(track.rows["system"].unique().sort().to_list(), systems)
    is_here = pl.col("system").is_in(list(matches))
    rows = track.rows.filter(is_here).with_columns(pl.col("system").replace(matches))
    values = track.verifier.verify(add_meanings(rows, track.catalog, opened.set_names))
    differs = pl.col("verdict") == DIFFER
    counts = values.select(
        pl.lit(name).alias("track"),
        pl.lit(track.catalog and track.catalog.id, pl.String).alias("catalog"),
        published=pl.len(),
        reproduced=(pl.col("verdict") == REPRODUCED).sum(),
        differ=differs.sum(),
        explained=(differs & pl.col("reason").is_not_null()).sum(),
        not_ours=(pl.col("verdict") == NOT_OURS).sum(),
        unmatched=pl.lit(track.rows.filter(~is_here)["system"].n_unique(), pl.UInt32),
    )
    others = track.rows.filter(~is_here)["system"].unique().sort().to_list()
    have = {*matches.values()}
    without = [system for system in systems if system not in have] if matches else []
    unmatched = [(system, "store") for system in others] + [
        (system, "published") for system in without
    ]
    frame = UNMATCHED.frame((name, *unmatched_system) for unmatched_system in unmatched)
    return Verification(values, counts, frame, {})
