"""Selection of systems and queries: the same values as of all, in every method and command."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import irmeta
from irmeta.results.tidy_files import provenance

SYSTEMS = ("aldBM25", "doumMan2")
QUERIES = ("901", "905", "917")
MEASURES = (
    "AP,RareP(alpha=1)@100,RareP(alpha=1,counted=others)@20,RareAP(alpha=1,counted=groups)@100,"
    "AvgSL,ASL(unretrieved=depth),AP(norm=pool)@10,AP(average=difficulty),AP(unjudged=condensed),"
    "P(unjudged=upper)@10,RareP(alpha=1,counted=pooled)@10"
)
"""Measures that also read lists of other systems, among others."""
METHODS: dict[str, Callable[..., pl.DataFrame]] = {
    "evaluate": lambda store, **c: store.evaluate(MEASURES, track="news", **c),
    "smaller pool": lambda store, **c: store.evaluate(
        MEASURES, track="news", pool_depth=5, pool_without=("aldBM25",), **c
    ),
    "curve": lambda store, **c: store.curve("AP", [5, 10], [3, 10], track="news", **c),
    "truncation": lambda store, **c: store.stability.truncation("AP,SetP", track="news", **c),
    "drawn": lambda store, **c: store.pools.drawn("P@10", "news", draws=3, **c),
    "leave_out": lambda store, **c: store.pools.leave_out("AP@10", track="news", pool_depth=5, **c),
    "unjudged": lambda store, **c: store.pools.unjudged("news", **c)[0].unjudged,
    "search_lengths": lambda store, **c: store.per_doc.search_lengths("news", **c),
    "contributions": lambda store, **c: store.per_doc.contributions("news", **c),
}


@pytest.mark.parametrize("method", METHODS)
def test_system__values_do_not_depend_on_the_selection(made_store: irmeta.Store, method: str):
    expected = METHODS[method](made_store).filter(pl.col("system").is_in(SYSTEMS))
    assert_frame_equal(METHODS[method](made_store, system=SYSTEMS), expected, check_exact=True)


def test_system__preferences_are_those_of_selected_pairs(made_store: irmeta.Store):
    preferences = made_store.pairs.preferences
    among = pl.col("system").is_in(SYSTEMS) & pl.col("other").is_in(SYSTEMS)
    expected = preferences("RPP,STRPP", track="web").filter(
        among.or_(pl.col("system").is_in(["ibisBase", "heronQE"]))
        & pl.col("other").is_in(["ibisBase", "heronQE"])
    )
    selected = preferences("RPP,STRPP", track="web", system=["heronQE", "ibisBase"])
    assert_frame_equal(selected, expected, check_exact=True)


def test_system__rarity_counts_all_systems(made_store: irmeta.Store):
    rarity = made_store.per_doc.rarity
    assert_frame_equal(rarity("news", system="aldBM25"), rarity("news"))


def test_system__views_derive_from_all_systems(made_store: irmeta.Store):
    asked: Any = {"track": "news", "needs": ["pool", "retrieved"]}
    (every,), (some,) = made_store.views(**asked), made_store.views(**asked, system=SYSTEMS)
    places = [list(every.systems).index(name) for name in SYSTEMS]
    for derive in (
        lambda view: view.with_pool(3),
        lambda view: view.condense().cut_to(20),
        lambda view: view.drop_relevant(0.5, "least-retrieved"),
        lambda view: view.alter_labels(0.3).only_queries(QUERIES),
        lambda view: view.assume_relevant(50, "one"),
        lambda view: view.without_systems("group=elm"),
    ):
        derived, expected = derive(some), derive(every)
        names = [list(expected.systems).index(every.systems[place]) for place in places]
        shown = expected.ranks[:, names]
        np.testing.assert_array_equal(derived.ranks, shown)
        if expected.pool_depth is not None:
            np.testing.assert_array_equal(derived.pool_depth, expected.pool_depth)
            np.testing.assert_array_equal(derived.complete_depth, expected.complete_depth)
    with pytest.raises(irmeta.UsageError, match="has no `pooled_lists`: it holds the lists of all"):
        some.require("pooled_lists")


def test_query__values_are_those_of_the_queries(made_store: irmeta.Store, tmp_path: Path):
    file = tmp_path / "queries.tsv"
    file.write_text("917\tsome title\n901\n\n905 x\n")
    every = made_store.evaluate(MEASURES, track="news", per_query=True)
    expected = every.filter(pl.col("query").is_in(QUERIES))
    for choices in ({"query": QUERIES}, {"query": [901, 905, 917]}, {"query_file": str(file)}):
        found = made_store.evaluate(MEASURES, track="news", per_query=True, **choices)
        assert_frame_equal(found, expected, check_exact=True)
    lengths = made_store.per_doc.search_lengths("news")
    assert_frame_equal(
        made_store.per_doc.search_lengths("news", query=QUERIES),
        lengths.filter(pl.col("query").is_in(QUERIES)),
    )
    (board,) = made_store.prefer("RPP", track="news", query=QUERIES)
    assert board.systems["queries"].unique().to_list() == [3]
    assert made_store.evaluate("AP", query_file=str(file), query=301)["track"].unique().len() == 2


def test_query__subtopics_and_other_sets(made_store: irmeta.Store):
    measures = ("alpha_nDCG@10", "AP", "ERR_IA@10")
    every = made_store.evaluate(measures, track="web", per_query=True)
    queries = every["query"].unique().sort()[2:5].to_list()
    for choices in ({}, {"qrels": "diversity"}, {"qrels": "adhoc,diversity"}):
        every = made_store.evaluate(measures, track="web", per_query=True, **choices)
        some = made_store.evaluate(measures, track="web", per_query=True, query=queries, **choices)
        assert_frame_equal(some, every.filter(pl.col("query").is_in(queries)), check_exact=True)


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"system": "aldBM2"}, r"no system 'aldBM2'\. Did you mean 'aldBM25'\?"),
        ({"system": ["aldBM25", "group=aldr"]}, r"no group 'aldr'\. Did you mean 'alder'\?"),
        ({"query": "9011"}, r"no track judges the query '9011'\. Did you mean '911'\?"),
        ({"query": ["901", "9011"]}, r"no track judges 1 of 2 queries: '9011'"),
        ({"system": []}, "no system or query was given"),
        ({"system": "aldBM25", "query": "301"}, "both a selected system and a selected query"),
        ({"queri": "301"}, "no option 'queri'"),
        ({"qrels": "web=diversty"}, "'web' has no qrels set 'diversty'. Did you mean 'diversity'"),
        ({"qrels": "wep=diversity"}, "no track 'wep'. Did you mean 'web'"),
        ({"qrels": ["web=adhoc", "web=diversity"]}, "two texts are given for track 'web'"),
        ({"qrels": ["adhoc", "diversity"]}, "two texts are given for all tracks"),
    ],
)
def test_selection__unknown_names_are_errors(
    made_store: irmeta.Store, choices: dict[str, Any], message: str
):
    with pytest.raises(irmeta.UsageError, match=message):
        made_store.evaluate("AP", **choices)


def test_selection__leaves_out_tracks_without_what_is_selected(made_store: irmeta.Store):
    assert made_store.evaluate("AP", system="aldBM25")["track"].unique().to_list() == ["news"]
    assert made_store.evaluate("AP", query="301")["track"].unique().to_list() == ["web"]
    with pytest.raises(irmeta.UsageError, match="track 'web' has no system 'aldBM25'"):
        made_store.scores("AP", track="web", system="aldBM25")


def test_selection__is_recorded(made_store: irmeta.Store, tmp_path: Path):
    file = tmp_path / "queries.txt"
    file.write_text("901\n")
    choices: Any = {"system": "group=alder", "query_file": str(file)}
    made = made_store.provenance("AP", track="news", **choices)
    assert made["eval_policy"]["system"] == ["group=alder"]
    assert len(made["tracks"]["news"]["query_file_sha256"]) == 64
    assert "system" not in made_store.provenance("AP", track="news")["eval_policy"]


def test_compare__selects_in_values_and_stores(made_store: irmeta.Store, tmp_path: Path):
    choices: Any = {"system": SYSTEMS, "query": QUERIES}
    values = made_store.evaluate("AP", track="news", per_query=True)
    (by_hand,) = irmeta.compare(
        values.filter(pl.col("query").is_in(QUERIES) & pl.col("system").is_in(SYSTEMS)), "AP"
    )
    values.write_csv(tmp_path / "values.csv")
    for source in (made_store, values, tmp_path / "values.csv"):
        (found,) = irmeta.compare(source, "AP", **choices)
        assert_frame_equal(found.systems.drop("no_list"), by_hand.systems.drop("no_list"))
    with pytest.raises(irmeta.UsageError, match=r"no system 'group=alder'"):
        irmeta.compare(values, "AP", system="group=alder")
    with pytest.raises(irmeta.UsageError, match=r"lacks the query '9011'.*'911'"):
        irmeta.compare(values, "AP", query="9011")


def test_evaluate__of_folders_is_that_of_stores(made_store: irmeta.Store, collections: Path):
    choices: Any = {"track": "news", "system": "aldBM25", "query": QUERIES}
    expected = made_store.evaluate("AP", **choices)
    for source in (made_store, made_store.path, collections):
        assert_frame_equal(irmeta.evaluate(source, "AP", **choices), expected)
    assert_frame_equal(
        irmeta.evaluate(made_store.path, measures="AP", per_query=True, **choices),
        made_store.evaluate("AP", per_query=True, **choices),
    )
    for arguments, wrong in (
        ((made_store, "AP", "AP"), "holds its runs"),
        (("qrels.txt",), "no runs were given"),
    ):
        with pytest.raises(irmeta.UsageError, match=wrong):
            irmeta.evaluate(*arguments)


def test_study__of_selected_queries_and_systems(made_store: irmeta.Store, tmp_path: Path):
    choices: Any = {"track": "news", "query": QUERIES, "figures": False}
    of_some = irmeta.studies.search_length(
        made_store, tmp_path / "sl", system="group=alder", **choices
    )
    row = of_some.tables["studied_tracks"].row(0, named=True)
    assert (row["systems"], row["queries"]) == (5, 3)
    with pytest.raises(irmeta.UsageError, match="has results of all systems"):
        irmeta.studies.depth(made_store, tmp_path / "depth", system="aldBM25", **choices)


def test_evaluate_command__folds(run: Callable[..., Any], tmp_path: Path):
    runs = {
        "run": "1 a 1,2 x 1,2 a 2,3 x 1,3 y 2,3 a 3,4 x 1",
        "run2": "1 x 1,1 a 2,2 a 1,3 a 1,4 a 1",
    }
    (tmp_path / "qrels.txt").write_text("".join(f"{query} 0 a 1\n" for query in "1234"))
    for name, rows in runs.items():
        fields = (row.split() for row in rows.split(","))
        lines = (f"{q} Q0 {doc} {rank} {9 - int(rank)} {name}\n" for q, doc, rank in fields)
        (tmp_path / name).write_text("".join(lines))
    files = [tmp_path / "qrels.txt", tmp_path / "run"]
    fold = ("--query", "1", "--query", "2")
    done = run("evaluate", *files, "-m", "AP", *fold, "--out", tmp_path / "fold.parquet")
    assert done.status == 0
    assert pl.read_parquet(tmp_path / "fold.parquet").select("value", "queries").row(0) == (0.75, 2)
    policy = (provenance(tmp_path / "fold.parquet") or {})["eval_policy"]
    assert policy["query"] == ["1", "2"]
    wrong = run("evaluate", *files, "-m", "AP", "--query", "12")
    assert wrong.status == 2
    assert re.search(r"no track judges the query '12'", wrong.err)
    both = run("compare", *files, tmp_path / "run2", "-m", "AP", *fold, "--system", "run2")
    assert both.status == 0
    assert "run2" in both.out


@pytest.mark.parametrize(
    "qrels",
    [
        {"web": "diversity", "news": "binary"},
        ["web=diversity", "news=binary"],
        {"web": "diversity", None: "binary"},
    ],
)
def test_qrels__a_set_for_each_track(made_store: irmeta.Store, qrels: Any):
    asked: Any = {"track": ["news", "web"]}
    found = made_store.evaluate("AP", qrels=qrels, **asked)
    expected = [
        made_store.evaluate("AP", track=track, qrels=name)
        for track, name in (("news", "binary"), ("web", "diversity"))
    ]
    assert_frame_equal(found, pl.concat(expected))
    tracks = made_store.provenance("AP", qrels=qrels, **asked)["tracks"]
    assert {track: facts["qrels"] for track, facts in tracks.items()} == {
        "news": "binary",
        "web": "diversity",
    }


def test_qrels__several_sets_of_one_track(made_store: irmeta.Store):
    found = made_store.evaluate("AP", track=["news", "web"], qrels={"web": "adhoc,diversity"})
    sets = found.select("track", "qrels").unique().sort("track", "qrels").rows()
    assert [name for track, name in sets if track == "web"] == ["adhoc", "diversity"]
    first = made_store.qrels_sets("news")["set"][0]
    assert [name for track, name in sets if track == "news"] == [first]


@pytest.fixture
def segments(tmp_path: Path) -> Path:
    """Two segments of queries of the track news, which share a query, and one of one query."""
    file = tmp_path / "segments.csv"
    rows = [("901", "a"), ("902", "a"), ("903", "a"), ("903", "b"), ("904", "b"), ("905", "c")]
    file.write_text("query,segment\n" + "".join(f"{query},{name}\n" for query, name in rows))
    return file


NOTED = pytest.mark.filterwarnings("ignore::irmeta.errors.SegmentWarning")
OF_SEGMENTS = {"a": ["901", "902", "903"], "b": ["903", "904"]}


@NOTED
def test_segments__means_and_tests_are_those_of_their_queries(
    made_store: irmeta.Store, segments: Path
):
    asked: Any = {"track": "news", "interval": "t"}
    means = made_store.evaluate("AP,ASL", segments=segments, **asked)
    assert means["segment"].unique(maintain_order=True).to_list() == [None, "a", "b"]
    every = means.filter(pl.col("segment").is_null()).drop("segment")
    assert_frame_equal(every, made_store.evaluate("AP,ASL", **asked))
    compared = made_store.compare("AP", track="news", segments=segments, baseline="aldBM25")
    by_segment = {one.pairs.segment: one for one in compared}
    for name, queries in OF_SEGMENTS.items():
        of_segment = means.filter(segment=name).drop("segment")
        assert_frame_equal(of_segment, made_store.evaluate("AP,ASL", query=queries, **asked))
        (alone,) = made_store.compare("AP", track="news", query=queries, baseline="aldBM25")
        assert_frame_equal(by_segment[name].systems, alone.systems)
    assert by_segment["a"].pairs.subject == "AP (segment a) on news"
    assert compared.frame()["segment"].unique().sort().to_list() == [None, "a", "b"]
    assert "segments_sha256" in compared[0].settings


@NOTED
def test_segments__each_must_pass_the_gate(made_store: irmeta.Store, segments: Path):
    compared = irmeta.compare(
        made_store,
        "AP",
        track="news",
        segments=segments,
        baseline="aldBM25",
        system=["aldBM25", "aldDFR"],
    )
    rows = compared.gate(0.05).rows
    drops = {row["segment"]: row["drop"] for row in rows.iter_rows(named=True)}
    values = made_store.evaluate("AP", track="news", per_query=True, system=["aldBM25", "aldDFR"])
    for name, queries in OF_SEGMENTS.items():
        of_segment = values.filter(pl.col("query").is_in(queries))
        means = dict(of_segment.group_by("system").agg(pl.col("value").mean()).iter_rows())
        assert drops[name] == pytest.approx(means["aldBM25"] - means["aldDFR"])
    assert rows["unjudged"].is_null().to_list() == [False, True, True]


@NOTED
@pytest.mark.parametrize(
    "arguments", [("evaluate", "--wide"), ("evaluate",), ("compare", "--baseline", "aldBM25")]
)
def test_segment_option__adds_rows_of_each_segment(
    run: Callable[..., Any], made_store: irmeta.Store, segments: Path, arguments: tuple[str, ...]
):
    command, *options = arguments
    source = (made_store.path, "--track", "news", "-m", "AP", "--segment", segments)
    done = run(command, *source, *options, "--format", "csv")
    assert done.status == 0, done.err
    header, *lines = done.out.splitlines()
    place = header.split(",").index("segment")
    counts = [line.split(",")[place] for line in lines]
    assert [counts.count(name) for name in ("", "a", "b")] == [20, 20, 20]


def test_run_notes__are_of_the_selected_systems(made_store: irmeta.Store):
    (note,) = made_store.run_notes("news", system="cedarFuse")
    assert note.startswith("1 of 1 system has a rank column that contradicts the scores")
    assert made_store.run_notes("news", system="group=alder") == []
    with pytest.raises(irmeta.UsageError, match="Did you mean 'cedarFuse'"):
        made_store.run_notes("news", system="cedarFus")


def test_segments__errors(made_store: irmeta.Store, segments: Path):
    with pytest.raises(irmeta.UsageError, match="`segments` is for means"):
        made_store.evaluate("AP", segments=segments, per_query=True)
    with pytest.raises(irmeta.UsageError, match="omit `segments`"):
        made_store.compare("AP", segments=segments, robust=True)
    with pytest.raises(irmeta.UsageError, match="neither a file nor a column"):
        made_store.evaluate("AP", segments="nosuch.csv")
