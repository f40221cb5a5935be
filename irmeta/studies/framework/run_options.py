"""Options of running a study. They change no table; only `figures` and `titles` are recorded."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass

from irmeta.options import Options, option

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
    only: bool = option(False, "If only some tracks are named: remove the results of the others.")
    force: bool = option(False, "Use a folder that holds other files.")
    figures: bool = option(
        True,
        "Draw the figures; without, tables and page alone.",
        flag="--figures/--no-figures",
    )
    titles: bool = option(
        True,
        "Figures with titles; without, for a caption, which ends with the subtitle.",
        flag="--titles/--no-titles",
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
    def drawn(self) -> dict[str, bool]:
        """The recorded options."""
        return {"figures": self.figures, "titles": self.titles or not self.figures}
