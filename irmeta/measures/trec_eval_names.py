"""Arguments of trec_eval's ``-m``: the lines that it prints for them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from irmeta.errors import IrmetaError, MeasureError, shown
from irmeta.measures import aliases, judged_preferences
from irmeta.measures.names import Spec, parse_measure
from irmeta.options import LARGEST

TEXTS = ("runid", "relstring")
"""What trec_eval prints as text."""
COUNTS = (
    *("num_q", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret"),
    *judged_preferences.COUNTS,
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
    *(*judged_preferences.MEASURES, *BY_GROUP, "yaap"),
    *_ALL_TREC[_LAST:],
)
_SETS = ("set_P", "set_relative_P", "set_recall", "set_map", "set_F")
_NICKNAMES = {
    "all_trec": _ALL_TREC,
    "official": _ALL_TREC[: _FIRST + 1],
    "all_prefs": ("runid", "num_q", *judged_preferences.MEASURES),
    "prefs": ("runid", "num_q", *judged_preferences.MEASURES[:6]),
    "qrels_jg": ("runid", "num_q", *BY_GROUP),
    "set": ("runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "utility", *_SETS),
}


class TrecEvalError(IrmetaError):
    """Error on which trec_eval stops, with its exit status.

    Parameters
    ----------
    status : int
        1: arguments; 2: input files and parameters; 4: a query; 7: no query in common.
    """

    def __init__(self, message: str, status: int) -> None:
        self.status = status
        super().__init__(message)


@dataclass(frozen=True)
class Line:
    """One line of trec_eval's output for a query or for all.

    Attributes
    ----------
    name
        The name that is printed.
    stem
        The name without parameters.
    spec
        The measure; None for text and for measures of preferences. Of measures by group, that in a
        group.
    length
        Number of docs of `relstring`.
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
        if self.stem in judged_preferences.MEASURES:
            known = ("prefs", "qrels_prefs")
        elif self.stem in BY_GROUP:
            known = ("qrels_jg",)
        if form not in known and self.stem not in ("runid", "num_q"):
            needed = " or ".join(f"-R {one}" for one in known)
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
    marked, given = set[str](), dict[str, str]()
    for text in asked:
        name, point, parameters = text.partition(".")
        if point and not parameters:
            raise TrecEvalError(f"improper measure in parameter {name!r}", 1)
        if point:
            given.setdefault(name, parameters)
        marked.update(_members(name, options.version))
    return [line for stem in _ORDER if stem in marked for line in _lines(stem, given, options)]


def _members(name: str, version: int) -> Sequence[str]:
    """Return the measures that a name stands for."""
    if name in _NICKNAMES:
        return [one for one in _NICKNAMES[name] if version == 10 or one not in _NEW]
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
    if stem in judged_preferences.MEASURES:
        return [Line(stem, stem)]
    if stem in BY_GROUP:
        inner = [Line(BY_GROUP[stem], "map", _spec("map", options))]
        if stem != "map_avgjg":
            inner = _cut_lines(BY_GROUP[stem], text, options)
        return [
            replace(one, name=one.name.replace(BY_GROUP[stem], stem, 1), stem=stem) for one in inner
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
        real_number(str(one)) if stem in _LEVELS else whole_number(str(one)) for one in parts
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
        params = tuple((one, values.get(one, value)) for one, value in spec.params)
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
