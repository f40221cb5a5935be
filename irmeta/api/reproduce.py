"""`reproduce`: how close reruns of an experiment come to the original."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import polars as pl

from irmeta.api.arguments import ReproduceOptions, operation
from irmeta.api.matrices import matrices
from irmeta.api.opened_store import OpenedStore
from irmeta.api.results_or_data import results_or_data
from irmeta.errors import UsageError, check_choice, did_you_mean
from irmeta.locations import AnyLocation
from irmeta.phrases import count
from irmeta.policy_keywords import ReproduceDataChoices
from irmeta.progress import Progress, reported, shows_progress
from irmeta.rankings.load import list_docs
from irmeta.results.matrix import Matrix
from irmeta.stats.pairs import pairwise
from irmeta.stats.reproducibility import (
    delta_relative_improvement,
    effect_ratio,
    error,
    interval,
    overlap_to,
    relative_error,
    tau_union,
    unpaired_p,
)
from irmeta.store.scan import only_track
from irmeta.summaries import Result, Summary

if TYPE_CHECKING:
    import altair as alt

Experiment = str | Sequence[str]
"""A run, or a baseline and an advanced run; as text with a comma between them."""
_ROLES = ("baseline", "advanced")
_REPRODUCED = {
    "effect_ratio": 1.0, "delta_ri": 0.0, "rmse": 0.0, "nrmse": 0.0, "tau_union": 1.0, "rbo": 1.0,
}  # fmt: skip
"""Values with intervals, and what they are where the rerun equals the original."""
_EFFECTS, _CLOSENESS = tuple(_REPRODUCED)[:2], tuple(_REPRODUCED)[2:]


@dataclass(frozen=True, repr=False)
class Reproduction(Result):
    """Closeness of reruns to an original experiment.

    Attributes
    ----------
    runs : DataFrame
        One row per rerun, role and measure: track, measure, role (``baseline``, ``advanced``; or
        ``run`` where there is one), original, rerun, original_mean, rerun_mean, rmse (root mean
        square error over queries), nrmse (over its greatest value, for values from 0 to 1; else
        NaN), p_paired and p_unpaired (t-tests), tau_union and rbo of the lists (means over
        queries), queries. Columns `_low` and `_high` of rmse, nrmse, tau_union and rbo are their
        intervals. Of a rerun on another track, only the means and p_unpaired are not NaN.
    effects : DataFrame
        One row per rerun of a baseline and an advanced run, and measure: track, measure, baseline,
        advanced (of the rerun), improvement and rerun_improvement (of the means), effect_ratio (1:
        reproduced) and delta_ri (0: reproduced) with intervals `_low` and `_high`, queries.
    settings : Mapping
        Arguments: original, reruns, rerun_track, list_depth, persistence, resamples, seed.
    """

    runs: pl.DataFrame
    effects: pl.DataFrame
    settings: Mapping[str, object]

    def _summary(self) -> Summary:
        reruns = self.settings["reruns"]
        facts = [count(len(reruns) if isinstance(reruns, list) else 0, "rerun")]
        return Summary("", facts)

    def frame(self) -> pl.DataFrame:
        """Return `effects`; of single runs, `runs`."""
        return self.effects if self.effects.height else self.runs

    def show(self, value: str | None = None) -> alt.LayerChart:
        """Draw a value of the reruns with its intervals, one row per rerun and measure.

        Parameters
        ----------
        value : str, optional
            A column with an interval: ``effect_ratio``, ``delta_ri``, ``rmse``, ``nrmse``,
            ``tau_union`` or ``rbo``. Default: ``effect_ratio``, or ``rmse`` of single runs.

        Raises
        ------
        UsageError
            If there is no such value.
        """
        from irmeta.report.figure_file import offline
        from irmeta.report.figures import rerun_intervals

        choices = [*(_EFFECTS if self.effects.height else ()), *_CLOSENESS]
        value = choices[0] if value is None else value
        check_choice("value", value, choices)
        rows = self.effects if value in _EFFECTS else self.runs
        name = str(self.settings["original"])
        return offline(rerun_intervals(rows, value, _REPRODUCED[value], name))


class RerunChoices(ReproduceDataChoices, total=False):
    """Keywords of `reproduce` beside its parameters."""

    progress: Progress


@operation(ReproduceOptions)
@shows_progress("Comparing")
def reproduce(
    options: ReproduceOptions,
    source: OpenedStore | AnyLocation | object,
    runs: object = None,
    measures: str | Iterable[str] | None = None,
    *,
    original: Experiment,
    rerun: Experiment | Sequence[Experiment],
    track: str | None = None,
    workers: int | None = None,
    **choices: Unpack[RerunChoices],
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
    {options}
    workers, progress, **choices
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
    Equals repro_eval 0.5.0 but in four cases. repro_eval breaks ties of adjacent lines by doc,
    here `tie_order` does. It stops at lists of other lengths, which `tau_union` compares here to
    the end of the shorter, and where a run lacks a query: queries without a value of any of the
    runs are left out, and a query that one of the lists lacks counts as overlap 0, and not in tau.
    Equal values of one measure give p = 1, not NaN. nrmse of values beyond 1 is NaN, not a number.

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
    results, named, policies = results_or_data(source, runs, measures, workers, choices)
    store = OpenedStore(results) if isinstance(results, AnyLocation) else results
    if not isinstance(store, OpenedStore):
        raise UsageError("reproduce compares the lists of runs: pass a store, or qrels and runs.")
    first, reruns = _experiment(original), _experiments(rerun)
    for experiment in reruns:
        if len(experiment) != len(first):
            raise UsageError(
                f"{','.join(experiment)} is no rerun of {','.join(first)}: name as many runs, "
                "one each, or a baseline and an advanced run each."
            )
    name = only_track(store.reader, track).name
    rerun_track = options.rerun_track
    other_track = name if rerun_track is None else only_track(store.reader, rerun_track).name
    read: Any = {"workers": workers, **policies}
    originals = _values(
        store, named, [first] if other_track != name else [first, *reruns], name, read
    )
    repeated = (
        originals if other_track == name else _values(store, named, reruns, other_track, read)
    )
    if len(originals) != len(repeated):
        raise UsageError(
            f"tracks {name!r} and {other_track!r} have different numbers of qrels sets or "
            "measures: choose a qrels set by `qrels=`."
        )
    same, experiments = other_track == name, [first, *reruns]
    lists = _lists(store, name, experiments, policies, options.list_depth) if same else {}
    overlaps = _Overlaps(lists, options.persistence, options.list_depth)
    resampled = partial(interval, resamples=options.resamples, rng=options.rng, paired=same)
    rows, effects = list[dict[str, Any]](), list[dict[str, Any]]()
    roles = _ROLES if len(first) > 1 else ("run",)
    several = len({matrix.qrels for matrix in originals}) > 1
    for before, after in zip(originals, repeated, strict=True):
        key = {"track": name, "measure": before.measure}
        key |= {"qrels": before.qrels} if several else {}
        for experiment in reported(reruns, len(reruns), "reruns"):
            for role, mine, theirs in zip(roles, first, experiment, strict=True):
                row = {**key, "role": role, "original": mine, "rerun": theirs}
                values = _of(before, [mine])[:, 0], _of(after, [theirs])[:, 0]
                row |= _closeness(*values, resampled, same)
                agreed = overlaps.of(mine, theirs, before.queries if same else ())
                for column, overlap in agreed.items():
                    row |= _with_interval(column, _mean, [overlap], resampled)
                rows.append(row | {"queries": len(before.queries)})
            if len(first) > 1:
                pair = {**key, "baseline": experiment[0], "advanced": experiment[1]}
                effects.append(
                    pair | _effects(_of(before, first), _of(after, experiment), resampled)
                )
    settings = {
        "original": ",".join(first),
        "reruns": [",".join(experiment) for experiment in reruns],
        **options.record(),
        "rerun_track": other_track,
    }
    return Reproduction(pl.DataFrame(rows), pl.DataFrame(effects), settings)


def _experiment(given: Experiment) -> tuple[str, ...]:
    """Return the names of one experiment: of a run, or of a baseline and an advanced run."""
    runs = given.split(",") if isinstance(given, str) else list(given)
    runs = [name.strip() for name in runs]
    if len(runs) not in (1, 2) or not all(runs) or len(set(runs)) < len(runs):
        raise UsageError(
            f"{','.join(runs)!r} is neither a run nor a baseline and another run: "
            "write RUN, or BASELINE,ADVANCED."
        )
    return tuple(runs)


def _experiments(given: Experiment | Sequence[Experiment]) -> list[tuple[str, ...]]:
    """Return one or several reruns; a tuple of two names is one."""
    if isinstance(given, str):
        return [_experiment(given)]
    if isinstance(given, tuple) and all(isinstance(name, str) for name in given):
        return [_experiment([str(name) for name in given])]
    if not given:
        raise UsageError("no rerun is named: name one or more by `rerun=`.")
    return [_experiment(experiment) for experiment in given]


_Lists = Mapping[tuple[str, str], list[str]]
"""Docs by system and query, best first."""


def _systems(experiments: Iterable[tuple[str, ...]]) -> list[str]:
    """Return the systems of some experiments, each once."""
    return list(dict.fromkeys(system for experiment in experiments for system in experiment))


def _values(
    store: OpenedStore, names: Any, experiments: Any, track: str, read: Mapping[str, Any]
) -> list[Matrix]:
    """Return the values of some experiments' runs on the queries where all have one."""
    systems = _systems(experiments)
    known = store.track(track).systems
    for run in systems:
        if run not in known:
            raise UsageError(f"track {track!r} has no system {run!r}. {did_you_mean(run, known)}")
    chosen = []
    for matrix in matrices(store, names or "basic", track=track, **read):
        places = np.array([matrix.systems.index(system) for system in systems])
        chosen.append(matrix.only_systems(places).complete())
        if not chosen[-1].queries:
            raise UsageError(
                f"{matrix.measure}: no query has a value for every run of {', '.join(systems)}."
            )
    return chosen


