"""Registry of preferences, their list and descriptions, and parsing of their names."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from functools import cache

import polars as pl

from irmeta.errors import MeasureError, did_you_mean
from irmeta.naming.entry_points import load_group, missing_packages
from irmeta.naming.grammar import parse_settings, split_names, texts_of
from irmeta.naming.parameters import Parameter, printed
from irmeta.preferences import interleaving, lexicographic, rpp
from irmeta.preferences.spec import PreferenceRule, PreferenceSpec

FAMILIES = (rpp, lexicographic, interleaving)
"""Modules of preferences, in listing order."""

ENTRY_POINTS = "irmeta.preferences"
"""Group of entry points, each for a `PreferenceRule` or a sequence of them."""

ALIASES = {
    "rpp": "RPP",
    "dcgrpp": "RPP(p=dcg)",
    "invrpp": "RPP(p=inverse)",
    "st-rpp": "STRPP",
    "st-dcgrpp": "STRPP(p=dcg)",
    "st-invrpp": "STRPP(p=inverse)",
    "strpp": "STRPP",
    "lexirecall": "LexiRecall",
    "lexiprecision": "LexiPrecision",
    "rrlexiprecision": "RRLexiPrecision",
    "oi": "OI",
}
"""Names in the paper and in pref_eval, in lower case; ``@k`` may follow."""


@cache
def preference_registry() -> dict[str, PreferenceRule]:
    """Return all preferences by name: irmeta's, then those of other installed packages.

    Warns
    -----
    EntryPointWarning
        See `irmeta.naming.entry_points.load_group`.
    """
    rules = {rule.name: rule for family in FAMILIES for rule in family.RULES}
    loaded, _not_loaded[:] = load_group(ENTRY_POINTS, PreferenceRule, rules)
    return rules | loaded


_not_loaded: list[str] = []  # problems of which `preference_registry` warned


def parse_preferences(names: str | Iterable[str]) -> list[PreferenceSpec]:
    """Parse a comma-separated text or a list of names into distinct preferences, in order.

    Raises
    ------
    MeasureError
        At the first unknown name or parameter, with the nearest known name.
    """
    texts = [name for text in texts_of(names, "preferences") for name in split_names(text)]
    specs = {spec.name: spec for spec in map(parse_preference, texts)}
    if not specs:
        raise MeasureError("no preference was given")
    return list(specs.values())


def parse_preference(name: str) -> PreferenceSpec:
    """Parse the name of one preference, such as ``RPP(p=dcg,grades=binary)@100`` or ``dcgrpp``.

    Raises
    ------
    MeasureError
        If the name, a parameter or a value is unknown.
    """
    name = name.strip()
    alias, at, cut = name.partition("@")
    name = ALIASES.get(alias.strip().lower(), alias) + at + cut
    word = re.sub(r"\W.*", "", name)
    rule = preference_registry().get(word)
    if rule is None:
        hint = did_you_mean(name, [*preference_registry(), *ALIASES])
        missing = missing_packages(_not_loaded)
        raise MeasureError(
            f"unknown preference {name!r}. {hint} `irmeta preferences` lists them.{missing}"
        )
    settings, cutoff = parse_settings(rule, name)
    return PreferenceSpec(rule, tuple(settings.items()), None if cutoff is None else int(cutoff))


def is_preference(name: str) -> bool:
    """Check whether a name starts with the word of a preference."""
    word = re.sub(r"[(@].*", "", name.strip())
    return word in preference_registry() or word.lower() in ALIASES


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
