"""Where a command begins and ends: errors become one line and an exit status."""

from __future__ import annotations

import io
import os
import signal
import sys
import warnings
from typing import Annotated, Any, NoReturn

import typer

from irmeta._version import __version__
from irmeta.cli.options import FAILED, INTERRUPTED, USAGE, app
from irmeta.errors import IrmetaError, MeasureError, PoolDepthWarning, UsageError


def main() -> NoReturn:
    """Run the command line; errors become one line and an exit status."""
    _speak_utf8()
    warnings.showwarning = _show_warning
    try:
        app()
    except SystemExit as left:
        if left.code == INTERRUPTED:  # typer has caught Ctrl-C
            _stop()
        raise
    except KeyboardInterrupt:  # a second one, while it did
        _stop()
    except (UsageError, MeasureError) as error:
        _fail(error, USAGE)
    except IrmetaError as error:
        _fail(error, FAILED)
    except Exception as error:
        if _is_outside(error):
            _fail(error, FAILED)
        raise
    raise SystemExit(0)


_show_elsewhere = warnings.showwarning


def _show_warning(message: Warning | str, category: type[Warning], *where: Any) -> None:
    """Print a warning of irmeta as one line, as errors are."""
    if issubclass(category, PoolDepthWarning):
        print(f"irmeta: {message}", file=sys.stderr)
    else:
        _show_elsewhere(message, category, *where)


def _stop() -> NoReturn:
    """End at once: a track under way is put in place whole or not at all."""
    # A second Ctrl-C while Python waits for threads would end it without a word or a status.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    print("irmeta: stopped; what is written is whole, run it again to go on", file=sys.stderr)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(INTERRUPTED)


def _speak_utf8() -> None:
    """CSV in a pipe is UTF-8 everywhere; a terminal that cannot show a character escapes it."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            encoding = None if stream.isatty() else "utf-8"
            stream.reconfigure(encoding=encoding, errors="backslashreplace")


def _is_outside(error: Exception) -> bool:
    """Whether an error comes from the disk or from a damaged Parquet file, not from a bug."""
    return isinstance(error, OSError) or type(error).__module__.split(".")[0] in (
        "polars",
        "pyarrow",
    )


def _fail(error: Exception | str, status: int) -> NoReturn:
    print(f"irmeta: {' '.join(str(error).split())}", file=sys.stderr)
    raise SystemExit(status)


def _version(asked: bool) -> None:
    if asked:
        print(f"irmeta {__version__}")
        raise typer.Exit


@app.callback()
def _top(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print it.")
    ] = False,
) -> None:
    """Meta-evaluation of information retrieval: measures over whole TREC tracks."""
