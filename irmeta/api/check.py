"""`check`: integrity check of all files of a store, or of results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import polars as pl

from irmeta.errors import DataError, UsageError
from irmeta.locations import AnyLocation, Location, location
from irmeta.parallel import ordered_map
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
        found = list(_of_store(Layout(place), workers))
    elif (place / PARTS).is_dir():
        found = list(_of_results(place, workers))
    elif place.is_file() and is_ours(place):
        found = [_of_file(place)]
    else:
        fix = " `irmeta validate` checks run files, `irmeta ingest` a collection."
        problem = "is not a store, a folder of results or a Parquet file that irmeta wrote."
        raise UsageError(f"{path} {problem}{fix}")
    wrong = [(str(file), problem) for file, problem in found if problem is not None]
    schema = {"file": pl.String, "problem": pl.String}
    return Checked(len(found), pl.DataFrame(wrong, schema, orient="row"))


def _of_store(layout: Layout, workers: int | None) -> Iterator[Found]:
    yield check_manifest(layout)
    for found in ordered_map(partial(check_track, layout), layout.tracks(), workers=workers):
        yield from found


def _of_results(root: Location, workers: int | None) -> Iterator[Found]:
    listed: set[Location] = set()
    for found in ordered_map(partial(_of_part, root), recorded_folders(root), workers=workers):
        listed |= {file for file, _ in found}
        yield from found
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
