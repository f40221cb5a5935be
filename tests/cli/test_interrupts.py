"""Ctrl-C ends every command within seconds, with one message and no process left."""

from __future__ import annotations

import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

import irmeta
from irmeta.cli.interrupts import GRACE, STOPPED
from irmeta.studies.framework.registry import OWN
from support.serving import serving, stall

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads processes from /proc")

SLACK = 4.0  # seconds for a busy machine to schedule the end of a process
READY = "import sys; from irmeta.cli import main; print('ready', file=sys.stderr, flush=True); "
OUTSIDE = re.compile(
    r'Traceback .*\n  File "<string>", line 1, in <module>\nKeyboardInterrupt\n'
    r"|Exception ignored in: .*\nTraceback .*\n(?:  .*\n)*KeyboardInterrupt: *\n"
)
"""An interrupt before `main` is entered, for which a busy machine takes a while, or after it; or
in a destructor of a library, such as llvmlite's, which Python reports and passes over."""


def session_of(process: int) -> int:
    """Return the session of a running process; -1 if it has ended."""
    with suppress(OSError):
        text = Path(f"/proc/{process}/stat").read_text("utf-8", "replace")
        state = text.rpartition(")")[2].split()
        return -1 if state[0] == "Z" else int(state[3])
    return -1


def members(session: int) -> list[int]:
    """Return the running processes of a session."""
    numbers = (int(one.name) for one in Path("/proc").iterdir() if one.name.isdigit())
    return [number for number in numbers if session_of(number) == session]


def interrupt(is_time: Callable[[], object], code: str, *arguments: object) -> tuple[int, str]:
    """Run code, send SIGINT once when it is time, and return the exit status and messages.

    The code says that it is ready. Its session has no process in the end.
    """
    process = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert process.stderr is not None
        assert process.stderr.readline() == "ready\n"
        while not is_time() and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=GRACE + SLACK)
    finally:
        process.kill()
    end = after(1)  # killed processes end soon
    while (left := members(process.pid)) and not end():
        time.sleep(0.02)
    assert left == []
    return process.returncode, said


def after(seconds: float) -> Callable[[], bool]:
    end = time.monotonic() + seconds
    return lambda: time.monotonic() >= end


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "command", ["reanalyze", pytest.param("study search-length", marks=pytest.mark.exhaustive)]
)
def test_study_commands__ctrl_c_gives_status_130(
    made_store: irmeta.Store, tmp_path: Path, command: str
) -> None:
    arguments = (*command.split(), made_store.path, "--out", tmp_path / "out")
    begun = (tmp_path / "out" / ".parts").exists
    assert interrupt(begun, READY + "main()", *arguments) == (130, STOPPED)


@pytest.mark.exhaustive
def test_fetch_command__ctrl_c_does_not_wait_for_the_host(tmp_path: Path) -> None:
    with serving({}) as server:
        server.always = stall(9)
        arguments = ("fetch", "trec8/web", "--out", tmp_path, "--mirror", server.address)
        begun = interrupt(lambda: server.requests, READY + "main()", *arguments)
    assert begun == (130, STOPPED)


def test_bounded__swallowed_interrupt_ends_the_process() -> None:
    code = """
import sys, time
from irmeta.cli import interrupts
interrupts.GRACE, text = 0.2, "ready"
with interrupts.bounded(interrupts.STOPPED):
    while True:
        try:
            print(text, file=sys.stderr, flush=True)
            time.sleep(9)
        except KeyboardInterrupt:
            text = "goes on"
"""
    assert interrupt(after(0.01), code) == (130, f"goes on\n{STOPPED}")


def test_bounded__interrupt_that_becomes_another_error() -> None:
    code = """
import sys, time
from irmeta.cli import interrupts
with interrupts.bounded(interrupts.STOPPED):
    try:
        print("ready", file=sys.stderr, flush=True)
        time.sleep(9)
    except KeyboardInterrupt:
        raise ImportError("cannot be imported")
"""
    assert interrupt(after(0.01), code) == (130, STOPPED)


def test_bounded__block_that_ends_leaves_no_watch() -> None:
    code = """
import signal, sys, threading
from irmeta.cli.interrupts import bounded
with bounded(""):
    pass
print("ready", file=sys.stderr, flush=True)
assert threading.active_count() == 1
assert signal.set_wakeup_fd(-1) == -1
"""
    assert interrupt(after(0), code)[0] in (0, -signal.SIGINT)


LONG = (
    ("ingest", "TRACKS", "--out", "OUT"),
    ("ingest", "TRACKS/trec-covid-r1", "--out", "OUT", "--workers", "1"),
    ("reanalyze", "STORE", "--out", "OUT"),
    ("reanalyze", "STORE", "--out", "OUT", "--workers", "1"),
    ("evaluate", "STORE", "-m", "trec_eval"),
    ("evaluate", "TRACKS/trec-covid-r1", "-m", "AP"),
    ("trec_eval", "-m", "all_trec", "QRELS", "RUN"),
    ("compare", "STORE", "-m", "AP", "--track", "trec-covid-r1", "--test", "hsd-randomised"),
    ("power", "STORE", "--track", "trec-covid-r1"),
    ("prefer", "STORE", "--track", "trec-covid-r1"),
    ("truncation", "STORE"),
    ("pool", "STORE", "--track", "trec-covid-r1"),
    ("info", "STORE"),
    ("check", "STORE"),
    ("verify", "STORE", "--track", "robust-2003"),
    ("catalog", "trec1?/*"),
    *(("study", name, "STORE", "--out", "OUT") for name in OWN if name != "properties"),
    ("study", "properties", "--out", "OUT"),
)


@pytest.mark.slow
@pytest.mark.real
@pytest.mark.parametrize("command", LONG, ids=" ".join)
def test_long_commands__ctrl_c_at_any_moment(
    real_store: irmeta.Store, shared: Path, tmp_path: Path, command: tuple[str, ...]
) -> None:
    folder = shared / "tracks" / "trec-covid-r1"
    places = {
        "STORE": real_store.path,
        "TRACKS": shared / "tracks",
        "QRELS": folder / "qrels.txt",
        "RUN": next((folder / "runs").iterdir()),
        "OUT": tmp_path / "out",
    }
    first, *more = (re.sub("^[A-Z]+", lambda m: str(places.get(m[0], m[0])), a) for a in command)
    draw = random.Random(" ".join(command))
    for delay in (draw.uniform(0.1, 0.5), draw.uniform(0.5, 3), draw.uniform(3, 9)):
        status, said = interrupt(after(delay), READY + "main()", first, *more)
        assert "Traceback" not in OUTSIDE.sub("", said)
        if status not in (0, 1, 3, -signal.SIGINT):  # those of a command that ended earlier
            assert status == 130
            assert said.endswith("" if first == "trec_eval" else STOPPED)
