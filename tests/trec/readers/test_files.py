"""Files in other forms than TREC's: the same values, located errors, streams, strangers."""

from __future__ import annotations

import os
import random
import sys
from io import BytesIO, TextIOWrapper
from pathlib import Path

import polars as pl
import pytest

import irmeta
from irmeta.errors import DataError, IrmetaError, SelfRetrievalWarning, UsageError
from irmeta.trec.readers.file_tables import table_of_parquet
from irmeta.trec.readers.forms import recognize
from irmeta.trec.streams import InputFile

MADE = Path(__file__).parents[3] / "data_fixtures" / "formats"
QRELS, RUN = MADE / "qrels" / "trec.txt", MADE / "runs" / "trec.run"
FORMS = {
    "runs/msmarco.tsv": "msmarco",
    "runs/msmarco_scores.tsv": "msmarco",
    "runs/beir.json": "json",
    "runs/lists.json": "json",
    "runs/records.jsonl": "jsonl",
    "runs/named.csv": "csv",
    "runs/named.parquet": "parquet",
    "runs/trec.run": "trec",
    "qrels/beir.tsv": "csv",
    "qrels/hugging_face.jsonl": "jsonl",
    "qrels/msmarco.tsv": "trec",
    "qrels/three_columns.tsv": "msmarco",
    "qrels/ranx.json": "json",
}
GOOD_RUN = "q Q0 d 1 1.5 t\n"


def values(qrels: object, run: object, **choices: object) -> list[float]:
    store = irmeta.read_files(qrels, run, **choices)
    return (
        store.evaluate(["AP", "nDCG@5"], per_query=True).sort("measure", "query")["value"].to_list()
    )


def write(folder: Path, **texts: str | bytes) -> list[Path]:
    paths = []
    for name, text in texts.items():
        paths.append(folder / name)
        paths[-1].write_bytes(text if isinstance(text, bytes) else text.encode())
    return paths


@pytest.mark.parametrize("name", FORMS)
def test_recognize__names_the_form(name: str):
    kind = "run" if name.startswith("runs") else "qrels"
    assert recognize(InputFile.at(MADE / name, name), kind) == FORMS[name]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("run", sorted((MADE / "runs").iterdir()), ids=lambda path: path.name)
def test_read_files__runs_of_all_forms_have_the_same_values(run: Path):
    assert values(QRELS, run) == values(QRELS, RUN)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("qrels", sorted((MADE / "qrels").iterdir()), ids=lambda path: path.name)
def test_read_files__qrels_of_all_forms_have_the_same_values(qrels: Path):
    assert values(qrels, RUN) == values(QRELS, RUN)


def test_read_files__lists_of_relevant_docs_have_grade_1(tmp_path: Path):
    (lists,) = write(tmp_path, **{"qrels.json": '{"q": ["a", "c"]}'})
    (run,) = write(tmp_path, **{"run.json": '{"q": ["b", "a"]}'})
    store = irmeta.read_files(lists, run)
    assert store.means("AP")["value"].to_list() == [0.25]
    assert "each is relevant, grade 1" in store.info()["notes"][0]
    assert store.systems()["notes"].to_list() == ["read as JSON by query; no scores: score = -rank"]


def test_read_files__an_error_of_json_names_the_line_of_its_query(tmp_path: Path):
    text = '{"q": {"a": 1},\n "p": {"a": 1},\n "r": 3}\n'
    (file,) = write(tmp_path, **{"run.json": text})
    with pytest.raises(irmeta.IrmetaError, match=r"run\.json, line 3: not a dict"):
        irmeta.read_files(QRELS, file)


