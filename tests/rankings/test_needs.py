"""Optional arrays of a view: ties, pool depths and numbers of retrieved docs."""

from __future__ import annotations

import csv
import math
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

import irmeta
from irmeta.errors import DataError, UsageError
from irmeta.policies import EvalPolicy
from irmeta.rankings.derive.drop import pooled_at
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.load import judged_ranks
from irmeta.rankings.pool import NOT_POOLED, complete_depths, judged_depths
from support.examples import scaled
from support.making import Track, down, tracks
from twins import incomplete
from twins import measures as naive

ORDERS = ("trec_eval", "trec_eval10", "score-file", "file", "rank")


def view_of(store: irmeta.Store, *needs: str, **choices: str) -> JudgedRanks:
    """Return the only block of a small track."""
    (view,) = judged_ranks(store.track("t", EvalPolicy(**choices)), needs=needs)
    return view


def cells(view: JudgedRanks):
    """Yield (query, doc, system, row, system index) of each judged doc and list."""
    for q, query in enumerate(view.queries):
        for row in range(view.offsets[q], view.offsets[q + 1]):
            for s, system in enumerate(view.systems):
                yield query, view.docs[row], system, row, s


@settings(max_examples=scaled(25))
@given(tracks())
def test_ties__equal_naive_blocks_for_each_tie_order(track: Track):
    store = track.read()
    for order in ORDERS:
        view = view_of(store, "ties", tie_order=order)
        firsts, lasts = view.ties
        for query, doc, system, row, s in cells(view):
            blocks = naive.tied_blocks(track.rows(system, query), order)
            found = [b for b in blocks if doc in b]
            if not found:
                assert firsts[row, s] == lasts[row, s] == view.missing
                continue
            before = sum(len(b) for b in blocks[: blocks.index(found[0])])
            assert firsts[row, s] == before + 1
            assert lasts[row, s] == before + len(found[0])
            assert firsts[row, s] <= view.ranks[row, s] <= lasts[row, s]


@pytest.mark.exhaustive
@settings(max_examples=scaled(25))
@given(tracks())
def test_pool_depth__smallest_rank_over_all_lists(track: Track):
    store = track.read()
    for tie_order in (None, "rank"):
        for pool_order in ORDERS:
            view = view_of(store, "pool", tie_order=tie_order, pool_order=pool_order)
            assert view.ranks.tolist() == view_of(store, tie_order=tie_order).ranks.tolist()
            for query, doc, _, row, _ in cells(view):
                lists = [track.ranking(s, query, pool_order) for s in track.runs]
                depth = incomplete.pool_depths(lists, track.qrels[query])[doc]
                assert view.pool_depth[row] == (NOT_POOLED if depth == math.inf else depth)


@pytest.mark.exhaustive
@settings(max_examples=scaled(25))
@given(tracks())
def test_with_pool_and_pooled_at__equal_naive_implementation(track: Track):
    view = view_of(track.read(), "pool", "ties")
    for k in (1, 2, 3, 10):
        lesser, at_k = view.with_pool(k), pooled_at(view, k)
        for q, query in enumerate(view.queries):
            lists = [track.ranking(s, query, "score-file") for s in track.runs]
            depths = incomplete.pool_depths(lists, track.qrels[query])
            assert grades_of(lesser, q) == incomplete.pooled_to(track.qrels[query], depths, k)
            expected = incomplete.pooled_at(track.qrels[query], depths, k)
            assert grades_of(at_k, q) == (track.qrels[query] if expected is None else expected)
        assert lesser.ties[0].shape == lesser.ranks.shape


def grades_of(view: JudgedRanks, q: int) -> dict[str, int]:
    """Return the grades of the judged docs of a query."""
    rows = slice(view.offsets[q], view.offsets[q + 1])
    return dict(zip(view.docs[rows], view.grades[rows].tolist(), strict=True))


@pytest.mark.exhaustive
@settings(max_examples=scaled(30))
@given(tracks())
def test_complete_depths__equal_naive_implementation(track: Track):
    store = track.read()
    for pool_order in ORDERS:
        view = view_of(store, "pool", pool_order=pool_order)
        for q, query in enumerate(view.queries):
            lists = [track.ranking(s, query, pool_order) for s in track.runs]
            assert view.complete_depth[q] == incomplete.complete_depth(lists, track.qrels[query])


