"""Options and keywords that messages advise exist."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import irmeta
from irmeta.cli.notes import KEYWORD
from support.commands import all_commands, options_of
from test_vocabulary import COMMANDS, FUNCTIONS

PACKAGE = Path(irmeta.__file__).parent
OPTION = re.compile(r"(?<![\w-])--[a-z](?:[\w-]*\w)?(?![\w-])")
COMMAND = re.compile(r"irmeta ((?:study )?[a-z{}_-]+)([^`]*)")
"""A complete command in a message, whose options are its own."""
FUNCTION = re.compile(r"irmeta\.(\w+)\(([^`]*)\)")
OTHER_OPTIONS = {"cli/trec_eval_command.py", "cli/vocabulary.py"}
"""Files with options of trec_eval, and with names that an option does not have."""
WITHOUT_TEXTS = ("annotation", "returns", "decorator_list")


def texts_in(node: ast.AST) -> Iterator[str]:
    """Yield the texts of a node except docstrings and types; in f-strings, ``{}`` is a value."""
    if isinstance(node, ast.JoinedStr):
        parts = [p.value if isinstance(p, ast.Constant) else "{}" for p in node.values]
        yield "".join(map(str, parts))
    elif isinstance(node, ast.Constant):
        yield from [node.value] * isinstance(node.value, str)
    elif isinstance(node, ast.keyword) and node.arg in ("flag", "metavar"):
        return
    elif isinstance(node, ast.Assign) and ast.unparse(node.value).startswith("Annotated["):
        return  # the type of an option: its help is checked
    elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
        for name, value in ast.iter_fields(node):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST) and name not in WITHOUT_TEXTS:
                    yield from texts_in(child)


@cache
def texts() -> list[tuple[str, str]]:
    """Return all texts of the package with the names of their modules."""
    return [
        (file.relative_to(PACKAGE).as_posix(), text)
        for file in sorted(PACKAGE.rglob("*.py"))
        for text in texts_in(ast.parse(file.read_text(encoding="utf-8")))
    ]


def plain_options(text: str) -> list[str]:
    """Return the options of a text outside complete commands."""
    return OPTION.findall(COMMAND.sub("", text))


def test_messages__complete_commands_have_their_options():
    advised = [
        (name, option)
        for _, text in texts()
        for command, words in COMMAND.findall(text)
        for name in COMMANDS
        if re.fullmatch(command.replace("{}", "[a-z-]+").replace("NAME", "[a-z-]+"), name)
        for option in OPTION.findall(words)
    ]
    assert {("ingest", "--rehash"), ("evaluate", "--per-query")} <= {*advised}
    assert [place for place in advised if place[1] not in options_of(place[0])] == []


def test_messages__options_are_those_of_a_command():
    known = set[str]().union(*map(options_of, all_commands()))
    wrong = [
        (file, option, text)
        for file, text in texts()
        if file not in OTHER_OPTIONS
        for option in plain_options(text)
        if option not in known
    ]
    assert wrong == []
    wrong = [
        (command, option, parameter.help)
        for command in COMMANDS
        for parameter in all_commands()[command].params
        for option in plain_options(getattr(parameter, "help", None) or "")
        if option not in options_of(command)
    ]
    assert wrong == []


def test_library_messages__name_keywords_instead_of_options():
    """The library does not know who reads it.

    Pages name options, since no function is called; declarations have the texts of both.
    """
    without = ("cli/", "api/arguments.py", "studies/papers/", "studies/original/")
    without += ("studies/reanalysis/",)
    wrong = [(f, text) for f, text in texts() if not f.startswith(without) and plain_options(text)]
    assert wrong == []


def keywords_of(name: str) -> set[str]:
    """Return the keywords of a public function, those of the fields of its options included."""
    return {*inspect.signature(FUNCTIONS[name]).parameters}


def test_messages__keywords_are_those_of_a_function():
    known = set[str]().union(*map(keywords_of, FUNCTIONS))
    known |= {
        parameter.name for command in COMMANDS for parameter in all_commands()[command].params
    }
    advised = {(keyword, text) for _, text in texts() for keyword, _ in KEYWORD.findall(text)}
    assert "force" in {keyword for keyword, _ in advised}
    others = {"ideal", "mix"}  # parameters of measures
    others |= {"retrieved"}  # an argument of `from_arrays`
    assert sorted(place for place in advised if place[0] not in known | others) == []
    for _, text in texts():
        for function, given in FUNCTION.findall(text):
            assert {*re.findall(r"(\w+)=", given)} <= keywords_of(function), text
