"""A file of pool depths: lines ``query depth``."""

from __future__ import annotations

import re
from collections.abc import Collection

from irmeta.errors import DataError
from irmeta.trec.source import TrackSource
from irmeta.trec.text import lines, read_text

_DEPTH = re.compile(rb"0*[1-9]\d{0,8}")


def read_pool_depths(source: TrackSource, judged: Collection[str]) -> dict[str, int]:
    """Read the depth of each query's pool, sorted by query; empty if the track has no such file.

    Parameters
    ----------
    judged
        The judged queries of the track. Depths of other queries are kept.

    Raises
    ------
    DataError
        If a line is not a query and a whole number of at least 1, a query has two lines, or no
        query is judged.
    """
    file = source.pool_depth_by_query
    if file is None:
        return {}
    try:
        depths = _parse(file, read_text(source.input_file(file))[0])
        if depths.keys().isdisjoint(judged):
            fix = "Are these the pools of another track?"
            raise DataError("none of its queries is judged", file=file, fix=fix)
    except DataError as error:
        if not source.may_quote(file):
            error.conceal()
        raise
    return dict(sorted(depths.items()))


def without_depth(
    source: TrackSource, depths: Collection[str], judged: Collection[str]
) -> str | None:
    """Return a note on judged queries that the file of a track has no line for."""
    missing = sorted(set(judged) - set(depths))
    if source.pool_depth_by_query is None or not missing:
        return None
    depth = source.pool_depth
    taken = "as far as their pools are complete" if depth is None else f"pool_depth = {depth}"
    return (
        f"{source.pool_depth_by_query} has no depth for {len(missing):,} of {len(judged):,} judged "
        f"queries (the first is {missing[0]!r}): their depth is {taken}"
    )


def _parse(file: str, data: bytes) -> dict[str, int]:
    depths = dict[str, int]()
    for number, fields in lines(data, file):
        value = b" ".join(fields)
        if len(fields) != 2:
            problem = f"{len(fields)} fields where a line is: query depth"
            raise DataError(problem, file=file, line=number, value=value)
        query = fields[0].decode()
        if not _DEPTH.fullmatch(fields[1]):
            problem = "the depth is not a whole number of at least 1"
            raise DataError(problem, file=file, line=number, value=value)
        if query in depths:
            raise DataError("the query has a depth already", file=file, line=number, value=value)
        depths[query] = int(fields[1])
    return depths