@pytest.mark.parametrize(
    ("lists", "expected"),
    [
        ([["a", "b", "x"], ["b", "a", "c"]], 2),
        ([["a", "b"], ["c"]], 2),  # all docs of the short list are judged
        ([["a", "b"], ["x"]], 0),
        ([["a", "x", "b"], []], 1),
        ([[], []], 0),
        ([["a", "b", "c"], ["a", "b", "c"]], 3),  # limited by the longest list
    ],
)
def test_complete_depths__worked_examples(lists: list[list[str]], expected: int):
    docs = ("a", "b", "c")
    missing = np.iinfo(np.uint16).max
    ranks = [[own.index(d) + 1 if d in own else missing for own in lists] for d in docs]
    lengths = np.array([[len(own) for own in lists]], np.uint32)
    judged = judged_depths(np.array(ranks, np.uint16), np.array([0, 3]), lengths)
    found = complete_depths(judged, lengths)
    assert found.tolist() == [expected]
    assert incomplete.complete_depth(lists, dict.fromkeys(docs, 0)) == expected


@pytest.mark.exhaustive
def test_norm_pool__undefined_with_a_single_warning_for_an_incomplete_pool(tmp_path: Path):
    track = Track(
        {"s": {"q1": down("x", "a"), "q2": down("a", "b")}},
        {"q1": {"a": 1}, "q2": {"a": 1, "b": 1}},
    )
    measures = "AP(norm=pool)@5,nDCG(ideal=pool)@5,Q(norm=pool)@5,Q(ideal=pool)@5"
    store = track.ingest(tmp_path)
    for table in (store.means, lambda m: store.curve(m.replace("@5", ""), [5])):
        with pytest.warns(irmeta.PoolDepthWarning, match="track t: on 1 of 2 queries") as warned:
            means = table(measures)
        assert len(warned) == 1
        assert means["value"].to_list() == pytest.approx([1.0] * 4)
        assert means["queries"].to_list() == [1] * 4
    explained = store.explain("AP(norm=pool)@5", system="s", query="q1")
    assert math.isnan(explained.value)
    assert "complete at no depth" in explained.trace.divisor_is


@pytest.mark.exhaustive
def test_pool_depth__configured_depth_is_used(tmp_path: Path):
    lists = {"q": down("x", "a", "b")}
    Track({"s": lists}, {"q": {"a": 1, "b": 1}}).write(tmp_path)
    config = tmp_path / "collection.toml"
    config.write_text('[tracks.t]\nruns = ["t/runs/*"]\nqrels = "t/qrels"\npool_depth = 3\n')
    store = irmeta.ingest(tmp_path, tmp_path / "store")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        means = store.means("AP(norm=pool)@2,AP(norm=pool)@3")
    assert means["value"].to_list() == [1 / 2, (1 / 2 + 2 / 3) / 2]
    assert store.info()["pool_depth"].to_list() == [3]
    provenance = store.provenance("AP(norm=pool)@2")["tracks"]["t"]
    assert provenance["pool_depth"] == 3
    before = provenance["fingerprint"]
    assert irmeta.read(tmp_path).info()["pool_depth"].to_list() == [3]
    config.write_text(config.read_text().replace("= 3", "= 2"))
    again = irmeta.ingest(tmp_path, tmp_path / "store")
    assert again.means("AP(norm=pool)@2")["value"].to_list() == [1 / 4]
    assert again.provenance("AP(norm=pool)@2")["tracks"]["t"]["fingerprint"] != before


@pytest.mark.parametrize("stated", ["0", "-1", "1.5", "true", '"ten"'])
def test_pool_depth__rejects_invalid_configured_depth(tmp_path: Path, stated: str):
    Track({"s": {"q": down("a")}}, {"q": {"a": 1}}).write(tmp_path)
    (tmp_path / "collection.toml").write_text(
        f'[tracks.t]\nruns = ["t/runs/*"]\nqrels = "t/qrels"\npool_depth = {stated}\n'
    )
    with pytest.raises(
        DataError, match=r"tracks\.t\.pool_depth = .* is not a whole number of at least 1"
    ):
        irmeta.ingest(tmp_path, tmp_path / "store")


