"""Registry of measures and parsing of their names, trec_eval's names and presets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from irmeta.errors import (
    EntryPointWarning,
    MeasureError,
    UsageError,
    did_you_mean,
    short,
    shown,
    warn,
)
from irmeta.measures import (
    aliases,
    average_precision,
    bpref,
    cascade,
    cooper,
    gain,
    incomplete,
    inferred,
    interpolated,
    precision,
    q_measure,
    rbp,
    search_length,
    sets,
    trec_gain,
)
from irmeta.measures.spec import Cutoff, Measure, Spec
from irmeta.policies import EvalPolicy
from irmeta.schema.columns import Display

FAMILIES = (
    *(average_precision, precision, interpolated, sets, gain, trec_gain, q_measure, cascade, rbp),
    *(bpref, inferred, incomplete, search_length, cooper),
)
"""Modules of measures, in listing order."""

ENTRY_POINTS = "irmeta.measures"
"""Group of entry points, each of which names a `Measure` or a sequence of measures."""

PRESETS = {
    "default": (
        "AP",
        "P@20",
        "RR",
        "nDCG@10",
        "nDCG",
        "R@1000",
        "Bpref",
        "RBP(p=0.8,rel=1)",
        "ASL(unretrieved=depth)",
        "ASL",
        "ASL(unretrieved=depth)@g10",
        "ASL@g10",
        "ASL(unretrieved=depth)@g1",
        "ASL@g1",
    ),
    "trec_eval": aliases.all_trec(),
    "trec_eval10": aliases.all_trec(10),
    "all_trec": aliases.all_trec(),
    "official": aliases.OFFICIAL,
    "set": aliases.SET,
}
"""Names that stand for several measures; trec_eval stands for its all_trec."""

DEEPEST = 2**31 - 1  # the greatest rank that tables can store
_NAME = re.compile(
    r"\w+\s*(?:\((?P<params>[^()]*)\))?\s*"
    r"(?:@\s*(?P<prefix>[a-z]*)(?P<cut>-?[\d.]+))?",
    re.ASCII,
)


@cache
def registry() -> dict[str, Measure]:
    """Return all measures by name: irmeta's, then measures of other installed packages.

    Warns
    -----
    EntryPointWarning
        For each entry point of another package that cannot be loaded, or that does not register
        measures with unused names. All other measures are registered.
    """
    measures: dict[str, Measure] = {}
    for family in FAMILIES:
        measures |= {m.name: m for m in family.MEASURES}
    _not_loaded.clear()
    for entry in sorted(entry_points(group=ENTRY_POINTS), key=lambda e: (e.name, e.value)):
        try:
            measures |= _load(entry, measures)
        except (Exception, SystemExit) as error:  # another package may raise anything
            reason = short(" ".join(f"{type(error).__name__}: {error}".split()))
            problem = f"entry point {entry.name!r} ({entry.value}) could not be loaded: {reason}"
            _not_loaded.append(problem)
            warn(f"the {problem}. Fix or remove its package.", EntryPointWarning)
    return measures


_not_loaded: list[str] = []  # the problems that `registry` warned of


def _load(entry: EntryPoint, known: Mapping[str, Measure]) -> dict[str, Measure]:
    """Load the measures of an entry point, all or none."""
    loaded = entry.load()
    measures: dict[str, Measure] = {}
    for measure in [loaded] if isinstance(loaded, Measure) else loaded:
        if not isinstance(measure, Measure):
            raise MeasureError(f"it registers {shown(measure)}, which is no Measure")
        if not re.fullmatch(r"\w+", measure.name):
            raise MeasureError(f"it registers {measure.name!r}, which is no word")
        if {**known, **measures}.get(measure.name, measure) is not measure:
            raise MeasureError(f"it registers {measure.name!r}, which is taken")
        measures[measure.name] = measure
    return measures


def parse_measures(names: str | Iterable[str]) -> list[Spec]:
    """Parse a comma-separated text or a list of names into distinct measures, in order.

    Names may be presets or trec_eval's names.

    Raises
    ------
    MeasureError
        At the first unknown name or parameter, with the nearest known name.
    """
    if not isinstance(names, Iterable):
        raise MeasureError(f"name measures as a text or a list of texts, not {names!r}.")
    given = [names] if isinstance(names, str) else list(names)
    specs: dict[str, Spec] = {}
    for text in given:
        for name in split_names(text):
            for member in PRESETS.get(name) or _ours(name):
                spec = _parse(member)
                specs.setdefault(spec.name, spec)
    if not specs:
        raise MeasureError("no measure was given")
    return list(specs.values())


def display_of(name: str) -> Display:
    """Return how the values of a measure are shown; a score for an unknown measure."""
    try:
        return parse_measure(name).measure.display
    except MeasureError:
        return Display()


def parse_call(
    names: str | Iterable[str], choices: Mapping[str, Any]
) -> tuple[list[Spec], EvalPolicy]:
    """Return the measures of a call, parsed by `parse_measures`, and its policy.

    The preset trec_eval10 stands for the output of trec_eval 10, so that version's tie order is the
    default.

    Raises
    ------
    MeasureError
        As `parse_measures`.
    UsageError
        If that preset is combined with other measures without a tie order, or a choice is unknown.
    """
    given = names if isinstance(names, str) or not isinstance(names, Iterable) else list(names)
    specs, policy = parse_measures(given), EvalPolicy(**choices)
    texts = [given] if isinstance(given, str) else given
    presets = {name == "trec_eval10" for text in texts for name in split_names(text)}
    if True not in presets or policy.tie_order is not None:
        return specs, policy
    if False in presets:
        raise UsageError(
            "'trec_eval10' has trec_eval 10's tie order, and is combined with other measures: "
            "choose one tie order for all (--tie-order, tie_order=), or evaluate them separately."
        )
    return specs, replace(policy, tie_order="trec_eval10")


def parse_measure(name: str) -> Spec:
    """Parse the name of one measure, in irmeta's, ir_measures' or trec_eval's spelling.

    Raises
    ------
    MeasureError
        If the name, a parameter or a value is unknown, or if the name stands for several measures.
    """
    name = name.strip()
    if name in PRESETS:
        raise MeasureError(f"{name!r} is a preset of several measures: name one.")
    ours = _ours(name)
    if len(ours) > 1:
        raise MeasureError(f"{name!r} stands for {len(ours)} measures: name one, as {ours[0]}.")
    return _parse(ours[0])


def _parse(name: str) -> Spec:
    word = re.sub(r"\W.*", "", name)
    measure = registry().get(aliases.IR_MEASURES.get(word, word))
    if measure is None:
        hint = did_you_mean(word or name, [*registry(), *aliases.NAMES, *PRESETS])
        lost = "".join(f" Its package may be missing: the {reason}." for reason in _not_loaded)
        raise MeasureError(f"unknown measure {name!r}. {hint} `irmeta measures` lists them.{lost}")
    match = _NAME.fullmatch(name)
    if match is None:
        raise MeasureError(
            f"{name!r} cannot be read: write {word}(parameter=value,...)@cutoff; parameters and "
            "cutoff are optional."
        )
    settings = {p.name: p.default for p in measure.all_parameters}
    settings |= _settings(measure, match["params"] or "", name)
    cut = _cutoff(measure, name, match["cut"], match["prefix"] or "")
    if measure.printed is not None:
        measure.printed(settings, cut)  # raises for parameters that cannot be combined
    return Spec(measure, tuple(settings.items()), cut)


def split_names(text: str) -> Iterator[str]:
    """Split a text into names at the commas outside parentheses.

    A number continues the name before it, as in trec_eval's ``P.5,10`` and ``ndcg.1=3,2=9``.
    """
    whole = ""
    for part in re.split(r",(?![^()]*\))", text):
        if whole and re.fullmatch(r"\s*[-.\d][-.\d=]*\s*", part) and re.search(r"[._]", whole):
            whole += "," + part.strip()
            continue
        if whole:
            yield whole
        whole = part.strip()
    if whole:
        yield whole


def _ours(name: str) -> list[str]:
    """Translate one of trec_eval's names to our names; return any other name unchanged."""
    return aliases.from_trec_eval(name) or [name]


