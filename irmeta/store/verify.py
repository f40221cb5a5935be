"""Check the Parquet files of a track against the checksums in its record."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from irmeta.checksums import content_checksum, footer_checksum
from irmeta.locations import Location


def file_checksums(folders: Mapping[str, Path]) -> dict[str, str]:
    """Map each Parquet file of a track to its size, footer checksum and content checksum.

    Parameters
    ----------
    folders
        The folder of each kind of table.
    """
    return {
        f"{kind}/{file.name}": f"{footer_checksum(file)} {content_checksum(file).split()[1]}"
        for kind, folder in folders.items()
        for file in sorted(folder.glob("part-*.parquet"))
    }


def has_same_footers(folders: Mapping[str, Path], written: Mapping[str, object]) -> bool:
    """Check whether the sizes and footers of a track's files match its record.

    False for the record of an earlier irmeta, which has fewer checksums.
    """
    present = {
        f"{kind}/{file.name}": footer_checksum(file)
        for kind, folder in folders.items()
        for file in folder.glob("part-*.parquet")
    }
    parts = {name: str(checksums).rpartition(" ") for name, checksums in written.items()}
    return present == {name: footer for name, (footer, _, _) in parts.items()}


def problems(
    kind: str,
    files: Sequence[Location],
    written: Mapping[str, object],
    content: Callable[[Location], str] | None,
) -> Iterator[tuple[str, str]]:
    """Yield the name and problem of each file of one kind that does not match the record.

    Parameters
    ----------
    files
        The existing files.
    written
        The record's `files`; earlier versions wrote only sizes, or no content checksums.
    content
        Returns a file's content checksum; None: only sizes and footers are compared.
    """
    present = {f"{kind}/{file.name}": file for file in files}
    for name, checksums in written.items():
        if name.startswith(f"{kind}/") and name not in present:
            yield name, "is missing"
        elif name in present:
            try:
                is_same = _is_unchanged(present[name], str(checksums).split(), content)
            except FileNotFoundError:  # a remote file that was not looked for before
                yield name, "is missing"
                continue
            if not is_same:
                yield name, "was changed after it was written"
    yield from ((name, "is not in the track's record") for name in present if name not in written)


def _is_unchanged(
    file: Location, checksums: list[str], content: Callable[[Location], str] | None
) -> bool:
    if content is not None and len(checksums) == 3:
        return content(file).split() == [checksums[0], checksums[2]]
    if len(checksums) > 1:
        return footer_checksum(file).split() == checksums[:2]
    return checksums == [footer_checksum(file).split()[0]]
