"""All studies of a store, in one folder each, with an index page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from irmeta._version import __version__
from irmeta.errors import NothingToStudyError, UsageError
from irmeta.files import only_writer
from irmeta.locations import local
from irmeta.phrases import count
from irmeta.policies import EvalPolicy
from irmeta.report.html_page import Block, Page, render
from irmeta.store.scan import StoreReader, tracks_of
from irmeta.studies.framework.function import failures, options_on, policy_of, reader_of
from irmeta.studies.framework.plan import check_folder
from irmeta.studies.framework.recorded_files import ALL, PARTS, RecordedFiles, recorded_folders
from irmeta.studies.framework.registry import ALL_STUDIES, find_all
from irmeta.studies.framework.runner import drawing, run
from irmeta.studies.framework.sections import claim_matrix
from irmeta.studies.framework.study import CLAIMS, STUDIED_TRACKS, RunOptions, Study
from irmeta.studies.framework.study_page import pictures_in, svg_files
from irmeta.studies.framework.study_results import StudyResults

INDEX = "index.html"


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
        Folder for the results: one sub-folder per study, and the index in index.html.
    **options
        track, only, force, figures, titles, style, workers, executor, progress: see each study.

    Returns
    -------
    list of Done
        One per study: study, results (None without any), problem (empty without one), left_out
        (why the store has nothing to study, else empty).

    Raises
    ------
    UsageError
        If the folder has other files, or a track is unknown.

    Examples
    --------
    >>> done = irmeta.studies.run_all("store/", "studies/", track="news")
    >>> done[0].results.tables["studied_tracks"]["track"].to_list()
    ['news']
    """
    reader, root, run_options = reader_of(store), local(out), RunOptions.of(options)
    if reader is None:
        raise UsageError("name the store that the studies read.")
    tracks_of(reader, run_options.track)
    check_folder(root, ALL_STUDIES, run_options.force)
    with only_writer(root / PARTS):
        files = RecordedFiles(root, ALL)
        files.start(study=ALL_STUDIES, options={})
        studies, problems = find_all()
        policy = policy_of(store)
        with drawing(run_options):  # the same processes for all studies
            done = [_run(study, reader, policy, root, run_options) for study in studies]
        files.write(INDEX, render(_index(done, problems)).encode())
        files.finish("")
    return done


def _run(
    study: Study, store: StoreReader | None, policy: EvalPolicy, root: Path, run_options: RunOptions
) -> Done:
    folder = root / study.name
    if study.inputs == "none":
        store, run_options = None, replace(run_options, track=None, only=False)
    try:
        batch = run(study, store, folder, options_on(study, policy, {}), run_options)
    except NothingToStudyError as error:
        return Done(study, None, left_out=str(error))
    except UsageError as error:
        return Done(study, None, str(error))
    finished = bool(batch.analysed or batch.unchanged) or study.inputs == "none"
    return Done(study, StudyResults(folder, batch) if finished else None, failures(batch))


def _index(done: Sequence[Done], notes: Sequence[str]) -> Page:
    finished = [outcome for outcome in done if outcome.results is not None]
    claims = {
        f"{outcome.study.title}. {outcome.study.paper}": outcome.results.tables[CLAIMS.name]
        for outcome in finished
        if outcome.results is not None and outcome.study.claims is not None
    }
    return Page(
        title="Studies",
        lead="All studies of one store, with a page, tables and figures for each.",
        summary={"studies": len(finished)},
        sections=[_section(outcome) for outcome in done],
        notes=notes,
        provenance={"irmeta": __version__},
        files=[
            (f"{outcome.study.name}/{file}", holds)
            for outcome in finished
            for file, holds in (
                ("report.html", f"The page of {outcome.study.title}."),
                ("", "Its tables, figures and LaTeX."),
            )
        ],
        claims=claim_matrix(claims) if claims else None,
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
