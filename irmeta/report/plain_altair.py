"""Building of charts without what Altair does for charts of any kind, and figures do not need.

Altair validates every object that it makes, and a chart that layers or concatenates others copies
all of them, in case they share parameters. Both take most of the time of a figure. The specs are
the same.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Any

Charts = list[Any]
_COMBINE, _REMOVE = "_combine_subchart_params", "_remove_duplicate_params"

_lock = Lock()
_users = 0
_before: dict[tuple[Any, str], Any] = {}


@contextmanager
def plainly() -> Generator[None]:
    """Build charts plainly in this process until the block ends; threads may overlap.

    Charts with parameters or names are built as ever.
    """
    global _users
    with _lock:
        _users += 1
        if _users == 1:
            _replace()
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                for (module, name), value in _before.items():
                    setattr(module, name, value)
                _before.clear()


def _replace() -> None:
    import altair as alt
    from altair.utils import schemapi

    api = sys.modules[alt.LayerChart.__module__]
    new: dict[tuple[Any, str], Any] = {(schemapi, "DEBUG_MODE"): False}
    for name, replacement in ((_COMBINE, _combined), (_REMOVE, _unique)):
        if hasattr(api, name):  # private: another Altair may have none
            new[api, name] = replacement(getattr(api, name), alt.Undefined)
    for (module, name), value in new.items():
        _before[module, name] = getattr(module, name)
        setattr(module, name, value)


def _combined(combine: Callable[..., Any], undefined: object) -> Callable[..., tuple[Any, Charts]]:
    """Return a function that takes the parameters of charts out of them, if they have any."""

    def combined(params: Any, charts: Charts) -> tuple[Any, Charts]:
        if params is not undefined or not _are_plain(charts, undefined):
            return combine(params, charts)
        return undefined, list(charts)

    return combined


def _unique(remove: Callable[[Charts], Charts], undefined: object) -> Callable[[Charts], Charts]:
    """Return a function that removes the parameters of layers that others have, if any have."""
    return lambda charts: list(charts) if _are_plain(charts, undefined) else remove(charts)


def _are_plain(charts: Sequence[Any], undefined: object) -> bool:
    """Check whether charts, and the layers in them, have neither parameters nor names."""
    return all(
        all(getattr(chart, name, undefined) is undefined for name in ("params", "name"))
        and _are_plain(getattr(chart, "layer", ()) or (), undefined)
        for chart in charts
    )
