"""`irmeta compare --max-drop`: reasons and exit status for a build."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import irmeta
from support.examples import scaled

QRELS = "1 0 a 1\n2 0 a 1\n3 0 a 1\n4 0 a 1\n"
BETTER, WORSE = "abcd", "bcad"  # orders of docs: RR 1 and 1/3


def run_text(order: str, *, tag: str = "bm25") -> str:
    return "".join(
        f"{q} Q0 {doc} {rank} {9 - rank + q / 10} {tag}\n"
        for q in range(1, 5)
        for rank, doc in enumerate(order, 1)
    )


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path, Path]:
    """Return a qrels file, an old and a new run that share their tag and file name."""
    (tmp_path / "judged.txt").write_text(QRELS)
    for name, order in (("old", BETTER), ("new", WORSE)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.txt").write_text(run_text(order))
    return tmp_path / "judged.txt", tmp_path / "old" / "run.txt", tmp_path / "new" / "run.txt"


@pytest.mark.parametrize(
    ("measure", "most", "status", "said"),
    [
        (
            "RR",
            0.5,
            1,
            "failed: RR on judged: new/run 0.3333, old/run 1.0000 over 4 queries: worse by ",
        ),
        (
            "RR",
            0.7,
            0,
            "passed: RR on judged: new/run 0.3333, old/run 1.0000 over 4 queries: worse by 0.6667",
        ),
        (
            "ASL",
            1.5,
            1,
            "failed: ASL on judged: new/run 3.0000, old/run 1.0000 over 4 queries: worse by ",
        ),
    ],
)
def test_max_drop__worse_mean_than_of_the_first_run_fails(
    run, files, measure: str, most: float, status: int, said: str
):
    done = run("compare", *files, "-m", measure, "--max-drop", most)
    assert done.status == status
    assert f"irmeta: {said}" in done.err
    assert "2 of 2 runs share a tag" in done.err  # reported too where the gate fails


def test_max_drop__json_has_the_rows_of_the_gate(run, files):
    done = run("compare", *files, "-m", "RR", "--max-drop", 0.5, "--format", "json")
    made = json.loads(done.out)
    (row,) = made["tables"]["gate"]
    assert (made["facts"], row["passed"], row["max_drop"]) == (
        {"notes": [], "passed": False},
        False,
        0.5,
    )
    assert row["reason"] in done.err


def test_max_drop__better_run_passes_even_if_nothing_may_drop(run, files):
    qrels, old, new = files
    assert run("compare", qrels, new, old, "-m", "RR", "--max-drop", 0).status == 0


@pytest.mark.exhaustive
def test_max_drop__significant_drop_fails_with_alpha_alone(run, files):
    call = ("compare", *files, "-m", "RR", "--max-drop", 1, "--test", "permutation")
    assert run(*call).status == 0
    assert run(*call, "--alpha", 0.1).status == 0  # p = 2 / 16
    done = run(*call, "--alpha", 0.2)
    assert done.status == 1
    assert "significant at 0.2 (p = 0.12, permutation, holm)" in done.err


@pytest.mark.exhaustive
def test_max_drop__first_file_of_values_is_the_baseline(run, files, tmp_path: Path):
    values = [tmp_path / "old.csv", tmp_path / "new.csv"]
    for file, text in zip(values, (run_text(BETTER), run_text(WORSE, tag="new")), strict=True):
        (tmp_path / "run.txt").write_text(text)
        run("evaluate", files[0], tmp_path / "run.txt", "-m", "RR", "-q", "--out", file)
    done = run("compare", *values, "--max-drop", 0.1)
    assert done.status == 1
    assert "RR on judged: new 0.3333, bm25 1.0000 over 4 queries: worse by 0.6667" in done.err


@pytest.mark.parametrize(
    ("drops", "status", "said"),
    [
        ("RR=.7,P@1=1", 0, "passed: P@1 on "),
        ("recip_rank=.7,P@1=.5", 1, ": new/run 0.0000, old/run 1.0000 over 4 queries: worse by"),
    ],
)
def test_max_drop__one_for_each_measure(run, files, drops: str, status: int, said: str):
    done = run("compare", *files, "-m", "RR,P@1", "--max-drop", drops)
    assert (done.status, said in done.err) == (status, True), done.err


def test_max_drop__names_the_measures_that_are_compared(run, files):
    done = run("compare", *files, "--max-drop", "RR=.7", "--format", "json")
    (row,) = json.loads(done.out)["tables"]["gate"]
    assert (row["measure"], row["max_drop"]) == ("RR", 0.7)


def test_gate__unjudged_docs_of_both_systems_and_queries_that_lost_most(run, files, tmp_path: Path):
    """Of four docs only a is judged: 3 of 4 docs are unjudged, or of two docs 1 of 2."""
    qrels, old, new = files
    new.write_text("".join(line for line in run_text("ba").splitlines(True)))
    page = tmp_path / "gate.html"
    call = ("compare", qrels, old, new, "--max-drop", "RR=.1")
    done = run(*call, "--format", "json", "--out", page)
    assert done.status == 1
    tables = json.loads(done.out)["tables"]
    (row,) = tables["gate"]
    assert (row["unjudged"], row["baseline_unjudged"]) == (0.5, 0.75)
    assert "; unjudged@10 50%, of the baseline 75%" in row["reason"]
    assert {(one["query"], one["drop"]) for one in tables["gate_queries"]} == {
        (query, 0.5) for query in "1234"
    }
    html = page.read_text()
    assert "<h1>Gate failed</h1>" in html
    assert f"{row['reason']}." in html
    assert run(*call, "--out", page).status == 1  # replaces its own page
    page.write_text("mine")
    done = run(*call, "--out", page)
    assert (done.status, "use `--force`" in done.err) == (2, True)
    done = run("compare", *files, "-m", "RR", "--out", page)
    assert (done.status, "would be the page of a gate" in done.err) == (2, True)


def test_gate__values_without_lists_have_no_unjudged_docs():
    matrix = irmeta.Matrix([[0.5, 0.5], [0.4, 0.6]], ("1", "2"), ("old", "new"), "X")
    checked = irmeta.compare(matrix, baseline="old").gate({"X": 0})
    assert checked.rows.select("unjudged", "baseline_unjudged").row(0) == (None, None)
    assert checked.queries.height == 0
    assert "No query lost." in checked.to_html()


def gate(old: list[float], new: list[float], most: float) -> tuple[bool, str]:
    matrix = irmeta.Matrix([*zip(old, new, strict=True)], tuple("ab"[: len(old)]), ("old", "new"))
    found = irmeta.compare(matrix, baseline="old").gate(most)
    return found.passed, found.rows["reason"].item()


def test_gate__rounding_does_not_fail():
    assert gate([0.3, 0.3], [0.29, 0.29], 0.01)[0]
    assert not gate([0.3, 0.3], [0.29, 0.29], 0.009)[0]


def test_gate__no_query_in_common_fails():
    passed, reason = gate([0.5, float("nan")], [float("nan"), 0.5], 1)
    assert not passed
    assert "new, old over 0 queries: undefined, no query in common" in reason


def test_gate__comparison_without_baseline_is_refused(made_store: irmeta.Store):
    with pytest.raises(irmeta.UsageError, match="compared without a baseline: use `baseline=`"):
        irmeta.compare(made_store, "AP", track="news").gate(0.1)


@pytest.mark.parametrize(
    ("options", "status", "said"),
    [
        (["--pair", "old=new"], 1, "1 of 1 values differ by more than 1e-09"),
        (["--pair", "old=new", "--tolerance", 0.2], 0, "0 of 1 values"),
        (["--pair", "old=new", "--worse-only"], 0, "0 of 1 values"),
        (["--pair", "old"], 2, "--pair 'old' is not of the form OLD=NEW."),
        (["--pair", "old=new", "--pair", "old=b"], 2, "names a system that has a pair already"),
    ],
)
def test_diff_command__compares_pairs(run, tmp_path: Path, options, status: int, said: str):
    for name, value in (("old", 0.5), ("new", 0.6)):
        text = f"track,system,measure,value\nt,{name},AP,{value}\n"
        (tmp_path / f"{name}.csv").write_text(text)
    done = run("diff", tmp_path / "old.csv", tmp_path / "new.csv", *options)
    assert done.status == status
    assert said in done.out + done.err


@pytest.mark.parametrize(
    ("lost", "status"), [((), 1), (("--lost", 2), 1), (("--lost", 3), 0), (("--lost", "75%"), 0)]
)
def test_max_drop__queries_without_a_value_fail(run, tmp_path: Path, lost, status: int):
    """A build that lost three of four queries, and is better on the fourth alone."""
    rows = {"old": {"1": 0.1, "2": 0.8, "3": 0.7, "4": 0.4}, "new": {"1": 0.5}}
    for name, values in rows.items():
        lines = [f"{name},{query},RR,{value}\n" for query, value in values.items()]
        (tmp_path / f"{name}.csv").write_text("system,query,measure,value\n" + "".join(lines))
    files = (tmp_path / "old.csv", tmp_path / "new.csv")
    done = run("compare", *files, "--max-drop", 0.1, "--format", "json", *lost)
    assert done.status == status
    (row,) = json.loads(done.out)["tables"]["gate"]
    assert (row["queries"], row["lost"], row["lost_queries"]) == (1, 3, ["2", "3", "4"])
    assert (row["mean"], row["baseline_mean"], row["drop"]) == (0.5, 0.1, -0.4)
    assert (
        "new 0.5000, old 0.1000 over 1 query: not worse, 3 of 4 queries lost (2, 3, 4)" in done.err
    )
    if lost:
        assert status == 0 or f"more than {lost[1]}" in done.err
    by_rank = run("compare", *files, "--baseline", "old", "--format", "csv").out.splitlines()
    assert by_rank[0].split(",")[:8] == (
        ["track", "measure", "test", "rank", "system", "mean", "queries", "no_list"]
    )


def test_max_drop__means_beside_a_drop_are_of_its_queries(run, tmp_path: Path):
    """The mean of all values says better, that of the shared queries worse."""
    rows = {"old": {"1": 0.9, "2": 0.0}, "new": {"1": 0.5}}
    for name, values in rows.items():
        lines = [f"{name},{query},RR,{value}\n" for query, value in values.items()]
        (tmp_path / f"{name}.csv").write_text("system,query,measure,value\n" + "".join(lines))
    done = run("compare", tmp_path / "old.csv", tmp_path / "new.csv", "--max-drop", 0.1)
    assert "new 0.5000, old 0.9000 over 1 query: worse by 0.4000, more than 0.1" in done.err
    (compared,) = irmeta.compare([tmp_path / "old.csv", tmp_path / "new.csv"], baseline="old")
    columns = ("rank", "system", "mean", "queries", "baseline_mean", "difference")
    assert compared.systems.select(columns).rows()[1] == (2, "new", 0.5, 1, 0.9, -0.4)


@pytest.mark.parametrize("policy", ["judged", "retrieved"])
@pytest.mark.parametrize(("lost", "status"), [((), 1), (("--lost", "1"), 0)])
def test_max_drop__lists_that_are_missing(run, files, tmp_path: Path, policy, lost, status: int):
    qrels, old, _ = files
    new = tmp_path / "fewer.txt"
    new.write_text(
        "".join(line for line in old.read_text().splitlines(True) if not line.startswith("1 "))
    )
    call = ("compare", qrels, old, new, "-m", "RR", "--max-drop", 1, "--queries", policy)
    done = run(*call, *lost, "--format", "json")
    assert done.status == status
    (row,) = json.loads(done.out)["tables"]["gate"]
    assert (row["lost"], row["lost_queries"]) == (1, ["1"])
    assert row["queries"] == (4 if policy == "judged" else 3)
    assert "1 of 4 queries lost (1)" in done.err
    # Nothing is lost that the baseline lacks too.
    assert run("compare", qrels, new, old, *call[4:]).status == 0


def test_max_drop__names_ten_lost_queries():
    old = [0.5] * 14
    new = [0.5, *[float("nan")] * 13]
    queries = tuple(f"q{i:02}" for i in range(14))
    matrix = irmeta.Matrix([*zip(old, new, strict=True)], queries, ("old", "new"))
    (reason,) = irmeta.compare(matrix, baseline="old").gate(0).rows["reason"]
    assert "13 of 14 queries lost (q01, q02," in reason
    assert "q10 and 3 more), more than 0" in reason
    assert irmeta.compare(matrix, baseline="old").gate(0, lost="93%").passed


@pytest.mark.parametrize("lost", ["x", "-1", "101%", "1.5", "%", -1])
def test_gate__losses_that_are_no_number(lost):
    matrix = irmeta.Matrix([[0.1, 0.2]], ("1",), ("old", "new"))
    with pytest.raises(irmeta.UsageError, match="neither a number of queries nor a share"):
        irmeta.compare(matrix, baseline="old").gate(0.1, lost=lost)


@settings(max_examples=scaled(30))
@given(
    st.lists(st.floats(-0.2, 0.2), min_size=2, max_size=12),
    st.sampled_from((0.0, 0.01, 0.05)),
    st.sampled_from((0.05, 0.1)),
    st.sampled_from((1, -1)),
)
def test_gate__non_inferior_equals_one_sided_test_of_scipy(gains, most, alpha, direction):
    matrix = irmeta.Matrix(
        [[0.5, 0.5 + direction * gain] for gain in gains],
        tuple(map(str, range(len(gains)))),
        ("old", "new"),
        direction=direction,
    )
    found = irmeta.compare(matrix, baseline="old", alpha=alpha).gate(most, non_inferior=True)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of equal gains
        limit = stats.ttest_1samp(gains, 0).confidence_interval(1 - 2 * alpha).low
    assert found.rows["lower"].item() == pytest.approx(limit, abs=1e-12)
    if abs(limit + most) > 1e-9:
        assert found.passed == (limit > -most)


def test_max_drop__uncertain_drop_is_not_shown_non_inferior(run, files):
    call = ("compare", *files, "-m", "RR", "--max-drop", 0.7)
    assert run(*call).status == 0
    matrix = irmeta.Matrix([[0.5, 0.9], [0.5, 0.05]], ("1", "2"), ("old", "new"))
    compared = irmeta.compare(matrix, baseline="old")
    assert compared.gate(0.05).passed
    checked = compared.gate(0.05, non_inferior=True)
    assert not checked.passed
    assert "not shown non-inferior: lower limit -2.7" in checked.rows["reason"].item()
    assert checked.rows["rule"].item() == (
        "non-inferior: one-sided 95% lower limit (t) above -0.05"
    )
    done = run(*call, "--non-inferior")
    assert done.status == 0  # all differences are equal
    assert "non-inferior: one-sided 95% lower limit (t) above -0.7: -0.6667" in done.err
    single = irmeta.Matrix([[0.5, 0.9]], ("1",), ("old", "new"))
    (reason,) = irmeta.compare(single, baseline="old").gate(0, non_inferior=True).rows["reason"]
    assert "non-inferiority cannot be tested: 1 query" in reason


@pytest.mark.parametrize("command", ["compare", "power"])
@pytest.mark.parametrize(
    ("missing", "said"),
    [
        ("error", "b lacks 1 of 3 queries: use `--missing common` or 'zero'."),
        ("zero", ""),
        ("common", ""),
    ],
)
def test_missing__is_one_option(run, tmp_path: Path, command: str, missing: str, said: str):
    file = tmp_path / "AP.csv"
    file.write_text("query,a,b\n1,0.5,0.5\n2,0.2,0.6\n3,0.9,\n")
    done = run(command, file, "--missing", missing, "--format", "json")
    assert done.status == (2 if said else 0)
    assert said in done.err
    if not said and command == "compare":
        means = {row["system"]: row["mean"] for row in json.loads(done.out)["tables"]["systems"]}
        assert means["b"] == pytest.approx(1.1 / (3 if missing == "zero" else 2))


def test_missing__zero_is_refused_where_it_is_best():
    matrix = irmeta.Matrix([[1, 2], [3, np.nan]], ("1", "2"), ("a", "b"), "ASL", direction=-1)
    with pytest.raises(irmeta.UsageError, match="0 is the best value, as less is better"):
        irmeta.compare(matrix, missing="zero")


@pytest.mark.parametrize(("missing", "status"), [("error", 1), ("common", 0), ("zero", 1)])
def test_diff_command__rows_of_one_file_alone(run, tmp_path: Path, missing: str, status: int):
    for name, queries in (("old", "123"), ("new", "1")):
        rows = "".join(f"t,s,{query},AP,0.5\n" for query in queries)
        (tmp_path / f"{name}.csv").write_text("track,system,query,measure,value\n" + rows)
    files = (tmp_path / "old.csv", tmp_path / "new.csv")
    done = run("diff", *files, "--missing", missing, "--format", "table")
    assert done.status == status
    if missing == "error":
        assert "2 rows are in A alone (t s 2, t s 3)" in done.out


def test_diff_command__means_of_fewer_queries_differ(run, tmp_path: Path):
    for name, queries in (("old", 4), ("new", 1)):
        text = f"track,system,measure,value,queries\nt,s,AP,0.5,{queries}\n"
        (tmp_path / f"{name}.csv").write_text(text)
    done = run(
        "diff", tmp_path / "old.csv", tmp_path / "new.csv", "--worse-only", "--format", "table"
    )
    assert done.status == 1
    assert "1 means are of another number of queries" in done.out


@pytest.mark.parametrize(("name", "baseline"), [("", "old"), ("base=", "base")])
def test_max_drop__first_of_files_on_the_line_is_the_baseline(
    run, tmp_path: Path, name: str, baseline: str
):
    for system, value in (("old", 0.9), ("new", 0.5)):
        text = f"runid\tall\t{system}\nmap\t1\t{value}\nmap\tall\t{value}\n"
        (tmp_path / f"{system}.eval").write_text(text)
    first = f"{name}{tmp_path / 'old.eval'}"
    done = run("compare", first, tmp_path / "new.eval", "--max-drop", 0.1)
    assert done.status == 1
    assert f"map: new 0.5000, {baseline} 0.9000 over 1 query: worse by 0.4000" in done.err


def test_max_drop__first_run_with_a_name_is_the_baseline(run, files):
    qrels, old, new = files
    done = run("compare", qrels, f"base={old}", f"built={new}", "-m", "RR", "--max-drop", 0.1)
    assert done.status == 1
    assert "RR on judged: built 0.3333, base 1.0000 over 4 queries: worse by 0.6667" in done.err


@pytest.mark.parametrize("empty", [{}, []])
@pytest.mark.parametrize("is_stored", [False, True])
def test_max_drop__empty_list_is_not_lost(run, tmp_path: Path, empty, is_stored: bool):
    """A system that answers a query with no doc has a list; one without the query has lost it."""
    fill = {"a": 1.0, "b": 0.5} if empty == {} else ["a", "b"]
    runs = {
        "old": dict.fromkeys("123", fill),
        "new": {"1": fill, "2": fill, "3": empty},
        "cut": {"1": fill, "2": fill},
    }
    files = [tmp_path / "t" / "runs" / f"{name}.json" for name in runs]
    files[0].parent.mkdir(parents=True)
    for file, content in zip(files, runs.values(), strict=True):
        file.write_text(json.dumps(content))
    qrels = tmp_path / "t" / "qrels.txt"
    qrels.write_text("".join(f"{q} 0 a 1\n" for q in "123"))
    source = (qrels, *files)
    if is_stored:
        source = (irmeta.ingest(tmp_path, tmp_path / "store").path,)
    done = run(
        "compare", *source, "-m", "RR", "--baseline", "old", "--max-drop", 1, "--format", "json"
    )
    lost = {row["system"]: row["lost_queries"] for row in json.loads(done.out)["tables"]["gate"]}
    assert lost == {"new": [], "cut": ["3"]}
    frames = irmeta.compare(
        irmeta.from_data({q: {"a": 1} for q in "123"}, runs), "RR", baseline="old"
    )
    assert dict(frames.gate(1).rows.select("system", "lost").iter_rows()) == {"new": 0, "cut": 1}
