"""The command line: `irmeta reanalyze`, `evaluate`, `explain`, `compare` and the others."""

from __future__ import annotations

import sys
from typing import NoReturn

__all__ = ["main"]


def main() -> NoReturn:
    """Run the command line; `irmeta trec_eval` without loading the other commands."""
    if sys.argv[1:2] == ["trec_eval"]:
        from irmeta.cli.trec_eval_command import run

        raise SystemExit(run(sys.argv[2:]))
    from irmeta.cli.entry import main as run_app

    run_app()
