"""Operations: functions whose keywords, documentation and command derive from one options class."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from irmeta.options import Options, numpydoc, signature

OptionsT = TypeVar("OptionsT", bound=Options)
P = ParamSpec("P")
R = TypeVar("R")
Call = TypeVar("Call", bound=Callable[..., Any])


def operation(
    cls: type[OptionsT],
) -> Callable[[Callable[Concatenate[OptionsT, P], R]], Callable[P, R]]:
    """Let a function, whose first argument is an instance of `cls`, take its fields as keywords.

    The line ``{options}`` of the docstring becomes the fields. A type checker knows the keywords
    from the typed dict of ``**choices``, which .ci/stubs.py writes.
    """

    def decorate(function: Callable[Concatenate[OptionsT, P], R]) -> Callable[P, R]:
        @wraps(function)
        def call(*arguments: P.args, **keywords: P.kwargs) -> R:
            asked = {name: keywords.pop(name) for name in [*keywords] if name in fields}
            return function(cls.of(asked), *arguments, **keywords)

        fields = cls.__dataclass_fields__
        first = next(iter(inspect.signature(function).parameters))
        return documented(cls, without=first)(call)

    return decorate


def documented(cls: type[Options], without: str = "") -> Callable[[Call], Call]:
    """Show the fields of an options class in the signature and the docstring of a function."""

    def decorate(function: Call) -> Call:
        declared = [
            one for name, one in inspect.signature(function).parameters.items() if name != without
        ]
        *leading, choices = declared
        shown = [*signature(leading, cls).parameters.values(), choices]
        # inspect reads the signature; type checkers know no such attribute of functions.
        function.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
        function.__doc__ = re.sub(
            r"^( *)\{options\}$",
            lambda line: textwrap.indent(numpydoc(cls), line[1]),
            function.__doc__ or "",
            flags=re.MULTILINE,
        )
        return function

    return decorate
