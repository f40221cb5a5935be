"""Names to measures and back: the registry, trec_eval's names, presets, and parsing."""

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

FAMILIES = (
    *(average_precision, precision, interpolated, sets, gain, trec_gain, q_measure, cascade, rbp),
    *(bpref, inferred, incomplete, search_length, cooper),
)
"""The files of measures, in the order that they are listed in."""

ENTRY_POINTS = "irmeta.measures"
"""Entry points of this group name a `Measure`, or a sequence of them."""

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
"""Names that stand for several measures; trec_eval is all of its all_trec."""

DEEPEST = 2**31 - 1  # what tables hold of a rank
_NAME = re.compile(
    r"\w+\s*(?:\((?P<params>[^()]*)\))?\s*"
    r"(?:@\s*(?P<prefix>[a-z]*)(?P<cut>-?[\d.]+))?",
    re.ASCII,
)


@cache
def registry() -> dict[str, Measure]:
    """Every measure by name: irmeta's own, then those of other installed packages.

    Warns
    -----
    EntryPointWarning
        For each entry point of another package that cannot be loaded, or that registers something
        else than measures with names of their own. All other measures are known.
    """
    found: dict[str, Measure] = {}
    for family in FAMILIES:
        found |= {m.name: m for m in family.MEASURES}
    _not_loaded.clear()
    for entry in sorted(entry_points(group=ENTRY_POINTS), key=lambda e: (e.name, e.value)):
        try:
            found |= _load(entry, found)
        except (Exception, SystemExit) as error:  # whatever the other package raises
            reason = short(" ".join(f"{type(error).__name__}: {error}".split()))
            said = f"the entry point {entry.name!r} ({entry.value}) could not be loaded: {reason}"
            _not_loaded.append(said)
            warn(f"{said}. Mend or remove its package.", EntryPointWarning)
    return found


_not_loaded: list[str] = []  # what `registry` warned of


def _load(entry: EntryPoint, known: Mapping[str, Measure]) -> dict[str, Measure]:
    """The measures of an entry point, all or none."""
    loaded = entry.load()
    found: dict[str, Measure] = {}
    for measure in [loaded] if isinstance(loaded, Measure) else loaded:
        if not isinstance(measure, Measure):
            raise MeasureError(f"it registers {shown(measure)}, which is no Measure")
        if not re.fullmatch(r"\w+", measure.name):
            raise MeasureError(f"it registers {measure.name!r}, which is no word")
        if {**known, **found}.get(measure.name, measure) is not measure:
            raise MeasureError(f"it registers {measure.name!r}, which is taken")
        found[measure.name] = measure
    return found


def parse_measures(names: str | Iterable[str]) -> list[Spec]:
    """The measures that a comma-separated text or a list of names stands for, each once, in order.

    Presets and trec_eval's names are known too.

    Raises
    ------
    MeasureError
        At the first name or parameter that is not known, with the nearest that is.
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
        raise MeasureError("no measure was named")
    return list(specs.values())


def parse_call(
    names: str | Iterable[str], choices: Mapping[str, Any]
) -> tuple[list[Spec], EvalPolicy]:
    """Return the measures of a call, as `parse_measures`, and its policy.

    The preset trec_eval10 stands for what trec_eval 10 prints, so it asks for that version's tie
    order too where `choices` name none.

    Raises
    ------
    MeasureError
        As `parse_measures`.
    UsageError
        If other measures stand beside that preset and no tie order is named; or a choice is not
        known.
    """
    given = names if isinstance(names, str) or not isinstance(names, Iterable) else list(names)
    specs, policy = parse_measures(given), EvalPolicy(**choices)
    texts = [given] if isinstance(given, str) else given
    presets = {name == "trec_eval10" for text in texts for name in split_names(text)}
    if True not in presets or policy.tie_order is not None:
        return specs, policy
    if False in presets:
        raise UsageError(
            "'trec_eval10' orders ties as trec_eval 10 does, and other measures are named with it: "
            "choose the tie order of all of them (--tie-order, tie_order=), or ask for them apart."
        )
    return specs, replace(policy, tie_order="trec_eval10")


def parse_measure(name: str) -> Spec:
    """One measure by its name, in irmeta's, ir_measures' or trec_eval's spelling.

    Raises
    ------
    MeasureError
        If the name, a parameter or a value is not known, or if it stands for several measures.
    """
    name = name.strip()
    if name in PRESETS:
        raise MeasureError(f"{name!r} is a preset of several measures: name one.")
    found = _ours(name)
    if len(found) > 1:
        raise MeasureError(f"{name!r} stands for {len(found)} measures: name one, as {found[0]}.")
    return _parse(found[0])


def _parse(name: str) -> Spec:
    word = re.sub(r"\W.*", "", name)
    measure = registry().get(aliases.IR_MEASURES.get(word, word))
    if measure is None:
        hint = did_you_mean(word or name, [*registry(), *aliases.NAMES, *PRESETS])
        lost = "".join(f" Its package may be missing: {said}." for said in _not_loaded)
        raise MeasureError(f"unknown measure {name!r}. {hint} `irmeta measures` lists them.{lost}")
    found = _NAME.fullmatch(name)
    if found is None:
        raise MeasureError(
            f"{name!r} cannot be read: write {word}(parameter=value,...)@cutoff, without what is "
            "not needed."
        )
    settings = {p.name: p.default for p in measure.all_parameters}
    settings |= _settings(measure, found["params"] or "", name)
    cut = _cutoff(measure, name, found["cut"], found["prefix"] or "")
    if measure.printed is not None:
        measure.printed(settings, cut)  # refuses parameters that do not go together
    return Spec(measure, tuple(settings.items()), cut)


def split_names(text: str) -> Iterator[str]:
    """Names out of a comma-separated text: cut at the commas that are outside parentheses.

    A number goes on with what stands before it, as in trec_eval's ``P.5,10`` and ``ndcg.1=3,2=9``.
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
    """Our own names of what a name stands for; a name that is none of trec_eval's as it is."""
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
    """The canonical names of what `parse_measures` would read."""
    return [spec.name for spec in parse_measures(names)]


def canonical_name(name: str) -> str:
    """Return the canonical name of one measure."""
    return parse_measure(name).name


def canonical_names(names: str | Iterable[str]) -> tuple[str, ...]:
    """Return the canonical names of measures and presets, as a tuple."""
    return tuple(canonical(names))
