"""Names to measures and back: the registry, trec_eval's names, presets, and parsing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import entry_points

from irmeta.errors import MeasureError, did_you_mean
from irmeta.measures import gain, incomplete, precision, search_length
from irmeta.measures.spec import Measure, Spec

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
        "ASL",
        "ASL@g10",
        "ASL@g1",
    )
}

_NAME = re.compile(r"(?P<name>\w+)(?:\((?P<params>[^()]*)\))?(?:@(?P<prefix>[a-z]*)(?P<cut>\d+))?")
_TREC_EVAL = {
    "map": "AP",
    "map_cut": "AP@{}",
    "P": "P@{}",
    "recall": "R@{}",
    "recip_rank": "RR",
    "ndcg": "nDCG",
    "ndcg_cut": "nDCG@{}",
    "bpref": "Bpref",
}


@cache
def registry() -> dict[str, Measure]:
    """Every measure by name: irmeta's own, then those of other installed packages.

    Raises
    ------
    MeasureError
        If another package's name is taken.
    """
    found: dict[str, Measure] = {}
    for family in (precision, gain, incomplete, search_length):
        found |= {m.name: m for m in family.MEASURES}
    for entry in sorted(entry_points(group=ENTRY_POINTS), key=lambda e: (e.name, e.value)):
        loaded = entry.load()
        for measure in [loaded] if isinstance(loaded, Measure) else loaded:
            if not re.fullmatch(r"\w+", measure.name):
                raise MeasureError(f"{entry.value} registers {measure.name!r}, which is no word.")
            if found.setdefault(measure.name, measure) is not measure:
                raise MeasureError(f"{entry.value} registers {measure.name!r}, which is taken.")
    return found


def parse_measures(names: str | Iterable[str]) -> list[Spec]:
    """The measures that a comma-separated text or a list of names stands for, each once, in order.

    Presets and trec_eval's names are known too.

    Raises
    ------
    MeasureError
        At the first name or parameter that is not known, with the nearest that is.
    """
    given = [names] if isinstance(names, str) else list(names)
    specs: dict[str, Spec] = {}
    for text in given:
        for name in _split(text):
            for member in PRESETS.get(name, (name,)):
                spec = parse_measure(member)
                specs.setdefault(spec.name, spec)
    if not specs:
        raise MeasureError("no measure was named")
    return list(specs.values())


def parse_measure(name: str) -> Spec:
    """One measure by its name, in irmeta's, ir_measures' or trec_eval's spelling.

    Raises
    ------
    MeasureError
        If the name, a parameter or a value is not known.
    """
    found = _NAME.fullmatch(_from_trec_eval(name.strip()))
    measure = registry().get(found["name"]) if found else None
    if found is None or measure is None:
        if name.strip() in PRESETS:
            raise MeasureError(f"{name!r} is a preset of several measures: name one.")
        known = [*registry(), *_TREC_EVAL, *PRESETS]
        hint = did_you_mean(found["name"] if found else name, known)
        raise MeasureError(f"unknown measure {name!r}. {hint}")
    settings = {p.name: p.default for p in measure.parameters}
    settings |= _settings(measure, found["params"] or "", name)
    cut = None if found["cut"] is None else int(found["cut"])
    _check_cutoff(measure, name, cut, found["prefix"] or "")
    if measure.printed is not None:
        measure.printed(settings)  # refuses parameters that do not go together
    return Spec(measure, tuple(settings.items()), cut)


def _split(text: str) -> Iterator[str]:
    """Cut at the commas that are outside parentheses."""
    for part in re.split(r",(?![^()]*\))", text):
        if part.strip():
            yield part.strip()


def _from_trec_eval(name: str) -> str:
    if name in _TREC_EVAL and "{}" not in _TREC_EVAL[name]:
        return _TREC_EVAL[name]
    stem, _, cut = name.rpartition("_")
    if cut.isdigit() and "{}" in _TREC_EVAL.get(stem, ""):
        return _TREC_EVAL[stem].format(cut)
    return name


def _settings(measure: Measure, text: str, name: str) -> dict[str, object]:
    known = {p.name: p for p in measure.parameters}
    found: dict[str, object] = {}
    for part in filter(None, (p.strip() for p in text.split(","))):
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


def _check_cutoff(measure: Measure, name: str, cut: int | None, prefix: str) -> None:
    shape = f"{measure.name}@{measure.cutoff_prefix}10"
    if cut is None:
        if measure.cutoff == "required":
            raise MeasureError(f"{name}: {measure.name} needs a cutoff, such as {shape}.")
        return
    if measure.cutoff == "none":
        raise MeasureError(f"{name}: {measure.name} takes no cutoff.")
    if prefix != measure.cutoff_prefix:
        raise MeasureError(f"{name}: write the cutoff as {shape}.")
    if cut < 1:
        raise MeasureError(f"{name}: a cutoff is at least 1.")


def canonical(names: str | Iterable[str]) -> list[str]:
    """The canonical names of what `parse_measures` would read."""
    return [spec.name for spec in parse_measures(names)]
