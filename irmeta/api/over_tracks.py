"""`over_tracks`: what several tracks together say of the systems that they share."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack, cast

import numpy as np
import polars as pl

from irmeta._version import __version__
from irmeta.api.arguments import OverTracksOptions, operation
from irmeta.api.matrices import Results, matrices, with_columns
from irmeta.api.results_or_data import variants_in, variants_text
from irmeta.errors import DataError, UsageError
from irmeta.locations import Location, NamedFile, location
from irmeta.phrases import count, listed
from irmeta.policies import columns_by_key
from irmeta.policy_keywords import OverTracksChoices
from irmeta.progress import Progress, shows_progress
from irmeta.results.matrix import Matrix, read_table
from irmeta.schema.result_tables import (
    CHANGES,
    DRIFT,
    OVER_TRACKS,
    OVER_TRACKS_LEFT,
    OVER_TRACKS_ORDERS,
    OVER_TRACKS_OVERLAP,
    OVER_TRACKS_PAIRS,
)
from irmeta.stats.datasets import (
    LEAST_DATASETS,
    Datasets,
    change_rows,
    dataset_rows,
    difference_limits,
    drift_rows,
    effective_number,
    friedman,
    nemenyi,
    order_rows,
    overlap_rows,
    system_rows,
)
from irmeta.stats.pairs import pairwise
from irmeta.stats.replicates import over_clusters
from irmeta.stats.tables import is_measure
from irmeta.store.scan import Tracks
from irmeta.summaries import Line, Part, Result, Rows, Summary
from irmeta.trec.streams import file_sha256
from irmeta.trec.system_names import names_by_system

Facts = Mapping[str, Any]
ALIASES = {"dataset": "track", "metric": "measure", "score": "value", "model": "system"}
MEANS_COLUMNS = {"track", "system", "measure", "value"}
QUERIES = {"query", "query_id", "qid", "topic"}
PLACES = (str, Path, Location)
_TABLE = re.compile(r"\.(csv|tsv|parquet)(\.\w+)?$", re.IGNORECASE)
DIFFER = "differ over tracks"
CHI_SQUARED = 10
"""Fewest tracks of which chi-squared approximates Friedman's statistic well (Demsar 2006)."""


