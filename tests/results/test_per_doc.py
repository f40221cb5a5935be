"""Tables with a row for each relevant doc: naive implementations as reference."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import irmeta
from irmeta.errors import UsageError
from irmeta.schema.result_tables import RARITY, SEARCH_LENGTHS
from support.examples import scaled
from support.making import Track, down, read_qrels, read_run, tracks
from twins import measures as naive

UNRETRIEVED = ("irrel", "floor", "irrel+1", "depth")
ORDERS = ("trec_eval", "trec_eval10", "score-file", "file", "rank")


def twin_lengths(
    track: Track, order: str = "trec_eval", rel: int = 1, unretrieved: str = "irrel"
) -> Iterator[tuple[object, ...]]:
    """Yield the rows of search_lengths() in the same order."""
    for query in sorted(track.qrels):
        qrels = track.qrels[query]
        for system in sorted(track.runs):
            ranking = track.ranking(system, query, order) or []
            found = naive.search_lengths(ranking, qrels, rel, unretrieved, track.deepest)
            places = {doc: rank for rank, doc in enumerate(ranking, 1)}
            for doc in sorted(found, key=str.encode):
                place = places.get(doc)
                weight = 1 / len(found)
                yield track.name, system, query, doc, qrels[doc], place, found[doc], weight


def twin_rarity(
    track: Track, depth: int, rel: int = 1, order: str = "trec_eval"
) -> Iterator[tuple[object, ...]]:
    """Yield the rows of rarity() in the same order."""
    systems = len(track.runs)
    for query in sorted(track.qrels):
        qrels = track.qrels[query]
        rankings = {s: track.ranking(s, query, order) for s in track.runs}
        counted = naive.rarity(rankings, qrels, depth, rel)
        for doc in sorted(counted, key=str.encode):
            n = counted[doc]
            yield track.name, query, doc, qrels[doc], n, systems, 1 - n / systems


@pytest.mark.exhaustive
@settings(max_examples=scaled(30))
@given(tracks(), st.integers(1, 3), st.integers(1, 12), st.sampled_from(ORDERS))
def test_search_lengths_and_rarity__equal_naive_implementation(
    track: Track, rel: int, depth: int, order: str
):
    store = track.read()
    for choice in UNRETRIEVED:
        found = store.per_doc.search_lengths(rel=rel, unretrieved=choice, tie_order=order)
        assert found.rows() == list(twin_lengths(track, order, rel, choice))
    found = store.per_doc.rarity(rarity_depth=depth, rel=rel, tie_order=order)
    assert found.rows() == list(twin_rarity(track, depth, rel, order))


MADE = {"news": "news/qrels.txt", "web": "web/adhoc.qrels.txt", "passage": "passage/qrels.txt"}


@pytest.fixture(scope="module", params=sorted(MADE))
def made(request, collections) -> Track:
    files = (collections / request.param / "runs").iterdir()
    runs = {file.name.split(".")[0]: file for file in files}
    runs.pop("nuthFirst", None)  # it cannot be read
    lists = {system: read_run(file) for system, file in runs.items()}
    return Track(lists, read_qrels(collections / MADE[request.param]), request.param)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("unretrieved", UNRETRIEVED)
def test_search_lengths__equal_naive_implementation_on_generated_tracks(
    made, made_store, unretrieved
):
    found = made_store.per_doc.search_lengths(made.name, unretrieved=unretrieved)
    assert found.rows() == list(twin_lengths(made, unretrieved=unretrieved))


@pytest.mark.one_in(4)
@pytest.mark.parametrize("depth", [1, 10, 100, 200, 1000])
def test_rarity__equals_naive_implementation_on_generated_tracks(made, made_store, depth):
    found = made_store.per_doc.rarity(made.name, rarity_depth=depth)
    assert found.rows() == list(twin_rarity(made, depth))


@pytest.mark.exhaustive
def test_search_lengths_and_rarity__equal_naive_on_worked_examples(worked_examples, tmp_path):
    store = irmeta.ingest(worked_examples, tmp_path / "store")
    for name in store.tracks:
        folder = worked_examples / name
        runs = {file.name.split(".")[0]: read_run(file) for file in (folder / "runs").iterdir()}
        track = Track(runs, read_qrels(folder / "qrels.txt"), name)
        assert store.per_doc.search_lengths(name).rows() == list(twin_lengths(track))
        assert store.per_doc.rarity(name, rarity_depth=3).rows() == list(twin_rarity(track, 3))


def test_search_lengths_and_rarity__rows_of_missing_lists_and_docs(tmp_path):
    """System s retrieves a at rank 2 and c at rank 3; system no has no list for q."""
    track = Track(
        {"s": {"q": down("x", "a", "c", "y")}, "no": {"r": down("a")}},
        {"q": {"c": 3, "a": 1, "b": 1, "n": 0}, "r": {"a": 0}},
    )
    store = track.ingest(tmp_path)
    assert store.per_doc.search_lengths().rows() == [
        ("t", "no", "q", "a", 1, None, 5.0, 1 / 3),
        ("t", "no", "q", "b", 1, None, 5.0, 1 / 3),
        ("t", "no", "q", "c", 3, None, 5.0, 1 / 3),
        ("t", "s", "q", "a", 1, 2, 2.0, 1 / 3),
        ("t", "s", "q", "b", 1, None, 2.0, 1 / 3),
        ("t", "s", "q", "c", 3, 3, 2.0, 1 / 3),
    ]
    averaged = store.per_doc.search_lengths(queries="retrieved")
    assert averaged["weight"].to_list() == [0.0] * 3 + [1 / 3] * 3
    assert store.per_doc.rarity(rarity_depth=2).rows() == [
        ("t", "q", "a", 1, 1, 2, 0.5),
        ("t", "q", "b", 1, 0, 2, 1.0),
        ("t", "q", "c", 3, 0, 2, 1.0),
    ]


def test_search_lengths_and_rarity__columns_of_the_schema(made_store):
    assert made_store.per_doc.search_lengths().columns == SEARCH_LENGTHS.arrow().names
    assert made_store.per_doc.rarity().columns == RARITY.arrow().names


@pytest.mark.exhaustive
def test_search_lengths__all_tracks_in_a_single_frame(made_store):
    whole = made_store.per_doc.search_lengths()
    parts = [made_store.per_doc.search_lengths(name) for name in made_store.tracks]
    assert whole.height == sum(part.height for part in parts)
    assert whole["track"].unique(maintain_order=True).to_list() == made_store.tracks


def test_search_lengths__mean_equals_asl(made_store):
    lengths = made_store.per_doc.search_lengths("web", unretrieved="floor")
    by_list = lengths.group_by("system", "query").agg(pl.col("search_length").mean())
    means = {(s, q): value for s, q, value in by_list.iter_rows()}
    asl = made_store.evaluate("ASL(unretrieved=floor)", track="web", per_query=True)
    found = {(s, q): value for _, s, q, _, value in asl.iter_rows()}
    assert found == pytest.approx(means, rel=1e-12)


@pytest.mark.parametrize("queries", ["judged", "relevant", "retrieved"])
@pytest.mark.parametrize("unretrieved", UNRETRIEVED)
def test_search_lengths__weighted_mean_is_asl(made_store, unretrieved, queries):
    choices = {"queries": queries, "tie_order": "trec_eval"}
    lengths = made_store.per_doc.search_lengths(unretrieved=unretrieved, **choices)
    total = (pl.col("search_length") * pl.col("weight")).sum()
    means = lengths.group_by("track", "system").agg(total / pl.col("weight").sum())
    asl = made_store.means(f"ASL(unretrieved={unretrieved})", **choices)
    expected = {(track, system): value for track, system, _, value, *_ in asl.iter_rows()}
    assert {row[:2]: row[2] for row in means.iter_rows()} == pytest.approx(expected, rel=1e-12)


def test_search_lengths_and_rarity__empty_above_the_highest_grade(made_store):
    assert made_store.per_doc.search_lengths("news", rel=2).height == 0
    assert made_store.per_doc.rarity("news", rel=2).height == 0


def test_rarity__uses_the_selected_qrels_set(made_store):
    adhoc, diversity = (made_store.per_doc.rarity("web", qrels=q) for q in ("adhoc", "diversity"))
    assert adhoc.select("query", "doc").equals(diversity.select("query", "doc"))
    assert not adhoc["grade"].equals(diversity["grade"])
    with pytest.raises(UsageError, match=r"has no qrels set 'diversty'. Did you mean 'diversity'"):
        made_store.per_doc.rarity("web", qrels="diversty")


@pytest.mark.parametrize("depth", [0, -1, 2.5])
def test_rarity__rejects_invalid_depth(made_store, depth):
    with pytest.raises(UsageError, match=f"rarity_depth = {depth} is not a whole number"):
        made_store.per_doc.rarity(rarity_depth=depth)


def test_search_lengths__suggests_the_nearest_choice(made_store):
    with pytest.raises(UsageError, match=r"unretrieved = 'flor'.*Did you mean 'floor'"):
        made_store.per_doc.search_lengths(unretrieved="flor")
