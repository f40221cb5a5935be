"""Files of strangers that cannot be read end in one error with the line, in seconds."""

from __future__ import annotations

import random
from pathlib import Path

import polars as pl
import pytest

import irmeta
from irmeta.trec.readers.file_tables import table_of_parquet

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
