"""What a push tests in full: the rooms that changed since all tests passed (`.ci/complete.toml`).

.ci/rooms.py tests       paths of tests, a line each
.ci/rooms.py notebooks   names of notebooks, a line each
.ci/rooms.py passed      write that all tests passed at this commit
"""

from __future__ import annotations

import datetime
import os
import platform
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path, PurePath

ROOT = Path(__file__).parents[1]
RECORD = ROOT / ".ci" / "complete.toml"
MOST_COMMITS = 80
"""Commits of the package after which all tests must run again."""
EVERYTHING = ("kernels", "schema", "rankings")
"""Rooms whose changes count as changes of all measures and studies."""
OF_THE_PACKAGE = (
    "tests/test_advice.py",
    "tests/test_clusters.py::test_errors__all_in_one_module",
    "tests/test_typing.py",
)
"""Tests that any change of the package may break: half a minute."""
STUDIES = ("depth", "innovation", "judges", "preference", "properties", "search_length", "trust")
NOTEBOOK_OF = {name: f"study_{name}" for name in STUDIES} | {"trust": "trust"}


def mirrored(files: Iterable[str]) -> set[str]:
    """Return the folders and files of tests that mirror changed files."""
    patterns = set[str]().union(*(_patterns(PurePath(file).parts) for file in files))
    paths = {path.relative_to(ROOT) for pattern in patterns for path in ROOT.glob(pattern)}
    return {path.as_posix() for path in paths if not paths & set(path.parents)}


def tests_of(files: Iterable[str]) -> list[str]:
    """Return the tests that a change of files selects, with those of the whole package."""
    files = list(files)
    paths = mirrored(files)
    if any(file.startswith("irmeta/") for file in files) and "tests" not in paths:
        paths |= set(OF_THE_PACKAGE)
    return sorted(paths)


def _patterns(parts: tuple[str, ...]) -> set[str]:
    match parts:
        case ("irmeta", "studies", *_, study, _) if study in STUDIES:
            return {f"tests/studies/*{study}*.py"}
        case ("irmeta", room, _, *_) if room in EVERYTHING:
            return {f"tests/{room}", "tests/measures", "tests/studies"}
        case ("irmeta", room, _, *_):
            return {f"tests/{room}"}
        case ("irmeta", module):
            return {f"tests/test_{module}"}
        case ("tests", "twins", _, *_):
            return {"tests/measures", "tests/stats", "tests/twins"}
        case ("tests", "support", name):
            return _importers(PurePath(name).stem)
        case ("pyproject.toml",) | ("tests", "conftest.py") | ("data_fixtures", *_, _):
            return {"tests"}
        case ("tests", *_, name) if name.startswith("test_"):
            return {"/".join(parts)}
        case _:
            return set()


def _importers(module: str) -> set[str]:
    """Return the tests that import a module of `tests/support`, directly or by another one."""
    importing = re.compile(rf"^from support(\.{module} import|\s+import .*\b{module}\b)", re.M)
    files = set[str]()
    for path in (ROOT / "tests").rglob("*.py"):
        if importing.search(path.read_text(encoding="utf-8")):
            name = path.relative_to(ROOT).as_posix()
            in_support = path.parent.name == "support" and path.stem != module
            folder = path.parent.relative_to(ROOT).as_posix()
            files |= (
                _importers(path.stem)
                if in_support
                else {folder if path.name == "conftest.py" else name}
            )
    return files


def notebooks_of(files: Iterable[str]) -> list[str]:
    """Return the notebooks that changed, and those of studies that changed."""
    notebooks = set[str]()
    for file in map(PurePath, files):
        if file.suffix == ".ipynb":
            notebooks.add(file.stem)
        if file.parts[:2] == ("irmeta", "studies"):
            shared = "framework" in file.parts
            studies = STUDIES if shared else set(STUDIES) & set(file.parts[2:-1])
            notebooks |= {NOTEBOOK_OF[study] for study in studies}
    return sorted(name for name in notebooks if (ROOT / "notebooks" / f"{name}.ipynb").exists())


def changed_files() -> list[str]:
    """Return the files that changed since all tests passed.

    Raises
    ------
    SystemExit
        If the record is missing, or too many commits of the package lie between.
    """
    if not RECORD.exists():
        raise SystemExit(f"{RECORD.name} is missing: run .ci/run --complete, which writes it.")
    commit = tomllib.loads(RECORD.read_text(encoding="utf-8"))["commit"]
    try:
        commits = int(_git("rev-list", "--count", f"{commit}..HEAD", "--", "irmeta"))
    except subprocess.CalledProcessError:
        print(f"{commit} is not in this clone's history: all files count.", file=sys.stderr)
        return _git("ls-files").splitlines()
    if commits > MOST_COMMITS:
        raise SystemExit(
            f"All tests passed {commits} commits of the package ago, and {MOST_COMMITS} are the "
            "most: run .ci/run --complete."
        )
    return _git("diff", "--name-only", "--no-renames", commit, "HEAD").splitlines()


def record() -> str:
    """Return the record of this commit."""
    lines = {
        "commit": _git("rev-parse", "HEAD").strip(),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, "
        f"Python {platform.python_version()}",
    }
    return "".join(f'{name} = "{text}"\n' for name, text in lines.items())


def _git(*arguments: str) -> str:
    return subprocess.run(
        ["git", "-C", str(ROOT), *arguments], check=True, capture_output=True, text=True
    ).stdout


def main(what: str) -> None:
    """Print the tests or notebooks, or write the record.

    Raises
    ------
    SystemExit
        If files differ from the commit that would be recorded.
    """
    if what == "passed":
        if changed := _git("status", "--porcelain", "--untracked-files=no"):
            raise SystemExit(f"These tests were not of a commit; commit first:\n{changed}")
        RECORD.write_text(record(), encoding="utf-8")
        return
    files = changed_files()
    print(*(tests_of(files) if what == "tests" else notebooks_of(files)), sep="\n")


if __name__ == "__main__":
    if sys.argv[1:] not in (["tests"], ["notebooks"], ["passed"]):
        sys.exit(__doc__)
    main(sys.argv[1])
