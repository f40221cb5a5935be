"""Significance tests of systems and discriminative power of measures: `compare`, `power`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import fsum
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack, cast

import numpy as np
import polars as pl

from irmeta._version import __version__
from irmeta.api.arguments import CompareOptions, PowerOptions, operation
from irmeta.api.comparisons import (
    MORE_TABLES,
    Comparison,
    Comparisons,
    comparison,
    correction_text,
)
from irmeta.api.gates import UNJUDGED_AT, Unjudged
from irmeta.api.matrices import Results, matrices
from irmeta.api.opened_store import OpenedStore
from irmeta.api.results_or_data import factor_of, results_or_data, variants_in
from irmeta.errors import MeasureError, SegmentWarning, UsageError, warn
from irmeta.files import check_ours, plain_file_names, remove_temporaries, write_bytes
from irmeta.measures.names import parse_measure
from irmeta.phrases import count
from irmeta.policy_keywords import CompareDataChoices, PowerDataChoices
from irmeta.progress import Progress, reported, shows_progress
from irmeta.report import FORMATS
from irmeta.report.figure_file import add_mark, images_of, offline
from irmeta.report.figures import achieved_significance
from irmeta.report.theme import to_spec, without_titles
from irmeta.results.factors import Factor, Methods, QueryWeights, Segments, Variants
from irmeta.results.matrix import Matrix, qrels_of
from irmeta.results.tidy_files import has_written, provenance, write_out
from irmeta.stats.discriminative_power import asp, by_every_test, checked_levels, separation
from irmeta.stats.interactions import SegmentTables, segment_tables
from irmeta.stats.paired import CLUSTERED_TESTS, LEAST_CLUSTERS
from irmeta.stats.pairs import (
    TEST_NAMES,
    against_baselines,
    default_correction,
    pairwise,
)
from irmeta.stats.replicates import (
    averaged,
    over_clusters,
    replicate_tables,
    variant_tables,
)
from irmeta.stats.tables import facts_of_values
from irmeta.store.scan import Tracks
from irmeta.summaries import Result, Summary
from irmeta.trec.readers.frames import as_frame

if TYPE_CHECKING:
    import altair as alt


class _Counts(NamedTuple):
    counts: pl.DataFrame
    curves: pl.DataFrame


class Power(Result, _Counts):
    """Discriminative power of measures: the frames `counts` and `curves`, as a named tuple.

    Attributes
    ----------
    facts : dict of str to DataFrame
        The tables `queries` and `measures` of the values.
    """

    facts: Mapping[str, pl.DataFrame] = MappingProxyType({})

    def _summary(self) -> Summary:
        sizes = {
            name: self.counts[name].drop_nulls().n_unique() for name in ("measure", "test", "track")
        }
        facts = [count(number, noun) for noun, number in sizes.items()]
        return Summary("", facts)

    def frame(self) -> pl.DataFrame:
        """Return `counts`."""
        return self.counts

    def show(self) -> dict[str, alt.LayerChart]:
        """Draw the sorted p-values of all pairs by measure: a chart for each track and test."""
        levels = self.counts["level"].unique(maintain_order=True).to_list()
        several = self.curves["test"].n_unique() > 1
        charts = {}
        for (track, test), rows in self.curves.group_by("track", "test", maintain_order=True):
            name = str(track) or "power"
            title = f"Achieved significance levels{f' on {track}' if track else ''}: {test}"
            text = correction_text(str(test), rows["correction"][0])
            chart = achieved_significance(rows, levels, title, text)
            charts[f"{name}.{test}" if several else name] = offline(chart)
        return charts


@operation(CompareOptions)
@shows_progress("Comparing")
def compare(
    options: CompareOptions,
    results: Results | Matrix | Iterable[Matrix] | object,
    runs: object = None,
    measures: str | Iterable[str] | None = None,
    *,
    segments: Segments | pl.DataFrame | str | Path | None = None,
    query_weights: QueryWeights | pl.DataFrame | str | Path | None = None,
    track: Tracks = None,
    workers: int | None = None,
    progress: Progress = None,
    **choices: Unpack[CompareDataChoices],
) -> Comparisons:
    """Test every pair of systems of every track, or every system against a baseline.

    Parameters
    ----------
    results : Store, str, Path, Matrix or iterable of Matrix; or qrels
        See `irmeta.matrices`.
    runs : object, optional
        Runs, where `results` are qrels in memory: see `irmeta.from_data`. After other results, the
        second argument is `measures`.
    measures : str or iterable of str, optional
        Names of the measures; optional if there is only one.
    {options}
    segments : DataFrame, str or Path, optional
        Segments of the queries to compare the systems on, too: see `irmeta.prefer`. The correction
        of a comparison counts the pairs of its segment alone, so that chance finds more in more
        segments. `Comparisons.by_segment` corrects over all segments (max-t by sign flips), and
        tests whether a difference depends on the segment [2]_ and whether it is reversed [3]_.
    query_weights : DataFrame, str or Path, optional
        Weights of the queries, such as how often users ask them: a frame or CSV file with the
        columns query, weight (above 0; only their ratios count) and, where tracks share names of
        queries, track. Means are weighted, and so are the tests ``t`` and ``permutation``, the only
        ones with a weighted form: see `irmeta.stats.pairwise`. There is no `by_segment` then.
    track, workers, progress, **choices
        See `irmeta.matrices`; and, for qrels and runs in memory, `irmeta.evaluate`.

    Returns
    -------
    Comparisons
        List of `Comparison`, one per track, qrels set (``qrels="human,judge"`` is two),
        measure, segment (all queries first) and baseline, with methods for a table of systems by
        measures: `to_latex`, `to_markdown`, `to_text`.

    Raises
    ------
    UsageError
        If no measure is named and there are several, or a name, baseline or level is unknown;
        for a matrix with a measure or track beside it; for `less_is_better` of a known measure; for
        `robust` of values without a store, of several qrels sets, or with a baseline; for
        `relative` without one; for `resample_by` with a test that has no form for clusters, with
        `robust`, `relative` or `segments`, or a column of systems; for `query_weights` with another
        test than ``t`` and ``permutation``, with `robust` or with `relative`.
    DataError
        If `segments` or `query_weights` cannot be read, a query of the values has no weight, or one
        with a weight has no values (unless queries are selected).

    References
    ----------
    .. [1] Fieller, E. C. (1954). Some problems in interval estimation.
       doi:10.1111/j.2517-6161.1954.tb00159.x
    .. [2] Chung, E. and Romano, J. P. (2013). Exact and asymptotically robust permutation tests.
       doi:10.1214/13-AOS1090
    .. [3] Gail, M. and Simon, R. (1985). Testing for qualitative interactions between treatment
       effects and patient subsets. doi:10.2307/2530862

    Examples
    --------
    >>> (comparison,) = irmeta.compare(store, "AP", track="news")
    >>> comparison.systems.select("system", "better_than", "top").row(0)
    ('doumMan2', 18, True)
    >>> (comparison,) = irmeta.compare(store, "AP", track="news", baseline="aldBM25", test="max-t")
    >>> comparison.systems.group_by("verdict").len().sort("verdict").rows()
    [('baseline', 1), ('better', 6), ('not different', 5), ('worse', 8)]
    """
    if options.robust and options.baseline is not None:
        raise UsageError("`robust` tests all pairs of systems: omit `baseline` or `robust`.")
    if query_weights is not None and (options.robust or options.relative):
        unweighted = "robust" if options.robust else "relative"
        raise UsageError(f"`{unweighted}` has no form for weights of queries: omit one of them.")
    if options.robust and segments is not None:
        raise UsageError("`robust` checks conclusions over all queries: omit `segments`.")
    if options.resample_by is not None:
        conflicting = {"robust": options.robust, "relative": options.relative}
        for name, has in (conflicting | {"segments": segments is not None}).items():
            if has:
                raise UsageError(f"`{name}` has no form for clusters: omit it or `resample_by`.")
    if options.relative and options.baseline is None:
        raise UsageError("`relative` needs a baseline to divide by.")
    source, measures, policies = results_or_data(results, runs, measures, workers, choices)
    values = _given(source, measures, track, workers, policies)
    named = sorted({m.measure for m in values})
    if len(named) > 1 and measures is None and not _are_matrices(source):
        raise UsageError(f"specify measures: {', '.join(named)}.")
    if options.less_is_better:
        values = [_reversed(m) for m in values]
    values = [m.with_missing(options.missing) for m in values]
    testing: dict[str, Any] = {
        "test": options.test,
        "correction": options.correction or default_correction(options.test),
        "confidence": 1 - options.alpha,
        "resamples": options.resamples,
        "rng": options.rng,
        "alternative": options.alternative,
    }
    sets, settings = qrels_of(values), _settings(options)
    if isinstance(source, OpenedStore):
        selected = source.policy_with(policies).selects_queries
    else:
        selected = any(policies.get(name) is not None for name in ("query", "query_file"))
    if query_weights is not None:
        weights = QueryWeights.of(query_weights)
        values = weights.weigh(values, selected=selected)
        settings |= {"query_weights_sha256": weights.sha256}
    if options.resample_by is None:
        clusters = variants_in(source, track)
    else:
        clusters = factor_of(Factor, options.resample_by, source, track)
        if not selected:
            clusters.refuse_unknown({query for matrix in values for query in matrix.queries})
        values = [matrix.complete() for matrix in values]
    of_variants, ways = None, list[dict[str, Any]]([testing] * len(values))
    if clusters is not None:
        settings |= clusters.record
        groups = [clusters.by_name(m.track) for m in values]
        if once := isinstance(clusters, Variants):
            of_variants = variant_tables(values, groups, sets)
            if options.robust:
                fix = "name one variant of each query by `query_file`."
                raise UsageError(f"`robust` scores queries again, not means of variants: {fix}")
        else:
            by = clusters.column or clusters.source
            ways = [
                testing | _by_clusters(*of, by, options) for of in zip(values, groups, strict=True)
            ]
        values = [over_clusters(*of, once=once) for of in zip(values, groups, strict=True)]
    of_replicates, methods = None, dict[str, Mapping[str, str]]()
    if options.replicates is not None:
        if options.robust:
            raise UsageError("`robust` scores runs again, not methods: omit `replicates`.")
        factor = factor_of(Methods, options.replicates, source, track)
        factor.refuse_unknown({system for matrix in values for system in matrix.systems})
        settings |= factor.record
        groups = [factor.by_name(matrix.track) for matrix in values]
        methods = {m.track: of_track for m, of_track in zip(values, groups, strict=True)}
        of_replicates = replicate_tables(values, groups, sets, options.components)
        values = [averaged(*of) for of in zip(values, groups, strict=True)]
    elif options.components != "anova":
        raise UsageError("`components` are of replicates: name these by `replicates`, or omit it.")
    chosen = None if segments is None else factor_of(Segments, segments, source, track)
    parts = [((m, None), of) for m, of in zip(values, zip(sets, ways, strict=True), strict=True)]
    if chosen is not None:
        settings |= chosen.record
        by_segment = chosen.parts_of(values)
        parts = [
            (part, of)
            for each, of in zip(by_segment, zip(sets, ways, strict=True), strict=True)
            for part in each
        ]
    compared = Comparisons(
        comparison(
            m,
            replace(pairs, qrels=name, segment=segment, by_segment=chosen is not None),
            options.alpha,
            settings,
            options.rng,
            relative=options.relative,
        )
        for (m, segment), (name, how) in reported(parts, len(parts), "tests")
        for pairs in (
            [pairwise(m, **how)]
            if options.baseline is None
            else against_baselines(m, options.baseline, **how)
        )
    )
    compared.replicates, compared.variants = of_replicates, of_variants
    if chosen is not None and query_weights is None:
        compared.by_segment = _by_segment(compared, chosen, options)
    if isinstance(source, OpenedStore):
        compared.unjudged = partial(_unjudged_shares, source, track, workers, policies, methods)
    if options.robust:
        if any(sets):
            raise UsageError(
                "`robust` checks one qrels set against the others: name it by `qrels=`."
            )
        from irmeta.api.robust import robust_conclusions  # the study is slow to import

        rng: Any = options.rng
        seed = int(rng.integers(2**31)) if isinstance(rng, np.random.Generator) else rng
        tested = partial(pairwise, **testing)
        levels = {"alpha": options.alpha, "resamples": options.resamples, "seed": seed}
        compared.robust = robust_conclusions(source, measures, values, tested, levels, policies)
    return compared


def _by_clusters(
    matrix: Matrix, clusters: Mapping[str, str], by: str, options: CompareOptions
) -> dict[str, Any]:
    """Return how clusters are tested: what is resampled, and the test that few of them allow."""
    number = len({clusters.get(query, query) for query in matrix.queries})
    text = f"{count(number, 'cluster')} ({by}) of {count(len(matrix.queries), 'query')}"
    if number >= LEAST_CLUSTERS or options.test == "t" or options.test not in CLUSTERED_TESTS:
        return {"clusters": text}
    replaced = f"a t-test of their means replaces the {TEST_NAMES[options.test]}"
    correction = options.correction or default_correction("t")
    text = f"{text}, fewer than {LEAST_CLUSTERS}: {replaced}"
    return {"test": "t", "correction": correction, "clusters": text}


def _by_segment(
    compared: Comparisons, segments: Segments, options: CompareOptions
) -> SegmentTables:
    """Return the tests of how the differences of pairs depend on the segment, of all measures."""
    parts = [
        segment_tables(
            c.matrix.values,
            c.matrix.queries,
            segments.of_track(c.pairs.track),
            c.pairs,
            options.alpha,
            options.resamples,
            options.rng,
        )
        for c in compared
        if c.pairs.segment is None
    ]
    unused = [name for name in ("qrels", "baseline") if not getattr(compared[0].pairs, name)]
    return SegmentTables(*(pl.concat(of).drop(unused) for of in zip(*parts, strict=True)))


def _unjudged_shares(
    store: Any,
    track: Tracks,
    workers: int | None,
    choices: dict[str, Any],
    methods: Mapping[str, Mapping[str, str]],
) -> Unjudged:
    """Return the mean share of unjudged docs among the first 10 of each system or method."""
    means = store.means(f"Judged@{UNJUDGED_AT}", track=track, workers=workers, **choices)
    qrels = "qrels" if "qrels" in means.columns else pl.lit("").alias("qrels")
    of_runs = means.select("track", qrels, "system", share=1 - pl.col("value"))
    shares = dict[tuple[str, str, str], list[float]]()
    for of_track, of_set, system, share in of_runs.iter_rows():
        method = methods.get(of_track, {}).get(system, system)
        shares.setdefault((of_track, of_set, method), []).append(share)
    return {key: round(fsum(parts) / len(parts), 12) for key, parts in shares.items()}


def _settings(options: CompareOptions) -> dict[str, Any]:
    """Return the options that provenance names beside the test, its level and its baseline."""
    named_elsewhere = ("test", "correction", "alpha", "baseline", "replicates", "resample_by")
    if_changed = {"alternative", "robust", "relative", "components"} - options.changed().keys()
    record = options.record()
    return {n: v for n, v in record.items() if n not in named_elsewhere and n not in if_changed}


def _given(
    results: object,
    measures: str | Iterable[str] | None,
    track: Tracks,
    workers: int | None,
    choices: dict[str, Any],
) -> list[Matrix]:
    """Return the matrices of results; matrices are returned as they are."""
    if isinstance(results, Results | Mapping):
        return matrices(results, measures, track=track, workers=workers, **choices)
    if isinstance(results, Matrix):
        listed: list[Any] = [results]
    else:
        is_list = isinstance(results, Iterable) and as_frame(results, "the table") is None
        listed = list(cast("Iterable[Any]", results)) if is_list else []
        if not is_list or not all(isinstance(matrix, Matrix) for matrix in listed):
            table = listed if is_list else results
            return matrices(table, measures, track=track, workers=workers, **choices)
    if measures is not None or track is not None or workers is not None or choices:
        raise UsageError("a matrix has its measure and track: omit measures, track and policies.")
    if not listed:
        raise UsageError("no matrix was given.")
    return listed


def _are_matrices(source: object) -> bool:
    """Check whether a source is matrices, which a caller has chosen."""
    return isinstance(source, Matrix | Iterator) or (
        isinstance(source, list | tuple) and isinstance(next(iter(source), None), Matrix)
    )


def _reversed(matrix: Matrix) -> Matrix:
    """Return the matrix with less as better, if its direction is not known."""
    try:
        parse_measure(matrix.measure)
    except MeasureError:
        return replace(matrix, direction=-1)
    raise UsageError(f"the direction of {matrix.measure} is known: omit less_is_better.")


@operation(PowerOptions)
@shows_progress("Testing")
def power(
    options: PowerOptions,
    results: Results | Matrix | Iterable[Matrix] | object,
    runs: object = None,
    measures: str | Iterable[str] | None = None,
    *,
    track: Tracks = None,
    workers: int | None = None,
    progress: Progress = None,
    **choices: Unpack[PowerDataChoices],
) -> Power:
    """Count the pairs of systems that differ significantly by each measure.

    Parameters
    ----------
    results : Store, str, Path, Matrix or iterable of Matrix; or qrels
        See `irmeta.matrices`.
    runs : object, optional
        Runs, where `results` are qrels in memory: see `irmeta.from_data`. After other results, the
        second argument is `measures`.
    measures, track, workers, progress, **choices
        See `irmeta.matrices`; and, for qrels and runs in memory, `irmeta.evaluate`.
    {options}

    Returns
    -------
    Power
        The frames `counts` (see `irmeta.stats.separation`) and `curves` (see `irmeta.stats.asp`),
        as a named tuple.

    Raises
    ------
    UsageError
        As `irmeta.matrices` and `irmeta.stats.power`, which has the reference.

    Examples
    --------
    >>> counts, curves = irmeta.power(store, ["AP", "P@10"], track="news", alpha=0.05)
    >>> counts.select("measure", "pairs", "separated").rows()
    [('AP', 190, 161), ('P@10', 190, 145)]
    """
    source, measures, policies = results_or_data(results, runs, measures, workers, choices)
    values = _given(source, measures, track, workers, policies)
    if any(qrels_of(values)):
        raise UsageError("power is computed for one qrels set: name it by `qrels=`.")
    levels = checked_levels(options.alpha)  # before anything is tested
    values = [m.with_missing(options.missing) for m in values]
    if (variants := variants_in(source, track)) is not None:
        for name, queries in {m.track: m.queries for m in values}.items():
            if sizes := variants.sizes(name, queries):
                text = f"{sum(sizes):,} of {count(len(queries), 'query')} are variants of"
                mean = "(column variant_of of queries.csv), whose mean over variants is tested"
                warn(f"track {name}: {text} {len(sizes):,} {mean}.", SegmentWarning, stacklevel=2)
        values = [over_clusters(m, variants.by_name(m.track), once=True) for m in values]
    tested = by_every_test(
        values,
        options.tests,
        correction=options.correction,
        resamples=options.resamples,
        rng=options.rng,
    )
    pairs = list(reported(tested, len(values) * len(options.tests), "tests"))
    counted = Power(separation(pairs, alpha=levels), pl.concat(map(asp, pairs)))
    counted.facts = facts_of_values(values)
    return counted


def comparison_record(
    comparisons: Sequence[Comparison], source: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the provenance of comparisons, whose values have the provenance `source`."""
    baselines = list(dict.fromkeys(compared.pairs.baseline for compared in comparisons))
    asked = {
        "test": comparisons[0].pairs.test,
        "correction": comparisons[0].pairs.correction,
        "alpha": comparisons[0].alpha,
        "baseline": baselines[0] if len(baselines) == 1 else baselines,
        "tolerance": max(compared.pairs.tolerance for compared in comparisons),
        "rank_sets": sorted(
            {
                compared.rank_sets.method
                for compared in comparisons
                if compared.rank_sets is not None
            }
        ),
        **comparisons[0].settings,
    }
    return {"irmeta": __version__, "compare": {"source": source, **asked}}


