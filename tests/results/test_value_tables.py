"""Values per query that other tools write, read as matrices."""

from __future__ import annotations

import sys
from io import BytesIO, TextIOWrapper
from pathlib import Path

import polars as pl
import pytest

import irmeta
from irmeta.errors import DataError, IrmetaError, UsageError
from irmeta.stats.tables import is_measure

VALUES = Path(__file__).parents[2] / "data_fixtures" / "formats" / "values"
LONG = VALUES / "long.csv"
SEVERAL = {name: sorted((VALUES / name).iterdir()) for name in ("trec_eval", "ir_measures")}
SOURCES = {
    **SEVERAL,
    "ranx": VALUES / "ranx.json",
    "measures": VALUES / "measures.tsv",
    "frame": pl.read_csv(LONG, schema_overrides={"qid": pl.String}),
    "pandas": pl.read_csv(LONG).to_pandas(),
}


def content(found: list[irmeta.Matrix]) -> list[object]:
    return [(m.queries, m.systems, m.values.tolist(), m.direction) for m in found]


@pytest.mark.parametrize("name", SOURCES)
def test_matrices__values_of_all_forms_are_equal(name: str):
    expected = irmeta.matrices(LONG)
    assert [m.values.shape for m in expected] == [(6, 2), (6, 2)]
    assert content(irmeta.matrices(SOURCES[name])) == content(expected)
    assert content(irmeta.matrices(SOURCES[name], "AP")) == content(expected[:1])


@pytest.mark.parametrize("name", SOURCES)
def test_compare__values_of_all_forms_are_compared(name: str):
    (expected,) = irmeta.compare(irmeta.matrices(LONG, "AP"))
    (found,) = irmeta.compare(SOURCES[name], measures="AP")
    assert found.systems.equals(expected.systems)
    if name != "measures":
        (again,) = irmeta.compare(SOURCES[name], "AP")
        assert again.systems.equals(expected.systems)


def test_agreement_and_stability__take_a_table_of_one_measure():
    frame = SOURCES["frame"]
    ap, rr = irmeta.matrices(LONG)
    tables = [frame.filter(pl.col("metric") == name) for name in ("AP", "RR")]
    assert irmeta.stats.agreement(*tables).frame().equals(irmeta.stats.agreement(ap, rr).frame())
    found = irmeta.stats.stability(tables[0], trials=10)
    assert found.wins.tolist() == irmeta.stats.stability(ap, trials=10).wins.tolist()
    with pytest.raises(UsageError, match="one measure of one track expected, found AP, RR"):
        irmeta.stats.stability(frame)


@pytest.mark.exhaustive
def test_compare_command__files_of_other_tools_and_standard_input(run, monkeypatch):
    expected = run("compare", LONG, "-m", "AP")
    assert expected.status == 0
    for files in SEVERAL.values():
        found = run("compare", *files, "-m", "AP").out
        assert found.replace(",map,", ",AP,") == expected.out
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(LONG.read_bytes()), "utf-8"))
    assert run("compare", "-", "-m", "AP").out == expected.out


@pytest.mark.parametrize(
    ("text", "measures"),
    [
        ('{"AP": {"q1": 0.5}, "RR": {"q1": 1}}', ["AP", "RR"]),
        ('{"q1": {"map": 0.5, "P_10": 1}}', ["map", "P_10"]),
        ('{"query_id": "q1", "measure": "AP", "value": 1}\n' * 1 + '{"query_id": "all", "measure": '
         '"AP", "value": 1}\n', ["AP"]),
        ("map q1 0.5\nmap all 0.5\n", ["map"]),
        ("q1 AP 0.5\n", ["AP"]),
        ("query,AP,RR\nq1,0.5,1\nmean,0.5,1\n", ["AP", "RR"]),
        ("rating q1 4\nrating all 4\n", ["rating"]),
    ],
)  # fmt: skip
def test_matrices__one_system_is_named_after_its_file(
    text: str, measures: list[str], tmp_path: Path
):
    (tmp_path / "mine.txt").write_text(text, encoding="utf-8")
    found = irmeta.matrices(tmp_path / "mine.txt")
    assert [m.measure for m in found] == measures
    assert {(m.queries, m.systems) for m in found} == {(("q1",), ("mine",))}


def test_matrices__several_systems_in_output_of_trec_eval(tmp_path: Path):
    text = "".join(path.read_text(encoding="utf-8") for path in SEVERAL["trec_eval"])
    (tmp_path / "both.txt").write_text(text, encoding="utf-8")
    assert content(irmeta.matrices(tmp_path / "both.txt")) == content(irmeta.matrices(LONG))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("map q 0.5\nmap all 0.5\nmap r x\n", "line 3: not a measure, a query and a number"),
        ("map all 0.5\n", "holds means"),
        ('{"AP": {"q1": "x"}}', "query q1, measure AP: the value is not a number: 'x'"),
        ('{"model_names": ["a"], "metrics": ["map"], "a": {}}', "a report of ranx, which holds"),
        ('{"AP": {"q": 1, "q": 2}}', "line 1: a key occurs twice: 'q'"),
        ("run,qid,docno,score\na,q,1,2\n", "holds docs, as a run or qrels"),
        ("one two 1\n", "line 1: neither of two columns has only names of measures: 'one two 1'"),
        ('{"a": {"b": 1}}', "line 1: neither records of values nor dicts by measure and query"),
        (
            "system,query,measure,value\na,q,AP,1\na,r,AP,good\n",
            "not a number in the column 'value': 'good'",
        ),
    ],
)
def test_matrices__malformed_values_are_located(text: str, said: str, tmp_path: Path):
    (tmp_path / "mine.txt").write_text(text, encoding="utf-8")
    with pytest.raises(IrmetaError) as error:
        irmeta.matrices(tmp_path / "mine.txt")
    assert "mine.txt" in str(error.value)
    assert said in str(error.value)


def test_matrices__several_tables_of_systems_are_refused(tmp_path: Path):
    (tmp_path / "wide.csv").write_text("topic,a,b\n1,1,1\n", encoding="utf-8")
    with pytest.raises(DataError, match="no column of measures beside other files"):
        irmeta.matrices([LONG, tmp_path / "wide.csv"])
    with pytest.raises(UsageError, match=r"none\.csv does not exist"):
        irmeta.matrices([LONG, tmp_path / "none.csv"])


def test_is_measure__knows_trec_eval_names():
    assert all(map(is_measure, ("map", "P_10", "recip_rank", "nDCG@10", "num_q", "gm_map")))
    assert not is_measure("bm25")