@dataclass(frozen=True, repr=False)
class OverTracks(Result):
    """Systems over several tracks, by one or more measures.

    Attributes
    ----------
    systems : DataFrame
        One row per measure and system, best first: measure, rank, system, macro_mean, low, high
        (of the macro mean on these tracks: percentiles, queries drawn within each track),
        low_like_these, high_like_these (Student's t over means of tracks; NaN for fewer than five
        tracks), mean_rank, borda, win_rate, tracks.
    pairs : DataFrame
        One row per measure and pair: difference of macro means with limits on these tracks, p of
        Wilcoxon's signed-rank test over tracks, p_nemenyi (null unless asked for), verdict.
    orders : DataFrame
        tau-b of the orders by macro mean, mean rank (Borda's order) and win rate.
    tracks : DataFrame
        One row per measure and track: what the order is without it.
    overlap : DataFrame
        One row per measure and pair of tracks: tau-b and Pearson's r over systems.
    changes : DataFrame
        With `snapshots`, one row per measure, snapshot after the first and system: change of the
        mean since the snapshot before, with its limits, p and numbers of queries; of a `pivot`,
        effect_ratio with limits and delta_ri.
    drift : DataFrame
        With `snapshots`, one row per measure and snapshot after the first: tau-b of its order with
        that before, and its median, 5 % quantile and p when queries are exchanged at random.
    facts : Mapping
        By measure: tracks, systems, friedman (statistic), friedman_p, effective_tracks, only_means
        (whether a track has a single value for each system).
    left_out : Mapping
        By measure: systems that lack a track, with these tracks.
    settings : Mapping
        Arguments.
    """

    systems: pl.DataFrame
    pairs: pl.DataFrame
    orders: pl.DataFrame
    tracks: pl.DataFrame
    overlap: pl.DataFrame
    changes: pl.DataFrame
    drift: pl.DataFrame
    facts: Mapping[str, Facts]
    left_out: Mapping[str, Mapping[str, list[str]]]
    settings: Mapping[str, object]

    def _summary(self) -> Summary:
        counts = next(iter(self.facts.values()))
        return Summary(
            ", ".join(self.facts),
            [count(counts["systems"], "system"), count(counts["tracks"], "track")],
        )

    def frame(self) -> pl.DataFrame:
        """Return `systems`."""
        return self.systems

    def tables(self) -> dict[str, pl.DataFrame]:
        """Return all frames by the names of their files."""
        frames = (self.systems, self.pairs, self.orders, self.tracks, self.overlap)
        files = ("over_tracks", "over_tracks_pairs", "orders", "tracks_left_out", "track_overlap")
        tables = dict(zip(files, frames, strict=True))
        return tables | (
            {"changes": self.changes, "drift": self.drift} if self.drift.height else {}
        )

    def provenance(self) -> dict[str, Any]:
        """Return the record of arguments, facts and left-out systems."""
        facts = {measure: dict(of) for measure, of in self.facts.items()}
        left_out = {measure: dict(of) for measure, of in self.left_out.items() if of}
        record = {**self.settings, "facts": facts, "left_out": left_out}
        return {"irmeta": __version__, "over_tracks": record}

    def parts(self, digits: int | None = None, every: bool = False) -> Iterator[Part]:
        """Return the systems of each measure and what follows."""
        for measure, facts in self.facts.items():
            yield Line(f"{measure} over {count(facts['tracks'], 'track')}", "bold")
            unused = ["low", "high"] * facts["only_means"]
            unused += ["low_like_these", "high_like_these"] * (facts["tracks"] < LEAST_DATASETS)
            yield Rows(self.systems.filter(measure=measure).drop("measure", *unused))
            for line in self._lines(measure, facts):
                yield Line(line)
            if self.drift.height:
                yield Line(f"{measure}: changes from each snapshot to the next", "bold")
                yield Rows(self.changes.filter(measure=measure).drop("measure"))
                yield Line(f"p of each system alone, uncorrected; low, high: {self._level} limits.")
                for row in self.drift.filter(measure=measure).iter_rows(named=True):
                    yield Line(_drift_line(row, float(str(self.settings["alpha"]))))

    @property
    def _level(self) -> str:
        """Confidence level of the limits, as text."""
        return f"{100 * (1 - float(str(self.settings['alpha']))):g} %"

    def _lines(self, measure: str, facts: Facts) -> Iterator[str]:
        """Return the conclusions by a measure."""
        if facts["only_means"]:
            yield (
                "A track has one value for each system: no interval on these tracks, since there "
                "are no queries to draw; the win rate is that of means."
            )
        else:
            yield (
                f"low, high: {self._level} limits of the macro mean on these tracks, whose queries "
                "are resampled; each for its system alone."
            )
        if averaged := variants_text(self.settings):
            yield f"{averaged}."
        if facts["tracks"] < LEAST_DATASETS:
            few = count(facts["tracks"], "track")
            yield f"Nothing is said of tracks like these: {few}, fewer than {LEAST_DATASETS}."
        else:
            yield (
                f"low_like_these, high_like_these: {self._level} limits for tracks like these "
                "(Student's t over tracks)."
            )
        if facts["systems"] > 2 and not math.isnan(facts["friedman_p"]):
            yield (
                f"Friedman's test of equal ranks on all tracks: chi-squared "
                f"{facts['friedman']:.2f}, p = {facts['friedman_p']:.4f}"
                f"{', approximate for so few tracks' * (facts['tracks'] < CHI_SQUARED)}."
            )
        if left_out := self.left_out[measure]:
            treated = "count 0 there" if self.settings["missing"] == "zero" else "are left out"
            lacking = [f"{system} ({', '.join(lacks)})" for system, lacks in left_out.items()]
            yield f"Systems that lack a track {treated}: {listed(lacking, 10)}."
        pairs = self.pairs.filter(measure=measure)
        shown = pairs.filter(verdict=DIFFER).height
        if not pairs.height:
            return
        yield (
            f"Significantly different over tracks (Wilcoxon, Holm-corrected): {shown:,} of "
            f"{count(pairs.height, 'pair')}."
        )
        if facts["tracks"] > 2:
            yield self._decisive(measure, facts)

    def _decisive(self, measure: str, facts: Facts) -> str:
        """Return on which track the order depends most, and how alike the tracks are."""
        tracks = self.tracks.filter(measure=measure)
        decisive = tracks.sort("tau_without", nulls_last=True).row(0, named=True)
        text = (
            f"The order depends most on {decisive['track']}: tau-b {decisive['tau_without']:.3f} "
            f"without it, best {decisive['best_without']}."
        )
        if facts["systems"] < 3:  # two systems always correlate by 1 or -1
            return text
        return (
            f"{text} By the means of these {facts['systems']} systems, the tracks vary as "
            f"{facts['effective_tracks']:.1f} uncorrelated ones."
        )


