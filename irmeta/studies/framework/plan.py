"""Plan of a study: parts that are up to date, and parts to compute."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from irmeta._version import __version__
from irmeta.checksums import content_checksum
from irmeta.errors import IrmetaError, UsageError, of_track
from irmeta.locations import AnyLocation, Location, local
from irmeta.measures.names import Spec, parse_measures
from irmeta.options import Options
from irmeta.store.layout import has_content
from irmeta.store.scan import StoreReader, tracks_of
from irmeta.studies.framework.named_in_store import check_named
from irmeta.studies.framework.recorded_files import (
    ALL,
    ALONE,
    PARTS,
    RecordedFiles,
    folder_of,
    recorded_tracks,
)
from irmeta.studies.framework.run_options import RunOptions
from irmeta.studies.framework.study import Study


@dataclass(frozen=True)
class Part:
    """Part of a study: a track, or the part that reads no store.

    Attributes
    ----------
    track
        None: the part that reads no store.
    key
        Hash of the inputs of its results.
    is_done
        Whether results made from the same inputs exist.
    is_drawn
        Whether their figures are there and have titles, or lack them, as requested.
    version
        The track's fingerprint.
    problem
        Why the track cannot be read; None for a readable track.
    """

    track: str | None
    key: str = ""
    is_done: bool = False
    is_drawn: bool = True
    version: str = ""
    problem: str | None = None

    @property
    def folder(self) -> str:
        """The part's folder of records."""
        return ALONE if self.track is None else folder_of(self.track)


def check_folder(root: AnyLocation, study: str, force: bool) -> None:
    """Check that a folder holds no foreign files and no results of another study.

    Raises
    ------
    UsageError
        If it does, unless `force`, or if the folder is on object storage.
    """
    root = local(root)
    if root.exists() and not root.is_dir():
        raise UsageError(f"{root} is a file: name a folder for the results.")
    if force or not root.exists():
        return
    if not (root / PARTS).is_dir() and has_content(root):
        raise UsageError(f"{root} holds other files: name a new folder, or use `force=True`.")
    if any((root / PARTS).glob("*/done.json")):
        fix = "name a new folder; a store in it can be read."
        raise UsageError(f"{root} holds the results of an earlier irmeta: {fix}")
    earlier = study_in(root)
    if earlier is not None and earlier != study:
        fix = "name a new folder, or use `force=True`."
        raise UsageError(f"{root} holds the results of {earlier}: {fix}")


def study_in(root: Location) -> str | None:
    """Return the name of the study whose results a folder holds; None if unknown."""
    return RecordedFiles(root, ALL).facts.get("study")


def plan(
    study: Study, store: StoreReader | None, root: Path, options: Options, run_options: RunOptions
) -> list[Part]:
    """Return the parts of a complete folder, in the order of the tracks.

    Results of tracks that were not requested are kept and updated, unless `run_options.only`.

    Raises
    ------
    UsageError
        If the kept results were made with other options.
    """
    parts = (
        [] if study.inputs == "tracks" else [_part(study, store, root, options, None, run_options)]
    )
    if store is None:
        return parts
    tracks = _asked(store, run_options)
    if run_options.track is not None and not run_options.only:
        tracks = sorted({*tracks, *_kept(store, root, options, tracks)})
    return parts + [_part(study, store, root, options, track, run_options) for track in tracks]


def check_store(
    study: Study, store: StoreReader | None, options: Options, run_options: RunOptions
) -> None:
    """Check that a store has what is requested, before anything is written.

    Raises
    ------
    UsageError
        If a required store or a requested track is missing, if no track has what an option names,
        if options exclude every track, or if this machine cannot answer them.
    """
    options.check_run()
    if store is None:
        if study.inputs == "tracks":
            raise UsageError(f"study {study.name} needs a store.")
        return
    check_named(options, store, _asked(store, run_options))


def _asked(store: StoreReader, run_options: RunOptions) -> list[str]:
    """Return the requested tracks; a track with a damaged record fails later, by itself."""
    if run_options.track and set(run_options.track) <= set(store.tracks()):
        return sorted(set(run_options.track))
    return tracks_of(store, run_options.track)


def _kept(store: StoreReader, root: Path, options: Options, asked: Sequence[str]) -> list[str]:
    in_store = set(store.tracks())
    remaining = [
        track for track in recorded_tracks(root) if track in in_store and track not in asked
    ]
    made, now = RecordedFiles(root, ALL).facts.get("options"), options.record()
    if remaining and made is not None and made != now:
        changed = ", ".join(name for name in now if made.get(name) != now[name])
        raise UsageError(
            f"{root} holds results of {len(remaining)} other tracks, made with other options "
            f"({changed}): name a new folder, or use `only=True` to remove them."
        )
    return remaining


def scored_specs(options: Options) -> list[Spec]:
    """Return the measures whose revision changes the results."""
    return parse_measures(options.scored()) if options.scored() else []


def _part(
    study: Study,
    store: StoreReader | None,
    root: Path,
    options: Options,
    track: str | None,
    run_options: RunOptions,
) -> Part:
    version = ""
    if store is not None and track is not None:
        try:
            version = store.fingerprint(track)
        except IrmetaError as error:
            return Part(track, problem=str(of_track(track, error)))
    made_from = {
        "irmeta": __version__,
        "study": [study.name, study.revision],
        "tables": study.schema("all" if track is None else "track"),
        "track": version,
        "options": options.record(),
        "measures": {spec.name: spec.measure.revision for spec in scored_specs(options)},
        "files": {name: _content(name, path) for name, path in options.files.items()},
    }
    key = hashlib.sha256(json.dumps(made_from, sort_keys=True).encode()).hexdigest()
    part = Part(track, key, version=version)
    files = RecordedFiles(root, part.folder)
    drawn = {name: files.facts.get(name) for name in run_options.drawn}
    is_drawn = track is None or drawn == run_options.drawn
    return Part(track, key, files.is_done(key), is_drawn, version)


def _content(option: str, path: str) -> str:
    """Return the checksum of a file that an option names."""
    try:
        return content_checksum(Path(path))
    except OSError as error:
        raise UsageError(f"{option} = {path!r} cannot be read: {error.strerror}.") from error
