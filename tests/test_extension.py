"""The measure of the page on extensions, installed and checked as a package of its own."""

from __future__ import annotations

import importlib.util
import io
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import polars as pl
import pytest

import irmeta
from irmeta.measures.spec import Measure
from irmeta.testing import check_measure
from support.stderr import without_notes

pytestmark = pytest.mark.exhaustive

ROOT = Path(__file__).parents[1]
EXTENSION = ROOT / "tests" / "extension"
MODULE = EXTENSION / "first_found.py"
PAGE = ROOT / "notebooks" / "site" / "extending.md"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the package as pip would, but without network and build tools."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copy(MODULE, folder)
    project = tomllib.loads((EXTENSION / "pyproject.toml").read_text())["project"]
    facts = folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    groups = project["entry-points"].items()
    lines = [f"[{group}]\n" + "".join(f"{n} = {v}\n" for n, v in e.items()) for group, e in groups]
    (facts / "entry_points.txt").write_text("\n".join(lines))
    return folder


def command(installed: Path, *arguments: object) -> str:
    """Return the output of an irmeta command with the package installed."""
    script = "from irmeta.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(installed)},
    )
    assert (done.returncode, without_notes(done.stderr)) == (0, "")
    return done.stdout


@pytest.fixture(scope="module")
def measure() -> Measure:
    """Import the measure from its file."""
    spec = importlib.util.spec_from_file_location("first_found", MODULE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.FIRST_FOUND


def test_measures_command__lists_and_describes_installed_measure(installed: Path):
    listed = pl.read_csv(io.StringIO(command(installed, "measures")))
    (row,) = listed.filter(measure="FirstFound@k").iter_rows(named=True)
    assert (row["better"], row["family"], row["parameters"]) == ("greater", "utility", "rel=1")
    page = command(installed, "measures", "FirstFound(rel=2)@10")
    assert "(k + 1 - the rank of the first relevant doc) / k" in page


def test_evaluate_and_explain_commands__accept_installed_measure(
    installed: Path, made_store: irmeta.Store
):
    of_news = (made_store.path, "--track", "news", "-m", "FirstFound@10")
    frame = pl.read_csv(io.StringIO(command(installed, "evaluate", *of_news, "--per-query")))
    ranks = made_store.evaluate("RR@10", track="news", per_query=True).with_columns(
        rank=1 / pl.col("value")
    )
    expected = ranks.select(pl.max_horizontal(0.0, (11 - pl.col("rank")) / 10)).to_series()
    assert frame["value"].to_list() == pytest.approx(expected.to_list())
    assert frame["value"].n_unique() > 5
    cell = frame.filter(pl.col("value").is_between(0.2, 0.9)).row(0, named=True)
    which = ("--system", cell["system"], "--query", cell["query"])
    said = command(installed, "explain", *of_news, *which)
    assert f"/ 10 (the cutoff k) = {cell['value']:g}" in said


def first_found(ranking: list[str], qrels: dict[str, int], k: float | None) -> float:
    """Compute FirstFound@k naively."""
    assert k is not None
    for rank, doc in enumerate(ranking, 1):
        if qrels.get(doc, 0) >= 1 and rank <= k:
            return (k + 1 - rank) / k
    return 0.0


def test_check_measure__accepts_measure_of_the_page(measure: Measure):
    check_measure(measure, twin=first_found)


def test_page_on_extensions__has_the_tested_module():
    assert f"```python\n{MODULE.read_text()}```\n" in PAGE.read_text()
    assert len(MODULE.read_text().splitlines()) < 40


def test_page_on_extensions__has_the_tested_entry_point():
    lines = (EXTENSION / "pyproject.toml").read_text().splitlines()
    place = lines.index('[project.entry-points."irmeta.measures"]')
    assert "```toml\n" + "\n".join(lines[place : place + 2]) + "\n```" in PAGE.read_text()
