"""`SearchLengths`, compared with counts over `Store.per_doc.search_lengths`."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import vl_convert
from polars.testing import assert_frame_equal

import irmeta
from irmeta.api import per_doc
from irmeta.api.per_doc import SearchLengths
from irmeta.errors import UsageError
from irmeta.report import figures
from irmeta.report.theme import to_spec
from support.making import ALIKE, Track, down

HAND = Track(
    {
        "d": {"q": down("n1", "n2", "n3", "n4", "n5")},
        "c": {"q": down("x", "n1", "n2", "n3", "y")},
        "b": {"q": down("x", "n1", "n2", "n3", "y")},
        "a": {"q": down("n1", "x", "y")},
    },
    {"q": {"x": 2, "y": 1, "z": 1, "n1": 0}, "none": {"n1": 0}},
)
TRACKS = ["news", "passage", "web"]


@pytest.fixture(scope="module")
def hand(tmp_path_factory: pytest.TempPathFactory) -> SearchLengths:
    return SearchLengths(HAND.ingest(tmp_path_factory.mktemp("hand")))


@pytest.fixture(scope="module", params=TRACKS)
def found(request: pytest.FixtureRequest, made_store: irmeta.Store) -> SearchLengths:
    return SearchLengths(made_store, request.param)


@pytest.fixture(scope="module")
def plain(found: SearchLengths, made_store: irmeta.Store) -> pl.DataFrame:
    return made_store.per_doc.search_lengths(found.track).drop("track", "weight")


def between(low: int | None, high: int | None) -> pl.Expr:
    """Return a filter for the docs of a bucket in `Store.per_doc.search_lengths`."""
    if low is None or high is None:
        return pl.col("rank").is_null()
    return pl.col("rank").is_not_null() & pl.col("search_length").is_between(low, high)


def test_systems__means_equal_up_to_rounding_share_a_rank():
    systems = SearchLengths(ALIKE.read()).systems
    assert systems["ASL"].n_unique() == 3
    assert systems.select("rank", "system").rows() == [(1, "a"), (1, "b"), (3, "c")]


def test_systems__sorted_by_asl(hand: SearchLengths):
    assert hand.systems.rows() == [
        (1, "a", 5 / 3, 1 / 3),
        (2, "b", 8 / 3, 1 / 3),
        (2, "c", 8 / 3, 1 / 3),
        (4, "d", 5.0, 1.0),
    ]
    assert (hand.best, hand.median) == ("a", "b")
    first = repr(hand).splitlines()[0]
    assert first == "SearchLengths(t: 4 systems, 3 relevant docs, unretrieved=irrel)"


def test_histogram__buckets_by_hand(hand: SearchLengths):
    assert hand.histogram(buckets="log").select("low", "high", "docs").rows() == [
        *((1, 1, 0), (2, 4, 2), (None, None, 1)),
    ]
    assert hand.histogram("b", "log")["docs"].to_list() == [1, 1, 1]
    assert hand.histogram("c").rows() == [
        *(("t", "c", 1, 1, 1), ("t", "c", 2, 2, 0), ("t", "c", 3, 3, 0), ("t", "c", 4, 4, 1)),
        ("t", "c", None, None, 1),
    ]
    assert hand.docs("b", 2, 4).rows() == [("q", "y", 1, 5, 4.0)]
    assert hand.docs("a", 1).rows() == [("q", "x", 2, 2, 2.0), ("q", "y", 1, 3, 2.0)]
    assert hand.docs().rows() == [("q", "z", 1, None, 1.0)]


def test_compared__two_systems_by_hand(hand: SearchLengths):
    assert hand.compared().rows() == [
        ("q", "x", 2, 2, 1, 2.0, 1.0, 1.0),
        ("q", "y", 1, 3, 5, 2.0, 4.0, -2.0),
        ("q", "z", 1, None, None, 1.0, 3.0, -2.0),
    ]
    assert hand.differences().select("low", "retrieved", "docs").rows() == [
        *((-2, "both", 1), (-2, "neither", 1), (-1, "both", 0)),
        *((0, "both", 0), (1, "both", 1), (2, "both", 0)),
    ]
    assert hand.differences(buckets="log").rows() == [
        *((-4, -2, "both", 1), (-4, -2, "neither", 1), (-1, -1, "both", 0)),
        *((0, 0, "both", 0), (1, 1, "both", 1), (2, 4, "both", 0)),
    ]
    assert hand.differences("b", "c").rows() == [(0, 0, "both", 2), (0, 0, "neither", 1)]
    assert hand.differences(b="c").equals(hand.differences("a", "b"))
    assert hand.docs_between(-4, -2)["doc"].to_list() == ["y", "z"]
    assert hand.docs_between(-4, -2, "b", "a").is_empty()
    assert hand.ranks("q", "x").rows() == [
        ("b", 1, 1.0),
        ("c", 1, 1.0),
        ("a", 2, 2.0),
        (*"d", None, 5.0),
    ]


def test_systems__ranks_follow_store_means(found: SearchLengths, made_store: irmeta.Store):
    means = made_store.means("ASL", track=found.track).sort("value", "system")
    assert found.systems["system"].to_list() == means["system"].to_list()
    assert found.systems["ASL"].to_list() == means["value"].to_list()
    assert found.best == means["system"][0]
    assert found.median == means["system"][(means.height + 1) // 2 - 1]


def test_systems__share_of_unretrieved_docs(found: SearchLengths, plain: pl.DataFrame):
    counted = plain.group_by("system").agg(not_retrieved=pl.col("rank").is_null().mean())
    ours = found.systems.select("system", "not_retrieved")
    assert_frame_equal(ours, counted, check_row_order=False)
    assert ours["not_retrieved"].max() > 0


@pytest.mark.one_in(3)
@pytest.mark.parametrize("buckets", ["log", "linear"])
def test_histogram__counts_equal_docs_of_each_bucket(
    found: SearchLengths, plain: pl.DataFrame, buckets: str
):
    for system in found.systems["system"]:
        own = plain.filter(pl.col("system") == system).drop("system")
        bars = found.histogram(system, buckets)
        assert bars["docs"].sum() == own.height
        for low, high, docs in bars.select("low", "high", "docs").iter_rows():
            behind = own.filter(between(low, high)).sort("search_length", maintain_order=True)
            assert docs == behind.height
            assert_frame_equal(found.docs(system, low, high), behind)


def test_histogram__linear_buckets_have_equal_width(found: SearchLengths):
    bars = found.histogram(buckets="linear").drop_nulls()
    assert (bars["high"] - bars["low"]).n_unique() == 1
    assert bars.height <= 20
    all_systems = found.systems["system"]
    deepest = [found.histogram(s, "linear").drop_nulls()["docs"][-1] for s in all_systems]
    assert max(deepest) > 0


def test_differences__counts_equal_docs_of_each_bucket(found: SearchLengths, plain: pl.DataFrame):
    a, b = found.best, found.systems["system"][-1]
    first, second = (plain.filter(pl.col("system") == s).drop("system") for s in (a, b))
    both = first.join(second.drop("grade"), on=["query", "doc"], suffix="_b")
    joined = both.sort("query", "doc").select(
        "query",
        "doc",
        "grade",
        pl.col("rank").alias("rank_a"),
        "rank_b",
        pl.col("search_length").alias("length_a"),
        pl.col("search_length_b").alias("length_b"),
        (pl.col("search_length") - pl.col("search_length_b")).alias("difference"),
    )
    assert_frame_equal(found.compared(a, b), joined)
    total = 0
    retrieved = {
        (True, True): "both", (True, False): "first", (False, True): "second",
        (False, False): "neither",
    }  # fmt: skip
    for (low, high), bars in found.differences(a, b).group_by("low", "high", maintain_order=True):
        inside = joined.filter(pl.col("difference").is_between(low, high))
        ranks = inside.select("rank_a", "rank_b").iter_rows()
        counted = Counter(retrieved[a is not None, b is not None] for a, b in ranks)
        assert dict(bars.select("retrieved", "docs").iter_rows()) == (counted or {"both": 0})
        inside = inside.sort("difference", "query", "doc")
        assert_frame_equal(found.docs_between(low, high, a, b), inside)
        total += inside.height
    assert total == joined.height


def test_ranks__shows_a_doc_in_every_system(found: SearchLengths, plain: pl.DataFrame):
    for query, doc in plain.select("query", "doc").unique().sort("query", "doc")[::97].iter_rows():
        own = plain.filter(pl.col("query") == query, pl.col("doc") == doc)
        own = own.select("system", "rank", "search_length").sort("rank", "system", nulls_last=True)
        assert_frame_equal(found.ranks(query, doc), own)


@pytest.mark.parametrize(
    "choices", [{"unretrieved": "depth"}, {"unretrieved": "irrel+1", "rel": 2}, {"rel": 3}]
)
def test_search_lengths__options_equal_store(made_store: irmeta.Store, choices: dict[str, Any]):
    found = SearchLengths(made_store, "passage", **choices)
    lengths = made_store.per_doc.search_lengths("passage", **choices)
    own = lengths.filter(pl.col("system") == found.best).sort("search_length", maintain_order=True)
    assert found.histogram()["docs"].sum() == own.height
    assert_frame_equal(
        pl.concat([found.docs(low=0), found.docs()]),
        own.drop("track", "system", "weight"),
        check_row_order=False,
    )


@pytest.mark.parametrize("by", [None, "grade", "query"])
def test_shares__of_the_docs_retrieved_within_a_search_length(made_store: irmeta.Store, by: Any):
    found = SearchLengths(made_store, "web", unretrieved="depth")
    shares = found.shares("ibisMan", by)
    docs = made_store.per_doc.search_lengths("web", system="ibisMan")
    assert shares["search_length"].min() == 1
    assert shares.select("search_length", *([by] if by else [])).is_unique().all()
    for row in shares.iter_rows(named=True):
        every = docs.filter(pl.col(by) == row[by]) if by else docs
        within = every.drop_nulls("rank").filter(pl.col("search_length") <= row["search_length"])
        assert (row["docs"], row["share"]) == (every.height, within.height / every.height)
    if by is None:
        missed = found.systems.filter(system="ibisMan")["not_retrieved"][0]
        assert shares["share"][-1] == pytest.approx(1 - missed)


def plotted(chart: Any) -> tuple[list[str], list[dict[str, Any]]]:
    """Return the headings of the panes of a chart, and the rows of its data."""
    spec = to_spec(chart)
    rows = [row for name, rows in spec["datasets"].items() if name[:4] == "rows" for row in rows]
    return [pane["title"]["text"] for pane in spec["concat"]], rows


@pytest.mark.parametrize("buckets", ["linear", "log"])
def test_plot__search_lengths_of_the_best_system_on_every_track(
    made_store: irmeta.Store, buckets: Any
):
    chart = made_store.plot.search_lengths(buckets=buckets, unretrieved="depth")
    headings, rows = plotted(chart)
    for letter, track, heading in zip("abc", made_store.tracks, headings, strict=True):
        lengths = SearchLengths(made_store, track, unretrieved="depth")
        assert heading == f"({letter}) {track}: {lengths.best}"
        expected = lengths.histogram(buckets=buckets)
        drawn = [(row["low"], row["docs"]) for row in rows if row["pane"] == track]
        assert drawn == expected.select("low", "docs").rows()
        share = sum(row["share"] for row in rows if row["pane"] == track)
        assert share == pytest.approx(1)


def test_plot__search_lengths_of_systems_grades_and_queries_as_curves(made_store: irmeta.Store):
    plot = made_store.plot.search_lengths
    systems = ["aldBM25", "aldDFR"]
    headings, rows = plotted(plot(systems, track="news"))
    assert headings == ["news"]
    assert {row["name"] for row in rows} == {*systems}
    best = SearchLengths(made_store, "web").best
    headings, rows = plotted(plot(by="grade", track="web"))
    assert headings == [f"web: {best}"]
    assert {row["name"] for row in rows} == {f"grade {grade}" for grade in range(1, 5)}
    headings, rows = plotted(plot(by="query", track=["news", "web"]))
    assert len(headings) == 2
    assert any("median" in row for row in rows), "more than twelve queries"


@pytest.mark.parametrize(
    ("system", "options", "message"),
    [
        (["aldBM25", "aldDFR"], {"by": "grade"}, "splits the docs of one system"),
        (["aldBM25", "aldDFR"], {"buckets": "log"}, "has no effect on curves"),
        (None, {"by": "grad"}, "Did you mean 'grade'"),
        ("aldBM25", {"baseline": "aldDFR", "by": "query"}, "two systems on one track"),
        ("aldBM25", {"baseline": "aldDFR", "track": None}, "two systems on one track"),
        ([], {}, "no system was given"),
        (["aldBM25", "aldDF"], {}, "Did you mean 'aldDFR'"),
    ],
)
def test_plot__options_of_search_lengths_without_effect_are_refused(
    made_store: irmeta.Store, system: Any, options: dict[str, Any], message: str
):
    with pytest.raises(UsageError, match=message):
        made_store.plot.search_lengths(system, **{"track": "news"} | options)


def test_search_lengths__policy_equals_store_means(made_store: irmeta.Store):
    found = SearchLengths(made_store, "web", queries="retrieved", tie_order="file")
    means = made_store.means("ASL", track="web", queries="retrieved", tie_order="file")
    assert_frame_equal(
        found.systems.select("system", value="ASL"),
        means.select("system", "value"),
        check_row_order=False,
    )


@pytest.mark.exhaustive
def test_show__charts_have_track_and_system_titles(found: SearchLengths):
    for chart, title in (
        (found.show(), f"{found.track}: {found.best}"),
        (found.show(found.median, "linear"), f"{found.track}: {found.median}"),
        (found.show_differences(), found.track),
    ):
        assert title in vl_convert.vegalite_to_svg(chart.to_dict())


def drawn(chart: Any, **parameters: object) -> list[str]:
    """Return the texts of a chart after setting some of its parameters."""
    spec = chart.to_dict()
    for parameter in spec["params"]:
        parameter["value"] = parameters.get(parameter["name"], parameter["value"])
    svg = vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg)


def bars_of(chart: Any) -> list[dict[str, Any]]:
    (bars,) = chart.to_dict()["datasets"].values()
    return bars


@pytest.mark.exhaustive
def test_browse__selected_bar_lists_its_docs(found: SearchLengths):
    chart = found.browse()
    other = found.median
    for system, low, high in ((found.best, 2, 4), (other, 2, 4), (other, None, None)):
        name = "not retrieved" if low is None else "2–4"
        texts = drawn(chart, system=system, bar=[{"bucket": name}])
        at = texts.index("query")
        behind = found.docs(system, low, high)
        shown = [text for text in texts[at:] if text in set(behind["doc"])]
        assert shown == behind["doc"].to_list()[:20] != []
    assert set(drawn(chart)) >= {"query", "grade", "rank", "doc"}


@pytest.mark.exhaustive
def test_browse__counts_equal_histogram(found: SearchLengths):
    bars = bars_of(found.browse())
    for system in found.systems["system"]:
        counted = [bar["docs"] for bar in bars if bar["system"] == system]
        assert sorted(counted) == sorted(d for d in found.histogram(system, "log")["docs"] if d)
    assert all(len(bar["shown"]) == 1 + min(20, bar["docs"]) for bar in bars)


@pytest.mark.exhaustive
def test_browse__subtitle_names_omitted_docs_and_systems(
    hand: SearchLengths, made_store: irmeta.Store, monkeypatch: pytest.MonkeyPatch
):
    subtitle = hand.browse().to_dict()["title"]["subtitle"]
    assert len(subtitle) == 1  # nothing is left out
    found = SearchLengths(made_store, "news")
    assert "first 20 docs by search length" in found.browse().to_dict()["title"]["subtitle"][1]
    monkeypatch.setattr(figures, "MOST_BYTES", 100_000)
    monkeypatch.setattr(per_doc, "BROWSED_SYSTEMS", 5)
    last = found.systems["system"][-1]
    chart = found.browse(last)
    said = chart.to_dict()["title"]["subtitle"]
    assert "6 of 20 systems" in said[2]
    assert {bar["system"] for bar in bars_of(chart)} == {*found.systems["system"][:5], last}
    monkeypatch.setattr(per_doc, "BROWSED_SYSTEMS", 200)
    chart = found.browse()
    most = max(len(bar["shown"]) for bar in bars_of(chart)) - 1
    assert most < 20
    assert f"first {most} docs" in chart.to_dict()["title"]["subtitle"][1]
    assert len(json.dumps(bars_of(chart))) <= 100_000


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda s: SearchLengths(s), "specify a track of .*: news, passage, web"),
        (lambda s: SearchLengths(s, "newz"), "has no track 'newz'. Did you mean 'news'"),
        (lambda s: SearchLengths(s, "news", unretrieved="flor"), "Did you mean 'floor'"),
        (lambda s: SearchLengths(s, "news", rel=0), "rel = 0 is not a finite number above 0"),
        (lambda s: SearchLengths(s, "news", rel=9), "'news' has no doc of grade 9 or more"),
        (lambda s: SearchLengths(s, "news", qrels="adhoc"), "no qrels set 'adhoc'"),
    ],
)
def test_search_lengths__unknown_track_or_option_is_refused(
    made_store: irmeta.Store, call, said: str
):
    with pytest.raises(UsageError, match=said):
        call(made_store)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda f: f.histogram("A"), "no system 'A' in t. Did you mean 'a'"),
        (lambda f: f.browse("e"), "no system 'e' in t. Known: a, b, c, d"),
        (lambda f: f.differences("a", "e"), "no system 'e'"),
        (lambda f: f.show(buckets="lin"), "buckets = 'lin' is not a choice. Did you mean 'linear'"),
        (lambda f: f.differences(buckets="lin"), "buckets = 'lin' is not a choice"),
        (lambda f: f.docs(high=3), "low = None, high = 3 are not the bounds of a bucket"),
        (lambda f: f.docs("a", 5, 3), "low = 5, high = 3"),
        (lambda f: f.docs_between(1, -1), "low = 1, high = -1"),
        (lambda f: f.ranks("none", "n1"), "no query 'none' has a relevant doc in t. Known: q"),
        (lambda f: f.ranks(1, "x"), "no query 1 has"),
        (lambda f: f.ranks("q", "n1"), "'n1' is no relevant doc of query q. Known: x, y, z"),
    ],
)
def test_search_lengths__unknown_system_query_or_doc_is_refused(
    hand: SearchLengths, call, said: str
):
    with pytest.raises(UsageError, match=re.escape(said)):
        call(hand)


@pytest.mark.exhaustive
def test_search_lengths__single_system_is_best_and_median(tmp_path: Path):
    found = SearchLengths(Track({"d": HAND.runs["d"]}, HAND.qrels).ingest(tmp_path))
    assert (found.best, found.median) == ("d", "d")
    for buckets in per_doc.BUCKETS:
        assert found.histogram(buckets=buckets).rows() == [
            *(("t", "d", 1, 1, 0), ("t", "d", None, None, 3)),
        ]
    assert found.docs(low=1).is_empty()
    assert found.differences().rows() == [(0, 0, "neither", 3)]
    assert "z" in drawn(found.browse(), bar=[{"bucket": "not retrieved"}])
    assert "z" not in drawn(found.browse(), bar=[{"bucket": "1"}])


def test_search_lengths__accepts_the_folder_of_a_store(made_store: irmeta.Store):
    assert SearchLengths(made_store.path, "web").best == SearchLengths(made_store, "web").best


def test_search_lengths__warns_of_lists_without_nonrelevant_docs(tmp_path: Path):
    track = Track({"a": {"q": down("x", "y")}, "b": {"q": down("y")}}, {"q": {"x": 1, "y": 1}})
    with pytest.warns(UserWarning, match="2 of 2 lists of .* search lengths are meaningless there"):
        SearchLengths(track.ingest(tmp_path))
