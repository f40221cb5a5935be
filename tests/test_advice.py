"""Options and keywords that messages advise exist where the messages are printed."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields
from functools import cache
from typing import Any

import pytest

import irmeta
from irmeta.cli.notes import KEYWORD
from irmeta.policies import EvalPolicy
from support.call_graph import call_graph, texts_in
from support.commands import all_commands, options_of

OPTION = re.compile(r"(?<![\w-])--[a-z](?:[\w-]*\w)?(?![\w-])")
COMMAND = re.compile(r"irmeta ((?:study )?[a-z{}_-]+)([^`]*)")
"""A complete command in a message, whose options are its own."""
FUNCTION = re.compile(r"irmeta\.(\w+)\(([^`]*)\)")


def module_of(node: str) -> str:
    while node not in call_graph().modules:
        node = node.rpartition(".")[0]
    return node


def study_of(module: str) -> str | None:
    """Return the study to whose package a module belongs."""
    if module.startswith("irmeta.studies.reanalysis"):
        return "overview"
    match = re.match(r"irmeta\.studies\.(papers|original)\.(\w+)", module)
    return match and match[2].replace("_", "-")


@cache
def texts(node: str) -> tuple[str, ...]:
    """Return the texts of a node; of the type of an option none, since its help is checked."""
    found = call_graph().nodes[node]
    is_type = ast.unparse(getattr(found, "value", None) or found).startswith("Annotated[")
    return () if is_type else tuple(texts_in(found))


def of_complete_commands(text: str) -> Iterator[tuple[str, str]]:
    """Yield each command and option of the complete commands in a text."""
    for command, rest in COMMAND.findall(text):
        for name in all_commands().keys() - {"trec_eval"}:
            if re.fullmatch(command.replace("{}", "[a-z-]+").replace("NAME", "[a-z-]+"), name):
                yield from ((name, option) for option in OPTION.findall(rest))


def plain_options(text: str) -> list[str]:
    """Return the options of a text outside complete commands."""
    return OPTION.findall(COMMAND.sub("", text))


def entry_of(command: str) -> str:
    """Return the function of a command; that of all studies for a study."""
    if command.startswith("study ") and command not in (
        "study all",
        "study bundle",
        "study claims",
    ):
        return "irmeta.cli.studies._command"
    function = inspect.unwrap(all_commands()[command].callback)
    return node_of(function)


ADVISED_ELSEWHERE = {
    ("irmeta.cli.sources.open_source", "--dask"),  # where --dask was given
    ("irmeta.rankings.arrays.retrieved_of", "retrieved"),  # to who calls from_arrays
    ("irmeta.store.assemble._FIXES", "names"),  # where names="tag" was given
    ("irmeta.trec.qrels.SUBTOPICS_FIX", "subtopics"),  # to who reads qrels for measures
    ("irmeta.rankings.track.Track.subtopic_facts", "subtopics"),  # likewise
    ("irmeta.measures.evaluate._Decimals.check", "rel"),  # to who evaluates; `frame` reaches all
    ("irmeta.measures.evaluate.relevant_in_set", "rel"),  # likewise
    ("irmeta.measures.names.parse_call", "tie_order"),  # likewise
    ("irmeta.studies.original.judges.study.JudgesOptions.check_sets", "judges"),  # of that study
    ("irmeta.results.matrix.Matrix.with_missing", "missing"),  # to who compares
    ("irmeta.results.factors.Variants.note", "query_file"),  # likewise
    ("irmeta.store.run_notes._KINDS", "queries"),  # to who evaluates the runs
    ("irmeta.api.opened_store.OpenedStore.run_notes", "negative"),
    ("irmeta.cli.studies._refuse_tables_of_judges", "--columns"),  # where --columns was given
    ("irmeta.trec.readers.frames.renamed_columns", "columns"),  # likewise
    ("irmeta.cli.values.measures", "--for"),  # the command `measures`, by its name
    ("irmeta.cli.app.Opening.__body_4__", "--strict"),  # shown with the option itself
    ("irmeta.cli.app.Opening.__body_4__", "--no-strict"),  # likewise
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("command", [name for name in all_commands() if name != "trec_eval"])
def test_command__has_every_option_that_its_messages_advise(command: str):
    known, wrong = options_of(command), []
    own = {"reanalyze": "overview"}.get(command, command.removeprefix("study "))
    for node in call_graph().reached(entry_of(command)):
        if study_of(module_of(node)) not in (None, own):
            continue  # its page, whose options are those of another study
        for text in texts(node):
            lacking = {(node, o) for o in plain_options(text) if o not in known}
            wrong += [(*one, text) for one in lacking - ADVISED_ELSEWHERE]
    for parameter in all_commands()[command].params:
        text = getattr(parameter, "help", None) or ""
        wrong += [(parameter.name, o, text) for o in plain_options(text) if o not in known]
    assert wrong == []


@pytest.mark.exhaustive
def test_messages__complete_commands_have_their_options():
    found = [
        (command, option)
        for node in call_graph().nodes
        for text in texts(node)
        for command, option in of_complete_commands(text)
    ]
    assert ("ingest", "--rehash") in found
    assert ("evaluate", "--per-query") in found
    assert [one for one in found if one[1] not in options_of(one[0])] == []


@pytest.mark.exhaustive
def test_library_messages__name_keywords_instead_of_options():
    """The library does not know who reads it; pages name options, since no function is called.

    Declarations of options have the texts of the command line beside those of functions.
    """
    wrong = [
        (node, text)
        for node in call_graph().nodes
        if not (module := module_of(node)).startswith(("irmeta.cli", "irmeta.api.arguments"))
        and study_of(module) is None
        for text in texts(node)
        if plain_options(text)
    ]
    assert wrong == []


def public_functions() -> dict[str, Callable[..., Any]]:
    """Return the functions of the package and of a store that read or write data."""
    named = {name: getattr(irmeta, name) for name in irmeta.__all__}
    found = {name: one for name, one in named.items() if inspect.isfunction(one)}
    members = {name: getattr(irmeta.Store, name) for name in dir(irmeta.Store) if name[0] != "_"}
    return found | {f"Store.{n}": m for n, m in members.items() if inspect.isfunction(m)}


def node_of(function: Callable[..., Any]) -> str:
    return f"{function.__module__}.{function.__qualname__}"


def keywords_of(function: Callable[..., Any]) -> set[str]:
    """Return the keywords of a function, those of the TypedDict of its ``**choices`` included."""
    found = set[str]()
    for one in inspect.signature(function).parameters.values():
        found.add(one.name)
        if one.kind is inspect.Parameter.VAR_KEYWORD:
            name = str(one.annotation).removeprefix("Unpack[").removesuffix("]")
            modules = [sys.modules[m] for m in call_graph().modules if m in sys.modules]
            (declared, *_) = (vars(module)[name] for module in modules if name in vars(module))
            found |= declared.__annotations__.keys()
    return found


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", public_functions())
def test_function__has_every_keyword_that_its_messages_advise(name: str):
    function = inspect.unwrap(public_functions()[name])
    known, wrong, entry = keywords_of(function), [], node_of(function)
    if "policy" in known:
        known |= {field.name for field in fields(EvalPolicy)}
    if (name := name.removeprefix("Store.")) in irmeta.__all__:
        known |= keywords_of(getattr(irmeta, name))  # some are only for data, which a store is not
    others = {node_of(inspect.unwrap(one)) for one in public_functions().values()} - {entry}
    # `verify` has the name `compare` in reach, which is also that of a method of a store.
    without = "irmeta.api.store.Store.compare" if name == "verify" else ""
    for node in call_graph().reached(entry, without) - others:  # others name their own keywords
        for text in texts(node):
            lacking = {(node, k) for k, _ in KEYWORD.findall(text) if k not in known}
            wrong += [(*one, text) for one in lacking - ADVISED_ELSEWHERE]
            for other, given in FUNCTION.findall(text):
                keywords = re.findall(r"(\w+)=", given)
                assert {*keywords} <= keywords_of(getattr(irmeta, other)), text
    assert wrong == []
