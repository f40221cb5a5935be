"""Measures at many cutoffs and pool depths in one pass, in pairs, and effects of trailing docs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import polars as pl

from irmeta.equality import TIE
from irmeta.errors import MeasureError, UsageError
from irmeta.kernels.cutoff_sums import add_curves
from irmeta.measures.evaluate import (
    SeenViews,
    evaluate_block,
    included,
    relevant_in_set,
    warn_above_highest_grade,
)
from irmeta.measures.names import Spec, measure_texts, parse_measure, registry, translated
from irmeta.measures.spec import Events, Measure
from irmeta.naming import DEEPEST, split_names, text_of
from irmeta.parallel import ordered_map, thread_count
from irmeta.policies import EvalPolicy
from irmeta.rankings.completeness import complete_depths_of, warn_without_depth
from irmeta.rankings.derive.lists import cut_ends, pad_ends
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.load import over_blocks
from irmeta.rankings.track import Track, each
from irmeta.rankings.view import Need, needs_of
from irmeta.results.averages import Curve, sum_over_queries
from irmeta.store.scan import StoreReader, Tracks, undisturbed

SUMS = 1 << 26  # points of curves summed at a time, 16 bytes each
DENSE_CELLS = 1 << 22  # cells [cutoff, query, system] at a time, for measures without steps


def curves(
    track: Track,
    measures: Sequence[str],
    ks: Sequence[int],
    ds: Sequence[int] | None,
    workers: int | None = 1,
) -> list[Curve]:
    """Compute the means over queries of measures at every cutoff, for all systems of a track.

    Every mean equals that of `Scores.means` at the cutoff, for measures with `Events` to the last
    bit: queries are added up one after another, in any number of blocks. Docs deeper in the pool
    than each of `ds` are unjudged; None: all judgments. Raises MeasureError for a measure without a
    cutoff or an arithmetic mean, UsageError if `ks` or `ds` are not ascending integers of at least
    1.
    """
    if not measures:
        raise MeasureError("no measure was given")
    specs = [spec_without_cutoff(name) for name in measures]
    check_ascending("ks", ks)
    if ds is not None:
        check_ascending("ds", ds)
    with undisturbed(track.stored):
        points = len(ds or [None]) * len(ks) * len(track.systems)
        at_once = max(1, SUMS // points)
        parts = [specs[i : i + at_once] for i in range(0, len(specs), at_once)]
        passes = (_together(track, part, ks, ds, workers) for part in parts)
        return [curve for curves_of_pass in passes for curve in curves_of_pass]


def curve_table(
    store: StoreReader,
    track: Tracks,
    measures: str | Iterable[str],
    ks: int | Iterable[int],
    ds: int | Iterable[int] | None,
    policy: EvalPolicy,
    workers: int | None = 1,
) -> pl.DataFrame:
    """Return the curves of several tracks as one table: see `Store.curve`."""
    names = [name for text in measure_texts(measures) for name in split_names(text)]
    at, depths = _several(ks), None if ds is None else _several(ds)
    return pl.concat(
        curve.frame()
        for opened in each(store, track, policy)
        for curve in curves(opened, names, at, depths, workers)
    )


def _several(numbers: int | Iterable[int]) -> list[int]:
    return list(numbers) if isinstance(numbers, Iterable) else [numbers]


def _together(
    track: Track,
    specs: Sequence[Spec],
    ks: Sequence[int],
    ds: Sequence[int] | None,
    workers: int | None,
) -> Iterator[Curve]:
    """Yield the curves of some measures, computed in one pass."""
    specs, policy = relevant_in_set(track, specs), track.policy
    needs = needs_of(specs) | (set() if ds is None else {"pool"})
    views = _views(track, specs, needs, workers)
    curves = curves_of(views, specs, ks, [None] if ds is None else ds, policy, workers)
    pools = ds is not None or policy.has_smaller_pool
    pool = track.pool.note if "pool" in needs or pools else None
    for spec, curve in zip(specs, curves, strict=True):
        yield replace(curve, pool=pool if pools or "pool" in needs_of([spec]) else None)


def _views(
    track: Track, specs: Sequence[Spec], needs: Collection[Need], workers: int | None
) -> Iterator[JudgedRanks]:
    """Yield the blocks of a track, then warn about its pool and about `rel` of the measures."""
    complete = list[np.ndarray]()
    # Threads read blocks ahead, but work on one block at a time, so that sums add up in order.
    for view in over_blocks(lambda view: view, track, needs, workers=workers):
        if "pool" in needs_of(specs):
            complete.append(complete_depths_of(view))
        yield view
    warn_without_depth(track.name, complete)
    warn_above_highest_grade(track, [replace(spec, cutoff=None) for spec in specs])


def curves_of(
    views: Iterable[JudgedRanks],
    specs: Sequence[Spec],
    ks: Sequence[int],
    ds: Sequence[int | None],
    policy: EvalPolicy,
    workers: int | None = 1,
) -> list[Curve]:
    """Compute the curves of measures from the blocks of a track in query order, at least one.

    The blocks have the pool if `ds`, pool depths (None: all judgments), has a depth. The values are
    the same for any number of workers.
    """
    cutoffs, facts = np.array(ks), None
    sums, counts = np.empty(0), np.empty(0, np.int64)
    # Threads divide the depths, and also the measures where depths are fewer than threads.
    stride = -(-thread_count(workers) // len(ds))
    parts = list(product(range(len(ds)), range(min(stride, len(specs)))))

    def add(view: JudgedRanks, part: tuple[int, int]) -> None:
        index, first = part
        pool = view if (depth := ds[index]) is None else view.with_pool(depth)
        for i in range(first, len(specs), stride):
            add_curve(pool, specs[i], cutoffs, policy, sums[i, index], counts[i, index])

    for view in views:
        if facts is None:
            facts = view.facts
            shape = len(specs), len(ds), len(cutoffs), len(facts.systems)
            sums, counts = np.zeros(shape), np.zeros(shape, np.int64)
        for _ in ordered_map(partial(add, view), parts, workers=workers):
            pass
    assert facts is not None, "a track has at least one block"
    return [
        Curve(
            track=facts.track,
            measure=spec.name.rpartition("@")[0],
            ks=tuple(ks),
            ds=tuple(ds),
            systems=tuple(facts.systems),
            values=np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0),
            queries=np.array(count),
            direction=spec.measure.direction,
        )
        for spec, total, count in zip(specs, sums, counts, strict=True)
    ]


def spec_without_cutoff(name: str) -> Spec:
    """Return the spec at cutoff 1 of a measure that is named without a cutoff."""
    name = text_of(name)
    if "@" in name:
        parse_measure(name)  # an unknown name is the greater problem
        raise MeasureError(f"{name}: name the measure of a curve without a cutoff.")
    if _registered(name) is None:
        name = _translated(name)
    measure = _registered(name)
    if measure is not None and measure.cutoff == "none":
        parse_measure(name)  # its parameters may be wrong
        raise MeasureError(f"{name}: {measure.name} has no cutoff, so it has no curve.")
    prefix = "" if measure is None else measure.cutoff_prefix
    spec = parse_measure(f"{name}@{prefix}1")
    if spec.measure.cutoff_is != "rank":
        raise MeasureError(f"{name}: the cutoff is not a rank, so the measure has no curve.")
    if spec.average != "arithmetic":
        raise MeasureError(f"{name}: a curve is of arithmetic means.")
    return spec


def _registered(name: str) -> Measure | None:
    return registry().get(name.partition("(")[0].strip())


def _translated(name: str) -> str:
    """Translate a name in any spelling to irmeta's; return an unknown name unchanged."""
    ours = translated(name)[0][1]
    measure, separator, _ = ours.rpartition("@")
    if separator:
        raise MeasureError(f"{name} has a cutoff, but a curve has every cutoff: name {measure!r}.")
    return ours


