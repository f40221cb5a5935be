"""Registry of measures and parsing of their names, trec_eval's names, presets, and expressions.

Names may be written as expressions: ``irmeta.AP(rel=2) @ 100``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any, cast

import numpy as np

from irmeta.errors import (
    BrokenMeasureError,
    MeasureError,
    UsageError,
    did_you_mean,
    nearest,
    shown,
)
from irmeta.measures import (
    aliases,
    average_precision,
    cascade,
    compatibility,
    cumulated_gain,
    incomplete,
    precision,
    rareness,
    rbp,
    review,
    sampled,
    search_length,
    sets,
    user_models,
)
from irmeta.measures.aliases import BARE, ELSEWHERE, FIELD, fold
from irmeta.measures.diversity import cube_test, d_measures, novelty, subtopics
from irmeta.measures.diversity.subtopics import intent_aware
from irmeta.measures.spec import Cutoffs, Measure
from irmeta.naming import (
    REL,
    NamedSpec,
    Registry,
    guarded,
    joined,
    parse_settings,
    printed,
    split_form,
    split_names,
    states_parameter,
    text_of,
    texts_of,
    without_rel,
)
from irmeta.policies import EvalPolicy
from irmeta.rankings.judged import JudgedRanks, with_read_only_view
from irmeta.rankings.view import Need, check_needs
from irmeta.schema.columns import Display

FAMILIES = (
    *(average_precision, precision, sets, cumulated_gain, cascade, rbp),
    *(user_models, compatibility),
    *(incomplete, sampled, search_length, rareness, review),
    *(novelty, subtopics, d_measures, cube_test),
)
"""Modules of measures, in listing order."""

PRESETS: dict[str, tuple[str, ...]] = {
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
    "basic": ("AP", "nDCG", "nDCG@10", "RR", "P@10"),
    "trec_eval": aliases.all_trec(),
    "trec_eval10": aliases.all_trec(10),
    "all_trec": aliases.all_trec(),
    "official": aliases.OFFICIAL,
    "set": aliases.SET,
    "ndeval": aliases.ndeval(),
    "tar": aliases.TAR,
    "sample_eval": aliases.SAMPLE_EVAL,
}
"""Names that stand for several measures; trec_eval stands for its all_trec."""


def _adopt(measure: Measure) -> Measure:
    """Check a measure of another package, and guard irmeta against its functions."""
    if meant := _meaning(measure.name):
        raise MeasureError(f"it registers {measure.name!r}, another name of {meant}")
    named = partial(guarded, f"measure {measure.name}")
    measure = replace(
        measure,
        compute=named(with_read_only_view(measure.compute)),
        events=measure.events and named(with_read_only_view(measure.events)),
        trace=named(measure.trace),
        needs=named(measure.needs),
        simplify=measure.simplify and named(measure.simplify),
        check=measure.check and named(measure.check),
        printed=measure.printed and named(measure.printed),
    )
    settings: dict[str, Any] = {p.name: p.default for p in measure.all_parameters}
    if measure.simplify is not None:
        settings = measure.simplify(settings, 1 if measure.cutoff == "required" else None)
    check_needs(measure.needs(settings))
    low, high = measure.bounds
    if not low < high:
        raise MeasureError(f"bounds {low:g} and {high:g} of {measure.name} do not ascend")
    value: Any = measure.no_relevant
    if value is not None and not isinstance(value, float | int):
        raise MeasureError(f"{measure.name}.no_relevant is no number: {shown(value)}")
    return measure


def _meaning(name: str) -> str | None:
    """Return what a name means in irmeta's or another program's spelling; None if it is free."""
    if name.lower() in PRESETS:
        return "several measures"
    words = {**aliases.SPELLINGS, **aliases.PLAIN, **FIELD, **BARE}
    return next((ours for theirs, ours in words.items() if fold(theirs) == fold(name)), None)


registry: Registry[Measure] = Registry(
    Measure,
    "measure",
    (measure for family in FAMILIES for measure in family.MEASURES),
    derive=intent_aware,
    adopt=_adopt,
)
"""All measures by name, when called; last are the intent-aware forms, such as AP_IA."""


@dataclass(frozen=True, kw_only=True)
class Spec(NamedSpec):
    """A measure with the values of its parameters and its cutoff: the meaning of a name.

    `asked` is the name as the user wrote it, `asked_too` other names of the measure that the user
    wrote, `stated` those of both that state `rel`, `preset` whether only a preset names it; specs
    that differ only in these are equal.
    """

    measure: Measure
    asked: str = field(default="", compare=False)
    asked_too: tuple[str, ...] = field(default=(), compare=False)
    stated: tuple[str, ...] = field(default=(), compare=False)
    preset: bool = field(default=False, compare=False)

    def compute(self, view: JudgedRanks, ks: Cutoffs) -> np.ndarray:
        """Return the values at each cutoff, float64 [cutoff, query, system].

        Raises
        ------
        BrokenMeasureError
            If a measure of another package fails, or returns another shape or type.
        """
        compute = self.measure.compute
        if compute.__module__.partition(".")[0] != "irmeta":  # registered or not
            compute = guarded(f"measure {self.name}", compute)
        values = compute(view, self.settings, ks)
        expected = (len(ks), *view.lengths.shape)
        shape, dtype = np.shape(values), getattr(values, "dtype", type(values).__name__)
        if shape != expected or dtype != np.float64:
            raise BrokenMeasureError(
                f"measure {self.name} returned {dtype} of shape {shape}, not float64 of shape "
                f"{expected}, that is [cutoff, query, system]: this is a bug of its package."
            )
        return values

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle names: another process has the measure's functions, which need no pickling."""
        return _unpickled, (self.name, self.asked, self.asked_too, self.stated, self.preset)

    @property
    def registration(self) -> Measure:
        """The measure."""
        return self.measure

    @property
    def needs(self) -> Collection[Need]:
        """Arrays that the measure reads beyond ranks and grades."""
        return self.measure.needs(self.settings)

    @property
    def names(self) -> tuple[str, ...]:
        """Names as the user wrote them, in order; the canonical name if nobody wrote one."""
        return (self.asked or self.name, *self.asked_too)

    @property
    def name_without_rel(self) -> str:
        """Name under which each qrels set has its own `rel`; the user's, if it states `rel`."""
        return self.names[0] if self.stated else without_rel(self.name)

    @property
    def unjudged(self) -> str:
        """Treatment of the unjudged docs of a list."""
        return self.settings.get("unjudged", "nonrelevant")

    @property
    def average(self) -> str:
        """Kind of mean over queries."""
        return self.settings["average"]


