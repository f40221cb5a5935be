"""Run the lines and calls of the manifest in an empty folder, and digest all that they make.

`python tests/manifest/recording.py` writes the manifest anew, with `PYTHONPATH=.:tests`;
``--keep FOLDER`` leaves the files in a new folder, to be compared with those of another commit.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import platform
import re
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from difflib import unified_diff
from importlib.metadata import version
from pathlib import Path
from typing import Any

import llvmlite.binding
import numpy as np
import polars as pl
import pyarrow.parquet as pq

import irmeta
from irmeta import cli
from manifest.calls import CALLS, values_of_measures
from manifest.commands import LINES, MADE, NEWS, Line
from support.commands import all_commands, options_of

FIXTURES = Path(__file__).parents[2] / "data_fixtures"
MANIFEST = Path(__file__).with_name("manifest.json")
LIBRARIES = (
    *("polars", "pyarrow", "numpy", "scipy", "numba", "llvmlite"),
    *("altair", "vl-convert-python", "rich", "typer"),
)
SHORT = 1000
"""Characters of a printed text that the manifest has in full; of others it has hashes."""
MARKS = 40
"""Hashes of a long text, each of as many lines, to say which differ."""
SHOWN = 6
"""Lines of a short text, or columns of a table, that a report of differences shows."""
UNSTABLE = (".lock", ".cache.json")
"""Files with times of the file system, whose content is not recorded."""
_FLOAT = re.compile(r"(?<![\w.])-?\d+\.\d{9,}(?:e-?\d+)?(?!\w)|-?\d(?:\.\d+)?e-\d+")
_OF_LIBRARIES = re.compile(r'\b[0-9a-f]{32,64}\b|"(?:size|bytes)": \d+')
_PICTURES = re.compile(r"<svg.*?</svg>|<script.*?</script>|<style.*?</style>", re.DOTALL)


def record(folder: Path, workers: int = 1, lines: Sequence[Line] = LINES) -> dict[str, Any]:
    """Run lines in an empty folder and return their records by name."""
    shutil.copytree(FIXTURES, folder / "data_fixtures")
    for path in folder.rglob("*"):
        os.utime(path, (10**9, 10**9))
    os.environ |= {"COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1", "TZ": "UTC"}
    os.chdir(folder)
    _write_labels()
    records: dict[str, Any] = {}
    for line in lines:
        before = _times(folder)
        printed = _run(line.words.split(), workers)
        after = _times(folder)
        written = sorted(path for path in after if after[path] != before.get(path))
        name = line.words if line.words not in records else f"{line.words} (again)"
        files = {path: digest_file(Path(path)) for path in written}
        gone = sorted(before.keys() - after.keys())
        records[name] = printed | {"files": files} | ({"removed": gone} if gone else {})
    return records


def record_all(folder: Path) -> dict[str, Any]:
    """Return the manifest: the environment, and records of lines, help texts, calls, measures."""
    lines = record(folder)
    store = irmeta.open_store("store")
    warnings.simplefilter("ignore")
    calls = {name: call(store) for name, call in CALLS.items()}
    measures = values_of_measures(store)
    return {
        "environment": environment(),
        "lines": lines,
        "help": {name: _help_of(name) for name in all_commands()},
        "calls": {name: digest_results(made) for name, made in calls.items()},
        "measures": {name: digest_values(values) for name, values in measures.items()},
    }


def environment() -> dict[str, str]:
    """Return the versions of what decides the last bits of values and bytes of files."""
    libraries = {name: version(name) for name in LIBRARIES}
    processor = llvmlite.binding.get_host_cpu_name()
    return {"python": platform.python_version(), "processor": processor} | libraries


def digest_file(path: Path) -> dict[str, Any]:
    """Return hashes of a file's bytes and of its content."""
    if path.name in UNSTABLE:
        return {}
    content = path.read_bytes()
    if path.suffix == ".parquet":
        digest = digest_frame(pl.read_parquet(path, hive_partitioning=False))
        facts = (pq.read_metadata(path).metadata or {}).get(b"irmeta", b"")
        digest["provenance"] = _hash(_plain(facts.decode()))
    elif path.suffix in (".png", ".pdf"):
        digest = {}
    elif path.suffix == ".svg":
        words = re.findall(r">([^<>]+)<", content.decode())
        digest = {"words": _hash("\n".join(words))}
    else:
        digest = digest_text(content.decode())
    return digest | {"bytes": _hash(content)}


