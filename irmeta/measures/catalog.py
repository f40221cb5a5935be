"""Catalogue of measures and their descriptions, for `irmeta measures`."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from irmeta.errors import MeasureError
from irmeta.measures import aliases
from irmeta.measures.aliases import FIELD, fold
from irmeta.measures.names import PRESETS, parse_measures, registry
from irmeta.measures.spec import Measure
from irmeta.naming import AVERAGES, Parameter, definition, parameter_table, printed

SHARED = (
    "Most measures also take unjudged=condensed, which removes unjudged docs from the list. "
    "Measures of family utility also take unjudged=upper and unjudged=upper-gmax, which assume "
    f"that unjudged docs are relevant. Every measure takes average={'|'.join(AVERAGES)}."
)
"""Text on the parameters that measures share."""


MOST_NAMED = 3  # names per measure and preset


@dataclass(frozen=True)
class Description:
    """What the documentation of a measure says: the form of its name (``AP[@k]``), and an example.

    `asked` are canonical names of the given name, empty for the plain measure; `parameters` have
    name, meaning, default and range, shared ones last; `facts` are further ones by heading.
    """

    name: str
    written: str
    asked: tuple[str, ...]
    summary: str
    definition: str
    example: str
    parameters: pl.DataFrame
    facts: dict[str, str]


def list_measures() -> pl.DataFrame:
    """List all measures, including measures of other packages.

    Returns
    -------
    DataFrame
        measure (name, with the form of the cutoff), parameters (without shared parameters, with
        defaults), better (``greater`` or ``less``), family, source, summary.

    Examples
    --------
    >>> irmeta.list_measures().filter(better="less").height > 0
    True
    """
    rows = [
        {
            "measure": m.written,
            "parameters": ", ".join(
                p.name if p.default is None else f"{p.name}={printed(p.default)}"
                for p in m.parameters
            ),
            "better": _better(m),
            "family": m.family,
            "source": m.source,
            "summary": m.summary,
        }
        for m in registry().values()
    ]
    return pl.DataFrame(rows)


def list_preset(name: str) -> pl.DataFrame:
    """List the measures of a preset: measure, better, summary."""
    if name not in PRESETS:
        raise MeasureError(f"{name!r} is not a preset. Known: {', '.join(PRESETS)}.")
    rows = (
        {"measure": spec.name, "better": _better(spec.measure), "summary": spec.measure.summary}
        for spec in parse_measures(name)
    )
    return pl.DataFrame(list(rows))


def describe(name: str) -> Description:
    """Describe one measure, in any spelling, with or without a cutoff."""
    stem = word = name.strip()
    if word not in aliases.PLAIN and word not in aliases.CUT:
        stem = aliases.SPELLINGS.get(word) or FIELD.get(fold(word), word)
    if stem in registry():
        return _described(registry()[stem], ())
    specs = parse_measures(name)
    measure = specs[0].measure
    if any(spec.measure is not measure for spec in specs):
        raise MeasureError(f"{name!r} stands for {len(specs)} measures: name one.")
    return _described(measure, tuple(spec.name for spec in specs))


def _described(m: Measure, asked: tuple[str, ...]) -> Description:
    return Description(
        name=m.name,
        written=m.written,
        asked=asked,
        summary=m.summary,
        definition=definition(m.compute),
        example=example(m),
        parameters=parameter_table(m),
        facts={
            "better": _better(m),
            "values": f"from {m.bounds[0]:g} to {m.bounds[1]:g}",
            **_as_it_grows(m),
            "without relevant docs": _no_relevant(m),
            "without a list": m.empty_list,
            "over queries": m.average,
            "family": m.family,
            "revision": str(m.revision),
            "source": m.source,
            **_elsewhere(m),
        },
    )


def example(m: Measure) -> str:
    """Return an example name, with a cutoff if possible and up to two parameters."""
    cut = (
        "" if m.cutoff == "none" else f"@{m.cutoff_prefix}{'0.1' if m.cutoff_is == 'level' else 10}"
    )
    tries = (f"({p.name}={value})" for p in m.parameters for value in _other_values(p))
    for inside in tries:
        try:
            return parse_measures(f"{m.name}{inside}{cut}")[0].name
        except MeasureError:
            continue
    return m.name + cut


def _other_values(p: Parameter) -> Iterator[str]:
    """Yield values that are not the default and may be valid."""
    yield from (c for c in p.choices if c != p.default)
    if p.kind in ("whole", "number", "grade") and p.default is not None:
        yield from (printed(v) for v in (2, 0.5, 3) if v != p.default)


def _better(m: Measure) -> str:
    return "greater" if m.direction == 1 else "less"


def _as_it_grows(m: Measure) -> dict[str, str]:
    """Return whether the measure is monotone in its cutoff; empty without a cutoff."""
    if m.cutoff == "none":
        return {}
    trend = "never gets worse" if m.monotone else "may get worse"
    if m.monotone and _of_the_pool(m):
        trend += " (other norms and ideals may make it)"
    return {f"as {m.cutoff_letter} grows": trend}


def _of_the_pool(m: Measure) -> bool:
    """Check whether a parameter can refer to the depth-k pool."""
    return any("pool" in p.choices for p in m.parameters)


def _no_relevant(m: Measure) -> str:
    if m.no_relevant is None:
        return "as ever: relevant docs do not matter"
    if math.isnan(m.no_relevant):
        return "undefined (NaN), and left out of means"
    pooled = "; undefined (NaN) where the pool of depth k holds none" if _of_the_pool(m) else ""
    return f"{m.no_relevant:g}{pooled}"


def _stem(name: str) -> str:
    """Return the measure's name without parameters and cutoff."""
    return re.split(r"[(@]", name)[0]


