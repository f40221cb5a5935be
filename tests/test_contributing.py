"""The walk-throughs of CONTRIBUTING.md apply to the package and do what they say."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import irmeta

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
WALKS = {
    heading: block
    for heading, section in re.findall(r"^## (.+)\n((?:(?!## ).*\n)*)", TEXT, re.MULTILINE)
    for block in re.findall(r"^```diff\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
}
(TWIN,) = re.findall(r"^```python\n(def twin.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
DOES = {
    "Add a measure": f"""
from irmeta.measures.names import registry
from irmeta.testing import check_measure
{TWIN}
check_measure(registry()["ReciprocalRanks"], twin=twin)
data = {{"q": {{"a": 1, "b": 1}}}}, {{"s": {{"q": {{"x": 3.0, "a": 2.0, "b": 1.0}}}}}}
(value,) = irmeta.evaluate(*data, "ReciprocalRanks", per_query=True)["value"]
assert abs(value - (1 / 2 + 1 / 3) / 2) < 1e-12
""",
    "Add an option": """
frames = [store.power("AP", least_queries=queries).counts for queries in (0, 20)]
tracks = [sorted(frame["track"].unique()) for frame in frames]
assert tracks == [["news", "passage", "web"], ["news", "web"]]
assert "--least-queries" in options_of("power")
""",
    "Add a table to a study": """
results = irmeta.studies.search_length(store, "out", resamples=5, figures=False)
rows = irmeta.studies.open("out").tables["hardest_track"]
assert rows.columns == ["measure", "track", "value"] and rows["measure"].is_unique().all()
page = open("out/report.html", encoding="utf-8").read().partition("Headroom")[2]
assert "The track on which the best system has the least mean." in page
""",
}
HEAD = f"""
import sys, warnings
sys.path += [{str(ROOT / "tests")!r}]
warnings.simplefilter("ignore")
import irmeta
from support.commands import options_of
store = irmeta.open_store(sys.argv[1])
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Return a folder with a copy of the package."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(irmeta.__file__).parent, tmp_path / "irmeta", ignore=ignored)
    return tmp_path


def apply(walk: str, folder: Path) -> None:
    """Apply a diff with one line of context, wherever that line is now."""
    (folder / "walk.diff").write_text(WALKS[walk], encoding="utf-8")
    environment = os.environ | {"GIT_CEILING_DIRECTORIES": str(folder.parent)}
    command = ["git", "apply", "-v", "walk.diff"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Applied patch" in done.stderr


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_walk_throughs__apply_together_in_the_style_of_the_package(package: Path):
    assert WALKS.keys() == DOES.keys()
    for walk in WALKS:
        apply(walk, package)
    config = str(ROOT / "pyproject.toml")
    for command in (["check"], ["format", "--check"]):
        ruff = ["ruff", *command, "--config", config, "--no-cache", "irmeta"]
        done = subprocess.run(ruff, cwd=package, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout


@pytest.mark.exhaustive
@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
@pytest.mark.parametrize("walk", WALKS)
def test_walk_through__does_what_it_says(walk: str, package: Path, made_store: irmeta.Store):
    apply(walk, package)
    done = subprocess.run(
        [sys.executable, "-c", HEAD + DOES[walk], str(made_store.path)],
        cwd=package,
        env=os.environ | {"PYTHONPATH": str(package)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
