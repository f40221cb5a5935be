"""Names numbered by a kernel."""

from __future__ import annotations

import numpy as np
import polars as pl
from hypothesis import example, given, settings
from hypothesis import strategies as st

from irmeta.trec.numbered_names import Names
from support.examples import scaled

texts = st.text(st.sampled_from("abé\0"), max_size=20)


@settings(max_examples=scaled(300))
@given(st.lists(st.one_of(texts, texts.map("clueweb09-en0000-".__add__)), unique=True), st.data())
@example(["a", "a\0", "a" * 8, "a" * 8 + "\0", "a" * 9, ""], None)
def test_names__are_sorted_by_their_bytes(several: list[str], data: st.DataObject | None):
    names = Names()
    numbers = names.numbers(pl.Series(several, dtype=pl.String))
    if data is not None and several:
        numbers = numbers[: data.draw(st.integers(0, len(several)))]
    found = numbers[names.sort(numbers)].tolist()
    assert found == sorted(numbers.tolist(), key=lambda number: several[number].encode())
    assert names.texts() == several


def test_names__restart_forgets_all():
    names = Names()
    names.numbers(pl.Series(["a", "b"]))
    names.restart()
    assert names.numbers(pl.Series(["b", "c"])).tolist() == [0, 1]
    assert names.texts() == ["b", "c"]
    assert np.count_nonzero(names.table) == 2
