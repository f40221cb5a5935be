"""The study of recall-paired preference on small tracks, against naive code and by hand."""

from __future__ import annotations

import html
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import irmeta
from irmeta.errors import IrmetaError
from irmeta.studies.framework.study_results import StudyResults
from irmeta.studies.framework.track_view import TrackView
from irmeta.studies.papers.preference import study as names
from irmeta.studies.papers.preference.orders import ComparedTrack, significant_pairs
from irmeta.studies.papers.preference.study import PreferenceOptions
from support.examples import SHARED_FIXTURE, scaled
from support.making import Track, diverse_tracks, down, tracks
from support.studying import naive_track
from support.undrawn import charts_are_built
from twins import preference_study as naive
from twins import preferences as naive_preferences
from twins import track_means

pytestmark = pytest.mark.usefixtures("undrawn_module")

FEW: dict[str, Any] = {
    "replicates": 3,
    "label_replicates": 2,
    "shares": [0.5],
    "resamples": 50,
}
DELTAS = ("RBP", "AP", "DCG", "RR", "ISL", "TSL", "AvgSL", "RPP")


def studied(track: Track, out: Path, facts: str = "", **choices: Any) -> StudyResults:
    """Run the study with few samples on one track; `facts` is a CSV table of its systems."""
    folder = track.write_with(out, facts) if facts else track.write(out)
    store = irmeta.ingest(folder, out / "store")
    return irmeta.studies.preference(store, out / "results", **FEW, **choices)


def studied_row(results: StudyResults) -> dict[str, Any]:
    return results.tables["studied_tracks"].row(0, named=True)


def relevant_docs(track: Track) -> dict[str, set[str]]:
    """Return the relevant docs of each query that has any."""
    relevant = {q: {d for d, g in docs.items() if g > 0} for q, docs in track.qrels.items()}
    return {query: docs for query, docs in sorted(relevant.items()) if docs}


def lists_of(track: Track) -> list[list[naive.Ranks]]:
    """Return the ranks of the relevant docs by query and system."""
    return [
        [naive.level_ranks(track.ranking(s, query), docs) for s in sorted(track.runs)]
        for query, docs in relevant_docs(track).items()
    ]


def naive_win_rates(track: Track, p: str) -> list[list[float]]:
    """Return the mean preference over the other systems: [query][system]."""
    systems = sorted(track.runs)
    rates = []
    for query in relevant_docs(track):
        rankings = [track.ranking(s, query) or [] for s in systems]
        values = [
            [
                naive_preferences.graded_rpp((own, other), track.qrels[query], p)
                for other in rankings
            ]
            for own in rankings
        ]
        rates.append([math.fsum(row) / (len(systems) - 1) for row in values])
    return rates


RUNS = {
    "a": {"1": down("x", "n1", "y"), "2": down("p", "q")},
    "b": {"1": down("n1", "x", "y"), "2": down("q", "n2", "p")},
    "c": {"1": down("n1", "n2", "y"), "2": down("n1", "p")},
}
QRELS = {"1": {"x": 1, "y": 2, "n1": 0}, "2": {"p": 1, "q": 1, "r": 1}}
TRACK = Track(RUNS, QRELS)


@settings(max_examples=scaled(5), suppress_health_check=SHARED_FIXTURE)
@given(tracks())
def test_preference__any_track_equals_naive_values(
    tmp_path_factory: pytest.TempPathFactory, track: Track
):
    results = studied(track, tmp_path_factory.mktemp("any"))
    tables, lists = results.tables, lists_of(track)
    if len(track.runs) < 2 or not track_means.has_lengths(naive_track(track)):
        assert not studied_row(results)["used"]
        assert tables["orders"].is_empty()
        return
    for p, name in (("uniform", "RPP"), ("dcg", "RPP(p=dcg)"), ("inverse", "RPP(p=inverse)")):
        rates = naive_win_rates(track, p)
        frame = tables["orders"].filter(preference=name).sort("system")
        assert frame["system"].to_list() == sorted(track.runs)
        assert frame["mc4"].to_list() == pytest.approx(naive.mc4_scores(rates), rel=1e-9)
        means = [math.fsum(column) / len(rates) for column in zip(*rates, strict=True)]
        assert frame["win_rate"].to_list() == pytest.approx(means, abs=1e-12)
    compared = naive.level_pairs(lists)
    (row,) = tables["unequal_levels"].iter_rows(named=True)
    assert (row["levels"], row["unequal"], row["neither"]) == (
        len(compared),
        sum(f != g for f, g, _ in compared),
        sum(f == g == math.inf for f, g, _ in compared),
    )
    for discount, delta, share in tables["figure_2"].select("discount", "delta", "share").rows():
        assert share == pytest.approx(naive.share_up_to(lists, discount, delta)), (discount, delta)
    decided = dict(tables["ties"].select("measure", "deciding_levels").iter_rows())
    first = sum(f != g for f, g, i in compared if i == 1)
    assert decided["RR"] == pytest.approx(first / len(compared))


