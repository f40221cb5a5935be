"""`JudgedRanks`: runs and qrels as arrays, in blocks of queries."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from polars.testing import assert_frame_equal

import irmeta
from irmeta.errors import DataError, UsageError
from irmeta.measures.evaluate import evaluate_block
from irmeta.measures.names import parse_measures
from irmeta.policies import EvalPolicy
from irmeta.rankings.holders import holders_within
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.load import judged_ranks
from irmeta.store import long_table, parquet
from irmeta.store.layout import Layout
from support.examples import scaled
from support.making import Track, down, tracks

NUMBERED = 65_535  # smallest list length that needs uint32, since 65,535 is `missing`


def blocks(
    store: irmeta.Store, policy: EvalPolicy | None = None, track: str = "t", **more: object
) -> list[JudgedRanks]:
    return list(judged_ranks(store.track(track, policy), **more))


def view_of(store: irmeta.Store, **choices: str) -> JudgedRanks:
    """Return the only block of a small track."""
    (view,) = blocks(store, EvalPolicy(**choices))
    return view


TRACK = Track(
    {
        "one": {"q1": down("c", "x", "a"), "q3": down("a"), "unjudged": down("a", "b", "c", "d")},
        "two": {"q1": down("a", "b", "c"), "q2": [("b", 1), ("a", 1)]},
    },
    {
        "q1": {"a": 1, "b": 0, "c": 2, "d": -1, "e": 2, "f": 0},
        "q2": {"b": 0, "a": 0},
        "q3": {"z": 3},
        "q4": {"a": 1},
    },
)
NONE = 65_535


@pytest.fixture
def view(tmp_path):
    return view_of(TRACK.ingest(tmp_path))


def test_judged_ranks__rows_sorted_by_query_grade_descending_and_doc(view):
    assert view.queries == ("q1", "q2", "q3", "q4")
    assert view.systems == ("one", "two")
    assert view.offsets.tolist() == [0, 6, 8, 9, 10]
    assert view.docs.to_list() == ["c", "e", "a", "b", "f", "d", "a", "b", "z", "a"]
    assert view.grades.tolist() == [2, 2, 1, 0, 0, -1, 0, 0, 3, 1]


def test_judged_ranks__ranks_and_lengths_of_the_lists(view):
    assert view.ranks.tolist() == [
        *([1, 3], [NONE, NONE], [3, 1], [NONE, 2], [NONE, NONE], [NONE, NONE]),
        *([NONE, 2], [NONE, 1]),  # tied: the greater doc first
        [NONE, NONE],
        [NONE, NONE],
    ]
    assert view.missing == NONE
    assert view.lengths.tolist() == [[3, 3], [0, 2], [1, 0], [0, 0]]


def test_judged_ranks__dtypes_and_contiguity(view):
    assert view.ranks.dtype == np.uint16
    assert view.grades.dtype == np.int8
    assert view.offsets.dtype == np.int64
    assert view.lengths.dtype == np.uint32
    for array in (view.ranks, view.grades, view.offsets, view.lengths, view.doc_ids):
        assert array.flags.c_contiguous
        assert array.flags.writeable


def test_judged_ranks__deepest_rank_includes_unjudged_queries(view):
    assert view.facts.deepest_rank == 4
    assert view.facts.highest_grade == 3


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("low", "below", "expected"),
    [
        (1, None, [3, 0, 1, 1]),
        (1.5, None, [2, 0, 1, 0]),
        (0, 1, [2, 2, 0, 0]),
        (-np.inf, 0.5, [3, 2, 0, 0]),
    ],
)
def test_counts__docs_per_query_within_a_range_of_grades(view, low, below, expected):
    assert view.counts(low, below).tolist() == expected


def test_sorted_ranks__ascending_with_missing_last(view):
    ranks, offsets = view.sorted_ranks(1)
    assert offsets.tolist() == [0, 3, 3, 4, 5]
    assert ranks[:3].tolist() == [[1, 1], [3, 3], [NONE, NONE]]
    again, _ = view.sorted_ranks(1)
    assert again is ranks


def test_sorted_ranks__do_not_change_the_ranks(view):
    before = view.ranks.copy()
    view.sorted_ranks(0, 0)
    np.testing.assert_array_equal(view.ranks, before)


def test_relevant_rows__sorted_by_query_and_doc(view):
    rows = view.relevant_rows(1)
    assert view.docs.gather(rows).to_list() == ["a", "c", "e", "z", "a"]
    assert view.query_of(rows).tolist() == [0, 0, 0, 2, 3]


def test_cut_to__ranks_and_lengths_of_truncated_lists(view):
    view.sorted_ranks(1)
    cut = view.cut_to(2)
    assert cut.ranks.tolist()[:6] == [
        *([1, NONE], [NONE, NONE], [NONE, 1], [NONE, 2], [NONE, NONE], [NONE, NONE])
    ]
    assert cut.ranks.dtype == view.ranks.dtype
    assert cut.lengths.tolist() == [[2, 2], [0, 2], [1, 0], [0, 0]]
    assert (cut.facts.deepest_rank, view.facts.deepest_rank) == (2, 4)
    assert cut.sorted_ranks(1)[0][:3].tolist() == [[1, 1], [NONE, NONE], [NONE, NONE]]
    assert view.ranks[0].tolist() == [1, 3], "the view is as it was"
    deeper = view.cut_to(100)
    np.testing.assert_array_equal(deeper.ranks, view.ranks)
    assert deeper.facts.deepest_rank == 4


def test_cut_to__keeps_the_ties_within_the_cut(tmp_path):
    tied = Track({"s": {"q": [("a", 1), ("b", 1), ("c", 1), ("d", 0)]}}, {"q": {"a": 1, "c": 1}})
    (view,) = blocks(tied.ingest(tmp_path), needs=("ties", "retrieved"))
    cut = view.cut_to(2)
    assert cut.ranks.T.tolist() == [[NONE, 1]]
    assert [t.T.tolist() for t in cut.ties] == [[[NONE, 1]], [[NONE, 2]]]
    assert cut.retrieved is None


@pytest.mark.parametrize(
    ("negative", "expected"), [("unjudged", (0, 2)), ("nonrelevant", (-np.inf, 2))]
)
def test_nonrelevant__depends_on_the_policy_for_negative_grades(tmp_path, negative, expected):
    view = view_of(TRACK.ingest(tmp_path), negative=negative)
    assert view.nonrelevant(2) == expected


@pytest.mark.parametrize(
    ("depth", "expected"),
    [(3, [2, 2, 0, 0, 0]), (2, [1, 1, 0, 0, 0]), (10**12, [2, 2, 0, 0, 0])],
)
def test_holders_within__counts_systems_within_the_depth(view, depth, expected):
    holders = holders_within(view, view.relevant_rows(1), depth, "systems")
    assert holders.retrieved_by[:, 0].tolist() == expected


@settings(max_examples=scaled(40))
@given(tracks())
def test_judged_ranks__equal_naive_implementation(track: Track):
    store = track.read()
    view = view_of(store)
    assert view.queries == tuple(sorted(track.qrels))
    for q, query in enumerate(view.queries):
        rows = range(view.offsets[q], view.offsets[q + 1])
        docs = {view.docs[row]: int(view.grades[row]) for row in rows}
        assert docs == track.qrels[query]
        for s, system in enumerate(view.systems):
            ranking = track.ranking(system, query) or []
            assert view.lengths[q, s] == len(ranking)
            for row in rows:
                doc = view.docs[row]
                expected = ranking.index(doc) + 1 if doc in ranking else view.missing
                assert view.ranks[row, s] == expected


def deep_store(tmp_path, depth: int) -> irmeta.Store:
    docs = [f"d{i}" for i in range(1, depth + 1)]
    lists = {"deep": {"q": down(*docs)}, "short": {"q": down("d7", f"d{depth}")}}
    return Track(lists, {"q": {f"d{depth}": 1, "d7": 1, "gone": 1}}).ingest(tmp_path)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("depth", "dtype"), [(65_534, np.uint16), (NUMBERED, np.uint32), (70_000, np.uint32)]
)
def test_judged_ranks__dtype_fits_the_deepest_list(tmp_path, depth, dtype):
    store = deep_store(tmp_path, depth)
    view = view_of(store)
    assert view.ranks.dtype == dtype
    assert dict(zip(view.docs, view.ranks.tolist(), strict=True)) == {
        "d7": [7, 1],
        f"d{depth}": [depth, 2],
        "gone": [view.missing, view.missing],
    }
    found = store.evaluate(
        f"AP,RR,R@{depth},R@{depth - 1},ASL,Bpref,P@{depth}", system="deep", per_query=True
    )
    assert dict(found.select("measure", "value").rows()) == {
        "AP": (1 / 7 + 2 / depth) / 3,
        "RR": 1 / 7,
        f"R@{depth}": 2 / 3,
        f"R@{depth - 1}": 1 / 3,
        "ASL": (7 + (depth - 1) + (depth - 2)) / 3,
        "Bpref": 2 / 3,
        f"P@{depth}": 2 / depth,
    }
    for within, both in ((depth, 2), (depth - 1, 1)):
        counted = store.per_doc.rarity(rarity_depth=within).select("doc", "retrieved_by")
        assert dict(counted.rows()) == {"d7": 2, f"d{depth}": both, "gone": 0}


@pytest.fixture
def many(tmp_path, monkeypatch):
    """Create a store with several files and one or two queries per row group."""
    monkeypatch.setattr(long_table, "GROUP_ROWS", 12)
    monkeypatch.setattr(parquet, "PART_ROWS", 40)
    queries = [f"q{i:02}" for i in range(12)]
    runs = {
        f"s{s}": {
            q: down(*(f"d{(i * 7 + s * 3 + p) % 9}" for p in range(s + 4)))
            for i, q in enumerate(queries)
            if (i + s) % 5
        }
        for s in range(3)
    }
    for lists in runs.values():  # queries in runs only: first, middle and last
        lists |= dict.fromkeys(("a", "q05b", "z"), down("d1", "d2"))
    qrels = {q: {f"d{d}": (i + d) % 4 - 1 for d in range(9)} for i, q in enumerate(queries)}
    # Judged queries in no run: before, between and after the others.
    qrels |= {q: {"d1": 1, "d2": 0} for q in ("0", "q03b", "q99", "zz")}
    return Track(runs, qrels).ingest(tmp_path)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("order", [None, "trec_eval10", "score-file", "file", "rank"])
@pytest.mark.parametrize("max_rows", [1, 30, 50])
def test_judged_ranks__independent_of_block_size(many, max_rows, order):
    assert len(list(many.reader.files("runs", "t"))) > 1
    policy = EvalPolicy(tie_order=order)
    (whole,), parts = blocks(many, policy), blocks(many, policy, max_rows=max_rows)
    assert len(parts) > 2
    assert sum((part.queries for part in parts), ()) == whole.queries
    for name in ("ranks", "grades", "doc_ids", "lengths"):
        joined = np.concatenate([getattr(part, name) for part in parts])
        np.testing.assert_array_equal(joined, getattr(whole, name))
    assert [d for part in parts for d in part.docs] == whole.docs.to_list()
    specs = parse_measures(["default", "nDCG(gain=exp)@3", "ASL(unretrieved=depth)"])
    together = evaluate_block(whole, specs, policy).values
    apart = [evaluate_block(part, specs, policy).values for part in parts]
    np.testing.assert_array_equal(np.concatenate(apart, axis=1), together)


def test_judged_ranks__block_without_judged_queries(tmp_path, monkeypatch):
    monkeypatch.setattr(long_table, "GROUP_ROWS", 1)
    lists = {"a": down("x"), "m": down("d"), "z": down("x"), "zz": down("y")}
    store = Track({"s": lists}, {"m": {"d": 1}}).ingest(tmp_path)
    parts = blocks(store, max_rows=1)
    assert len(parts) == 4
    assert sum((part.queries for part in parts), ()) == ("m",)
    assert sum(
        evaluate_block(p, parse_measures("default"), EvalPolicy()).values.size for p in parts
    )


@pytest.mark.exhaustive
def test_store__results_independent_of_block_size(many, monkeypatch):
    def tables_of(store: irmeta.Store) -> list[pl.DataFrame]:
        means = [store.means(queries=q) for q in ("judged", "relevant", "retrieved")]
        return [
            *means,
            store.evaluate(per_query=True),
            store.per_doc.search_lengths(),
            store.per_doc.rarity(rarity_depth=3),
        ]

    whole = tables_of(many)
    monkeypatch.setattr(Layout, "block_rows", 1)
    assert len(blocks(many)) > 2
    for parts, together in zip(tables_of(many), whole, strict=True):
        assert_frame_equal(parts, together, check_exact=True)
    assert many.explain("AP", system="s0", query="q11").value > 0


def test_judged_ranks__judged_queries_without_lists(many):
    (view,) = blocks(many)
    for query in ("0", "q03b", "q99", "zz"):
        assert view.lengths[view.queries.index(query)].tolist() == [0, 0, 0]
    assert not {"a", "q05b", "z"} & set(view.queries)


def test_judged_ranks__missing_ranks_if_no_judged_doc_is_retrieved(tmp_path):
    view = view_of(Track({"s": {"q": down("x", "y")}}, {"q": {"a": 1}}).ingest(tmp_path))
    assert view.ranks.tolist() == [[view.missing]]
    assert view.lengths.tolist() == [[2]]


def test_judged_ranks__grades_of_the_selected_qrels_set(made_store):
    adhoc, diversity = (
        blocks(made_store, EvalPolicy(qrels=name), "web")[0] for name in ("adhoc", "diversity")
    )
    assert adhoc.facts.qrels == "adhoc"
    assert diversity.facts.highest_grade == 3
    assert adhoc.facts.highest_grade == 4
    judged = made_store.qrels("web", sets="all").filter(set="diversity").collect()
    assert judged.height > len(diversity.docs)
    greatest = judged.group_by("query", "doc").agg(pl.col("grade").max())
    queries = np.array(diversity.queries)[diversity.query_of(np.arange(len(diversity.docs)))]
    found = zip(queries, diversity.docs, diversity.grades, strict=True)
    assert {(q, d): g for q, d, g in found} == {(q, d): g for q, d, g in greatest.iter_rows()}


def test_judged_ranks__rows_of_the_selected_qrels_set_only(tmp_path):
    folder = tmp_path / "collection"
    (folder / "runs").mkdir(parents=True)
    (folder / "runs" / "s").write_text("q Q0 b 1 3 s\nq Q0 a 2 2 s\nq Q0 c 3 1 s\n")
    (folder / "first").write_text("q 0 c 1\n")
    (folder / "second").write_text("q 1 a 1\nq 2 a 3\nq 1 b 0\nr 1 c 1\n")
    (folder / "collection.toml").write_text(
        '[tracks.t]\nruns = ["runs/*"]\n'
        '[[tracks.t.qrels]]\nname = "first"\nfile = "first"\n'
        '[[tracks.t.qrels]]\nname = "second"\nfile = "second"\nsubtopics = true\n'
    )
    store = irmeta.ingest(folder, tmp_path / "store")
    first, second = view_of(store), view_of(store, qrels="second")
    assert (first.queries, first.docs.to_list(), first.ranks.tolist()) == (("q",), ["c"], [[3]])
    assert second.queries == ("q", "r")
    assert second.docs.to_list() == ["a", "b", "c"]
    assert second.grades.tolist() == [3, 0, 1]
    assert second.ranks.tolist() == [[2], [1], [second.missing]]


def test_tie_order__change_rejected_for_a_truncated_store(tmp_path):
    store = TRACK.ingest(tmp_path, depth=2)
    view = view_of(store, tie_order="trec_eval")
    assert view.lengths.max() == 2
    assert view.facts.deepest_rank == 2
    with pytest.raises(
        UsageError, match=r"cut at depth 2 under tie order 'trec_eval'; under tie order .fi"
    ):
        view_of(store, tie_order="file")


def test_tie_order__rank_order_without_ranks_names_the_system(tmp_path):
    lists = {"good": {"q": down("a")}, "bad": {"q": [("a", 1, 1.5)]}}
    store = Track(lists, {"q": {"a": 1}}).ingest(tmp_path)
    with pytest.raises(DataError, match=r"bad.*ranks are not whole numbers|ranks.*bad"):
        view_of(store, tie_order="rank")


@pytest.mark.parametrize(
    ("track", "qrels", "said"),
    [("T", None, "has no track 'T'. Did you mean 't'"), ("t", "x", "has no qrels set 'x'. Known")],
)
def test_judged_ranks__reject_unknown_track_and_qrels_set(tmp_path, track, qrels, said):
    store = TRACK.ingest(tmp_path)
    with pytest.raises(UsageError) as error:
        blocks(store, EvalPolicy(qrels=qrels), track)
    assert said in str(error.value)
