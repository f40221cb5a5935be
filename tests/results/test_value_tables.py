"""Values per query that other tools write, read as matrices; tables of means; printed units."""

from __future__ import annotations

import json
import sys
from io import BytesIO, TextIOWrapper
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import irmeta
from irmeta.errors import DataError, IrmetaError, UsageError
from irmeta.results.matrix import decimals, units_of
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


HITS = np.random.default_rng(1).integers(0, 16, (30, 3))  # relevant docs among 15
SYSTEMS = ("a", "b", "c")


@pytest.mark.parametrize(
    ("texts", "unit"),
    [
        (["0.4667", "0.4000"], 1e-4),
        (["0.4667", "0.4", "1"], 1e-4),  # as JSON and CSV omit zeros
        (["4.667e-1", None, "nan", ""], 1e-4),
        (["0.067", "0.200"], 1e-3),
        (["0.013", "0.2"], 0.0),  # P@1000
        (["0.05", "0.25"], 0.0),  # P@20
        (["3", "11"], 0.0),
        ([str(1 / 3), "0.5"], 0.0),
        ([], 0.0),
    ],
)
def test_unit__is_of_the_last_digit_of_rounded_values(texts: list[str], unit: float):
    numbers = decimals(pl.Series([*texts, *texts, "0.5"], dtype=pl.String))
    system = np.repeat([2, 0, 1], [len(texts), len(texts), 1])
    assert units_of(numbers, system, 3) == pytest.approx((unit, 0, unit))


def test_unit__floats_were_not_printed():
    assert units_of(decimals(pl.Series([0.4667, 0.1234])), np.zeros(2, int), 1) == (0,)


def of_trec_eval(folder: Path) -> list[Path]:
    for place, system in enumerate(SYSTEMS):
        lines = [f"P_15\t{q:02}\t{hits / 15:.4f}" for q, hits in enumerate(HITS[:, place])]
        (folder / system).write_text("\n".join(lines) + "\n")
    return [folder / system for system in SYSTEMS]


def of_csv(folder: Path) -> Path:
    rows = [",".join(f"{v / 15:.4f}" for v in row) for row in HITS]
    (folder / "P_15.csv").write_text("\n".join([",".join(SYSTEMS), *rows]) + "\n")
    return folder / "P_15.csv"


def of_json(folder: Path) -> Path:
    values = {
        system: {f"{q:02}": {"P@15": round(hits / 15, 4)} for q, hits in enumerate(HITS[:, place])}
        for place, system in enumerate(SYSTEMS)
    }
    (folder / "values.json").write_text(json.dumps(values))
    return folder / "values.json"


@pytest.mark.parametrize("written", [of_trec_eval, of_csv, of_json])
@pytest.mark.parametrize("test", ["wilcoxon", "sign", "permutation"])
def test_compare__printed_values_give_the_p_of_exact_values(written, test, tmp_path: Path):
    exact = irmeta.Matrix(HITS, tuple(map(str, range(30))), SYSTEMS)
    (right,) = irmeta.compare(exact, test=test)
    (found,) = irmeta.compare(written(tmp_path), test=test)
    np.testing.assert_array_equal(found.pairs.p_adjusted, right.pairs.p_adjusted)
    assert found.pairs.tolerance == pytest.approx(1e-4)
    assert right.pairs.tolerance == pytest.approx(15e-12)


@pytest.mark.parametrize("test", ["wilcoxon", "sign", "permutation"])
def test_compare__p_of_precision_is_that_of_the_number_of_relevant_docs(made_store, test):
    for track in ("news", "web"):
        for depth in (5, 10, 20):
            (precision,) = irmeta.matrices(made_store, f"P@{depth}", track=track)
            hits = irmeta.Matrix(
                np.rint(precision.values * depth), precision.queries, precision.systems
            )
            (found,), (right,) = (irmeta.compare(one, test=test) for one in (precision, hits))
            np.testing.assert_array_equal(found.pairs.p_adjusted, right.pairs.p_adjusted)


MEANS = {
    "pyterrier": "name,map,ndcg_cut_10\na,0.3,0.4\nb,0.35,0.45\n",
    "system": "system,P@10,R@10,MAP,nDCG@10\na,0.95,0.66,0.65,0.85\nb,0.97,0.67,0.67,0.86\n",
    "run": "run_id,AP\na,0.95\nb,0.97\n",
    "with an index": ",name,map,ndcg_cut_10\n0,a,0.3,0.4\n1,b,0.35,0.45\n",
    "measures alone": "map,P_10\n0.3,0.4\n",
    "turned": "measure,a,b,c\nP@10,0.95,0.97,0.97\nMAP,0.65,0.67,0.67\n",
    "turned, other heading": "x,a,b,c\nP@10,0.95,0.97,0.97\nMAP,0.65,0.67,0.67\n",
    "tsv": "name\tmap\tndcg_cut_10\na\t0.3\t0.4\nb\t0.35\t0.45\n",
    "trec_eval": "runid                 \tall\ta\nmap                   \tall\t0.4\n",
}


@pytest.mark.parametrize("form", MEANS)
def test_means__are_refused_by_all_commands(form, tmp_path: Path, run):
    files = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for file in files:
        file.write_text(MEANS[form])
    for command in ("power", "compare"):
        for given in (files[:1], files):
            done = run(command, *given)
            assert done.status == 2
            assert "a.csv " in done.err
            assert "a test needs values per query" in done.err
            assert "turn" not in done.err
    with pytest.raises(UsageError, match="a test needs values per query"):
        irmeta.matrices(files[0])


