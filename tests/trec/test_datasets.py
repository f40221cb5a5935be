"""Qrels of ir_datasets where a file of qrels is expected."""

from __future__ import annotations

import sys
from collections import namedtuple
from pathlib import Path
from types import SimpleNamespace

import pytest

import irmeta
from irmeta.trec.source import dataset_qrels

Qrel = namedtuple("Qrel", "query_id doc_id relevance iteration")
SubQrel = namedtuple("SubQrel", "query_id doc_id relevance subtopic_id")
ROWS = {
    "made": [Qrel("1", "a", 1, "0"), Qrel("1", "b", -1, "0")],
    "diverse": [SubQrel("1", "a", 1, "2"), SubQrel("1", "a", 0, "3")],
    "spaced": [Qrel("1", "a b", 1, "0")],
}


@pytest.fixture
def datasets(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[object]]:
    """Data sets of ir_datasets by name, which a test may change."""
    rows = dict(ROWS)

    def load(name: str) -> SimpleNamespace:
        return SimpleNamespace(has_qrels=lambda: True, qrels_iter=lambda r=rows[name]: iter(r))

    monkeypatch.setitem(sys.modules, "ir_datasets", SimpleNamespace(load=load))
    return rows


@pytest.fixture
def collection(tmp_path: Path, datasets: dict[str, list[object]]) -> Path:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "x").write_text("1 Q0 b 1 2 x\n1 Q0 a 2 1 x\n", encoding="utf-8")
    text = '[tracks.t]\nruns = ["runs/*"]\nqrels = "ir_datasets:made"\n'
    (tmp_path / "collection.toml").write_text(text, encoding="utf-8")
    return tmp_path


def test_dataset_qrels__second_column_is_iteration_or_subtopic(datasets: dict[str, list[object]]):
    assert dataset_qrels("ir_datasets:made") == b"1 0 a 1\n1 0 b -1\n"
    assert dataset_qrels("irds:diverse") == b"1 2 a 1\n1 3 a 0\n"


def test_dataset_qrels__id_with_a_space(datasets: dict[str, list[object]]):
    with pytest.raises(irmeta.DataError, match="row 0: an id is empty or has a space: '1 0 a b 1'"):
        dataset_qrels("ir_datasets:spaced")


def test_collection__qrels_of_ir_datasets(collection: Path, tmp_path: Path):
    store = irmeta.ingest(collection, tmp_path / "store")
    assert store.means("RR")["value"].to_list() == [0.5]
    assert store.qrels().collect()["grade"].to_list() == [1, -1]


def test_collection__reads_a_data_set_again_where_it_changed(
    collection: Path, tmp_path: Path, datasets: dict[str, list[object]]
):
    irmeta.ingest(collection, tmp_path / "store")
    datasets["made"] = [Qrel("1", "b", 1, "0")]
    assert irmeta.ingest(collection, tmp_path / "store").means("RR")["value"].to_list() == [1.0]


def test_collection__unknown_data_set(collection: Path):
    file = collection / "collection.toml"
    file.write_text(file.read_text().replace("made", "other"), encoding="utf-8")
    with pytest.raises(irmeta.IrmetaError, match="ir_datasets has no data set 'other'"):
        irmeta.read(collection)


def test_evaluate__qrels_of_ir_datasets(collection: Path, run):
    done = run("evaluate", "ir_datasets:made", collection / "runs" / "x", "-m", "RR")
    assert done.status == 0
    assert "x,RR,0.5" in done.out
    done = run("trec_eval", "-m", "recip_rank", "irds:made", collection / "runs" / "x")
    assert done.out.split() == ["recip_rank", "all", "0.5000"]


def test_read_files__data_set_without_a_run(datasets: dict[str, list[object]]):
    with pytest.raises(irmeta.UsageError, match="ir_datasets:made alone is not a track"):
        irmeta.read_files("ir_datasets:made", [])
