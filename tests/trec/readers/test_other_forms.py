"""Columns as dicts, rows without grades, ids with blanks, and forms that are not read."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import irmeta
from irmeta.errors import DataError, IrmetaError

RUN = {"1": {"x": 3}, "2": {"c": 2}}
QRELS_COLUMNS = {"query": ["1", "2"], "docid": ["a", "c"], "rel": [2, 1]}
RUN_COLUMNS = {"query": ["1", "2"], "docid": ["x", "c"], "score": [3, 2.5]}


def by_row(columns: dict[str, list]) -> dict[str, dict]:
    return {name: {str(i): one for i, one in enumerate(of)} for name, of in columns.items()}


def as_arrays(columns: dict[str, list]) -> dict[str, np.ndarray]:
    return {name: np.array(of) for name, of in columns.items()}


def as_series(columns: dict[str, list]) -> dict[str, pd.Series]:
    return {name: pd.Series(of) for name, of in columns.items()}


def values(qrels: object, run: object) -> dict[str, float]:
    found = irmeta.evaluate(qrels, run, "AP", per_query=True)
    return dict(found.select("query", "value").iter_rows())


@pytest.mark.parametrize("form", [dict, by_row, as_arrays, as_series], ids=lambda one: one.__name__)
def test_columns__dicts_of_columns_are_no_queries(form, tmp_path: Path):
    qrels, run = form(QRELS_COLUMNS), form(RUN_COLUMNS)
    assert values(qrels, run) == {"1": 0, "2": 1}
    if form in (dict, by_row):
        files = tmp_path / "qrels.json", tmp_path / "run.json"
        for file, content in zip(files, (qrels, run), strict=True):
            file.write_text(json.dumps(content))
        assert values(*map(str, files)) == {"1": 0, "2": 1}
        assert irmeta.agree(str(files[0]), {"judge": qrels}).judges["docs"].item() == 2


def test_columns__hugging_face_names_and_systems():
    run = {**RUN_COLUMNS, "q0": ["q0"] * 2, "rank": [0, 0], "system": ["s", "s"]}
    qrels = {"query": [1, 2], "q0": ["q0", "q0"], "docid": ["a", "c"], "rel": [2, 1]}
    found = irmeta.evaluate(qrels, run, "AP", per_query=True)
    assert found.select("system", "query", "value").rows() == [("s", "1", 0.0), ("s", "2", 1.0)]


def test_columns__of_different_lengths_are_refused(tmp_path: Path):
    qrels = {**QRELS_COLUMNS, "rel": [1]}
    said = "columns query and rel have different rows"
    with pytest.raises(DataError, match=said):
        values(qrels, RUN)
    (tmp_path / "q.json").write_text(json.dumps(qrels))
    with pytest.raises(IrmetaError, match=said):
        values(str(tmp_path / "q.json"), RUN)


def test_columns__queries_and_systems_may_have_such_names():
    queries = {"item": {"a": 1}, "user": {"a": 0, "b": 1}, "red shoes": {"c": 1}}
    assert values(queries, queries) == {"item": 1, "user": 1, "red shoes": 1}
    lists = {"item": ["a"], "user": ["b", "a"], "red shoes": ["c"]}
    assert values(queries, lists) == {"item": 1, "user": 1, "red shoes": 1}
    systems = {"item": {"q": {"a": 1}}, "user": {"q": {"b": 1}}}
    found = irmeta.evaluate({"q": {"a": 1}}, systems, "AP")
    assert found.select("system", "value").rows() == [("item", 1.0), ("user", 0.0)]


RATED = {"red shoes": {"d1": 3, "d2": 0}, "blue hat": {"d9": 1}}
RANKED = {"red shoes": ["d2", "d7", "d1"], "blue hat": ["d9"]}
EXPORT = (
    "query,docid,rating\nred shoes,d1,3\nred shoes,d7,\nred shoes,d2,0.0\nblue hat,d9,1\nno,,\n"
)


def unrated(form: str, folder: Path) -> object:
    """Return Quepid's export in a form: 2 rows have no rating."""
    (folder / "export.csv").write_text(EXPORT)
    frame = pl.read_csv(folder / "export.csv")
    if form == "tsv":
        (folder / "export.tsv").write_text(EXPORT.replace(",", "\t"))
    elif form == "quoted":
        (folder / "export.quoted").write_text(EXPORT.replace("d7,", 'd7,""'))
    elif form == "parquet":
        frame.write_parquet(folder / "export.parquet")
    elif form == "json":
        text = json.dumps([row for row in frame.to_dicts() if row["docid"]])
        (folder / "export.json").write_text(text)
    elif form == "jsonl":
        frame.drop_nulls("docid").write_ndjson(folder / "export.jsonl")
    elif form == "pandas":
        return frame.to_pandas()
    elif form == "polars":
        return frame
    elif form == "dict":
        return {**RATED, "red shoes": {**RATED["red shoes"], "d7": None}}
    return str(folder / f"export.{form}")


