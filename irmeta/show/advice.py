"""Advice in messages: keywords of Python, which the command line prints as options.

The library names keywords in backticks, as in ``use `force=True` ``, since it does not know who
reads its messages. `in_options` prints them as options of the running command.
"""

from __future__ import annotations

import re

KEYWORD = re.compile(r"`([a-z_]\w*)=([^`]*)`")
"""A keyword with its value, or without a value where any will do."""
OPTIONS = dict[str, tuple[str, str]]()
"""The option of the running command, and its negation, by the keyword of the same meaning."""
_SENTENCE = re.compile(r"(?<=[.?!]) (?=[A-Z`])")


def in_options(text: str) -> str:
    """Return a message with its keywords as options of the running command.

    A sentence after the first is dropped if it advises a keyword that the command lacks.

    Examples
    --------
    >>> in_options("line 3: not a number. `no_option=True` drops such lines.")
    'line 3: not a number.'
    """
    problem, *more = _SENTENCE.split(text)
    return KEYWORD.sub(_option, " ".join([problem, *filter(_is_known, more)]))


def _is_known(sentence: str) -> bool:
    return all(_option(match) != match[0] for match in KEYWORD.finditer(sentence))


def _option(match: re.Match[str]) -> str:
    name, value = match[1], match[2].strip("\"'")
    if name in OPTIONS:
        option, negation = OPTIONS[name]
        written = {"": option, "True": option, "False": negation}
        return f"`{written.get(value, f'{option} {value}')}`"
    is_flag = any(f"--{value}" in both for both in OPTIONS.values())  # a choice, as --copy
    return f"`--{value}`" if is_flag else match[0]
