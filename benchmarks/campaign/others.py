"""Several writers and readers, odd environments, hostile names, and a hostile server."""

from __future__ import annotations

import csv
import gzip
import importlib
import io
import json
import os
import re
import shutil
import sys
import tempfile
import zlib
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import Any

from filelock import FileLock

import irmeta
from campaign.kills import INTERRUPTED, SECONDS
from campaign.kinds import Group
from campaign.making import Argv, make_inputs, run_here, start, store_values, unclear
from irmeta.errors import IrmetaError

REPLACED = "was replaced while it was read"
TESTS = Path(__file__).parents[2] / "tests"


def support(name: str) -> Any:
    """Import a helper of the tests, such as their server of files."""
    if str(TESTS) not in sys.path:
        sys.path.append(str(TESTS))
    return importlib.import_module(f"support.{name}")


class Writers:
    """Two writers of a store at once, and a reader: every reading is of one of the two contents."""

    group: Group = "others"

    def __init__(self, work: Path) -> None:
        self.work = work
        make_inputs(work)
        shutil.copytree(work / "in", work / "in2")
        qrels = next((work / "in2" / "ties").glob("qrels*"))
        qrels.write_bytes(re.sub(rb" 1\n", b" 2\n", qrels.read_bytes()))
        self.allowed = list[dict[str, list[Any]]]()
        self.written = set[str]()  # tracks that a reader has seen in the store
        for name in ("in", "in2"):
            out = str(work / f"store of {name}")
            run_here(("ingest", str(work / name), "--out", out))
            tracks = ("ties", "unretrieved")
            self.allowed.append({track: store_values(Path(out), track) for track in tracks})
        if self.allowed[0] == self.allowed[1]:
            raise RuntimeError("the two collections have equal values")

    def draw(self, rng: Random) -> tuple[str, ...]:
        return tuple(rng.choice(("in", "in2")) for _ in range(rng.randint(1, 3)))

    def check(self, drawn: tuple[str, ...]) -> str | None:
        store = self.work / "store"
        argv = [("ingest", str(self.work / name), "--out", str(store)) for name in drawn]
        problem = self.locked(store, argv[0]) if len(argv) == 1 else None
        writers = [start(one) for one in argv]
        while any(one.poll() is None for one in writers):
            try:
                problem = problem or self.mixed(store)
            except IrmetaError as error:
                if INTERRUPTED not in str(error) and REPLACED not in str(error):
                    problem = problem or f"a reader is told: {error}"
        for one in writers:
            failed = one.communicate(timeout=SECONDS)[1].decode()
            problem = problem or unclear(one.returncode, failed, (0, 2))
        is_damaged = irmeta.check(store).height > 0
        return (
            problem
            or self.mixed(store, is_whole=True)
            or ("the store is damaged" if is_damaged else None)
        )

    def locked(self, store: Path, argv: Argv) -> str | None:
        """While another process holds the lock, a writer writes nothing."""
        store.mkdir(exist_ok=True)
        with FileLock(store / ".lock"):
            status, _, failed = run_here(argv)
        is_refused = status == 2 and "another process is writing" in failed
        return None if is_refused else f"a second writer ends with status {status}: {failed}"

    def mixed(self, store: Path, is_whole: bool = False) -> str | None:
        """Each track is read whole; while it is replaced, it is an error, and never absent."""
        tracks = set(irmeta.open_store(store).tracks)
        if missing := self.written - tracks:
            return f"a reader sees no track {missing}"
        self.written |= tracks
        for track in sorted(tracks) if not is_whole else ("ties", "unretrieved"):
            allowed = zip(*(of[track] for of in self.allowed), strict=True)
            for table, known in zip(store_values(store, track), allowed, strict=True):
                if table not in known:
                    return f"a reader sees other values: {repr(table)[:300]}"
        return None