def test_read_files__info_names_the_forms():
    store = irmeta.read_files(MADE / "qrels" / "beir.tsv", MADE / "runs" / "msmarco.tsv")
    assert "read as CSV or TSV with named columns" in store.info()["notes"][0]
    (notes,) = store.systems()["notes"]
    assert notes == (
        "read as MS MARCO form (query doc rank, without a score); no scores: score = -rank"
    )


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("qid,docno,score\nq,a,1\n\nq,b,x\n", "line 4: column 'score' is not a number: 'x'"),
        ("qid,docno,score\nq,a,1\nq,,2\n", "line 3: column 'docno' has no value"),
        ('qid,docno,score\nq,"a\nb",1\nq,c,inf\n', "line 4: column 'score' is not a finite number"),
        ("qid,docno,score\nq,a,1,2\n", "line 2: 4 fields where the first line has 3: 'q,a,1,2'"),
        ("qid,docno,docno\nq,a,1\n", "line 1: two columns have the same name: 'docno'"),
        ("qid,docno,text\nq,a,1\n", "no column of the score"),
        (
            "one,two,three\nq,a,1\n",
            "line 1: the first line names no column of query and doc: 'one,two,three'",
        ),
        ("query,article,score\nq,a,1\n", "Rename the column of the doc to doc_id"),
        ('{"q": ["a"]}\n{"p": ["b"]}\n', "a record with a list of docs: 'q'"),
        ('{"query": "q", "docs": ["a"]}\n', "Write a JSON file {query: [doc, ...]}, best"),
        ("qid,docno,score,run\nq,a,1,x\nq,b,1,y\n", "2 systems in one file: 'x', 'y'"),
        ("q a 1\nq b 2\nq c\n", "line 3: 2 fields instead of 3: 'q c'"),
        ("q a 1\nq b 7\n", "line 1: the third column may be a rank or a score: for query q it"),
        ('{"q": {"a": 1,\n"b": "x"}}', "line 2: query q, doc b: the value is not a number: 'x'"),
        ('{"q": {"a": 1,\n"b": NaN}}', "line 2: query q, doc b: the score is not a finite number"),
        ('{"q": {"a": 1,\n"b": }}', "line 2: not JSON"),
        ('{"q": {"a": 1,\n"a": 2}}', "line 2: a key occurs twice: 'a'"),
        ('{"q":\n["a", "b"], "p": {"a": 1}}', "line 1: not a dict of the docs of a query"),
        ('{"x": {"q": {"a": 1}}}', "line 1: several runs in one file: 'x'"),
        ('{"qid": "q", "docno": "a", "score": 1}\n{"qid": "q"}\n', "line 2: docno is neither"),
        ('{"qid": "q", "docno": "a", "score": 1}\n[]\n', "line 2: not a record"),
        (b"PAR1 and no more", "cannot be read as Parquet"),
        (b'{"q": {"\xff": 1}}', "line 1: not UTF-8"),
    ],
)
def test_read_files__malformed_run_names_file_line_and_value(
    text: str | bytes, said: str, tmp_path: Path
):
    qrels, run = write(tmp_path, qrels="q 0 a 1\n", run=text)
    with pytest.raises(IrmetaError) as error:
        irmeta.read_files(qrels, run)
    assert f"{run}" in str(error.value)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "query-id\tcorpus-id\tscore\nq\ta\t1\nq\tb\tx\n",
            "line 3: column 'score' is not a number",
        ),
        ("q a 1\nq b x\n", "line 2: column 'grade' is not a number: 'x'"),
        ("q a 1\nq a 2\n", "line 2: query q, doc a has grades 1 and 2, first in line 1"),
        ('{"q": {"a": 1,\n"b": 1e999}}', "line 2: query q, doc b: the grade is not"),
        (
            '{"query-id": "q", "corpus-id": "a", "score": "1"}\n',
            "line 1: score is not a number: '1'",
        ),
    ],
)
def test_read_files__malformed_qrels_name_file_line_and_value(text: str, said: str, tmp_path: Path):
    qrels, run = write(tmp_path, qrels=text, run=GOOD_RUN)
    with pytest.raises(IrmetaError) as error:
        irmeta.read_files(qrels, run)
    assert f"{qrels}, {said}" in str(error.value)


def test_run_format__decides_between_ranks_and_scores(tmp_path: Path):
    qrels, run = write(tmp_path, qrels="q 0 a 1\nq 0 b 0\n", run="q a 1\nq b 7\n")
    assert values(qrels, run, run_format="msmarco")[0] == 1
    assert values(qrels, run, run_format="scores")[0] == 0.5


