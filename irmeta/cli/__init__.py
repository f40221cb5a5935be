"""The command line: `irmeta reanalyze`, `evaluate`, `explain`, `compare` and the others."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import NoReturn

from irmeta.cli.interrupts import STOPPED, bounded, stop

__all__ = ["main"]

_NEW_OBJECTS = 10_000
"""New objects before a garbage collection; Python's 700 would collect often while modules load."""


_FREED = ("_RJEM_MALLOC_CONF", "dirty_decay_ms:0,muzzy_decay_ms:0")
"""Setting of polars' allocator: freed memory returns to the system at once.

By default it does so after a while, and a CSV of two million rows takes 620 to 720 MB, not 625.
"""


def main() -> NoReturn:
    """Run the command line; `irmeta trec_eval` without loading the other commands."""
    os.environ.setdefault(*_FREED)  # read when polars is loaded
    _open_streams()
    is_trec_eval = sys.argv[1:2] == ["trec_eval"]
    message = "" if is_trec_eval else STOPPED
    try:
        with bounded(message), _few_collections():
            if is_trec_eval:
                from irmeta.cli.trec_eval_command import run

                raise SystemExit(run(sys.argv[2:]))
            from irmeta.cli.entry import main as run_app

            run_app()
    except KeyboardInterrupt:  # before the block
        stop(message)
    except Exception as error:
        from irmeta.cli.notes import fail_internally

        fail_internally(error)


def _open_streams() -> None:
    """Give closed standard streams a file, which files opened later would take the number of.

    A command whose output nobody can read fails at once.
    """
    is_closed = sys.stdout is None
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, os.O_RDWR)  # the lowest free number, if that is closed
            setattr(sys, name, os.fdopen(descriptor, "w" if number else "r", encoding="utf-8"))
    if is_closed:
        sys.stderr.write("irmeta: standard output is closed: redirect it, as by > /dev/null.\n")
        raise SystemExit(2)


@contextmanager
def _few_collections() -> Generator[None]:
    """Collect garbage less often in the block, and not at the exit of the process.

    A search of the objects of all libraries for cycles takes a tenth of a second at exit.
    """
    before = gc.get_threshold()
    gc.set_threshold(_NEW_OBJECTS, *before[1:])
    atexit.register(gc.freeze)
    try:
        yield
    finally:
        gc.set_threshold(*before)