def power_record(source: Mapping[str, Any], settings: Mapping[str, object]) -> dict[str, Any]:
    """Return the provenance of discriminative power; for `settings` see `write_power`."""
    return {"irmeta": __version__, "power": {"source": source, **settings}}


def write_comparisons(
    comparisons: Comparisons,
    out: Path,
    source: Mapping[str, Any],
    *,
    force: bool,
    titles: bool = True,
    formats: Sequence[str] = ("svg",),
) -> list[Path]:
    """Write ``pairs.parquet``, ``systems.parquet`` and figures of each track to a folder.

    The tables `queries` and `measures` describe the values: see `facts_of_values`.
    Of robust comparisons and those by segment, also a file of each of `Comparisons.more_tables`.

    There are a figure of the pairs and, without a baseline, one of the ranks (``.ranks``) for each
    track, and for each measure where there are several. Figures of an earlier comparison are
    removed. `source` is the result of `made_from`. A file of the same name that irmeta did not
    write is a `UsageError`, unless `force`. Without `titles`, figures have no titles; `formats` are
    those of `irmeta.report`.
    """
    record = comparison_record(comparisons, source)
    tables = {
        "pairs": comparisons.pair_frame(),
        "systems": comparisons.frame().drop("test"),
        **comparisons.more_tables(),
        **facts_of_values(c.matrix for c in comparisons if c.pairs.segment is None),
    }
    several = len({c.pairs.label for c in comparisons}) > 1
    figures = {}
    for c in comparisons:
        name = c.pairs.track or c.pairs.label
        name = f"{name}.{c.pairs.label}" if several and c.pairs.track else name
        name = f"{name}.{c.pairs.baseline}" if c.pairs.beside else name
        figures[name] = c.show()
        if (ranks := c.show_ranks()) is not None:
            figures[f"{name}.ranks"] = ranks
    for name in MORE_TABLES:
        file = out / f"{name}.parquet"
        if name not in tables and file.is_file() and "compare" in (provenance(file) or {}):
            file.unlink()
    return _put(out, tables, figures, record, force, titles, formats)


