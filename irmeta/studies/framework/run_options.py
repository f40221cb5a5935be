"""Options of running a study. They change no table; only those of figures are recorded."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, Literal

from irmeta.options import Options, option
from irmeta.report import parse_formats

Progress = Callable[[str, int, int], None]
"""Function of a track, the number of finished tracks, and the number of all tracks.

A study that reads no store calls it with its own name and its numbers of tables.
"""


@dataclass(frozen=True)
class RunOptions(Options):
    """Options of running a study."""

    track: tuple[str, ...] | None = option(
        None, "Only these tracks (repeatable); results of other tracks are kept."
    )
    only: bool = option(False, "If tracks are selected, remove the results of all other tracks.")
    force: bool = option(False, "Use a folder that holds other files.")
    figures: bool = option(
        True,
        "Draw figures, in addition to tables and page.",
        flag="--figures/--no-figures",
    )
    titles: bool = option(
        True,
        "Titles in figures; if off, captions end with the subtitle.",
        flag="--titles/--no-titles",
    )
    style: Literal["paper", "irmeta"] = option(
        "paper",
        "Names of measures in figures, LaTeX and on the page: as papers print them (AP_b), with "
        "the canonical names in captions; or canonical (AP(norm=min)).",
    )
    formats: tuple[str, ...] = option(
        ("svg",),
        "Formats of figures, separated by commas; always with svg, which the page contains.",
        parse="irmeta.report:parse_formats",
        metavar="svg,pdf,png",
    )
    workers: int | None = option(None, "Threads; default all cores.", least=1)
    executor: Executor | None = option(
        None,
        "Executor instead of threads: spawned processes, or irmeta.dask_executor.",
        flag="",
    )
    progress: Progress | None = option(
        None, "Called with a track, the number of finished tracks and of all tracks.", flag=""
    )

    @property
    def drawn(self) -> dict[str, Any]:
        """The recorded options."""
        formats = list(parse_formats(("svg", *self.formats))) if self.figures else []
        titles = self.titles or not self.figures
        drawn = {"figures": self.figures, "titles": titles, "formats": formats}
        return {**drawn, "style": self.style}
