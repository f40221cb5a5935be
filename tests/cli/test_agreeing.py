"""`irmeta agree`: options and messages."""

from __future__ import annotations

from pathlib import Path

import pytest

import irmeta

HUMAN, BINARY = "0123012", "0011001"


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    for name, grades in (("human", HUMAN), ("binary", BINARY)):
        rows = (f"q{i % 2} 0 d{i} {grade}\n" for i, grade in enumerate(grades))
        (tmp_path / f"{name}.txt").write_text("".join(rows))
    return str(tmp_path / "human.txt"), str(tmp_path / "binary.txt")


def test_agree__table_names_intervals_and_scales(files, run):
    done = run("agree", *files, "--rel", "2", "--rel", "binary=1", "--format", "table")
    assert "Agreement with human" in done.out
    assert "1.000 [1.000, 1.000]" in done.out
    assert "grades differ from the reference's: binary: no kappa" in done.err


def test_agree__a_reversed_scale_is_asked_about(run, tmp_path: Path):
    for name, grade in (("human", lambda i: i % 4), ("codes", lambda i: 4 - i % 4)):
        rows = (f"q{i % 3} 0 d{i} {grade(i)}\n" for i in range(24))
        (tmp_path / name).write_text("".join(rows))
    done = run("agree", tmp_path / "human", tmp_path / "codes", "--rel", "2")
    said = "Spearman's rho of codes and human is -1.00: does one of their scales run the other way"
    assert (done.status, said in done.err) == (0, True)
    done = run("agree", tmp_path / "codes", tmp_path / "codes", "--reference", "other")
    assert "the other way" not in done.err


@pytest.mark.exhaustive
def test_agree__sets_of_a_store(run, tmp_path: Path):
    folder = tmp_path / "c" / "t"
    (folder / "runs").mkdir(parents=True)
    (folder / "runs" / "r.txt").write_text("q0 Q0 d0 1 1 r\n")
    for name, grades in (("human", HUMAN), ("binary", BINARY)):
        rows = (f"q{i % 2} 0 d{i} {grade}\n" for i, grade in enumerate(grades))
        (folder / f"{name}.txt").write_text("".join(rows))
    (tmp_path / "c" / "collection.toml").write_text(
        '[tracks.t]\nqrels = {human = {file = "t/human.txt", rel = 2}, binary = "t/binary.txt"}\n'
    )
    irmeta.ingest(tmp_path / "c", tmp_path / "s")
    found = irmeta.agree(tmp_path / "s").judges
    assert found.select("rel_reference", "rel_judge", "kappa_binary").row(0) == (2, 1, 1)
    assert irmeta.agree(tmp_path / "s", rel=1).judges["rel_reference"].to_list() == [1]
    done = run("agree", tmp_path / "s", "--confusion")
    assert done.out.startswith("track,judge,reference_grade,judge_grade,docs\nt,binary,0.0,0.0,")
    assert "did you mean" in run("agree", tmp_path / "s", "--reference", "humna").err.lower()