def _in_trec_eval(m: Measure) -> Iterator[str]:
    """Yield trec_eval's names for a measure, with irmeta's name if it has parameters."""
    for theirs, ours in aliases.PLAIN.items():
        if _stem(ours) == m.name:
            yield theirs if ours == m.name else f"{theirs} = {ours}"
    for theirs, (ours, _) in aliases.CUT.items():
        if _stem(ours) == m.name:
            value = m.cutoff_letter if "@" in ours else "m"
            yield f"{theirs}_{value} = {ours.replace('{}', value)}"


def _in_presets(m: Measure) -> Iterator[str]:
    for preset, names in PRESETS.items():
        held = [name for name in names if _stem(name) == m.name]
        some = [*held[:MOST_NAMED], "..."] if len(held) > MOST_NAMED else held
        if held:
            yield f"{preset} ({', '.join(some)})"


def _elsewhere(m: Measure) -> dict[str, str]:
    """Return other programs' names for a measure, and the presets that include the measure."""
    spelled = [theirs for theirs, ours in aliases.IR_MEASURES.items() if ours == m.name]
    cubetest = (theirs for theirs, ours in aliases.CUBETEST.items() if ours == m.name)
    tar_eval = (
        theirs if ours == m.name else f"{theirs} = {ours}"
        for theirs, ours in aliases.TAR_EVAL.items()
        if _stem(ours) == m.name
    )
    further = (*aliases.BY_SUBTOPIC.items(), *FIELD.items())
    others = (
        theirs if ours == m.name else f"{theirs} = {ours}"
        for theirs, ours in further
        if _stem(ours) == m.name != theirs
    )
    names = {
        "in trec_eval": ", ".join(_in_trec_eval(m)),
        "in tar_eval.py": ", ".join(tar_eval),
        "in cubetest.py": ", ".join(f"{theirs}@i = {m.name}@5i" for theirs in cubetest),
        "ir_measures also writes": ", ".join(spelled),
        "also written": ", ".join(others),
        "presets with it": "; ".join(_in_presets(m)),
    }
    return {what: text for what, text in names.items() if text}
