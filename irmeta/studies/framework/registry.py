"""Registry of studies: built-in studies, and entry points of the group `irmeta.studies`."""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points

from irmeta.errors import UsageError, check_choice
from irmeta.options import load
from irmeta.studies.framework.study import Study

GROUP = "irmeta.studies"
ALL_STUDIES = "all"
"""Name of the record of a folder with the results of all studies."""
OWN = {
    "overview": "irmeta.studies.reanalysis.study:STUDY",
    "depth": "irmeta.studies.papers.depth.study:STUDY",
    "innovation": "irmeta.studies.papers.innovation.study:STUDY",
    "judges": "irmeta.studies.original.judges.study:STUDY",
    "preference": "irmeta.studies.papers.preference.study:STUDY",
    "properties": "irmeta.studies.papers.properties.study:STUDY",
    "search-length": "irmeta.studies.papers.search_length.study:STUDY",
    "trust": "irmeta.studies.original.trust.study:STUDY",
}


@cache
def study_modules() -> dict[str, str]:
    """Map each study's name to "module:name"; built-in studies take precedence."""
    external = {point.name: point.value for point in entry_points(group=GROUP)}
    return {**dict(sorted(external.items())), **OWN}


def find(name: str) -> Study:
    """Return a study by name; raise UsageError if it is unknown or cannot be imported."""
    check_choice("study", name, study_modules())
    if name in OWN:
        return load(OWN[name])
    try:
        study = load(study_modules()[name])
    except (Exception, SystemExit) as error:  # a package may raise any exception
        reason = f"{type(error).__name__}: {error}"
        raise UsageError(
            f"study {name} ({study_modules()[name]}) cannot be loaded: {reason}."
        ) from error
    if getattr(study, "name", None) != name:  # results are looked up by the study's name
        raise UsageError(
            f"entry point {name} ({study_modules()[name]}) is not a study of this name."
        )
    return study


def find_all() -> tuple[list[Study], list[str]]:
    """Return all studies that can be loaded, and the problems of the others."""
    studies, problems = list[Study](), list[str]()
    for name in study_modules():
        try:
            studies.append(find(name))
        except UsageError as error:
            problems.append(str(error))
    return studies, problems
