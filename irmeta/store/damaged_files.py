"""Detection of damaged files of a store by their checksums."""

from __future__ import annotations

from collections.abc import Iterator

from irmeta.checksums import content_checksum
from irmeta.errors import DataError, IrmetaError
from irmeta.locations import Location
from irmeta.schema.arrow import DAMAGED
from irmeta.store.layout import KINDS, OPTIONAL, Layout
from irmeta.store.parquet import read_frame
from irmeta.store.verify import problems

Found = tuple[Location, str | None]
"""A file and its problem, or None if the file is intact."""


def check_manifest(layout: Layout) -> Found:
    """Read the manifest of a store."""
    try:
        layout.read_policy()
    except IrmetaError as error:
        return layout.manifest, _reason(error)
    return layout.manifest, None


def check_track(layout: Layout, track: str) -> list[Found]:
    """Read the record of a track and all files that it lists."""
    try:
        written = layout.read_record(track)["files"]
    except IrmetaError as error:
        return [(layout.record(track), _reason(error))]
    results: list[Found] = [(layout.record(track), None)]
    for kind in KINDS:
        results += _check_kind(layout, track, kind, written)
    return results


def _check_kind(
    layout: Layout, track: str, kind: str, written: dict[str, object]
) -> Iterator[Found]:
    files, folder = layout.files(kind, track), layout.folder(kind, track)
    wrong = dict(problems(kind, files, written, content_checksum))
    names = sorted({name for name in written if name.startswith(f"{kind}/")} | wrong.keys())
    if not names and kind not in OPTIONAL:
        yield folder, "its Parquet files are missing"
    for name in names:
        file = folder / name.rpartition("/")[2]
        if name not in wrong and len(str(written[name]).split()) < 3:  # an earlier irmeta's
            yield file, _unreadable(file)
        else:
            yield file, wrong.get(name)


def _unreadable(file: Location) -> str | None:
    try:
        read_frame([file])
    except DAMAGED as error:
        return f"cannot be read ({' '.join(str(error).split())})"
    return None


def _reason(error: IrmetaError) -> str:
    return error.problem if isinstance(error, DataError) else str(error)
