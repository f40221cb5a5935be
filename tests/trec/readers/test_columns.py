"""Columns of tables that the user names: in files, in memory, in every form."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import irmeta
from irmeta.errors import IrmetaError, UsageError
from irmeta.policies import ReadPolicy

QRELS = pl.DataFrame(
    {"q": ["a", "a", "b"], "sku": ["x", "y", "x"], "ctr": [0.0, 1.0, 0.5], "rating": [1, 0, 0]}
)
RUN = pl.DataFrame(
    {"q": ["a", "a", "b"], "sku": ["x", "y", "x"], "p": [0.1, 0.9, 0.3], "run": ["s", "s", "s"]}
)
COLUMNS = "query=q,doc=sku,grade=ctr,score=p,system=run"
FORMS = ("csv", "tsv", "parquet", "json", "jsonl")


def write(frame: pl.DataFrame, file: Path) -> str:
    if file.suffix == ".tsv":
        frame.write_csv(file, separator="\t")
    else:
        ending = {".jsonl": "ndjson"}.get(file.suffix, file.suffix[1:])
        getattr(frame, f"write_{ending}")(file)
    return str(file)


@pytest.mark.parametrize("form", FORMS)
def test_columns__are_read_in_every_form(form, tmp_path: Path):
    qrels, run = (write(f, tmp_path / f"{n}.{form}") for n, f in (("q", QRELS), ("r", RUN)))
    found = irmeta.evaluate(qrels, run, "RR(rel=0.6)", columns=COLUMNS, queries="relevant")
    assert found.select("system", "value").rows() == [("s", 1.0)]
    found = irmeta.evaluate(qrels, run, "RR(rel=0.6)", columns=COLUMNS.replace("ctr", "rating"))
    assert found["value"].to_list() == [0.25]  # doc x of query a at rank 2


def test_columns__of_frames_are_a_dict_too():
    named = {"query": "q", "doc": "sku", "grade": "ctr", "score": "p"}
    found = irmeta.evaluate(QRELS, RUN, "nDCG@10", columns=named)
    assert found["value"].to_list() == [1.0]
    lists = QRELS.to_dict(as_series=False), RUN.to_dict(as_series=False)
    assert irmeta.evaluate(*lists, "nDCG@10", columns=named)["value"].to_list() == [1.0]
    assert irmeta.ReadPolicy(columns=named).columns == (
        "query=q",
        "doc=sku",
        "grade=ctr",
        "score=p",
    )


def test_columns__named_twice_are_the_first_that_a_table_has(tmp_path: Path):
    run = RUN.rename({"sku": "item"})
    columns = "query=q,doc=sku,doc=item,grade=ctr,score=p"
    assert irmeta.evaluate(QRELS, run, "nDCG@10", columns=columns)["value"].to_list() == [1.0]
    with pytest.raises(IrmetaError, match="no column of the doc called 'sku'"):
        irmeta.evaluate(QRELS, run, "nDCG@10", columns=columns.replace(",doc=item", ""))


@pytest.mark.parametrize("form", FORMS)
def test_columns__that_a_table_lacks_are_an_error_that_lists_its_own(form, tmp_path: Path):
    qrels = write(QRELS, tmp_path / f"q.{form}")
    for wrong, key in (
        (COLUMNS.replace("sku", "skus"), "doc"),
        (COLUMNS.replace("ctr", "crt"), "grade"),
    ):
        with pytest.raises(IrmetaError) as error:
            irmeta.evaluate(qrels, {"a": {"x": 1}}, "AP", columns=wrong)
        assert f"no column of the {key} called" in str(error.value)
        assert "the columns are q, sku, ctr" in str(error.value)
        assert "Did you mean" in str(error.value)
    with pytest.raises(IrmetaError, match="no column of the subtopic called 'none'"):
        irmeta.evaluate(qrels, {"a": {"x": 1}}, "AP", columns=f"{COLUMNS},subtopic=none")


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ("dok=sku", "no column holds 'dok'. Did you mean 'doc'"),
        ("sku", "'sku' is not KEY=COLUMN"),
        ("doc=", "'doc=' is not KEY=COLUMN"),
        ("doc=a,query=a", "'a' is given for doc and query"),
    ],
)
def test_columns__malformed_are_refused(columns, said):
    with pytest.raises(UsageError, match=said):
        ReadPolicy(columns=columns)


def test_columns__may_have_commas_and_signs():
    assert ReadPolicy(columns=["doc=a,b", "grade=x=y"]).columns == ("doc=a,b", "grade=x=y")


def test_columns__of_commands(run, tmp_path: Path):
    qrels, lists = write(QRELS, tmp_path / "q.csv"), write(RUN, tmp_path / "r.csv")
    done = run("evaluate", qrels, lists, "-m", "nDCG@10", "--columns", COLUMNS)
    assert "s,nDCG@10,1" in done.out
    done = run("evaluate", qrels, lists, "-m", "nDCG@10")
    assert "`--columns query=COLUMN,doc=COLUMN`" in done.err
    done = run("evaluate", qrels, lists, "-m", "nDCG@10", "--columns", "doc=skus")
    assert "Did you mean" in done.err
    done = run("validate", lists, "--columns", "query=q,doc=sku,score=p")
    assert done.status == 0
    done = run("agree", qrels, f"judge={qrels}", "--columns", "query=q,doc=sku,grade=rating")
    assert done.status == 0


def test_columns__without_a_table_are_refused(tmp_path: Path):
    (tmp_path / "q").write_text("q 0 d 1\n")
    (tmp_path / "r").write_text("q Q0 d 1 1 s\n")
    with pytest.raises(UsageError, match="no file has named columns"):
        irmeta.read_files(tmp_path / "q", tmp_path / "r", columns="doc=sku")


def test_columns__of_a_collection(tmp_path: Path):
    (tmp_path / "t" / "runs").mkdir(parents=True)
    write(RUN, tmp_path / "t" / "runs" / "r.csv")
    write(QRELS, tmp_path / "t" / "qrels.csv")
    (tmp_path / "collection.toml").write_text(f'[tracks.t]\ncolumns = ["{COLUMNS}"]\n')
    store = irmeta.ingest(tmp_path, tmp_path / "store")
    assert store.means("nDCG@10")["value"].to_list() == [1.0]


VALUES = pl.DataFrame(
    {"who": ["a", "b"] * 4, "topic": [1, 1, 2, 2, 3, 3, 4, 4],
     "what": ["AP"] * 8, "got": [0.1, 0.5, 0.2, 0.4, 0.3, 0.8, 0.1, 0.9]}
)  # fmt: skip
OF_VALUES = "system=who,measure=what,value=got"


@pytest.mark.parametrize("form", ["csv", "parquet", "json"])
def test_columns__of_tables_of_values(form, tmp_path: Path, run):
    file = write(VALUES, tmp_path / f"v.{form}")
    (found,) = irmeta.matrices(file, columns=OF_VALUES)
    assert found.systems == ("a", "b")
    assert found.values[:, 1].tolist() == [0.5, 0.4, 0.8, 0.9]
    compared = irmeta.compare(file, "AP", columns=OF_VALUES).frame()
    assert sorted(compared["mean"].round(6)) == [0.175, 0.65]
    done = run("power", file, "--columns", OF_VALUES)
    assert done.status == 0, done.err
    done = run("compare", file, "--columns", OF_VALUES.replace("got", "gott"))
    assert "no column of the value called 'gott'; the columns are who" in done.err
    done = run("compare", file, "--columns", f"{OF_VALUES},doc=who2")
    assert "no column of the doc" in done.err


def test_columns__of_frames_and_several_files_of_values(tmp_path: Path):
    (found,) = irmeta.matrices(VALUES, columns=OF_VALUES)
    assert found.systems == ("a", "b")
    files = [write(VALUES.filter(who=one), tmp_path / f"{one}.csv") for one in ("a", "b")]
    (found,) = irmeta.matrices(files, columns=OF_VALUES)
    assert found.systems == ("a", "b")
    with pytest.raises(UsageError, match="is for tables"):
        irmeta.matrices(irmeta.from_data({"q": {"d": 1}}, {"q": {"d": 1}}), columns=OF_VALUES)


def test_columns__of_published_values(tmp_path: Path, run):
    store = irmeta.from_data({"q": {"d": 1}}, {"s": {"q": {"d": 1.0}}})
    table = pl.DataFrame({"run": ["s"], "metric": ["AP"], "score": ["1.0000"]})
    columns = {"system": "run", "measure": "metric", "value": "score"}
    found = irmeta.verify(store, table, columns=columns)
    assert found.values["verdict"].to_list() == ["reproduced"]
    with pytest.raises(UsageError, match=r"it has run, metric, score.*`columns='system=COLUMN'`"):
        irmeta.verify(store, table)
    (tmp_path / "q").write_text("q 0 d 1\n")
    (tmp_path / "r").write_text("q Q0 d 1 1 s\n")
    table.write_csv(tmp_path / "p.csv")
    line = ("verify", tmp_path / "q", tmp_path / "r", "--published", tmp_path / "p.csv")
    done = run(*line, "--columns", "system=run,measure=metric,value=score")
    assert done.status == 0, done.err
    assert "--columns system=COLUMN" in run(*line).err


def test_columns__without_effect_on_a_collection_are_refused(collections: Path, tmp_path: Path):
    with pytest.raises(irmeta.UsageError, match="no file has named columns: omit `columns=`"):
        irmeta.read(collections, track="news", columns="doc=sku")
    with pytest.raises(irmeta.UsageError, match="no file has named columns: omit `columns=`"):
        irmeta.ingest(collections, tmp_path / "store", track="news", columns="doc=sku")
    assert not (tmp_path / "store").exists()


@pytest.mark.study
def test_columns__of_a_judges_table(collections: Path, tmp_path: Path, run):
    """A judge in a table with other names gives the verdicts of the same judge in TREC's form."""
    news, labels = collections / "news", tmp_path / "labels.txt"
    rows = [line.split() for line in (news / "qrels.txt").read_text().splitlines()]
    odd = [(q, doc, str(int(int(doc[-1], 36) % 3 > 0 and int(g) > 0))) for q, _, doc, g in rows]
    labels.write_text("".join(f"{q} 0 {doc} {grade}\n" for q, doc, grade in odd))
    table = tmp_path / "labels.csv"
    table.write_text("topic_no,sku,ctr\n" + "".join(f"{','.join(row)}\n" for row in odd))
    store = tmp_path / "store"
    assert run("ingest", news, "--out", store).status == 0
    few = ("-m", "AP", "--resamples", "20", "--draws", "39", "--splits", "9", "--adoption", "0",
           "--no-figures")  # fmt: skip
    columns = ("--columns", "query=topic_no,doc=sku,grade=ctr")

    def verdict(source: object, judge: Path, *more: str) -> pl.DataFrame:
        out = tmp_path / f"out{len([*tmp_path.iterdir()])}"
        line = ("study", "judges", source, "--out", out, "--judge", f"j={judge}", *few, *more)
        done = run(*line)
        assert done.status == 0, done.err
        return pl.read_parquet(out / "verdicts.parquet")

    expected = verdict(store, labels)
    assert verdict(store, table, *columns).equals(expected)
    assert verdict(news, table, *columns).equals(expected)  # runs and qrels are no tables
    line = ("study", "judges", store, "--out", tmp_path / "no", "--judge")
    done = run(*line, f"j={labels}", *columns)
    assert done.status == 2
    assert "no file of a judge has named columns" in done.err
    done = run(*line, f"j={table}", "--columns", "query=topic_no,doc=skew,grade=ctr")
    assert "skew" in done.err
    assert "sku" in done.err
