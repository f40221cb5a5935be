"""`check` and `diff`: damage of files, and differences of two files of results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import polars as pl

from irmeta.errors import DataError, MeasureError, UsageError
from irmeta.locations import AnyLocation, Location, location
from irmeta.measures.names import parse_measure
from irmeta.parallel import ordered_map
from irmeta.policies import Missing
from irmeta.results.diff import Difference, compare_files
from irmeta.results.tidy_files import is_ours, read_parquet
from irmeta.store.layout import Found, Layout, check_manifest, check_track, is_store
from irmeta.studies.framework.recorded_files import PARTS, RecordedFiles, recorded_folders


@dataclass(frozen=True)
class Checked:
    """Result of an integrity check.

    Attributes
    ----------
    files
        How many files were read, or are missing.
    problems
        The columns file and problem: a row for each file that is not as irmeta wrote it.
    """

    files: int
    problems: pl.DataFrame


def check(path: AnyLocation, *, workers: int | None = None) -> pl.DataFrame:
    """Read every file of a store or of results and compare it with its checksum.

    Parameters
    ----------
    path : str or Path
        A store, a folder that `reanalyze` or a study made (including its store), or a Parquet file
        that irmeta wrote; or the URL of one.
    workers : int, optional
        Number of threads; default: the usable cores.

    Returns
    -------
    DataFrame
        file, problem: one row per file that is damaged, missing or unfinished.

    Raises
    ------
    UsageError
        If irmeta made nothing at `path`.

    Examples
    --------
    >>> irmeta.check("store/").height
    0
    """
    return check_files(path, workers=workers).problems


def check_files(path: AnyLocation, *, workers: int | None = None) -> Checked:
    """Check like `check`, and return the number of files read, too."""
    place = location(path)
    if is_store(place):
        files = list(_of_store(Layout(place), workers))
    elif (place / PARTS).is_dir():
        files = list(_of_results(place, workers))
    elif place.is_file() and is_ours(place):
        files = [_of_file(place)]
    else:
        fix = " `irmeta validate` checks run files, `irmeta ingest` a collection."
        problem = "is not a store, a folder of results or a Parquet file that irmeta wrote."
        raise UsageError(f"{path} {problem}{fix}")
    wrong = [(str(file), problem) for file, problem in files if problem is not None]
    schema = {"file": pl.String, "problem": pl.String}
    return Checked(len(files), pl.DataFrame(wrong, schema, orient="row"))


def _of_store(layout: Layout, workers: int | None) -> Iterator[Found]:
    yield check_manifest(layout)
    for files in ordered_map(partial(check_track, layout), layout.tracks(), workers=workers):
        yield from files


def _of_results(root: Location, workers: int | None) -> Iterator[Found]:
    listed: set[Location] = set()
    for files in ordered_map(partial(_of_part, root), recorded_folders(root), workers=workers):
        listed |= {file for file, _ in files}
        yield from files
    others = [*root.glob("*.parquet"), *root.glob("compare/**/*.parquet")]
    for file in sorted([*others, *root.glob("power/**/*.parquet")], key=str):
        if file not in listed and is_ours(file):
            yield _of_file(file)
    if is_store(root / "store"):
        yield from _of_store(Layout(root / "store"), workers)
    for folder in sorted((path for path in root.iterdir() if (path / PARTS).is_dir()), key=str):
        yield from _of_results(folder, workers)  # of `irmeta study all`


def _of_part(root: Location, part: str) -> list[Found]:
    return list(RecordedFiles(root, part).problems())


def _of_file(file: Location) -> Found:
    try:
        read_parquet(file)
    except DataError as error:
        return file, error.problem
    return file, None


def diff(
    a: AnyLocation,
    b: AnyLocation,
    tolerance: float = 1e-9,
    *,
    pairs: Mapping[str, str] | None = None,
    worse_only: bool = False,
    missing: Missing = "error",
) -> Difference:
    """Compare two files of means, or of values per query, row by row.

    Parameters
    ----------
    a, b : str or Path
        Files written by irmeta, Parquet or CSV, or their URLs. CSV files have no provenance.
    tolerance : float, default 1e-9
        Absolute tolerance within which values are equal. NaN equals NaN.
    pairs : dict, optional
        Systems of `a` with the systems of `b` that they are compared with, ``{old: new}``; other
        systems are left out. Default: systems of the same name.
    worse_only : bool, default False
        Whether values that are better in `b` count as equal.
    missing : {'error', 'common', 'zero'}, default 'error'
        Rows of one file alone: differences, left out, or 0 in the other file. Means of another
        number of queries are a difference always.

    Returns
    -------
    Difference
        Differences in provenance, and differences in values by measure.

    Raises
    ------
    UsageError
        If a file cannot be read or is not a result table, if one has means and the other
        per-query values, if a system of a pair is unknown, or if `worse_only` meets a measure that
        irmeta does not know.
    DataError
        If a Parquet file is damaged.

    Examples
    --------
    >>> store.means("AP", tie_order="trec_eval").write_csv("a.csv")
    >>> store.means("AP", tie_order="score-file").write_csv("b.csv")
    >>> irmeta.diff("a.csv", "b.csv").measures.select("both", "different").row(0)
    (41, 36)
    >>> found = irmeta.diff("a.csv", "a.csv", 0.01, pairs={"aldDFR": "aldBM25"}, worse_only=True)
    >>> found.same
    True
    """
    return compare_files(
        a,
        b,
        tolerance,
        pairs=pairs,
        directions=_direction_of if worse_only else None,
        missing=missing,
    )


def _direction_of(name: str) -> int:
    try:
        return parse_measure(name).measure.direction
    except MeasureError:
        problem = f"which values of {name!r} are worse is unknown, as is the measure"
        raise UsageError(f"{problem}: compare without `worse_only=True`.") from None
