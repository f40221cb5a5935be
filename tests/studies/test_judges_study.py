"""The study of judges on small tracks: edge cases, options and the page."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import irmeta
from irmeta.errors import IrmetaError, UsageError
from irmeta.studies.framework.study_results import StudyResults
from irmeta.studies.original.judges.verdicts import limits_text
from support.making import Track

pytestmark = pytest.mark.usefixtures("undrawn")

FEW: dict[str, Any] = {"resamples": 50, "splits": 20, "draws": 99}
Labels = dict[str, dict[str, float]]


def lists(seed: int = 0, systems: int = 6, queries: int = 8) -> tuple[Labels, dict[str, Labels]]:
    """Return people's labels of 20 docs a query, and systems that find the relevant ones."""
    rng = np.random.default_rng(seed)
    qrels = {f"q{q}": {f"d{d}": int(rng.integers(0, 4)) for d in range(20)} for q in range(queries)}
    runs = {
        f"s{s}": {
            q: {d: float(g * s / systems + rng.normal()) for d, g in docs.items()}
            for q, docs in qrels.items()
        }
        for s in range(systems)
    }
    return qrels, runs


HUMAN, RUNS = lists()


def judged_by(change: Any, labels: Labels = HUMAN) -> Labels:
    return {q: {d: change(g) for d, g in docs.items()} for q, docs in labels.items()}


LENIENT = judged_by(lambda g: min(g + 1, 3))


def qrels_text(labels: Labels) -> str:
    return "".join(f"{q} 0 {d} {g}\n" for q, docs in labels.items() for d, g in docs.items())


def track_of(labels: Labels, runs: dict[str, Labels], name: str = "t") -> Track:
    lists = {s: {q: [*docs.items()] for q, docs in of.items()} for s, of in runs.items()}
    return Track(lists, labels, name)


def studied(out: Path, sets: dict[str, Labels], **choices: Any) -> StudyResults:
    store = irmeta.from_data({"human": HUMAN, **sets}, RUNS)
    return irmeta.studies.judges(store, out, **FEW, **choices)


def only(results: StudyResults, table: str, **key: Any) -> dict[str, Any]:
    (row,) = results.tables[table].filter(**key).to_dicts()
    return row


def test_judge__equal_to_the_reference_keeps_everything(tmp_path: Path):
    results = studied(tmp_path, {"same": HUMAN})
    boards = results.tables["leaderboards"]
    for name in ("tau_b", "tau_ap", "tau_ap_judge", "spearman", "tau_b_low", "tau_b_high"):
        assert boards[name].to_list() == pytest.approx([1.0] * boards.height), name
    assert boards["same_best"].all()
    assert boards["common_5"].to_list() == pytest.approx([5.0] * boards.height)
    assert boards["common_10"].null_count() == boards.height
    assert (boards["drop"] == 0).all()
    assert boards["dropped"].null_count() == boards.height
    kept = results.tables["conclusions"]
    assert kept.select("reversed", "lost", "new").sum().row(0) == (0, 0, 0)
    noise = results.tables["query_noise"]
    assert noise["difference"].to_list() == pytest.approx([0.0] * noise.height)
    assert (noise["orders_as"] == "as well").all()
    assert results.tables["top"]["regret"].abs().max() == 0
    queries = results.tables["single_queries"]
    assert queries["turned"].sum() == 0
    assert queries["tau_b"].drop_nans().min() == pytest.approx(1)
    assert only(results, "verdicts", judge="same")["survived"] == 1


def test_judge__constant_orders_nothing(tmp_path: Path):
    results = studied(tmp_path, {"flat": judged_by(lambda _: 0)}, measures="nDCG@10,AP")
    row = only(results, "leaderboards", measure="AP")
    assert math.isnan(row["tau_b"])
    kept = only(results, "conclusions", measure="AP", test="t")
    assert kept["kept"] == kept["reversed"] == kept["new"] == 0
    assert only(results, "query_noise", measure="AP")["orders_as"] is None
    assert only(results, "verdicts")["orders_as"] is None


