"""Panels of options in help texts, the most used options first."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from dataclasses import fields

from typer.models import OptionInfo

from irmeta.options import Options
from irmeta.policies import EvalPolicy, ReadPolicy

OUTPUT, TESTS, POLICIES = "Output", "Statistical tests", "Evaluation policies"
READING, RUNNING = "Reading of runs", "Running"
PANELS = (None, OUTPUT, TESTS, POLICIES, READING, RUNNING)
"""Panels in the order of the help text; None: typer's first panel, Options."""

_NAMES = {
    OUTPUT: (
        *(
            "format",
            "digits",
            "sort",
            "table",
            "wide",
            "measure_names",
            "per_query",
            "differences_file",
            "csv_safe",
            "figures",
        ),
        *(
            "figure",
            "titles",
            "style",
            "formats",
            "force",
            "unjudged",
            "judged_at_least",
            "draw",
            "draws",
        ),
    ),
    TESTS: (
        *("test", "tests", "correction", "alpha", "interval", "resamples", "seed"),
        *(
            "rank_resamples",
            "less_is_better",
            "robust",
            "relative",
            "confidence",
            "baseline",
            "alternative",
            "missing",
        ),
        *("max_drop", "lost", "non_inferior"),
    ),
    POLICIES: tuple(one.name for one in fields(EvalPolicy)),
    READING: (*(one.name for one in fields(ReadPolicy)), "strict", "rehash", "memory"),
    RUNNING: ("workers", "dask", "only", "quiet", "verbose"),
}
_PANEL_OF = {name: panel for panel in reversed(_NAMES) for name in _NAMES[panel]}


def panel_of(cls: type[Options], name: str) -> str | None:
    """Return the panel of an option that is declared in a class of options."""
    return READING if cls is ReadPolicy else _PANEL_OF.get(name)


def arrange(declared: Iterable[inspect.Parameter]) -> list[inspect.Parameter]:
    """Put the options of a command in their panels, and sort them by panel; arguments come first.

    An option that has a panel keeps it.
    """
    placed = list[tuple[int, inspect.Parameter]]()
    for one in declared:
        infos = [
            i for i in getattr(one.annotation, "__metadata__", ()) if isinstance(i, OptionInfo)
        ]
        panel = None
        for info in infos:
            info.rich_help_panel = panel = info.rich_help_panel or _PANEL_OF.get(one.name)
        placed.append((PANELS.index(panel), one))
    return [one for _, one in sorted(placed, key=lambda pair: pair[0])]
