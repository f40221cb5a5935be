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

from campaign.kinds import Group
from campaign.making import COMMANDS, argv_of, contents, make, make_inputs, other, start, unclear
from irmeta.cli.interrupts import STOPPED

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
    """SIGKILL and SIGINT at any moment of every command that writes.

    A file on its own is absent, old or complete afterwards. The next run of the command gives the
    bytes of a clean rebuild, with no file left over.
    """

    group: Group = "kills"

    def draw(self, rng: Random) -> tuple[str, str, bool, float]:
        begun = rng.random() < 0.5
        return (
            rng.choice(list(COMMANDS)),
            rng.choice(("SIGKILL", "SIGKILL", "SIGINT")),
            begun,
            rng.random() ** 2 * 0.5 if begun else rng.random(),
        )

    def check(self, drawn: tuple[str, str, bool, float]) -> str | None:
        name, kind, begun, moment = drawn
        out = self.empty()
        running = start(argv_of(name, self.work, out))
        running.stderr.readline()  # ready
        started = time.monotonic()
        if begun:  # wait for the first file that the command writes
            while running.poll() is None and not any(out.iterdir()):
                time.sleep(0.001)
        time.sleep(moment * self.seconds.get(name, 1.0))
        is_done = running.poll() is not None
        running.send_signal(signal.Signals[kind])
        failed = running.communicate(timeout=SECONDS)[1].decode()
        if is_done:
            self.seconds[name] = time.monotonic() - started
        status = running.returncode
        if kind == "SIGKILL":
            problem = None if status in (0, -signal.SIGKILL) else f"status {status}: {failed}"
        else:
            ended = 130 if STOPPED.strip() in failed else -signal.SIGINT
            problem = unclear(status, failed, (0, ended))
        if name in ("parquet", "csv", "pool"):
            left = {n: b for n, b in contents(out).items() if not n.endswith(".tmp")}
            if left not in ({}, self.clean[name]):
                problem = problem or "a part of a file"
        return problem or self.recovered(name)


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