def check_ascending(name: str, given: Sequence[Any]) -> None:
    """Raise `UsageError` unless the numbers are ascending cutoffs or depths."""
    are_integers = all(isinstance(k, int | np.integer) and not isinstance(k, bool) for k in given)
    ascends = are_integers and len(given) and bool((np.diff(np.array(given, object)) > 0).all())
    if not ascends or given[0] < 1 or given[-1] > DEEPEST:
        raise UsageError(f"{name} must be ascending integers from 1 to {DEEPEST}.")


def add_curve(
    view: JudgedRanks,
    spec: Spec,
    ks: np.ndarray,
    policy: EvalPolicy,
    sums: np.ndarray,
    counts: np.ndarray,
) -> None:
    """Add the values of a block's queries to `sums`, and their number to `counts`.

    Both are [cutoff, system] and exclude undefined values. Blocks must be added in order.
    """
    seen, averaged = _seen(view, spec, int(ks[-1]), policy)
    events = spec.measure.events and spec.measure.events(seen, spec.settings)
    if events is None:
        _add_dense(seen, spec, ks, averaged, sums, counts)
    else:
        _add_steps(events, ks, averaged, sums, counts)


def _seen(
    view: JudgedRanks, spec: Spec, deepest: int, policy: EvalPolicy
) -> tuple[JudgedRanks, np.ndarray]:
    """Return the block that a measure reads up to a cutoff, and which values are averaged."""
    views = SeenViews(view)
    return views.of(spec, [deepest]), included(views.judged_for(spec), spec.rel, policy)


