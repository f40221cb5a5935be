"""`StudyResults`: the results of a study in a folder; `claims` and `bundle`: of several folders."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from irmeta._version import __version__
from irmeta.checksums import to_json
from irmeta.errors import DataError, UsageError, did_you_mean
from irmeta.files import check_ours, check_target, replacing
from irmeta.locations import AnyLocation, Location, local, location
from irmeta.options import Options
from irmeta.phrases import count, listed
from irmeta.report.figure_file import offline
from irmeta.results.tidy_files import provenance, read_parquet, scan_files
from irmeta.schema.columns import Column, Table
from irmeta.studies.framework.part_tables import PartTables, used_only
from irmeta.studies.framework.plan import study_in
from irmeta.studies.framework.recorded_files import (
    ALL,
    PARTS,
    RecordedFiles,
    folder_of,
    recorded_folders,
    recorded_tracks,
)
from irmeta.studies.framework.registry import ALL_STUDIES, find, study_modules
from irmeta.studies.framework.runner import Batch
from irmeta.studies.framework.study import CLAIMS, Study
from irmeta.studies.framework.study_figures import charts
from irmeta.summaries import Line, Part, Result, Rows, Summary

Item = TypeVar("Item")
MOST_NAMES = 50  # of tables or figures in a text
JOINED_CLAIMS = Table(
    CLAIMS.name,
    ("id", "track"),
    {
        "id": Column("name", "study and claim, such as search-length/near-solved; it stays"),
        "study": Column("name", "study"),
        **CLAIMS.columns,
    },
    caption="Claims of the papers and their verdicts.",
    by="all",
)
"""The table of the claims of several studies."""
CHECKSUMS_FILE, OPTIONS_FILE = "SHA256SUMS", "options.json"
ZIP_COMMENT = b"irmeta "
"""Beginning of the comment of a ZIP file that irmeta wrote."""
ZIP_TIME = (1980, 1, 1, 0, 0, 0)  # the earliest time of ZIP: the bytes do not depend on the clock
FIGURE_FOLDERS = ("figures/", "latex/tracks/")
SAME_TRACK = ("fingerprint", "qrels", "read_policy")
"""Facts of a track that studies whose claims are joined share."""


class Named(Mapping[str, Item]):
    """Items by name, created on access."""

    def __init__(self, what: str, makers: Mapping[str, Callable[[], Item]]) -> None:
        self._what, self._makers = what, makers

    def __getitem__(self, name: str) -> Item:
        if name not in self._makers:
            raise UsageError(f"no {self._what} {name!r}. {did_you_mean(name, self._makers)}")
        return self._makers[name]()

    def __contains__(self, name: object) -> bool:
        return name in self._makers

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)

    def __repr__(self) -> str:
        items = list(self)
        more = [f"... and {len(self) - MOST_NAMES:,} more"] if len(self) > MOST_NAMES else []
        return f"{count(len(self), self._what)}: {', '.join([*items[:MOST_NAMES], *more])}"


class StudyResults(Result):
    """Results of a study in a folder.

    Parameters
    ----------
    folder : str or Path
        The folder that was the study's `out`, or the URL of a copy.
    batch : Batch, optional
        Tracks that were analysed, up to date, or failed; None for a folder that is only opened.

    Attributes
    ----------
    study : Study
        The study, with its tables, options and paper.

    Raises
    ------
    UsageError
        If the folder has no results of a study.
    DataError
        If the record of the results is damaged.

    Examples
    --------
    >>> _ = irmeta.reanalyze("store/", "results/", track="news", measures="AP")
    >>> results = irmeta.studies.open("results/")
    >>> results.options.measures, results.tables["means"].height
    (('AP',), 20)
    """

    def __init__(self, folder: AnyLocation, batch: Batch | None = None) -> None:
        self._root = location(folder)
        self.batch: Batch | None = batch
        name = study_in(self._root)
        mark = RecordedFiles(self._root, ALL).mark
        if name is None and mark.exists():
            fix = "Run the study again, or reanalyze."
            raise DataError("is damaged", file=str(mark), fix=fix)
        if name is None:
            raise UsageError(f"{folder} holds no study's results.")
        self.study: Study = find(name)

    def _summary(self) -> Summary:
        tracks = count(len(recorded_tracks(self._root)), "track")
        facts = [f"study {self.study.name}", tracks, count(len(self._files), "table")]
        return Summary(repr(str(self._root)), facts)

    def frame(self) -> pl.DataFrame:
        """Return one row per table: table, caption."""
        captions = [self.study.table(name).caption for name in self._files]
        return pl.DataFrame({"table": list(self._files), "caption": captions})

    def parts(self, digits: int | None = None, every: bool = False) -> Iterator[Part]:
        """Return the lines and tables to print: see `Summarized.parts`."""
        yield from map(Line, self.lines())
        yield Rows(self.frame())

    def lines(self) -> list[str]:
        """Return the numbers of tracks, systems and queries, and why tracks are left out."""
        if "studied_tracks" not in self.tables:
            return []
        tracks = self.tables["studied_tracks"]
        used, left_out = tracks.filter("used"), tracks.filter(~pl.col("used"))
        counts = (
            f"tracks {used.height}, systems {used['systems'].sum():,}, "
            f"queries {used['queries'].sum():,}; tracks left out: {left_out.height}"
        )
        lines = left_out.select("track", "left_out").rows()
        if "tracks" not in self.provenance:  # files alone, of which nothing else is printed
            lines += tracks.drop_nulls("notes").select("track", "notes").rows()
        return [counts, *(f"  {track}: {text}" for track, text in lines)]

    @property
    def folder(self) -> Path:
        """Folder of the results.

        Raises
        ------
        UsageError
            If the results are on object storage.
        """
        return local(self._root, "results on object storage have no path.")

    @property
    def report(self) -> Path:
        """Path of the page."""
        return self.folder / "report.html"

    @cached_property
    def options(self) -> Options:
        """Options of the study."""
        record = RecordedFiles(self._root, ALL).facts
        return self.study.options.from_record(record["options"])

    @property
    def formats(self) -> tuple[str, ...]:
        """Formats of the files of figures; empty without figures."""
        return tuple(RecordedFiles(self._root, ALL).facts.get("formats", ()))

    @cached_property
    def provenance(self) -> dict[str, Any]:
        """Provenance of the results, as JSON values."""
        name = next(iter(self._files))
        return provenance(self._files[name]) or {}

    @property
    def _files(self) -> dict[str, Location]:
        written = RecordedFiles(self._root, ALL)
        files = {table.name: written.table_file(table) for table in self.study.by_table.values()}
        recorded = written.recorded()
        return {n: self._root / file for n, file in files.items() if file in recorded}

    @property
    def tables(self) -> Mapping[str, pl.DataFrame]:
        """Joined tables by name, read when used; ``study.table(NAME).docs()`` describes a table."""
        return Named("table", {n: partial(read_parquet, file) for n, file in self._files.items()})

    def scan(self, table: str) -> pl.LazyFrame:
        """Return any table as a lazy frame, including tables with one file per track.

        Raises
        ------
        DataError
            If a file of the table was changed after irmeta wrote it.
        """
        if self.study.table(table).apart:
            return scan_files(sorted((self._root / table).glob("*.parquet"), key=str))
        return scan_files([self._files[table]])

    @property
    def figures(self) -> Mapping[str, Any]:
        """Altair charts by name, drawn when used; a chart of one track is named TRACK/NAME."""
        tables = dict(self.tables)
        drawn = [
            (figure.name, figure.draw)
            for figure in charts(self.study, used_only(tables, self.study.of_orders), self.options)
        ]
        for track in recorded_tracks(self._root):
            of_track = {n: f.filter(track=track) for n, f in tables.items() if "track" in f.columns}
            part = PartTables(self.study, RecordedFiles(self._root, folder_of(track)), of_track)
            drawn += [
                (f"{track}/{figure.name}", figure.draw)
                for figure in charts(self.study, part, self.options, track)
            ]
        return Named("figure", {n: lambda draw=draw: offline(draw()) for n, draw in drawn})


def claims(
    folders: AnyLocation | Sequence[AnyLocation], *, per_track: bool = False, mixed: bool = False
) -> pl.DataFrame:
    """Return the claims of papers with their verdicts, from results of studies.

    Parameters
    ----------
    folders : str, Path or sequence of them
        Folders of studies, or of `run_all`: all its studies that have claims.
    per_track : bool, default False
        Whether rows of result tracks follow the row of each claim over tracks.
    mixed : bool, default False
        Whether the studies may differ in their tracks, or in the options of tracks that they share.

    Returns
    -------
    DataFrame
        id (study and claim, such as search-length/near-solved), study, then the columns of the
        table `claims` of each study, among them claim, track (null: over
        tracks, or without a track), text, where, kind (paper, or check: by another
        test, margin, measure or parameter), statistic, number (NaN: none), shown (the number as
        text), condition, verdict (holds, does not hold, undecided, or cannot be said), why, printed
        (the paper's number), low, high, se, interval (of the number; null where the studies were
        run without intervals), bound_by (paper or irmeta), distance (number minus bound), tracks
        and holding (over tracks: those on which it holds or fails, and those on which it holds),
        undecided and open (the other tracks), votes to share_high (groups of tracks that were
        named), mean to next_high (random-effects mean over tracks, with the intervals of the mean
        and of another track).

    Raises
    ------
    UsageError
        If a folder has no results of a study, a study has no claims, one is named twice, or, unless
        `mixed`, studies differ in their tracks or options.

    Examples
    --------
    >>> _ = irmeta.studies.properties("properties/", length=4)
    >>> made = irmeta.studies.claims("properties/")
    >>> made.filter(claim="act-irrelevance")["verdict"].item()
    'holds'
    """
    frame = joined_claims(with_claims(results_in(folders)), mixed=mixed)
    return frame if per_track else frame.filter(pl.col("track").is_null())


def joined_claims(results: Sequence[StudyResults], *, mixed: bool) -> pl.DataFrame:
    """Return the tables `claims` of studies as one; see `claims` for refusals."""
    if not mixed and (differing := differences(results)):
        raise UsageError(f"{differing[0]} `mixed=True` joins them nevertheless.")
    tables = [
        result.tables[CLAIMS.name].select(
            pl.format("{}/{}", pl.lit(result.study.name), "claim").alias("id"),
            pl.lit(result.study.name).alias("study"),
            pl.all(),
        )
        for result in results
    ]
    return JOINED_CLAIMS.frame(pl.concat(tables))


def results_in(folders: AnyLocation | Sequence[AnyLocation]) -> list[StudyResults]:
    """Return the results of studies in some folders, each study once, of any study with claims."""
    places = [folders] if isinstance(folders, AnyLocation) else list(folders)
    results = [result for folder in places for result in _results(folder)]
    studies = [result.study.name for result in results]
    if repeated := sorted({name for name in studies if studies.count(name) > 1}):
        raise UsageError(f"several folders hold results of study {repeated[0]}: name one of them.")
    if not results:
        raise UsageError("name a folder of a study.")
    return results


def with_claims(results: Sequence[StudyResults]) -> list[StudyResults]:
    """Return the results of studies with claims."""
    return [result for result in results if result.study.claims is not None]


def sources_of(results: Sequence[StudyResults]) -> dict[str, dict[str, Any]]:
    """Return the provenance of studies by name: revision, options, policies and tracks."""
    return {
        result.study.name: {
            name: fact
            for name, fact in result.provenance.items()
            if name not in ("study", "measures")
        }
        for result in results
    }


def sources_in_words(sources: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the studies and the tracks, with their fingerprints, as text."""
    studies = [f"{name} (revision {facts['revision']})" for name, facts in sources.items()]
    tracks = {
        track: facts["fingerprint"]
        for study in sources.values()
        for track, facts in study.get("tracks", {}).items()
    }
    named = [f"{track} ({fingerprint})" for track, fingerprint in tracks.items()]
    return "; ".join(
        f"{what}: {', '.join(texts)}"
        for what, texts in (("studies", studies), ("tracks", named))
        if texts
    )


