"""What a push tests in full: `.ci/rooms.py`."""

from __future__ import annotations

import importlib.util
import subprocess
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def rooms() -> ModuleType:
    spec = importlib.util.spec_from_file_location("rooms", ROOT / ".ci" / "rooms.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        (["irmeta/stats/pairs.py"], {"tests/stats"}),
        (["irmeta/stats/pairs.py", "tests/stats/test_pairs.py"], {"tests/stats"}),
        (["irmeta/kernels/lists.py"], {"tests/kernels", "tests/measures", "tests/studies"}),
        (["irmeta/schema/columns.py"], {"tests/measures", "tests/schema", "tests/studies"}),
        (["irmeta/options.py"], {"tests/test_options.py"}),
        (["irmeta/studies/framework/runner.py"], {"tests/studies"}),
        (["irmeta/measures/diversity/novelty.py"], {"tests/measures"}),
        (["tests/cli/test_cli.py"], {"tests/cli/test_cli.py"}),
        (["tests/cli/test_that_was_deleted.py"], set()),
        (["README.md", "irmeta/gone/file.py"], set()),
        (["pyproject.toml", "irmeta/stats/pairs.py"], {"tests"}),
        (["data_fixtures/collections/news/qrels"], {"tests"}),
        (
            ["tests/support/trusted.py"],
            {f"tests/studies/test_trust_{name}.py" for name in ("conclusions", "study")},
        ),
    ],
)
def test_mirrored__tests_of_rooms(rooms: ModuleType, changed: list[str], expected: set[str]):
    assert rooms.mirrored(changed) == {name for name in expected if (ROOT / name).exists()}


def test_tests_of__a_change_of_the_package_selects_tests_of_the_package(rooms: ModuleType):
    tests = rooms.tests_of(["irmeta/stats/pairs.py", "README.md"])
    assert tests == sorted(["tests/stats", *rooms.OF_THE_PACKAGE])
    assert all((ROOT / test.split("::")[0]).exists() for test in tests)
    assert rooms.tests_of(["README.md"]) == []
    assert rooms.tests_of(["pyproject.toml", "irmeta/stats/pairs.py"]) == ["tests"]


def test_mirrored__a_study_has_its_own_tests(rooms: ModuleType):
    found = rooms.mirrored(["irmeta/studies/original/judges/study.py"])
    assert found >= {"tests/studies/test_judges_study.py", "tests/studies/test_partial_judges.py"}
    assert all("judges" in name for name in found)


def test_every_room_and_study_has_tests(rooms: ModuleType):
    files = [path for path in (ROOT / "irmeta").rglob("*.py") if path.parent != ROOT / "irmeta"]
    without = {
        path.relative_to(ROOT).parts[1]
        for path in files
        if not rooms.mirrored([path.relative_to(ROOT).as_posix()])
    }
    assert without == set()
    studies = {path.parent.name for path in (ROOT / "irmeta" / "studies").rglob("study.py")}
    assert studies - {"framework", "reanalysis"} == set(rooms.STUDIES)


def test_notebooks_of(rooms: ModuleType):
    changed = [
        "irmeta/studies/original/trust/grades.py",
        "notebooks/archive.ipynb",
        "irmeta/api/x.py",
    ]
    assert rooms.notebooks_of(changed) == ["archive", "trust"]
    assert "study_depth" in rooms.notebooks_of(["irmeta/studies/framework/runner.py"])
    assert all(
        (ROOT / "notebooks" / f"{name}.ipynb").exists() for name in rooms.NOTEBOOK_OF.values()
    )


def test_changed_files__since_the_record(
    rooms: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def git(*arguments: str) -> str:
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        command = ["git", "-C", str(tmp_path), *identity, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    git("init", "-q")
    (tmp_path / "irmeta").mkdir()
    (tmp_path / ".ci").mkdir()
    monkeypatch.setattr(rooms, "ROOT", tmp_path)
    monkeypatch.setattr(rooms, "RECORD", tmp_path / ".ci" / "complete.toml")
    monkeypatch.setattr(rooms, "MOST_COMMITS", 2)
    for number in range(4):
        (tmp_path / "irmeta" / f"{number}.py").touch()
        git("add", "irmeta")
        git("commit", "-qm", f"{number}")
        if number == 0:
            with pytest.raises(SystemExit, match=r"is missing: run \.ci/run --complete"):
                rooms.changed_files()
            rooms.main("passed")
            passed = tomllib.loads((tmp_path / ".ci" / "complete.toml").read_text())
            assert passed["commit"] == git("rev-parse", "HEAD")
        if number < 3:
            assert rooms.changed_files() == [f"irmeta/{i}.py" for i in range(1, number + 1)]
    with pytest.raises(SystemExit, match="passed 3 commits of the package ago, and 2 are the most"):
        rooms.changed_files()
    rooms.RECORD.write_text('commit = "0123456789012345678901234567890123456789"\n')
    assert rooms.changed_files() == [f"irmeta/{i}.py" for i in range(4)]  # of a shallow clone


def test_record_is_of_a_commit(rooms: ModuleType):
    passed = tomllib.loads((ROOT / ".ci" / "complete.toml").read_text(encoding="utf-8"))
    assert set(passed) == {"commit", "date", "machine"}
    assert len(passed["commit"]) == 40
