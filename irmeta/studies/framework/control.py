"""How a study is run: nothing here changes a result, so none of it is recorded."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass

from irmeta.options import Options, option

Progress = Callable[[str, int, int], None]
"""Called with a track, the number of tracks that are finished, and the number of tracks."""


@dataclass(frozen=True)
class Run(Options):
    """How a study is run."""

    tracks: tuple[str, ...] | None = option(
        None, "Only these tracks (repeatable); results of others stay.", flag="--track"
    )
    only: bool = option(False, "With --track: remove the results of other tracks.")
    force: bool = option(False, "Use a folder that holds other files.")
    workers: int | None = option(None, "Threads; default all cores.", least=1)
    executor: Executor | None = option(
        None, "Executor in place of threads: spawned processes, or a cluster.", flag=""
    )
    progress: Progress | None = option(
        None, "Called with a track, the number of finished tracks and of all.", flag=""
    )
