"""Differences of systems by query, with the relevant docs of each query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import polars as pl

from irmeta._version import __version__
from irmeta.api.matrices import Results, ValueFiles, matrices
from irmeta.api.opened_store import OpenedStore
from irmeta.errors import MeasureError, UsageError, first_few
from irmeta.measures.evaluate import evaluate
from irmeta.measures.names import parse_call, parse_measure
from irmeta.policy_keywords import EvalChoices
from irmeta.report.figure_file import ENDINGS, check_figure_file, write_figure
from irmeta.report.figures import difference_bars
from irmeta.results.matrix import Matrix, qrels_of, query_differences
from irmeta.results.tidy_files import check_ending, write_out
from irmeta.store.scan import Tracks

if TYPE_CHECKING:
    import altair as alt


_KEYS = ("track", "qrels", "measure", "system", "baseline")


def differences(
    source: Results | ValueFiles,
    measures: str | Iterable[str] | None,
    systems: Sequence[str] | None,
    baseline: str | None,
    track: Tracks,
    choices: Mapping[str, Any],
    *,
    less_is_better: bool = False,
) -> pl.DataFrame:
    """Return the differences of systems from a baseline by query: see `StorePairs.differences`.

    Without systems all others are compared with the baseline; without a baseline the better of two
    systems with the other. Of values without a store, the relevant docs are unknown.
    """
    frames, policies = list[pl.DataFrame](), cast(EvalChoices, choices)
    values = matrices(source, measures, track=track, **policies)
    for matrix, qrels in zip(values, qrels_of(values), strict=True):
        matrix = replace(matrix, direction=-1) if less_is_better else matrix
        for system, baseline_of_pair in _pairs_of(matrix, systems, baseline):
            frame = query_differences(matrix, system, baseline_of_pair)
            relevant = pl.lit(None, pl.Float64).alias("relevant")
            if isinstance(source, OpenedStore):
                counts = _relevant_docs(source, matrix, policies)
                relevant = pl.col("query").replace_strict(counts, return_dtype=pl.Float64)
                relevant = relevant.alias("relevant")
            if qrels:
                set_names = pl.Series("qrels", [qrels], pl.String).new_from_index(0, frame.height)
                frame.insert_column(1, set_names)
            frames.append(frame.with_columns(relevant.cast(pl.Int64)))
    return pl.concat(frames)


def _pairs_of(
    matrix: Matrix, systems: Sequence[str] | None, baseline: str | None
) -> list[tuple[str, str]]:
    if baseline is not None:
        others = (
            [system for system in matrix.systems if system != baseline]
            if systems is None
            else systems
        )
        return [(system, baseline) for system in others]
    if len(matrix.systems) != 2:
        number = len(matrix.systems)
        raise UsageError(f"differences by query of {number} systems: name one as the baseline.")
    better, worse = matrix.systems
    means = dict(zip(matrix.systems, matrix.direction * matrix.means, strict=True))
    return [(worse, better) if means[worse] > means[better] else (better, worse)]


def _relevant_docs(store: OpenedStore, matrix: Matrix, choices: EvalChoices) -> dict[str, Any]:
    """Return the number of relevant docs by query, from the measure's least relevant grade."""
    try:
        rel = parse_measure(matrix.measure).rel
    except MeasureError:
        rel = 1
    of_set = {**store.merged(choices), **({"qrels": matrix.qrels} if matrix.qrels else {})}
    specs, policy = parse_call(f"NumRel(rel={rel:g})", of_set)
    scores = evaluate(store.track(matrix.track, policy), specs)
    return dict(zip(scores.queries, scores.values[0, :, 0].tolist(), strict=True))


def differences_chart(frame: pl.DataFrame) -> alt.LayerChart:
    """Draw the differences of two systems by one measure on one track.

    Raises
    ------
    UsageError
        If there are several measures, tracks or pairs of systems.
    """
    keys = [name for name in _KEYS if name in frame.columns]
    shown = frame.select(keys).unique(maintain_order=True)
    if shown.height != 1:
        listed = first_few([" ".join(row) for row in shown.iter_rows()], "select one")
        raise UsageError(f"a figure shows two systems by one measure on one track, not {listed}.")
    track, system, baseline = shown.select("track", "system", "baseline").row(0)
    title = f"{system} and {baseline} by query{f' on {track}' if track else ''}"
    return difference_bars(frame, title)


def check_differences_file(path: Path, *, force: bool) -> None:
    """Reject a file that is neither a table nor a figure, before anything is computed."""
    if path.suffix not in (*ENDINGS, ".csv", ".parquet"):
        raise UsageError(
            f"{path}: differences are a table, .csv or .parquet, or a figure, .svg, .pdf or .png."
        )
    if path.suffix in ENDINGS:
        check_figure_file(path, force=force)
    else:
        check_ending(path)


def write_differences(
    frame: pl.DataFrame, path: Path, made: Mapping[str, Any], *, force: bool, titles: bool
) -> None:
    """Write differences by query as a table with provenance, or as a figure."""
    if path.suffix in ENDINGS:
        write_figure(differences_chart(frame), path, force=force, titles=titles)
    else:
        record = {"irmeta": __version__, "differences": {"source": made}}
        write_out(frame, path, record, force=force)
