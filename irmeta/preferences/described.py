"""The list of preferences, and their descriptions."""

from __future__ import annotations

import inspect

import polars as pl

from irmeta.naming.parameters import Parameter, printed
from irmeta.preferences.registry import parse_preference, preference_registry
from irmeta.preferences.spec import PreferenceRule


def list_preferences() -> pl.DataFrame:
    """List all preferences, those of other packages included.

    Returns
    -------
    DataFrame
        preference, parameters (with defaults), source, summary.

    Examples
    --------
    >>> irmeta.list_preferences().select("preference", "parameters").row(0)
    ('RPP[@k]', 'p=uniform, g=0.8, grades=graded, rel=1, unjudged=nonrelevant')
    """
    rows = [
        {
            "preference": _shape(rule),
            "parameters": ", ".join(f"{p.name}={_default(p)}" for p in rule.all_parameters),
            "source": rule.source,
            "summary": rule.summary,
        }
        for rule in preference_registry().values()
    ]
    return pl.DataFrame(rows)


def describe_preference(name: str) -> tuple[PreferenceRule, str, pl.DataFrame]:
    """Return a preference, its definition, and its parameters: meaning, default, range.

    Raises
    ------
    MeasureError
        If the preference is unknown.
    """
    rule = parse_preference(name).rule
    definition = inspect.cleandoc(rule.compare.__doc__ or "").replace("`", "")
    parameters = pl.DataFrame(
        [(p.name, p.meaning, _default(p), p.range) for p in rule.all_parameters],
        schema=dict.fromkeys(("parameter", "meaning", "default", "range"), pl.String),
        orient="row",
    )
    return rule, definition, parameters


def _shape(rule: PreferenceRule) -> str:
    return rule.name + {"none": "", "optional": "[@k]", "required": "@k"}[rule.cutoff]


def _default(parameter: Parameter) -> str:
    return "-" if parameter.default is None else printed(parameter.default)
