"""`irmeta pool`, and `--unjudged` of evaluate and compare."""

from __future__ import annotations

from pathlib import Path

import pytest

import irmeta
from support.making import Track, down
from support.stderr import without_notes

UNDECIDED = "their RBP(p=0.8) differs by less than the RBPResidual(p=0.8) of the worse system"


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    """A track of two systems: one list is judged, the other is not."""
    runs = {"good": {"1": down("x", "y")}, "new": {"1": down("u", "x", "v"), "2": down("w")}}
    return Track(runs, {"1": {"x": 1, "y": 0, "v": -1}, "2": {"z": 1}}).write(tmp_path / "c")


def test_pool_command__equals_the_frame_of_a_store(run, made_store: irmeta.Store):
    done = run("pool", made_store.path, "--track", "web", "--system", "grebeQL", "--budget", 9)
    docs = made_store.pools.to_judge("web", system="grebeQL", budget=9)
    assert done.out.splitlines() == [f"{q} 0 {d}" for q, d in docs.select("query", "doc").rows()]


@pytest.mark.exhaustive
def test_pool_command__replaces_only_pool_files(run, collection: Path, tmp_path: Path):
    out = tmp_path / "pools" / "pool.txt"
    done = run("pool", collection, "--pool-depth", 1, "--out", out)
    assert (done.status, done.out) == (0, "")
    assert without_notes(done.err).endswith(f"3 docs in {out}\n")
    assert out.read_text() == "1 0 u\n1 0 x\n2 0 w\n"
    assert run("pool", collection, "--system", "good", "--out", out).status == 0
    assert out.read_text() == ""
    assert run("pool", collection, "--budget", 1, "--out", out).status == 0
    assert out.read_text() == "1 0 u\n"
    assert [path.name for path in out.parent.iterdir()] == ["pool.txt"]
    qrels = collection / "t" / "qrels"
    before = qrels.read_text()
    done = run("pool", collection, "--out", qrels)
    assert (done.status, qrels.read_text()) == (2, before)
    assert "is not a pool file: use `--force` to replace it" in done.err
    done = run("pool", collection, "--out", tmp_path)
    assert f"{tmp_path} is a folder" in done.err
    out.write_text("my notes\n")
    assert run("pool", collection, "--out", out, "--force").status == 0
    assert out.read_text() == "1 0 u\n2 0 w\n1 0 v\n"


def test_pool_command__escapes_names_only_on_a_terminal(run, tmp_path: Path, monkeypatch):
    folder = Track({"s": {"1": down("a\x1bb")}}, {"1": {"x": 1}}).write(tmp_path)
    assert run("pool", folder).out == "1 0 a\x1bb\n"
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert run("pool", folder).out == "1 0 a\\x1bb\n"


def test_unjudged_option__reports_systems_and_pairs(run, collection: Path):
    plain = run("evaluate", collection, "-m", "AP")
    done = run("evaluate", collection, "-m", "AP", "--unjudged")
    assert done.out == plain.out
    listed = "new 0.167, good 0.500"
    assert done.err.replace(plain.err, "") == (
        "irmeta: t: 2 of 2 systems have a mean Judged@10 below 0.9; 1 of 1 pairs are undecided: "
        f"{UNDECIDED}; fewest judged (Judged@10): {listed}\n"
    )
    done = run("evaluate", collection, "-m", "AP", "--unjudged", "--judged-at-least", 0.5)
    assert "1 of 2 systems have a mean Judged@10 below 0.5" in done.err
    done = run("evaluate", collection, "--unjudged", "--system", "good")
    assert "1 of 1 systems have a mean Judged@10 below 0.9; 0 of 0 pairs" in done.err


def test_unjudged_option__follows_the_policy(run, collection: Path):
    done = run("evaluate", collection, "--unjudged", "--negative", "nonrelevant")
    assert "(Judged@10): new 0.333, good 0.500" in done.err


def test_unjudged_option__tracks_with_only_relevant_docs_judged(run, tmp_path: Path):
    folder = Track({"s": {"1": down("a", "b")}}, {"1": {"a": 1}}).write(tmp_path)
    done = run("evaluate", folder, "--unjudged")
    said = "only relevant docs are judged, so unjudged docs say nothing about the systems"
    assert f"irmeta: t: {said}\n" in done.err


def test_compare_command__unjudged_docs_of_a_store(run, made_store: irmeta.Store):
    command = ("compare", made_store.path, "-m", "AP", "--track", "web")
    plain, done = run(*command), run(*command, "--unjudged", "--judged-at-least", 0.75)
    assert done.out == plain.out
    added = [line for line in done.err.splitlines() if line not in plain.err.splitlines()]
    assert "".join(f"{line}\n" for line in added) == (
        "irmeta: web: 3 of 12 systems have a mean Judged@10 below 0.75; "
        f"25 of 66 pairs are undecided: {UNDECIDED}; fewest judged (Judged@10): ibisBase 0.430, "
        "grebeQL 0.685, finchSpamOK 0.735, grebeBM25 0.785, grebeAnchor 0.810\n"
    )


@pytest.mark.exhaustive
@pytest.mark.usefixtures("undrawn")
def test_compare_command__unjudged_docs_under_the_policy_of_results(
    run, collection: Path, tmp_path: Path
):
    results = tmp_path / "results"
    assert run("reanalyze", collection, "--out", results, "--negative", "nonrelevant").status == 0
    done = run("compare", results, "-m", "AP", "--unjudged")
    assert "(Judged@10): new 0.333, good 0.500" in done.err
    values = results / "scores" / "t.parquet"
    done = run("compare", values, "-m", "AP", "--unjudged")
    assert done.status == 2
    assert f"{values} holds values without lists" in done.err
