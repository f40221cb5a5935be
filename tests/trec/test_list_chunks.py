"""Text of runs in chunks of complete lists."""

from __future__ import annotations

import io
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from irmeta.trec import runs
from irmeta.trec.runs import list_chunks
from support.examples import scaled

queries = st.sampled_from(["1", "2", "3", "33", "q"])
lists = st.lists(st.tuples(queries, st.integers(1, 6)), max_size=12)


def chunks(text: bytes, size: int, longest: int = 1 << 20) -> list[bytes]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "CHUNK_BYTES", size)
        patch.setattr(runs, "LONGEST_LIST", longest)
        return list(list_chunks(io.BytesIO(text)))


def lines(several: list[tuple[str, int]]) -> bytes:
    rows = ((query, rank) for query, count in several for rank in range(count))
    return "".join(f"{query} Q0 d{rank} {rank} 1.0 s\n" for query, rank in rows).encode()


@settings(max_examples=scaled(200))
@given(lists, st.integers(8, 200), st.sampled_from([b"", b"1 Q0 end 1 1 s", b"\n\n# none\n"]))
def test_list_chunks__end_where_the_query_changes(several, size, end):
    text = lines(several) + end
    found = chunks(text, size)
    assert b"".join(found) == text
    for one, following in pairwise(found):
        assert one.endswith(b"\n")
        assert one.splitlines()[-1].split()[:1] != following.splitlines()[0].split()[:1]


def test_list_chunks__hold_one_list_longer_than_a_chunk():
    text = lines([("1", 1), ("2", 50), ("3", 1)])
    assert chunks(text, 64) == [text[:16], text[16:]]


def test_list_chunks__cut_lists_that_memory_does_not_hold():
    found = chunks(lines([("1", 100)]), 64, longest=256)
    assert len(found) > 4
    assert max(map(len, found)) <= 256


def test_list_chunks__cut_a_line_longer_than_any_of_a_run():
    """JSON in one line is not held to its end."""
    found = chunks(b"x" * (5 << 20), 1 << 19, longest=64 << 20)
    assert (sum(map(len, found)), max(map(len, found))) == (5 << 20, 1 << 21)