def test_judge__of_few_queries_and_docs_is_compared_on_them_and_noted(tmp_path: Path):
    some = {"q0": {"d0": 1, "d1": 3}, "q1": HUMAN["q1"]}
    results = studied(tmp_path, {"few": some}, measures=["AP", "RPP"])
    row = only(results, "leaderboards", measure="AP")
    assert (row["queries"], row["undefined"]) == (2, 0)
    assert only(results, "judges", judge="few")["reference_alone"] == 160 - 22
    assert only(results, "judges", judge="few")["queries"] == 2
    assert only(results, "judges", judge="few")["unjudged"] == pytest.approx(0.4, abs=0.06)
    kept = results.tables["conclusions"]
    assert kept["queries"].unique().to_list() == [2]
    assert results.tables["single_queries"]["query"].unique().sort().to_list() == ["q0", "q1"]
    notes = results.tables["studied_tracks"]["notes"][0]
    assert "no label by few of 138 docs and 6 queries of the reference" in notes


def test_reference__of_one_query_has_no_intervals(tmp_path: Path):
    human, judge = ({"q0": labels["q0"]} for labels in (HUMAN, LENIENT))
    runs = {name: {"q0": run["q0"]} for name, run in RUNS.items()}
    store = irmeta.from_data({"human": human, "lenient": judge}, runs)
    results = irmeta.studies.judges(store, tmp_path, measures="nDCG@10", **FEW)
    row = only(results, "leaderboards")
    assert not math.isnan(row["tau_b"])
    assert math.isnan(row["tau_b_low"])
    assert math.isnan(row["sd"])
    assert results.tables["query_noise"].is_empty()


def test_judges__of_other_scales_have_their_own_relevant_grades(tmp_path: Path):
    tenths = judged_by(lambda g: g / 10)
    results = studied(tmp_path, {"tenths": tenths}, rels=["2", "tenths=0.2"], measures="AP,P@5")
    assert results.tables["judges"]["rel"].to_list() == [2.0, 0.2]
    assert results.tables["leaderboards"]["tau_b"].to_list() == pytest.approx([1.0, 1.0])
    row = only(results, "agreement")
    assert math.isnan(row["kappa"])
    assert row["kappa_binary"] == pytest.approx(1)
    means = results.tables["systems"].filter(measure="AP")
    assert means["mean_judge"].to_list() == pytest.approx(means["mean_reference"].to_list())


def test_judges__in_files_equal_those_of_the_store(tmp_path: Path):
    file = tmp_path / "a,b=c.txt"
    file.write_text(qrels_text(LENIENT) + "elsewhere 0 d 1\n", encoding="utf-8")
    store = irmeta.from_data({"human": HUMAN}, RUNS)
    name = "odd / name | \u2603"
    found = irmeta.studies.judges(store, tmp_path / "a", judges=[f"{name}={file}"], **FEW).tables
    expected = studied(tmp_path / "b", {name: LENIENT}).tables
    for table in (
        "agreement",
        "leaderboards",
        "conclusions",
        "single_queries",
        "systems",
        "query_noise",
    ):
        assert found[table].equals(expected[table]), table
    assert found["judges"]["outside"].to_list() == [0, 1]


def test_common__docs_cut_the_reference_too(tmp_path: Path):
    half = {q: {d: g for d, g in docs.items() if int(d[1:]) < 10} for q, docs in HUMAN.items()}
    results = studied(tmp_path, {"half": half}, common=True, measures="AP,nDCG@10")
    common = results.tables["leaderboards"].filter(docs="common")
    assert common["tau_b"].to_list() == pytest.approx([1.0, 1.0])
    every = results.tables["leaderboards"].filter(docs="all")
    assert every["tau_b"].min() < 1
    assert every["mean_judge"].to_list() == pytest.approx(common["mean_judge"].to_list())