@pytest.mark.parametrize(
    "form",
    ["csv", "tsv", "quoted", "parquet", "json", "jsonl", "pandas", "polars", "dict"],
)
def test_unrated__docs_without_a_grade_are_unjudged_and_counted(form, tmp_path: Path):
    count = 1 if form in ("json", "jsonl", "dict") else 2
    with pytest.warns(irmeta.QrelsWarning, match=f"without a grade, taken as unjudged: {count}"):
        found = irmeta.evaluate(unrated(form, tmp_path), RANKED, "nDCG,Judged@2", per_query=True)
    with_all = irmeta.evaluate(RATED, RANKED, "nDCG,Judged@2", per_query=True)
    assert found.equals(with_all)


def test_unrated__errors_name_the_line_of_the_file(tmp_path: Path):
    file = tmp_path / "a.csv"
    file.write_text("query,docid,rating\nq,d1,\nq,,1\n")
    with pytest.raises(IrmetaError, match=r"a\.csv, line 3: column 'docid' has no value"):
        irmeta.evaluate(str(file), RANKED, "AP")
    file.write_text("query,docid,rating\nq,d1,\nq,d2,1\nq,d2,2\n")
    with pytest.raises(IrmetaError, match=r"line 4: .* first in line 3"):
        irmeta.evaluate(str(file), RANKED, "AP")
    frame = {"query": ["q", "q", "q"], "docid": ["a", "b", None], "rating": [None, 1, 1]}
    with pytest.raises(IrmetaError, match="row 2: column 'docid' has no value"):
        irmeta.evaluate(pl.DataFrame(frame), RANKED, "AP")


def test_unrated__a_file_without_any_grade_is_refused(tmp_path: Path):
    file = tmp_path / "a.csv"
    file.write_text("query,docid,rating\nq,d1,\nq,d2,\n")
    with pytest.raises(IrmetaError, match="column 'rating' has no value"):
        irmeta.evaluate(str(file), RANKED, "AP")


BY_SUBTOPIC = "q0 0 d0 1\nq0 1 d0 1\nq0 0 d1 1\n"
DIVERSE_RUNS = {"first": {"q0": ["d0"]}, "worse": {"q0": ["d1"]}}
ALPHA_NDCG = {"first": 0.863757, "worse": 0.431879}
"""Of the ideal list d0, d1 the gains are 2 and .5 / log2(3); their sum divides 2, and 1."""


@pytest.mark.parametrize("form", ["txt", "csv", "parquet", "jsonl"])
def test_subtopics__qrels_and_runs_suffice_in_any_form(form, tmp_path: Path, run):
    rows = [line.split() for line in BY_SUBTOPIC.splitlines()]
    columns = ("query_id", "subtopic", "doc_id", "relevance")
    frame = pl.DataFrame(rows, schema=columns, orient="row").cast({"relevance": pl.Int64})
    qrels, option = tmp_path / f"q.{form}", [] if form != "txt" else ["--subtopics"]
    writes = {"csv": frame.write_csv, "parquet": frame.write_parquet, "jsonl": frame.write_ndjson}
    writes.get(form, lambda file: file.write_text(BY_SUBTOPIC))(qrels)
    for name, lists in DIVERSE_RUNS.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(lists))
    runs = [tmp_path / "first.json", tmp_path / "worse.json"]
    choice = {"subtopics": True} if option else {}
    found = irmeta.evaluate(str(qrels), DIVERSE_RUNS, "alpha_nDCG@10", **choice)
    assert dict(found.select("system", pl.col("value").round(6)).iter_rows()) == ALPHA_NDCG
    done = run("evaluate", qrels, *runs, "-m", "alpha_nDCG@10", *option)
    lines = (line.split(",") for line in done.out.splitlines()[1:])
    assert {system: float(value) for system, _, value, *_ in lines} == ALPHA_NDCG


