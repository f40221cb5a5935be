"""Comparing systems, and the measures that compare them: `compare` and `power`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from irmeta._version import __version__
from irmeta.api.store import Store
from irmeta.errors import MeasureError, UsageError, did_you_mean
from irmeta.measures.names import parse_measure, parse_measures, split_names
from irmeta.report.look import to_svg
from irmeta.report.significance import achieved_significance, pairwise_significance
from irmeta.results.matrix import Matrix, read_matrices
from irmeta.results.tables import check_ours, provenance, write_out, write_text
from irmeta.stats.corrections import adjusted
from irmeta.stats.orders import settled
from irmeta.stats.pairs import FAMILY_TESTS, Pairs, pairwise
from irmeta.stats.power import asp, separation
from irmeta.store.layout import folder_name, is_store

LEVELS = (0.05, 0.01)


@dataclass(frozen=True)
class Comparison:
    """How the systems of one track compare by one measure.

    Attributes
    ----------
    pairs
        The test's result for every pair.
    systems
        rank, system, mean, queries (those that the mean and, for a design over all systems, the
        test used), better_than, worse_than (how many systems the test says it is better or worse
        than), top (whether it has a mean and is worse than none); best mean first.
    """

    pairs: Pairs
    systems: pl.DataFrame
    alpha: float


def matrices(
    results: str | Path, measures: str | Sequence[str] | None = None, *, track: str | None = None
) -> list[Matrix]:
    """Values by query and system, of every track and measure that there is.

    Parameters
    ----------
    results
        A folder that `reanalyze` made, a store (whose measures are then computed), a file of values
        per query, or a table of one's own with a column for each system.
    measures
        Names; None: all of a file or folder, and ``default`` of a store.
    track
        Only this one.

    Raises
    ------
    UsageError
        If there is nothing of the kind, or no such track or measure.
    """
    path = Path(results)
    if is_store(path):
        found = _of_store(Store(path), measures or "default", track)
    else:
        files = sorted((path / "scores").glob("*.parquet")) if path.is_dir() else [path]
        if not files:
            raise UsageError(
                f"{path} holds no scores: name a folder that reanalyze made, or a file."
            )
        found = [_directed(m) for file in files for m in read_matrices(file)]
        found = _named(found, measures, path) if measures is not None else found
        if track is not None and found and track not in {m.track for m in found}:
            hint = did_you_mean(track, {m.track for m in found})
            raise UsageError(f"{path} has no track {track!r}. {hint}")
        found = [m for m in found if track in (None, m.track)]
    if not found:
        raise UsageError(f"{path} holds no values.")
    return found


def _named(found: list[Matrix], measures: str | Sequence[str], path: Path) -> list[Matrix]:
    """Those of the measures asked for: by the very name in the file, or by another spelling."""
    asked = [measures] if isinstance(measures, str) else list(measures)
    names = [name for text in asked for name in split_names(text)]
    kept: dict[int, Matrix] = {}
    for name in names:
        wanted = {name} if name in {m.measure for m in found} else set(_spellings(name))
        places = [i for i, m in enumerate(found) if wanted & {m.measure, *_spellings(m.measure)}]
        if not places:
            hint = did_you_mean(name, {m.measure for m in found})
            raise UsageError(f"{path} has no measure {name!r}. {hint}")
        kept |= {i: found[i] for i in places}
    return [kept[i] for i in sorted(kept)]


def _spellings(name: str) -> list[str]:
    """The canonical names that a name stands for; none where it is no measure's."""
    try:
        return [spec.name for spec in parse_measures(name)]
    except MeasureError:
        return []


def _of_store(store: Store, measures: str | Sequence[str], track: str | None) -> list[Matrix]:
    tracks = store.tracks if track is None else [track]
    scores = [store.scores(measures, track=name) for name in tracks]
    return [s.matrix(measure) for s in scores for measure in s.measures]


def _directed(matrix: Matrix) -> Matrix:
    """Result files hold names; which direction is better is known by the measure."""
    try:
        direction = parse_measure(matrix.measure).measure.direction
    except MeasureError:
        return matrix
    return replace(matrix, direction=direction)


def compare(
    results: str | Path | Matrix,
    measure: str | None = None,
    *,
    test: str = "t",
    track: str | None = None,
    correction: str = "none",
    alpha: float = 0.05,
    resamples: int = 10_000,
    rng: int | np.random.Generator = 0,
    less_is_better: bool = False,
) -> list[Comparison]:
    """Test every pair of systems of every track by one measure.

    Parameters
    ----------
    results
        See `matrices`; or a matrix.
    measure
        Its name; None where there is only one.
    test, correction, resamples, rng
        See `irmeta.stats.pairs.pairwise`.
    alpha
        Two systems with a p-value up to this are told apart.
    less_is_better
        For values that are no measure of irmeta's, whose direction is not known.

    Raises
    ------
    UsageError
        If no measure is named and there are several, or a name or level is not known.
    """
    if not 0 < alpha < 1:
        raise UsageError(f"alpha = {alpha!r} is not between 0 and 1.")
    found = [results] if isinstance(results, Matrix) else matrices(results, measure, track=track)
    named = sorted({m.measure for m in found})
    if len(named) > 1:
        raise UsageError(f"say which measure: {', '.join(named)}.")
    if less_is_better:
        found = [replace(m, direction=-1) for m in found]
    return [
        _comparison(
            m,
            pairwise(m, test, correction=correction, resamples=resamples, rng=rng),
            alpha,
        )
        for m in found
    ]