def test_means__are_refused_as_frames_and_parquet(tmp_path: Path):
    frame = pl.DataFrame({"name": ["a", "b"], "map": [0.3, 0.4], "P_10": [0.1, 0.2]})
    with pytest.raises(DataError, match="names measures and no column of queries"):
        irmeta.compare(frame, measures="map")
    with pytest.raises(DataError, match="names measures and no column of queries"):
        irmeta.power(frame.to_pandas())
    frame.write_parquet(tmp_path / "means.parquet")
    with pytest.raises(UsageError, match=r"means\.parquet names measures"):
        irmeta.matrices(tmp_path / "means.parquet")


def test_means__tables_with_queries_are_no_means(tmp_path: Path):
    (tmp_path / "wide.csv").write_text("topic,a,b\n1,0.1,0.2\n2,0.3,0.4\n")
    (matrix,) = irmeta.matrices(tmp_path / "wide.csv")
    assert (matrix.systems, matrix.queries) == (("a", "b"), ("1", "2"))
    (tmp_path / "one.csv").write_text("query_id,map,P_10\n1,0.1,0.2\n2,0.3,0.4\n")
    assert [m.measure for m in irmeta.matrices(tmp_path / "one.csv")] == ["map", "P_10"]


PRINTED_MEANS = "{},qid,measure,value\na,1,map,0.3\na,2,map,0.2\nb,1,map,0.35\nb,2,map,0.5\n"


@pytest.mark.parametrize("name", ["name", "runname", "run_name", "run_id", "run", "Name", "system"])
def test_systems__are_named_by_usual_columns(name, tmp_path: Path):
    (tmp_path / "a.csv").write_text(PRINTED_MEANS.format(name))
    (matrix,) = irmeta.matrices(tmp_path / "a.csv")
    assert dict(zip(matrix.systems, matrix.means.round(3).tolist(), strict=True)) == {
        "a": 0.25,
        "b": 0.425,
    }
    frame = pl.read_csv(tmp_path / "a.csv")
    assert irmeta.matrices(frame)[0].systems == ("a", "b")


def test_systems__without_a_known_column_are_asked_for(tmp_path: Path, run):
    (tmp_path / "a.csv").write_text(PRINTED_MEANS.format("engine"))
    said = "no column names the system. Rename one of engine to system."
    with pytest.raises(DataError, match=said):
        irmeta.matrices(tmp_path / "a.csv")
    with pytest.raises(DataError, match=said):
        irmeta.matrices(pl.read_csv(tmp_path / "a.csv"))
    done = run("compare", tmp_path / "a.csv", tmp_path / "a.csv", "-m", "map")
    assert "is given twice" in done.err
    (tmp_path / "b.csv").write_text(PRINTED_MEANS.format("engine"))
    assert said in run("compare", tmp_path / "a.csv", tmp_path / "b.csv", "-m", "map").err


TOT = "a map 1 .5\na map 2 .2\na map all .35\na runid all a\nb map 1 .3\nb map 2 .1\n"
FOUR = {
    "tot": TOT,
    "tot by tabs": TOT.replace(" ", "\t"),
    "runid first": "a runid all a\n" + TOT,
    "ir_measures": "a 1 AP .5\na 2 AP .2\nb 1 AP .3\nb 2 AP .1\nb all AP .2\n",
}


@pytest.mark.parametrize("form", FOUR)
def test_four_columns__are_recognised_by_content(form, tmp_path: Path, run):
    file = tmp_path / "values.txt"
    file.write_text(FOUR[form])
    (matrix,) = irmeta.matrices(file, "AP")
    assert (matrix.systems, matrix.queries) == (("a", "b"), ("1", "2"))
    assert matrix.values.tolist() == [[0.5, 0.3], [0.2, 0.1]]
    assert irmeta.stats.agreement(matrix, matrix).sign_agreement == 1
    for command in ("compare", "power"):
        assert run(command, file, "-m", "AP").status == 0
    for system in ("a", "b"):
        lines = [one for one in FOUR[form].splitlines() if one[0] == system]
        (tmp_path / system).write_text("\n".join(lines))
    (again,) = irmeta.matrices([tmp_path / "a", tmp_path / "b"], "AP")
    assert again.values.tolist() == matrix.values.tolist()


def test_four_columns__qrels_are_no_values(tmp_path: Path, run):
    (tmp_path / "qrels").write_text("1 0 a 1\n1 0 b 0\n")
    (tmp_path / "run").write_text("1 Q0 b 1 2 s\n1 Q0 a 2 1 s\n")
    done = run("compare", tmp_path / "qrels", tmp_path / "run", "-m", "RR")
    assert (done.status, "s,0.5" in done.out) == (0, True)
    with pytest.raises(IrmetaError):
        irmeta.matrices(tmp_path / "qrels")


def test_equal_names__get_their_folders(tmp_path: Path, run):
    paths = [tmp_path / one for one in ("a/scores.csv", "b/scores.csv", "c/other.csv")]
    for value, path in enumerate(paths, 1):
        path.parent.mkdir()
        path.write_text(f"query_id,map\nq1,0.{value}\nq2,0.1\n")
    (matrix,) = irmeta.matrices(paths)
    assert matrix.systems == ("a/scores", "b/scores", "other")
    done = run("compare", *paths, "-m", "map")
    assert (done.status, "a/scores," in done.out) == (0, True)