def test_subtopics__errors_name_the_option(tmp_path: Path, run):
    (tmp_path / "q.txt").write_text(BY_SUBTOPIC)
    (tmp_path / "once.txt").write_text("q0 1 d0 1\nq0 2 d1 1\n")
    (tmp_path / "first.json").write_text(json.dumps(DIVERSE_RUNS["first"]))
    for qrels, said in (("q.txt", "several values of column 2"), ("once.txt", "no qrels by sub")):
        line = (tmp_path / qrels, tmp_path / "first.json", "-m", "alpha_nDCG")
        done = run("evaluate", *line)
        assert said in done.err
        assert "`--subtopics`" in done.err
    (tmp_path / "none.csv").write_text("query,doc,grade\nq0,d0,1\n")
    done = run("evaluate", tmp_path / "none.csv", *line[1:], "--subtopics")
    assert "no column of the subtopic" in done.err


SUMMARY = "runid                 \tall\ta\nmap                   \tall\t0.4\n"
PER_QUERY = "map                   \t301\t0.4\nmap                   \tall\t0.4\n"
OLD = "\nQueryid (Num):       25\nTotal number of documents over all queries\n"
FORMS: dict[str, tuple[str | bytes, str]] = {
    "mteb": (json.dumps({"task_name": "SciFact", "scores": {}}), "results of MTEB"),
    "pairs": (json.dumps({"q": [["d", 2.5]]}), "lists of pairs of a doc and a score"),
    "records": (json.dumps({"q": [{"id": "d", "score": 2.5}]}), "lists of records by query"),
    "legacy lz4": (b"\x02\x21\x4c\x18abc", "compressed by lz4 in its legacy form"),
    "feather": (b"ARROW1\0\0", "Arrow IPC"),
    "utf-16": ("q 0 d 1\n".encode("utf-16"), "text in UTF-16"),
    "utf-16 without mark": ("q 0 d 1\n".encode("utf-16-be"), "text in UTF-16"),
    "utf-16 csv": ("query_id,doc_id,score\nq,d,1\n".encode("utf-16"), "text in UTF-16"),
    "summary": (SUMMARY, "output of trec_eval without values per query"),
    "per query": (PER_QUERY, "output of trec_eval, which is neither a run nor qrels"),
    "old trec_eval": (OLD, "output of an old trec_eval"),
    "yaml": ("ir_metadata.start\nschema version: 0.2\n", "YAML"),
}


@pytest.mark.parametrize("form", FORMS)
def test_other_forms__are_named_with_what_to_do(form, tmp_path: Path):
    content, name = FORMS[form]
    (tmp_path / "file").write_bytes(content if isinstance(content, bytes) else content.encode())
    for as_qrels in (True, False):
        other = {"q": {"d": 1}}
        pair = (str(tmp_path / "file"), other) if as_qrels else (other, str(tmp_path / "file"))
        with pytest.raises(IrmetaError) as error:
            irmeta.evaluate(*pair, "AP")
        said = str(error.value)
        assert name in said
        if as_qrels:
            assert not any(word in said for word in ("best doc first", "several runs", "Q0"))
            assert form in ("yaml",) or "Write" in said or "irmeta compare" in said or "." in said


def test_collections__ignore_texts_beside_runs(tmp_path: Path, recwarn):
    runs = tmp_path / "t" / "runs"
    (runs / "bm25").mkdir(parents=True)
    (tmp_path / "t" / "qrels.txt").write_text("q 0 d 1\n")
    (runs / "bm25" / "run.txt").write_text("q Q0 d 1 1 s\n")
    for name in ("bm25/ir-metadata.yml", "x.yaml", "README", "readme.txt", "notes.MD"):
        (runs / name).write_text("ir_metadata.start\n")
    assert irmeta.read(tmp_path).systems()["file"].to_list() == ["t/runs/bm25/run.txt"]
    (tmp_path / "collection.toml").write_text('[tracks.t]\nruns = ["t/runs/*/*"]\n')
    assert irmeta.read(tmp_path).systems()["file"].to_list() == ["t/runs/bm25/run.txt"]
    assert not recwarn.list
    (tmp_path / "collection.toml").write_text(
        '[tracks.t]\nruns = ["t/runs/*/*", "t/runs/README"]\n'
    )
    with pytest.warns(irmeta.SkippedRunWarning, match="YAML"):
        assert irmeta.read(tmp_path).systems().height == 2


def test_missing_paths__do_not_exist(run, tmp_path: Path):
    gone = tmp_path / "gone"
    qrels = tmp_path / "qrels"
    qrels.write_text("q 0 d 1\n")
    for line in (
        ("evaluate", gone),
        ("compare", f"{gone}.csv"),
        ("agree", qrels, gone),
        ("info", gone),
    ):
        done = run(*line, *(["-m", "AP"] if line[0] in ("evaluate", "compare") else []))
        assert done.status == 2
        assert "gone" in done.err
        assert "does not exist" in done.err, line


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
