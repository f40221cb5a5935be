"""Relevant docs in the study of innovation: who retrieves them, their rarity and grades."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import irmeta
from irmeta.errors import DataError
from irmeta.studies.framework.track_view import TrackView
from irmeta.studies.papers.innovation.compute import other_labels
from irmeta.studies.papers.innovation.rare_track import (
    RareTrack,
    contributions,
    docs_by_holders,
    example_queries,
    greedy,
    overlap,
    rare_grades,
    read_texts,
    spaced,
    table_4,
)
from irmeta.studies.papers.innovation.study import InnovationOptions
from support.examples import scaled
from support.innovating import TYPES, data_of, groups_of, rare_track, rows_of
from support.making import Track, down, tracks
from twins import innovation as naive
from twins import rareness


@settings(max_examples=scaled(12))
@given(tracks(), st.integers(1, 6))
def test_contributions__any_track_equals_sets_of_docs(track: Track, k: int):
    data, groups = data_of(track), groups_of(track)
    types = dict(zip(sorted(track.runs), TYPES, strict=False))
    frame = rows_of("contributions", contributions(rare_track(track, k=k)))
    systems = {*groups}
    for row in frame.iter_rows(named=True):
        if row["level"] == "system":
            own = {row["name"]}
            told = rareness.contribution(row["name"], [*data.values()], k, groups=groups)
            assert (row["found"], row["unique"], row["unique_to_group"]) == told[:3]
            assert (row["share"], row["mean_rarity"]) == pytest.approx(told[3:], nan_ok=True)
            of_type = {s for s in systems if types[s] == types[row["name"]] is not None} | own
            alone = naive.found(data, own, k) - naive.found(data, systems - of_type, k)
            assert row["unique_to_type"] == len(alone)
            continue
        of = groups if row["level"] == "group" else types
        members = {s for s in systems if of[s] == row["name"]}
        docs = naive.found(data, members, k)
        outside = naive.found(data, systems - members, k)
        assert (row["systems"], row["found"]) == (len(members), len(docs))
        assert row["unique"] == len(docs - outside)
        assert row["unique_to_group"] is None
    by_level = {level: {*names} for level, names in frame.group_by("level").agg("name").rows()}
    assert by_level["system"] == systems
    assert by_level.get("group", set()) == {g for g in groups.values() if g}
    assert by_level.get("type", set()) == {t for t in types.values() if t}


@settings(max_examples=scaled(8))
@given(tracks(), st.integers(1, 6))
def test_greedy_and_overlap__any_track_equal_sets_of_docs(track: Track, k: int):
    rare, data, seen = rare_track(track, k=k), data_of(track), set()
    every = naive.found(data, {*track.runs}, k)
    for row in rows_of("greedy", greedy(rare)).iter_rows(named=True):
        new = naive.found(data, {row["system"]}, k) - seen
        seen |= new
        assert (row["added"], row["covered"]) == (len(new), len(seen))
        share = len(seen) / len(every) if every else math.nan
        assert row["share"] == pytest.approx(share, nan_ok=True)
    frame = rows_of("overlap", overlap(rare))
    assert frame.height == math.comb(len(track.runs), 2)
    for row in frame.iter_rows(named=True):
        a, b = (naive.found(data, {row[f"system_{side}"]}, k) for side in "ab")
        expected = len(a & b) / len(a | b) if a | b else math.nan
        assert row["jaccard"] == pytest.approx(expected, nan_ok=True)
        assert row["place_a"] < row["place_b"]


@settings(max_examples=scaled(8))
@given(tracks(), st.integers(1, 6))
def test_rare_grades__any_track_equals_naive_counts(track: Track, k: int):
    rare, data = rare_track(track, k=k), data_of(track)
    held = rows_of("docs_by_holders", docs_by_holders(rare))
    for row in held.iter_rows(named=True):
        number = row["retrieved_by"]
        assert row["docs"] == sum(naive.grade_counts(data, number, number, k).values())
        assert row["rarity"] == pytest.approx(rareness.rarity(number, len(track.runs)))
    frame = rows_of("rare_grades", rare_grades(rare))
    assert held["docs"].sum() == frame.unique("low")["docs"].sum()
    for row in frame.iter_rows(named=True):
        counts = naive.grade_counts(data, row["low"], row["high"], k)
        total = sum(counts.values())
        assert (row["docs"], row["of_grade"]) == (total, counts.get(row["grade"], 0))
        higher = sum(n for grade, n in counts.items() if grade >= row["grade"])
        shares = (row["of_grade"] / total, higher / total) if total else (math.nan, math.nan)
        assert (row["share"], row["share_at_least"]) == pytest.approx(shares, nan_ok=True)


@pytest.mark.parametrize(
    ("total", "ranges"),
    [
        (1, [(0, 0), (1, 1)]),
        (2, [(0, 0), (1, 1), (2, 2)]),
        (3, [(0, 0), (1, 1), (2, 2), (3, 3)]),
        (17, [(0, 0), (1, 1), (2, 4), (5, 8), (9, 12), (13, 17)]),
    ],
)
def test_rare_grades__ranges_cover_every_count_once(total: int, ranges: list[tuple[int, int]]):
    docs = pl.DataFrame({"retrieved_by": [*range(total + 1)]}).with_columns(counted=total, grade=1)
    rows = rare_grades(SimpleNamespace(docs=docs))  # type: ignore[arg-type]
    assert [(row["low"], row["high"]) for row in rows] == ranges


def test_spaced__nearest_to_equal_distances():
    assert spaced([0.1, 0.2, 0.5, 0.9, 0.85], 3) == [3, 2, 0]
    assert spaced([0.4, 0.4, 0.4], 2) == [0, 1]
    assert spaced([], 0) == []


DOCS = {doc: 1 + (doc == "e") for doc in "abcdef"}
HELD = {"s0": "fedcba", "s1": "abcd", "s2": "abc", "s3": "an", "s4": "ab"}
EXAMPLES = Track({s: {"1": down(*docs), "2": down("u")} for s, docs in HELD.items()},
                 {"1": DOCS | {"never": 1, "n": 0}, "2": {"u": 1}})  # fmt: skip


def test_table_4__worked_example(tmp_path: Path):
    texts = tmp_path / "texts.tsv"
    texts.write_text("a\tof robots\twith a tab\nz\tother\n", encoding="utf-8")
    rare = rare_track(EXAMPLES, examples=["1", "no"], texts=str(texts))
    frame = rows_of("table_4", table_4(rare)).sort("rarity", "doc")
    # S_d: a 5, b 4, c 3, d 2, e and f 1; f is the first of the rarest by doc
    assert frame["doc"].to_list() == ["a", "b", "c", "d", "e"]
    assert frame["rarity"].to_list() == pytest.approx([0, 0.2, 0.4, 0.6, 0.8])
    row = frame.row(0, named=True)
    assert row["held_by"] == "s1 1, s2 1, s3 1, s4 1, s0 6"
    assert (row["best_rank"], row["median_rank"], row["grade"]) == (1, 1.0, 1)
    assert row["text"] == "of robots\twith a tab"
    assert frame["text"].null_count() == 4
    assert frame["grade"].to_list() == [1, 1, 1, 1, 2]


def test_table_4__random_queries_have_docs_of_most_different_rarity():
    rare = rare_track(EXAMPLES)
    assert example_queries(rare) == ["1"]
    few = rare_track(EXAMPLES, k=1)
    assert example_queries(few) == ["1"]
    none = rare_track(EXAMPLES, rel=3)
    assert example_queries(none) == []


def test_read_texts__rejects_what_is_no_list_of_texts(tmp_path: Path):
    file = tmp_path / "texts"
    file.write_text("a\tone\nb two\n")
    with pytest.raises(DataError, match="line 2: no tab: 'b two'"):
        read_texts(str(file), ["a"])
    file.write_text("a\tone\na\ttwo\n")
    with pytest.raises(DataError, match="line 2: a second text of a doc: 'a'"):
        read_texts(str(file), ["a"])
    file.write_bytes(b"a\t\xff\n")
    with pytest.raises(DataError, match="not UTF-8"):
        read_texts(str(file), ["a"])


def test_label_confirmations__worked_example(tmp_path: Path):
    """In the other set x and y are relevant, z is not, w is not judged, and v is new."""
    other = {"1": {"x": 1, "y": 2, "z": 0, "v": 1}}
    sets = {"a": EXAMPLES_2.qrels, "b": other}
    store = irmeta.read(EXAMPLES_2.write_with(tmp_path, **sets))
    options = InnovationOptions(k=10)
    track = TrackView(store.track("t"), options)
    pieces = list(other_labels(track, RareTrack.of(track, options)))
    names = ("label_sets", "label_confirmations")
    sets, confirmed = (
        pl.concat([rows_of(n, rows) for of, rows in pieces if of == n]) for n in names
    )
    key, numbers = ("relevant_in", "judged_in", "retrieved_by"), ("docs", "confirmed", "unjudged")
    counts = {row[:3]: row[3:] for row in confirmed.select(*key, *numbers).rows()}
    assert counts == {
        ("a", "b", "none"): (1, 0, 1),
        ("a", "b", "few"): (0, 0, 0),  # half of the systems retrieve z
        ("a", "b", "many"): (2, 2, 0),
        ("b", "a", "none"): (0, 0, 0),
        ("b", "a", "few"): (1, 0, 1),
        ("b", "a", "many"): (2, 2, 0),
    }
    assert sets["qrels"].unique().to_list() == ["b"]
    for measure in ("RareP", "RareAP"):
        lists, qrels = data_of(EXAMPLES_2)["1"]
        other = {"x": 1, "y": 2, "z": 0, "v": 1}
        for alpha in (0.0, 1.0):
            a, b = (naive.means({"1": (lists, of)}, measure, 10, alpha) for of in (qrels, other))
            (tau,) = sets.filter(measure=f"{measure}@10", alpha=alpha)["tau_b"]
            assert tau == pytest.approx(naive.tau(a, b))


def test_label_sets__orders_are_of_the_queries_that_both_sets_judge(tmp_path: Path):
    """Query 2, which only the other set judges, would turn the order of the systems."""
    runs = {"s0": {"1": down("x"), "2": down("n")}, "s1": {"1": down("n"), "2": down("y")}}
    qrels = {"1": {"x": 1, "n": 0}}
    other = {**qrels, "2": {"y": 1}, "3": {"y": 1}}
    folder = Track(runs, qrels).write_with(tmp_path, a=qrels, b=other)
    options = InnovationOptions(k=1)
    track = TrackView(irmeta.read(folder).track("t"), options)
    (name, rows), *_ = other_labels(track, RareTrack.of(track, options))
    frame = rows_of(name, rows)
    assert frame["queries"].unique().to_list() == [1]
    assert frame["tau_b"].to_list() == [1.0] * frame.height


EXAMPLES_2 = Track(
    {"s0": {"1": down("x", "y")}, "s1": {"1": down("y", "x", "z")},
     "s2": {"1": down("v", "x", "y")}, "s3": {"1": down("x", "n")},
     "s4": {"1": down("y", "z")}, "s5": {"1": down("z")}},
    {"1": {"x": 1, "y": 1, "z": 1, "w": 1, "n": 0}},
)  # fmt: skip
