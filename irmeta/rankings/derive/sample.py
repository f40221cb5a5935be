"""Random numbers that depend only on a seed and on names, and samples drawn with them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, get_args

import numpy as np
import polars as pl

from irmeta.errors import UsageError
from irmeta.rankings.derive.select import UNJUDGED_DOC
from irmeta.rankings.pool import POOL_ARRAYS
from irmeta.rankings.view import JudgedView, View, replace_arrays

Source = Literal["query", "run"]
"""Judged docs whose grades are drawn: all of the query, or those of the list."""
SOURCES: tuple[Source, ...] = get_args(Source)
MOST_ROWS = 1 << 21
"""Rows of a view, over its draws."""
_LOST = "docs with drawn grades stand for other docs in every list"
_UNREAD = ("ties", "retrieved", "subtopics", "diversity", "sample", "costs", *POOL_ARRAYS)


def seed_of(rng: object) -> int:
    """Return a random seed, or draw one from a Generator; `UsageError` for another object."""
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(2**63))
    if not isinstance(rng, int | np.integer) or isinstance(rng, bool) or rng < 0:
        raise UsageError(f"rng = {rng!r} is neither a whole number from 0 nor a numpy Generator.")
    return int(rng)


def random_number(seed: int, *names: str) -> int:
    """Return a number from 0 to 2^64 - 1 that depends only on the seed and the names."""
    return hash_of(str(seed), *names)


def doc_numbers(
    seed: int, queries: Sequence[str], query: np.ndarray, docs: Iterable[str]
) -> np.ndarray:
    """Return `random_number` of the seed, a query (by index) and a doc, for each doc: uint64."""
    states = [hashlib.blake2b(f"{seed}\0{name}\0".encode(), digest_size=8) for name in queries]
    numbers = bytearray()
    for index, doc in zip(query.tolist(), docs, strict=True):
        state = states[index].copy()
        state.update(doc.encode())
        numbers += state.digest()
    return np.frombuffer(numbers, ">u8").astype(np.uint64)


def hash_of(*names: str) -> int:
    """Hash names to an unsigned 64-bit number."""
    return int.from_bytes(hashlib.blake2b("\0".join(names).encode(), digest_size=8).digest())


def random_numbers(seed: int, hashes: np.ndarray) -> np.ndarray:
    """Draw a random uint64 for each hash of names.

    The hashes are mixed with that of the seed as SplitMix64 does (Steele, Lea, Flood 2014,
    doi:10.1145/2660193.2660195).
    """
    mixed = hashes ^ np.uint64(hash_of(str(seed)))
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def sample_queries(
    queries: Sequence[str], number: int, rng: int | np.random.Generator = 0
) -> tuple[str, ...]:
    """Draw queries at random without replacement, for `only_queries`.

    With a seed, smaller samples are subsets of larger ones, and the order of two queries does not
    depend on other queries.
    """
    if not 0 <= number <= len(queries):
        raise UsageError(f"{number} of {len(queries)} queries cannot be drawn.")
    seed = seed_of(rng)
    drawn = set(sorted(queries, key=lambda q: (random_number(seed, q), q))[:number])
    return tuple(q for q in queries if q in drawn)


def unjudged_in(view: JudgedView, query: int, system: int, deepest: int) -> np.ndarray:
    """Return the ranks of the unjudged docs of a list down to rank `deepest`: int64, ascending."""
    rows = slice(view.offsets[query], view.offsets[query + 1])
    last = min(int(view.lengths[query, system]), deepest)
    is_open = np.ones(last + 1, bool)
    ranks = view.ranks[rows, system][view.is_judged[rows]]
    is_open[ranks[ranks <= last]] = False
    return np.flatnonzero(is_open[1:]) + 1


def draw_grades(
    view: View,
    query: int,
    system: int,
    deepest: int,
    *,
    source: Source,
    draws: int,
    rng: np.random.Generator,
) -> Iterator[View]:
    """Yield views of one list, whose queries are `draws` of the grades of its unjudged docs.

    The docs down to rank `deepest` then count as judged. Grades are drawn with replacement from the
    judged docs of the ``query`` or of the list (``run``), or of the query where the list has none.
    """
    unjudged = unjudged_in(view, query, system, deepest)
    rows = slice(view.offsets[query], view.offsets[query + 1])
    is_judged = view.is_judged[rows]
    ranks, grades = view.ranks[rows, system][is_judged], view.grades[rows][is_judged]
    known = (
        grades[ranks <= min(deepest, int(view.lengths[query, system]))]
        if source == "run"
        else grades
    )
    known = known if len(known) else grades if len(grades) else np.zeros(1, grades.dtype)
    number = len(grades) + len(unjudged)
    one_list = np.concatenate([ranks, unjudged.astype(ranks.dtype)])
    facts = view.facts.select([system])
    step = max(1, MOST_ROWS // number)
    for first in range(0, draws, step):
        size = min(step, draws - first)
        drawn = known[rng.integers(0, len(known), (size, len(unjudged)))]
        every = np.concatenate([np.broadcast_to(grades, (size, len(grades))), drawn], axis=1)
        wide = every.astype(np.int16 if every.dtype == np.int8 else np.float64)
        order = np.argsort(-wide, axis=1, kind="stable")
        yield replace_arrays(
            view,
            dict.fromkeys(_UNREAD, _LOST),
            facts=facts,
            queries=(view.queries[query],) * size,
            offsets=np.arange(size + 1) * number,
            ranks=one_list[order].reshape(-1, 1),
            grades=np.take_along_axis(every, order, axis=1).ravel(),
            docs=pl.repeat(UNJUDGED_DOC, size * number, dtype=pl.String, eager=True),
            doc_ids=np.zeros(size * number, view.doc_ids.dtype),
            lengths=np.full((size, 1), view.lengths[query, system], view.lengths.dtype),
            in_qrels=None,
        )