def test_measures__less_is_better_and_preferences(tmp_path: Path):
    results = studied(tmp_path, {"lenient": LENIENT}, measures=["AvgSL", "RPP", "AP"])
    assert results.tables["leaderboards"]["measure"].to_list() == ["AvgSL", "RPP", "AP"]
    systems = results.tables["systems"].filter(measure="AvgSL")
    best = systems.filter(rank_reference=1)
    assert best["mean_reference"][0] == systems["mean_reference"].min()
    assert (results.tables["top"]["regret"] >= 0).all()


def test_tracks__with_one_set_or_one_system_are_named_and_left_out(tmp_path: Path):
    config = ""
    for name, sets in (("alone", {"human": HUMAN}), ("both", {"human": HUMAN, "model": LENIENT})):
        folder = track_of(HUMAN, RUNS, name).write_with(tmp_path / "in", **sets)
        config += (folder / "collection.toml").read_text()
    (folder / "collection.toml").write_text(config)
    store = irmeta.ingest(folder, tmp_path / "store")
    results = irmeta.studies.judges(store, tmp_path / "out", measures="AP", **FEW)
    alone, both = results.tables["studied_tracks"].rows(named=True)
    assert alone["left_out"] == "human is its only set of labels, so there is no judge"
    assert both["used"]
    page = results.report.read_text()
    assert "alone is left out: human is its only set of labels" in page
    assert page.index("Which conclusions survive</h2>") < page.index("Data</h2>")


def test_judges__without_any_are_refused_before_anything_is_written(tmp_path: Path):
    with pytest.raises(UsageError, match=r"no judge to compare .* by `judges='NAME=FILE'`"):
        studied(tmp_path / "out", {})
    with pytest.raises(UsageError, match="no judge to compare"):
        studied(tmp_path / "out", {}, reference="human")
    assert not (tmp_path / "out").exists()


def test_judges__forty_and_the_page_names_all(tmp_path: Path):
    rng = np.random.default_rng(3)
    judges = {
        f"judge{i:02}": judged_by(lambda g: int(np.clip(g + rng.integers(-1, 2), 0, 3)))
        for i in range(40)
    }
    results = studied(tmp_path, judges, measures="nDCG@10", tests="t")
    assert results.tables["verdicts"].height == 40
    page = results.report.read_text()
    assert all(name in page for name in judges)
    captions = re.findall("<caption>(.*?)</caption>", page)
    assert len(captions) == len(set(captions)) > 10


def test_results__same_seed_same_tables_whatever_judges_stand_beside(tmp_path: Path):
    alone = studied(tmp_path / "a", {"lenient": LENIENT}, measures="AP", seed=4)
    beside = studied(tmp_path / "b", {"x": HUMAN, "lenient": LENIENT}, measures="AP", seed=4)
    for table in ("leaderboards", "query_noise", "conclusions", "agreement"):
        assert alone.tables[table].equals(beside.tables[table].filter(judge="lenient")), table


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"reference": "humna"}, "Did you mean 'human'"),
        ({"judges": ["lenien"]}, "Did you mean 'lenient'"),
        ({"judges": ["=file"]}, "needs a name"),
        ({"judges": ["x=absent.txt"]}, "cannot be read"),
        ({"rels": ["lenint=1"]}, "Did you mean 'lenient'"),
        ({"rels": ["high"]}, "not a grade"),
        ({"rels": ["1", "2"]}, "named twice"),
        ({"tests": ["t+hom"]}, "Did you mean 'holm'"),
        ({"tests": ["hsd+holm"]}, "already controls"),
        ({"reference": "human", "qrels": "lenient"}, "name two sets"),
        ({"measures": ["AP", "RPPP"]}, "RPP"),
        ({"measures": "AP(average=geometric)"}, "arithmetic"),
    ],
)
def test_options__wrong_ones_are_refused(tmp_path: Path, choices: dict[str, Any], message: str):
    with pytest.raises((UsageError, IrmetaError), match=message):
        studied(tmp_path, {"lenient": LENIENT}, **choices)


