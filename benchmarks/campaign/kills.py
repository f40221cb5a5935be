"""Commands that are killed, interrupted, or short of disk, memory or files."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import time
from pathlib import Path
from random import Random

from campaign import stops
from campaign.kinds import Group
from campaign.making import (
    COMMANDS,
    Argv,
    argv_of,
    contents,
    make,
    make_inputs,
    other,
    start,
    store_values,
    unclear,
)
from irmeta.cli.interrupts import STOPPED
from irmeta.errors import IrmetaError

INTERRUPTED = "is being replaced by an ingest, or that ingest was interrupted"
SECONDS = 300  # for one command on a busy machine


class Rebuilds:
    """Small inputs, a clean rebuild by each command, and how long it takes."""

    def __init__(self, work: Path) -> None:
        self.work, self.out = work, work / "out"
        make_inputs(work)
        self.clean = {name: make(name, work, work / name) for name in COMMANDS}
        self.seconds: dict[str, float] = {}

    def empty(self) -> Path:
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.mkdir()
        return self.out

    def recovered(self, name: str) -> str | None:
        """Run a command again, and compare all that it has written."""
        try:
            return other(make(name, self.work, self.out), self.clean[name])
        except RuntimeError as error:
            return f"the next run fails: {error}"


class Kills(Rebuilds):
    """SIGKILL between two writes and within one, and signals at any moment, of commands that write.

    A file on its own is absent, old or complete afterwards; a store has the old or the new values,
    or says that an ingest was interrupted. The next run of the command gives the bytes of a clean
    rebuild, with no file left over.
    """

    group: Group = "kills"

    def __init__(self, work: Path) -> None:
        super().__init__(work)
        self.moments: dict[str, int] = {}
        shutil.copytree(work / "in", work / "in2")
        qrels = next((work / "in2" / "ties").glob("qrels*"))
        qrels.write_bytes(qrels.read_bytes().replace(b" 1\n", b" 2\n"))
        make("ingest of others", work, work / "others")
        self.values = [store_values(work / name) for name in ("ingest", "others")]

    def draw(self, rng: Random) -> tuple[str, str, float]:
        name = rng.choice([*COMMANDS, "ingest over others", "ingest over others"])
        return name, rng.choice(("moment", "moment", "moment", "SIGKILL", "SIGINT")), rng.random()

    def check(self, drawn: tuple[str, str, float]) -> str | None:
        command, kind, place = drawn
        name = "ingest" if command == "ingest over others" else command
        out = self.empty()
        if command != name:
            shutil.copytree(self.work / "others", out, dirs_exist_ok=True)
        argv = argv_of(name, self.work, out)
        problem = (
            self.stopped(command, argv, place)
            if kind == "moment"
            else self.signalled(name, argv, kind, place)
        )
        if name in ("parquet", "csv", "pool"):
            left = {n: b for n, b in contents(out).items() if not n.endswith(".tmp")}
            if left not in ({}, self.clean[name]):
                problem = problem or "a part of a file"
        if command == "ingest over others":
            problem = problem or self.read(out)
        return problem or self.recovered(name)

    def stopped(self, command: str, argv: Argv, place: float) -> str | None:
        """Kill a command at one of its moments of writing, which are counted first."""
        if command not in self.moments:
            before = self.work / "before"
            shutil.copytree(self.out, before)
            failed = (
                start(argv, None, **{stops.VARIABLE: "0"}).communicate(timeout=SECONDS)[1].decode()
            )
            self.moments[command] = int(failed.split("moments ")[1].split()[0])
            self.empty().rmdir()
            before.rename(self.out)
        moment = 1 + int(place * self.moments[command])
        running = start(argv, None, **{stops.VARIABLE: str(moment)})
        failed = running.communicate(timeout=SECONDS)[1].decode()
        is_killed = running.returncode in (0, -signal.SIGKILL)
        return None if is_killed else f"status {running.returncode}: {failed}"

    def signalled(self, name: str, argv: Argv, kind: str, place: float) -> str | None:
        """Send a signal to a command after a share of its time."""
        running = start(argv)
        running.stderr.readline()  # ready
        started = time.monotonic()
        time.sleep(place * self.seconds.get(name, 1.0))
        is_done = running.poll() is not None
        running.send_signal(signal.Signals[kind])
        failed = running.communicate(timeout=SECONDS)[1].decode()
        if is_done:
            self.seconds[name] = time.monotonic() - started
        status = running.returncode
        if kind == "SIGKILL":
            return None if status in (0, -signal.SIGKILL) else f"status {status}: {failed}"
        ended = 130 if STOPPED.strip() in failed else -signal.SIGINT
        return unclear(status, failed, (0, ended))

    def read(self, store: Path) -> str | None:
        """Read what is left: values of before or after, or the error of an interrupted ingest."""
        try:
            found = store_values(store)
        except IrmetaError as error:
            return None if INTERRUPTED in str(error) else f"a reader is told: {error}"
        mixed = [table for table in found if all(table not in known for known in self.values)]
        return f"a reader sees other values: {mixed[0][:3]}" if mixed else None


class Limits(Rebuilds):
    """Full disks, and limits of the size of files, of memory and of open files.

    The command ends with its result or with one error; without the limit, it then gives the bytes
    of a clean rebuild.
    """

    group: Group = "others"

    def draw(self, rng: Random) -> tuple[str, str, int]:
        limit = rng.choice(("disk", "size", "files", "memory"))
        amounts = {"disk": (4, 200), "size": (1, 60_000), "files": (8, 64), "memory": (1, 600)}
        return rng.choice(list(COMMANDS)), limit, rng.randint(*amounts[limit])

    def check(self, drawn: tuple[str, str, int]) -> str | None:
        name, limit, amount = drawn
        out = self.empty()
        argv = argv_of(name, self.work, out)
        kinds = {"size": resource.RLIMIT_FSIZE, "files": resource.RLIMIT_NOFILE}
        if limit == "memory" and name in ("ingest", "reanalyze"):
            argv += ("--memory", f"{amount}M")
        is_mounted = limit == "disk" and mount(out, amount)

        def before() -> None:
            if limit in kinds:
                resource.setrlimit(kinds[limit], (amount, amount))

        try:
            running = start(argv, before)
            failed = running.communicate(timeout=SECONDS)[1].decode()
            if limit == "files" and amount < 32 and "ready" not in failed:
                return self.recovered(name)  # Python itself needs more
            problem = unclear(running.returncode, failed)
            if running.returncode == 0:
                problem = problem or other(contents(out), self.clean[name])
            kept = shutil.copytree(out, self.work / "kept") if is_mounted else None
        finally:
            if is_mounted:
                subprocess.run(["umount", str(out)], check=True)
        if kept is not None:  # all that the disk had, empty folders too
            shutil.copytree(kept, out, dirs_exist_ok=True)
            shutil.rmtree(kept)
        return problem or self.recovered(name)


def mount(folder: Path, kilobytes: int) -> bool:
    """Mount a disk of a size, which only root may; return whether that was possible."""
    if os.name != "posix" or os.geteuid() != 0:
        return False
    made = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "none", str(folder)]
    return subprocess.run(made, capture_output=True, check=False).returncode == 0