@pytest.mark.real
def test_complete_depths__real_tracks(real_store: irmeta.Store, shared: Path):
    with (shared / "oracles" / "depth_study" / "comprehensive_depth.csv").open(newline="") as file:
        expected = {r["query"]: int(r["comprehensive_depth"]) for r in csv.DictReader(file)}
    assert len(expected) == 30
    for view in judged_ranks(real_store.track("trec-covid-r1"), needs=["pool"]):
        assert view.complete_depth is not None
        found = dict(zip(view.queries, view.complete_depth.tolist(), strict=True))
        assert {q: expected.pop(q) for q in found} == found
    assert not expected
    scores = real_store.scores("AP@10,AP@7,AP(norm=pool)@7,AP(norm=pool)@10", track="trec-covid-r1")
    np.testing.assert_array_equal(scores.values[2:], scores.values[1::-1])
    for track in ("robust-2003", "web-2012", "clef-ehealth-2015"):
        with pytest.warns(irmeta.PoolDepthWarning, match=f"track {track}: on "):
            values = real_store.scores("AP(norm=pool)@10", track=track).values[0]
        assert np.isnan(values).all(axis=1).any()


@pytest.mark.exhaustive
def test_pool_of__uses_pooled_systems_if_known(tmp_path: Path):
    track = Track(
        {"in": {"q": down("a", "b")}, "out": {"q": down("c", "d", "a")}},
        {"q": {"a": 1, "c": 1, "d": 0}},
    )
    track.write(tmp_path)
    (tmp_path / "systems.csv").write_text("name,judged\nin,yes\nout,no\n")
    (tmp_path / "collection.toml").write_text(
        '[tracks.t]\nruns = ["t/runs/*"]\nqrels = "t/qrels"\n'
        'systems = { file = "systems.csv", name = "name", pooled = "judged" }\n'
    )
    store = irmeta.ingest(tmp_path, tmp_path / "store")
    assert store.track("t").pool.systems == ("in",)
    assert view_of(store, "pool").pool_depth.tolist() == [1, NOT_POOLED, NOT_POOLED]
    said = store.provenance("AP(norm=pool)@10")["tracks"]["t"]["pool"]
    assert said == "the 1 systems here that are recorded as pooled"
    every = track.ingest(tmp_path / "other")
    assert not every.track("t").pool.known
    assert view_of(every, "pool").pool_depth.tolist() == [1, 1, 2]
    said = every.provenance("AP(norm=pool)@10")["tracks"]["t"]["pool"]
    assert said == "all systems: the store does not say which were pooled"
    assert "pool" not in every.provenance("AP@10")["tracks"]["t"]


def test_pool_order__rejected_if_the_store_is_truncated(tmp_path: Path):
    track = Track({"s": {"q": down("a", "b")}}, {"q": {"a": 1, "b": 0}})
    store = track.ingest(tmp_path, depth=1)
    with pytest.raises(UsageError, match=r"cut at depth 1 .* under pool order 'score-file'"):
        store.means("AP(norm=pool)@1")
    assert store.means("AP(norm=pool)@1", pool_order="trec_eval")["value"].to_list() == [1.0]


@pytest.mark.exhaustive
@settings(max_examples=scaled(25))
@given(tracks())
def test_retrieved__counts_docs_of_all_lists(track: Track):
    view = view_of(track.read(), "retrieved")
    for q, query in enumerate(view.queries):
        docs = {line[0] for lists in track.runs.values() for line in lists.get(query, [])}
        assert view.retrieved[q] == len(docs)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("negative", ["unjudged", "nonrelevant"])
