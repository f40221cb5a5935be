"""Result files: atomic writing, provenance and reproducible bytes."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from polars.testing import assert_frame_equal

import irmeta
from irmeta.errors import UsageError
from irmeta.files import write_text
from irmeta.results.scores import wide
from irmeta.results.tidy_files import provenance, write_out, write_parquet
from irmeta.schema.result_tables import MEANS, SEARCH_LENGTHS

RECORD = {"irmeta": "0.1.0", "store": "abc", "eval_policy": {"queries": "judged"}, "ü": [1, None]}


@pytest.fixture
def means(made_store) -> pl.DataFrame:
    return made_store.means("AP,ASL", track="passage")


def names(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


def test_write_parquet__round_trip(means, tmp_path):
    path = tmp_path / "new" / "folder" / "means.parquet"
    assert write_parquet(means, path, MEANS, RECORD) == means.height
    assert_frame_equal(pl.read_parquet(path), means)
    assert names(path.parent) == ["means.parquet"]


def test_write_parquet__plain_strings_and_nullability(means, tmp_path):
    write_parquet(means, tmp_path / "means.parquet", MEANS, RECORD)
    schema = pq.read_schema(tmp_path / "means.parquet")
    assert schema.field("system").type == pa.string()
    assert schema.field("track").type == pa.string()
    assert not schema.field("value").nullable
    assert schema.field("lists_without_nonrelevant").nullable


def test_provenance__stored_in_the_file(means, tmp_path):
    write_parquet(means, tmp_path / "means.parquet", MEANS, RECORD)
    assert provenance(tmp_path / "means.parquet") == RECORD


def test_provenance__none_for_other_files(means, tmp_path):
    means.write_parquet(tmp_path / "theirs.parquet")
    (tmp_path / "text.parquet").write_text("not Parquet")
    (tmp_path / "empty.parquet").write_bytes(b"")
    for name in (*names(tmp_path), "absent.parquet"):
        assert provenance(tmp_path / name) is None


def test_write_parquet__row_group_for_each_frame(means, tmp_path):
    path = tmp_path / "means.parquet"
    assert write_parquet(iter([means, means.head(3)]), path, MEANS, {}) == means.height + 3
    metadata = pq.read_metadata(path)
    assert [metadata.row_group(i).num_rows for i in range(2)] == [means.height, 3]
    assert_frame_equal(pl.read_parquet(path), pl.concat([means, means.head(3)]))


def test_write_parquet__same_input_gives_identical_bytes(means, tmp_path):
    backwards = dict(reversed(RECORD.items()))
    write_parquet([means, means], tmp_path / "a", MEANS, RECORD)
    write_parquet([means, means], tmp_path / "b", MEANS, backwards)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize("before", [None, b"what was there"])
def test_write_parquet__error_keeps_the_previous_file(means, tmp_path, before):
    path = tmp_path / "means.parquet"
    if before is not None:
        path.write_bytes(before)

    def frames() -> Iterator[pl.DataFrame]:
        yield means
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_parquet(frames(), path, MEANS, RECORD)
    assert names(tmp_path) == ([] if before is None else ["means.parquet"])
    assert before is None or path.read_bytes() == before


def test_write_parquet__rejects_frame_violating_the_schema(means, tmp_path):
    broken = means.with_columns(value=pl.lit(None, pl.Float64))
    with pytest.raises(AssertionError, match="null in value"):
        write_parquet([means, broken], tmp_path / "means.parquet", MEANS, RECORD)
    assert names(tmp_path) == []


def test_write_parquet__accepts_arrow_tables(made_store, tmp_path):
    frame = made_store.per_doc.search_lengths("news").head(400)
    names_of = frame["doc"].unique().sort()
    schema = SEARCH_LENGTHS.arrow(dictionary=True)
    table = frame.to_arrow().cast(schema)
    assert pa.types.is_dictionary(table.schema.field("doc").type)
    assert write_parquet([table, table.slice(7, 5)], tmp_path / "a", SEARCH_LENGTHS, {}) == 405
    assert_frame_equal(pl.read_parquet(tmp_path / "a"), pl.concat([frame, frame[7:12]]))
    assert pq.read_schema(tmp_path / "a").field("doc").type == pa.string()
    assert set(pl.read_parquet(tmp_path / "a")["doc"]) == set(names_of)
    broken = table.set_column(4, schema.field("grade"), pa.nulls(400, pa.int8()))
    with pytest.raises(AssertionError, match="null in grade"):
        write_parquet(broken, tmp_path / "b", SEARCH_LENGTHS, {})
    assert names(tmp_path) == ["a"]


def test_write_text__error_keeps_the_previous_file(tmp_path):
    write_text(tmp_path / "new" / "page.html", "é\n")
    assert (tmp_path / "new" / "page.html").read_bytes() == "é\n".encode()
    with pytest.raises(UnicodeEncodeError):
        write_text(tmp_path / "new" / "page.html", "\ud800")
    assert (tmp_path / "new" / "page.html").read_bytes() == "é\n".encode()
    assert names(tmp_path / "new") == ["page.html"]


def test_write_out__csv_has_full_precision(means, tmp_path):
    write_out(means, tmp_path / "means.csv", RECORD, force=False)
    with (tmp_path / "means.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == means.columns
    assert [float(row["value"]) for row in rows] == means["value"].to_list()


def test_write_out__undefined_value_is_nan_in_csv_and_parquet(tmp_path, made_store):
    frame = made_store.evaluate("ASL", track="passage", system="larkSplade", per_query=True)
    for name in ("out.csv", "out.parquet"):
        write_out(frame, tmp_path / name, RECORD, force=False)
    for found in (pl.read_csv(tmp_path / "out.csv"), pl.read_parquet(tmp_path / "out.parquet")):
        kept = found.filter(pl.col("value").is_nan())["query"].cast(pl.String)
        assert kept.to_list() == ["264014"]


@pytest.mark.parametrize("name", ["out.parquet", "out.csv"])
def test_write_out__replaces_files_of_irmeta(means, tmp_path, name):
    write_out(means, tmp_path / name, RECORD, force=False)
    before = (tmp_path / name).read_bytes()
    write_out(means.head(1), tmp_path / name, RECORD, force=False)
    assert (tmp_path / name).read_bytes() != before
    assert names(tmp_path) == [name]


@pytest.mark.parametrize("name", ["out.parquet", "out.csv"])
@pytest.mark.parametrize("content", [b"", b"track,system,theirs\n1,2,3\n", b"PAR1"])
def test_write_out__replaces_other_files_only_with_force(means, tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(UsageError, match=r"irmeta did not write it: use `force=True`"):
        write_out(means, path, RECORD, force=False)
    assert path.read_bytes() == content
    write_out(means, path, RECORD, force=True)
    assert path.read_bytes() != content


@pytest.mark.parametrize("name", ["out.txt", "out", "out.parquet.gz"])
def test_write_out__rejects_other_extensions(means, tmp_path, name):
    with pytest.raises(UsageError, match=r"is \.parquet or \.csv"):
        write_out(means, tmp_path / name, RECORD, force=True)
    assert names(tmp_path) == []


def test_write_out__rejects_folder(means, tmp_path):
    (tmp_path / "out.csv").mkdir()
    with pytest.raises(UsageError, match="is a folder"):
        write_out(means, tmp_path / "out.csv", RECORD, force=True)


def test_write_out__wide_table(made_store, tmp_path):
    frame = wide(made_store.means("AP,nDCG@10", track="news"))
    write_out(frame, tmp_path / "wide.parquet", RECORD, force=False)
    assert_frame_equal(pl.read_parquet(tmp_path / "wide.parquet"), frame)
    assert provenance(tmp_path / "wide.parquet") == RECORD


def test_store_provenance__measures_policies_and_tracks(made_store):
    record = made_store.provenance("AP,RBP(p=0.5,gain=linear)", queries="relevant")
    assert record["irmeta"] == irmeta.__version__
    assert record["eval_policy"]["queries"] == "relevant"
    assert record["measures"]["RBP(p=0.5,gain=linear)"] == {
        "p": 0.5,
        "rel": 1,
        "gain": "linear",
        "gmax": None,
        "ties": "order",
        "unjudged": "nonrelevant",
        "average": "arithmetic",
        "revision": 2,
    }
    tracks = record["tracks"]
    assert {t: facts["highest_grade"] for t, facts in tracks.items()} == {
        "news": 1,
        "passage": 3,
        "web": 4,
    }
    assert len({facts["fingerprint"] for facts in tracks.values()}) == 3
    assert {facts["tie_order"] for facts in tracks.values()} == {"trec_eval"}


def test_store_provenance__qrels_set_and_tie_order_of_a_track(made_store):
    choices = {"track": "web", "qrels": "diversity", "tie_order": "file"}
    (facts,) = made_store.provenance("AP", **choices)["tracks"].values()
    assert facts["highest_grade"] == 3
    assert facts["qrels"] == "diversity"
    assert facts["tie_order"] == "file"
    assert facts["read_policy"]["tie_order"] == "trec_eval"
