"""Measures of preference judgments against their naive twins."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from irmeta.errors import DataError
from irmeta.measures.aliases import PREFERENCE_MEASURES as MEASURES
from irmeta.measures.trec_eval import preference_values
from irmeta.trec.qrels import JudgedDoc
from twins.preference_judgments import preferences

DOCS = "abcdefg"
Rows = list[tuple[str, str, str, float]]


@st.composite
def judgments(draw: st.DrawFn) -> Rows:
    """Draw judgments of one to three groups, some in parts that agree."""
    rows: Rows = []
    for group in draw(st.sampled_from(["1", "12", "213"])):
        levels = {doc: float(draw(st.sampled_from([0, 0, 1, 2, 2.5]))) for doc in DOCS}
        for subgroup in draw(st.sampled_from(["x", "x", "xy", "zxy"])):
            docs = draw(st.lists(st.sampled_from(DOCS), min_size=1, unique=True))
            rows += [(group, subgroup, doc, levels[doc]) for doc in docs]
    return draw(st.permutations(rows))


@given(judgments(), st.lists(st.sampled_from(DOCS + "uvw"), unique=True))
def test_preference_values__equal_twins(rows: Rows, ranking: list[str]):
    judged = [JudgedDoc(group, part, doc, str(level)) for group, part, doc, level in rows]
    found = preference_values(judged, float, ranking)
    assert list(found) != []
    assert found.keys() == set(MEASURES)
    assert found == pytest.approx(preferences(rows, ranking), abs=1e-12)


def test_preference_values__doc_judged_twice_counts_twice():
    rows = [("1", "0", doc, level) for doc, level in (("a", 1.0), ("a", 1.0), ("b", 0.0))]
    judged = [JudgedDoc(*row[:3], str(row[3])) for row in rows]
    found = preference_values(judged, float, ["b", "a"])
    assert found == preferences(rows, ["b", "a"])
    assert found["prefs_num_prefs_poss"] == 2


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([("0", "a", "1"), ("0", "a", "2")], "two levels in a subgroup"),
        ([("0", "a", "1"), ("1", "a", "0")], "relevant in a subgroup and not relevant in another"),
        (
            [("0", "a", "2"), ("0", "b", "1"), ("1", "a", "1"), ("1", "b", "2")],
            "each preferred to the other",
        ),
    ],
)
def test_preference_values__contradictions_are_refused(rows: list[tuple[str, ...]], said: str):
    judged = [JudgedDoc("1", *row) for row in rows]
    with pytest.raises(DataError, match=said):
        preference_values(judged, float, ["a"])
