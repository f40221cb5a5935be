"""Counts of what makes the package hard to read, and their limits in house_limits.toml.

`python tests/support/house.py` with `PYTHONPATH=.:tests` lowers the limits to the present counts.
"""

from __future__ import annotations

import ast
import contextlib
import gc
import io
import sys
import tempfile
import threading
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from unittest.mock import patch

import irmeta
from irmeta.cli import main

PACKAGE = Path(irmeta.__file__).parent
TESTS = Path(__file__).parents[1]
COLLECTIONS = TESTS.parent / "data_fixtures" / "collections"
LIMITS = Path(__file__).with_name("house_limits.toml")
SMALL_FILE, SMALL_FUNCTION, MANY_PARAMETERS = 100, 4, 10
WORDS_FOR_NOTHING = {
    *("found", "given", "kept", "made", "names", "one", "other", "own", "rest", "whole")
}
Counts = dict[str, int]


def limits() -> Counts:
    """Return the limit of each count."""
    return tomllib.loads(LIMITS.read_text(encoding="utf-8"))


def count_in_source() -> Counts:
    """Return counts of files, functions and names of the package."""
    promised = (TESTS / "public_names.txt").read_text(encoding="utf-8")
    public = set(promised.translate(str.maketrans("(:.", "   ")).split())
    counts: Counter[str] = Counter()
    for file in sorted(PACKAGE.rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        tree = ast.parse(text)
        nodes = [*ast.walk(tree)]
        functions = [node for node in nodes if isinstance(node, ast.FunctionDef)]
        uses = Counter(
            node.id if isinstance(node, ast.Name) else node.attr
            for node in nodes
            if isinstance(node, ast.Name | ast.Attribute)
        )
        counts["files_of_at_most_100_lines"] += len(text.splitlines()) <= SMALL_FILE
        counts["functions_of_ten_or_more_parameters"] += sum(
            len(_parameters(function)) >= MANY_PARAMETERS for function in functions
        )
        counts["functions_that_pass_their_parameters_on"] += sum(map(_passes_on, functions))
        counts["small_functions_used_once"] += sum(
            function in tree.body and function.name not in public and uses[function.name] == 1
            and _is_small(function)
            for function in functions
        )  # fmt: skip
        counts["names_that_say_nothing"] += sum(
            isinstance(node, ast.Name)
            and isinstance(node.ctx, ast.Store)
            and node.id in WORDS_FOR_NOTHING
            for node in nodes
        )
    return dict(counts)


def _parameters(function: ast.FunctionDef) -> list[str]:
    """Return the names of parameters without `self`; those with a star count as one each."""
    of = function.args
    named = [a.arg for a in (*of.posonlyargs, *of.args, *of.kwonlyargs)]
    starred = [a.arg for a in (of.vararg, of.kwarg) if a is not None]
    return [name for name in (*named, *starred) if name not in ("self", "cls")]


def _passes_on(function: ast.FunctionDef) -> bool:
    """Check whether a call in the function gets most of its parameters under their names."""
    own = {
        a.arg for a in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
    }
    own -= {"self", "cls"}
    calls = (node for node in ast.walk(function) if isinstance(node, ast.Call))
    return len(own) >= 4 and any(_share(call, own, len(function.body) <= 2) for call in calls)


def _share(call: ast.Call, own: set[str], is_all: bool) -> bool:
    passed = sum(
        isinstance(keyword.value, ast.Name) and keyword.arg == keyword.value.id in own
        for keyword in call.keywords
    ) + sum(isinstance(value, ast.Name) and value.id in own for value in call.args)
    starred = any(isinstance(value, ast.Starred) for value in call.args)
    starred = starred or any(keyword.arg is None for keyword in call.keywords)
    return passed >= max(4, 0.6 * len(own)) or (starred and is_all and passed >= 2)


def _is_small(function: ast.FunctionDef) -> bool:
    """Check whether an undecorated function has at most four lines after its docstring."""
    if function.decorator_list or function.name.startswith("__"):
        return False
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return bool(body) and (body[-1].end_lineno or 0) - body[0].lineno < SMALL_FUNCTION


def count_at_run_time() -> Counts:
    """Return how much of the package an evaluate and a compare on a store go through.

    Each runs twice, and the second counts: the first also imports, compiles and fills caches.
    """
    opened: list[str] = []

    def note(event: str, details: tuple[object, ...]) -> None:
        path = details[0] if event == "open" else None
        if isinstance(path, str) and "/tracks/" in path and path.endswith(".json"):
            opened.append(path)

    sys.addaudithook(note)
    news = COLLECTIONS / "news"
    runs = sorted((news / "runs").iterdir())[:2]
    with tempfile.TemporaryDirectory() as folder:
        store = f"{folder}/store"
        _calls("ingest", COLLECTIONS, "--out", store)
        for _ in range(2):
            of_files = _calls("evaluate", news / "qrels.txt", *runs, "-m", "AP")
            opened.clear()
            of_store = _calls("compare", store, "-m", "AP", "--track", "news")
    return {
        "files_on_the_path_of_evaluate": len({file for file, _ in of_files}),
        "functions_on_the_path_of_evaluate": len(of_files),
        "reads_of_a_record_in_evaluate": sum(
            calls for (_, name), calls in of_files.items() if name == "read_record"
        ),
        "files_on_the_path_of_compare": len({file for file, _ in of_store}),
        "opens_of_a_record_in_compare": len(opened),
    }


def _calls(*words: object) -> Counter[tuple[str, str]]:
    """Run a command with one worker and count the calls of each function, by file and name."""
    calls: Counter[tuple[str, str]] = Counter()

    def count(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        is_ours = event == "call" and code.co_filename.startswith(f"{PACKAGE}/")
        if is_ours and code.co_name != "<module>":
            calls[code.co_filename, code.co_name] += 1

    argv = ["irmeta", *map(str, words), "--workers", "1"]
    with (
        patch.object(sys, "argv", argv),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
        contextlib.suppress(SystemExit),
    ):
        gc.collect()
        gc.disable()  # no call counts that ends something of an earlier test
        sys.setprofile(count)
        threading.setprofile(count)
        try:
            main()
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
            gc.enable()
    return calls


def files_called(*words: object) -> set[str]:
    """Return the files of the package, by their path in it, of functions that a command calls."""
    return {Path(file).relative_to(PACKAGE).as_posix() for file, _ in _calls(*words)}


def exceeded(counts: Counts) -> Iterator[str]:
    """Yield the counts above their limits."""
    known = limits()
    for name, count in counts.items():
        if count > known[name]:
            yield f"{name} = {count}, and at most {known[name]} is allowed"


def lower_limits() -> None:
    """Write the present counts where they are below the limits."""
    known = limits() if LIMITS.exists() else {}
    counts = count_in_source() | count_at_run_time()
    lines = [f"{name} = {min(count, known.get(name, count))}\n" for name, count in counts.items()]
    LIMITS.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    lower_limits()
