"""One name for one idea: options of all commands, and keywords of public functions."""

from __future__ import annotations

import inspect
from collections import Counter
from pathlib import Path

import pytest

import irmeta
from irmeta.cli.vocabulary import TERMS, table
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
    negations = {f"--no-{name[2:]}" for name in NAMED}
    assert shared - NAMED - negations - {"--help"} == set()
    assert NAMED - {*found} == set(), "every term is an option of a command"
    assert not NAMED & AVOIDED


@pytest.mark.parametrize("name", irmeta.__all__)
def test_function__has_no_other_name_of_an_idea(name: str) -> None:
    known = getattr(irmeta, name)
    functions = [known] if inspect.isfunction(known) else []
    if known is irmeta.Store:
        functions = [f for n, f in inspect.getmembers(known, inspect.isfunction) if n[0] != "_"]
    for function in functions:
        keywords = {f"--{one.replace('_', '-')}" for one in inspect.signature(function).parameters}
        # Stores and preferences are arguments by place, which say what they are.
        assert keywords & AVOIDED <= {"--store", "--preferences", "--measure"}


def test_page__has_the_table_of_the_vocabulary() -> None:
    assert table() in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("command", "option", "name"),
    [("prefer", "--against", "--baseline"), ("ingest", "--store", "--out")],
)
def test_command__another_name_of_an_idea_gets_the_right_one(run, command, option, name) -> None:
    done = run(command, "collection", option, "value")
    assert done.status == 2
    assert f"It is called {name}." in " ".join(done.err.split())
    assert "called" not in run(command, "collection", "--colour", "value").err