def _of(matrix: Matrix, systems: Sequence[str]) -> np.ndarray:
    """Return the values of some systems [query, system]."""
    return matrix.values[:, [matrix.systems.index(system) for system in systems]]


def _mean(values: np.ndarray) -> float:
    """Return the mean of the values that are not NaN."""
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else np.nan


def _with_interval(
    name: str, statistic: Any, samples: Sequence[np.ndarray], resampled: Any
) -> dict[str, float]:
    """Return a statistic of samples by query and the ends of its interval."""
    low = high = value = np.nan
    if len(samples[0]):
        value = statistic(*samples)
        low, high = resampled(statistic, *samples)
    return {name: value, f"{name}_low": low, f"{name}_high": high}


def _closeness(
    original: np.ndarray, rerun: np.ndarray, resampled: Any, paired: bool
) -> dict[str, float]:
    """Return means, errors and tests of a rerun's values."""
    row = {"original_mean": float(original.mean()), "rerun_mean": float(rerun.mean())}
    none = np.array([]), np.array([])
    both = (original, rerun) if paired else none
    is_share = min(original.min(), rerun.min()) >= 0 and max(original.max(), rerun.max()) <= 1
    row |= _with_interval("rmse", error, both, resampled)
    row |= _with_interval("nrmse", relative_error, both if is_share else none, resampled)
    p_paired = np.nan
    if paired:
        two = Matrix(np.column_stack(both), tuple(map(str, range(len(rerun)))), ("a", "b"))
        p_paired = float(pairwise(two, "t").p_adjusted[0, 1])
    return row | {"p_paired": p_paired, "p_unpaired": unpaired_p(original, rerun)}


