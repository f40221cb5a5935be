"""Grades that are decimals or above 127, from reading to values and tables."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import irmeta
from irmeta.api.trec_eval import TrecEvalError, trec_eval
from irmeta.errors import MeasureError, UsageError
from irmeta.measures.evaluate import evaluate_block
from irmeta.measures.names import registry
from irmeta.policies import EvalPolicy
from irmeta.testing.samples import samples, view_for
from twins import gain as twin

RUNS = {
    "one": {"q": {"a": 4.0, "b": 3.0, "x": 2.0, "c": 1.0}, "r": {"a": 2.0, "b": 1.0}},
    "two": {"q": {"c": 4.0, "x": 3.0, "d": 2.0, "b": 1.0}, "r": {"x": 2.0, "b": 1.0}},
}
DECIMAL = {
    "q": {"a": 0.05, "b": 1.7, "c": 0.5, "d": -0.5, "e": 1.25},
    "r": {"a": 0.3, "b": 0.5, "c": 1.7},
}
GAINS = {0.5: 4, 1.7: 3}
ORDERED = {name: {q: list(docs) for q, docs in run.items()} for name, run in RUNS.items()}


def as_float(view):
    """Return a view with the same grades as float64."""
    subtopics = view.subtopics
    if subtopics is not None:
        subtopics = replace(subtopics, grade=subtopics.grade.astype(np.float64))
    return replace(
        view,
        grades=view.grades.astype(np.float64),
        subtopics=subtopics,
        diversity=view.diversity and as_float(view.diversity),
        _cache={},
    )


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", sorted(registry()))
def test_measures__equal_values_of_int8_and_float64_grades(name):
    for spec in islice(samples(registry()[name]), None, None, 9):
        for negative in ("unjudged", "nonrelevant"):
            view, policy = view_for(spec, negative), EvalPolicy(negative=negative)
            try:
                expected = evaluate_block(view, [spec], policy).values
            except MeasureError:
                continue  # the parameters do not suit the crowd
            found = evaluate_block(as_float(view), [spec], policy).values
            assert np.array_equal(found, expected, equal_nan=True), spec.name


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("nDCG@3", lambda docs, qrels: twin.ndcg(docs, qrels, 3)),
        ("nDCG(rel=0.5)", lambda docs, qrels: twin.ndcg(docs, qrels, rel=0.5)),
        (
            "nDCG(gain=0.5:4;1.7:3)",
            lambda docs, qrels: twin.ndcg(docs, qrels, gain=GAINS),
        ),
        ("DCG(gain=linear)", lambda docs, qrels: twin.dcg(docs, qrels, gain="linear", gmax=1.7)),
        ("DCG(gain=exp)", lambda docs, qrels: twin.dcg(docs, qrels, gain="exp", gmax=1.7)),
        ("DCG(gain=exp,gmax=2.5)", lambda docs, qrels: twin.dcg(docs, qrels, gain="exp", gmax=2.5)),
        ("ERR", lambda docs, qrels: twin.err(docs, qrels, gmax=1.7)),
        ("Q(rel=0.5)", lambda docs, qrels: twin.q_measure(docs, qrels, rel=0.5, gmax=1.7)),
    ],
)
def test_values__equal_the_twin_with_float_gains(name, expected):
    found = irmeta.evaluate(DECIMAL, RUNS, name, per_query=True)
    for system, query, value in found.select("system", "query", "value").iter_rows():
        assert value == pytest.approx(expected(ORDERED[system][query], DECIMAL[query]), abs=1e-12)


def test_rel__compares_with_values():
    names = ["NumRel(rel=0.5)", "NumRel(rel=1.25)", "NumRel(rel=2)", "NumRel"]
    with pytest.warns(irmeta.RelevanceWarning, match=r"NumRel\(rel=2\): .* is 1.7"):
        found = irmeta.evaluate(DECIMAL, RUNS, names, per_query=True).filter(
            system="one", query="q"
        )
    assert found["value"].to_list() == [3, 2, 0, 2]
    assert found["measure"].to_list() == names


def many_levels(levels: int, extra: dict[str, float] | None = None) -> irmeta.Store:
    """Return a store of a query with so many positive grades, of which half are retrieved."""
    grades = {f"d{i:05}": (i + 1) / 1024 for i in range(levels)}
    qrels = {"q": {**grades, **(extra or {})}, "r": {"d00001": 0.25, "d00002": 3.5}}
    listed = [f"d{i * 7 % levels:05}" for i in range(levels // 2)]
    runs = {
        "up": {"q": listed, "r": ["d00002", "x", "d00001"]},
        "down": {"q": listed[::-1], "r": ["d00001"]},
    }
    return irmeta.from_data(qrels, runs)


GRADED = (
    *("nDCG", "nDCG@10", "DCG", "DCG@5", "nDCG(gain=exp)", "ERR", "RBP(p=0.8,gain=linear)", "Q"),
    *("Compat", "AP(rel=0.1)", "RnDCG", "nDCGRel", "SDCG@10", "INST", "nERR", "RareDCG"),
)


@pytest.mark.parametrize(
    "levels", [255, 257, *(pytest.param(n, marks=pytest.mark.exhaustive) for n in (254, 256, 1000))]
)
def test_levels__one_more_grade_that_counts_for_nothing_changes_no_bit(levels: int):
    plain = many_levels(levels).evaluate(GRADED, per_query=True, rel=0.1)
    more = many_levels(levels, {"unretrieved": -0.5}).evaluate(GRADED, per_query=True, rel=0.1)
    assert plain.equals(more)
    assert plain["value"].n_unique() > len(GRADED)


def test_levels__ndcg_of_many_grades_equals_the_definition():
    store, levels = many_levels(5000), 5000
    value = store.evaluate("nDCG", per_query=True).filter(system="up", query="q")["value"].item()
    gains = [(i * 7 % levels + 1) / 1024 for i in range(levels // 2)]
    ideal = sorted(((i + 1) / 1024 for i in range(levels)), reverse=True)
    dcg, best = (
        sum(gain / math.log2(rank + 1) for rank, gain in enumerate(one, 1))
        for one in (gains, ideal)
    )
    assert value == pytest.approx(dcg / best, rel=1e-12)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", sorted(registry()))
def test_levels__a_table_of_worths_and_docs_of_their_own_give_equal_bits(name, monkeypatch):
    for spec in islice(samples(registry()[name]), None, None, 9):
        view, policy = view_for(spec, "unjudged"), EvalPolicy()
        try:
            expected = evaluate_block(view, [spec], policy).values
        except MeasureError:
            continue
        with monkeypatch.context() as patched:
            patched.setattr("irmeta.measures.sums.LARGEST_TABLE", 0)
            found = evaluate_block(replace(view, _cache={}), [spec], policy).values
        assert np.array_equal(found, expected, equal_nan=True), spec.name


def test_levels__are_listed_in_the_record_up_to_255(tmp_path):
    for levels, listed in ((253, 255), (254, 0)):  # and two of the other query
        store = many_levels(levels)
        (record,) = (store.reader.track(name).record for name in store.tracks)
        assert len(record["qrels"][0]["levels"]) == listed
        assert store.qrels().collect()["grade"].dtype == pl.Float64
        (view,) = store.views("data")
        assert view.grades.dtype == np.float64
    with pytest.raises(UsageError, match=r"at most 255 grades: round them .*`grade_digits=`"):
        view.alter_labels(0.1)


LOW = {"q": {"a": 0.5, "b": 0.25}, "r": {"a": 0.125}}
SAID = (
    "the qrels set '{}' has 3 grades from 0.125 to 0.5, and a doc of grade 1 or above for 0 of 2 "
    "judged queries, the default for binary measures"
)


def test_rel__decimal_grades_below_the_default_refuse_a_named_binary_measure():
    said = rf"{SAID.format('qrels')} such as AP and P@5\. `rel=GRADE` names"
    with pytest.raises(MeasureError, match=said):
        irmeta.evaluate(LOW, RUNS, ["AP", "P@5", "nDCG", "AP(rel=0.25)"])
    store = irmeta.from_data(LOW, RUNS)
    for compute in (store.means, store.evaluate, store.compare, store.power):
        with pytest.raises(MeasureError, match="such as AP"):
            compute("AP")
    found = store.means("AP(rel=0.25),nDCG,RBP(p=0.8,gain=linear)")["measure"].unique()
    assert sorted(found) == ["AP(rel=0.25)", "RBP(p=0.8,gain=linear)", "nDCG"]


def test_rel__decimal_grades_below_the_default_leave_out_measures_of_a_preset():
    store = irmeta.from_data(LOW, RUNS)
    with pytest.warns(irmeta.RelevanceWarning, match=r"AP, RR and P@10 left out\. `rel=GRADE`"):
        found = store.means("basic")
    assert found["measure"].unique().sort().to_list() == ["nDCG", "nDCG@10"]
    with pytest.raises(MeasureError, match="such as AP"):  # named, too
        store.means(["basic", "AP"])


@pytest.mark.parametrize("rel", [0.25, {"qrels": 0.25}, "0.25", ("qrels=0.25",), {None: 0.25}])
def test_rel__of_a_call_is_that_of_the_set(rel):
    stated = irmeta.from_data(LOW, RUNS, rel=0.25)
    given = irmeta.from_data(LOW, RUNS)
    names = "AP,nDCG,P@2,AP(rel=0.5)"
    assert given.means(names, rel=rel).equals(stated.means(names))
    assert given.compare("AP", rel=rel)[0].systems.equals(stated.compare("AP")[0].systems)
    assert given.prefer("RPP", rel=rel, resamples=20)[0].systems.equals(
        stated.prefer("RPP", resamples=20)[0].systems
    )
    (view,), (own,) = given.views("data", rel=rel), stated.views("data")
    assert view.facts.rel == own.facts.rel == 0.25
    assert given.explain("AP", system="one", query="q", rel=rel).measure == "AP(rel=0.25)"
    made = given.provenance("AP", rel=rel)
    assert made["eval_policy"]["rel"][0].endswith("0.25")
    assert given.means("AP", rel=rel)["measure"].unique().to_list() == ["AP(rel=0.25)"]


@pytest.mark.parametrize(
    ("rel", "said"),
    [
        ({"x": 1}, "no qrels set 'x'"),
        ("a", "'a' of 'a' is not a grade"),
        (["1", "2"], "two grades are given for all sets"),
        ("nan", "is not a grade"),
    ],
)
def test_rel__of_a_call_is_checked(rel, said):
    with pytest.raises(UsageError, match=said):
        irmeta.from_data(LOW, RUNS).means("AP", rel=rel)


def test_rel__the_default_for_decimal_grades_is_noted_and_silent_where_stated():
    store = irmeta.from_data({"q": {"a": 1.5, "b": 0.5}}, RUNS)
    said = r"has 2 grades from 0.5 to 1.5, and a doc .* 1 of 1 judged query.*measures \(AP\)\."
    with pytest.warns(irmeta.RelevanceWarning, match=said):
        store.means("AP,nDCG")
    assert store.means("AP,nDCG", rel=1).height == store.means("AP(rel=1),nDCG").height


@pytest.mark.filterwarnings("default::irmeta.RelevanceWarning")
def test_rel_option__of_files(tmp_path, run):
    text = "".join(f"{q} 0 {d} {g}\n" for q, docs in LOW.items() for d, g in docs.items())
    (tmp_path / "clicks").write_text(text)
    for name, run_ in RUNS.items():
        rows = [(q, d, s) for q, docs in run_.items() for d, s in docs.items()]
        (tmp_path / name).write_text("".join(f"{q} Q0 {d} 0 {s} {name}\n" for q, d, s in rows))
    files = [tmp_path / name for name in ("clicks", "one", "two")]
    said = SAID.format("qrels")
    for command in (["evaluate"], ["compare", "--max-drop", "0.1"], ["power"]):
        done = run(command[0], *files, "-m", "AP", *command[1:])
        assert done.status == 2
        assert f"irmeta: track clicks: {said} such as AP. `--rel GRADE` names" in done.err
    done = run("evaluate", *files)
    assert (done.status, done.err.count("left out")) == (0, 1)
    for command in (["evaluate"], ["compare"], ["power"]):
        done = run(command[0], *files, "-m", "AP", "--rel", "0.25")
        assert (done.status, "AP(rel=0.25)" in done.out + done.err) == (0, True)


@pytest.mark.exhaustive
def test_reanalyze__leaves_out_binary_measures_of_the_track_of_decimals(tmp_path):
    whole = {"t/runs/one": "q Q0 a 1 2 one\n", "t/qrels": "q 0 a 1\n", "u/qrels": "q 0 a 0.5\n"}
    for name, text in {**whole, "u/runs/one": "q Q0 a 1 2 one\n"}.items():
        (tmp_path / "c" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "c" / name).write_text(text)
    with pytest.warns(irmeta.RelevanceWarning, match="track u: .*left out"):
        irmeta.reanalyze(tmp_path / "c", tmp_path / "out")
    found = pl.read_parquet(tmp_path / "out" / "means.parquet")
    binary = found.filter(measure="AP")["track"].unique().to_list()
    assert (binary, found.filter(measure="nDCG")["track"].n_unique()) == (["t"], 2)
    irmeta.reanalyze(tmp_path / "c", tmp_path / "rel", policy={"rel": 0.5})
    found = pl.read_parquet(tmp_path / "rel" / "means.parquet")
    assert sorted(found.filter(track="u")["measure"].unique())[0] == "AP(rel=0.5)"


def test_grades_above_127__have_their_gains():
    high = {"q": {"a": 1000, "b": 500, "c": 0}}
    found = irmeta.evaluate(
        high, {"s": {"q": {"b": 2.0, "a": 1.0}}}, ["DCG(gain=exp)@1", "DCG@1"], per_query=True
    )
    assert found["value"].to_list() == [2.0**-500, 500.0]


def test_from_data__frames_dicts_and_files_agree_and_show_values(tmp_path):
    text = "".join(f"{q} 0 {d} {g}\n" for q, docs in DECIMAL.items() for d, g in docs.items())
    (tmp_path / "qrels").write_text(text)
    rows = [(q, d, g) for q, docs in DECIMAL.items() for d, g in docs.items()]
    frame = pl.DataFrame(rows, schema=["qid", "docno", "label"], orient="row")
    stores = [irmeta.from_data(given, RUNS) for given in (DECIMAL, frame, tmp_path / "qrels")]
    means = [store.means("nDCG,AP(rel=0.5)") for store in stores]
    for found in means[1:]:
        assert found.drop("track").equals(means[0].drop("track"))
    rows = stores[0].runs().filter(system="one", query="q").collect()
    assert dict(zip(rows["doc"], rows["grade"], strict=True)) == {
        "a": 0.05, "b": 1.7, "x": None, "c": 0.5,
    }  # fmt: skip
    told = stores[0].explain("nDCG", system="one", query="q")
    grades = {term.doc: term.grade for term in told.trace.terms}
    assert grades == {"a": 0.05, "b": 1.7, "c": 0.5}


def test_ingest__keeps_int8_where_grades_are_whole(tmp_path):
    for track, grade in (("decimal", "0.5"), ("whole", "1")):
        (tmp_path / "c" / track / "runs").mkdir(parents=True)
        (tmp_path / "c" / track / "qrels.txt").write_text(f"q 0 a {grade}\nq 0 b -1\n")
        (tmp_path / "c" / track / "runs" / "s.run").write_text("q Q0 a 1 2 s\nq Q0 c 2 1 s\n")
    irmeta.ingest(tmp_path / "c", tmp_path / "store")
    store = irmeta.open_store(tmp_path / "store")
    kinds = {
        (kind, track): pl.read_parquet_schema(tmp_path / f"store/{kind}/{track}/part-0.parquet")
        for kind in ("runs", "qrels")
        for track in ("decimal", "whole")
    }
    assert {key: schema["grade"] for key, schema in kinds.items()} == {
        ("runs", "decimal"): pl.Float64,
        ("qrels", "decimal"): pl.Float64,
        ("runs", "whole"): pl.Int8,
        ("qrels", "whole"): pl.Int8,
    }
    assert store.qrels().collect()["grade"].to_list() == [0.5, -1.0, 1.0, -1.0]
    assert store.qrels("whole").collect()["grade"].dtype == pl.Int8
    records = {track: store.reader.track(track).record["qrels"][0] for track in store.tracks}
    assert records["decimal"]["levels"] == [-1.0, 0.5]
    assert "levels" not in records["whole"]
    assert "grade_digits" not in records["whole"]


def test_sets__a_whole_set_beside_a_decimal_one_is_unchanged():
    whole = {"q": {"a": 1, "b": 2}, "r": {"b": 1}}
    both = irmeta.from_data({"decimal": DECIMAL, "whole": whole}, RUNS)
    alone = irmeta.from_data(whole, RUNS, track="data")
    names = "nDCG,AP,ERR"
    assert both.means(names, qrels="whole")["value"].equals(alone.means(names)["value"])


def test_grade_digits__rounds_and_is_recorded():
    fine = {"q": {f"d{i}": i / 1000 for i in range(300)}}
    store = irmeta.from_data(fine, {"s": {"q": {"d299": 1.0}}}, grade_digits=1)
    assert store.policy.grade_digits == 1
    assert store.qrels().collect()["grade"].unique().sort().to_list() == [0.0, 0.1, 0.2, 0.3]


def test_trec_eval__refuses_decimals(tmp_path):
    (tmp_path / "qrels").write_text("1 0 a 1.7\n")
    (tmp_path / "run").write_text("1 Q0 a 1 2 r\n")
    with pytest.raises(TrecEvalError, match=r"grade 1.7 is not a whole number"):
        list(trec_eval(tmp_path / "qrels", tmp_path / "run", ["map"]))


def test_made_example__has_decimals():
    made = Path(__file__).parents[2] / "data_fixtures" / "formats"
    store = irmeta.from_data(made / "decimals" / "means.txt", made / "runs" / "trec.run")
    assert store.info()["highest_grade"].to_list() == [2]
    counts = store.means("NumRel,NumRel(rel=0.5)")["value"].to_list()
    assert 0 < counts[0] < counts[1]


@pytest.mark.real
@pytest.mark.parametrize("judge", ["gpt4o-exam-graded-mean", "gpt4o-nuggets-weighted"])
def test_machine_judges__mean_ndcg_equals_the_oracle(shared, judge):
    root = shared / "judges" / "trec-dl-2021-passage"
    oracle = pl.read_csv(shared / "oracles" / "judges" / "leaderboard.csv").filter(judge=judge)
    rel = f"{oracle['rel_judge'][0]:g}"
    names = {"nDCG@10": "nDCG@10", f"AP(rel={rel})@100": "AP", f"P(rel={rel})@10": "P@10"}
    store = irmeta.read_files(root / "judges" / f"{judge}.txt", sorted((root / "runs").iterdir()))
    means = store.means(list(names)).group_by("measure").agg(pl.col("value").mean())
    expected = dict(oracle.select("measure", "mean_judge").iter_rows())
    for name, value in means.iter_rows():
        assert value == pytest.approx(expected[names[name]], abs=1e-9)
