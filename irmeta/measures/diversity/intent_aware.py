"""Intent-aware measures: the weighted mean of a measure over the subtopics of each query."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from irmeta.measures.cutoffs import empty_values
from irmeta.measures.diversity.subtopics import (
    SUBTOPICS,
    UNJUDGED,
    WEIGHTS,
    shares_of,
    subtopic_shares,
)
from irmeta.measures.spec import Cutoff, Cutoffs, Measure, OneList, Params, Term, Trace
from irmeta.naming.parameters import Parameter
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.view import Need

SUFFIX = "_IA"
NOT_DERIVED = ("ERR", "nERR")
"""Measures whose intent-aware form is ndeval's, with a definition of its own."""


def intent_aware(measures: Iterable[Measure]) -> Iterator[Measure]:
    """Yield the intent-aware form of each measure that has one.

    Counts have none, nor measures that do not depend on relevant docs.
    """
    for measure in measures:
        is_of_docs = measure.family != "count" and measure.no_relevant is not None
        defaults = {p.name: p.default for p in measure.all_parameters}
        is_ad_hoc = "subtopics" not in measure.needs(defaults)
        # The rarity of a doc has no definition by subtopic; such measures name what they count.
        is_of_rarity = "counted" in defaults
        # A user of C/W/L reads one list with one aim, and its costs are not those of a subtopic.
        is_of_users = "quantity" in defaults
        # Samples of a pool have no subtopics.
        is_excluded = is_of_rarity or is_of_users or "sample" in measure.needs(defaults)
        if is_of_docs and is_ad_hoc and not is_excluded and measure.name not in NOT_DERIVED:
            yield _intent_aware(measure)


@cache
def _intent_aware(measure: Measure) -> Measure:
    of = _IntentAware(measure)
    choices = {c for p in measure.all_parameters if p.name == "unjudged" for c in p.choices}
    return replace(
        measure,
        name=measure.name + SUFFIX,
        summary=f"intent-aware {measure.name}: its weighted mean over the subtopics of the query",
        compute=of.compute,
        trace=of.trace,
        source=f"Agrawal et al. 2009, doi:10.1145/1498759.1498766; {measure.source}",
        parameters=(*measure.parameters, *of.parameters),
        unjudged=tuple({*UNJUDGED} & choices),
        counts_irrelevant=False,
        gained_only=False,
        needs=of.needs,
        events=None,  # a step of k would need the divisors of all subtopics
        printed=of.printed,
    )


@dataclass(frozen=True)
class _IntentAware:
    """The intent-aware form of a measure."""

    measure: Measure

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Parameters beside those of the measure.

        A measure that is undefined without relevant docs is so for a subtopic without any.
        """
        is_defined = not math.isnan(self.measure.no_relevant or 0.0)
        return (SUBTOPICS, WEIGHTS) if is_defined else (WEIGHTS,)

    def compute(self, view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
        """Sum, over the subtopics, the share of the subtopic times the measure for it alone.

        For the measure alone the docs have their grades for that subtopic; docs not judged for it
        are unjudged. Everything else, such as the scale of grades, is the track's.
        """
        each, shares = view.each_subtopic(), subtopic_shares(view, params)
        values = self.measure.compute(replace(each, subtopics=None), params, ks)
        sums = empty_values(view, ks)
        first = view.require("subtopics").offsets.tolist()
        for query, names in enumerate(map(np.arange, first, first[1:])):
            names = names[shares[names] > 0]  # others may be undefined
            weighted = values[:, names] * shares[names, None]
            sums[:, query] = weighted.sum(axis=1) if len(names) else self.measure.no_relevant
        return sums

    def trace(self, one: OneList, params: Params, k: Cutoff) -> Trace:
        """Trace the measure by subtopic, each term times the share of its subtopic."""
        shares = shares_of(one, params)
        if not any(shares.values()):
            return Trace((), 0.0, "subtopics", self.measure.no_relevant)
        terms = []
        for name, alone in zip(one.subtopics, one.alone(), strict=True):
            share = shares.get(name, 0.0)
            if share > 0:
                terms += _scaled(self.measure.trace(alone, params, k), share, name)
        return Trace(tuple(terms), 1.0, "(nothing)")

    def needs(self, params: Params) -> Collection[Need]:
        """Return the needs of the measure, and subtopics."""
        return (*self.measure.needs(params), "subtopics")

    def printed(self, params: Params, cutoff: Cutoff) -> Sequence[str]:
        """Return the parameters that a canonical name prints."""
        of = self.measure
        changed = [p.name for p in of.parameters if params[p.name] != p.default]
        shown = changed if of.printed is None else of.printed(params, cutoff)
        return [*shown, *(p.name for p in self.parameters if params[p.name] != p.default)]


def _scaled(trace: Trace, share: float, name: str) -> Iterator[Term]:
    """Yield the terms of one subtopic's trace, times its share, over its divisor."""
    if trace.undefined is not None:
        if trace.undefined:
            text = f"subtopic {name}: {share:g} x {trace.undefined:g}"
            yield Term(None, "(all docs)", 0, text, share * trace.undefined)
        return
    for term in trace.terms:
        by = "" if trace.divisor == 1 else f" / {trace.divisor:g}"
        text = f"subtopic {name}: {share:g} x ({term.arithmetic}){by}"
        yield replace(term, arithmetic=text, amount=share * term.amount / trace.divisor)