@settings(max_examples=scaled(4), suppress_health_check=SHARED_FIXTURE)
@given(diverse_tracks(), st.sampled_from(("graded", "binary")), st.integers(1, 2))
def test_preference__any_track_with_subtopics_gives_sound_tables(
    tmp_path_factory: pytest.TempPathFactory, track: Track, grades: str, rel: int
):
    judged = [*track.qrels.values()] or [s for q in track.diversity.values() for s in q.values()]
    assume(rel == 1 or max(max(of.values(), default=0) for of in judged) >= rel)  # else an error
    with charts_are_built():
        results = studied(track, tmp_path_factory.mktemp("any"), grades=grades, rel=rel)
    tables = results.tables
    for name in ("table_2", "order_agreement", "label_noise"):
        tau = tables[name]["tau_b"].drop_nans()
        assert ((tau >= -1 - 1e-12) & (tau <= 1 + 1e-12)).all(), name
    for name in ("table_3", "table_4"):
        assert (tables[name]["separated"] <= tables[name]["pairs"]).all()
    points = results.scan("figure_5_points").collect()
    assert (points["preference"].abs() <= 1 + 1e-12).all()
    if studied_row(results)["used"] and tables["table_1"]["subtopic_qrels"].item():
        assert "STRPP" in str(tables["orders"]["preference"].to_list())


def test_preference__figure_4_equals_the_formulas(tmp_path: Path):
    choices = {"system_a": "b", "system_b": "c", "query": "2"}
    tables = studied(TRACK, tmp_path, **choices).tables
    rows = tables["figure_4"].rows(named=True)
    assert [(r["level"], r["rank_a"], r["rank_b"]) for r in rows] == [
        (1, 1, 2), (2, 3, None), (3, None, None),
    ]  # fmt: skip
    assert [r["precision_a"] for r in rows] == pytest.approx([1, 2 / 3, 0])
    corpus = len({"p", "q", "r", "n1", "n2"})  # retrieved by any system, or relevant
    f, g = [1.0, 3.0, math.inf], [2.0, math.inf, math.inf]
    for measure in DELTAS:
        frame = tables["figure_4_deltas"].filter(measure=measure)
        expected = [
            naive.contribution(measure, i, 3, *pair, corpus)
            for i, pair in enumerate(zip(f, g, strict=True), 1)
        ]
        assert frame["delta"].to_list() == pytest.approx(expected), measure
        total = sum(map(abs, expected))
        scaled = [value / total if total else 0.0 for value in expected]
        assert frame["scaled"].to_list() == pytest.approx(scaled), measure


@pytest.mark.parametrize(
    ("choice", "absent"),
    [
        ({"system_a": "z"}, "the track has no z"),
        ({"figure_query": "9"}, "no query 9 with a relevant doc"),
    ],
)
def test_preference__figure_4_is_absent_from_a_track_without_its_system_or_query(
    choice: dict[str, str], absent: str, tmp_path: Path
):
    lists = {"9": down("a", "b")}
    Track({"y": lists, "z": lists}, {"9": {"a": 1}}, "u").write(tmp_path)
    results = studied(TRACK, tmp_path, **choice)
    assert results.tables["figure_4"].filter(track="t").is_empty()
    assert absent in studied_row(results)["notes"]
    assert "(Figure 4, left): absent on t" in (tmp_path / "results" / "report.html").read_text()


def test_preference__figure_4_has_the_best_and_the_median_system(tmp_path: Path):
    frame = studied(TRACK, tmp_path).tables["figure_4"]
    assert frame.select("system_a", "system_b", "query").unique().row(0) == ("a", "b", "2")


