"""`irmeta.catalog`, the command, and the script that writes the catalogue."""

from __future__ import annotations

import csv
import gzip
import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import irmeta
from irmeta.archive import catalog
from irmeta.archive.catalog import FOLDER, STATES, all_choices


def test_catalog__counts() -> None:
    """The numbers of the archive from which the catalogue was made."""
    found = irmeta.catalog()
    assert found.tracks.height == 245
    assert found.runs.height == found.tracks["runs"].sum() == 17_886
    assert found.qrels.height == found.tracks["qrels"].sum() == 312
    assert found.published.height == found.tracks["published"].sum() == 74_764
    assert found.runs["address"].count() == found.tracks["addresses"].sum() == 15_092
    assert (found.tracks["qrels"] > 0).sum() == 175
    assert (found.tracks["published"] > 0).sum() == 124
    assert found.published["evaluator"].n_unique() == 67


def test_catalog__facts_of_2024_and_2025() -> None:
    """Counts of the list of NIST's pages from which these years were made."""
    found = irmeta.catalog(year="2024-2025")
    counts = found.tracks.group_by("year", maintain_order=True).agg(pl.len(), pl.col("runs").sum())
    assert counts.rows() == [(2024, 12, 801), (2025, 10, 640)]
    assert (found.qrels.height, found.topics.height) == (29, 20)
    assert found.published.is_empty()
    assert found.tracks["state"].value_counts(sort=True).row(0) == ("ready", 9)
    assert irmeta.catalog(year="1993-2023").topics.is_empty()


def test_catalog__keys_are_unique() -> None:
    found = irmeta.catalog()
    assert not found.runs.select("id", "task", "run").is_duplicated().any()
    key = found.published.select("id", "run", "evaluator", "measure", "occurrence")
    assert not key.is_duplicated().any()


@pytest.mark.parametrize(
    ("filters", "ids"),
    [
        ({"tracks": "trec8/adhoc"}, ["trec8/adhoc"]),
        ({"tracks": "trec1?/robust"}, ["trec12/robust", "trec13/robust", "trec14/robust"]),
        ({"tracks": ["trec9/web", "trec8/web"]}, ["trec8/web", "trec9/web"]),
        ({"track": "WEB", "year": "1999-2001,2009"}, [f"trec{n}/web" for n in (8, 9, 10, 18)]),
        ({"track": "deep learning", "year": 2019}, ["trec28/deep"]),
        ({"task": "namedpage"}, ["trec11/web", "trec14/terabyte", "trec15/terabyte"]),
        ({"task": "adhoc", "year": "1996,1999-2001"}, ["trec5/adhoc", "trec8/adhoc", "trec10/web"]),
        ({"track": "legal", "has": "runs, qrels"}, [f"trec{n}/legal" for n in (15, 16, 18)]),
        ({"track": "legal", "state": "no runs"}, [f"trec{n}/legal" for n in (17, 19, 20)]),
        ({"track": "legal", "has": ["published"], "year": 2011}, []),
    ],
)
def test_catalog__filters(filters: dict[str, object], ids: list[str]) -> None:
    found = irmeta.catalog(**filters)
    assert found.tracks["id"].to_list() == [*found.ids] == ids
    assert set(found.runs["id"]) == set(ids)


@pytest.mark.parametrize(
    ("filters", "message"),
    [
        ({"tracks": "trec99/*"}, "No track 'trec99/"),
        ({"year": "2005-1999"}, "year = '2005-1999'"),
        ({"year": "99-"}, "year = '99-'"),
        ({"has": "run"}, "Did you mean 'runs'"),
        ({"state": "redy"}, "Did you mean 'ready'"),
    ],
)
def test_catalog__malformed_filter_is_refused(filters: dict[str, str], message: str) -> None:
    with pytest.raises(irmeta.UsageError, match=message.replace("*", r"\*")):
        irmeta.catalog(**filters)


