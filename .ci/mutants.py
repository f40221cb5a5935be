"""Mutants: how many small changes of the package do its tests see?

python .ci/mutants.py WORK --seed 1 --mutants 100

Clones this repository's last commit into the folder WORK and changes one expression or statement
of it at a time, so that commands which tests start have the mutant too. The tests of its room
(`.ci/rooms.py`) that name the module run first, then all of the room, then the room's complete
tests, and for a mutant that none of them sees a plain pytest.
WORK/log.jsonl says which test sees each mutant. The same command continues a log.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

from rooms import mirrored

ROOT = Path(__file__).parents[1]
ROOMS = ("kernels", "measures", "stats", "store", "trec", "cli")
COMPLETE = "(study or exhaustive or real) and not slow"
STAGES = ("module", "room", "complete", "plain")
SECONDS = 400
"""CPU time of a process of tests; a mutant that makes tests run longer is seen."""
OPERATORS = (
    "Lt:LtE,Gt LtE:Lt,Gt Gt:GtE,Lt GtE:Gt,Lt Eq:NotEq NotEq:Eq Is:IsNot IsNot:Is In:NotIn NotIn:In "
    "Add:Sub Sub:Add Mult:Div Div:Mult FloorDiv:Div Mod:FloorDiv Pow:Mult BitAnd:BitOr "
    "BitOr:BitAnd And:Or Or:And LShift:RShift RShift:LShift"
)
SWAPS = {
    getattr(ast, old): [getattr(ast, name) for name in new.split(",")]
    for old, new in (pair.split(":") for pair in OPERATORS.split())
}
"""What may stand in place of each operator."""


@dataclass(frozen=True)
class Mutant:
    """One change: bytes `start` to `end` of a file are replaced."""

    file: str
    line: int
    start: int
    end: int
    before: str
    after: str


def changes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what may replace a node: other operators, constants, arguments, or no statement."""
    match node:
        case ast.Compare(left, [op], comparators):
            yield from (ast.Compare(left, [new()], comparators) for new in SWAPS[type(op)])
        case ast.BinOp(left, op, right) if type(op) in SWAPS:
            yield from (ast.BinOp(left, new(), right) for new in SWAPS[type(op)])
        case ast.BoolOp(op, values):
            yield from (ast.BoolOp(new(), values) for new in SWAPS[type(op)])
        case ast.UnaryOp(ast.Not() | ast.USub(), operand):
            yield operand
        case ast.Constant(bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(int(value) | float(value)):
            yield from (ast.Constant(value + 1), ast.Constant(value - 1))
        case ast.Call(function, [first, second, *others], keywords):
            if not isinstance(first, ast.Starred) and not isinstance(second, ast.Starred):
                yield ast.Call(function, [second, first, *others], keywords)
        case ast.IfExp(test, body, orelse):
            yield ast.IfExp(ast.UnaryOp(ast.Not(), test), body, orelse)
        case ast.Expr(ast.Call()) | ast.AugAssign() | ast.Raise() | ast.Break() | ast.Continue():
            yield ast.Pass()
        case _:
            return


def mutants_of(file: Path, root: Path) -> Iterator[Mutant]:
    """Yield all mutants of a file; texts, types and what only type checkers read stay."""
    content = file.read_bytes()
    starts = [0]
    for line in content.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    waiting: list[Any] = [ast.parse(content)]  # only some kinds of nodes have a place
    while waiting:
        node = waiting.pop()
        for name, value in ast.iter_fields(node) if not isinstance(node, ast.JoinedStr) else ():
            children = value if isinstance(value, list) else [value]
            if name not in ("annotation", "returns"):
                waiting += [one for one in children if isinstance(one, ast.AST)]
        for new in changes(node) if hasattr(node, "lineno") else ():
            start = starts[node.lineno - 1] + node.col_offset
            end = starts[node.end_lineno - 1] + node.end_col_offset
            text = ast.unparse(ast.fix_missing_locations(new))
            after = text if isinstance(new, ast.Pass | ast.Constant) else f"({text})"
            before = content[start:end].decode()
            name = file.relative_to(root).as_posix()
            yield Mutant(name, node.lineno, start, end, before, after)


def drawn(root: Path, seed: int, count: int) -> list[Mutant]:
    """Draw mutants of `ROOMS`, each with the same probability; a longer draw begins with these."""
    files = [file for room in ROOMS for file in sorted((root / "irmeta" / room).rglob("*.py"))]
    every = [mutant for file in files for mutant in mutants_of(file, root)]
    random.Random(seed).shuffle(every)
    return every[:count]


def tests_of(mutant: Mutant, stage: str, root: Path) -> list[str]:
    """Return files of tests of a mutant's room; for the stage `module` those that name it."""
    files = [file for path in mirrored([mutant.file]) for file in (root / path).rglob("test_*.py")]
    if stage == "module":
        stem = Path(mutant.file).stem
        named = re.compile(rf"\b{stem}\b")
        files = [
            file
            for file in files
            if stem in file.stem or named.search(file.read_text(encoding="utf-8"))
        ]
    room = Path(mutant.file).parts[1]
    files.sort(key=lambda file: (room not in file.parts, file))
    return [file.relative_to(root).as_posix() for file in files]


def sees(root: Path, *arguments: str) -> str:
    """Run tests until one fails; return the line that names it, or nothing if all pass."""
    import resource  # absent on Windows

    folders = {"PYTHONPATH": str(root), "IRMETA_CACHE_DIR": str(root.parent / "cache")}
    variables = {"IRMETA_SHARED": str(ROOT.parent / "shared")} | os.environ | folders
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=line", *arguments]
    with subprocess.Popen(
        command,
        cwd=root,
        env=variables | ({"IRMETA_EXAMPLES": "3"} if COMPLETE in arguments else {}),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS)),
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as tests:
        try:
            output, _ = tests.communicate(timeout=10 * SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(tests.pid, signal.SIGKILL)
            return f"more than {10 * SECONDS} s"
    lines = output.splitlines()
    failures = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
    passed = tests.returncode in (0, 5)  # 5: no test
    return "" if passed else (failures or lines or [f"status {tests.returncode}"])[-1]


def examine(mutant: Mutant, stage: str, root: Path) -> str:
    """Return the first test of a stage that sees a mutant; nothing if none does."""
    tests = [] if stage == "plain" else tests_of(mutant, stage, root)
    if stage == "module" and not tests:
        return ""
    options = () if stage == "plain" else ("-n", "0")
    options += ("-m", COMPLETE) if stage == "complete" else ()
    path = root / mutant.file
    content, times = path.read_bytes(), path.stat()
    try:
        path.write_bytes(content[: mutant.start] + mutant.after.encode() + content[mutant.end :])
        return sees(root, *options, *tests)
    finally:
        path.write_bytes(content)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))  # numba's cache looks at it


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("work", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mutants", type=int, default=100)
    given = parser.parse_args()
    clone, log = given.work / "irmeta", given.work / "log.jsonl"
    if not clone.exists():
        subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
    subprocess.run(["git", "-C", str(clone), "checkout", "-q", "."], check=True)  # if interrupted
    lines = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    results = {(line["number"], line["stage"]): line["seen"] for line in lines}
    mutants = drawn(clone, given.seed, given.mutants)
    for stage, (number, mutant) in product(STAGES, enumerate(mutants)):
        if (number, stage) in results or any(results.get((number, one)) for one in STAGES):
            continue
        start = time.monotonic()
        seen = results[number, stage] = examine(mutant, stage, clone)
        seconds = round(time.monotonic() - start)
        line = {"number": number, "stage": stage, "seen": seen, "seconds": seconds}
        with log.open("a") as file:
            print(json.dumps(line | asdict(mutant)), file=file)
        print(*(f"{name}: {value}" for name, value in (line | asdict(mutant)).items()), flush=True)
    unseen = [n for n in range(len(mutants)) if not any(results.get((n, one)) for one in STAGES)]
    print(f"{len(mutants) - len(unseen)} of {len(mutants)} mutants are seen; not seen: {unseen}")


if __name__ == "__main__":
    main()