def write_power(
    counted: Power,
    out: Path,
    source: Mapping[str, Any],
    settings: Mapping[str, object],
    *,
    force: bool,
    titles: bool = True,
    formats: Sequence[str] = ("svg",),
) -> list[Path]:
    """Write ``power.parquet``, ``curves.parquet``, the facts of values and figures to a folder.

    There is a figure for each track, or for each track and test where there are several tests.
    `settings` are the arguments of `power`; the others are those of `write_comparisons`.
    """
    record = power_record(source, settings)
    tables = {"power": counted.counts, "curves": counted.curves, **counted.facts}
    return _put(out, tables, counted.show(), record, force, titles, formats)


def _put(
    out: Path,
    tables: Mapping[str, pl.DataFrame],
    figures: dict[str, Any],
    made: dict[str, Any],
    force: bool,
    titles: bool,
    formats: Sequence[str],
) -> list[Path]:
    """Write everything, or nothing where a file of that name is another's."""
    (kind,) = made.keys() - {"irmeta"}
    mark = f"irmeta {kind}"
    stems = plain_file_names(figures)
    targets = [out / f"{stem}.{form}" for stem in stems.values() for form in formats]
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out} is a file: name a folder.")
    for file in targets:
        if file.exists() and not force and "irmeta " not in _end_of(file):
            raise UsageError(f"{file} exists and irmeta did not write it: use `force=True`.")
    for name in tables:
        file = out / f"{name}.parquet"
        check_ours(file, has_written, force=force)
        study = (provenance(file) or {}).get("study") if file.is_file() and not force else None
        if study is not None:
            raise UsageError(f"{file} is a table of the study {study}: name another folder.")
    remove_temporaries(out)
    written = []
    for name, frame in tables.items():
        write_out(frame, out / f"{name}.parquet", made, force=force)
        written.append(out / f"{name}.parquet")
    for file in (path for form in FORMATS for path in out.glob(f"*.{form}")):
        if file not in targets and mark in _end_of(file):
            file.unlink()
    for name, chart in figures.items():
        spec = to_spec(chart) if titles else without_titles(to_spec(chart))
        for form, image in images_of(spec, formats).items():
            file = out / f"{stems[name]}.{form}"
            write_bytes(file, add_mark(image, form, mark))
            written.append(file)
    return written


def _end_of(file: Path) -> str:
    with file.open("rb") as content:
        content.seek(max(0, file.stat().st_size - 200))
        return content.read().decode("latin-1")