def test_preference__one_system_is_left_out(tmp_path: Path):
    results = studied(Track({"a": RUNS["a"]}, QRELS), tmp_path)
    assert studied_row(results)["left_out"] == "one system, so none to compare it with"
    assert results.tables["table_1"]["runs"].to_list() == [1]
    assert results.tables["table_2_mean"].is_empty()


def test_preference__lists_of_relevant_docs_only_are_left_out(tmp_path: Path):
    """Ten of eleven levels that a list reaches have equal ranks, as on the track legaldiv."""
    docs = [f"d{i}" for i in range(12)]
    runs = {
        name: {"1": down(*docs[start:end])} for name, start, end in (("a", 0, 11), ("b", 1, 11))
    }
    two = Track(RUNS, QRELS, name="two")
    for track in (Track(runs, {"1": dict.fromkeys(docs, 1)}), two):
        track.write(tmp_path)
    store = irmeta.ingest(tmp_path, tmp_path / "store")
    results = irmeta.studies.preference(store, tmp_path / "results", **FEW)
    left_out = dict(results.tables["studied_tracks"].select("track", "left_out").iter_rows())
    assert left_out == {
        "t": "2 of 2 lists hold no doc that is not relevant, so preferences mean little here: the "
        "ranks of two lists differ at 9.1% of the recall levels that a list reaches",
        "two": None,
    }
    assert results.tables["orders"]["track"].unique().to_list() == ["two"]
    assert results.tables["table_2_mean"]["tracks"].max() == 1
    page = (tmp_path / "results" / "report.html").read_text()
    assert "t is left out: 2 of 2 lists hold no doc that is not relevant" in page


def test_preference__no_relevant_doc_is_left_out(tmp_path: Path):
    results = studied(Track(RUNS, {"1": {"x": 0}}), tmp_path)
    assert studied_row(results)["left_out"] == "no query has a relevant doc"


def test_preference__equal_systems_tie_everywhere(tmp_path: Path):
    tables = studied(Track({"a": RUNS["a"], "b": RUNS["a"]}, QRELS), tmp_path).tables
    assert tables["table_2"]["tau_b"].is_nan().all()
    assert tables["ties"]["tied"].to_list() == [1.0] * 9
    assert tables["orders"]["rank_mc4"].to_list() == [1] * 6
    assert tables["table_3"]["separated"].to_list() == [0] * 6
    assert tables["figure_4_deltas"]["scaled"].to_list() == [0.0] * 24
    (row,) = tables["unequal_levels"].iter_rows(named=True)
    assert (row["unequal"], row["share"]) == (0, 0.0)
    assert tables["figure_6"]["mean"].is_nan().all()


def test_preference__majority_of_all_or_of_decided_queries(tmp_path: Path):
    """System a is better on one of three queries, and ties with b on the others."""
    runs = {"a": {q: down("x", "n") for q in "123"}, "b": {q: down("x", "n") for q in "12"}}
    runs["b"]["3"] = down("n", "x")
    track = Track(runs, {q: {"x": 1, "y": 1} for q in "123"})
    found = {
        majority: studied(track, tmp_path / majority, majority=majority).tables
        for majority in ("queries", "decided")
    }
    for majority, ranks in (("queries", [1, 1]), ("decided", [1, 2])):
        orders = found[majority]["orders"].filter(preference="RPP").sort("system")
        for name in ("rank_mc4", "rank_mc4_rounds"):
            assert orders[name].to_list() == ranks, majority
        agreed = found[majority]["order_agreement"].filter(preference="RPP", rule="borda")
        assert agreed["limit_zeros"].to_list() == [ranks.count(2)]
        for figure in ("figure_6", "figure_7"):  # without an order there is no correlation
            rows = found[majority][figure].filter(measure="RPP")
            assert (rows["replicates"].sum() > 0) == (ranks == [1, 2]), (majority, figure)


def test_preference__one_query_has_no_t_test(tmp_path: Path):
    runs = {name: {"1": lists["1"]} for name, lists in RUNS.items()}
    tables = studied(Track(runs, {"1": QRELS["1"]}), tmp_path).tables
    assert tables["table_4"]["percent"].is_nan().all()
    assert not tables["table_3"]["percent"].is_nan().any()
    assert tables["figure_6"]["queries"].unique().to_list() == [1]
    rpp = tables["figure_6"].filter(measure="RPP")
    assert rpp.select("mean", "replicates").row(0) == (1.0, 3)


