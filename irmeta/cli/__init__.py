"""The command line: `irmeta reanalyze`, `evaluate`, `explain`, `compare` and the others."""

from __future__ import annotations

import atexit
import gc
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import NoReturn

from irmeta.cli.interrupts import STOPPED, bounded, stop

__all__ = ["main"]

_NEW_OBJECTS = 10_000
"""New objects before a garbage collection; Python's 700 would collect often while modules load."""


def main() -> NoReturn:
    """Run the command line; `irmeta trec_eval` without loading the other commands."""
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
