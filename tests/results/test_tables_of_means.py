"""Tables of means, names of systems, tables of four columns, and files of equal names."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import irmeta
from irmeta.errors import DataError, IrmetaError, UsageError

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


VALUES = "{},qid,measure,value\na,1,map,0.3\na,2,map,0.2\nb,1,map,0.35\nb,2,map,0.5\n"


@pytest.mark.parametrize("name", ["name", "runname", "run_name", "run_id", "run", "Name", "system"])
def test_systems__are_named_by_usual_columns(name, tmp_path: Path):
    (tmp_path / "a.csv").write_text(VALUES.format(name))
    (matrix,) = irmeta.matrices(tmp_path / "a.csv")
    assert dict(zip(matrix.systems, matrix.means.round(3).tolist(), strict=True)) == {
        "a": 0.25,
        "b": 0.425,
    }
    frame = pl.read_csv(tmp_path / "a.csv")
    assert irmeta.matrices(frame)[0].systems == ("a", "b")


def test_systems__without_a_known_column_are_asked_for(tmp_path: Path, run):
    (tmp_path / "a.csv").write_text(VALUES.format("engine"))
    said = "no column names the system. Rename one of engine to system."
    with pytest.raises(DataError, match=said):
        irmeta.matrices(tmp_path / "a.csv")
    with pytest.raises(DataError, match=said):
        irmeta.matrices(pl.read_csv(tmp_path / "a.csv"))
    done = run("compare", tmp_path / "a.csv", tmp_path / "a.csv", "-m", "map")
    assert "is given twice" in done.err
    (tmp_path / "b.csv").write_text(VALUES.format("engine"))
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
