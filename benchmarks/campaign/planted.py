"""Planted faults: errors put into irmeta at run time, each of which the campaign must find.

A fault replaces one function by a faulty one wherever the package or the campaign holds it. The
variable `VARIABLE` names the fault, so that the commands that a kind starts have it too.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

VARIABLE = "IRMETA_PLANTED_FAULT"
MINUTES = 6.0
"""Time in which a kind must find a fault of its own."""

Make = Callable[[Any], Any]


@dataclass(frozen=True)
class Planted:
    """One fault: the kind that must find it, and the functions that it replaces."""

    kind: str
    what: str
    changes: tuple[tuple[str, Make], ...]


def plant(name: str) -> None:
    """Put a fault into this process."""
    for place, make in FAULTS[name].changes:
        module_name, _, path = place.partition(":")
        holder: Any = importlib.import_module(module_name)
        *owners, attribute = path.split(".")
        for owner in owners:
            holder = getattr(holder, owner)
        original = vars(holder)[attribute]
        faulty = make(getattr(holder, attribute))
        if owners:
            setattr(
                holder, attribute, property(faulty) if isinstance(original, property) else faulty
            )
            continue
        for module in [
            one for key, one in sys.modules.items() if key.startswith(("irmeta", "campaign"))
        ]:
            for key in [key for key, value in vars(module).items() if value is original]:
                setattr(module, key, faulty)


def plant_named() -> None:
    """Put the fault that the environment names into this process, if it names one."""
    if name := os.environ.get(VARIABLE):
        plant(name)


# Runs and qrels.


def _without_last(read: Any) -> Any:
    def faulty(*given: Any) -> Any:
        text = read(*given)
        rows = text.rows
        if len(rows.doc) < 12:
            return text
        starts = rows.starts.copy()
        starts[-1] -= 1
        kept = {name: getattr(rows, name)[:-1] for name in ("doc", "score", "rank")}
        text.rows = replace(rows, starts=starts, **kept)
        return text

    return faulty


def _with_text(old: bytes, new: bytes) -> Make:
    """Read a text as if it had other words."""

    def make(read: Any) -> Any:
        def faulty(file: Any, *given: Any, **named: Any) -> Any:
            import io

            with file.open() as stream:
                content = stream.read().replace(old, new)
            return read(replace(file, open=lambda: io.BytesIO(content)), *given, **named)

        return faulty

    return make


def _float32_scores(read: Any) -> Any:
    def faulty(*given: Any) -> Any:
        text = read(*given)
        text.rows = replace(text.rows, score=text.rows.score.astype("float32").astype("float64"))
        return text

    return faulty


def _grades(change: Callable[[Any], Any]) -> Make:
    def make(parse: Any) -> Any:
        def faulty(*given: Any, **named: Any) -> Any:
            text = parse(*given, **named)
            return replace(text, frame=change(text.frame))

        return faulty

    return make


def _negative_lost(frame: Any) -> Any:
    import polars as pl

    return frame.filter(pl.col("grade") >= 0)


def _rounded_grades(frame: Any) -> Any:
    import polars as pl

    return frame.with_columns(pl.col("grade").cast(pl.Float64).round(1))


def _first_two_swapped(sort: Any) -> Any:
    def faulty(order: Any, lists: Any, columns: Any) -> Any:
        import numpy as np

        permutation = sort(order, lists, columns).copy()
        sorted_lists = np.asarray(lists)[permutation]
        firsts = np.flatnonzero(np.append(True, np.diff(sorted_lists) != 0))
        for first, length in zip(firsts, np.diff(np.append(firsts, len(lists))), strict=True):
            if length >= 6:
                permutation[[first, first + 1]] = permutation[[first + 1, first]]
        return permutation

    return faulty


def _gzip_repaired(init: Any) -> Any:
    """Read compressed data up to the damage, without their checksum and length."""

    def faulty(stream: Any, file: Any, *given: Any) -> None:
        import gzip
        import io
        import zlib

        with file.open() as stored:
            content = stored.read()
        if content[:2] == b"\x1f\x8b":
            inflate, text = zlib.decompressobj(31), b""
            with suppress(zlib.error):
                for place in range(len(content)):
                    text += inflate.decompress(content[place : place + 1])
            whole = gzip.compress(text, mtime=0)
            file = replace(file, open=lambda: io.BytesIO(whole))
        init(stream, file, *given)

    return faulty


def _last_member_lost(members: Any) -> Any:
    def faulty(*given: Any) -> Iterator[Any]:
        found = list(members(*given))
        yield from found[:-1] if len(found) > 1 else found

    return faulty


def _last_file_lost(expand: Any) -> Any:
    def faulty(*given: Any) -> Any:
        files = expand(*given)
        return set(sorted(files)[:-1]) if len(files) > 1 else files

    return faulty


def _all_described(init: Any) -> Any:
    def faulty(config: Any, *given: Any) -> None:
        init(config, *given)
        object.__setattr__(config.content, "only_described", False)

    return faulty


def _nan_is_zero(numbers: Any) -> Any:
    def faulty(*given: Any) -> Any:
        import numpy as np

        return np.nan_to_num(numbers(*given), nan=0.0)

    return faulty


# Files, stores and results.


def _in_place(_: Any) -> Any:
    @contextmanager
    def faulty(path: Any) -> Generator[Any]:
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        yield path

    return faulty


def _nothing(_: Any) -> Any:
    return lambda *given, **named: None


def _constant(value: Any) -> Make:
    return lambda _: lambda *given, **named: value


@contextmanager
def _no_context(*_: Any) -> Generator[None]:
    yield


def _unchecked_record(_: Any) -> Any:
    def faulty(content: bytes, **_: Any) -> Any:
        import json

        record = json.loads(content)
        record.pop("sha256", None)
        return record

    return faulty


def _size_only(checksum: Any) -> Any:
    return lambda *given: checksum(*given).partition(" ")[0] + " 00000000"


def _recorded_early(_: Any) -> Any:
    return lambda files, key: bool(files._known)


def _full_disk_ignored(write: Any) -> Any:
    def faulty(*given: Any) -> None:
        with suppress(OSError):
            write(*given)

    return faulty


def _temporaries_left(_: Any) -> Any:
    return lambda *folders: None


# Fetches.


def _unchecked_content(_: Any) -> Any:
    def faulty(path: Path, name: str, **_: Any) -> Any:
        import hashlib

        from irmeta.archive.content import Content

        data = path.read_bytes()
        return Content(len(data), hashlib.sha256(data).hexdigest(), None)

    return faulty


def _no_if_range(resume: Any) -> Any:
    def faulty(*given: Any) -> Any:
        size, headers = resume(*given)
        return size, {name: value for name, value in headers.items() if name != "If-Range"}

    return faulty


def _identity(_: Any) -> Any:
    return lambda text, *given: text


def _trusting(_: Any) -> Any:
    def faulty(path: str) -> bytes | None:
        with suppress(OSError):
            return Path(path).read_bytes()[:-32]
        return None

    return faulty


TREC, STORE = "irmeta.trec", "irmeta.store"
PART, CONTENT = "irmeta.archive.download:_Part", "irmeta.archive.download:check_content"

FAULTS: dict[str, Planted] = {
    "last-row-lost": Planted(
        "runs", "the last row of a run of 12 or more", ((f"{TREC}.runs:parse_run", _without_last),)
    ),
    "nan-is-zero": Planted(
        "runs",
        "NaN scores are read as 0",
        ((f"{TREC}.runs:parse_run", _with_text(b" nan ", b" 0 ")),),
    ),
    "scores-as-float32": Planted(
        "runs", "scores lose digits", ((f"{TREC}.runs:parse_run", _float32_scores),)
    ),
    "carriage-returns-lost": Planted(
        "runs",
        "a carriage return within a line is white space",
        ((f"{TREC}.runs:parse_run", _with_text(b"\r", b"\n")),),
    ),
    "negative-grades-lost": Planted(
        "qrels", "negative grades", ((f"{TREC}.qrels:parse_qrels", _grades(_negative_lost)),)
    ),
    "grades-rounded": Planted(
        "qrels", "decimals of grades", ((f"{TREC}.qrels:parse_qrels", _grades(_rounded_grades)),)
    ),
    "first-two-swapped": Planted(
        "files", "the order of long lists", ((f"{TREC}.tie_orders:sort_rows", _first_two_swapped),)
    ),
    "first-two-of-dicts-swapped": Planted(
        "dicts", "the order of long lists", ((f"{TREC}.tie_orders:sort_rows", _first_two_swapped),)
    ),
    "first-two-of-members-swapped": Planted(
        "archives",
        "the order of long lists",
        ((f"{TREC}.tie_orders:sort_rows", _first_two_swapped),),
    ),
    "nan-in-dicts-is-zero": Planted(
        "dicts",
        "NaN scores are read as 0",
        (("irmeta.trec.readers.frames:_numbers", _nan_is_zero),),
    ),
    "damaged-gzip-accepted": Planted(
        "files",
        "damaged compressed data end a file",
        ((f"{TREC}.streams:TextStream.__init__", _gzip_repaired),),
    ),
    "damaged-archive-accepted": Planted(
        "archives",
        "damaged compressed data end an archive",
        ((f"{TREC}.streams:TextStream.__init__", _gzip_repaired),),
    ),
    "last-member-lost": Planted(
        "archives", "the last member", ((f"{TREC}.archives:members", _last_member_lost),)
    ),
    "last-file-of-pattern-lost": Planted(
        "collections",
        "the last file of a pattern",
        ((f"{TREC}.collection:expand", _last_file_lost),),
    ),
    "undescribed-tracks-read": Planted(
        "collections",
        "only_described without effect",
        ((f"{TREC}.collection:_Config.__init__", _all_described),),
    ),
    "content-unchecked": Planted(
        "fetches",
        "pages and damaged data are kept as runs",
        (("irmeta.archive.content:check_content", _unchecked_content),),
    ),
    "resumed-without-if-range": Planted(
        "fetches",
        "two versions are joined",
        ((f"{PART}.resume", _no_if_range), (f"{PART}.is_of", _constant(True))),
    ),
    "version-not-compared": Planted(
        "fetches", "two versions are joined", ((f"{PART}.is_of", _constant(True)),)
    ),
    "written-in-place": Planted(
        "kills", "files without a rename", (("irmeta.files:replacing", _in_place),)
    ),
    "no-mark-while-replaced": Planted(
        "kills",
        "no mark while a track is replaced",
        ((f"{STORE}.layout:Layout.mark_replaced", _nothing),),
    ),
    "recorded-early": Planted(
        "kills",
        "a part is done as soon as its first file is",
        (
            (
                "irmeta.studies.framework.recorded_files:RecordedFiles.is_finished",
                _recorded_early,
            ),
        ),
    ),
    "temporaries-left": Planted(
        "kills",
        "temporary files of killed writers stay",
        (("irmeta.files:remove_temporaries", _temporaries_left),),
    ),
    "records-unchecked": Planted(
        "flips",
        "records without a checksum",
        (("irmeta.checksums:parse_record", _unchecked_record),),
    ),
    "footers-unchecked": Planted(
        "flips", "footers of Parquet", (("irmeta.checksums:footer_checksum", _size_only),)
    ),
    "contents-unchecked": Planted(
        "flips", "contents of files", (("irmeta.checksums:content_checksum", _size_only),)
    ),
    "embedded-unchecked": Planted(
        "flips",
        "checksums within Parquet files",
        (("irmeta.checksums:check_embedded", _constant(True)),),
    ),
    "damage-not-repaired": Planted(
        "repairs",
        "changed results count as done",
        (("irmeta.studies.framework.recorded_files:RecordedFiles._problem", _nothing),),
    ),
    "kernels-unchecked": Planted(
        "kernels", "cached kernels without a hash", (("irmeta.kernels.jit:_trusted", _trusting),)
    ),
    "full-disk-ignored": Planted(
        "limits",
        "a file that cannot be written",
        (("irmeta.files:write_bytes", _full_disk_ignored),),
    ),
    "no-lock": Planted(
        "writers", "no lock of writers", (("irmeta.files:only_writer", lambda _: _no_context),)
    ),
    "no-mark-beside-readers": Planted(
        "writers",
        "no mark while a track is replaced",
        ((f"{STORE}.layout:Layout.mark_replaced", _nothing),),
    ),
    "output-in-the-locale": Planted(
        "environments",
        "output in the locale's encoding",
        (("irmeta.cli.entry:_speak_utf8", _nothing),),
    ),
    "control-characters-printed": Planted(
        "names", "control characters", (("irmeta.escapes:escape_text", _identity),)
    ),
}
"""Faults by name; each kind has one or more."""


def find_all(names: list[str], seed: int) -> int:
    """Run the kind of each fault until it fails; return how many faults are not seen.

    Then each kind runs as long without a fault, with the same seed: a failure there would have
    been taken for the sight of a fault, and counts too.
    """
    unseen = 0
    longest: dict[str, float] = {}
    for name in names:
        kind, begun = FAULTS[name].kind, time.monotonic()
        failure = _failure_of(kind, seed, MINUTES, os.environ | {VARIABLE: name})
        seconds = time.monotonic() - begun
        longest[kind] = max(longest.get(kind, 0), seconds)
        is_seen = failure.startswith(f"FAILURE {kind}")
        unseen += not is_seen
        verdict = "seen" if is_seen else "NOT SEEN"
        print(f"{name} ({kind}): {verdict} after {seconds:.0f} s: {failure[:160]}", flush=True)
    for kind, seconds in longest.items():
        failure = _failure_of(kind, seed, seconds / 60, os.environ)
        unseen += bool(failure)
        verdict = f"FAILS WITHOUT A FAULT: {failure[:160]}" if failure else "no failure"
        print(f"{kind} without a fault: {verdict} in {seconds:.0f} s", flush=True)
    return unseen


def _failure_of(kind: str, seed: int, minutes: float, environment: Mapping[str, str]) -> str:
    """Return the first failure of a kind in some minutes, or what ended it; "" if nothing did."""
    script = Path(__file__).parents[1] / "faults.py"
    command = [sys.executable, str(script), "--only", kind, "--seed", str(seed)]
    try:
        process = subprocess.run(
            [*command, "--minutes", f"{minutes:.3f}", "--stop-at-failure"],
            env=dict(environment),
            capture_output=True,
            text=True,
            timeout=60 * MINUTES + 180,  # a fault that hangs is a fault that is not seen
        )
    except subprocess.TimeoutExpired:
        return "it hung"
    failures = [line for line in process.stdout.splitlines() if line.startswith("FAILURE")]
    if failures or process.returncode == 0:
        return failures[0] if failures else ""
    return f"status {process.returncode}: {process.stderr[-300:]}"
