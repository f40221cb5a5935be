"""The script that makes the files of the catalogue."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from irmeta.archive.catalog import FOLDER

ROOT = Path(__file__).parents[2]
FILES = ("runs", "qrels", "topics", "published")
MOST_BYTES = 1_000_000

RUNS = """edition,track_dir,year,track,task,run,participant,type,input_url,md5
trec2,web,1994,Web,b,r1,g1,,,
trec2,web,1994,Web,a,r1,g1,manual,http://x/r1,00
trec1,web,1993,Web,,007,g2,,http://x/007,
"""
QRELS = """edition,track_dir,name,url
trec2,web,"a, b",http://x/q
"""
SCORES = """edition,track_dir,run,evaluator,measure,query,value
trec2,web,r1,e,map,all,0.10
trec2,web,r1,e,P_10,all,1
trec2,web,r1,e,map,all,0.1
"""


DATA = """edition,track_dir,name,url
trec2,web,,http://x/2-qrels
trec2,web,new,http://x/topics
"""


def make(out: Path, *sources: Path) -> None:
    script = ROOT / "data_fixtures" / "make_catalog.py"
    subprocess.run([sys.executable, script, *sources, "--out", out], check=True)


@pytest.mark.exhaustive
def test_make_catalog__keeps_facts_as_they_are(tmp_path: Path) -> None:
    texts = {"runs": RUNS, "qrels": QRELS, "data": DATA, "published_scores": SCORES}
    for name, text in texts.items():
        (tmp_path / f"trec_{name}.csv.gz").write_bytes(gzip.compress(text.encode()))
    make(tmp_path / "made", tmp_path)
    runs, qrels, topics, published = (
        pl.read_parquet(tmp_path / "made" / f"{n}.parquet") for n in FILES
    )
    assert runs["run", "task", "type", "md5"].rows() == [
        ("007", "", None, None),
        ("r1", "a", "manual", "00"),
        ("r1", "b", None, None),
    ]
    assert qrels.rows() == [
        ("trec2/web", "a, b", "http://x/q"),
        ("trec2/web", None, "http://x/2-qrels"),
    ]
    assert topics.rows() == [("trec2/web", "new", "http://x/topics")]
    assert published["measure", "occurrence", "value"].rows() == [
        ("P_10", 0, "1"),
        ("map", 0, "0.10"),
        ("map", 1, "0.1"),
    ]


@pytest.mark.real
def test_make_catalog__reproduces_the_files(shared: Path, tmp_path: Path) -> None:
    """Another version of polars may encode the same rows in other bytes."""
    make(tmp_path, shared / "catalog", shared / "catalog2425")
    for name in FILES:
        kept, made = FOLDER / f"{name}.parquet", tmp_path / f"{name}.parquet"
        assert_frame_equal(pl.read_parquet(kept), pl.read_parquet(made))
        if pl.read_parquet_metadata(kept)["polars"] == pl.__version__:
            assert kept.read_bytes() == made.read_bytes()


def test_catalog_files__are_small() -> None:
    assert sum((FOLDER / f"{name}.parquet").stat().st_size for name in FILES) < MOST_BYTES
