"""Ctrl-C ends a command within seconds, whatever its threads and libraries do."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from threading import Event, Lock, Thread, current_thread, main_thread
from typing import NoReturn

INTERRUPTED = 130
"""Exit status after Ctrl-C."""
GRACE = 2.0
"""Seconds after Ctrl-C in which threads end and temporary files are removed."""
STOPPED = "irmeta: stopped; written tracks are complete, run again to continue\n"
_CLEAR_LINE = "\r\x1b[K"  # of progress
_ending = Lock()


@contextmanager
def bounded(message: str) -> Generator[None]:
    """End the process at Ctrl-C in the block: when the block ends, or after `GRACE` seconds.

    Python handles signals in the main thread only, between its instructions: not while that thread
    computes, nor while it waits in a call that the system restarts, as polars' signal handler asks.
    """
    if current_thread() is not main_thread():
        yield
        return
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    came, ended = Event(), Event()
    thread = Thread(target=_watch, args=(reader, came, ended, message), daemon=True)
    thread.start()
    before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    try:
        yield
    except KeyboardInterrupt:
        stop(message)
    except Exception:
        if came.wait(0.05):  # an interrupted import may be another error
            stop(message)
        raise
    finally:
        signal.set_wakeup_fd(before)
        ended.set()
        os.close(writer)
        thread.join()


def _watch(reader: int, came: Event, ended: Event, message: str) -> None:
    """Wait for the number of the signal, which Python writes to the pipe when it comes."""
    with open(reader, "rb", buffering=0) as pipe:
        while (numbers := pipe.read(64)) and signal.SIGINT not in numbers:
            pass
        if not numbers:
            return
        came.set()
        if ended.wait(GRACE):
            return
    if sys.stderr.isatty():
        message = _CLEAR_LINE + message
    stop(message, is_idle=False)


def stop(message: str, *, is_idle: bool = True) -> NoReturn:
    """Exit at once, which is safe because files are replaced atomically.

    Unless the main thread `is_idle`, it may write to a full pipe, and flushing would wait for it.
    """
    # Both threads may come here. The one that waits for a full pipe must not keep the other.
    if not _ending.acquire(timeout=0.5):
        os._exit(INTERRUPTED)
    try:
        if (drawing_processes := sys.modules.get("irmeta.studies.drawing_processes")) is not None:
            drawing_processes.end_all()
        with suppress(OSError, ValueError):
            sys.stderr.write(message)
            sys.stderr.flush()
            if is_idle:
                sys.stdout.flush()
        os._exit(INTERRUPTED)
    finally:  # of a test, in which the process continues
        _ending.release()