def test_catalog__sets_and_left_out_of_a_track() -> None:
    found = irmeta.catalog("trec15/terabyte")
    assert found.sets["track"].to_list() == ["trec15-terabyte-adhoc", "trec15-terabyte-namedpage"]
    assert found.left_out.select("task", "runs").rows() == [("comp_eff", 17), ("efficiency", 25)]
    assert irmeta.catalog("trec8/qa").sets.is_empty()
    assert irmeta.catalog("trec3/adhoc").sets["queries"].to_list() == ["151-200"]


def test_catalog__representations() -> None:
    found = irmeta.catalog("trec8/adhoc")
    title, _, row = repr(found).split("\n")
    assert title == "Catalog(1 track, 129 runs, 1 file of qrels, 645 published scores)"
    assert row.split()[:2] == ["trec8/adhoc", "1999"]
    assert "trec8/adhoc" in found._repr_html_()


def test_catalog_command__csv_has_all_tracks(run) -> None:
    rows = list(csv.DictReader(run("catalog").out.splitlines()))
    assert len(rows) == 245
    assert {row["state"] for row in rows} == set(STATES)


def test_catalog_command__table_counts_states(run) -> None:
    shown = run("catalog", "--year", "1993", "--format", "table").out
    assert " ".join(shown.splitlines()[1].split()[:3]) == "trec2/adhoc 1993 Adhoc"
    assert shown.splitlines()[-1] == "2 tracks: 2 ready"
    assert run("catalog", "--year", "1900", "--format", "table").out.splitlines()[-1] == "no track"


def test_catalog_command__describes_one_track(run) -> None:
    shown = run("catalog", "trec16/legal").out
    for part in ("Legal, 2007", "Runs by group and type", "Tasks left out", "qrelsL07.normal",
                 "trec16-legal-routing", "recip_rank"):  # fmt: skip
        assert part in shown
    assert "a question" not in shown
    assert "No published scores" not in shown
    newest = run("catalog", "trec34/tot").out
    assert "Topics as listed by NIST" in newest
    assert "No published scores of runs are known." in newest
    assert "four criteria" in run("catalog", "trec30/podcast").out


def test_catalog_command__lists_any_frame_in_any_format(run) -> None:
    found = json.loads(run("catalog", "trec18/web", "--list", "sets", "--format", "json").out)
    assert found["tables"]["sets"][0]["run_tasks"] == ["adhoc", "diversity"]
    markdown = run("catalog", "trec18/web", "--list", "qrels", "--format", "markdown").out
    assert markdown.startswith("| id | name | address |")
    assert r"\begin{tabular}" in run("catalog", "trec18/web", "--format", "latex").out
    assert run("catalog", "trec18/web", "--list", "runs").out.count("\n") == 120


def test_catalog_command__unknown_track_gives_status_2(run) -> None:
    done = run("catalog", "trec8/adhok")
    assert done.status == 2
    assert "Did you mean 'trec8/adhoc'?" in done.err


def test_tracks__repeated_names_of_runs_are_kept() -> None:
    spanish = catalog.runs().filter(id="trec4/spanish")
    assert spanish["run"].is_duplicated().sum() == 10


def test_published__names_are_those_of_runs_outside_of_session_tracks() -> None:
    names = catalog.published().select("id", "run").unique()
    others = names.join(catalog.runs(), on=["id", "run"], how="anti")
    assert others.height == 100
    assert all(id_.endswith("/session") for id_ in others["id"])


def test_runs__files_of_used_runs_have_the_name_of_the_run() -> None:
    """Systems of a fetched collection are named by file."""
    used = pl.concat(
        catalog.runs().filter(pl.col("id") == one.id, pl.col("task").is_in(task.run_tasks))
        for one in all_choices().values()
        for task in one.tasks
    ).drop_nulls("address")
    file = pl.col("address").str.extract(r"/([^/]+)$")
    stem = file.str.replace(r"^input\.", "").str.replace(r"\.(gz|Z)$", "")
    assert used.height > 7000
    assert used.filter(stem != pl.col("run")).is_empty()


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