@pytest.mark.exhaustive
def test_read_files__standard_input_and_pipes_are_read(monkeypatch: pytest.MonkeyPatch):
    for qrels, run, content in ((QRELS, "-", RUN), ("-", RUN, MADE / "qrels" / "ranx.json")):
        stdin = TextIOWrapper(BytesIO(content.read_bytes()), "utf-8")
        monkeypatch.setattr(sys, "stdin", stdin)
        assert values(qrels, run) == values(QRELS, RUN)
    ends = [os.pipe() for _ in range(2)]
    for (_, end), file in zip(ends, (QRELS, RUN), strict=True):
        os.write(end, file.read_bytes())
        os.close(end)
    assert values(*(f"/dev/fd/{end}" for end, _ in ends)) == values(QRELS, RUN)
    with pytest.raises(UsageError, match="- is given twice"):
        irmeta.read_files("-", "-")


@pytest.mark.exhaustive
def test_drop_self__removes_docs_with_the_id_of_their_query():
    with pytest.warns(SelfRetrievalWarning, match=r"'run': 6 of 6\). `drop_self=True`"):
        store = irmeta.read_files(QRELS, MADE / "selves" / "run.json")
    assert store.means("nDCG@5")["value"][0] < sum(values(QRELS, RUN)[6:]) / 6 - 0.05
    dropped = irmeta.read_files(QRELS, MADE / "selves" / "run.json", drop_self=True)
    assert values(QRELS, MADE / "selves" / "run.json", drop_self=True) == values(QRELS, RUN)
    assert "6 docs dropped that have the id of their query" in dropped.systems()["notes"][0]
    assert dropped.policy.record()["drop_self"]
    assert "drop_self" not in irmeta.ReadPolicy().record()


def test_drop_self__a_list_of_nothing_else_is_no_list(tmp_path: Path):
    qrels, run = write(tmp_path, qrels="q 0 a 1\np 0 a 1\n", run="q Q0 q 1 2 t\np Q0 a 1 1 t\n")
    store = irmeta.read_files(qrels, run, drop_self=True)
    assert store.systems().select("rows", "missing_queries").row(0) == (1, 1)
    (run,) = write(tmp_path, only="q Q0 q 1 2 t\n")
    with pytest.raises(IrmetaError, match="all docs have the id of their query"):
        irmeta.read_files(qrels, run, drop_self=True)


def test_from_data__ranks_without_scores_are_read():
    frame = pl.DataFrame({"qid": ["q", "q"], "pid": ["a", "b"], "rank": [2, 1]})
    store = irmeta.from_data({"q": {"a": 1}}, frame)
    assert store.means("AP")["value"].to_list() == [0.5]
    assert store.systems()["notes"][0] == "no scores: score = -rank"
    with pytest.raises(DataError, match=r"row 0: column 'rank' is not a whole number: 1\.5"):
        irmeta.from_data({"q": {"a": 1}}, frame.with_columns(rank=pl.lit(1.5)))


DEEP = 100_000
LONG = "9" * 5000
FIELD = "x" * 200_000
HEAD = "query_id,doc_id,score\n"
RECORD = '{"query_id": "q", "doc_id": "a", "score": 1}\n'
KEYS = ", ".join(f'"d{i}": 1' for i in range(60_000))
COLUMNS = ",".join(f"c{i}" for i in range(2000))
FILES = {
    "arrays in arrays": ("[" * DEEP, "line 1: JSON nested too deeply"),
    "objects in objects": ('{"a":' * DEEP, "line 1: JSON nested too deeply"),
    "arrays in a value": (
        '{"q":\n{"a": ' + "[" * DEEP + "]" * DEEP + "}}",
        "line 1: JSON nested too deeply",
    ),
    "arrays in a record": (RECORD + '{"query_id": ' + "[" * DEEP, "line 2: JSON nested too deep"),
    "a long number": ('{"q":\n{"a": ' + LONG + "}}", "line 2: a whole number of more than 4,300"),
    "a long number in records": (
        RECORD + RECORD.replace("1", LONG),
        "line 2: a whole number of more than 4,300",
    ),
    "a long number of a list": ('{"q": [' + LONG + "]}", "line 1: a whole number of more than"),
    "a large number": (RECORD + RECORD.replace("1", "1" * 400), "line 2: score is too large"),
    "a large number in records": ("[" + RECORD.replace("1", "1" * 400) + "]", "score is too large"),
    "a large number of a column": (
        '{"query_id": ["q"], "doc_id": ["a"], "score": [1' + "0" * 400 + "]}",
        "score is too large a number",
    ),
    "half of a pair of surrogates": ('{"q":\n{"\\ud800": 1}}', r"line 2: text that is not Unicode"),
    "such a half in records": (
        RECORD + RECORD.replace('"a"', '"\\udfff"'),
        "line 2: text that is not Unicode",
    ),
    "many docs": ('{"q": {' + KEYS + ', "d59999": 1}}', "a key occurs twice: 'd59999'"),
    "many equal docs": ('{"q": {' + '"d": 1, ' * 60_000 + '"d": 1}}', "a key occurs twice: 'd'"),
    "a long name of a column": (f"query_id,doc_id,score,{FIELD}\nq,a,1,2\n", "line 1: .*131072"),
    "a long quoted field": (f'{HEAD}q,a,1\nq,"{FIELD}",2\n', "line 3: cannot be read as CSV"),
    "a long field before a word": (f'{HEAD}q,"{FIELD}",zz\n', "line 2: cannot be read as CSV"),
    "a long field of a long row": (f'{HEAD}q,"{FIELD}",1,2\n', "line 2: cannot be read as CSV"),
    "carriage returns alone": (HEAD[:-1] + "\rq,a,1\r", "line 1: a carriage return without a line"),
    "one of them": (HEAD + "q,a,1\nq,b,1\rq,c,2\n", "line 3: a carriage return without a line"),
    "many columns": (f"{HEAD[:-1]},{COLUMNS}\nq,a,1\n", "2,003 columns, where at most 1,000"),
}


