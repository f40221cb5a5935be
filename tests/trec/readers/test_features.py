"""Files for learning to rank: judgments of their lines, and runs of a score per line."""

from __future__ import annotations

from pathlib import Path

import pytest

import irmeta
from irmeta.errors import IrmetaError
from irmeta.trec.readers.files import read_qrels
from irmeta.trec.streams import InputFile

LETOR = "3 qid:1 1:0.5 2:0.1 #docid = 17 inc = 1\n0 qid:1 1:0.4 2:0.3 #docid = 22\n"
LETOR += "1 qid:2 1:0.2 2:0.9 #docid = 9\n"
QUEPID = "# qid:1: red shoes\n3\tqid:1\t# 17\tred shoes\n0\tqid:1\t# 22\tred shoes\n"
QUEPID += "\n1\tqid:2\t# 9\t2001\n"
SVMLIGHT = "3 qid:1 1:0.5\n0 qid:1 2:0.4\n1 qid:2\n"
FILES = {
    "letor": (LETOR, ["17", "22", "9"], "docid = after #"),
    "quepid": (QUEPID, ["17", "22", "9"], "the first word after #"),
    "svmlight": (SVMLIGHT, ["1", "2", "3"], "the numbers of their lines"),
}


def qrels(folder: Path, content: str):
    (folder / "ltr").write_text(content)
    return read_qrels(InputFile.at(folder / "ltr", "ltr"))


@pytest.mark.parametrize("form", FILES)
def test_features__files_are_qrels_and_scores_of_their_lines_runs(form, tmp_path: Path, run):
    content, docs, note = FILES[form]
    judged = qrels(tmp_path, content)
    assert judged.frame.select("query", "doc", "grade").rows() == [
        ("1", docs[0], 3), ("1", docs[1], 0), ("2", docs[2], 1)
    ]  # fmt: skip
    assert note in " ".join(judged.notes)
    (tmp_path / "rank.txt").write_text("0.1\n9e-1\n-.5\n")
    (tmp_path / "good.txt").write_text("3\n2\n1\n")
    found = irmeta.evaluate(
        str(tmp_path / "ltr"), [str(tmp_path / "rank.txt"), str(tmp_path / "good.txt")], "nDCG@10"
    )
    values = {system: round(value, 6) for system, value in found.select("system", "value").rows()}
    assert values == {"rank": 0.815465, "good": 1.0}  # (1 / log2(3) + 1) / 2
    done = run("evaluate", *(tmp_path / name for name in ("ltr", "rank.txt")), "-m", "nDCG@10")
    assert "rank,nDCG@10,0.815465,2" in done.out


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("1 qid:1 1:0.5\n0 qid:1 1:0.5 1\n", r"ltr, line 2: a field that is no feature:value.*1:0"),
        ("1 qid:1 1:0.5 1\n", "line 1: a field that is no feature:value"),
        ("1 qid:1 1:0.5\nx qid:1 1:0.5\n", r"line 2: the grade is not a finite number.*'x'"),
        ("1 qid:1 1:0.5\n1 1:0.5 2:0.1\n", r"line 2: no query \(qid:\) in field 2.*'1:0.5'"),
        ("1 qid:1 # a\n0 qid:1 1:1\n", "line 2: the doc is not named as those of the lines before"),
        ("1 qid:1\n0 qid:1 # a\n", "line 2: the doc is not named as those of the lines before"),
        ("1 qid:1 # a\n\n0 qid:1 # a\n", "line 3: query 1, doc a has grades 1 and 0, first in lin"),
    ],
)
def test_features__faults_are_located(content, said, tmp_path: Path):
    with pytest.raises(IrmetaError, match=said):
        qrels(tmp_path, content)


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ("1\n2\n", r"scores: 2 scores for 3 lines of .*ltr.*Write a score for each line"),
        ("1\n2\n\n3\n4\n", "scores: 4 scores for 3 lines"),
        ("1\nx\n3\n", r"line 2: column 'score' is not a number.*'x'"),
        ("1\n2\nnan\n", r"line 3: .*not a finite number"),
        ("1\n2 3\n1\n", "line 2: 2 fields instead of 1"),
        ("1 qid:1 1:0.5\n", "features for learning to rank .*where a run is expected"),
    ],
)
def test_predictions__faults_are_located(scores, said, tmp_path: Path):
    (tmp_path / "ltr").write_text(SVMLIGHT)
    (tmp_path / "scores").write_text(scores)
    with pytest.raises(IrmetaError, match=said):
        irmeta.evaluate(str(tmp_path / "ltr"), str(tmp_path / "scores"), "AP")


def test_predictions__need_a_file_whose_lines_they_score(tmp_path: Path):
    (tmp_path / "qrels").write_text("1 0 d 1\n")
    (tmp_path / "scores").write_text("1\n2\n")
    with pytest.raises(IrmetaError, match="without qrels of qid: lines to which"):
        irmeta.evaluate(str(tmp_path / "qrels"), str(tmp_path / "scores"), "AP")


def test_features__memory_is_that_of_the_judgments(tmp_path: Path, monkeypatch):
    monkeypatch.setattr("irmeta.trec.room.FLOOR", 0)
    features = " ".join(f"{number}:0.123456" for number in range(136))
    lines = (f"{row % 2} qid:{row // 100} {features} # d{row}\n" for row in range(4000))
    (tmp_path / "ltr").write_text("".join(lines))
    file = InputFile.at(tmp_path / "ltr", "ltr")  # 6 MB of text
    assert read_qrels(file, room=lambda: 4 << 20).frame.height == 4000
