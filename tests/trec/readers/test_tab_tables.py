"""Tab-separated text whose ids hold blanks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import irmeta
from irmeta.errors import IrmetaError

QRELS = {"red shoes": {"sku 1": 2, "sku2": 0}, "blue": {"sku3": 1}}
DOCS = [("red shoes", "sku2", 1, 9.5), ("red shoes", "sku 1", 2, 3.5), ("blue", "sku3", 1, 2.0)]
RUNS = {
    "six": "{0}\tQ0\t{1}\t{2}\t{3}\tmy tag\n",
    "five": "{0}\tQ0\t{1}\t{2}\t{3}\n",
    "four": "{0}\t{1}\t{2}\t{3}\n",
    "ranks": "{0}\t{1}\t{2}\n",
    "scores": "{0}\t{1}\t{3}\n",
}
JUDGED = {"four": "{0}\t0\t{1}\t{2}\n", "three": "{0}\t{1}\t{2}\n"}
RIGHT = {"red shoes": 0.5, "blue": 1.0}


def rr(qrels: object, run: object, **choices: str) -> dict[str, float]:
    found = irmeta.evaluate(qrels, run, "RR", per_query=True, **choices)
    return dict(found.select("query", "value").iter_rows())


def written(path: Path, line: str, rows: list[tuple], end: str = "\n", head: str = "") -> str:
    text = head + "".join(line.format(*row) for row in rows)
    path.write_bytes(text.replace("\n", end).encode())
    return str(path)


def judgments(folder: Path, form: str = "four") -> str:
    rows = [(query, doc, grade) for query, docs in QRELS.items() for doc, grade in docs.items()]
    return written(folder / form, JUDGED[form], rows)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("form", RUNS)
def test_tabs__runs_of_all_layouts_are_split_at_tabs(form, end, tmp_path):
    run = written(tmp_path / "r", RUNS[form], DOCS, end, "# a comment of mine\n\n")
    assert rr(QRELS, run) == RIGHT
    system = irmeta.read_files(judgments(tmp_path), [run]).systems()
    assert "fields are split at tabs" in system["notes"][0]
    assert system["system"][0] == ("my tag" if form == "six" else "r")
    assert rr(QRELS, written(tmp_path / "s", RUNS[form], DOCS[::-1])) == RIGHT


@pytest.mark.parametrize("form", JUDGED)
def test_tabs__qrels_of_all_layouts_are_split_at_tabs(form, tmp_path):
    run = {"red shoes": ["sku2", "sku 1"], "blue": ["sku3"]}
    assert rr(judgments(tmp_path, form), run) == RIGHT
    found = irmeta.agree(judgments(tmp_path, form), {"judge": QRELS})
    assert found.judges["docs"].item() == 3


@pytest.mark.parametrize(
    "line", ["{0}\tQ0\t{1}\t{2}\t{3}\tt\n", "{0}\tQ0\t{1}\t{2}\t{3}\n", "{0}\t{1}\t{2}\t{3}\n"]
)
@pytest.mark.parametrize("doc", ["red shoe", "red 5", "5 red", "5 5"])
@pytest.mark.parametrize("query", ["q", "shoes 5", "6 5"])
def test_tabs__a_list_of_one_doc_is_not_shifted(line, doc, query, tmp_path):
    run = written(tmp_path / "r", line, [(query, doc, 1, 9.5)])
    assert rr({query: {doc: 1}}, run) == {query: 1}


def test_tabs__large_runs_are_read_alike(tmp_path):
    docs = [(f"query {q}", f"doc {d}", d, 9000 - d) for q in range(30) for d in range(1, 900)]
    run = written(tmp_path / "r", RUNS["six"], docs)
    qrels = {f"query {q}": {"doc 4": 1} for q in range(30)}
    assert set(rr(qrels, run).values()) == {0.25}
    rows = [(q, d, 1) for q, of in qrels.items() for d in of]
    judged = written(tmp_path / "q", JUDGED["four"], rows)
    assert irmeta.read_files(judged, [run]).means("RR")["value"].item() == 0.25


@pytest.mark.parametrize(
    ("qrels", "run"),
    [
        ("q 0\td\t1\n", "q Q0\td\t1\t9\tt\n"),  # TREC form, white space of any kind
        ("q\t0\td\t1\n", "q\tQ0\td\t1\t9.5\tmy system\n"),
        ("q\t 0 \td\t1\n", "q\tQ0\td\t1\t9.5 \tt\n"),
        ("q\t0\td 1\n", "q\tQ0\td 1\t9 t\n"),
    ],
)
def test_tabs__other_text_is_split_at_white_space(qrels, run, tmp_path):
    files = written(tmp_path / "q", qrels, [()]), written(tmp_path / "r", run, [()])
    assert rr(*files) == {"q": 1}


def test_tabs__lines_of_other_widths_are_split_at_white_space(tmp_path):
    run = written(tmp_path / "r", RUNS["six"], DOCS, head="blue Q0 x 2 1 t\n")
    with pytest.raises(IrmetaError, match="line 3: query red has doc Q0 a second time"):
        rr(QRELS, run)


def test_tabs__the_named_form_is_read(tmp_path):
    assert rr(QRELS, written(tmp_path / "r", RUNS["four"], DOCS), run_format="msmarco") == RIGHT
    assert rr(QRELS, written(tmp_path / "r", RUNS["scores"], DOCS), run_format="scores") == RIGHT
    run = written(tmp_path / "r", RUNS["five"], [("red", "shoe a", 1, 9.5)])
    qrels = written(tmp_path / "q", "red 0 shoe 1\n", [()])
    store = irmeta.read_files(qrels, [run], run_format="trec")
    assert store.systems()["notes"][0] == "1 ranks are not whole numbers"


def test_tabs__a_rank_that_is_no_number_is_noted(run, tmp_path):
    file = written(tmp_path / "r", "{0} Q0 {1} {2} {3} t\n", [("q", "New York", 1, 9.5)])
    (tmp_path / "j.json").write_text(json.dumps({"q": {"New": 1}}))
    for command in ("evaluate", "compare"):
        done = run(command, tmp_path / "j.json", file, "-m", "RR")
        assert "1 of 1 system has a rank column with other values than whole numbers" in done.err
        assert "(1 ranks are not whole numbers). Are the columns shifted" in done.err