def _effects(original: np.ndarray, rerun: np.ndarray, resampled: Any) -> dict[str, Any]:
    """Return the improvements of both experiments, and how they compare."""
    (base, advanced), (rerun_base, rerun_advanced) = original.mean(axis=0), rerun.mean(axis=0)
    row: dict[str, Any] = {
        "improvement": float(advanced - base),
        "rerun_improvement": float(rerun_advanced - rerun_base),
    }
    samples = original, rerun
    row |= _with_interval("effect_ratio", effect_ratio, samples, resampled)
    row |= _with_interval("delta_ri", delta_relative_improvement, samples, resampled)
    return row | {"queries": len(original)}


def _lists(
    store: OpenedStore, track: str, experiments: Any, choices: Mapping[str, Any], depth: int
) -> _Lists:
    """Return the docs of the experiments' lists, under the tie order of the values."""
    opened = store.track(track, store.policy_with(choices))
    facts = opened.facts.select(opened.facts.indices(_systems(experiments)))
    lists = list_docs(opened.stored, facts, opened.policy.tie_order, depth)
    return {(system, query): docs for system, query, docs in lists.iter_rows()}


class _Overlaps:
    """Agreement of two systems' lists by query, computed once for all measures."""

    def __init__(self, lists: _Lists, persistence: float, depth: int) -> None:
        self._lists, self._persistence, self._depth = lists, persistence, depth
        self._found: dict[tuple[str, ...], tuple[float, float]] = {}

    def of(self, original: str, rerun: str, queries: Sequence[str]) -> dict[str, np.ndarray]:
        """Return `tau_union` and `rbo` by query."""
        for query in queries:
            key = (original, rerun, query)
            if key not in self._found:
                mine, theirs = (self._lists.get((run, query), []) for run in (original, rerun))
                overlap = overlap_to(mine, theirs, self._persistence, self._depth)
                self._found[key] = tau_union(mine, theirs), overlap
        values = [self._found[original, rerun, query] for query in queries]
        taus, overlaps = np.array(values, np.float64).reshape(-1, 2).T
        return {"tau_union": taus, "rbo": overlaps}
