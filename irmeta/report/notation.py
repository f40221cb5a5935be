"""Notation of print: names of measures and terms with subscripts, as text, HTML and LaTeX math.

A notation is declared as ``AP_{b}``, or ``P{@}_{Rareness}`` with ``{@}`` at the place of the
cutoff. In memory its subscripts are between marks, which no other text contains, until the page,
LaTeX or a figure renders them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from irmeta.naming import joined, split_form

MEASURES = ("measure", "preference", "change", "row", "column")
"""Beginnings of the names of columns whose values are, or contain, names of measures."""
SUB, SUP, END = "\ue0b1", "\ue0b2", "\ue0b3"
"""Marks of a subscript and a superscript: characters for private use."""
CUT = "{@}"
_PART = re.compile(f"([{SUB}{SUP}])([^{SUB}{SUP}{END}]*){END}")
_LONE = re.compile(f"[{SUB}{SUP}{END}]")
_MARKUP = re.compile(r"([_^])\{([^{}@]*)\}")
_SCRIPTED = re.compile(f"[\\w@.-]*(?:[{SUB}{SUP}][^{SUB}{SUP}{END}]*{END})+")
_FIELDS = {"field", "as", "groupby", "fields", "flatten", "$schema"}
"""Properties of charts whose values are names of columns."""
_TAGS = {SUB: "sub", SUP: "sup"}
_SIGNS = {SUB: "_", SUP: "^"}

WORDS: Mapping[str, str] = {
    "Q": "QM",
    "AP(norm=min)": "AP_{b}",
    "AP(norm=pool)": "AP_{c}",
    "nDCG(ideal=pool)": "nDCG_{b}",
    "nDCG(discount=zipf)": "nDCG_{Zipf}",
    "RPP(p=dcg)": "dcgRPP",
    "RPP(p=inverse)": "invRPP",
    "STRPP": "ST-RPP",
    "STRPP(p=dcg)": "ST-dcgRPP",
    "STRPP(p=inverse)": "ST-invRPP",
    "OI(p=dcg)": "OI_{dcg}",
}
"""Notations of names without a cutoff, with all their parameters or with none."""
BARE = {"RBP": ("p",), "RBPResidual": ("p",)}
"""Parameters whose values print without their names; `rel=1` beside them is not printed."""
SUBSCRIPTS = {"ASL": ("unretrieved",)}
"""Parameters whose values print as subscripts."""
TERMS = (
    (re.compile(r"\btau-ap-b\b|\btau_AP,b\b"), "\u03c4_{AP,b}"),
    (re.compile(r"\b[Tt]au[- ]b\b"), "\u03c4_{b}"),
    (re.compile(r"\b[Tt]au-ap\b"), "\u03c4_{AP}"),
    (re.compile(r"\bS_(d|rare|common)\b"), r"S_{\1}"),
    (re.compile(r"\bDelta-sort\b"), "\u0394Sort"),
    (re.compile(r"\bDelta-value\b"), "\u0394Value"),
    (re.compile(r"\balpha(?= = )|^alpha$"), "\u03b1"),
)
"""Words of headings and captions, and their notation."""


def marked(markup: str) -> str:
    """Return a notation with its subscripts between marks."""
    signs = {"_": SUB, "^": SUP}
    return _MARKUP.sub(lambda part: f"{signs[part[1]]}{part[2]}{END}", markup)


def to_text(text: str) -> str:
    """Return marked text as plain text: ``AP_b``."""
    return _LONE.sub("", _PART.sub(lambda part: _SIGNS[part[1]] + part[2], text))


def to_html(escaped: str) -> str:
    """Return marked text that is escaped for HTML, with its subscripts as tags."""
    tags = _PART.sub(lambda part: f"<{_TAGS[part[1]]}>{part[2]}</{_TAGS[part[1]]}>", escaped)
    return _LONE.sub("", tags)


def to_math(escaped: str) -> str:
    r"""Return marked text that is escaped for LaTeX, with its subscripts as math.

    A subscript joins a symbol before it: ``$\tau_{\mathrm{b}}$``.
    """
    maths = _PART.sub(lambda part: rf"${_SIGNS[part[1]]}{{\mathrm{{{part[2]}}}}}$", escaped)
    return _LONE.sub("", re.sub(r"(\$\\[A-Za-z]+)\$\$(?=[_^])", r"\1", maths))


def is_marked(text: str) -> bool:
    """Check whether text has marks."""
    return _LONE.search(text) is not None


def notation_of(name: str, declared: Mapping[str, str] | None = None) -> str:
    """Return the notation of a canonical name, with marks; the name where it has no other.

    `declared` has notations of names without a cutoff, which precede the general ones.
    """
    form = split_form(name)
    if form is None:
        return name
    word, inside, cut = form
    base, known = joined(word, inside, ""), {**WORDS, **(declared or {})}
    cut = _printed_cut(cut)
    if base in known:
        markup = known[base]
    else:
        markup = known.get(word) or re.sub("_(?=IA$)", "-", word)
        markup = re.sub("^alpha_", "\u03b1-", markup) + _parameters(word, inside)
    return marked(markup.replace(CUT, cut) if CUT in markup else markup + cut)


def _printed_cut(cut: str) -> str:
    """Return a cutoff as it prints: the first 10 relevant docs, @g10, as @g1-10."""
    return re.sub(r"^@g(?!1$)", "@g1-", cut)


def _parameters(word: str, inside: str) -> str:
    """Return the parameters of a name as subscripts, values, or as they are."""
    low, high = list[str](), list[str]()
    for part in filter(None, inside.split(",")):
        name, _, value = part.partition("=")
        if name in SUBSCRIPTS.get(word, ()):
            low.append(value)
        elif word not in BARE or part != "rel=1":
            high.append(value if name in BARE.get(word, ()) else part)
    return (f"_{{{','.join(low)}}}" if low else "") + (f"({','.join(high)})" if high else "")


@dataclass(frozen=True)
class Notations:
    """The notations of some canonical names, for the texts in which these names occur.

    Where two names would look alike, both keep their canonical names.
    """

    canonical: tuple[str, ...]  # canonical names, with or without cutoffs
    declared: Mapping[str, str]  # notations of a study: see `notation_of`

    @classmethod
    def of(cls, names: Iterable[str | None], declared: Mapping[str, str]) -> Notations:
        """Return the notations of distinct names; None is none.

        A word whose cutoff is inside its notation has one without parameters too.
        """
        known = list(filter(None, names))
        forms = filter(None, map(split_form, known))
        bare = (word + cut for word, _, cut in forms if CUT in declared.get(word, ""))
        return cls(tuple(dict.fromkeys([*known, *bare])), declared)

    @cached_property
    def _forms(self) -> dict[str, str]:
        """Each name with another notation, and that notation."""
        forms = {name: notation_of(name, self.declared) for name in self.canonical}
        seen = list(forms.values())
        return {n: form for n, form in forms.items() if form != n and seen.count(form) == 1}

    @cached_property
    def _pattern(self) -> re.Pattern[str] | None:
        longest = sorted(map(re.escape, self._forms), key=len, reverse=True)
        return re.compile(rf"(?<![\w.(-])(?:{'|'.join(longest)})(?![\w(@])") if longest else None

    def __call__(self, text: str) -> str:
        """Return a text with names and terms in notation."""
        if self._pattern is not None:
            text = self._pattern.sub(lambda name: self._forms[name[0]], text)
        for term, markup in TERMS:
            text = term.sub(lambda found, of=markup: marked(found.expand(of)), text)
        return text

    def legend(self, text: str | None = None) -> str:
        """Return the canonical names of the notations, or of those in a text; empty if none is."""
        named: dict[str, str] = {}
        for name, form in self._forms.items():
            if text is not None and form not in text:
                continue
            word, inside, cut = split_form(name) or (name, "", "")
            if CUT in self.declared.get(word, ""):  # of P@100_Rareness, P_Rareness
                named[notation_of(word, self.declared)] = word
                continue
            base = joined(word, inside, "")
            short = notation_of(base, self.declared)
            is_base = short != base and short + _printed_cut(cut) == form
            named |= {short: base} if is_base else {form: name}
        told = {f: name for f, name in named.items() if f.replace("-", "_") != name}
        return "; ".join(f"{form}: {name}" for form, name in told.items())

    def in_spec(self, spec: dict[str, Any]) -> dict[str, Any]:
        """Return a chart's specification in plain notation; fields keep their names.

        Its ``usermeta`` tells `irmeta.report.vega` which words have subscripts.
        """
        scripts: dict[str, str] = {}

        @cache  # rows of data repeat their texts
        def in_text(text: str) -> str:
            notation = self(text)
            for word in _SCRIPTED.findall(notation):
                scripts[to_text(word)] = _PART.sub(lambda p: f"{_SIGNS[p[1]]}{{{p[2]}}}", word)
            return to_text(notation)

        def in_part(part: Any, key: str) -> Any:
            if isinstance(part, str):
                return part if key in _FIELDS else in_text(part)
            if isinstance(part, dict):
                return {name: in_part(value, name) for name, value in part.items()}
            return [in_part(value, key) for value in part] if isinstance(part, list) else part

        plain = in_part(spec, "")
        notes = plain.get("usermeta", {}) | {"scripts": scripts}
        return plain | {"usermeta": notes} if scripts else plain
