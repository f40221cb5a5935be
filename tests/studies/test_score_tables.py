"""The study of judges on tables of values, without a store."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import irmeta
from irmeta.errors import IrmetaError, UsageError
from irmeta.studies.framework.study_results import StudyResults
from twins import orders as naive

pytestmark = pytest.mark.usefixtures("undrawn")

FEW: dict[str, Any] = {"resamples": 50, "splits": 20}
Values = dict[str, dict[str, float]]
"""Values by query and system."""


def drawn(queries: range, systems: int = 6, seed: int = 0, noise: float = 0.2) -> Values:
    """Return values in which later systems are better, with four digits."""
    rng = np.random.default_rng(seed)
    return {
        f"q{q}": {
            f"s{s}": round(float(np.clip(0.3 + s / 15 + noise * rng.normal(), 0.01, 1)), 4)
            for s in range(systems)
        }
        for q in queries
    }


def tot(values: Values, measure: str = "ndcg_cut_10") -> str:
    rows = [
        f"{system} {measure} {query} {value:.4f}"
        for query, by_system in values.items()
        for system, value in by_system.items()
    ]
    systems = {system for by_system in values.values() for system in by_system}
    means = [f"{system} {measure} {name} 0.5" for system in systems for name in ("all", "amean")]
    return "\n".join([*rows, *means, ""])


def studied(folder: Path, *tables: Values, **options: Any) -> StudyResults:
    """Compare tables with the first of them."""
    reference, *judges = (folder / f"t{i}.tot" for i in range(len(tables)))
    for file, values in zip((reference, *judges), tables, strict=True):
        file.write_text(tot(values))
    files = {f"judge{i}": str(file) for i, file in enumerate(judges, 1)}
    options = {"judges": files, **FEW, **options}
    return irmeta.studies.judges(None, folder / "out", reference=str(reference), **options)


def only(results: StudyResults, table: str, **key: Any) -> dict[str, Any]:
    (row,) = results.tables[table].filter(**key).to_dicts()
    return row


def means(values: Values) -> list[float]:
    systems = sorted({system for by_system in values.values() for system in by_system})
    return [naive.mean([row[system] for row in values.values()]) for system in systems]


HUMAN = drawn(range(8))
OTHER = drawn(range(8, 20), seed=1)


def test_score_tables__give_the_rows_that_a_store_gives(tmp_path: Path):
    rng = np.random.default_rng(0)
    queries, docs, systems = (range(n) for n in (6, 12, 5))
    human = {f"q{q}": {f"d{d}": int(rng.integers(0, 4)) for d in docs} for q in queries}
    judge = {
        q: {d: int(np.clip(g + rng.integers(-1, 2), 0, 3)) for d, g in labels.items()}
        for q, labels in human.items()
    }
    runs = {
        f"s{s}": {
            q: {d: float(g * s / 5 + rng.normal()) for d, g in labels.items()}
            for q, labels in human.items()
        }
        for s in systems
    }
    store = irmeta.from_data({"human": human, "judge": judge}, runs)
    options = {**FEW, "measures": ["nDCG@10", "AP"], "tests": ["t", "t+holm"]}
    by_labels = irmeta.studies.judges(store, tmp_path / "labels", draws=99, **options)
    files = {name: str(tmp_path / f"{name}.parquet") for name in ("human", "judge")}
    for name, file in files.items():
        scores = store.evaluate(["nDCG@10", "AP"], per_query=True, qrels=name)
        scores.drop("qrels", strict=False).write_parquet(file)
    by_values = irmeta.studies.judges(
        None,
        tmp_path / "values",
        reference=files["human"],
        judges=[f"judge={files['judge']}"],
        **options,
    )
    for table in ("leaderboards", "decisiveness", "query_noise", "conclusions", "single_queries",
                  "top", "mixtures", "least_labelled", "corrected"):  # fmt: skip
        expected, rows = (of.tables[table].drop("track") for of in (by_labels, by_values))
        assert expected.height, table
        assert rows.columns == expected.columns
        for column in expected.columns:
            assert rows[column].to_list() == pytest.approx(
                expected[column].to_list(), nan_ok=True
            ), (table, column)
    named = ("queries", "conclusions", "survived", "reversed", "to_label", "orders_as", "tau_b")
    verdicts = [only(of, "verdicts") for of in (by_labels, by_values)]
    for column in named:
        assert verdicts[1][column] == pytest.approx(verdicts[0][column], nan_ok=True), column
    assert verdicts[1]["bias"] is None
    assert "agreement" not in by_values.tables


def test_score_tables__equal_to_the_reference_keep_everything(tmp_path: Path):
    results = studied(tmp_path, HUMAN, HUMAN)
    board = only(results, "leaderboards")
    assert board["measure"] == "nDCG@10"
    for name in ("tau_b", "tau_ap", "tau_ap_judge", "tau_gap", "spearman", "pearson",
                 "tau_by_query"):  # fmt: skip
        assert board[name] == pytest.approx(1), name
    assert board["rmse"] == board["rmse_low"] == 0
    assert only(results, "decisiveness")["decisiveness"] == pytest.approx(1, abs=1e-3)
    assert results.tables["systems"]["bias_win"].abs().max() == pytest.approx(0, abs=1e-3)
    assert only(results, "verdicts")["queries"] == 8
    first = results.tables["top"].filter(size=5)["tau_first"].item()
    assert first == pytest.approx(1)
    # rows called all and amean are no queries
    assert only(results, "score_tables", judge="reference")["queries"] == 8


def test_score_tables__values_equal_twins(tmp_path: Path):
    judge = drawn(range(8), seed=5, noise=0.4)
    board = only(studied(tmp_path, HUMAN, judge), "leaderboards")
    x, y = means(HUMAN), means(judge)
    expected = {
        "tau_b": naive.kendall_tau_b(x, y),
        "tau_ap": naive.tau_ap_a(x, y),
        "tau_ap_judge": naive.tau_ap_a(y, x),
        "tau_gap": naive.tau_gap(x, y),
        "pearson": naive.pearson(x, y),
        "rmse": naive.rmse(x, y),
        "tau_by_query": naive.mean(
            [naive.kendall_tau_b([*HUMAN[q].values()], [*judge[q].values()]) for q in HUMAN]
        ),
    }
    assert {name: board[name] for name in expected} == pytest.approx(expected)
    assert all(board[f"{name}_low"] < board[name] < board[f"{name}_high"] for name in expected)
    first = only(studied(tmp_path, HUMAN, judge), "top", size=5)
    best = sorted(range(6), key=lambda i: -x[i])[:5]
    tau = naive.kendall_tau_b([x[i] for i in best], [y[i] for i in best])
    assert first["tau_first"] == pytest.approx(tau)


def test_score_tables__without_a_shared_query_have_no_verdict(tmp_path: Path):
    results = studied(tmp_path, HUMAN, OTHER)
    verdict = only(results, "verdicts")
    said = "0 shared queries: orders of other queries by another judge"
    assert verdict["limits"] == f"cannot be said: {said}"
    assert verdict["conclusions"] is verdict["orders_as"] is verdict["to_label"] is None
    assert math.isnan(verdict["tau_b"])
    for table in ("leaderboards", "conclusions", "query_noise", "corrected", "corrected_means"):
        assert results.tables[table].is_empty(), table
    row = only(results, "other_queries")
    assert (row["queries_reference"], row["queries_judge"], row["shared"]) == (8, 12, 0)
    x, y = means(HUMAN), means(OTHER)
    assert row["tau_b"] == pytest.approx(naive.kendall_tau_b(x, y))
    assert row["tau_gap"] == pytest.approx(naive.tau_gap(x, y))
    assert row["rmse"] == pytest.approx(naive.rmse(x, y))
    assert row["tau_halves_low"] <= row["tau_halves"] <= row["tau_halves_high"]
    assert f"judge1: {said} (reference 8 queries, judge1 12): no verdict" in results.lines()[1]
    page = results.report.read_text()
    assert f"judge1: {said}. The reference has 8 queries, judge1 12 queries" in page
    assert "Decisiveness" not in page.split("Sources")[0]


def test_other_queries__intervals_draw_each_side_by_itself(tmp_path: Path):
    """The same values under other names of queries: common draws would give the same orders."""
    renamed = {f"r{query}": values for query, values in HUMAN.items()}
    row = only(studied(tmp_path, HUMAN, renamed), "other_queries")
    assert row["tau_b"] == row["tau_gap"] == pytest.approx(1)
    assert row["rmse"] == 0
    assert row["tau_b_low"] < 1
    assert row["rmse_high"] > 0


def test_score_tables__query_with_0_of_all_systems_is_not_judged(tmp_path: Path):
    unjudged = {q: dict.fromkeys(row, 0.0) if q in ("q1", "q2") else row
                for q, row in HUMAN.items()}  # fmt: skip
    results = studied(tmp_path, HUMAN, unjudged)
    assert only(results, "verdicts")["queries"] == 6
    row = only(results, "score_tables", judge="judge1")
    assert (row["queries"], row["shared"], row["not_judged"]) == (6, 6, 2)
    assert row["queries_not_judged"] == "q1 q2"
    notes = results.tables["studied_tracks"]["notes"][0]
    assert "0 by judge1 on 2 queries, 2 of the reference's, taken as not judged: q1 and q2" in notes
    assert "judge1: 6 shared queries, of 8 of the reference and 6 of judge1" in notes
    every = {q: dict.fromkeys(row, 0.0) for q, row in HUMAN.items()}
    results = studied(tmp_path, HUMAN, {**every, **OTHER})
    assert only(results, "other_queries")["queries_judge"] == 12


def test_missing__systems_and_values(tmp_path: Path):
    lacking = {q: {s: v for s, v in row.items() if s != "s1"} for q, row in HUMAN.items()}
    del lacking["q3"]["s4"]
    common = studied(tmp_path, HUMAN, lacking)
    row = only(common, "leaderboards")
    assert row["queries"] == 7
    assert set(common.tables["systems"]["system"]) == {"s0", "s2", "s3", "s4", "s5"}
    notes = common.tables["studied_tracks"]["notes"][0]
    assert "judge1 has no value of 1 system, which are left out (missing = common): s1" in notes
    assert "some systems of judge1 lack values on queries, which are left out" in notes
    assert "nDCG@10 1 query" in notes
    zero = studied(tmp_path, HUMAN, lacking, missing="zero", force=True)
    assert only(zero, "leaderboards")["queries"] == 8
    means_of = dict(zero.tables["systems"].select("system", "mean_judge").rows())
    assert means_of["s1"] == 0
    assert means_of["s4"] == pytest.approx(naive.mean([lacking[q].get("s4", 0.0) for q in HUMAN]))
    assert "count 0 (missing = zero)" in zero.tables["studied_tracks"]["notes"][0]
    with pytest.raises(IrmetaError, match="judge1: nDCG@10: s1 lacks 8 of 8 queries"):
        studied(tmp_path, HUMAN, lacking, missing="error", force=True)


def test_corrected_means__of_a_judge_with_more_queries(tmp_path: Path):
    judge = {**drawn(range(8), seed=4), **OTHER}
    results = studied(tmp_path, HUMAN, judge)
    rows = results.tables["corrected_means"]
    assert rows.height == 6
    assert rows["labelled"].to_list() == [8] * 6
    assert rows["unlabelled"].to_list() == [12] * 6
    assert rows["mean_reference"].to_list() == pytest.approx(means(HUMAN))
    assert rows["mean_judge"].to_list() == pytest.approx(means(judge))
    assert (rows["low"] < rows["estimate"]).all()
    assert only(results, "leaderboards")["queries"] == 8


def test_categories__means_over_judges(tmp_path: Path):
    judges = [drawn(range(8), seed=seed, noise=0.3) for seed in (2, 3, 4)]
    file = tmp_path / "judges.csv"
    file.write_text("judge,model,prompt\njudge1,a,short\njudge2,a,long\njudge3,b,\nother,c,c\n")
    results = studied(tmp_path, HUMAN, *judges, categories=file)
    taus = dict(results.tables["leaderboards"].select("judge", "tau_b").rows())
    row = only(results, "categories", category="model", value="a")
    assert row["judges"] == 2
    assert row["tau_b"] == pytest.approx((taus["judge1"] + taus["judge2"]) / 2)
    assert row["tau_least"] == min(taus["judge1"], taus["judge2"])
    assert only(results, "categories", category="model", value="b")["judges"] == 1
    assert set(results.tables["categories"]["value"]) == {"a", "b", "short", "long"}
    assert only(results, "verdicts", judge="judge1")["category"] == "model a, prompt short"
    assert "Means over the judges of each category" in results.report.read_text()
    assert (
        "has rows of no judge of the track: other" in results.tables["studied_tracks"]["notes"][0]
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("name,model\na,b\n", "no column judge"),
        ("judge,colour\njudge1,b\n", "not a category of judges.*colour"),
        ("judge,model\njudge1,a\njudge1,b\n", "line 3.*two rows.*judge1"),
        ("judge,model\njudge9,a\n", "no judge of this study.*judge1"),
    ],
)
def test_categories__refused(tmp_path: Path, content: str, message: str):
    file = tmp_path / "judges.csv"
    file.write_text(content)
    with pytest.raises(IrmetaError, match=message):
        studied(tmp_path, HUMAN, HUMAN, categories=str(file))


def test_score_tables__forms_and_compressed_files(tmp_path: Path):
    reference = tmp_path / "people.tot.gz"
    reference.write_bytes(gzip.compress(tot(HUMAN).encode()))
    lines = tmp_path / "judge.jsonl"
    rows = [
        {"run_id": s, "topic_id": q, "measure": "nDCG@10", "value": v}
        for q, row in HUMAN.items()
        for s, v in row.items()
    ]
    lines.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    csv = tmp_path / "other.csv"
    pl.DataFrame(rows).rename({"run_id": "system", "topic_id": "query"}).write_csv(csv)
    results = irmeta.studies.judges(
        None, tmp_path / "out", reference=str(reference), judges=[f"a={lines}", f"b={csv}"], **FEW
    )
    assert results.tables["leaderboards"]["tau_b"].to_list() == pytest.approx([1, 1])
    assert results.tables["studied_tracks"]["track"].to_list() == ["people"]


def test_score_tables__refused(tmp_path: Path):
    with pytest.raises(UsageError, match="without a store, files of values"):
        irmeta.studies.judges(None, tmp_path / "out")
    with pytest.raises(UsageError, match=r"no file .*absent.tot: name the store"):
        irmeta.studies.judges(None, tmp_path / "out", reference="absent.tot", judges="a=b.tot")
    with pytest.raises(UsageError, match="common: is for labels"):
        studied(tmp_path, HUMAN, HUMAN, common=True)
    with pytest.raises(UsageError, match=r"`track=` and `only=` select tracks of a store"):
        studied(tmp_path, HUMAN, HUMAN, track="t0")
    with pytest.raises(IrmetaError, match=r"no value of AP by both .*both have nDCG@10"):
        studied(tmp_path, HUMAN, HUMAN, measures="AP")
    alone = {q: {"s0": row["s0"]} for q, row in HUMAN.items()}
    with pytest.raises(IrmetaError, match="1 system in all tables of values"):
        studied(tmp_path, HUMAN, alone)
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("q0 0 d0 1\nq0 0 d1 0\n")
    table = tmp_path / "t0.tot"
    with pytest.raises(UsageError, match=r"qrels.txt holds no values"):
        irmeta.studies.judges(None, tmp_path / "o", reference=str(table), judges=f"a={qrels}")
    wide = tmp_path / "wide.csv"
    wide.write_text("query,s0,s1\nq0,0.5,0.6\nq1,0.4,0.3\n")
    with pytest.raises(UsageError, match=r"wide.csv has a column for each of 2 systems"):
        irmeta.studies.judges(None, tmp_path / "o", reference=str(table), judges=f"a={wide}")
    with pytest.raises(UsageError, match="names two tables of values"):
        irmeta.studies.judges(
            None, tmp_path / "o", reference=str(table), judges=[f"a={table}", f"a={table}"]
        )


def test_score_tables__of_several_tracks(tmp_path: Path):
    def table(name: str, *tracks: str) -> str:
        rows = [
            {"track": track, "system": s, "query": q, "measure": "nDCG@10", "value": v}
            for track in tracks
            for q, row in HUMAN.items()
            for s, v in row.items()
        ]
        pl.DataFrame(rows).write_csv(tmp_path / name)
        return str(tmp_path / name)

    results = irmeta.studies.judges(
        None,
        tmp_path / "out",
        reference=table("human.csv", "news", "web", "other"),
        judges={"a": table("a.csv", "news", "web"), "b": table("b.csv", "news")},
        **FEW,
    )
    boards = results.tables["leaderboards"].select("track", "judge").rows()
    assert boards == [("news", "a"), ("news", "b"), ("web", "a")]
    notes = dict(results.tables["studied_tracks"].select("track", "notes").rows())
    left_out = "tracks of the reference without a judge are left out: other"
    assert notes == {"news": left_out, "web": f"no value of the track by b; {left_out}"}
    cited = irmeta.cite(tmp_path / "out").text
    assert cited.startswith("Results were computed with irmeta")
    assert "read from files: judge a (checksum" in cited
    assert "reference (checksum" in cited


def test_judge_of_values__is_refused_beside_a_store(tmp_path: Path):
    table = tmp_path / "judge.tot"
    table.write_text(tot(HUMAN))
    store = irmeta.from_data({"q0": {"d": 1}}, {s: {"q0": {"d": 1.0}} for s in ("a", "b")})
    with pytest.raises(IrmetaError, match="holds values by system and query"):
        irmeta.studies.judges(store, tmp_path / "out", judges=f"a={table}", **FEW, draws=99)
    with pytest.raises(UsageError, match="missing: is for values in files"):
        irmeta.studies.judges(
            store, tmp_path / "out", judges=f"a={table}", missing="zero", **FEW, draws=99
        )


def test_command__without_a_store(tmp_path: Path, run):
    for name, values in (("people", HUMAN), ("judge", OTHER)):
        (tmp_path / f"{name}.tot").write_text(tot(values))
    files = ["--reference", tmp_path / "people.tot", "--judge", f"gpt={tmp_path / 'judge.tot'}"]
    few = ["--resamples", "50", "--splits", "20", "--no-figures"]
    done = run("study", "judges", *files, "--out", tmp_path / "out", *few)
    assert done.status == 0, done.err
    assert "gpt: 0 shared queries: orders of other queries by another judge" in done.out
    written = len([*(tmp_path / "out").glob("*.parquet")])
    assert f"{written} tables, each named on the page" in done.out
    refused = run("study", "judges", *files, "--out", tmp_path / "o", "--depth", "10", *few)
    assert refused.status == 2
    assert "need a source" in refused.err
    bare = run("study", "judges", "--out", tmp_path / "o")
    assert bare.status == 2
    assert "--reference" in bare.err or "reference" in bare.err


@pytest.mark.real
@pytest.mark.parametrize(
    ("year", "tau", "systems", "queries", "not_judged", "halves"),
    [
        (2019, 0.8571, 36, (43, 157), 35, 0.7641),
        (2021, 0.8964, 63, (53, 424), 0, 0.806),
    ],  # halves: 0.7641 by 20,000 splits; the mean of 1,000 has an error of 0.0014
)
def test_score_tables__real(shared: Path, tmp_path: Path, year, tau, systems, queries, not_judged,
                            halves):  # fmt: skip
    folder = shared / "score-tables"
    results = irmeta.studies.judges(
        None,
        tmp_path,
        reference=str(folder / f"dl{year}.nist.tot.gz"),
        judges={"gpt4": str(folder / f"dl{year}.gpt4.tot.gz")},
        resamples=100,
    )
    row = only(results, "other_queries", measure="nDCG@10")
    assert row["tau_b"] == pytest.approx(tau, abs=5e-5)
    assert row["systems"] == systems
    assert (row["queries_reference"], row["queries_judge"]) == queries
    assert row["tau_halves"] == pytest.approx(halves, abs=0.003)
    table = only(results, "score_tables", judge="gpt4")
    assert (table["not_judged"], table["shared"]) == (not_judged, 0)
    assert only(results, "verdicts")["limits"].startswith("cannot be said: 0 shared queries")
