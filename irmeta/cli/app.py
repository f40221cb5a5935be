"""Shared parts of commands: the app, options, exit statuses, a line of progress."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any, Literal, get_args, get_origin

import typer
from typer.core import TyperCommand, TyperGroup

from irmeta.cli.notes import LEVEL
from irmeta.errors import UsageError
from irmeta.escapes import print_line
from irmeta.options import Options, option
from irmeta.progress import showing

FAILED, USAGE, STRICT = 1, 2, 3
DIFFERENT = 1  # the exit status of diff(1)
DAMAGED = 1
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kMGT]?)i?B?", re.IGNORECASE)


class WithFlags:
    """Commands and groups whose help text prints no type beside a flag.

    Options that are left to their default, texts and paths are not validated by typer.
    """

    # A mixin: the methods that the checker does not find are those of click's commands and groups.

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the command line."""
        for parameter in self.get_params(ctx):  # type: ignore[attr-defined]
            parameter.process_value = partial(_process_value, parameter)
        return super().parse_args(ctx, args)  # type: ignore[misc]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help text; flags, and `--help`, have an empty placeholder."""
        for parameter in self.get_params(ctx):  # type: ignore[attr-defined]
            if getattr(parameter, "is_flag", False):
                parameter.metavar = ""
        super().format_help(ctx, formatter)  # type: ignore[misc]


_TEXTS: dict[Any, Callable[[str], Any]] = {str: str, list[str]: str, Path: Path, list[Path]: Path}
"""Types of options without rules, with the conversion of each text."""


def _process_value(parameter: Any, context: Any, value: Any) -> Any:
    """Convert the value of a parameter as typer does, which loads pydantic for a tenth of a second.

    typer validates other types, and explains missing values, wrong choices and unreadable paths.
    """
    kind: Any = getattr(getattr(parameter, "type_descriptor", None), "annotation", None)
    is_several = parameter.multiple or parameter.nargs == -1
    if value is None and not parameter.required:
        default, callback = () if is_several else None, parameter.callback
        return default if callback is None else callback(context, parameter, default)
    texts: list[Any] = [*value] if isinstance(value, list | tuple) else [value]
    is_plain = {*map(type, texts)} <= {str} and parameter.callback is None
    if is_plain and (texts or not parameter.required):
        if get_origin(kind) is Literal and value in get_args(kind):
            return value
        readable = map(partial(os.access, mode=os.R_OK), texts)
        if kind in (str, list[str]) or (
            kind in _TEXTS and [*readable] == [*map(os.path.exists, texts)]
        ):
            converted = [*map(_TEXTS[kind], texts)]
            return converted if is_several else converted[0]
    return type(parameter).process_value(parameter, context, value)


class Command(WithFlags, TyperCommand):
    """A command."""


class Group(WithFlags, TyperGroup):
    """A group of commands."""


app: typer.Typer = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    help="Meta-evaluation of information retrieval: measures over whole TREC tracks.",
)

PathArgument = Annotated[
    Path,
    typer.Argument(
        metavar="PATH",
        show_default=False,
        help="A store, a folder of reanalyze or of a study, or a Parquet file of irmeta.",
    ),
]


@dataclass(frozen=True)
class Opening(Options):
    """How a command opens its source."""

    track: str | tuple[str, ...] | None = option(None, "Tracks to read.", flag="")
    workers: int | None = option(
        None, "Threads; default all cores.", least=1, metavar="<int range> [x>=1]"
    )
    dask: str | None = option(
        None,
        "Dask cluster instead of threads: address or file of a scheduler, or N processes.",
        metavar="ADDRESS|local:N",
    )
    strict: bool | None = option(
        None,
        "Exit with status 3 if a run or a qrels set could not be read.",
        flag="--strict/--no-strict",
        shown="--strict for runs named on the line, else --no-strict",
    )


@dataclass(frozen=True)
class TrackOpening(Opening):
    """How a command over one track opens its source."""

    track: str | None = option(None, "Track, where the source has several.")


@dataclass(frozen=True)
class TracksOpening(Opening):
    """How a command over several tracks opens its source."""

    track: tuple[str, ...] | None = option(None, "Only these tracks (repeatable).")


