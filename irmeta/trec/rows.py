"""The rows of a run's text as columns, by the kernel that reads what is as it should be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from irmeta.kernels.tokenize import (
    BLOCK,
    CHANGES,
    COMMAS,
    HARD,
    ODD_RANKS,
    PAD,
    ROWS,
    tokenize,
)

NO_RANK = np.iinfo(np.int32).min  # stands where the file gives no usable rank


@dataclass(frozen=True)
class Rows:
    """What stands in the lines of a run.

    Attributes
    ----------
    query, doc
        Strings, the queries dictionary-encoded in the order in which they first appear.
    score, rank, line
        float64; int32, `NO_RANK` where it is not a whole number; int64, from 1.
    tags
        Each tag once, in the order in which they first appear; empty for five columns.
    commas, odd_ranks
        How many scores have a decimal comma; how many ranks are not whole numbers.
    """

    query: pa.DictionaryArray
    doc: pa.StringArray
    score: np.ndarray
    rank: np.ndarray
    line: np.ndarray
    tags: tuple[str, ...]
    commas: int
    odd_ranks: int


def read_rows(data: bytes, width: int) -> Rows | None:
    """All lines of a run, or None where some line is not as it should be.

    Whoever gets None reads line by line, and can say what is wrong where. Lines may be blank or
    comments; fields may be apart by any white space; each line has six fields or more, the sixth
    being the rest of the line, or with `width` 5 exactly five. No line is longer than a block of
    the kernel. `data` is UTF-8.
    """
    size = len(data)
    if size >= 2**31:  # offsets are 32 bits wide
        return None
    most = data.count(b"\n") + 1
    padded = np.empty(size + PAD, np.uint8)
    padded[:size] = np.frombuffer(data, np.uint8)
    padded[size:] = 10
    space = np.empty((4, BLOCK + PAD), np.int64)
    line, ends = np.empty((2, most), np.int32)
    rank, score = np.full(most, NO_RANK, np.int32), np.empty(most)
    docs, numerals = np.empty((2, size + PAD), np.uint8)
    hard, changes = np.empty((most, 2), np.int64), np.empty((2 * most, 4), np.int64)
    found = tokenize(
        padded, size, width, space, line, rank, score, docs, ends, hard, numerals, changes
    )
    count = int(found[ROWS])
    if count <= 0 or not _fill(score, hard[: found[HARD]], numerals):
        return None
    if not np.isfinite(score[:count]).all():
        return None
    own = changes[: found[CHANGES]]
    tags = dict.fromkeys(data[a:b].decode() for a, b in own[own[:, 0] == 1, 2:].tolist())
    if any("\r" in tag for tag in tags):  # lines that end in it alone, or a row hidden in a tag
        return None
    return Rows(
        query=_query(data, own[own[:, 0] == 0], count),
        doc=_strings(ends[:count], docs),
        score=score[:count],
        rank=rank[:count],
        line=line[:count].astype(np.int64),
        tags=tuple(tags),
        commas=int(found[COMMAS]),
        odd_ranks=int(found[ODD_RANKS]),
    )


def _fill(score: np.ndarray, hard: np.ndarray, numerals: np.ndarray) -> bool:
    """Put in the scores that are more than one division; False where one is beyond all floats."""
    if len(hard):
        try:
            read = _strings(hard[:, 1].astype(np.int32), numerals).cast(pa.float64())
        except pa.ArrowInvalid:
            return False
        score[hard[:, 0]] = read.to_numpy()
    return True


def _query(data: bytes, changes: np.ndarray, count: int) -> pa.DictionaryArray:
    """The query of each row, from the rows where it changes."""
    codes: dict[bytes, int] = {}
    of_change = [codes.setdefault(data[a:b], len(codes)) for a, b in changes[:, 2:].tolist()]
    lengths = np.diff(np.append(changes[:, 1], count))
    indices = np.repeat(np.array(of_change, np.int32), lengths)
    names = pa.array([name.decode() for name in codes], pa.string())
    return pa.DictionaryArray.from_arrays(indices, names)


def _strings(ends: np.ndarray, content: np.ndarray) -> pa.StringArray:
    offsets = np.concatenate([np.zeros(1, np.int32), ends])
    buffers = pa.py_buffer(offsets), pa.py_buffer(content)
    return pa.StringArray.from_buffers(len(ends), *buffers)
