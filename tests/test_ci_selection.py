"""Scripts in `.ci`: what a push tests in full, and mutants of the package."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import subprocess
import tomllib
from collections.abc import Iterator
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


SOURCE = '''"""A docstring with 1 number."""


def share(count: int = 2, of: float | 3 = 4.0) -> 5:
    """Return 6."""
    if not count or of < 0:
        raise ValueError(f"{count + 1}")
    return divide(count, of, 7)
'''


@pytest.fixture(scope="module")
def mutants() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(str(ROOT / ".ci"))
        yield importlib.import_module("mutants")


def test_mutants_of__code_and_neither_texts_nor_types(mutants: ModuleType, tmp_path: Path):
    file = tmp_path / "share.py"
    file.write_text(SOURCE, encoding="utf-8")
    every = sorted(mutants.mutants_of(file, tmp_path), key=lambda one: (one.start, one.end))
    assert [(one.line, one.before, one.after) for one in every] == [
        *((4, "2", "3"), (4, "2", "1"), (4, "4.0", "5.0"), (4, "4.0", "3.0")),
        *((6, "not count", "(count)"), (6, "not count or of < 0", "(not count and of < 0)")),
        *((6, "of < 0", "(of <= 0)"), (6, "of < 0", "(of > 0)"), (6, "0", "1"), (6, "0", "-1")),
        (7, 'raise ValueError(f"{count + 1}")', "pass"),
        (8, "divide(count, of, 7)", "(divide(of, count, 7))"),
        *((8, "7", "8"), (8, "7", "6")),
    ]


def test_mutants_of__are_code_that_differs(mutants: ModuleType):
    file = ROOT / "irmeta" / "stats" / "corrections.py"
    content, code = file.read_bytes(), ast.dump(ast.parse(file.read_bytes()))
    every = list(mutants.mutants_of(file, ROOT))
    assert len(every) > 20
    for one in every:
        changed = content[: one.start] + one.after.encode() + content[one.end :]
        assert ast.dump(ast.parse(changed)) != code, one


def test_drawn__a_longer_draw_begins_with_a_shorter_one(
    mutants: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(mutants, "ROOMS", ("stats",))
    (tmp_path / "irmeta" / "stats").mkdir(parents=True)
    (tmp_path / "irmeta" / "stats" / "share.py").write_text(SOURCE, encoding="utf-8")
    five, ten = (mutants.drawn(tmp_path, 1, count) for count in (5, 10))
    assert five == ten[:5] != mutants.drawn(tmp_path, 2, 5)


def test_tests_of__the_module_and_the_room(mutants: ModuleType):
    mutant = mutants.Mutant("irmeta/kernels/interning.py", 1, 0, 0, "", "")
    module, room = (mutants.tests_of(mutant, stage, ROOT) for stage in ("module", "room"))
    assert set(module) < set(room)
    assert module[0] == "tests/kernels/test_interning.py"
    assert {file.split("/")[1] for file in room} == {"kernels", "measures", "studies"}


def test_examine__says_what_fails_and_restores_the_file(mutants: ModuleType, tmp_path: Path):
    file, tests = tmp_path / "irmeta" / "stats" / "half.py", tmp_path / "tests" / "stats"
    for folder in (file.parent, tests):
        folder.mkdir(parents=True)
    (tmp_path / "irmeta" / "__init__.py").touch()
    file.write_text("def half(x):\n    return x / 2 + 0 * x\n", encoding="utf-8")
    test = "from irmeta.stats.half import half\n\ndef test_half():\n    assert half(4) == 2\n"
    (tests / "test_half.py").write_text(test, encoding="utf-8")
    times = file.stat().st_mtime_ns
    seen, unseen = (
        next(one for one in mutants.mutants_of(file, tmp_path) if one.after == after)
        for after in ("3", "(x / 2 - 0 * x)")
    )
    assert mutants.examine(seen, "room", tmp_path).startswith(
        "FAILED tests/stats/test_half.py::test_half"
    )
    assert mutants.examine(unseen, "room", tmp_path) == ""
    assert (file.stat().st_mtime_ns, file.read_text()[-12:]) == (times, "/ 2 + 0 * x\n")
