"""trec_eval's arguments of ``-m``: the lines that it prints, and measures of preference judgments.

A group, such as a person, prefers the docs of a higher level within each of its subgroups. A list
fulfils a preference if the preferred doc is above the other, or is retrieved alone.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from irmeta.errors import DataError, IrmetaError, MeasureError, shown
from irmeta.measures import aliases
from irmeta.measures.names import Spec, parse_measure
from irmeta.options import LARGEST
from irmeta.trec.qrels import JudgedDoc

TEXTS = ("runid", "relstring")
"""What trec_eval prints as text."""
COUNTS = (
    *("num_q", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret"),
    *aliases.PREFERENCE_COUNTS,
)
"""Printed as whole numbers."""
SUMMARY_ONLY = ("runid", "num_q", "gm_map", "gm_bpref")
"""Not printed for single queries."""
_RANKS = ("P", "recall", "ndcg_cut", "map_cut", "relative_P", "success", "unj")
_LEVELS = ("iprec_at_recall", "Rprec_mult")
_WITH_TEXT = (
    *("utility", "11pt_avg", "set_F", "relstring", "ndcg", "ndcg_rel", "Rndcg", "G"),
    *("rbp", "rbp_resid"),
)
"""Measures whose parameters become part of the name as they are written."""
_NEW = ("rbp", "rbp_resid", "unj")  # in version 10
_ABSENT = ("dcg", "ideal_dcg")
BY_GROUP = {"map_avgjg": "map", "P_avgjg": "P", "Rprec_mult_avgjg": "Rprec_mult"}
"""Measures that are means over groups of judgments, and the measure in each group."""
FORMATS = ("qrels", "prefs", "qrels_prefs", "qrels_jg")
"""Formats of judgments, ``-R``."""
_PAIRS = re.compile(r"[^=,]+=[^=,]*(?:,[^=,]+=[^=,]*)*")
_WHOLE, _REAL = r"\s*([+-]?\d+)", r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
_FIRST = aliases.TREC_EVAL.index("P") + 1
_ALL_TREC = ("runid", *aliases.TREC_EVAL[:_FIRST], "relstring", *aliases.TREC_EVAL[_FIRST:])
_LAST = _ALL_TREC.index("rbp")
_ORDER = (
    *_ALL_TREC[:_LAST],
    *(*aliases.PREFERENCE_MEASURES, *BY_GROUP, "yaap"),
    *_ALL_TREC[_LAST:],
)
_SETS = ("set_P", "set_relative_P", "set_recall", "set_map", "set_F")
_NICKNAMES = {
    "all_trec": _ALL_TREC,
    "official": _ALL_TREC[: _FIRST + 1],
    "all_prefs": ("runid", "num_q", *aliases.PREFERENCE_MEASURES),
    "prefs": ("runid", "num_q", *aliases.PREFERENCE_MEASURES[:6]),
    "qrels_jg": ("runid", "num_q", *BY_GROUP),
    "set": ("runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "utility", *_SETS),
}


class TrecEvalError(IrmetaError):
    """Error on which trec_eval stops, with its exit status.

    `status`: 1: arguments; 2: input files and parameters; 4: a query; 7: no query in common.
    """

    def __init__(self, message: str, status: int) -> None:
        self.status = status
        super().__init__(message)


@dataclass(frozen=True)
class Line:
    """One line of trec_eval's output for a query or for all.

    `name`: the name that is printed. `stem`: the name without parameters. `spec`: the measure; None
    for text and for measures of preferences. Of measures by group, that in a group. `length`:
    number of docs of `relstring`.
    """

    name: str
    stem: str
    spec: Spec | None = None
    length: int = 0

    @property
    def is_text(self) -> bool:
        """Whether trec_eval prints no number."""
        return self.stem in TEXTS

    def check_format(self, form: str) -> None:
        """Refuse a measure that a format of judgments does not have."""
        known = ("qrels",)
        if self.stem in aliases.PREFERENCE_MEASURES:
            known = ("prefs", "qrels_prefs")
        elif self.stem in BY_GROUP:
            known = ("qrels_jg",)
        if form not in known and self.stem not in ("runid", "num_q"):
            needed = " or ".join(f"-R {name}" for name in known)
            raise TrecEvalError(f"measure {self.name!r} needs judgments {needed}", 4)


@dataclass(frozen=True)
class TrecEvalOptions:
    """Options of trec_eval that change values.

    Attributes
    ----------
    version
        9 (for 9.0.8) or 10.
    complete, rel, condensed, depth, docs
        ``-c``, ``-l``, ``-J``, ``-M`` (None: no limit) and ``-N``.
    judgments, zscores
        ``-R`` and the file of ``-Z``.
    """

    version: int = 9
    complete: bool = False
    rel: int = 1
    condensed: bool = False
    depth: int | None = None
    docs: int = 0
    judgments: str = "qrels"
    zscores: str | None = None


def trec_eval_name(name: str) -> str:
    """Return trec_eval's name of a measure; a name without one as it is."""
    for theirs, ours in aliases.PLAIN.items():
        if parse_measure(ours).name == name:
            return theirs
    before, _, cutoff = name.rpartition("@")
    for stem, (ours, cutoffs) in aliases.CUT.items():
        for cut in (cutoff,) if before == ours.partition("@")[0] else cutoffs:
            if parse_measure(ours.format(cut)).name == name:
                return f"{stem}_{float(cut):3.2f}" if stem in _LEVELS else f"{stem}_{cut}"
    return name


