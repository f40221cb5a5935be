"""`reproduce`: how close reruns of an experiment come to the original."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Unpack

import numpy as np
import polars as pl

from irmeta.api.matrices import matrices
from irmeta.api.opened_store import OpenedStore
from irmeta.api.results_or_data import results_or_data
from irmeta.errors import UsageError, check_share, check_whole, did_you_mean
from irmeta.locations import AnyLocation
from irmeta.policy_keywords import DataPolicies
from irmeta.results.matrix import Matrix
from irmeta.stats.pairs import pairwise
from irmeta.stats.reproducibility import (
    delta_relative_improvement,
    effect_ratio,
    error,
    error_of_pairs,
    interval,
    overlap_to,
    relative_error,
    tau_union,
)
from irmeta.store.scan import only_track
from irmeta.summaries import Summarized, Summary

Experiment = str | Sequence[str]
"""A run, or a baseline and an advanced run; as text with a comma between them."""
_ROLES = ("baseline", "advanced")


@dataclass(frozen=True, repr=False)
class Reproduction(Summarized):
    """Closeness of reruns to an original experiment.

    Attributes
    ----------
    runs : DataFrame
        One row per rerun, role and measure: track, measure, role (``baseline``, ``advanced``; or
        ``run`` where there is one), original, rerun, original_mean, rerun_mean, rmse (root mean
        square error over queries) with rmse_low and rmse_high, nrmse (over its greatest value, for
        values from 0 to 1; else NaN), p_paired and p_unpaired (t-tests), tau_union and rbo of the
        lists (means over queries), queries.
    effects : DataFrame
        One row per rerun of a baseline and an advanced run, and measure: track, measure, baseline,
        advanced (of the rerun), improvement and rerun_improvement (of the means), effect_ratio (1:
        reproduced) and delta_ri (0: reproduced) with intervals `_low` and `_high`, queries.
    settings : Mapping
        Arguments: original, reruns, list_depth, persistence, resamples, seed.
    """

    runs: pl.DataFrame
    effects: pl.DataFrame
    settings: Mapping[str, object]

    def _summary(self) -> Summary:
        table = self.effects if self.effects.height else self.runs
        facts = [f"{len(self.runs['rerun'].unique())} reruns", f"{table.height} rows"]
        return Summary("", facts, lambda: table)


def reproduce(
    source: OpenedStore | AnyLocation | object,
    runs: object = None,
    measures: str | Iterable[str] | None = None,
    *,
    original: Experiment,
    rerun: Experiment | Sequence[Experiment],
    track: str | None = None,
    list_depth: int = 1000,
    persistence: float = 0.95,
    resamples: int = 1000,
    rng: int = 0,
    workers: int | None = None,
    **choices: Unpack[DataPolicies],
) -> Reproduction:
    """Compare reruns of an experiment with the original: lists, values and effects.

    Parameters
    ----------
    source : Store, path, or qrels
        A store or its folder, with the original runs and the reruns as systems of one track; or
        qrels, with `runs` as in `from_data`.
    runs : object, optional
        Runs, where `source` are qrels. After a store, the second argument is `measures`.
    measures : str or iterable of str, optional
        Names of measures; default ``basic`` of a store.
    original : str or sequence of str
        Name of the run; or those of the baseline and the advanced run: ``"bm25,bm25-rm3"``.
    rerun : str, sequence of str, or sequence of these
        The rerun in the same form, or several.
    track : str, optional
        The track; optional if there is only one.
    list_depth : int, default 1000
        Ranks of the lists that `tau_union` and `rbo` compare.
    persistence : float, default 0.95
        Persistence of `rbo`.
    resamples : int, default 1000
        Draws of the queries for 95 % intervals (percentiles).
    rng : int, default 0
        Random seed.
    workers, **choices
        See `irmeta.compare`.

    Returns
    -------
    Reproduction

    Raises
    ------
    UsageError
        If a name is unknown, experiments differ in their number of runs, or values have no lists.

    Notes
    -----
    Equals repro_eval 0.5.0 for lists without ties. Lists that differ in length are compared to the
    end of the shorter by `tau_union`, where repro_eval stops. Queries without a value of any of the
    runs are left out; a query that one of the lists lacks counts as overlap 0, and not in tau.

    References
    ----------
    .. [1] Breuer et al. (2020), How to Measure the Reproducibility of System-oriented IR
       Experiments. doi:10.1145/3397271.3401036

    Examples
    --------
    >>> found = irmeta.reproduce(
    ...     store, "AP", track="news", original="aldBM25,aldBM25fb", rerun="doumMan1,doumMan2"
    ... )
    >>> found.effects["effect_ratio"].round(3).to_list()
    [0.331]
    """
    check_share("persistence", persistence)
    check_whole("list_depth", list_depth)
    check_whole("resamples", resamples)
    given, names, policies = results_or_data(source, runs, measures, workers, choices)
    store = OpenedStore(given) if isinstance(given, AnyLocation) else given
    if not isinstance(store, OpenedStore):
        raise UsageError("reproduce compares lists: pass a store, or qrels and runs.")
    first, reruns = _experiment(original), _experiments(rerun)
    for one in reruns:
        if len(one) != len(first):
            raise UsageError(f"{','.join(one)} is no rerun of {','.join(first)}: other runs.")
    name = only_track(store.reader, track)
    used = list(dict.fromkeys(run for one in (first, *reruns) for run in one))
    known = store.reader.read_record(name)["systems"]
    for run in used:
        if run not in known:
            raise UsageError(f"track {name!r} has no system {run!r}. {did_you_mean(run, known)}")
    lists = _lists(store, name, used, list_depth)
    read: Any = {"track": name, "workers": workers, **policies}
    found = [_chosen(one, used) for one in matrices(store, names or "basic", **read)]
    resampled = partial(interval, resamples=resamples, rng=rng)
    rows, effects = list[dict[str, Any]](), list[dict[str, Any]]()
    for matrix in found:
        key = {"track": name, "measure": matrix.measure}
        for one in reruns:
            for place, (mine, theirs) in enumerate(zip(first, one, strict=True)):
                role = _ROLES[place] if len(first) > 1 else "run"
                named = {**key, "role": role, "original": mine, "rerun": theirs}
                rows.append(named | _closeness(matrix, mine, theirs, resampled))
                rows[-1] |= _overlaps(lists, mine, theirs, matrix.queries, persistence, list_depth)
                rows[-1]["queries"] = len(matrix.queries)
            if len(first) > 1:
                named = {**key, "baseline": one[0], "advanced": one[1]}
                effects.append(named | _effects(matrix, [*first, *one], resampled))
    settings = {
        "original": ",".join(first),
        "reruns": [",".join(one) for one in reruns],
        "list_depth": list_depth,
        "persistence": persistence,
        "resamples": resamples,
        "seed": rng,
    }
    return Reproduction(pl.DataFrame(rows), pl.DataFrame(effects), settings)


def _experiment(given: Experiment) -> tuple[str, ...]:
    """Return the names of one experiment: of a run, or of a baseline and an advanced run."""
    names = given.split(",") if isinstance(given, str) else list(given)
    names = [name.strip() for name in names]
    if len(names) not in (1, 2) or not all(names) or len(set(names)) < len(names):
        raise UsageError(f"{','.join(names)!r} is neither a run nor a baseline and another run.")
    return tuple(names)


def _experiments(given: Experiment | Sequence[Experiment]) -> list[tuple[str, ...]]:
    """Return one or several reruns; a tuple of two names is one."""
    if isinstance(given, str):
        return [_experiment(given)]
    if isinstance(given, tuple) and all(isinstance(name, str) for name in given):
        return [_experiment([str(name) for name in given])]
    if not given:
        raise UsageError("no rerun is named.")
    return [_experiment(one) for one in given]


def _chosen(matrix: Matrix, systems: Sequence[str]) -> Matrix:
    """Return the values of some systems on the queries where all have one."""
    places = np.array([matrix.systems.index(system) for system in systems])
    chosen = matrix.only_systems(places).complete()
    if not chosen.queries:
        raise UsageError(f"{matrix.measure}: no query has a value of each run.")
    return chosen


def _of(matrix: Matrix, system: str) -> np.ndarray:
    return matrix.values[:, matrix.systems.index(system)]


def _closeness(matrix: Matrix, original: str, rerun: str, resampled: Any) -> dict[str, float]:
    """Return means, errors and tests of a rerun's values."""
    values = np.column_stack([_of(matrix, original), _of(matrix, rerun)])
    low, high = resampled(error_of_pairs, values)
    two = Matrix(values, matrix.queries, ("original", "rerun"), matrix.measure)
    is_share = values.min() >= 0 and values.max() <= 1
    return {
        "original_mean": float(values[:, 0].mean()),
        "rerun_mean": float(values[:, 1].mean()),
        "rmse": error(*values.T),
        "rmse_low": low,
        "rmse_high": high,
        "nrmse": relative_error(*values.T) if is_share else np.nan,
        "p_paired": float(pairwise(two, "t").p[0, 1]),
        "p_unpaired": float(pairwise(two, "t-unpaired").p[0, 1]),
    }


