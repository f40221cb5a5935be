"""`bundle`: the tables, options and pages of finished studies in one ZIP file, to deposit."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from irmeta._version import __version__
from irmeta.checksums import to_json
from irmeta.errors import DataError, UsageError
from irmeta.files import check_ours, check_target, replacing
from irmeta.locations import AnyLocation, local
from irmeta.studies.framework.plan import study_in
from irmeta.studies.framework.recorded_files import PARTS, RecordedFiles, recorded_folders
from irmeta.studies.framework.registry import ALL_STUDIES, study_modules
from irmeta.studies.framework.study_results import StudyResults, sources_of

CHECKSUMS, OPTIONS = "SHA256SUMS", "options.json"
MARK = b"irmeta "
"""Beginning of the comment of a ZIP file that irmeta wrote."""
MOMENT = (1980, 1, 1, 0, 0, 0)  # the earliest time of ZIP: the bytes do not depend on the clock
FIGURES = ("figures/", "latex/tracks/")


def bundle(
    folder: AnyLocation, out: str | Path, *, figures: bool = False, force: bool = False
) -> pl.DataFrame:
    """Write the results of finished studies to one ZIP file with checksums, to deposit.

    Parameters
    ----------
    folder : str or Path
        Folder of a study, or of `run_all`: all its studies.
    out : str or Path
        The ZIP file.
    figures : bool, default False
        Whether the files of figures, SVG and PNG, are in it. PDF files never are: they have the
        time of drawing. Pages contain figures, unless those of their tracks exceed 8 MiB.
    force : bool, default False
        Whether a file that irmeta did not write is replaced.

    Returns
    -------
    DataFrame
        file, bytes, sha256 (hexadecimal): the files in it. ``SHA256SUMS`` has the checksums as
        ``sha256sum -c`` reads them, ``options.json`` the version of irmeta and, for each study,
        its revision, options, policies, and tracks with fingerprints.

    Raises
    ------
    UsageError
        If the folder has no results of a study, or the file exists and irmeta did not write it.
    DataError
        If a study is unfinished, or a file is missing or was changed after it was written.

    Notes
    -----
    The same results make the same bytes: files are in order of their names, without times and
    without compression. The unpacked folder opens as `folder` does: `open`, `claims`, `check`.

    Examples
    --------
    >>> _ = irmeta.studies.properties("properties/", length=4, figures=False)
    >>> files = irmeta.studies.bundle("properties/", "properties.zip")
    >>> files["file"].to_list()[-2:]
    ['worked.parquet', 'SHA256SUMS']
    """
    root, path = local(folder), local(out)
    check_target(path, (".zip",), "a bundle")
    check_ours(path, _is_bundle, force=force)
    named = study_in(root)
    if named is None:
        raise UsageError(f"{folder} holds no study's results.")
    studies = [root]
    if named == ALL_STUDIES:
        studies += [root / name for name in sorted(study_modules()) if study_in(root / name)]
    results = [StudyResults(place) for place in studies if study_in(place) != ALL_STUDIES]
    contents = {
        f"{prefix}{name}": data
        for place in studies
        for prefix in ["" if place == root else f"{place.name}/"]
        for name, data in _contents(place, figures)
    }
    contents[OPTIONS] = to_json({"irmeta": __version__, "studies": sources_of(results)})
    rows = list[tuple[str, int, str]]()
    with replacing(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        archive.comment = MARK + __version__.encode()
        for name, data in sorted(contents.items()):
            rows.append(_packed(archive, name, data))
        sums = "".join(f"{digest}  {name}\n" for name, _, digest in rows)
        rows.append(_packed(archive, CHECKSUMS, sums.encode()))
    return pl.DataFrame(rows, ["file", "bytes", "sha256"], orient="row")


def _is_bundle(path: Path) -> bool:
    """Check whether irmeta wrote a file as a bundle: the comment of the archive says so."""
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.comment.startswith(MARK)
    except zipfile.BadZipFile:
        return False


def _packed(archive: zipfile.ZipFile, name: str, data: bytes | Path) -> tuple[str, int, str]:
    """Write an entry; return its name, size and checksum."""
    data = data if isinstance(data, bytes) else data.read_bytes()
    entry = zipfile.ZipInfo(name, MOMENT)
    entry.create_system, entry.external_attr = 3, 0o644 << 16  # the same on all systems
    archive.writestr(entry, data)
    return name, len(data), hashlib.sha256(data).hexdigest()


def _contents(root: Path, figures: bool) -> Iterator[tuple[str, bytes | Path]]:
    """Yield the files of one folder by name; records, with the files of the bundle alone."""
    left_out = () if figures else FIGURES
    for folder in recorded_folders(root):
        files = RecordedFiles(root, folder)
        for file, problem in files.problems():
            if problem is not None:
                raise DataError(problem, file=str(file), fix="Run the study again.")
        chosen = [
            name
            for name in files.recorded()
            if not name.endswith(".pdf") and not name.startswith((*left_out, f"{PARTS}/"))
        ]
        yield from ((name, root / name) for name in chosen)
        yield local(files.mark).relative_to(root).as_posix(), files.record_of(chosen)