def test_judge__in_a_file_with_the_name_of_a_set_is_refused(tmp_path: Path):
    file = tmp_path / "x.txt"
    file.write_text("q0 0 d0 1\n")
    with pytest.raises(IrmetaError, match="another name"):
        studied(tmp_path / "out", {"lenient": LENIENT}, judges=[f"lenient={file}"])


SELECTED = "an upper bound, if docs were selected by the reference's grade"


@pytest.mark.parametrize(
    ("queries", "shares", "unjudged", "text"),
    [
        (4, [1, 1], (0, 0), "cannot be said: only 4 common queries"),
        (1, [1, 1], (0, 0.9), "cannot be said: only 1 common query"),
        (5, [1, 1], (0.3, 0.73), "cannot be said: 73% of the first ten docs unjudged"),
        (5, [1, 1], (0.3, 0.7), None),
        (5, [0.9, 1], (0, 0), None),
        (5, [0.89, 1], (0, 0), SELECTED),
        (5, [1, 0.8], (0, 0), SELECTED),
    ],
)  # fmt: skip
def test_limits__at_their_thresholds(
    queries: int, shares: list[float], unjudged: tuple[float, float], text: str | None
):
    of_grades = [*map(float, shares), 0.0]  # few labels of grade 2 show nothing
    grades = pl.DataFrame({"grade": [0.0, 1.0, 2.0], "docs": [20, 90, 19], "share": of_grades})
    assert limits_text(queries, grades, unjudged) == text


def test_verdict__has_the_share_with_and_without_correction(tmp_path: Path):
    results = studied(tmp_path, {"lenient": LENIENT}, measures="AP")
    verdict = only(results, "verdicts")
    by_t, by_holm = (only(results, "conclusions", test=test) for test in ("t", "t+holm"))
    assert (verdict["survived"], verdict["survived_holm"]) == (
        by_t["survived"],
        pytest.approx(by_holm["survived"], nan_ok=True),
    )
    assert verdict["conclusions"] == by_t["kept"] + by_t["lost"] + by_t["reversed"]
    assert verdict["pairs"] == math.comb(len(RUNS), 2)
    assert verdict["survived_low"] <= verdict["survived"] <= verdict["survived_high"]
    assert by_holm["survived_low"] is None
    assert (verdict["labelled"], verdict["limits"]) == ("100%", None)
    assert "for the number of pairs, and with Holm" in results.report.read_text()


def test_verdict__of_docs_that_both_judged_ignores_unjudged_docs(tmp_path: Path):
    few = {q: {d: g for d, g in docs.items() if g > 2} for q, docs in HUMAN.items()}
    for common in (False, True):
        out = tmp_path / str(common)
        row = only(studied(out, {"few": few}, measures="AP", common=common), "verdicts")
        assert row["limits"].startswith("an upper bound" if common else "cannot be said"), common


def test_named_judges__are_the_only_ones(tmp_path: Path):
    results = studied(tmp_path, {"a": HUMAN, "b": LENIENT}, judges="b", measures="AP")
    assert results.tables["verdicts"]["judge"].to_list() == ["b"]


def test_command__takes_judges_and_grades(tmp_path: Path, run: Any):
    (tmp_path / "lenient.txt").write_text(qrels_text(LENIENT))
    irmeta.ingest(track_of(HUMAN, RUNS).write(tmp_path / "c"), tmp_path / "store")
    done = run(
        "study", "judges", tmp_path / "store", "--out", tmp_path / "out", "-m", "AP",
        "--judge", f"lenient={tmp_path / 'lenient.txt'}", "--rel", "2", "--rel", "lenient=3",
        "--resamples", "20", "--splits", "10",
    )  # fmt: skip
    assert done.status == 0, done.err
    found = irmeta.studies.open(tmp_path / "out")
    assert found.tables["judges"]["rel"].to_list() == [2.0, 3.0]
    assert found.tables["leaderboards"]["tau_b"].to_list() == pytest.approx([1.0])
    assert isinstance(found.tables["leaderboards"], pl.DataFrame)


