"""Entry points of other packages, installed for one test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest


@dataclass(frozen=True)
class Entry:
    """Stub for an entry point of another package."""

    name: str
    value: str
    load: Callable[[], object]


def loading(what: object) -> Callable[[], object]:
    """Return a `load` method that returns an object or raises an exception."""

    def load() -> object:
        if isinstance(what, BaseException):
            raise what
        return what

    return load


@contextmanager
def entry_points_of(
    group: str, registry: Any, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., None]]:
    """Yield a function that installs entry points of a group, which `registry` reads anew."""

    def install(*entries: Entry) -> None:
        installed = {group: list(entries)}
        monkeypatch.setattr("irmeta.naming.entry_points", lambda group: installed[group])
        registry.cache_clear()

    yield install
    monkeypatch.undo()
    registry.cache_clear()