def parse_measures(names: str | Iterable[str]) -> list[Spec]:
    """Parse a comma-separated text or a list of names into distinct measures, in order.

    A measure that has several of the names knows them all: ``map,AP`` is one measure.

    Names may be presets or trec_eval's names.

    Raises
    ------
    MeasureError
        At the first unknown name or parameter, with the nearest known name.
    """
    specs = list[Spec]()
    for text in measure_texts(names):
        for name in split_names(text):
            if preset := PRESETS.get(name) or PRESETS.get(name.lower()):
                # A preset writes canonical names, which state rel=1 without meaning it.
                specs += (replace(named_spec(m, m), stated=(), preset=True) for m in preset)
            else:
                specs += (named_spec(ours, asked) for asked, ours in translated(name))
    if not specs:
        raise MeasureError("no measure was given")
    return merged(specs)


def merged(specs: Iterable[Spec]) -> list[Spec]:
    """Return distinct measures, in order, each with all its names as written."""
    by_name: dict[str, Spec] = {}
    for spec in specs:
        first = by_name.setdefault(spec.name, spec)
        if first.preset and not spec.preset:
            first = by_name[spec.name] = replace(first, preset=False)
        more = tuple(name for name in spec.names if name not in first.names)
        if more:
            stated = (*first.stated, *spec.stated)
            by_name[spec.name] = replace(first, asked_too=(*first.asked_too, *more), stated=stated)
    return list(by_name.values())


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
    """
    texts = measure_texts(names)
    specs, policy = parse_measures(texts), EvalPolicy(**choices)
    if policy.costs is not None and not any("costs" in spec.needs for spec in specs):
        raise UsageError(
            "none of these measures reads costs: BPM does, and with quantity=EC or "
            "quantity=ETC INST, INSQ, SDCG, NERR8 to NERR11 and CWL."
        )
    presets = {name.lower() == "trec_eval10" for text in texts for name in split_names(text)}
    if True not in presets or policy.tie_order is not None:
        return specs, policy
    if False in presets:
        raise UsageError(
            "'trec_eval10' has trec_eval 10's tie order, and is combined with other measures: "
            "choose one tie order for all by `tie_order=`, or evaluate them separately."
        )
    return specs, replace(policy, tie_order="trec_eval10")


def parse_measure(name: str) -> Spec:
    """Parse the name of one measure, in irmeta's or another program's spelling."""
    name = text_of(name).strip()
    if name.lower() in PRESETS:
        raise MeasureError(f"{name!r} is a preset of several measures: name one.")
    (asked, ours), *others = translated(name)
    if others:
        raise MeasureError(f"{name!r} stands for {len(others) + 1} measures: name one, as {ours}.")
    return named_spec(ours, asked)


def measure_texts(names: object) -> list[str]:
    """Return the names of measures as a list of texts; objects of ir_measures by their names."""
    texts = [text_of(name) for name in texts_of(text_of(names), "measures")]
    for text in texts:
        if not isinstance(text, str):
            raise MeasureError(f"name a measure as a text such as 'nDCG@10', not {shown(text)}.")
    return texts


def translated(name: str) -> list[tuple[str, str]]:
    """Translate the name of one measure in any spelling to irmeta's; an unknown one is unchanged.

    Exact spellings of trec_eval, ndeval and irmeta come first, then any without regard to case, see
    irmeta.measures.aliases. Returns pairs of the name as the other program prints it and irmeta's.
    Raises MeasureError if the word has another meaning elsewhere.
    """
    name = name.strip()
    if theirs := aliases.translated(name):
        return list(theirs.items())
    form = split_form(name)
    if form is None:
        return [(name, name)]
    word, inside, cut = form
    if word not in registry():
        key = fold(word)
        known = BARE.get(key) if not (inside or cut) else None
        known = known or _folded(bool(inside)).get(key)
        if known is None or (key in ELSEWHERE and not (inside or cut) and key not in BARE):
            return [(name, name)]
        if known == _SEVERAL:
            spelled = (*registry(), *aliases.PLAIN, *aliases.CUBETEST)
            known = " and ".join(dict.fromkeys(word for word in spelled if fold(word) == key))
            raise MeasureError(f"{name!r} differs in case from {known}: write one of them.")
        word = known
    return [(name, joined(word, inside, cut))]


_SEVERAL = ""


@cache
def _folded(has_parameters: bool) -> dict[str, str]:
    """Return irmeta's words by every folded spelling; `_SEVERAL` where case makes a difference.

    Names of trec_eval and cubetest.py have no parameters in parentheses.
    """
    folded: dict[str, str] = {}
    words = {name: name for name in registry()}
    plain = {} if has_parameters else aliases.PLAIN
    for spelled in (words, aliases.SPELLINGS, plain, FIELD):
        for theirs, ours in spelled.items():
            key = fold(theirs)
            folded[key] = ours if folded.get(key, ours) == ours else _SEVERAL
    return folded if has_parameters else folded | dict.fromkeys(aliases.CUBETEST, _SEVERAL)


def named_spec(name: str, asked: str, asked_too: tuple[str, ...] = ()) -> Spec:
    """Return the measure of a name in irmeta's spelling, which the user wrote as `asked`.

    `asked_too` are other names of it that the user wrote.
    """
    form = split_form(name)
    word = form[0] if form else re.sub(r"\W.*", "", name)
    measure = registry().get(word)
    if measure is None:
        if (reason := ELSEWHERE.get(fold(word))) is not None:
            raise MeasureError(f"{asked!r} is not a measure here: {reason}.")
        raise registry.unknown(asked, _suggestion(name, word))
    settings, cut = parse_settings(measure, name)
    if measure.simplify is not None:
        settings = measure.simplify(settings, cut)
    return Spec(
        measure=measure,
        params=tuple(settings.items()),
        cutoff=cut,
        asked=asked,
        asked_too=asked_too,
        stated=(asked, *asked_too) if states_parameter(name, REL) else (),
    )


def _unpickled(
    name: str, asked: str, asked_too: tuple[str, ...], stated: tuple[str, ...], preset: bool
) -> Spec:
    return replace(named_spec(name, asked, asked_too), stated=stated, preset=preset)


def _suggestion(name: str, word: str) -> str:
    """Return a sentence with the nearest known name, with the parameters and cutoff of `name`."""
    if cut := re.fullmatch(r"([A-Za-z_]+?)_?(\d+)", name):
        with suppress(MeasureError):
            return f"Did you mean {parse_measure('@'.join(cut.groups())).asked!r}?"
    known = [*registry(), *aliases.NAMES, *PRESETS, *FIELD]
    near, ending = nearest(word or name, known), name[len(word) :]
    if near in (None, word) or near in PRESETS or not ending:
        return did_you_mean(word or name, known)
    try:
        parse_measures(near + ending)
    except MeasureError:
        return did_you_mean(word or name, known)
    return f"Did you mean {near + ending!r}?"


def canonical(names: str | Iterable[str]) -> list[str]:
    """Return the canonical names of the measures that `parse_measures` returns."""
    return [spec.name for spec in parse_measures(names)]


def canonical_name(name: str) -> str:
    """Return the canonical name of one measure."""
    return parse_measure(name).name


class MeasureName(str):
    """Name of a measure, to which parameters and a cutoff can be added.

    Examples
    --------
    >>> irmeta.nDCG @ 10, irmeta.AP(rel=2) @ 100
    (nDCG@10, AP(rel=2)@100)
    """

    __slots__ = ()

    def __call__(self, **parameters: object) -> MeasureName:
        """Return the name with further parameters."""
        word, inside, cut = self._form()
        known = {parameter.name for parameter in registry()[word].all_parameters}
        for name in parameters:
            if name not in known:
                hint = did_you_mean(name, known)
                raise MeasureError(f"{self}: {word} has no parameter {name!r}. {hint}")
        further = (f"{name}={_text(value)}" for name, value in parameters.items())
        return MeasureName(joined(word, ",".join([*filter(None, [inside]), *further]), cut))

    def __matmul__(self, cutoff: float) -> MeasureName:
        """Return the name with a cutoff."""
        word, inside, cut = self._form()
        if cut:
            raise MeasureError(f"{self} has a cutoff.")
        prefix = registry()[word].cutoff_prefix
        return MeasureName(joined(word, inside, f"@{prefix}{printed(cutoff)}"))

    def __repr__(self) -> str:
        """Return the name without quotation marks."""
        return str(self)

    def _form(self) -> tuple[str, str, str]:
        form = split_form(self)
        assert form is not None
        return form


def measure_named(word: str) -> MeasureName | None:
    """Return the name of a registered measure, None for any other word."""
    measure: Measure | None = registry().get(word)
    return None if measure is None else MeasureName(measure.name)


def _text(value: object) -> str:
    if isinstance(value, Mapping):
        gains = cast(Mapping[Any, Any], value)
        return ";".join(f"{grade}:{printed(gain)}" for grade, gain in gains.items())
    return printed(value)