@operation(OverTracksOptions)
@shows_progress("Comparing over tracks")
def over_tracks(
    options: OverTracksOptions,
    results: Results | Matrix | Iterable[Matrix] | object,
    measures: str | Iterable[str] | None = None,
    *,
    track: Tracks = None,
    workers: int | None = None,
    progress: Progress = None,
    **choices: Unpack[OverTracksChoices],
) -> OverTracks:
    """Compare systems over several tracks: macro means, orders, tests over tracks.

    Parameters
    ----------
    results : Store, str, Path, frame or sequence of Matrix
        See `irmeta.matrices`; systems of the same name on several tracks are one system. A frame or
        CSV or Parquet file of means, with the columns system, track (or dataset), measure and
        value, works too, without the intervals that need queries.
    measures : str or iterable of str, optional
        Names of the measures; default all of the results.
    {options}
    track, workers, progress, **choices
        See `irmeta.matrices`.

    Returns
    -------
    OverTracks
        Frames of systems, pairs, orders, tracks and overlap.

    Raises
    ------
    UsageError
        For fewer than two tracks, or systems that lack a track with ``missing="error"``.

    Notes
    -----
    A test over tracks takes each track's mean as one observation, so it says something of tracks
    like these, if they are a sample of such tracks. From five tracks on, Student's t interval with
    n - 1 degrees of freedom is given; a percentile bootstrap over six tracks covers 86 % instead of
    95 %. Wilcoxon's test of fewer than six tracks cannot reach p = .05. The limits `low` and
    `high` are about these tracks alone. Where a track's ``queries.csv`` has a column variant_of,
    the values of the variants of a query are averaged first, as `irmeta.compare` does.

    References
    ----------
    .. [1] Demsar, J. (2006). Statistical comparisons of classifiers over multiple data sets.
       Journal of Machine Learning Research 7.
    .. [2] Friedman, M. (1937). The use of ranks to avoid the assumption of normality implicit in
       the analysis of variance. doi:10.1080/01621459.1937.10503522
    .. [3] Benavoli, A., Corani, G. and Mangili, F. (2016). Should we really use post-hoc tests
       based on mean-ranks? Journal of Machine Learning Research 17.
    .. [4] Derrick, B. et al. (2017). Test statistics for the comparison of means for two samples
       that include both paired and independent observations. doi:10.22237/jmasm/1493597280

    Examples
    --------
    >>> values = {"track": ["a", "a", "b", "b"], "system": ["x", "y"] * 2, "measure": "AP"}
    >>> means = pl.DataFrame({**values, "value": [0.25, 0.5, 0.25, 0.75]})
    >>> irmeta.over_tracks(means).systems.select("system", "macro_mean").rows()
    [('y', 0.625), ('x', 0.25)]
    """
    columns: Any = choices.get("columns")
    if isinstance(results, list | tuple) and results and isinstance(results[0], Matrix):
        if measures is not None or track is not None or workers is not None or choices:
            raise UsageError("a matrix has its measure and track: omit measures, track, policies.")
        joined: list[Matrix] = list(cast("Iterable[Matrix]", results))
    elif (means := _means(results, columns)) is not None:
        choices.pop("columns", None)
        try:
            joined = matrices(means[0], measures, track=track, workers=workers, **choices)
        except DataError as error:
            error.file = error.file or means[1]
            raise
    else:
        joined = matrices(cast("Any", results), measures, track=track, workers=workers, **choices)
    if (variants := variants_in(results, track)) is not None:
        joined = [over_clusters(m, variants.by_name(m.track), once=True) for m in joined]
    if options.system_names is not None:
        on_tracks = {system for matrix in joined for system in matrix.systems}
        display = names_by_system(options.system_names, on_tracks)
        joined = [_renamed(matrix, display, options.system_names) for matrix in joined]
    by_measure: dict[str, list[Matrix]] = {}
    for matrix in joined:
        by_measure.setdefault(matrix.measure, []).append(matrix)
    data = {name: Datasets.of(of, options.missing) for name, of in by_measure.items()}
    drawing: Any = (1 - options.alpha, options.resamples, options.rng)
    in_time = options.snapshots
    if options.pivot is not None and not in_time:
        raise UsageError("`pivot` compares snapshots: use `snapshots`, too.")
    if in_time and any(joint.only_means for joint in data.values()):
        raise UsageError("changes between snapshots need values per query, and there are means.")
    settings = {n: value for n, value in options.record().items() if n != "system_names"}
    settings |= {} if variants is None else variants.record
    if options.system_names is not None:
        settings["system_names_sha256"] = file_sha256(Path(options.system_names))
    rng: Any = options.rng
    seed = int(rng.integers(2**31)) if isinstance(rng, np.random.Generator) else int(rng)
    seeded = (1 - options.alpha, options.resamples, seed)

    def rows(of: Any, *arguments: Any) -> list[tuple[Any, ...]]:
        return [(measure, *row) for measure, joint in data.items() for row in of(joint, *arguments)]

    return OverTracks(
        systems=OVER_TRACKS.frame(rows(system_rows, *drawing)),
        pairs=OVER_TRACKS_PAIRS.frame(rows(_pair_rows, options)),
        orders=OVER_TRACKS_ORDERS.frame(rows(order_rows)),
        tracks=OVER_TRACKS_LEFT.frame(rows(dataset_rows)),
        overlap=OVER_TRACKS_OVERLAP.frame(rows(overlap_rows)),
        changes=CHANGES.frame(rows(change_rows, options.pivot, *seeded) if in_time else []),
        drift=DRIFT.frame(rows(drift_rows, *seeded[1:]) if in_time else []),
        facts={measure: _facts(joint) for measure, joint in data.items()},
        left_out={measure: joint.left_out for measure, joint in data.items()},
        settings=settings,
    )