def line_of(name: str, query: str, value: float, digits: int = 4, *, is_z: bool = False) -> str:
    """Return a line of trec_eval's output; of a z-score with Z before the name."""
    number = f"{value:.0f}" if name in COUNTS and not is_z else f"{value:6.{digits}f}"
    return f"{'Z' if is_z else ''}{name:<22}\t{query}\t{number}\n"


def lines_of(asked: Sequence[str], options: TrecEvalOptions) -> list[Line]:
    """Return the lines for the arguments of ``-m``, in trec_eval's order.

    Of a measure that is named twice the first parameters, such as those of ``P.5,10``, count.
    """
    marked, parameters_of = set[str](), dict[str, str]()
    for text in asked:
        name, point, parameters = text.partition(".")
        if point and not parameters:
            raise TrecEvalError(f"improper measure in parameter {name!r}", 1)
        if point:
            parameters_of.setdefault(name, parameters)
        marked.update(_members(name, options.version))
    return [
        line for stem in _ORDER if stem in marked for line in _lines(stem, parameters_of, options)
    ]


def _members(name: str, version: int) -> Sequence[str]:
    """Return the measures that a name stands for."""
    if name in _NICKNAMES:
        return [stem for stem in _NICKNAMES[name] if version == 10 or stem not in _NEW]
    if name in _ABSENT:
        raise TrecEvalError(f"measure {name!r} of trec_eval is not implemented in irmeta", 1)
    if name not in _ORDER or (version == 9 and name in _NEW):
        raise TrecEvalError(f"illegal measure {name!r}", 1)
    return [name]


def _lines(stem: str, given: Mapping[str, str], options: TrecEvalOptions) -> list[Line]:
    text = given.get(stem)
    if stem == "runid":
        return [Line(stem, stem)]
    if stem == "relstring":
        name = stem if text is None else f"{stem}_{text}"
        return [Line(name, stem, length=max(0, int(real_number(text)) if text else 10))]
    if stem in aliases.PREFERENCE_MEASURES:
        return [Line(stem, stem)]
    if stem in BY_GROUP:
        inner = [Line(BY_GROUP[stem], "map", _spec("map", options))]
        if stem != "map_avgjg":
            inner = _cut_lines(BY_GROUP[stem], text, options)
        return [
            replace(line, name=line.name.replace(BY_GROUP[stem], stem, 1), stem=stem)
            for line in inner
        ]
    if stem in _RANKS or stem in _LEVELS:
        return _cut_lines(stem, text, options)
    if text is None or stem not in _WITH_TEXT:
        return [Line(stem, stem, _spec(stem, options))]
    return [Line(f"{stem}_{text}", stem, _with_parameters(stem, text, options))]


def _cut_lines(stem: str, text: str | None, options: TrecEvalOptions) -> list[Line]:
    """Return a line for each cutoff, ascending."""
    parts = text.split(",") if text is not None else aliases.CUT[stem][1]
    cuts = sorted(
        real_number(str(cut)) if stem in _LEVELS else whole_number(str(cut)) for cut in parts
    )
    if stem in _RANKS and cuts[0] <= 0:
        raise TrecEvalError(f"negative cutoff of {stem!r}", 2)
    if len(set(cuts)) < len(cuts):
        raise TrecEvalError(f"duplicate cutoffs of {stem!r}", 2)
    form = "{}_{:3.2f}" if stem in _LEVELS else "{}_{}"
    return [Line(form.format(stem, c), stem, _spec(f"{stem}.{c!r}", options)) for c in cuts]


