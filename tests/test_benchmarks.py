"""Every script in benchmarks/ runs, at its smallest size and beside small made tracks."""

from __future__ import annotations

import gzip
import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from irmeta.trec.system_names import stem

ROOT = Path(__file__).parents[1]
ARGUMENTS: dict[str, tuple[str, ...]] = {
    "all": ("--smallest", "--busy", "--only", "bench_views", "--only", "bench_curve"),
    "archive": ("WORK", "--scale", "0.001", "--track", "2002-named-page"),
    "bench_cluster": ("--repeat", "1", "--only", "small"),
    "bench_labels": ("--queries", "50"),
    "bench_one_run": ("--queries", "20", "--docs", "30", "--repeat", "1"),
    "bench_properties": ("--repeat", "1", "--length", "4"),
    "claim_intervals": ("2",),
    "faults": ("--seed", "1", "--inputs", "40", "--kills", "2", "--flips", "3", "--others", "2"),
    "full_scale": ("--scale", "0.001", "--work", "WORK", "--study-track", "2020-news"),
    "levels": ("20",),
    "pairs_separated": (),
    "recommender": ("WORK", "--users", "20", "--systems", "3", "--depth", "10"),
}
"""Arguments of scripts of several sizes; WORK stands for an empty folder."""
SMALLER: dict[str, dict[str, str]] = {
    "bench_curve": {"SYSTEMS, QUERIES, DEPTH = 60, 50": "SYSTEMS, QUERIES, DEPTH = 9, 5"},
    "bench_fetch": {"FILES, BYTES = 500, 400_000": "FILES, BYTES = 20, 4_000"},
    "bench_in_memory": {" = 60, 50, 1000, 60_000, 1000": " = 3, 5, 100, 6_000, 100"},
    "bench_kernels": {"60: 50, 129: 50, 2000: 20": "60: 5, 129: 5, 2000: 1"},
    "bench_rareness": {"129, 50, (2, 4, 8, 16, 32, 64), 1000": "30, 5, (2, 4, 8), 20"},
    "bench_stats_hsd": {"100_000": "1_000", "20_000": "1_000", "2000, 1_000": "200, 100"}
    | {f"{name}(2000, 1)": f"{name}(200, 1)" for name in ("tukey", "on_subsets")},
    "bench_stats_orders": {"ORDERINGS, SYSTEMS, QUERIES = 1000": "ORDERINGS, SYSTEMS, QUERIES = 50"}
    | {"SCIPY_PAIRS = 300": "SCIPY_PAIRS = 30", "resamples=10_000": "resamples=100"}
    | {"(129, 2000)": "(129, 200)"},
    "bench_stats_pairs": {
        ", 2000, ": ", 200, ",
        "10_000": "100",
        "SAMPLE = 50, 300": "SAMPLE = 50, 9",
    },
    "claim_intervals": {"= 20, 20, 11, 4_000": "= 6, 10, 11, 20"},
    "bench_views": {"143, 30, 290": "12, 5, 100", "88_573, 30": "883, 30"},
}
"""Sizes in the text of a script, and those that a test runs."""
STARTED_BY_OTHERS = {"parts", "peer_programs"}
SCRIPTS = [
    file.stem
    for file in sorted((ROOT / "benchmarks").glob("*.py"))
    if '__name__ == "__main__"' in file.read_text(encoding="utf-8")
    and file.stem not in STARTED_BY_OTHERS
]
TRACKS = (
    *("trec-covid-r1", "robust-2003", "clef-ehealth-2015"),
    *("legaldiv", "web-2012", "clef-tar-2017"),
)
SYSTEMS, QUERIES, DEPTH = 8, 6, 40


def lines_of(file: Path) -> list[list[str]]:
    raw = file.read_bytes()
    text = (gzip.decompress(raw) if file.suffix == ".gz" else raw).decode()
    rows = [line.split() for line in text.splitlines()]
    first = sorted({row[0] for row in rows})[:QUERIES]
    return [row for row in rows if row[0] in first]


def make_track(folder: Path, news: Path) -> None:
    """Write a part of the made track `news`."""
    (folder / "runs").mkdir(parents=True)
    judged = lines_of(news / "qrels.txt")
    text = "".join(f"{' '.join(row)}\n" for row in judged)
    (folder / "qrels.txt").write_text(text, encoding="utf-8")
    for run in sorted((news / "runs").iterdir())[:SYSTEMS]:
        rows = [row for row in lines_of(run) if int(row[3]) <= DEPTH]
        text = "".join(f"{' '.join(row)}\n" for row in rows)
        (folder / "runs" / f"{stem(run.name)}.gz").write_bytes(gzip.compress(text.encode()))


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, collections: Path) -> Path:
    """A project's folder with copies of what the scripts write to, and a small shared folder."""
    root = tmp_path_factory.mktemp("project")
    shutil.copytree(ROOT / "benchmarks", root / "benchmarks")
    for script, sizes in SMALLER.items():
        file = root / "benchmarks" / f"{script}.py"
        text = file.read_text(encoding="utf-8")
        for size, smaller in sizes.items():
            assert size in text, f"{script}: {size}"
            text = text.replace(size, smaller)
        file.write_text(text, encoding="utf-8")
    shutil.copytree(ROOT / "notebooks" / "site", root / "notebooks" / "site")
    (root / "data_fixtures").symlink_to(ROOT / "data_fixtures")
    (root / "tests").mkdir()
    (root / "tests" / "support").symlink_to(ROOT / "tests" / "support")
    systems = '{ file = "NAME/systems.csv", name = "run", group = "team", pooled = "judged" }'
    config = [f"[tracks.{track}]\nsystems = {systems}\n" for track in TRACKS]
    for track, text in zip(TRACKS, config, strict=True):
        make_track(root / "shared" / "tracks" / track, collections / "news")
        shutil.copy(collections / "news" / "systems.csv", root / "shared" / "tracks" / track)
        with (root / "tests" / "tracks.toml").open("a", encoding="utf-8") as file:
            file.write(text.replace("NAME", track))
    track = root / "shared" / "judges" / "trec-dl-2021-passage"
    make_track(track, collections / "news")
    (track / "judges").mkdir()
    shutil.copy(track / "qrels.txt", track / "judges" / "same.txt")
    return root


def test_all__runs_every_script_that_writes_a_table_of_the_readme(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    parts = runpy.run_path(str(ROOT / "benchmarks" / "all.py"))["PARTS"]
    text = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    tables = set(re.findall(r"<!-- (?!end )(.+) -->", text))
    assert {table for part in parts.values() for table in part.tables} | {"session"} == tables


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS)
def test_benchmark__runs_at_its_smallest_size(
    script: str, project: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    where = str(project / "shared")
    if script in ("evidence", "pairs_separated"):  # of published values: no made ones exist
        where = str(request.getfixturevalue("shared"))
        project = shutil.copytree(project, tmp_path / "project", symlinks=True)
        shutil.copy(ROOT / "tests" / "tracks.toml", project / "tests")
    arguments = ARGUMENTS.get(script, ("--repeat", "1"))
    arguments = [str(tmp_path / "work") if one == "WORK" else one for one in arguments]
    if script == "full_scale":
        (tmp_path / "work").mkdir()
    done = subprocess.run(
        [sys.executable, str(project / "benchmarks" / f"{script}.py"), *arguments],
        env=os.environ | {"IRMETA_SHARED": where, "PYTHONPATH": str(ROOT)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:] + done.stdout[-2000:]
