"""One name for one idea: options of all commands, and keywords of public functions."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable
from functools import cached_property
from importlib import import_module
from pathlib import Path

import pytest

import irmeta
from irmeta.cli.vocabulary import TERMS, table
from irmeta.studies.framework.registry import study_modules
from support.commands import all_commands, options_of

PAGE = Path(__file__).parents[1] / "notebooks" / "site" / "options.md"
COMMANDS = [name for name in all_commands() if name != "trec_eval"]
NAMED = {term.option for term in TERMS}
AVOIDED = {name for term in TERMS for name in term.avoid}


@pytest.mark.parametrize("command", COMMANDS)
def test_command__has_no_other_name_of_an_idea(command: str) -> None:
    assert options_of(command) & AVOIDED == set()


def test_options__shared_by_commands_are_in_the_vocabulary() -> None:
    plain = [name for name in COMMANDS if not name.startswith("study ")]
    found = Counter(name for command in plain for name in options_of(command))
    shared = {n for n, count in found.items() if count > 1 and n.startswith("--")}
    known = {name for command in COMMANDS for name in options_of(command)}
    negations = {f"--no-{name[2:]}" for name in NAMED}
    assert shared - NAMED - negations - {"--help"} == set()
    assert NAMED - known == set(), "every term is an option of a command"
    assert not NAMED & AVOIDED


def public_functions() -> dict[str, Callable[..., object]]:
    """Return functions of irmeta, methods of Store and its namespaces, and studies, by name."""
    found = {name: getattr(irmeta, name) for name in irmeta.__all__}
    functions = {name: one for name, one in found.items() if inspect.isfunction(one)}
    for name in ("run_all", *study_modules()):
        functions[f"studies.{name}"] = getattr(irmeta.studies, name.replace("-", "_"))
    spaces: dict[str, type] = {}
    for name, member in vars(irmeta.Store).items():
        if isinstance(member, cached_property):
            cls = member.func.__annotations__["return"]
            spaces[name] = getattr(import_module(f"irmeta.api.{name}"), cls)
    for space, cls in {"Store": irmeta.Store, **spaces}.items():
        for name, method in inspect.getmembers(cls, inspect.isfunction):
            if name[0] != "_":
                functions[f"{space}.{name}"] = method
    return functions


FUNCTIONS = public_functions()
PLACED = {"--store", "--preferences", "--measure"}
"""Arguments by place, which say what they are."""


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function__has_no_other_name_of_an_idea(name: str) -> None:
    parameters = inspect.signature(FUNCTIONS[name]).parameters
    keywords = {f"--{one.replace('_', '-')}" for one in parameters}
    assert keywords & AVOIDED <= PLACED


def test_depth__is_a_keyword_of_reading_alone() -> None:
    """Functions that read take it among the policies; other depths have names of their own."""
    arguments = {name: inspect.signature(one).parameters for name, one in FUNCTIONS.items()}
    assert {name for name, known in arguments.items() if "depth" in known} == set()


def test_page__has_the_table_of_the_vocabulary() -> None:
    assert table() in PAGE.read_text(encoding="utf-8")


def test_command__an_unknown_option_has_no_other_name(run) -> None:
    assert "called" not in run("prefer", "collection", "--colour", "value").err
