"""Names of systems: from tags, files or a pattern, and display names for tables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

import polars as pl

from irmeta.errors import DataError, UsageError, did_you_mean
from irmeta.locations import not_a
from irmeta.trec.streams import InputFile
from irmeta.trec.text import read_csv_rows, refuse_rows

MATCH_SECONDS = 2.0  # for one file name; patterns that do not backtrack take microseconds
_ENDINGS = (
    "gz|bz2|xz|zst|lz4|z|txt|run|runs|res|result|results|trec|out|dat|tsv|csv|json|jsonl|parquet"
)
_STEM = re.compile(rf"(.+?)(?:\.(?:{_ENDINGS}))*", re.IGNORECASE | re.DOTALL)
_FIRST_WORD = re.compile(r"([A-Za-z]+\.).*[A-Za-z].*", re.DOTALL)


def stem(file: str) -> str:
    """Return a file's name without folders, compression and extension.

    Only suffixes of storage formats are removed, such as .gz, .txt and .run.

    Examples
    --------
    >>> stem("web/runs/bm25.v1.txt.gz")
    'bm25.v1'
    """
    match = _STEM.fullmatch(file.rsplit("/", 1)[-1])
    return match.group(1) if match is not None else file


def track_name(qrels: Path) -> str:
    """Name a track by its qrels file, or by the file's folder where the file is called qrels."""
    match, folder = _STEM.fullmatch(qrels.name), qrels.absolute().parent
    name = match[1] if match is not None else qrels.name
    if name.casefold() != "qrels":
        return name
    while folder.name.casefold() == "qrels":
        folder = folder.parent
    return folder.name or name


def file_names(files: Iterable[str]) -> dict[str, str]:
    """Name systems by their files, with distinct names.

    A name is the file's stem, without a first word that all files share up to a dot (``input.``).
    Files of equal names are distinguished by their folders, or else by their suffixes.

    Parameters
    ----------
    files
        Distinct paths with /.

    Examples
    --------
    >>> list(file_names(["a/input.bm25.gz", "a/input.rm3.gz"]).values())
    ['bm25', 'rm3']
    >>> list(file_names(["a/bm25.run", "b/bm25.run"]).values())
    ['a/bm25', 'b/bm25']
    >>> list(file_names(["bm25.run", "bm25.txt"]).values())
    ['bm25.run', 'bm25.txt']
    """
    files = list(files)
    paths = [file.split("/") for file in files]
    while len({path[0] for path in paths}) == 1 and all(len(path) > 1 for path in paths):
        paths = [path[1:] for path in paths]  # below the folder of all files
    stems = [stem(file) for file in files]
    first_words = {match[1] if (match := _FIRST_WORD.fullmatch(s)) else "" for s in stems}
    word = first_words.pop() if len(first_words) == 1 and len(stems) > 1 else ""
    stems = [name.removeprefix(word) for name in stems]
    forms = {
        file: (name, "/".join([*path[:-1], name]), "/".join(path))
        for file, name, path in zip(files, stems, paths, strict=True)
    }
    levels = dict.fromkeys(files, 0)
    while True:
        names = {file: forms[file][level] for file, level in levels.items()}
        counts = Counter(names.values())
        alike = [f for f, level in levels.items() if counts[names[f]] > 1 and level < 2]
        if not alike:
            return names
        for file in alike:
            levels[file] += 1


def pattern_name(pattern: str, file: str) -> str | None:
    """Return the first group of a pattern that matches a file's full name, without folders.

    None if the name does not match.

    Raises
    ------
    DataError
        If matching takes more than `MATCH_SECONDS`.
    """
    import regex  # slow to import, and few collections have a pattern

    base = file.rsplit("/", 1)[-1]
    try:
        match = regex.fullmatch(pattern, base, timeout=MATCH_SECONDS)
    except TimeoutError:
        problem = f"the pattern names = {pattern!r} takes too long on this name"
        fix = "Write it without repetitions of repetitions, such as (a*)*."
        raise DataError(problem, file=file, fix=fix) from None
    return match.group(1) or None if match is not None else None


def printed_names(
    source: Mapping[str, str] | str | Path | None, systems: Iterable[str]
) -> dict[str, str]:
    """Return the display names of systems, for printed tables: see `names_by_system`.

    Raises
    ------
    UsageError
        If two systems would have one name.
    """
    known = list(dict.fromkeys(systems))
    named = names_by_system(source, known)
    printed = [named.get(system, system) for system in known]
    for name in printed:
        if printed.count(name) > 1:
            raise UsageError(f"two systems of the table would be called {name!r}.")
    return named


def names_by_system(
    source: Mapping[str, str] | str | Path | None, systems: Iterable[str]
) -> dict[str, str]:
    """Return the names of systems in a table.

    Parameters
    ----------
    source
        Names by system, or a CSV or TSV file with the columns system and name.
    systems
        The systems that may have a name.

    Raises
    ------
    DataError
        If the file has other columns, no row, a row without a system or name, or a system twice.
    UsageError
        If the file does not exist, or names another system.
    """
    if source is None:
        return {}
    known, named = list(dict.fromkeys(systems)), dict[str, str]()
    if isinstance(source, Mapping):
        named |= source
    else:
        place, columns = Path(source), ("system", "name")
        if not place.is_file():
            raise UsageError(f"{not_a('file', place)}.")
        frame = read_csv_rows(InputFile.at(place, str(source)), columns)
        if missing := [column for column in columns if column not in frame.columns]:
            problem, fix = f"no column {missing[0]}", "Name the columns system and name."
            raise DataError(problem, file=str(source), fix=fix)
        if frame.is_empty():
            raise DataError("has no row below its header", file=str(source))
        rows = frame.select("line", *columns)
        is_repeated = pl.col("system").is_duplicated()
        problems = {"a row without a name": pl.any_horizontal(pl.col(*columns).is_null())}
        refuse_rows(rows, {**problems, "a system with two rows": is_repeated}, str(source))
        named |= rows.select(columns).rows()
    for system in named:
        if system not in known:
            raise UsageError(f"the table has no system {system!r}. {did_you_mean(system, known)}")
    return named