def differences(results: Sequence[StudyResults]) -> list[str]:
    """Return in which tracks, judgments and policies studies differ, one sentence per study."""
    on_tracks = [result for result in results if "tracks" in result.provenance]
    compared = [
        (second.study.name, list(_differences(on_tracks[0].provenance, second.provenance)))
        for second in on_tracks[1:]
    ]
    return [
        f"Studies {on_tracks[0].study.name} and {name} differ: {listed(reasons, MOST_NAMES)}."
        for name, reasons in compared
        if reasons
    ]


def _differences(first: Mapping[str, Any], second: Mapping[str, Any]) -> Iterator[str]:
    """Yield the tracks that one of two studies lacks or read otherwise, and other policies.

    Tie orders are not compared: study depth has its own, that of the paper.
    """
    tracks, others = first["tracks"], second["tracks"]
    for track in sorted({*tracks, *others}):
        if (track in tracks) != (track in others):
            yield f"track {track} is in one alone"
        elif changed := [fact for fact in SAME_TRACK if tracks[track][fact] != others[track][fact]]:
            yield f"{listed(changed).replace('_', ' ')} of track {track}"
    for name, option in first["eval_policy"].items():
        beside = second["eval_policy"].get(name, option)
        if name != "tie_order" and beside != option:
            yield f"{name} is {option} and {beside}"