class Environments:
    """Odd environments: the same output as in a usual one."""

    group: Group = "others"
    VARIABLES: tuple[dict[str, str], ...] = (
        {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"HOME": "/none", "XDG_CACHE_HOME": ""},
        {"COLUMNS": "1", "TERM": "dumb", "LINES": "0"},
        {"TZ": "Pacific/Kiritimati", "PYTHONHASHSEED": "7", "PYTHONOPTIMIZE": "2"},
        {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"},
        {"PYTHONIOENCODING": "latin-1"},
    )
    KINDS = (*range(len(VARIABLES)), "64 open files", "another user", "closed input")

    def __init__(self, work: Path) -> None:
        work.chmod(0o755)
        make_inputs(work)
        run = next(file for file in (work / "in" / "ties" / "runs").iterdir() if file.is_file())
        text = re.sub(r"\S+$", "é日本", run.read_text("utf-8"), flags=re.MULTILINE)
        (run.parent / "other").write_text(text, "utf-8")
        status, _, failed = run_here(("ingest", str(work / "in"), "--out", str(work / "store")))
        if status:
            raise RuntimeError(failed)
        self.argv: Argv = ("evaluate", str(work / "store"), "-m", "AP,ASL", "--format", "csv")
        self.expected = run_here(self.argv)[1]
        self.is_open = all(  # the interpreter may lie in a folder that is closed to other users
            folder.stat().st_mode & 1
            for at in (Path(sys.executable).absolute(), Path(sys.executable).resolve())
            for folder in at.parents
        )

    def draw(self, rng: Random) -> int | str:
        return rng.choice(self.KINDS)

    def check(self, drawn: int | str) -> str | None:
        def before() -> None:
            if drawn == "64 open files":
                import resource

                resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
            elif drawn == "another user" and os.geteuid() == 0:  # the package is read-only
                os.setgid(65534)
                os.setuid(65534)
            elif drawn == "closed input":
                os.close(0)

        given = self.VARIABLES[drawn] if isinstance(drawn, int) else {}
        if drawn == "another user" and not self.is_open:
            return None
        if drawn == "another user":
            given = {"HOME": "/none", "IRMETA_CACHE_DIR": "/none"}
        running = start(self.argv, before, **given)
        said, failed = (text.decode() for text in running.communicate(timeout=SECONDS))
        problem = unclear(running.returncode, failed, (0,))
        return problem or (None if said == self.expected else f"other output: {said[:300]}")


class Names:
    """Hostile names of tracks, systems, queries and docs, through the outputs and in Chromium."""

    group: Group = "others"
    PARTS = (
        *("<script>window.hostile=1</script>", "</style><img/src=x/onerror=window.hostile=1>"),
        *('"', "'", "&amp;", "|", "\\", "$x$", "%", "_", "#", "{", "=1+1", "@", "-", "`", "*"),
        *("\x1b[31m", "\x07", "\u202e", "\u2066", "é", "日本", "🙂", "نظام", "a,b", ";", "x" * 90),
    )
    UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]")

    def __init__(self, work: Path) -> None:
        self.work, self.open, self.count = work, ExitStack(), 0
        browser = support("browser")
        program = browser.chromium()
        profile = tempfile.mkdtemp(dir=work)
        self.browser: Any = None
        if program is not None:
            self.browser = self.open.enter_context(browser.Browser(program, Path(profile)))

    def close(self) -> None:
        """End Chromium."""
        self.open.close()

    def draw(self, rng: Random) -> tuple[list[str], bool]:
        texts = [f"n{i}" + "".join(rng.sample(self.PARTS, rng.randint(1, 3))) for i in range(6)]
        return texts, rng.random() < 0.1

    def check(self, drawn: tuple[list[str], bool]) -> str | None:
        (track, first, second, query, *docs), has_page = drawn
        folder = self.work / "in" / track.replace("/", "\\")[:80]
        shutil.rmtree(self.work / "in", ignore_errors=True)
        (folder / "runs").mkdir(parents=True)
        (folder / "qrels").write_text(f"{query} 0 {docs[0]} 1\n{query} 0 {docs[1]} 0\n", "utf-8")
        for i, system in enumerate((first, second)):
            lines = [f"{query} Q0 {doc} 1 {place} {system}\n" for place, doc in enumerate(docs)]
            (folder / "runs" / str(i)).write_text("".join(lines[i:]), "utf-8")
        read = {form: self.printed(form) for form in ("csv", "json", "table", "latex", "markdown")}
        for form, (status, said, failed) in read.items():
            if (problem := unclear(status, failed, (0, 2))) is not None:
                return f"{form}: {problem}"
            if form in ("table", "latex", "markdown") and self.UNSAFE.search(said + failed):
                return f"{form}: a control character is printed"
        expected = {(first, query), (second, query)}
        rows = list(csv.DictReader(io.StringIO(read["csv"][1], newline="")))
        if {(row["system"], row["query"]) for row in rows} != expected:
            return f"csv: other names: {rows}"
        (rows,) = json.loads(read["json"][1])["tables"].values()
        if {(row["system"], row["query"]) for row in rows} != expected:
            return f"json: other names: {rows}"
        return self.page() if has_page else None

    def printed(self, form: str) -> tuple[int, str, str]:
        return run_here(("evaluate", str(self.work / "in"), "-m", "AP", "-q", "--format", form))

    def page(self) -> str | None:
        out = self.work / "out"
        shutil.rmtree(out, ignore_errors=True)
        argv = ("reanalyze", str(self.work / "in"), "--out", str(out), "-m", "AP", "--no-figures")
        status, _, failed = run_here(argv)
        if status or self.browser is None:
            return unclear(status, failed, (0,))
        self.browser.open(out / "report.html")
        if self.browser.run("window.hostile") is not None or self.browser.errors():
            return f"a name is run: {self.browser.errors()}"
        return None