@pytest.mark.parametrize("kind", ["run", "qrels"])
@pytest.mark.parametrize("name", FILES)
def test_read_files__hostile_file_is_one_error_with_its_line(tmp_path: Path, name: str, kind: str):
    text, expected = FILES[name]
    (tmp_path / "hostile").write_text(text)
    (tmp_path / "run").write_text("q Q0 a 1 1.0 s\n")
    (tmp_path / "qrels").write_text("q 0 a 1\n")
    paths = {"qrels": "qrels", "run": "run", kind: "hostile"}
    with pytest.raises(irmeta.IrmetaError, match=expected) as error:
        irmeta.read_files(tmp_path / paths["qrels"], tmp_path / paths["run"])
    assert "hostile" in str(error.value)
    assert len(str(error.value)) < 600


def test_read_files__pairs_of_surrogates_are_one_character(tmp_path: Path):
    (tmp_path / "run").write_text('{"q": {"\\ud83d\\ude00": 1}}')
    (tmp_path / "qrels").write_text("q 0 \N{GRINNING FACE} 1\n")
    store = irmeta.read_files(tmp_path / "qrels", tmp_path / "run")
    assert store.means("AP")["value"].to_list() == [1.0]


def flipped(content: bytes, bit: int) -> bytes:
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def parquet_file(folder: Path) -> bytes:
    rows = {"query_id": ["q"] * 3, "doc_id": ["a", "b", "c"], "score": [3.0, 2.0, 1.0]}
    pl.DataFrame(rows).write_parquet(folder / "run.parquet")
    return (folder / "run.parquet").read_bytes()


@pytest.mark.parametrize(
    "flips", [pytest.param(200, id="few"), pytest.param(5000, marks=pytest.mark.exhaustive)]
)
def test_table_of_parquet__flipped_bit_is_an_error_without_panic(
    tmp_path: Path, flips: int, capfd: pytest.CaptureFixture[str]
):
    content, draw = parquet_file(tmp_path), random.Random(7)
    bits = draw.sample(range(8 * len(content)), min(flips, 8 * len(content)))
    messages = [message_of(flipped(content, bit)) for bit in bits]
    refused = [message for message in messages if message]
    assert len(refused) > flips // 10
    assert all("cannot be read as Parquet" in message for message in refused)
    assert capfd.readouterr().err == ""


def message_of(content: bytes) -> str:
    """Return the error of a Parquet file, or no text."""
    try:
        table_of_parquet(content, "run.parquet")
    except irmeta.DataError as error:
        return str(error)
    return ""


def test_table_of_parquet__many_columns(tmp_path: Path):
    pl.DataFrame({f"c{i}": [1] for i in range(1001)}).write_parquet(tmp_path / "f")
    with pytest.raises(irmeta.DataError, match="1,001 columns, where at most 1,000"):
        table_of_parquet((tmp_path / "f").read_bytes(), "f")
