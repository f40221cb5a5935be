"""All studies of a store, in one folder each, with an index page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, NamedTuple

from irmeta._version import __version__
from irmeta.errors import NothingToStudyError, UsageError
from irmeta.files import only_writer
from irmeta.locations import local
from irmeta.phrases import count
from irmeta.policies import EvalPolicy
from irmeta.report.html_page import Block, Page, render
from irmeta.report.theme import to_spec, without_titles
from irmeta.results.tidy_files import tables_json
from irmeta.store.scan import StoreReader, tracks_of
from irmeta.studies import drawing_processes
from irmeta.studies.framework.claim_matrix import (
    CLAIM_BOUNDS,
    CLAIM_FACTS,
    ClaimMatrix,
    matrix_of,
    matrix_table,
)
from irmeta.studies.framework.plan import check_folder
from irmeta.studies.framework.recorded_files import ALL, PARTS, RecordedFiles, recorded_folders
from irmeta.studies.framework.registry import (
    ALL_STUDIES,
    failures,
    find_all,
    options_on,
    policy_of,
    reader_of,
)
from irmeta.studies.framework.runner import drawing, run
from irmeta.studies.framework.study import (
    STUDIED_TRACKS,
    ClaimRunOptions,
    MatrixOptions,
    RunOptions,
    Study,
    TrackGroups,
)
from irmeta.studies.framework.study_page import pictures_in, svg_files
from irmeta.studies.framework.study_results import JOINED_CLAIMS, StudyResults, with_claims
from irmeta.studies.framework.track_groups import CLAIM_TRACKS, groups_of

INDEX = "index.html"
CLAIM_FILES = (
    ("claims.parquet", "All claims, over the tracks and on each track; claims.json the same."),
    ("claim_facts.parquet", "The verdict on each claim and track, beside facts of the track."),
    ("claim_bounds.parquet", "The share of tracks on which each claim would hold, by its bound."),
    ("claims.bib", "The papers and irmeta in BibTeX."),
    ("figures/", "The matrix of claims and tracks, and that of each paper, which fits on a page."),
    ("latex/", "The claims, and the matrix of claims and tracks, as LaTeX."),
)
CLAIM_FILES_UNDRAWN = tuple(file for file in CLAIM_FILES if file[0] != "figures/")


class Done(NamedTuple):
    """Outcome of a study of `run_all`: its results, its problem, or why it had nothing to study."""

    study: Study
    results: StudyResults | None
    problem: str = ""
    left_out: str = ""


def run_all(store: Any, out: str | Path, **options: Any) -> list[Done]:
    """Run every study with its default options, and write an index page with all claims.

    Parameters
    ----------
    store : Store, str or Path
        A store, or its folder.
    out : str or Path
        Folder for the results: one sub-folder per study, and the index in index.html, with the
        claims of all papers against all tracks: claims.parquet and claims.json, with facts of the
        tracks (claim_facts.parquet) and swept bounds (claim_bounds.parquet), claims.bib, tables
        in latex/ and a figure in figures/.
    **options
        order, track_facts: see `irmeta.studies.claim_matrix`; track, only, force, figures, titles,
        style, formats, workers, executor, progress, compared_systems, interval, interval_draws,
        independent_by: see each study; track_groups: see `irmeta.studies.depth`.

    Returns
    -------
    list of Done
        One per study: study, results (None without any), problem (empty without one), left_out
        (why the store has nothing to study, else empty).

    Raises
    ------
    UsageError
        If the folder has other files, a track is unknown, or has no group in `track_groups`.

    Examples
    --------
    >>> done = irmeta.studies.run_all("store/", "studies/", track="news")
    >>> done[0].results.tables["studied_tracks"]["track"].to_list()
    ['news']
    """
    of_matrix, of_groups = (
        {name: options.pop(name) for name in cls.__dataclass_fields__ if name in options}
        for cls in (MatrixOptions, TrackGroups)
    )
    matrix_options, grouping = MatrixOptions.of(of_matrix), TrackGroups.of(of_groups)
    run_options, facts = ClaimRunOptions.of(options), matrix_options.track_facts
    by_names = run_options.independent_by
    if facts is not None and by_names is not None and ":" not in by_names:
        run_options = replace(run_options, independent_by=f"{facts}:{by_names}")
    reader, root = reader_of(store), local(out)
    if reader is None:
        raise UsageError("name the store that the studies read.")
    groups_of(grouping.track_groups, tracks_of(reader, run_options.track))
    check_folder(root, ALL_STUDIES, run_options.force)
    with only_writer(root / PARTS):
        files = RecordedFiles(root, ALL)
        files.start(study=ALL_STUDIES, options={})
        studies, problems = find_all()
        policy = policy_of(store)
        with drawing(run_options):  # the same processes for all studies
            done = [_run(study, reader, policy, root, run_options, grouping) for study in studies]
        results = [outcome.results for outcome in done if outcome.results is not None]
        matrix = matrix_of(results, matrix_options, mixed=True) if with_claims(results) else None
        if matrix is not None:
            _write_claims(files, matrix, run_options)
        files.write(INDEX, render(_index(done, problems, matrix, run_options)).encode())
        files.finish("")
    return done


def _run(
    study: Study,
    store: StoreReader | None,
    policy: EvalPolicy,
    root: Path,
    run_options: RunOptions,
    grouping: TrackGroups,
) -> Done:
    folder = root / study.name
    if study.run_options is RunOptions:  # without claims about tracks
        values = {each.name: getattr(run_options, each.name) for each in fields(RunOptions)}
        run_options = RunOptions(**values)
    if study.inputs == "none":
        store, run_options = None, replace(run_options, track=None, only=False)
    asked = grouping.changed() if issubclass(study.options, TrackGroups) else {}
    try:
        batch = run(study, store, folder, options_on(study, policy, asked), run_options)
    except NothingToStudyError as error:
        return Done(study, None, left_out=str(error))
    except UsageError as error:
        return Done(study, None, str(error))
    finished = bool(batch.analysed or batch.unchanged) or study.inputs == "none"
    return Done(study, StudyResults(folder, batch) if finished else None, failures(batch))


def _write_claims(files: RecordedFiles, matrix: ClaimMatrix, run_options: RunOptions) -> None:
    """Write the claims of all studies as tables, LaTeX, BibTeX and a figure."""
    tables = (
        (JOINED_CLAIMS, matrix.rows),
        (CLAIM_TRACKS, matrix.tracks),
        (CLAIM_FACTS, matrix.facts()),
        (CLAIM_BOUNDS, matrix.bounds()),
    )
    for table, frame in tables:
        with files.parquet(table, matrix.provenance) as file:
            file.write(frame)
    named = {"claims": matrix.rows, "tracks": matrix.tracks}
    files.write_all(
        {
            "claims.json": tables_json("study claims", named, matrix.provenance, {}).encode(),
            "claims.bib": matrix.provenance["bibtex"].encode(),
            "latex/claims.tex": matrix.latex().encode(),
            "latex/claim_matrix.tex": matrix.latex(by_track=True).encode(),
        }
    )
    formats = run_options.drawn["formats"]
    on_tracks = matrix.rows.drop_nulls("track")["study"].unique(maintain_order=True)
    for study in (None, *on_tracks) if formats else ():
        spec = to_spec(matrix.figure(study=study))
        spec = spec if run_options.titles else without_titles(spec)
        name = "claim_matrix" + (f"_{study.replace('-', '_')}" if study else "")
        for form, image in drawing_processes.draw(spec, formats).items():
            files.write(files.figure(name, form), image)


def _index(
    done: Sequence[Done],
    notes: Sequence[str],
    matrix: ClaimMatrix | None,
    run_options: RunOptions,
) -> Page:
    in_print = run_options.style == "paper"
    claim_files = CLAIM_FILES if run_options.figures else CLAIM_FILES_UNDRAWN
    finished = [outcome for outcome in done if outcome.results is not None]
    return Page(
        title="Studies",
        lead="All studies of one store, with a page, tables and figures for each.",
        summary={"studies": len(finished)},
        sections=[_section(outcome) for outcome in done],
        notes=notes,
        provenance={"irmeta": __version__},
        files=[
            *(claim_files if matrix is not None else ()),
            *(
                (f"{outcome.study.name}/{file}", holds)
                for outcome in finished
                for file, holds in (
                    ("report.html", f"The page of {outcome.study.title}."),
                    ("", "Its tables, figures and LaTeX."),
                )
            ),
        ],
        claims=None if matrix is None else matrix_table(matrix, in_print),
    )


def _section(done: Done) -> Block:
    study, results = done.study, done.results
    text = [" ".join(filter(None, (study.gives, study.paper)))]
    notes = [note for note in (done.problem, done.left_out) if note]
    if results is None:
        return Block(study.title, text, notes=notes)
    files = RecordedFiles(results.folder, ALL)
    figures = list(pictures_in(files).values())
    counts = [count(len(results.tables), "table")]
    if STUDIED_TRACKS.name in results.tables:
        used = results.tables[STUDIED_TRACKS.name].filter("used").height
        counts.insert(0, count(used, "track"))
    if files.facts.get("figures", True):
        folders = recorded_folders(results.folder)
        drawn = (len(svg_files(RecordedFiles(results.folder, folder))) for folder in folders)
        counts.append(count(sum(drawn), "figure"))
    text.append(f"{', '.join(counts)}: {study.name}/report.html")
    return Block(study.title, text, figures[:2], notes=notes)
