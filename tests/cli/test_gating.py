"""`irmeta compare --max-drop`: reasons and exit status for a build."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import irmeta

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
    (tmp_path / "qrels.txt").write_text(QRELS)
    for name, order in (("old", BETTER), ("new", WORSE)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.txt").write_text(run_text(order))
    return tmp_path / "qrels.txt", tmp_path / "old" / "run.txt", tmp_path / "new" / "run.txt"


@pytest.mark.parametrize(
    ("measure", "most", "status", "said"),
    [
        ("RR", 0.5, 1, "failed: RR on qrels: new/run 0.3333, old/run 1.0000: worse by 0.6667, "),
        ("RR", 0.7, 0, "passed: RR on qrels: new/run 0.3333, old/run 1.0000: worse by 0.6667"),
        ("ASL", 1.5, 1, "failed: ASL on qrels: new/run 3.0000, old/run 1.0000: worse by 2.0000, "),
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
    assert "RR on qrels: new 0.3333, bm25 1.0000: worse by 0.6667" in done.err


def test_max_drop__store_needs_a_baseline(run, made_store: irmeta.Store):
    done = run("compare", made_store.path, "-m", "AP", "--track", "news", "--max-drop", 0.1)
    assert done.status == 2
    assert "--max-drop needs a baseline: name it by --baseline." in done.err


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
    assert reason.endswith("undefined, no query in common")


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