@settings(max_examples=scaled(25))
@given(track=tracks())
def test_condense__equals_naive_condensed_lists(negative: str, track: Track):
    store = track.read()
    whole = view_of(store, "ties", "retrieved", negative=negative)
    view = whole.condense()
    for query, doc, system, row, s in cells(view):
        qrels, rows = track.qrels[query], track.rows(system, query)
        blocks = incomplete.condensed_blocks(naive.tied_blocks(rows, "trec_eval"), qrels, negative)
        docs = [d for block in blocks for d in block]
        if doc not in docs:
            assert view.ranks[row, s] == view.missing
            continue
        (place,) = [i for i, block in enumerate(blocks) if doc in block]
        before = sum(map(len, blocks[:place]))
        assert view.ranks[row, s] == docs.index(doc) + 1
        assert view.ties[0][row, s] == before + 1
        assert view.ties[1][row, s] == before + len(blocks[place])
    for q, query in enumerate(view.queries):
        lists = [track.ranking(system, query) for system in view.systems]
        short = [incomplete.condensed(one, track.qrels[query], negative) for one in lists]
        assert view.lengths[q].tolist() == [len(one) for one in short]
        assert view.retrieved[q] == len(set().union(*short))
    assert view_of(store, negative=negative).condense().ranks.tolist() == view.ranks.tolist()


@pytest.mark.exhaustive
@pytest.mark.parametrize("deepest", [1, 3, 100])
@settings(max_examples=scaled(15))
@given(track=tracks())
def test_assume_relevant__adds_unjudged_docs_at_their_ranks(deepest: int, track: Track):
    store = track.read()
    plain = view_of(store)
    view = plain.assume_relevant(deepest, "one")
    for q, query in enumerate(view.queries):
        rows = slice(view.offsets[q], view.offsets[q + 1])
        assumed = view.assumed[rows]
        assert view.grades[rows].tolist() == sorted(view.grades[rows].tolist(), reverse=True)
        own = slice(plain.offsets[q], plain.offsets[q + 1])
        assert view.docs[rows].to_list()[assumed.sum() :] == plain.docs[own].to_list()
        for s, system in enumerate(view.systems):
            judged = incomplete.judged_docs(track.qrels[query])
            listed = (track.ranking(system, query) or [])[:deepest]
            expected = [i for i, doc in enumerate(listed, 1) if doc not in judged]
            ranks = view.ranks[rows, s][assumed]
            assert ranks[ranks < view.missing].tolist() == expected
            assert view.ranks[rows, s][~assumed].tolist() == plain.ranks[own, s].tolist()


def collection(folder: Path, judged: dict[str, str]) -> Path:
    """Write a collection that states for each system whether it was pooled."""
    runs = {name: {"q": down("a", name)} for name in judged}
    Track(runs, {"q": {"a": 1}}).write(folder)
    lines = "".join(f"{name},{said}\n" for name, said in judged.items())
    (folder / "systems.csv").write_text(f"name,judged\n{lines}")
    (folder / "collection.toml").write_text(
        '[tracks.t]\nruns = ["t/runs/*"]\nqrels = "t/qrels"\n'
        'systems = { file = "systems.csv", name = "name", pooled = "judged" }\n'
    )
    return folder


def test_norm_pool__error_without_a_pooled_system(tmp_path: Path):
    store = irmeta.ingest(collection(tmp_path / "c", {"one": "no", "two": "no"}), tmp_path / "s")
    with pytest.raises(DataError, match=r"none of the pooled systems is in the store"):
        store.means("AP(norm=pool)@5")
    assert store.means("AP@5").height == 2


def test_provenance__pool_after_a_skipped_pooled_run(tmp_path: Path):
    folder = collection(tmp_path / "c", {"one": "yes", "two": "yes"})
    (folder / "t" / "runs" / "two").write_text("q Q0 a\n")
    with pytest.warns(irmeta.SkippedRunWarning):
        store = irmeta.ingest(folder, tmp_path / "s")
    said = store.provenance("AP(norm=pool)@5")["tracks"]["t"]["pool"]
    assert "the 1 systems here" in said
    # The system name of an unreadable run is unknown, and so is whether it was pooled.


def test_norm_pool__undefined_if_no_judged_doc_is_retrieved(tmp_path: Path):
    track = Track({"s": {"q": down("x")}}, {"q": {"a": 1}})
    means = track.ingest(tmp_path).means("AP(norm=pool)@5,AP@5")
    assert means["value"].is_nan().to_list() == [True, False]
