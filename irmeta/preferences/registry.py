"""Registry of preferences, their list and descriptions, and parsing of their names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import polars as pl

from irmeta.errors import MeasureError, did_you_mean
from irmeta.naming import (
    REL,
    NamedSpec,
    Registry,
    definition,
    guarded,
    parameter_table,
    parse_settings,
    split_names,
    states_parameter,
    texts_of,
)
from irmeta.preferences.rules import RULES
from irmeta.preferences.spec import PreferenceRule
from irmeta.rankings.judged import with_read_only_view
from irmeta.rankings.view import Need, check_needs

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


def _adopt(rule: PreferenceRule) -> PreferenceRule:
    """Check a preference of another package, and guard irmeta against its functions."""
    if rule.name.lower() in ALIASES:
        known = ALIASES[rule.name.lower()]
        raise MeasureError(f"it registers {rule.name!r}, another name of {known}")
    named = partial(guarded, f"preference {rule.name}")
    rule = replace(
        rule,
        compare=named(with_read_only_view(rule.compare)),
        trace=named(rule.trace),
        needs=named(rule.needs),
        check=rule.check and named(rule.check),
        printed=rule.printed and named(rule.printed),
    )
    check_needs(rule.needs({p.name: p.default for p in rule.all_parameters}))
    return rule


preference_registry: Registry[PreferenceRule] = Registry(
    PreferenceRule, "preference", RULES, adopt=_adopt
)
"""All preferences by name, when called."""


@dataclass(frozen=True, kw_only=True)
class PreferenceSpec(NamedSpec):
    """A preference with the values of its parameters and its cutoff: the meaning of a name."""

    rule: PreferenceRule
    cutoff: int | None
    states_rel: bool = field(default=False, compare=False)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the name: another process has the functions, which need no pickling."""
        return parse_preference, (self.name,)

    @property
    def registration(self) -> PreferenceRule:
        """The preference."""
        return self.rule

    @property
    def needs(self) -> frozenset[Need]:
        """Arrays that the preference reads beyond ranks and grades."""
        return frozenset(self.rule.needs(self.settings))

    @property
    def background(self) -> str | None:
        """The qrels set of the background interest, if it is another than that of the subtopics."""
        background = self.settings.get("background")
        return None if background in ("yes", "no") else background


def parse_preferences(names: str | Iterable[str]) -> list[PreferenceSpec]:
    """Parse a comma-separated text or a list of names into distinct preferences, in order."""
    texts = [name for text in texts_of(names, "preferences") for name in split_names(text)]
    # On a qrels set that states another rel, RPP and RPP(rel=1) are two.
    specs = {(spec.name, spec.states_rel): spec for spec in map(parse_preference, texts)}
    if not specs:
        raise MeasureError("no preference was given")
    return list(specs.values())


def parse_preference(name: str) -> PreferenceSpec:
    """Parse the name of one preference, such as ``RPP(p=dcg,grades=binary)@100`` or ``dcgrpp``."""
    name = name.strip()
    alias, at, cut = name.partition("@")
    name = ALIASES.get(alias.strip().lower(), alias) + at + cut
    word = re.sub(r"\W.*", "", name)
    rule = preference_registry().get(word)
    if rule is None:
        hint = did_you_mean(name, [*preference_registry(), *ALIASES])
        raise preference_registry.unknown(name, hint)
    settings, cutoff = parse_settings(rule, name)
    cut = None if cutoff is None else int(cutoff)
    states_rel = states_parameter(name, REL)
    return PreferenceSpec(
        rule=rule, params=tuple(settings.items()), cutoff=cut, states_rel=states_rel
    )


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
            "preference": rule.written,
            "parameters": ", ".join(f"{p.name}={p.default_text}" for p in rule.all_parameters),
            "source": rule.source,
            "summary": rule.summary,
        }
        for rule in preference_registry().values()
    ]
    return pl.DataFrame(rows)


def describe_preference(name: str) -> tuple[PreferenceRule, str, pl.DataFrame]:
    """Return a preference, its definition, and its parameters: meaning, default, range."""
    rule = parse_preference(name).rule
    return rule, definition(rule.compare), parameter_table(rule)