def _settings(measure: Measure, text: str, name: str) -> dict[str, object]:
    known = {p.name: p for p in measure.all_parameters}
    found: dict[str, object] = {}
    for part in (p.strip() for p in text.split(",") if text.strip()):
        key, equals, value = (p.strip() for p in part.partition("="))
        if not equals:
            raise MeasureError(f"{name}: write parameters as name=value, not {part!r}.")
        if key not in known:
            hint = did_you_mean(key, known)
            raise MeasureError(f"{name}: {measure.name} has no parameter {key!r}. {hint}")
        if key in found:
            raise MeasureError(f"{name}: {key} is given twice.")
        found[key] = known[key].read(value, name)
    return found


def _cutoff(measure: Measure, name: str, text: str | None, prefix: str) -> Cutoff:
    example = 0.1 if measure.cutoff_is == "level" else 10
    shape = f"{measure.name}@{measure.cutoff_prefix}{example}"
    if text is None:
        if measure.cutoff == "required":
            raise MeasureError(f"{name}: {measure.name} needs a cutoff, such as {shape}.")
        return None
    if measure.cutoff == "none":
        raise MeasureError(f"{name}: {measure.name} takes no cutoff.")
    if prefix != measure.cutoff_prefix:
        raise MeasureError(f"{name}: write the cutoff as {shape}.")
    try:
        cut = float(text) if measure.cutoff_is == "level" else int(text)
    except ValueError:
        raise MeasureError(f"{name}: write the cutoff as {shape}.") from None
    if measure.cutoff_is == "level" and not 0 <= cut <= 1:
        raise MeasureError(f"{name}: a recall level is between 0 and 1.")
    if measure.cutoff_is == "rank" and not 1 <= cut <= DEEPEST:
        raise MeasureError(f"{name}: a cutoff is at least 1 and at most {DEEPEST}.")
    return cut + 0


def canonical(names: str | Iterable[str]) -> list[str]:
    """Return the canonical names of the measures that `parse_measures` returns."""
    return [spec.name for spec in parse_measures(names)]


def canonical_name(name: str) -> str:
    """Return the canonical name of one measure."""
    return parse_measure(name).name


def canonical_names(names: str | Iterable[str]) -> tuple[str, ...]:
    """Return the canonical names of measures and presets, as a tuple."""
    return tuple(canonical(names))