def test_measures__have_the_relevant_grade_of_each_set_unless_they_state_one(tmp_path: Path):
    names = ["RBP", "RBP(p=0.8,rel=1)", "AP", "AP(rel=1)", "RPP", "RPP(rel=1)"]
    results = studied(tmp_path, {"same": HUMAN}, rels=["human=2", "same=3"], measures=names)
    assert results.options.measures == ("RBP(p=0.8)", *names[1:])
    boards = results.tables["leaderboards"].rows_by_key("measure", named=True, unique=True)
    for own, stated in (("RBP(p=0.8)", names[1]), ("AP", "AP(rel=1)")):
        means = [
            (boards[one]["mean_reference"], boards[one]["mean_judge"]) for one in (own, stated)
        ]
        assert means[0][0] > means[0][1]
        assert means[1][0] == means[1][1] > means[0][0]
    assert boards["RPP"]["tau_b"] <= boards["RPP(rel=1)"]["tau_b"] == 1


def test_bias__of_a_judge_for_one_group_is_named(tmp_path: Path):
    human, runs = lists(seed=2, systems=9, queries=16)
    groups = {name: ("x", "y", "z")[int(name[1:]) % 3] for name in runs}
    own = {name: run for name, run in runs.items() if groups[name] == "y"}
    favoured = {
        q: {
            d: 3 if any(_rank(run[q], d) <= 5 for run in own.values()) else g
            for d, g in docs.items()
        }
        for q, docs in human.items()
    }
    lenient = judged_by(lambda g: min(g + 1, 3), human)
    sets = {"human": human, "biased": favoured, "lenient": lenient}
    facts = "run,group\n" + "".join(f"{name},{group}\n" for name, group in groups.items())
    folder = track_of(human, runs).write_with(tmp_path / "c", facts, **sets)
    irmeta.ingest(folder, tmp_path / "store")
    results = irmeta.studies.judges(tmp_path / "store", tmp_path / "out", measures="nDCG@10", **FEW)
    found = results.tables["groups"].filter(judge="biased", group="y").row(0, named=True)
    assert found["by"] == "group"
    assert found["flagged"]
    assert found["contrast"] > 0
    assert "for y" in only(results, "verdicts", judge="biased")["bias"]
    lenient = only(results, "verdicts", judge="lenient")["bias"]
    assert lenient == "cannot be said: permuted labels change no mean by nDCG@10"
    assert set(results.tables["systems"]["group"]) == {"x", "y", "z"}


def _rank(scores: dict[str, float], doc: str) -> int:
    return 1 + sum(score > scores[doc] for score in scores.values())


def test_mixtures__of_a_judge_equal_to_the_reference_need_no_labels(tmp_path: Path):
    results = studied(tmp_path, {"same": HUMAN, "flat": judged_by(lambda _: 0)}, measures="nDCG@10")
    least = results.tables["least_labelled"]
    assert least.filter(judge="same")["mixture"].to_list() == [0, 0]
    assert least.filter(judge="flat")["mixture"].to_list() != [0, 0]
    assert only(results, "verdicts", judge="same")["to_label"] == 0
    rows = results.tables["mixtures"].filter(judge="same")
    assert rows["labelled"].to_list() == list(range(9))
    assert rows["tau"].to_list() == pytest.approx([1.0] * 9)


def test_corrected__small_track_labels_half_of_its_queries(tmp_path: Path):
    results = studied(tmp_path, {"lenient": LENIENT}, measures="nDCG@10")
    rows = results.tables["corrected"]
    assert rows["labelled"].unique().to_list() == [4]
    assert rows.filter(method="ppi++", target="systems")["width"][0] > 0