def _add_dense(
    view: JudgedRanks,
    spec: Spec,
    ks: np.ndarray,
    averaged: np.ndarray,
    sums: np.ndarray,
    counts: np.ndarray,
) -> None:
    step = max(1, DENSE_CELLS // max(averaged.size, 1))
    for start in range(0, len(ks), step):
        part = slice(start, start + step)
        values = spec.compute(view, ks[part].tolist())
        counted = averaged & ~np.isnan(values)
        sum_over_queries(values, counted, sums[part])
        counts[part] += counted.sum(axis=1)


def _add_steps(
    events: Events, ks: np.ndarray, averaged: np.ndarray, sums: np.ndarray, counts: np.ndarray
) -> None:
    divisors = np.ascontiguousarray(events.divisors(ks))
    # The rank of docs that are not retrieved never has a slot.
    last = min(int(ks[-1]), np.iinfo(events.ranks.dtype).max - 1)
    slot = np.searchsorted(ks, np.arange(last + 1))
    steps, latest = np.full(sums.shape, np.nan), np.empty(sums.shape[1])
    add_curves(
        *(events.ranks, events.offsets, events.amounts, slot, divisors),
        *(events.scale, float(events.undefined)),
        *(np.array(averaged), steps, latest, sums),
    )
    defined = (divisors > 0) | (not np.isnan(events.undefined))
    counts += defined.astype(np.int64) @ averaged.astype(np.int64)


EFFECTS = ("better_cut", "worse_cut", "better_padded", "worse_padded")


def truncation_effects(
    track: Track,
    specs: Sequence[Spec],
    docs: int = 1,
    workers: int | None = 1,
) -> pl.DataFrame:
    """Compute shares of lists whose score changes with their end: `Store.stability.truncation`."""

    def counts(view: JudgedRanks) -> tuple[Sequence[str], np.ndarray]:
        return view.systems, count_effects(view, specs, track.policy, docs)

    blocks = list(over_blocks(counts, track, needs_of(specs), workers=workers))
    warn_above_highest_grade(track, specs)
    lists, *effects = np.sum([block for _, block in blocks], axis=0)
    with np.errstate(invalid="ignore"):  # no list has a value
        shares = [(effect / lists).ravel() for effect in effects]
    systems = list(blocks[0][0])
    frame = pl.DataFrame({
        "measure": np.repeat([spec.name for spec in specs], len(systems)),
        "system": systems * len(specs),
        "lists": lists.ravel(),
        **dict(zip(EFFECTS, shares, strict=True)),
    })  # fmt: skip
    return frame.select(pl.lit(track.name).alias("track"), "system", pl.exclude("system")).sort(
        "system", maintain_order=True
    )


def count_effects(
    view: JudgedRanks, specs: Sequence[Spec], policy: EvalPolicy, docs: int
) -> np.ndarray:
    """Count the lists, then those whose score each of `EFFECTS` changes: [1 + effects, ...]."""
    out = np.zeros((1 + len(EFFECTS), len(specs), len(view.systems)), np.int64)
    before, padded = (evaluate_block(v, specs, policy) for v in (view, pad_ends(view, docs)))
    signs = np.array([spec.measure.direction for spec in specs])[:, None, None]
    is_list = before.included & ~before.no_list & ~np.isnan(before.values)
    out[0] = is_list.sum(axis=1)
    cut = np.empty_like(before.values)
    for rel in {spec.rel for spec in specs}:
        chosen = [i for i, spec in enumerate(specs) if spec.rel == rel]
        shorter = cut_ends(view, rel)
        cut[chosen] = evaluate_block(shorter, [specs[i] for i in chosen], policy).values
    for first, values in ((1, cut), (3, padded.values)):
        with np.errstate(invalid="ignore"):  # of two infinities
            rise = np.where(is_list, (values - before.values) * signs, 0.0)
        out[first] = (rise > TIE).sum(axis=1)
        out[first + 1] = (rise < -TIE).sum(axis=1)
    return out


CELLS = 1 << 22  # values [cutoff, query, system] of a measure at a time
SharedValues = dict[tuple[int, int, str], tuple[np.ndarray, np.ndarray]]
"""Values and which of them are averaged, by block, part of the block, and measure."""


@dataclass(frozen=True)
class PairedCurves:
    """Means of two measures for the queries that a pair of cutoffs shares.

    `measures`: names without a cutoff. `a`, `b`: float64 [cutoff of a, cutoff of b, system]: means,
    greater is better, NaN without a query. If both measures are defined everywhere, [cutoff,
    system]. `queries`: int64 [cutoff of a, cutoff of b]: least number of queries in the means of a
    system.
    """

    measures: tuple[str, str]
    a: np.ndarray
    b: np.ndarray
    queries: np.ndarray


def stored_paired_curves(
    track: Track,
    measures: Sequence[str],
    ks: Sequence[int],
    everyone: bool = False,
    workers: int | None = 1,
) -> PairedCurves:
    """Compute `paired_curves` of a track, of one measure with itself or of two.

    With `everyone` all systems have a mean, otherwise the contributors to the pool.
    """
    specs = [spec_without_cutoff(name) for name in measures]
    check_ascending("ks", ks)
    facts = track.facts
    systems = range(len(facts.systems)) if everyone else facts.contributors
    with undisturbed(track.stored):
        views = _views(track, specs, needs_of(specs), workers)
        return paired_curves(views, (specs[0], specs[-1]), ks, track.policy, systems)


def paired_curves(
    views: Iterable[JudgedRanks],
    specs: tuple[Spec, Spec],
    ks: Sequence[int],
    policy: EvalPolicy,
    systems: Sequence[int],
    shared: SharedValues | None = None,
) -> PairedCurves:
    """Compute the means of two measures at all pairs of cutoffs, for systems by their indices.

    Calls for the same views, cutoffs and systems may share the values of measures in `shared`.
    """
    size = len(ks)
    plain = np.zeros((2, size, len(systems)))
    always, pairs = 0, _Pairs(size, len(systems))
    for block, view in enumerate(views):
        for number, part in enumerate(_parts(view, size)):
            values_of = SharedValues() if shared is None else shared
            keys = [(block, number, spec.name) for spec in specs]
            for key, spec in zip(keys, specs, strict=True):
                if key not in values_of:
                    values_of[key] = _values(part, spec, ks, policy, systems)
            sides = [values_of[key] for key in keys]
            everywhere = np.all([known.all(axis=(0, 2)) for _, known in sides], axis=0)
            always += int(everywhere.sum())
            for total, (values, known) in zip(plain, sides, strict=True):
                sum_over_queries(values[:, everywhere], known[:, everywhere], total)
            if not everywhere.all():
                pairs.add(*(array[:, ~everywhere] for side in sides for array in side))
    means = [np.where(always > 0, total / max(always, 1), np.nan) for total in plain]
    queries = np.full((size, size), always)
    if pairs.added:
        counts = always + pairs.counts
        sums = (plain[0][:, None] + pairs.a, plain[1][None] + pairs.b)
        nothing = np.full(counts.shape, np.nan)
        means = [np.divide(total, counts, out=nothing.copy(), where=counts > 0) for total in sums]
        queries = counts.min(axis=2, initial=np.iinfo(np.int64).max) if len(systems) else queries
    first, second = (mean * spec.measure.direction for mean, spec in zip(means, specs, strict=True))
    names = specs[0].name.rpartition("@")[0], specs[1].name.rpartition("@")[0]
    return PairedCurves(names, first, second, queries)


class _Pairs:
    """Sums over the queries where a measure is undefined at a cutoff or for a system."""

    def __init__(self, size: int, systems: int) -> None:
        self.added = False
        self._shape = (size, size, systems)
        self.a = self.b = self.counts = np.empty((0, 0, 0))

    def add(self, a: np.ndarray, known_a: np.ndarray, b: np.ndarray, known_b: np.ndarray) -> None:
        """Add values [cutoff, query, system] where both measures are defined."""
        if not self.added:
            self.added = True
            self.a, self.b = np.zeros(self._shape), np.zeros(self._shape)
            self.counts = np.zeros(self._shape, np.int64)
        for i, known in enumerate(known_a):
            both = known & known_b
            self.a[i] += sum_over_queries(np.broadcast_to(a[i], both.shape), both)
            self.b[i] += sum_over_queries(b, both)
            self.counts[i] += both.sum(axis=1)


def _parts(view: JudgedRanks, cutoffs: int) -> Iterator[JudgedRanks]:
    """Yield queries of a view, so many that `CELLS` values have room."""
    step = max(1, CELLS // max(cutoffs * len(view.systems), 1))
    if step >= len(view.queries):
        yield view
        return
    for start in range(0, len(view.queries), step):
        yield view.only_queries(view.queries[start : start + step])


def _values(
    view: JudgedRanks, spec: Spec, ks: Sequence[int], policy: EvalPolicy, systems: Sequence[int]
) -> tuple[np.ndarray, np.ndarray]:
    """Return values and whether they are averaged: [cutoff, query, system]."""
    seen, averaged = _seen(view, spec, ks[-1], policy)
    values = spec.compute(seen, list(ks))[..., systems]
    return values, averaged[:, systems] & ~np.isnan(values)