class Fetches:
    """A hostile server on the loopback: each fetched file is the served one, or named as failed."""

    group: Group = "inputs"
    QRELS = "/data/qrels_eng/qrels.trec8.small_web.gz"
    OLDER = gzip.compress(b"401 Q0 d9 1 9.0 older\n" * 9, mtime=0)
    """Another version of each file, sent whole or in part."""

    def __init__(self, work: Path) -> None:
        self.out = work / "out"
        self.server = support("serving")
        found = irmeta.catalog("trec8/web").runs.select("address").to_series().sort().head(3)
        self.paths = ["/" + address.split("/", 3)[3] for address in found]
        run = b"401 Q0 d1 1 2.0 %d\n401 Q0 d2 2 1.0 %d\n"
        files = {path: gzip.compress(run % (i, i), mtime=0) for i, path in enumerate(self.paths)}
        self.files = files | {self.QRELS: gzip.compress(b"401 0 d1 1\n401 0 d2 0\n", mtime=0)}

    def draw(self, rng: Random) -> dict[str, list[tuple[str, int]]]:
        kinds = (
            "status",
            "cut",
            "flip",
            "page",
            "empty",
            "long",
            "closed",
            "older",
            "other",
            "text",
        )
        codes = (200, 206, 301, 302, 400, 403, 404, 416, 429, 500, 503)
        return {
            path: [
                (kind, rng.choice(codes) if kind == "status" else rng.randrange(60))
                for kind in rng.choices(kinds, k=rng.randrange(4))
            ]
            for path in self.files
        }

    def answer(self, kind: str, amount: int) -> Any:
        serving = self.server

        def flip(handler: Any, content: bytes) -> None:
            raw = bytearray(content or b"x")
            raw[amount % len(raw)] ^= 1 << amount % 8
            handler.answer(200, bytes(raw))

        def close(handler: Any, content: bytes) -> None:
            handler.close_connection = True

        def older(handler: Any, content: bytes) -> None:
            serving.cut(10 + amount)(handler, self.OLDER)

        def other(handler: Any, content: bytes) -> None:
            """Send the end of another version, whatever was asked for."""
            asked = handler.headers.get("Range")
            start = int(asked.removeprefix("bytes=").removesuffix("-")) if asked else 0
            data = gzip.compress(b"401 Q0 d8 1 8.0 other\n" * 9, mtime=0)
            span = f"bytes {start}-{len(data) - 1}/{len(data)}"
            code = 206 if asked else 503
            handler.answer(code, data[start:], ETag='"another"', Content_Range=span)

        return {
            "older": older,
            "other": other,
            "text": serving.sending(200, b"No such file.\n"),
            "status": serving.status(amount, Location="/none", Retry_After="0"),
            "cut": serving.cut(amount),
            "flip": flip,
            "page": serving.page,
            "empty": serving.sending(200, b""),
            "long": serving.sending(200, b"x" * 100_000),
            "closed": close,
        }[kind]

    def check(self, drawn: dict[str, list[tuple[str, int]]]) -> str | None:
        shutil.rmtree(self.out, ignore_errors=True)
        with self.server.serving(self.files) as server:
            for path, faults in drawn.items():
                server.faults[path] = [self.answer(*fault) for fault in faults]
            argv = ("fetch", "trec8/web", "--out", str(self.out), "--mirror", server.address)
            clock = self.server.FakePauses()
            with fast(clock):
                status, _, failed = run_here(argv)
        if (problem := unclear(status, failed, (0, 1, 3))) is not None:
            return problem
        return self.kept(drawn)

    def kept(self, drawn: dict[str, list[tuple[str, int]]]) -> str | None:
        """Compare the files that were kept with the served ones, as far as no bit was flipped."""
        for path, content in self.files.items():
            is_flipped = any(kind == "flip" for kind, _ in drawn[path])
            name = "qrels.gz" if path == self.QRELS else Path(path).name.removeprefix("input.")
            file = next(iter(self.out.rglob(name)), None)
            if file is None or (data := file.read_bytes()) in (content, self.OLDER):
                continue
            # Nothing tells the client of a flipped bit, but that the file is damaged.
            if not is_flipped or not is_run_or_qrels(data):
                return f"{file.name} is not the file that was served"
        return None


def is_run_or_qrels(data: bytes) -> bool:
    """Check whether compressed data are whole, and text with a line of a run or of qrels."""
    try:
        lines = gzip.decompress(data).splitlines()
    except (OSError, EOFError, zlib.error):
        return False
    return any(len(line.split()) >= 4 for line in lines)


def fast(clock: Any) -> Any:
    """Make pauses between tries take no time."""
    from unittest.mock import patch

    from irmeta.archive import fetch

    return patch.object(fetch, "Pauses", lambda: clock)
