"""The studies by name: irmeta's own, and those of entry points in the group `irmeta.studies`."""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points

from irmeta.errors import UsageError, check_choice
from irmeta.options import load
from irmeta.studies.framework.study import Study

GROUP = "irmeta.studies"
OWN = {
    "overview": "irmeta.studies.reanalysis.study:STUDY",
    "search-length": "irmeta.studies.papers.search_length.study:STUDY",
}


@cache
def places() -> dict[str, str]:
    """Return "module:name" of each study by its name; irmeta's own names cannot be taken."""
    others = {point.name: point.value for point in entry_points(group=GROUP)}
    return {**dict(sorted(others.items())), **OWN}


def find(name: str) -> Study:
    """Return a study by name.

    Raises
    ------
    UsageError
        If there is no such study, with the nearest, or another package's cannot be imported.
    """
    check_choice("study", name, places())
    if name in OWN:
        return load(OWN[name])
    try:
        study = load(places()[name])
    except Exception as error:  # whatever another package raises
        reason = f"{type(error).__name__}: {error}"
        raise UsageError(f"study {name} ({places()[name]}) cannot be loaded: {reason}.") from error
    if getattr(study, "name", None) != name:  # results are found again by the study's name
        raise UsageError(f"entry point {name} ({places()[name]}) is no study of this name.")
    return study


def find_all() -> tuple[list[Study], list[str]]:
    """Return all studies, and what is wrong with those that cannot be loaded."""
    studies, problems = list[Study](), list[str]()
    for name in places():
        try:
            studies.append(find(name))
        except UsageError as error:
            problems.append(str(error))
    return studies, problems
