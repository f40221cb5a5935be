"""NAME=FILE on the command line, and names of files with equal names."""

from __future__ import annotations

from pathlib import Path

import pytest

import irmeta
from irmeta.errors import DataError, IrmetaError, UsageError


@pytest.fixture
def files(tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for folder, first in (("a", "d1"), ("b", "d2")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "run.txt").write_text(f"q Q0 {first} 1 2 t\nq Q0 d3 2 1 t\n")
        (tmp_path / folder / "qrels.txt").write_text("q 0 d1 1\nq 0 d2 0\np 0 d1 1\n")
        value = 0.5 if folder == "a" else 0.2
        (tmp_path / folder / "scores.csv").write_text(f"query_id,map\nq,{value}\np,0.1\n")
    return tmp_path


def systems(text: str) -> list[str]:
    header, *rows = [line.split(",") for line in text.splitlines()]
    return [row[header.index("system")] for row in rows]


def test_named_files__runs(files: Path, run):
    done = run("evaluate", "t=a/qrels.txt", "one=a/run.txt", "b/run.txt", "-m", "RR")
    assert systems(done.out) == ["one", "t"]
    assert "irmeta: t: " in done.err  # the track
    done = run("evaluate", "a/qrels.txt", "one=a/run.txt", "two=b/run.txt", "-m", "RR")
    assert systems(done.out) == ["one", "two"]
    done = run("compare", "a/qrels.txt", "one=a/run.txt", "two=b/run.txt", "-m", "RR")
    assert sorted(systems(done.out)) == ["one", "two"]
    done = run("evaluate", "a/qrels.txt", "x=a/run.txt", "x=b/run.txt", "-m", "RR")
    assert (done.status, "two runs have the same name" in done.err) == (2, True)
    store = irmeta.read_files("a/qrels.txt", {"one": "a/run.txt", "two": Path("b/run.txt")})
    assert store.systems()["system"].to_list() == ["one", "two"]


def test_named_files__a_path_that_exists_wins(files: Path, run):
    (files / "run=1").mkdir()
    (files / "run=1" / "x.run").write_text("q Q0 d1 1 2 own\n")
    (files / "x=b").write_text("q Q0 d2 1 2 other\n")
    done = run("evaluate", "a/qrels.txt", "run=1/x.run", "x=b", "-m", "RR")
    assert systems(done.out) == ["other", "own"]
    done = run("evaluate", "a/qrels.txt", "y=run=1/x.run", "-m", "RR")
    assert systems(done.out) == ["y"]


def test_named_files__tables_of_values(files: Path, run):
    done = run("compare", "x=a/scores.csv", "b/scores.csv", "-m", "map")
    assert sorted(systems(done.out)) == ["b/scores", "x"]
    (matrix,) = irmeta.matrices({"x": "a/scores.csv", "y": "b/scores.csv"})
    assert matrix.systems == ("x", "y")
    (found,) = irmeta.compare({"x": "a/scores.csv", "y": "b/scores.csv"}, "map")
    assert sorted(found.systems["system"]) == ["x", "y"]
    (files / "several.csv").write_text("system,query,map\na,q,0.1\nb,q,0.2\n")
    with pytest.raises(DataError, match="2 systems, which cannot all be called 'x'"):
        irmeta.matrices({"x": "several.csv", "y": "b/scores.csv"})


def test_named_files__judges(files: Path, run):
    done = run("agree", "a/qrels.txt", "b/qrels.txt")
    assert done.out.splitlines()[1].startswith("b/qrels,a/qrels,")
    done = run("agree", "human=a/qrels.txt", "llm=b/qrels.txt")
    assert done.out.splitlines()[1].startswith("llm,human,")
    done = run("agree", "a/qrels.txt", "b/qrels.txt", "--reference", "r")
    assert done.out.splitlines()[1].startswith("qrels,r,")
    assert irmeta.agree("a/qrels.txt", ["b/qrels.txt"]).judges["judge"].to_list() == ["b/qrels"]
    with pytest.raises(UsageError, match="is given twice"):
        irmeta.agree("a/qrels.txt", ["a/qrels.txt"])


def test_named_files__folders_have_no_names(files: Path, run):
    done = run("evaluate", "x=a", "-m", "RR")
    assert (done.status, "only files of runs, qrels and values have names" in done.err) == (2, True)
    with pytest.raises(IrmetaError):
        irmeta.matrices({"x": "a"})
