"""Other policies, measures and means by which a published value may have been computed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, get_args

import numpy as np

from irmeta.errors import MeasureError
from irmeta.measures.gains import GAINS, OF_QUERY
from irmeta.measures.names import Spec, parse_measure
from irmeta.measures.search_length import UNRETRIEVED
from irmeta.policies import Averaged, EvalPolicy, TieOrder
from irmeta.results.averages import mean_over_queries

CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
"""Cutoffs of trec_eval that a column may hold under another name."""
DEPTHS = (1000, 100)
"""Depths to which evaluators cut lists."""
ROUNDING = 1e-9
"""Tolerance beyond half a unit of the last printed digit, for sums in another order."""
_BY_PARAMETER = (
    ("gain", (*GAINS, OF_QUERY)),
    ("stop", ("exp", "linear", "ntcir")),
    ("unretrieved", UNRETRIEVED),
    ("form", ("2011", "2012")),  # of infNDCG
    ("norm", ("all", "min")),
)
"""Values of parameters that other definitions of a measure use."""
_LIKELY: tuple[TieOrder, ...] = ("trec_eval10", "file", "score-file", "rank", "trec_eval")
_MEANS: tuple[Averaged, ...] = ("retrieved", "relevant", "judged")
assert set(_LIKELY) == set(get_args(TieOrder))
assert set(_MEANS) == set(get_args(Averaged))


@dataclass(frozen=True)
class Reading:
    """A way of computing a measure that may explain a published value.

    Attributes
    ----------
    reason : str
        The way in words.
    choices : dict
        Fields of `EvalPolicy` that differ.
    other : callable
        Function from a measure to the one that is computed; None: this reading does not concern it.
    of_column : bool
        Whether it concerns all values of a column, so that it must explain at least half of those
        that differ. Other readings, such as tie orders, change single values.
    needs_another : bool
        Whether one value of a column is explained only if the reading reproduces another value of
        the column too: of several tie orders, one reproduces a value by chance.
    family : str
        Adjacent readings of one family are alternatives: the one that reproduces most values comes
        first.
    """

    reason: str
    choices: dict[str, Any] = field(default_factory=dict)
    other: Callable[[Spec], Spec | None] = lambda spec: spec
    of_column: bool = True
    needs_another: bool = False
    family: str = ""

    def names(self, measures: Iterable[str]) -> dict[str, str]:
        """Map the measures that this reading concerns to those that are computed."""
        found = dict[str, str]()
        for name in measures:
            try:
                spec = self.other(parse_measure(name))
            except MeasureError:  # the measure does not take the parameter or the cutoff
                continue
            if spec is not None:
                found[name] = spec.name
        return found


def other_readings(
    policy: EvalPolicy, tie_order: str, sets: list[str], highest_grade: float
) -> Iterator[Reading]:
    """Yield readings of a track's values, the likelier first.

    Parameters
    ----------
    policy
        Policy of the values that differ.
    tie_order
        Tie order of the lists.
    sets
        Names of the other qrels sets of the track.
    highest_grade
        Highest grade of the track.
    """
    for order in _LIKELY:
        if order != tie_order:
            choices = {"tie_order": order}
            yield Reading(f"tie order {order}", choices, of_column=False, needs_another=True)
    for queries in _MEANS:
        if queries != policy.queries:
            reason = f"mean over {queries} queries"
            yield Reading(reason, {"queries": queries}, of_column=False)
    for name in sets:
        yield Reading(f"qrels set {name}", {"qrels": name})
    for rel in range(1, int(highest_grade) + 1):
        yield Reading(f"relevant from grade {rel}", other=_setter("rel", rel))
    for name, values in _BY_PARAMETER:
        for value in values:
            yield Reading(f"{name}={value}", other=_setter(name, value), family=name)
    for depth in DEPTHS:
        cut = _cutter(depth, only_uncut=True)
        yield Reading(f"lists cut at {depth:,} docs", other=cut, of_column=False)
    negative = "unjudged" if policy.negative == "nonrelevant" else "nonrelevant"
    yield Reading(f"negative grades as {negative}", {"negative": negative})
    for form in ("trec_eval", "trec_eval7", "original", "bpref-10"):
        yield Reading(f"bpref by the definition {form}", other=_setter("form", form))
    for k in CUTOFFS:
        yield Reading(f"measured at cutoff {k}", other=_cutter(k))


def _setter(name: str, value: Any) -> Callable[[Spec], Spec | None]:
    return lambda spec: with_parameter(spec, name, value)


def with_parameter(spec: Spec, name: str, value: Any) -> Spec | None:
    """Return a measure with another value of a parameter; None if nothing changes."""
    if spec.settings.get(name, value) == value:
        return None
    changed = tuple((n, value if n == name else old) for n, old in spec.params)
    return _parsed(replace(spec, params=changed, asked=""))


def _cutter(k: int, *, only_uncut: bool = False) -> Callable[[Spec], Spec | None]:
    """Return a function that gives a measure another cutoff."""

    def change(spec: Spec) -> Spec | None:
        measure = spec.measure
        if measure.cutoff == "none" or measure.cutoff_is != "rank" or measure.cutoff_prefix:
            return None
        if spec.cutoff == k or (only_uncut and spec.cutoff is not None):
            return None
        return _parsed(replace(spec, cutoff=k, asked=""))

    return change


def _parsed(spec: Spec) -> Spec:
    return parse_measure(spec.name)  # one name for equal measures


def equal_as_printed(values: np.ndarray, printed: np.ndarray, digits: np.ndarray) -> np.ndarray:
    """Return whether values, rounded to a number of decimals, may be the printed ones.

    NaN equals NaN.
    """
    bound = 0.5 * 10.0 ** -digits.astype(np.float64) + ROUNDING
    with np.errstate(invalid="ignore"):
        is_near = np.abs(values - printed) <= bound
    return is_near | (np.isnan(values) & np.isnan(printed))


def other_means(
    values: np.ndarray, queries: Sequence[str], printed: np.ndarray, digits: np.ndarray
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield alternative means, and whether they equal the published ones.

    Parameters
    ----------
    values
        float64 [query, mean]; NaN: undefined.
    queries
        Names of the queries.
    printed
        float64 [mean]: means of one measure for several systems.
    digits
        Decimals of `printed`.

    Yields
    ------
    reason
        The arithmetic in words.
    is_equal
        bool [mean].
    """
    for places in np.unique(digits).tolist():
        rounded = mean_over_queries(values.round(places))
        is_equal = equal_as_printed(rounded, printed, digits) & (digits == places)
        yield f"mean of values per query with {places} digits", is_equal
    counted = ~np.isnan(values)
    number = counted.sum(axis=0) - counted
    total = np.nansum(values, axis=0) - np.where(counted, values, 0.0)
    without = np.divide(total, number, out=np.full(values.shape, np.nan), where=number > 0)
    is_equal = equal_as_printed(without, printed, digits) & counted
    best = int(is_equal.sum(axis=1).argmax())
    if is_equal[best].sum() > 1:  # among many queries, one fits a single mean by chance
        yield f"mean without query {queries[best]}", is_equal[best]