def _with_parameters(stem: str, text: str, options: TrecEvalOptions) -> Spec:
    if stem in ("utility", "11pt_avg", "set_F"):
        values = [repr(real_number(part)) for part in text.split(",")]
        return _spec(f"{stem}.{','.join(values)}", options)
    if not _PAIRS.fullmatch(text):
        raise TrecEvalError(f"malformed pair parameters in {text!r}", 2)
    pairs = [
        (name, real_number(value)) for name, _, value in (p.partition("=") for p in text.split(","))
    ]
    if stem not in ("rbp", "rbp_resid"):
        return _spec(f"{stem}.{','.join(f'{name}={value!r}' for name, value in pairs)}", options)
    if any(name != "p" for name, _ in pairs):
        raise TrecEvalError(f"{stem} takes p alone in irmeta: gains are not implemented", 2)
    persistence = f"p={pairs[-1][1]!r}"
    if stem == "rbp_resid":
        return _spec(f"RBPResidual({persistence},tail=trec_eval10)", options)
    return _spec(f"RBP({persistence},gain=trec_eval10)", options)


def _spec(name: str, options: TrecEvalOptions) -> Spec:
    """Return a measure under the options; nDCG and rbp gain every grade, whatever ``-l``."""
    try:
        (ours,) = aliases.from_trec_eval(name) or [name]
        spec = parse_measure(ours)
        values: dict[str, Any] = {"rel": options.rel, "trec_eval": str(options.version)}
        values["N"] = options.docs
        if options.condensed:
            values["unjudged"] = "condensed"
        if spec.measure.name in ("nDCG", "RBP"):
            del values["rel"]
        params = tuple((key, values.get(key, value)) for key, value in spec.params)
        return parse_measure(replace(spec, params=params).name)
    except MeasureError as error:
        raise TrecEvalError(str(error), 2) from None


def whole_number(text: str) -> int:
    """Return the number that a text begins with, 0 for none: C's atol, which ends at 64 bits."""
    match = re.match(_WHOLE, text)
    if match is None:
        return 0
    sign, digits = -1 if "-" in match[1] else 1, match[1].lstrip("+-").lstrip("0")
    # Python refuses to convert thousands of digits.
    return sign * (min(int(digits or 0), LARGEST) if len(digits) < 20 else LARGEST)


def real_number(text: str) -> float:
    """Return the number that a text begins with, 0 for none: C's atof."""
    match = re.match(_REAL, text)
    value = float(match[1]) if match else 0.0
    if not math.isfinite(value):
        raise TrecEvalError(f"parameter {shown(text)} is not finite", 2)
    return value


def preference_values(
    judged: Sequence[JudgedDoc], level_of: Callable[[str], float], ranking: Sequence[str]
) -> dict[str, float]:
    """Compute the values of `aliases.PREFERENCE_MEASURES` for one query.

    `level_of` maps the level of a judgment, as written, to a number.
    """
    docs = {row.doc for row in judged}
    place = {doc: i for i, doc in enumerate(doc for doc in ranking if doc in docs)}
    retrieved = len(place)
    for doc in sorted(docs - place.keys()):
        place[doc] = len(place)
    by_group = groupby(sorted(judged, key=lambda row: row.group), key=lambda row: row.group)
    groups = [
        _group([(row.subgroup, level_of(row.level), place[row.doc]) for row in rows], len(place))
        for _, rows in by_group
    ]
    return _values(groups, retrieved)


class Areas(NamedTuple):
    """Numbers of preferences by what is retrieved: both docs, one, or none."""

    fulfilled: int
    possible: int
    fulfilled_by_one: int
    possible_by_one: int
    not_retrieved: int

    @property
    def all_fulfilled(self) -> int:
        """Fulfilled preferences with at least one doc retrieved."""
        return self.fulfilled + self.fulfilled_by_one

    @property
    def with_one(self) -> int:
        """Preferences with at least one doc retrieved."""
        return self.possible + self.possible_by_one

    @property
    def all_possible(self) -> int:
        """All preferences."""
        return self.with_one + self.not_retrieved

    @classmethod
    def of(cls, preferred: np.ndarray, retrieved: int) -> Areas:
        """Count preferences [preferred doc, other doc], docs in the order of the list."""
        both = preferred[:retrieved, :retrieved]
        by_one = int(preferred[:retrieved, retrieved:].sum())
        return cls(
            int(np.triu(both, 1).sum()),
            int(both.sum()),
            by_one,
            by_one + int(preferred[retrieved:, :retrieved].sum()),
            int(preferred[retrieved:, retrieved:].sum()),
        )


