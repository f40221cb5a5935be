"""The command line: `irmeta reanalyze`, `evaluate`, `explain`, `compare` and the others."""

from __future__ import annotations

import sys
from typing import NoReturn

from irmeta.cli.interrupts import STOPPED, bounded, stop

__all__ = ["main"]


def main() -> NoReturn:
    """Run the command line; `irmeta trec_eval` without loading the other commands."""
    is_trec_eval = sys.argv[1:2] == ["trec_eval"]
    message = "" if is_trec_eval else STOPPED
    try:
        with bounded(message):
            if is_trec_eval:
                from irmeta.cli.trec_eval_command import run

                raise SystemExit(run(sys.argv[2:]))
            from irmeta.cli.entry import main as run_app

            run_app()
    except KeyboardInterrupt:  # before the block
        stop(message)
