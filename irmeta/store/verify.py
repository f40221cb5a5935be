"""Whether the Parquet files of a track are as its record says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from irmeta.checksums import content_checksum, footer_checksum


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
    """Check whether a track has the files that its record lists, by sizes and footers.

    False for the record of an older irmeta, which lists less.
    """
    found = {
        f"{kind}/{file.name}": footer_checksum(file)
        for kind, folder in folders.items()
        for file in folder.glob("part-*.parquet")
    }
    parts = {name: str(said).rpartition(" ") for name, said in written.items()}
    return found == {name: footer for name, (footer, _, _) in parts.items()}


def problems(
    kind: str,
    files: Sequence[Path],
    written: Mapping[str, object],
    content: Callable[[Path], str] | None,
) -> Iterator[tuple[str, str]]:
    """Yield the files of one kind that are not as the record says, and what is wrong with each.

    Parameters
    ----------
    files
        The files that are there.
    written
        The record's `files`; of an older irmeta it holds sizes alone, or no checksum of contents.
    content
        What gives the content checksum of a file; None: sizes and footers alone are compared.
    """
    there = {f"{kind}/{file.name}": file for file in files}
    for name, said in written.items():
        if name.startswith(f"{kind}/") and name not in there:
            yield name, "is missing"
        elif name in there and not _is_as_written(there[name], str(said).split(), content):
            yield name, "was changed after it was written"
    yield from ((name, "is not in the track's record") for name in there if name not in written)


def _is_as_written(file: Path, said: list[str], content: Callable[[Path], str] | None) -> bool:
    if content is not None and len(said) == 3:
        return content(file).split() == [said[0], said[2]]
    if len(said) > 1:
        return footer_checksum(file).split() == said[:2]
    return said == [str(file.stat().st_size)]