def test_preference__run_without_lists_is_last(tmp_path: Path):
    runs = {**RUNS, "d": {"1": down("n3")}}  # no list on query 2
    frame = studied(Track(runs, QRELS), tmp_path).tables["orders"]
    assert frame.filter(system="d")["rank_mc4"].to_list() == [4] * 3


def test_preference__no_subtopics_are_noted(tmp_path: Path):
    results = studied(TRACK, tmp_path)
    assert studied_row(results)["notes"] == "no qrels set has subtopics, so STRPP is absent"
    assert results.tables["table_2"]["part"].unique().to_list() == ["single"]
    assert "No subtopics, so no STRPP: t." in (tmp_path / "results" / "report.html").read_text()


def test_preference__queries_retrieved_is_an_error(tmp_path: Path):
    with pytest.raises(IrmetaError, match="queries=retrieved differs between systems"):
        studied(TRACK, tmp_path, queries="retrieved")


def test_preference__results_do_not_depend_on_workers_or_blocks(tmp_path: Path):
    folder = TRACK.write(tmp_path)
    store = irmeta.ingest(folder, tmp_path / "store")
    made = [
        irmeta.studies.preference(store, tmp_path / f"out{n}", workers=n, **FEW).tables
        for n in (1, 2)
    ]
    for name, frame in made[0].items():
        assert frame.equals(made[1][name]), name


def test_preference__values_are_the_same_beside_other_tracks(two_tracks: Path, tmp_path: Path):
    store = irmeta.ingest(two_tracks, tmp_path / "store")
    both = irmeta.studies.preference(store, tmp_path / "both", **FEW)
    first = both.tables["studied_tracks"]["track"][0]
    alone = irmeta.studies.preference(store, tmp_path / "one", track=first, **FEW)
    for name in ("orders", "table_3", "figure_5", "figure_6", "figure_7"):
        assert both.tables[name].filter(track=first).equals(alone.tables[name]), name


def test_figure_2__small_differences_are_not_zero(tmp_path: Path):
    noise = [f"n{i}" for i in range(60)]
    runs = {"a": {"1": down(*noise[:59], "x")}, "b": {"1": down(*noise, "x")}}
    frame = studied(Track(runs, {"1": {"x": 1}}), tmp_path).tables["figure_2"]
    for discount in ("RBP", "DCG"):
        shares = dict(frame.filter(discount=discount).select("delta", "share").iter_rows())
        assert [shares[delta] for delta in (-0.05, 0.0, 0.05)] == [0.0, 0.5, 1.0]


def test_figure_7__pool_removes_the_least_retrieved_docs(tmp_path: Path):
    runs = {
        "a": {"1": down("y", "n", "x"), "2": down("p", "q"), "3": down("n", "m", "r")},
        "b": {"1": down("x", "n"), "2": down("n", "q", "p"), "3": down("r")},
        "c": {"1": down("n", "x"), "2": down("p"), "3": down("m", "r")},
    }
    whole = Track(runs, {"1": {"x": 1, "y": 1}, "2": {"p": 1, "q": 1}, "3": {"r": 1}})
    kept = Track(runs, {"1": {"x": 1}, "2": {"p": 1}, "3": {"r": 1}})
    frame = studied(whole, tmp_path).tables["figure_7"].filter(labels="pool")
    for p, name in (("uniform", "RPP"), ("dcg", "RPP(p=dcg)")):
        orders = [naive.mc4_scores(naive_win_rates(track, p)) for track in (whole, kept)]
        (row,) = frame.filter(measure=name).iter_rows(named=True)
        expected = naive.tau_b(*orders)
        assert not math.isnan(expected)
        assert row["mean"] == pytest.approx(expected)
        assert (row["removed"], row["replicates"], row["undefined"]) == (0.5, 1, 0)


def test_sections__state_other_choices(tmp_path: Path):
    studied(TRACK, tmp_path, on="win-rate", grades="binary", rel=2, majority="decided")
    page = html.unescape((tmp_path / "results" / "report.html").read_text())
    for text in (
        "if more queries rank that one higher than lower, ties aside (majority=decided)",
        "The tests are of the differences of win rates",
        "Relevant is grade 2 or above, and all relevant grades are equal. Lower grades",
        "nDCG(gain=binary,rel=2)",
    ):
        assert text in page, text