STRICT_ONLY = (Opening, ("strict",))
ONE_TRACK = (TrackOpening, ("track", "strict"))
TRACKS = (TracksOpening, ("track", "workers", "strict"))


@dataclass(frozen=True)
class MeasuresOfValues(Options):
    """Measures of commands that also take values, of which they use all by default."""

    measures: tuple[str, ...] = option(
        (), "Names of measures (repeatable); default all.", flag="-m --measures"
    )


@dataclass(frozen=True)
class ReadingCollection(Options):
    """How a collection is read into a store."""

    memory: str | None = option(
        None,
        "Memory of the process, e.g. 4G, of which irmeta itself takes 256M: a track that needs "
        "more is refused. Default: a quarter of the machine's.",
        metavar="SIZE",
    )
    rehash: bool = option(
        False, "Compare files by content, even if size and modification time match."
    )

    @property
    def limit(self) -> int | None:
        """The memory in bytes, from a size such as 500M; k, M, G and T are powers of 1024."""
        if self.memory is None:
            return None
        match = _SIZE.fullmatch(self.memory.strip())
        if match is None:
            raise UsageError(f"--memory {self.memory!r} is no size: write 500M or 4G.")
        number, unit = match.groups()
        return int(float(number) * 1024 ** " kmgt".index(unit.lower() or " "))


@dataclass(frozen=True)
class QueryFiles(Options):
    """Segments and weights of queries."""

    segment: str | None = option(
        None,
        "Column of the tracks' queries.csv, or CSV or TSV of queries and their segments (columns "
        "query, segment): results by segment too.",
        metavar="COLUMN|FILE",
    )
    query_weights: str | None = option(
        None,
        "CSV or TSV of queries and their weights (columns query, weight): weighted means, and "
        "their tests t and permutation.",
        metavar="FILE",
    )


@dataclass(frozen=True)
class UnjudgedDocs(Options):
    """What a command reports of unjudged docs."""

    unjudged: bool = option(
        False, "Also report hardly judged systems and undecided pairs on stderr."
    )
    judged_at_least: float | None = option(
        None,
        "With --unjudged, the mean Judged@10 below which a system is hardly judged.",
        least=0,
        most=1,
        metavar="<float range> [0<=x<=1]",
        shown="0.9",
    )

    def least_judged(self) -> float:
        """Return the value of --judged-at-least, which is an error without --unjudged."""
        if self.judged_at_least is not None and not self.unjudged:
            raise UsageError("--judged-at-least needs --unjudged.")
        return 0.9 if self.judged_at_least is None else self.judged_at_least


@dataclass(frozen=True)
class Drawn(Options):
    """How a command draws figures."""

    titles: bool = option(
        True,
        "Titles in figures; leave them out for figures with a caption.",
        flag="--titles/--no-titles",
    )
    formats: str = option("svg", "Formats of figures, separated by commas.", metavar="svg,pdf,png")


def one_measure(names: Sequence[str]) -> str:
    """Return the single name of a measure."""
    if len(names) > 1:
        raise UsageError(f"one measure at a time, not {', '.join(names)}.")
    return names[0]


@contextmanager
def cluster(dask: str | None, workers: int | None) -> Generator[Executor | None]:
    """Yield the executor of --dask; None without the option."""
    if dask is None:
        yield None
        return
    if workers is not None:
        fix = "leave it out; --dask local:4 says how many processes to start."
        raise UsageError(f"--workers is a number of threads of this machine: with --dask, {fix}")
    from irmeta.clusters import dask_executor

    with dask_executor(dask) as executor:
        yield executor


@contextmanager
def progress_line(doing: str) -> Generator[None]:
    """Show the progress of what a command does, if it takes long.

    A quiet command shows none; a verbose one prints the duration instead.
    """
    start = perf_counter()
    with showing(doing, False if LEVEL.quiet or LEVEL.verbose else None):
        yield
    if LEVEL.verbose:
        print_line(f"irmeta: {doing}: {perf_counter() - start:.2f} s", sys.stderr)