def digest_frame(frame: pl.DataFrame) -> dict[str, Any]:
    """Return the number of rows and, in their order, hashes of the columns of a frame."""
    columns = [f"{column.name} {_hash(_values(column))}" for column in frame]
    return {"rows": len(frame), "columns": columns}


def digest_results(made: Any) -> Any:
    """Return the digest of a result: of frames, arrays, and the fields of objects and lists."""
    if isinstance(made, pl.DataFrame):
        return digest_frame(made)
    if isinstance(made, np.ndarray):
        return digest_values(made)
    if hasattr(made, "_asdict"):
        made = made._asdict()
    elif is_dataclass(made):
        made = {field.name: getattr(made, field.name) for field in fields(made)}
    elif isinstance(made, list | tuple):
        made = {str(number): part for number, part in enumerate(made)}
    if isinstance(made, Mapping):
        return {str(key): digest_results(part) for key, part in made.items()}
    return _printed(made if isinstance(made, str) else repr(made))


def digest_values(values: np.ndarray) -> dict[str, str]:
    """Return hashes of an array's rounded values and of its bytes."""
    rounded = _values(pl.Series(values.ravel()))
    return {"content": _hash(f"{values.shape} {rounded}"), "bytes": _hash(values.tobytes())}


def digest_text(text: str) -> dict[str, Any]:
    """Return the lines of a short text, or of a longer one hashes of as many lines each."""
    lines = _plain(text).splitlines()
    each = -(-len(lines) // MARKS) or 1
    marks = [_hash("\n".join(lines[i : i + each]))[:4] for i in range(0, len(lines), each)]
    return {"lines": len(lines), "hash": _hash("\n".join(lines)), "marks": "".join(marks)}


def differences(expected: Any, present: Any, place: str = "") -> Iterator[str]:
    """Yield where two manifests, or parts of them, differ; bytes only in one environment."""
    if isinstance(expected, dict) and isinstance(present, dict):
        if expected.keys() >= {"lines", "marks"} <= present.keys():
            yield from _differing_lines(expected, present, place)
            return
        for key in dict.fromkeys([*expected, *present]):
            if key not in present:
                yield f"{place}: {key} is missing"
            elif key not in expected:
                yield f"{place}: {key} is new"
            else:
                yield from differences(expected[key], present[key], f"{place} > {key}")
    elif isinstance(expected, list) and isinstance(present, list):
        changed = list(unified_diff(expected, present, n=0, lineterm=""))[2:]
        if changed:
            lines = [line for line in changed if not line.startswith("@@")]
            more = f"\n    and {len(lines) - SHOWN} more" * (len(lines) > SHOWN)
            yield f"{place}:" + "".join(f"\n    {line}" for line in lines[:SHOWN]) + more
    elif expected != present:
        yield f"{place}: was {expected}, is {present}"


def without_bytes(manifest: Any) -> Any:
    """Return a manifest, or a part of it, without hashes of bytes."""
    if not isinstance(manifest, dict):
        return manifest
    return {key: without_bytes(part) for key, part in manifest.items() if key != "bytes"}


def _differing_lines(
    expected: dict[str, Any], present: dict[str, Any], place: str
) -> Iterator[str]:
    """Yield which lines of a long text differ, by its marks, and whether only its bytes do."""
    marks = [re.findall("....", digest["marks"]) for digest in (expected, present)]
    if expected["hash"] != present["hash"]:
        each = -(-expected["lines"] // MARKS) or 1
        pairs = enumerate(zip(*marks, strict=False))
        at = next((i for i, (old, new) in pairs if old != new), min(map(len, marks)))
        lines = f"lines {at * each + 1} to {(at + 1) * each}"
        yield f"{place}: {lines} are the first to differ, of {present['lines']}"
    elif expected.get("bytes") != present.get("bytes"):
        yield f"{place}: equal content, other bytes"


def _run(words: list[str], workers: int) -> dict[str, Any]:
    """Run a command in this process; return its exit status and what it printed."""
    if "--workers" in options_of(_command(words)):
        words = [*words, "--workers", str(workers)]
    streams = sys.stdout, sys.stderr, sys.argv
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    sys.stdout, sys.stderr, sys.argv = out, err, ["irmeta", *words]
    status: Any = 0
    try:
        cli.main()
    except SystemExit as left:
        status = left.code or 0
    finally:
        sys.stdout, sys.stderr, sys.argv = streams
    texts = {}
    for name, stream in (("stdout", out), ("stderr", err)):
        stream.flush()
        texts[name] = _printed(stream.buffer.getvalue().decode())
    return {"status": status} | texts


def _command(words: list[str]) -> str:
    return " ".join(words[:2]) if " ".join(words[:2]) in all_commands() else words[0]


def _help_of(command: str) -> dict[str, Any]:
    """Return the digest of a command's help, without its layout."""
    text = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    streams, sys.stdout = sys.stdout, text
    try:
        all_commands()[command].main(
            ["--help"], prog_name=f"irmeta {command}", standalone_mode=False
        )
    finally:
        sys.stdout = streams
    text.flush()
    shown = re.sub(r"[─-╿]", " ", text.buffer.getvalue().decode())
    return digest_text("\n".join(" ".join(line.split()) for line in shown.splitlines()))


def _printed(text: str) -> Any:
    plain = _plain(text)
    return plain.splitlines() if len(plain) <= SHORT else digest_text(text)


def _plain(text: str) -> str:
    """Return a text without its folder, versions, checksums and pictures, its numbers rounded."""
    text = _PICTURES.sub("", text.replace(os.getcwd(), "HERE"))
    text = text.replace(irmeta.__version__, "VERSION")
    return _FLOAT.sub(lambda number: f"{float(number[0]):.9g}", _OF_LIBRARIES.sub("-", text))


def _values(column: pl.Series) -> str:
    """Return the values of a column as text, rounded to nine significant digits."""
    if column.dtype.is_float():
        column = column.cast(pl.Float64).round_sig_figs(9)
    return f"{column.dtype} {column.to_list()}"


def _hash(content: str | bytes) -> str:
    content = content.encode() if isinstance(content, str) else content
    return hashlib.sha256(content).hexdigest()[:12]


def _times(folder: Path) -> dict[str, tuple[int, int, int]]:
    """Map each file of a folder to its time, inode and size."""
    stats = {str(p.relative_to(folder)): p.stat() for p in folder.rglob("*") if p.is_file()}
    return {name: (s.st_mtime_ns, s.st_ino, s.st_size) for name, s in stats.items()}


def _write_labels() -> None:
    """Write qrels of another judge, who turns every fifth label, and published values."""
    rows = Path(f"{NEWS}/qrels.txt").read_text(encoding="utf-8").splitlines()
    Path(MADE).parent.mkdir()
    with open(MADE, "w", encoding="utf-8") as file:
        for i, row in enumerate(rows):
            query, _, doc, grade = row.split()
            file.write(f"{query} 0 {doc} {grade if i % 5 else 1 - int(grade)}\n")
    published = "system,measure,value\naldDFR,map,0.2868\nbirchDep,map,0.5\n"
    (Path(MADE).parent / "published.csv").write_text(published, encoding="utf-8")


def main() -> None:
    """Write the manifest, or with ``--two`` the records of lines that two workers run."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--keep", type=Path, help="new folder for all files")
    parser.add_argument("--out", type=Path, default=MANIFEST)
    parser.add_argument("--two", action="store_true", help="only lines that two workers run")
    asked = parser.parse_args()
    out = asked.out.resolve()
    with tempfile.TemporaryDirectory() as temporary:
        folder = (asked.keep or Path(temporary) / "manifest").resolve()
        folder.mkdir()
        if asked.two:
            made = {"lines": record(folder, 2, [line for line in LINES if line.two])}
        else:
            made = record_all(folder)
        out.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        os.chdir(out.parent)


if __name__ == "__main__":
    main()