@dataclass(frozen=True)
class _Group:
    """Judgments of one group over all judged docs of a query, in the order of the list.

    `preferred`: bool or int64 [doc, doc]: how often the row is preferred to the column. `level`:
    float64 [doc]: NaN without a judgment. `times`: int64 [doc]: how often the doc is judged.
    `is_partial`: whether there are several subgroups, whose docs are comparable in part.
    """

    preferred: np.ndarray
    level: np.ndarray
    times: np.ndarray
    is_partial: bool

    def nonrelevant(self) -> np.ndarray:
        """Return which docs are judged and not relevant."""
        return self.level == 0 if self.is_partial else self.level <= 0

    def counts(self, retrieved: int) -> tuple[int, int, int, int]:
        """Return the relevant docs, those retrieved, the non-relevant docs, those retrieved."""
        relevant, others = self.level > 0, self.nonrelevant()
        return (
            *(
                int(self.times[relevant].sum()),
                int(self.times[:retrieved][relevant[:retrieved]].sum()),
            ),
            *(int(self.times[others].sum()), int(self.times[:retrieved][others[:retrieved]].sum())),
        )


def _group(judged: list[tuple[str, float, int]], size: int) -> _Group:
    """Return a group from its judgments: subgroup, level, place of the doc."""
    # Of a doc in several subgroups, trec_eval keeps the last level in this order.
    judged = sorted(judged, key=lambda one: (one[0], -one[1], one[2]))
    is_partial = len({subgroup for subgroup, _, _ in judged}) > 1
    level, times = np.full(size, np.nan), np.zeros(size, np.int64)
    for _, value, place in judged:
        before = level[place]
        if before != value and not np.isnan(before):
            if not is_partial:
                raise DataError("a doc has two levels in a subgroup")
            if 0 in (before, value) and max(before, value) > 0:
                raise DataError("a doc is relevant in a subgroup and not relevant in another")
        level[place] = value
        times[place] += 1
    if is_partial:
        return _Group(_transitive(judged, size), level, np.minimum(times, 1), True)
    preferred = level[:, None] > level
    if times.max() > 1:
        preferred = preferred * (times[:, None] * times)
    return _Group(preferred, level, times, False)


def _transitive(judged: list[tuple[str, float, int]], size: int) -> np.ndarray:
    """Return the preferences of all subgroups, and those that follow from them."""
    reached = np.eye(size, dtype=bool)
    for _, rows in groupby(judged, key=lambda one: one[0]):
        _, levels, places = zip(*rows, strict=True)
        value, place = np.array(levels), np.array(places)
        first, second = np.nonzero(value[:, None] > value)
        reached[place[first], place[second]] = True
    while True:
        further = (reached.astype(np.float32) @ reached.astype(np.float32)) > 0
        if np.array_equal(further, reached):
            break
        reached = further
    np.fill_diagonal(reached, False)
    if (reached & reached.T).any():
        raise DataError("two docs of a group are each preferred to the other")
    return reached


def _values(groups: Sequence[_Group], retrieved: int) -> dict[str, float]:
    areas = [Areas.of(group.preferred, retrieved) for group in groups]
    fulfilled = sum(area.all_fulfilled for area in areas)
    both_fulfilled = sum(area.fulfilled for area in areas)
    possible = sum(area.all_possible for area in areas)
    pairs = _pairs(groups, retrieved)
    values = {
        "prefs_num_prefs_poss": float(possible),
        "prefs_num_prefs_ful": float(fulfilled),
        "prefs_num_prefs_ful_ret": float(both_fulfilled),
        "prefs_simp": _ratio(fulfilled, possible),
        "prefs_simp_ret": _ratio(both_fulfilled, sum(area.possible for area in areas)),
        "prefs_simp_imp": _ratio(fulfilled, sum(area.with_one for area in areas)),
        "prefs_avgjg": _mean([_ratio(a.all_fulfilled, a.all_possible) for a in areas]),
        "prefs_avgjg_ret": _mean([_ratio(a.fulfilled, a.possible) for a in areas]),
        "prefs_avgjg_imp": _mean([_ratio(a.all_fulfilled, a.with_one) for a in areas]),
        **pairs,
    }
    for name, is_alone in (("prefs_avgjg_Rnonrel", False), ("prefs_avgjg_Rnonrel_ret", True)):
        ratios = [
            _with_as_many_nonrelevant(group, area, retrieved, retrieved_alone=is_alone)
            for group, area in zip(groups, areas, strict=True)
        ]
        values[name] = _mean(ratios)
    return values


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _mean(ratios: list[float]) -> float:
    """Average over groups; 0 where a ratio is undefined, as trec_eval."""
    total = 0.0
    for ratio in ratios:
        total += ratio
    return total / len(ratios) if total > 0 else 0.0