def _results(folder: AnyLocation) -> list[StudyResults]:
    """Return the results in a folder: those of one study with claims, or of all studies."""
    root: Location = location(folder)
    if study_in(root) != ALL_STUDIES:
        result = StudyResults(folder)
        if result.study.claims is None:
            raise UsageError(
                f"{folder} holds results of study {result.study.name}, without claims."
            )
        return [result]
    results = [
        StudyResults(root / name) for name in study_modules() if study_in(root / name) == name
    ]
    if not with_claims(results):
        raise UsageError(f"{folder} holds no results of a study with claims.")
    return results


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
    contents[OPTIONS_FILE] = to_json({"irmeta": __version__, "studies": sources_of(results)})
    rows = list[tuple[str, int, str]]()
    with replacing(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        archive.comment = ZIP_COMMENT + __version__.encode()
        for name, data in sorted(contents.items()):
            rows.append(_packed(archive, name, data))
        sums = "".join(f"{digest}  {name}\n" for name, _, digest in rows)
        rows.append(_packed(archive, CHECKSUMS_FILE, sums.encode()))
    return pl.DataFrame(rows, ["file", "bytes", "sha256"], orient="row")


def _is_bundle(path: Path) -> bool:
    """Check whether irmeta wrote a file as a bundle: the comment of the archive says so."""
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.comment.startswith(ZIP_COMMENT)
    except zipfile.BadZipFile:
        return False


def _packed(archive: zipfile.ZipFile, name: str, data: bytes | Path) -> tuple[str, int, str]:
    """Write an entry; return its name, size and checksum."""
    data = data if isinstance(data, bytes) else data.read_bytes()
    entry = zipfile.ZipInfo(name, ZIP_TIME)
    entry.create_system, entry.external_attr = 3, 0o644 << 16  # the same on all systems
    archive.writestr(entry, data)
    return name, len(data), hashlib.sha256(data).hexdigest()


def _contents(root: Path, figures: bool) -> Iterator[tuple[str, bytes | Path]]:
    """Yield the files of one folder by name; records, with the files of the bundle alone."""
    left_out = () if figures else FIGURE_FOLDERS
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
