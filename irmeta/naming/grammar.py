"""Grammar of names: a word, parameters in parentheses, a cutoff after ``@``.

Names in the forms of ir_measures, MTEB and ranx are split into the same parts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from irmeta.errors import MeasureError, did_you_mean, shown
from irmeta.naming.parameters import REL, Parameter, printed

Params = Mapping[str, Any]
Cutoff = int | float | None

DEEPEST = 2**31 - 1  # largest rank in tables
_NAME = re.compile(
    r"\w+\s*(?:\((?P<params>[^()]*)\))?\s*"
    r"(?:@\s*(?P<prefix>[a-z]*)(?P<cut>-?[\d.]+))?",
    re.ASCII,
)


@dataclass(frozen=True, kw_only=True)
class Registration:
    """Common fields of the registrations of measures and of preferences.

    Attributes
    ----------
    source
        Reference with DOI and equation.
    parameters
        Parameters of this registration alone.
    cutoff
        Whether ``@k`` may or must follow the name; `cutoff_prefix` precedes k (ASL@g10).
    cutoff_is
        ``rank``: an integer of at least 1; ``level``: a number from 0 to 1 (IPrec@0.1).
    revision
        Incremented when a change of the code changes values.
    printed
        Function from parameters and cutoff to the parameters that a canonical name prints; raises
        an error for parameters that cannot be combined. None: print all that are not the default.
    """

    name: str
    summary: str
    source: str
    parameters: tuple[Parameter, ...] = (REL,)
    cutoff: Literal["none", "optional", "required"] = "optional"
    cutoff_prefix: str = ""
    cutoff_is: Literal["rank", "level"] = "rank"
    revision: int = 1
    printed: Callable[[Params, Cutoff], Sequence[str]] | None = None

    @property
    def all_parameters(self) -> tuple[Parameter, ...]:
        """`parameters`, then the parameters of every registration."""
        return self.parameters

    @property
    def cutoff_letter(self) -> str:
        """Letter that stands for the cutoff."""
        return "N" if self.cutoff_prefix else "r" if self.cutoff_is == "level" else "k"

    @property
    def written(self) -> str:
        """Name with the form of its cutoff: ``AP[@k]``, ``ASL[@gN]``, ``IPrec@r``."""
        cut = f"@{self.cutoff_prefix}{self.cutoff_letter}"
        return self.name + {"none": "", "optional": f"[{cut}]", "required": cut}[self.cutoff]


def texts_of(names: object, what: str) -> list[str]:
    """Return names as a list; a text is a list of one."""
    if not isinstance(names, Iterable):
        raise MeasureError(f"name {what} as a text or a list of texts, not {shown(names)}.")
    return [names] if isinstance(names, str) else list(names)


def split_names(text: str) -> Iterator[str]:
    """Split a text into names at the commas outside parentheses.

    A number continues the name before it, as in trec_eval's ``P.5,10`` and ``ndcg.1=3,2=9``, or in
    ``ndeval@5,10``.
    """
    name = ""
    for part in re.split(r",(?![^()]*\))", text):
        is_number = re.fullmatch(r"\s*[-.\d][-.\d=]*\s*", part)
        if name and is_number and re.search(r"[._]|^ndeval@", name):
            name += "," + part.strip()
            continue
        if name:
            yield name
        name = part.strip()
    if name:
        yield name


def parse_settings(of: Registration, name: str) -> tuple[dict[str, Any], Cutoff]:
    """Parse the parameters and the cutoff of a name that starts with a registered word."""
    match = _NAME.fullmatch(name)
    if match is None:
        raise MeasureError(
            f"{name!r} cannot be read: write {of.name}(parameter=value,...)@cutoff; parameters and "
            "cutoff are optional."
        )
    settings = {p.name: p.default for p in of.all_parameters}
    settings |= _settings(of, match["params"] or "", name)
    cut = _cutoff(of, name, match["cut"], match["prefix"] or "")
    if of.printed is not None:
        of.printed(settings, cut)  # raises an error for conflicting parameters
    return settings, cut


def _settings(of: Registration, text: str, name: str) -> dict[str, object]:
    known = {p.name: p for p in of.all_parameters}
    settings: dict[str, object] = {}
    for part in (p.strip() for p in text.split(",") if text.strip()):
        key, equals, value = (p.strip() for p in part.partition("="))
        if not equals:
            raise MeasureError(f"{name}: write parameters as name=value, not {part!r}.")
        if key not in known:
            hint = did_you_mean(key, known)
            raise MeasureError(f"{name}: {of.name} has no parameter {key!r}. {hint}")
        if key in settings:
            raise MeasureError(f"{name}: {key} is given twice.")
        settings[key] = known[key].read(value, name)
    return settings


def _cutoff(of: Registration, name: str, text: str | None, prefix: str) -> Cutoff:
    example = 0.1 if of.cutoff_is == "level" else 10
    shape = f"{of.name}@{of.cutoff_prefix}{example}"
    if text is None:
        if of.cutoff == "required":
            raise MeasureError(f"{name}: {of.name} needs a cutoff, such as {shape}.")
        return None
    if of.cutoff == "none":
        raise MeasureError(f"{name}: {of.name} takes no cutoff.")
    if prefix != of.cutoff_prefix:
        raise MeasureError(f"{name}: write the cutoff as {shape}.")
    try:
        cut = float(text) if of.cutoff_is == "level" else int(text)
    except ValueError:
        raise MeasureError(f"{name}: write the cutoff as {shape}.") from None
    if of.cutoff_is == "level" and not 0 <= cut <= 1:
        raise MeasureError(f"{name}: a recall level is between 0 and 1.")
    if of.cutoff_is == "rank" and not 1 <= cut <= DEEPEST:
        raise MeasureError(f"{name}: a cutoff is at least 1 and at most {DEEPEST}.")
    return cut + 0


def format_name(of: Registration, settings: Params, cutoff: Cutoff) -> str:
    """Return the canonical name, which prints every parameter that changes the value."""
    specific = {p.name for p in of.parameters}
    changed = [p.name for p in of.all_parameters if settings[p.name] != p.default]
    shown = changed
    if of.printed is not None:
        shared = [name for name in changed if name not in specific]
        shown = [*of.printed(settings, cutoff), *shared]
    inside = ",".join(f"{name}={printed(settings[name])}" for name in shown)
    cut = "" if cutoff is None else f"@{of.cutoff_prefix}{printed(cutoff)}"
    return of.name + (f"({inside})" if inside else "") + cut


_FORM = re.compile(r"(?P<word>[\w#-]+)\s*(?P<inside>\([^()]*\))?\s*(?P<cut>@.*)?")
_AT = re.compile(r"[_-]at[_-](?=[\d.]+(?:-l\d+)?$)", re.IGNORECASE)  # MTEB's ndcg_at_10
_LEVEL = re.compile(r"(.*\w)-l(\d+)")  # ranx's least relevant grade: map@100-l2
_OF_IR_MEASURES = {
    "judged_only=True": "unjudged=condensed",
    "judged_only=False": None,
    "dcg='exp-log2'": "gain=exp",
    "dcg='log2'": None,
}
_GAINS = re.compile(r"gains\s*=\s*\{([^{}]*)\}")


def split_form(name: str) -> tuple[str, str, str] | None:
    """Split a name into its word, its parameters without parentheses, and ``@`` with its cutoff.

    The cutoff of MTEB's ``ndcg_at_10``, and ranx's least relevant grade of ``map@100-l2``, are
    written as irmeta writes them; ir_measures' parameters too. None for another form.
    """
    name = _AT.sub("@", name.strip())
    level = _LEVEL.fullmatch(name)
    match = _FORM.fullmatch(level[1] if level else name)
    if match is None:
        return None
    inside = _parameters((match["inside"] or "()")[1:-1])
    if level:
        inside = ",".join(filter(None, [inside, f"rel={level[2]}"]))
    return match["word"], inside, match["cut"] or ""


def states_parameter(name: str, parameter: Parameter) -> bool:
    """Check whether a name writes a parameter, be it with its default."""
    inside = (split_form(name) or ("", "", ""))[1]
    return any(part.partition("=")[0].strip() == parameter.name for part in inside.split(","))


def without_rel(name: str) -> str:
    """Return a canonical name without the relevant grade 1, which nobody has stated."""
    return re.sub(r",?rel=1(?=[,)])", "", name).replace("(,", "(").replace("()", "")


def joined(word: str, inside: str, cut: str) -> str:
    """Return a name of a word, which may have parameters, further parameters, and a cutoff."""
    word, _, own = word.partition("(")
    parameters = ",".join(filter(None, [own.rstrip(")"), inside]))
    return word + (f"({parameters})" if parameters else "") + cut


def _parameters(inside: str) -> str:
    """Translate ir_measures' parameters; those with its defaults are dropped."""
    inside = _GAINS.sub(lambda gains: f"gain={gains[1].replace(',', ';').replace(' ', '')}", inside)
    translated = [_OF_IR_MEASURES.get("".join(part.split()), part) for part in inside.split(",")]
    return ",".join(part for part in translated if part is not None)


def text_of(name: Any) -> Any:
    """Return the name of a measure object of ir_measures in irmeta; anything else unchanged.

    Raises
    ------
    MeasureError
        If the measure is another in irmeta.
    """
    if isinstance(name, str) or not (hasattr(name, "NAME") and hasattr(name, "params")):
        return name
    params: dict[str, Any] = dict(name.params)
    if name.NAME == "RBP" and params.get("rel") is None:
        raise MeasureError(
            f"{name}: RBP of ir_measures is graded without rel, and binary in irmeta: give rel=1, "
            "or write 'RBP(gain=linear)'."
        )
    if name.NAME == "NumRet" and params.get("rel") is not None:
        return f"NumRelRet(rel={params['rel']})"
    if name.NAME == "SetF" and "beta" in params:  # which ir_measures passes on as beta squared
        word, inside, _ = split_form(str(name(beta=1.0))) or ("SetF", "", "")
        beta = f"beta={params['beta'] ** 0.5!r}"
        return joined(word, ",".join(filter(None, [inside, beta])), "")
    if name.NAME == "ERR":  # of gdeval, whose highest grade is 4
        return f"ERR(gmax=4){'' if 'cutoff' not in params else '@' + printed(params['cutoff'])}"
    return str(name)