def _comparison(matrix: Matrix, pairs: Pairs, alpha: float) -> Comparison:
    better = pairs.better(alpha)
    seen = matrix.complete() if pairs.test in FAMILY_TESTS else matrix
    means, used = seen.means, (~np.isnan(seen.values)).sum(axis=0)
    worst_last = np.where(np.isnan(means), np.inf, -matrix.direction * settled(means))
    order = np.lexsort((np.array(matrix.systems), worst_last))
    worse_than = better.sum(axis=0)
    frame = pl.DataFrame(
        {
            "system": matrix.systems,
            "mean": means,
            "queries": used.astype(np.int32),
            "better_than": better.sum(axis=1).astype(np.int32),
            "worse_than": worse_than.astype(np.int32),
            "top": (worse_than == 0) & ~np.isnan(means),
        },
        schema_overrides={"system": pl.String},
    )
    return Comparison(pairs, frame[order.tolist()].with_row_index("rank", 1), alpha)


def power(
    results: str | Path | list[Matrix],
    measures: str | Sequence[str] | None = None,
    *,
    tests: Sequence[str] = ("t",),
    track: str | None = None,
    levels: Sequence[float] = LEVELS,
    correction: str = "none",
    resamples: int = 10_000,
    rng: int = 0,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """How many pairs of systems each measure tells apart.

    Parameters
    ----------
    results, measures, track
        See `matrices`; or matrices.
    tests, correction, resamples, rng
        See `irmeta.stats.pairs.pairwise`.
    levels
        Levels of significance.

    Returns
    -------
    power : DataFrame
        See `irmeta.stats.power.separation`.
    curves : DataFrame
        See `irmeta.stats.power.asp`.
    """
    found = results if isinstance(results, list) else matrices(results, measures, track=track)
    for level in levels:
        if not 0 < level < 1:
            raise UsageError(f"level {level!r} is not between 0 and 1: write 0.05 for 95 %.")
    adjusted(np.empty(0), correction)  # refuses one that is not known, also where no test takes it
    tested = []
    for matrix in found:
        for test in tests:
            suits = "none" if test in FAMILY_TESTS else correction
            tested.append(pairwise(matrix, test, correction=suits, resamples=resamples, rng=rng))
    return separation(tested, levels=levels), pl.concat(asp(pairs) for pairs in tested)


def default_folder(results: str | Path, *names: str) -> Path | None:
    """Where to write if no one says: inside a folder that reanalyze made, else nowhere."""
    folder = Path(results)
    if not (folder / "scores").is_dir() or not (folder / ".parts").is_dir():
        return None
    return folder.joinpath(*map(folder_name, names))


def write_comparisons(
    found: Sequence[Comparison], out: Path, source: str | Path, seed: int, *, force: bool
) -> list[Path]:
    """Put ``pairs.parquet``, ``systems.parquet`` and a figure of each track into a folder.

    Raises
    ------
    UsageError
        If the folder holds a file of the same name that irmeta did not write, unless `force`.
    """
    made = {
        "irmeta": __version__,
        "compare": {
            "source": _made_from(source),
            "test": found[0].pairs.test,
            "correction": found[0].pairs.correction,
            "alpha": found[0].alpha,
            "seed": seed,
        },
    }
    pairs = pl.concat(c.pairs.frame() for c in found)
    systems = pl.concat(
        c.systems.select(
            pl.lit(c.pairs.track).alias("track"), pl.lit(c.pairs.measure).alias("measure"), pl.all()
        )
        for c in found
    )
    figures = {}
    for c in found:
        on = f" on {c.pairs.track}" if c.pairs.track else ""
        title = f"{c.pairs.measure}{on}: {c.pairs.test}"
        chart = pairwise_significance(
            c.pairs.frame(), c.systems["system"].to_list(), title, c.alpha
        )
        figures[c.pairs.track or c.pairs.measure] = chart
    return _put(out, {"pairs": pairs, "systems": systems}, figures, made, force)


def write_power(
    found: pl.DataFrame,
    curves: pl.DataFrame,
    out: Path,
    source: str | Path,
    made: dict[str, object],
    *,
    force: bool,
) -> list[Path]:
    """Put ``power.parquet``, ``curves.parquet`` and a figure of each track into a folder."""
    record = {"irmeta": __version__, "power": {"source": _made_from(source)} | made}
    levels = found["level"].unique(maintain_order=True).to_list()
    name = (
        pl.col("measure")
        if curves["test"].n_unique() == 1
        else pl.format("{}, {}", "measure", "test")
    )
    figures = {
        str(track) or "power": achieved_significance(own.with_columns(curve=name), levels)
        for (track,), own in curves.group_by("track", maintain_order=True)
    }
    return _put(out, {"power": found, "curves": curves}, figures, record, force)


def _made_from(source: str | Path) -> object:
    """The provenance of a file, else its name: no path goes into a result."""
    path = Path(source)
    return provenance(path) or path.name if path.is_file() else path.name


def _put(
    out: Path,
    tables: dict[str, pl.DataFrame],
    figures: dict[str, Any],
    made: dict[str, Any],
    force: bool,
) -> list[Path]:
    targets = {folder_name(name): chart for name, chart in figures.items()}
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out} is a file: name a folder.")
    for file in (out / f"{name}.svg" for name in targets):
        if file.exists() and not force and "irmeta" not in file.read_text(errors="replace")[-200:]:
            raise UsageError(f"{file} exists and irmeta did not write it: use --force.")
    for name in tables:
        check_ours(out / f"{name}.parquet", force=force)
    written = []
    for name, frame in tables.items():
        write_out(frame, out / f"{name}.parquet", made, force=force)
        written.append(out / f"{name}.parquet")
    for name, chart in targets.items():
        written.append(out / f"{name}.svg")
        write_text(written[-1], f"{to_svg(chart)}\n<!-- irmeta -->\n")
    return written