def _pairs(groups: Sequence[_Group], retrieved: int) -> dict[str, float]:
    """Average over pairs of docs the share of groups whose preference is fulfilled."""
    count = sum((group.preferred.astype(np.int64) for group in groups[1:]), 1 * groups[0].preferred)
    upper = np.triu(np.ones(count.shape, bool), 1)
    is_pair = upper & ((count + count.T) > 0)
    both, by_one, none = is_pair.copy(), is_pair.copy(), is_pair.copy()
    both[:, retrieved:] = False
    by_one[:, :retrieved] = by_one[retrieved:] = False
    none[:retrieved] = False

    def total(where: np.ndarray, start: float) -> float:
        shares = count[where] / (count + count.T)[where]
        return float(np.cumsum(np.append(start, shares))[-1])  # in trec_eval's order

    sum_both = total(both, 0.0)
    sum_all, n_both, n_one = total(by_one, sum_both), int(both.sum()), int(by_one.sum())
    return {
        "prefs_pair": _ratio(sum_all, n_both + n_one + int(none.sum())),
        "prefs_pair_ret": _ratio(sum_both, n_both),
        "prefs_pair_imp": _ratio(sum_all, n_both + n_one),
    }


def _with_as_many_nonrelevant(
    group: _Group, areas: Areas, retrieved: int, *, retrieved_alone: bool
) -> float:
    """Return the share of preferences fulfilled with as many non-relevant as relevant docs.

    Missing non-relevant docs count as not retrieved, further ones are left out; NaN for none.
    """
    relevant, relevant_retrieved, others, others_retrieved = group.counts(retrieved)
    most, held = (relevant_retrieved, others_retrieved) if retrieved_alone else (relevant, others)
    if most >= held:
        fulfilled = areas.fulfilled if retrieved_alone else areas.all_fulfilled
        possible = areas.possible if retrieved_alone else areas.all_possible
        fulfilled += relevant_retrieved * (most - held)
        # As in trec_eval, also among retrieved docs alone for each relevant doc.
        possible += relevant * (most - held)
    elif group.is_partial:
        fulfilled, possible = _kept_of_partial(group, relevant, retrieved, retrieved_alone)
    else:
        fulfilled, possible = _kept_of_classes(group, most, retrieved, retrieved_alone)
    return fulfilled / possible if possible else np.nan


def _kept_of_partial(
    group: _Group, relevant: int, retrieved: int, retrieved_alone: bool
) -> tuple[int, int]:
    """Count the preferences among docs without the non-relevant ones after the first R."""
    left_out = np.flatnonzero(group.nonrelevant())[relevant:]
    preferred = group.preferred.copy()
    preferred[left_out] = False
    preferred[:, left_out] = False
    areas = Areas.of(preferred, retrieved)
    if retrieved_alone:
        return areas.fulfilled, areas.possible
    return areas.all_fulfilled, areas.all_possible


def _kept_of_classes(
    group: _Group, most: int, retrieved: int, retrieved_alone: bool
) -> tuple[int, int]:
    """Count the preferences among better docs, and of all docs over the first of the last class."""
    judged = np.repeat(np.arange(len(group.level)), group.times)
    is_last = group.level == np.nanmin(group.level)
    last_docs = judged[is_last[judged]][:most]
    better = np.flatnonzero(~is_last & (group.times > 0))
    if retrieved_alone:
        judged, last_docs, better = (
            places[places < retrieved] for places in (judged, last_docs, better)
        )
    among = group.preferred[np.ix_(better, better)]
    is_fulfilled = (better[:, None] < better) & (better[:, None] < retrieved)
    fulfilled, possible = int((among * is_fulfilled).sum()), int(among.sum())
    # As in trec_eval, also over one another.
    over_kept = (judged[:, None] < last_docs) & (judged[:, None] < retrieved)
    return fulfilled + int(over_kept.sum()), possible + over_kept.size