def _means(results: Any, columns: Any) -> tuple[pl.DataFrame, str] | None:
    """Return a table of means and its name, each mean as that of the only query.

    None for other results.
    """
    if isinstance(results, pl.DataFrame):
        table, place = with_columns(results, columns), "the table"
    else:
        file: Any = results[0] if isinstance(results, list) and len(results) == 1 else results
        file = file if isinstance(file, NamedFile) else NamedFile(None, file)
        if not isinstance(file.path, PLACES) or not _TABLE.search(str(file.path)):
            return None
        path = location(file.path)
        if not path.is_file():
            return None
        (file,) = with_columns([file._replace(path=path)], columns) if columns else (file,)
        table, place = read_table(path, is_measure, columns_by_key(file.columns)), str(path)
    frame = table.rename({n: key for n, key in ALIASES.items() if n in table.columns})
    if not MEANS_COLUMNS.issubset(frame.columns) or QUERIES & set(frame.columns):
        return None
    return frame.with_columns(query=pl.lit("mean of its queries")), place


def _renamed(matrix: Matrix, names: Mapping[str, str], file: str) -> Matrix:
    """Return a matrix whose systems have the names of a file."""
    systems = tuple(names.get(system, system) for system in matrix.systems)
    if len(set(systems)) < len(systems):
        again = next(name for name in systems if systems.count(name) > 1)
        raise DataError(f"two systems of track {matrix.track} have the name {again!r}", file=file)
    return replace(matrix, systems=systems)


def _pair_rows(data: Datasets, options: OverTracksOptions) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of the table of pairs."""
    tested = pairwise(data.as_matrix(), "wilcoxon", correction="holm")
    limits = (None, None)
    if not data.only_means:
        limits = difference_limits(data, 1 - options.alpha, options.resamples, options.rng)
    by_ranks = nemenyi(data) if options.nemenyi else None
    pairs = int(tested.upper.sum())
    for i, j in zip(*(of.tolist() for of in tested.upper.nonzero()), strict=True):
        difference = float(data.macro[i] - data.macro[j])
        low, high = (float("nan") if of is None else float(of[i, j]) for of in limits)
        p, p_adjusted = float(tested.p_uncorrected[i, j]), float(tested.p_adjusted[i, j])
        yield (
            *(data.systems[i], data.systems[j], difference, low, high, p, p_adjusted),
            None if by_ranks is None else float(by_ranks[i, j]),
            len(data.tracks),
            _verdict(p_adjusted, len(data.tracks), pairs, options.alpha),
        )


def _verdict(p: float, tracks: int, pairs: int, alpha: float) -> str:
    """Return what the test over tracks shows of one of several pairs."""
    if p <= alpha:
        return DIFFER
    if pairs * 0.5 ** (tracks - 1) > alpha:  # the least p of Wilcoxon's test, as Holm corrects it
        return f"cannot be shown by {count(tracks, 'track')}"
    return "no difference shown over tracks"


def _drift_line(row: Mapping[str, Any], alpha: float) -> str:
    """Return what is shown of the order of systems on a snapshot."""
    if math.isnan(row["p"]):
        return (
            f"{row['track']}: the order cannot be compared: on a snapshot all systems tie, or no "
            "query has a value of each."
        )
    shown = "has drifted" if row["p"] <= alpha else "shows no drift"
    return (
        f"{row['track']}: the order {shown} since {row['previous']}: tau-b {row['tau_b']:.3f}, "
        f"{row['tau_exchanged']:.3f} (median) where queries are exchanged at random (p = "
        f"{row['p']:.4f}, uncorrected; queries on which all systems have a value)."
    )


def _facts(data: Datasets) -> Facts:
    statistic, p = friedman(data)
    return {
        "tracks": len(data.tracks),
        "systems": len(data.systems),
        "friedman": statistic,
        "friedman_p": p,
        "effective_tracks": effective_number(data),
        "only_means": data.only_means,
    }