def test_opponents__clones_leave_other_groups_alone(tmp_path: Path):
    def rates(name: str, runs: dict[str, Any]) -> dict[str, float]:
        out = tmp_path / name
        out.mkdir()
        facts = "run,group\n" + "".join(f"{run},{run[0]}\n" for run in runs)
        frame = studied(Track(runs, QRELS), out, facts).tables["opponents"]
        return dict(frame.select("system", "win_rate_groups").iter_rows())

    before = rates("before", RUNS)
    after = rates("after", {**RUNS, "a2": RUNS["a"], "a3": RUNS["a"]})
    assert {s: after[s] for s in ("b", "c")} == pytest.approx({s: before[s] for s in ("b", "c")})


def test_label_noise__turned_pairs_by_hand(tmp_path: Path):
    qrels = {"1": {"x": 1}}
    track = Track({s: {"1": RUNS[s]["1"]} for s in "ab"}, qrels)
    folder = track.write_with(tmp_path, first=qrels, second={"1": {"n1": 1}})
    store = irmeta.ingest(folder, tmp_path / "store")
    frame = irmeta.studies.preference(store, tmp_path / "results", **FEW).tables["label_noise"]
    assert frame["qrels"].unique().to_list() == ["second"]
    assert frame.select("tau_b", "pairs", "turned", "share").unique().rows() == [(-1.0, 1, 1, 1.0)]


def test_label_noise__both_orders_are_by_the_queries_of_both_sets(tmp_path: Path):
    first, last = down("x", "n1"), down("n1", "x")  # a leads on two queries, b on the third
    runs = {
        "a": {"1": first, "2": first, "3": last},
        "b": {"1": last, "2": last, "3": first},
    }
    qrels = {q: {"x": 1} for q in "123"}
    folder = Track(runs, qrels).write_with(tmp_path, first=qrels, second={"3": {"x": 1}})
    store = irmeta.ingest(folder, tmp_path / "store")
    frame = irmeta.studies.preference(store, tmp_path / "results", **FEW).tables["label_noise"]
    assert frame.select("queries", "tau_b", "turned").unique().rows() == [(1, 1.0, 0)]


def test_table_2__both_orders_are_by_the_queries_where_both_are_defined(tmp_path: Path):
    first, last = down("x", *(f"n{i}" for i in range(30))), down(*(f"n{i}" for i in range(30)), "x")
    runs = {
        "a": {"1": first, "2": first, "3": last},
        "b": {"1": last, "2": last, "3": first},
    }
    grades = {"1": 1, "2": 1, "3": 2}  # by rel=2 only the third query has a preference
    track = Track(
        runs,
        {q: {"x": grade, "n1": 0} for q, grade in grades.items()},
        diversity={q: {"s": {"x": grade}} for q, grade in grades.items()},
    )
    frame = studied(track, tmp_path, rel=2).tables["table_2"].filter(part="subtopic", order="mc4")
    of_both = frame.filter(measure_a="STRPP(rel=2)", measure_b="AP_IA")
    assert of_both.select("queries", "tau_b").rows() == [(1, 1.0)]
    of_measures = frame.filter(measure_a="AP_IA", measure_b="ERR_IA@20")
    assert of_measures.select("queries", "tau_b").rows() == [(3, 1.0)]


def test_figure_5__points_are_drawn_without_repetition(tmp_path: Path):
    results = studied(TRACK, tmp_path)
    points = results.scan("figure_5_points").collect().filter(measure="AP")
    assert points["point"].to_list() == [1, 2, 3, 4, 5, 6]  # 3 pairs x 2 queries
    pairs = {
        (q, *sorted((a, b))) for q, a, b in points.select("query", "system_a", "system_b").rows()
    }
    assert len(pairs) == 6
    for query, a, b, value in points.select("query", "system_a", "system_b", "preference").rows():
        lists = TRACK.ranking(a, query) or [], TRACK.ranking(b, query) or []
        expected = naive_preferences.graded_rpp(lists, QRELS[query])
        assert value == pytest.approx(expected)


def test_measures_by_subtopic__are_in_tables_2_to_4(
    made_store: irmeta.Store, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(names, "SUBTOPIC_MEASURES", ("P@5",))
    options = PreferenceOptions(**FEW)
    compared = ComparedTrack.of(TrackView(made_store.track("web"), options), options)
    rows = list(significant_pairs(compared, options, "table_4", None))
    assert [r["measure"] for r in rows if r["part"] == "subtopic"][-1] == "P@5"
    news = ComparedTrack.of(TrackView(made_store.track("news"), options), options)
    assert "P@5" not in news.scores.measures
