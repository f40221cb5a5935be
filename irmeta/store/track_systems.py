"""Names of a track's systems; runs without a usable name are skipped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Generic

from irmeta.errors import DataError, short
from irmeta.policies import NAMES
from irmeta.store.read_run import AnyRun, RunFacts, SkippedRun
from irmeta.trec.source import TrackSource
from irmeta.trec.system_names import file_names, pattern_name, stem

_FIXES = {
    "tag": 'Name systems by file: `names="file"`, also in collection.toml.',
    "pattern": 'Change the pattern `names`, or write names = "file".',
}


@dataclass(frozen=True)
class Named(Generic[AnyRun]):
    """The systems of a track: `runs` sorted by distinct names, and `skipped` runs.

    `by` is the source of names (tag, file or pattern), `note` the reason why ``auto`` used no tags.
    """

    runs: list[AnyRun]
    skipped: list[SkippedRun]
    by: str
    note: str | None = None


def name_systems(
    read: Iterable[AnyRun | SkippedRun], judged: int, source: TrackSource
) -> Named[AnyRun]:
    """Name the systems of a track under its policy; judged queries have numbers below `judged`.

    Names under ``auto`` depend only on the runs that are in the track.
    """
    skipped = [run for run in read if isinstance(run, SkippedRun)]
    runs = [run for run in read if not isinstance(run, SkippedRun)]
    foreign = [run for run in runs if run.queries.min() >= judged]
    runs = [run for run in runs if run.queries.min() < judged]
    fix = "Are these the runs of another track?"
    skipped += [_skipped(run, "none of its queries is judged", fix) for run in foreign]
    names = source.policy.names
    runs = [replace(run, system=source.named.get(run.file, "")) for run in runs]
    if names not in NAMES:
        return _unique(*_by_pattern(names, runs, skipped), "pattern")
    by_tag = [
        replace(run, system=run.system or (stem(run.file) if run.tag is None else run.tag))
        for run in runs
    ]
    note = _clash([run.system for run in by_tag]) if names == "auto" else None
    if names == "tag" or (names == "auto" and note is None):
        return _unique(by_tag, [replace(run, system=run.tag) for run in skipped], "tag")
    of_files = file_names(run.file for run in (*runs, *skipped))
    runs = [replace(run, system=run.system or of_files[run.file]) for run in runs]
    skipped = [replace(run, system=of_files[run.file]) for run in skipped]
    return Named(sorted(runs, key=attrgetter("system")), skipped, "file", note)


def _clash(names: list[str]) -> str | None:
    """Return the reason why names do not identify systems; None if all names are distinct."""
    counts = Counter(names)
    alike = sum(count for count in counts.values() if count > 1)
    if not alike:
        return None
    example = short(counts.most_common(1)[0][0])
    return (
        f"{alike} of {len(names)} runs share a tag with another run (such as {example!r}): "
        "all systems are named by file"
    )


def _by_pattern(
    pattern: str, runs: list[AnyRun], skipped: list[SkippedRun]
) -> tuple[list[AnyRun], list[SkippedRun]]:
    named = [
        run if run.system else replace(run, system=pattern_name(pattern, run.file) or "")
        for run in runs
    ]
    problem = f"its name does not match the pattern {pattern!r}"
    unnamed = [_skipped(run, problem, _FIXES["pattern"]) for run in named if not run.system]
    return [run for run in named if run.system], [*skipped, *unnamed]


def _unique(runs: list[AnyRun], skipped: list[SkippedRun], by: str) -> Named[AnyRun]:
    """Skip runs with the name of an earlier run."""
    by_name: dict[str, AnyRun] = {}
    for run in runs:
        if run.system in by_name:
            problem = (
                f"system {short(run.system)!r} is already read from {by_name[run.system].file}"
            )
            skipped = [*skipped, _skipped(run, problem, _FIXES[by])]
        else:
            by_name[run.system] = run
    return Named([by_name[name] for name in sorted(by_name)], skipped, by)


def _skipped(run: RunFacts, problem: str, fix: str) -> SkippedRun:
    reason = str(DataError(problem, file=run.file, fix=fix))
    return SkippedRun(run.file, run.sha256, run.tag, reason, run.system or None)