def _effects(matrix: Matrix, systems: Sequence[str], resampled: Any) -> dict[str, Any]:
    """Return the improvements of both experiments, and how they compare."""
    values = np.column_stack([_of(matrix, system) for system in systems])
    base, advanced, rerun_base, rerun_advanced = values.mean(axis=0).tolist()
    row = {"improvement": advanced - base, "rerun_improvement": rerun_advanced - rerun_base}
    for name, statistic in (
        ("effect_ratio", effect_ratio),
        ("delta_ri", delta_relative_improvement),
    ):
        low, high = resampled(statistic, values)
        row |= {name: statistic(values), f"{name}_low": low, f"{name}_high": high}
    return row | {"queries": len(values)}


_Lists = Mapping[tuple[str, str], list[str]]
"""Docs by system and query, best first."""


def _lists(store: OpenedStore, track: str, systems: Sequence[str], depth: int) -> _Lists:
    rows = store.runs(track).filter(pl.col("system").is_in(systems), pl.col("rank") <= depth)
    found = rows.select("system", "query", "rank", "doc").sort("system", "query", "rank").collect()
    return {
        (str(system), str(query)): docs
        for system, query, docs in found.group_by("system", "query", maintain_order=True)
        .agg("doc")
        .iter_rows()
    }


def _overlaps(
    lists: _Lists, original: str, rerun: str, queries: Sequence[str], p: float, depth: int
) -> dict[str, float]:
    """Return the mean agreement of two systems' lists."""
    pairs = [(lists.get((original, q), []), lists.get((rerun, q), [])) for q in queries]
    taus = np.array([tau_union(*pair) for pair in pairs])
    defined = taus[~np.isnan(taus)]
    return {
        "tau_union": float(defined.mean()) if len(defined) else np.nan,
        "rbo": float(np.mean([overlap_to(*pair, p, depth) for pair in pairs])),
    }
