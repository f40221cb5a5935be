"""`claims`: the verdicts on the claims of the papers, from the folders of several studies."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from irmeta.errors import UsageError
from irmeta.locations import AnyLocation, Location, location
from irmeta.studies.framework.claims import CLAIMS
from irmeta.studies.framework.plan import study_in
from irmeta.studies.framework.registry import study_modules
from irmeta.studies.framework.run_all import NAME as ALL_STUDIES
from irmeta.studies.framework.study_results import StudyResults


def claims(
    folders: AnyLocation | Sequence[AnyLocation], *, per_track: bool = False
) -> pl.DataFrame:
    """Return the claims of papers with their verdicts, from results of studies.

    Parameters
    ----------
    folders : str, Path or sequence of them
        Folders of studies, or of `run_all`: all its studies that have claims.
    per_track : bool, default False
        Whether rows of single tracks follow the row of each claim over tracks.

    Returns
    -------
    DataFrame
        study, then the columns of the table `claims` of each study: claim, track (null: over
        tracks, or without a track), text, where, kind (paper, or check: by another
        test, margin, measure or parameter), statistic, number (NaN: none), shown (the number as
        text), condition, verdict (holds, does not hold, or cannot be said), why, printed (the
        paper's number), tracks and holding (over tracks: those with a verdict, and those on which
        it holds).

    Raises
    ------
    UsageError
        If a folder has no results of a study, a study has no claims, or one is named twice.

    Examples
    --------
    >>> _ = irmeta.studies.properties("properties/", length=4)
    >>> made = irmeta.studies.claims("properties/")
    >>> made.filter(claim="act-irrelevance")["verdict"].item()
    'holds'
    """
    given = [folders] if isinstance(folders, AnyLocation) else list(folders)
    found = [one for folder in given for one in _results(folder)]
    names = [one.study.name for one in found]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise UsageError(f"several folders hold results of study {repeated[0]}: name one of them.")
    frames = [_claims(one) for one in found]
    if not frames:
        raise UsageError("name a folder of a study.")
    frame = pl.concat(frames)
    return frame if per_track else frame.filter(pl.col("track").is_null())


def _results(folder: AnyLocation) -> list[StudyResults]:
    """Return the results in a folder: those of one study, or of all that have claims."""
    root: Location = location(folder)
    if study_in(root) != ALL_STUDIES:
        one = StudyResults(folder)
        if one.study.claims is None:
            raise UsageError(f"{folder} holds results of study {one.study.name}, without claims.")
        return [one]
    found = [name for name in study_modules() if study_in(root / name) == name]
    results = [one for name in found if (one := StudyResults(root / name)).study.claims is not None]
    if not results:
        raise UsageError(f"{folder} holds no results of a study with claims.")
    return results


def _claims(results: StudyResults) -> pl.DataFrame:
    if CLAIMS.name not in results.tables:
        raise UsageError(
            f"the results of study {results.study.name} are of an earlier irmeta, without the "
            "table claims: run the study again."
        )
    frame = results.tables[CLAIMS.name]
    return frame.select(pl.lit(results.study.name).alias("study"), pl.all())
