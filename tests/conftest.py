"""Fixtures that every test may use."""

from __future__ import annotations

import gc
import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

import irmeta
from irmeta import cli
from support.commands_once import build_once
from support.examples import UNCLOCKED, scaled
from support.kernels_once import compile_once
from support.made_once import made_once
from support.undrawn import draw_nothing
from support.written import write_all

# No clock decides a test, and every run of one size sees the same examples, unless IRMETA_SEED says
# that pytest draws others (--hypothesis-seed).
settings.register_profile(
    "irmeta",
    deadline=None,
    derandomize="IRMETA_SEED" not in os.environ,
    max_examples=scaled(30),
    suppress_health_check=UNCLOCKED,
)
settings.load_profile("irmeta")
compile_once()

ROOT = Path(__file__).parents[1]


def pytest_configure(config: pytest.Config) -> None:
    """Let tests of values ignore pools that are complete at no depth, and rel without docs."""
    gc.disable()  # until all tests are collected: nothing that collecting makes is garbage
    config.addinivalue_line("filterwarnings", "ignore::irmeta.PoolDepthWarning")
    config.addinivalue_line("filterwarnings", "ignore::irmeta.RelevanceWarning")


@pytest.hookimpl(tryfirst=True)  # before -m selects
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark parameters exhaustive but for one in some, where the mark `one_in` says so."""
    seen = Counter[str]()
    for item in items:
        mark = item.get_closest_marker("one_in")
        if mark is not None and item.get_closest_marker("exhaustive") is None:
            test = item.nodeid.partition("[")[0]
            if seen[test] % mark.args[0]:
                item.add_marker("exhaustive")
            seen[test] += 1


def pytest_collection_finish() -> None:
    """Spare the garbage collector the modules and tests, which live as long as the process."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000)  # the default 700 took a tenth of all time
    gc.enable()


def shared_folder() -> Path:
    """Where the reference papers, tracks and oracles lie, if they do."""
    return Path(os.environ.get("IRMETA_SHARED", ROOT.parent / "shared"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with real tracks and oracles; the test is skipped where it is absent."""
    folder = shared_folder()
    if not folder.is_dir():
        pytest.skip(f"needs the real tracks and oracles, and {folder} is not there")
    return folder


@pytest.fixture(scope="session")
def collections() -> Path:
    """The made collection of three tracks."""
    return ROOT / "data_fixtures" / "collections"


@pytest.fixture(scope="session")
def worked_examples() -> Path:
    """The hand-written tiny tracks."""
    return ROOT / "data_fixtures" / "worked_examples"


@pytest.fixture(scope="session")
def real_store(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> irmeta.Store:
    """A store of the six real tracks."""

    def ingest(store: Path) -> None:
        folder = tmp_path_factory.mktemp("real")
        for track in (shared / "tracks").iterdir():
            (folder / track.name).symlink_to(track)
        shutil.copy(ROOT / "tests" / "tracks.toml", folder / "collection.toml")
        irmeta.ingest(folder, store)

    return irmeta.open_store(made_once(tmp_path_factory, "real-store", ingest))


@pytest.fixture(scope="session")
def made_store(collections: Path, tmp_path_factory: pytest.TempPathFactory) -> irmeta.Store:
    """A store of the three made tracks; one run is skipped."""

    def ingest(store: Path) -> None:
        with pytest.warns(irmeta.SkippedRunWarning, match="1 run skipped"):
            irmeta.ingest(collections, store)

    return irmeta.open_store(made_once(tmp_path_factory, "made-store", ingest))


@pytest.fixture(scope="session")
def written(
    made_store: irmeta.Store,
    tmp_path_factory: pytest.TempPathFactory,
    pytestconfig: pytest.Config,
) -> Path:
    """Results of a reanalysis and of every study, without figures; see `support.written`.

    They have fewer measures where no test looks at the width of tables.
    """
    fewer_measures = "not exhaustive" in pytestconfig.option.markexpr

    def write(folder: Path) -> None:
        write_all(made_store, folder, fewer_measures)

    return made_once(tmp_path_factory, "written", write)


class Ran:
    """What one command left behind."""

    def __init__(self, status: int, out: str, err: str) -> None:
        self.status, self.out, self.err = status, out, err


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """For a test that looks at no figure."""
    draw_nothing(monkeypatch)


@pytest.fixture
def two_tracks(worked_examples: Path, tmp_path: Path) -> Path:
    """A collection of two tiny tracks that a test may spoil."""
    folder = tmp_path / "collection"
    for track in ("ties", "unretrieved"):
        shutil.copytree(worked_examples / track, folder / track)
    return folder


@pytest.fixture(scope="session")
def commands_once() -> Iterator[None]:
    """Build the commands once a process."""
    with pytest.MonkeyPatch.context() as patched:
        build_once(patched)
        yield


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], commands_once: None):
    """Run a command in this process."""

    def command(*arguments: object) -> Ran:
        monkeypatch.setattr(sys, "argv", ["irmeta", *map(str, arguments)])
        with pytest.raises(SystemExit) as left:
            cli.main()
        said = capsys.readouterr()
        return Ran(left.value.code or 0, said.out, said.err)

    return command
