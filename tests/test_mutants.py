"""Mutants of the package: `.ci/mutants.py`."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
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
