"""Studies by name, built in or of other packages, and the public function of each."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any

from irmeta.errors import IrmetaError, UsageError, check_choice
from irmeta.locations import AnyLocation, local, location
from irmeta.options import Options, load, numpydoc, set_signature, signature
from irmeta.policies import EvalPolicy
from irmeta.studies.framework.study import RunOptions, Study

if TYPE_CHECKING:
    from irmeta.store.scan import StoreReader
    from irmeta.studies.framework.runner import Batch
    from irmeta.studies.framework.study_results import StudyResults

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
DOCSTRING = """Run study {study}, "{title}".

{gives}

Parameters
----------
{places}
{options}

Returns
-------
StudyResults
    Tables, figures and page. Each table is described below.

Raises
------
UsageError
    If an option is unknown or out of range, or the store lacks its data.
IrmetaError
    If a track could not be analysed; the results of the others are in the folder.

Notes
-----
Tables:

{tables}
{references}
Examples
--------
{example}
"""
EXAMPLE = """>>> results = irmeta.studies.{name}("store/", "{study}/", track="news")
>>> results.tables["studied_tracks"]["track"].to_list()
['news']"""
EXAMPLE_WITHOUT_STORE = """>>> irmeta.studies.{name}("{study}/").report.name
'report.html'"""
REFERENCES = "\nReferences\n----------\n.. [1] {}\n"
FROM_DATA = (
    "Studies read stores: irmeta.from_data(qrels, runs) makes one of qrels and runs in memory."
)
STORE = "store : Store, str or Path\n    A store, its folder or its URL."
OPTIONAL_STORE = (
    "store : Store, str, Path or None\n    A store, its folder or its URL; None: tracks in files "
    "that the options name."
)
OUT = (
    "out : str or Path\n    Folder for the results: new, empty, or made by this study. Tracks with "
    "up-to-date results\n    are not analysed again."
)


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


def function_of(study: Study) -> Callable[..., StudyResults]:
    """Return ``irmeta.studies.NAME(store, out, **options)``; its `tables` are the study's tables.

    The function of a study without a store takes `out` alone; an optional `store` may be None.
    """
    places = ("out",) if study.inputs == "none" else ("store", "out")
    leading = [
        inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Any)
        for name in places
    ]
    shown = signature(leading, study.options, study.run_options)
    taken = inspect.Signature(leading)
    run_names = study.run_options.__dataclass_fields__

    def function(*positional: Any, **given: Any) -> StudyResults:
        where = {name: given.pop(name) for name in places if name in given}
        if "store" in places and len(positional) + len(where) > len(places):
            raise UsageError(f"study {study.name} takes a store and a folder. {FROM_DATA}")
        asked = taken.bind(*positional, **where).arguments
        asked_run = {name: given.pop(name) for name in run_names if name in given}
        run_options = study.run_options.of(asked_run)
        return run_study(study, asked.get("store"), asked["out"], given, run_options)

    name = study.name.replace("-", "_")
    example = EXAMPLE_WITHOUT_STORE if study.inputs == "none" else EXAMPLE
    function.__name__ = function.__qualname__ = name
    function.__doc__ = DOCSTRING.format(
        study=study.name,
        title=study.title,
        gives=study.gives,
        places=OUT
        if study.inputs == "none"
        else f"{STORE if study.needs_store else OPTIONAL_STORE}\n{OUT}",
        options=numpydoc(study.options, study.run_options),
        tables="\n".join(table.docs() for table in study.by_table.values()),
        references=REFERENCES.format(study.paper) if study.paper else "",
        example=example.format(name=name, study=study.name),
    )
    set_signature(function, shown)
    vars(function)["tables"] = dict(study.by_table)
    return function


def run_study(
    study: Study, store: Any, out: str | Path, given: Mapping[str, Any], run_options: RunOptions
) -> StudyResults:
    """Run a study on a `Store`, on the folder of one, or on None, and open its results.

    Raise IrmetaError if a track could not be analysed. `given` are options of the study by name.
    """
    from irmeta.studies.framework.runner import run
    from irmeta.studies.framework.study_results import StudyResults

    study.options.of(given)  # fails for a wrong option before anything is read
    reader = reader_of(store)
    options = options_on(study, policy_of(store), given)
    batch = run(study, reader, local(out), options, run_options)
    if batch.failed:
        raise IrmetaError(failures(batch))
    return StudyResults(out, batch)


def reader_of(store: Any) -> StoreReader | None:
    """Return the reader of a `Store` or of a store's folder; raise UsageError for anything else."""
    from irmeta.store.layout import Layout, store_folder

    if isinstance(store, AnyLocation):
        reader = Layout(store_folder(store))
        reader.read_policy()  # fails in a folder without a store
        return reader
    reader = getattr(store, "reader", store)
    if reader is not None and not hasattr(reader, "read_policy"):
        raise UsageError(f"{type(store).__name__} is no store. {FROM_DATA}")
    return reader


def policy_of(store: Any) -> EvalPolicy:
    """Return the evaluation policy of the results by which a store was, or is now, opened."""
    if not isinstance(store, AnyLocation):
        return getattr(store, "eval_policy", EvalPolicy())
    from irmeta.store.layout import store_folder
    from irmeta.studies.framework.recorded_files import recorded_policy

    path = location(store)
    return EvalPolicy() if store_folder(path) == path else recorded_policy(path)


def options_on(study: Study, policy: EvalPolicy, given: Mapping[str, Any]) -> Options:
    """Return the options of a study: those given, else the policies of results that it reads."""
    known = study.options.__dataclass_fields__
    taken = {name: value for name, value in policy.changed().items() if name in known}
    return study.options.of({**taken, **given})


def failures(batch: Batch) -> str:
    """Return the failures of a batch as one message, the first five by name."""
    lines = [error for _, error in batch.failed[:5]]
    more = len(batch.failed) - len(lines)
    return " ".join([*lines, f"({more} more tracks failed.)" if more else ""]).strip()
