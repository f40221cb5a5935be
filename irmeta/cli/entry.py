"""Entry point of the command line: errors become one line and an exit status."""

from __future__ import annotations

import io
import sys
import traceback
import warnings
from importlib import import_module
from typing import Annotated, Any, NoReturn

import typer

from irmeta._version import __version__
from irmeta.cli.app import FAILED, USAGE, app
from irmeta.cli.interrupts import INTERRUPTED
from irmeta.cli.notes import LEVEL, OPTIONS, WarningLines, error_line
from irmeta.cli.vocabulary import renamed
from irmeta.errors import IrmetaError, MeasureError, UsageError
from irmeta.escapes import escape_text, hide_passwords, print_line
from irmeta.files import discard_output, writing_output

MODULES = {
    "reanalyze": "collections",
    "evaluate": "values",
    "trec_eval": "values",
    "compare": "results",
    "power": "results",
    "over-tracks": "comparisons",
    "prefer": "comparisons",
    "agree": "comparisons",
    "reproduce": "comparisons",
    "truncation": "values",
    "explain": "values",
    "pool": "pools",
    "measures": "values",
    "preferences": "comparisons",
    "ingest": "collections",
    "validate": "collections",
    "info": "collections",
    "check": "results",
    "diff": "results",
    "cite": "results",
    "catalog": "archive",
    "fetch": "archive",
    "verify": "archive",
    "study": "studies",
}
"""Module of each command, in the order of the help text."""


def load_commands(name: str = "") -> typer.Typer:
    """Return the app with the command of this name; for any other text, with all commands."""
    if name in MODULES:
        import_module(f"irmeta.cli.{MODULES[name]}")
        return app
    for module in dict.fromkeys(MODULES.values()):
        import_module(f"irmeta.cli.{module}")
    order = [*MODULES]
    app.registered_commands.sort(key=lambda command: order.index(command.name or ""))
    return app


def main() -> NoReturn:
    """Run the command line; errors become one line and an exit status."""
    _speak_utf8()
    LEVEL.set()
    OPTIONS.clear()
    lines = WarningLines()
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lines.show
            try:
                with writing_output():  # files have their names already
                    run = load_commands(*sys.argv[1:2])
                    status = run(standalone_mode=False, prog_name="irmeta")
                    try:
                        sys.stdout.flush()
                    except BrokenPipeError:  # its reader has closed the pipe
                        discard_output()
            finally:
                lines.finish()
    except (UsageError, MeasureError) as error:
        _fail(error, USAGE)
    except IrmetaError as error:
        _fail(error, FAILED)
    except BaseException as error:
        if hasattr(error, "format_message"):  # an error of typer, which does not export its class
            _refuse(error)
        if _is_outside(error):
            _fail(error, FAILED)
        raise
    if status == INTERRUPTED:  # typer has caught Ctrl-C
        raise KeyboardInterrupt
    raise SystemExit(status if isinstance(status, int) else 0)


def _refuse(error: Any) -> NoReturn:
    """Print an argument error in typer's format, with names of files escaped."""
    from typer.rich_utils import rich_format_error

    error.message = escape_text(hide_passwords(error.message))
    if error.ctx is not None and (option := getattr(error, "option_name", None)):
        known = [name for one in error.ctx.command.params for name in one.opts]
        if name := renamed(option, known):
            error.message += f" It is called {name}."
    rich_format_error(error)
    raise SystemExit(error.exit_code)


def _speak_utf8() -> None:
    """Write the same bytes to pipes on all platforms; escape what a terminal cannot show."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
            if not stream.isatty():
                stream.reconfigure(encoding="utf-8", newline="\n")


def _is_outside(error: BaseException) -> bool:
    """Check whether an error comes from the disk or a damaged Parquet file, instead of a bug."""
    return isinstance(error, OSError) or type(error).__module__.split(".")[0] in (
        "polars",
        "pyarrow",
        "pyo3_runtime",  # a panic in Rust, of polars or vl-convert
    )


def _fail(error: BaseException, status: int) -> NoReturn:
    if LEVEL.verbose:
        traceback.print_exception(error)
    error_line(f"irmeta: {' '.join(str(error).split())}")
    raise SystemExit(status)


def _version(asked: bool) -> None:
    if asked:
        print_line(f"irmeta {__version__}")
        raise typer.Exit


@app.callback()
def _top(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Meta-evaluation of information retrieval: measures over whole TREC tracks."""
