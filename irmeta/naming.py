"""Names of measures and preferences: their grammar, parameters, and registries.

A name is a word, parameters in parentheses, and a cutoff after ``@``. Names in the forms of
ir_measures, MTEB and ranx are split into the same parts.
"""

from __future__ import annotations

import inspect
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, wraps
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, cast

from irmeta.errors import (
    BrokenMeasureError,
    EntryPointWarning,
    IrmetaError,
    MeasureError,
    did_you_mean,
    short,
    shown,
    warn,
)

if TYPE_CHECKING:
    import polars as pl

Kind = Literal["whole", "number", "grade", "choice", "gain", "levels", "set"]


@dataclass(frozen=True)
class Parameter:
    """One parameter of a measure or preference.

    Attributes
    ----------
    kind
        ``whole``, ``number`` or ``grade`` (a number that is an int if it is whole) with `low` and
        `high` as bounds (`open` ones excluded), or one of `choices`; ``choice``;
        ``gain``: one of `choices`, or gains by grade such as ``1:3;2:9``; ``levels``: numbers
        within the bounds, such as ``0;0.5;1``; ``set``: one of `choices`, or the name of a qrels
        set.
    """

    name: str
    default: Any
    meaning: str
    kind: Kind = "whole"
    low: float = 1
    high: float = float("inf")
    open: bool = False
    choices: tuple[str, ...] = ()

    @property
    def range(self) -> str:
        """Valid values, in words."""
        if self.kind == "choice":
            return " | ".join(self.choices)
        if self.kind == "gain":
            return " | ".join((*self.choices, "GRADE:GAIN;..."))
        if self.kind == "set":
            return " | ".join((*self.choices, "SET"))
        named = "".join(f"{choice} | " for choice in self.choices)
        what = {"whole": "whole number", "levels": "NUMBER;NUMBER;..."}.get(self.kind, "number")
        return f"{named}{what}, {self._between}"

    @property
    def default_text(self) -> str:
        """The default as a name writes it; ``-`` for None."""
        return "-" if self.default is None else printed(self.default)

    @property
    def _between(self) -> str:
        least, most = f"{self.low:g}", f"{self.high:g}"
        if self.high < float("inf"):
            return f"between {least} and {most}" + (", both excluded" if self.open else "")
        if self.low > -float("inf"):
            return f"above {least}" if self.open else f"at least {least}"
        return "any"

    def read(self, text: str, of: str) -> Any:
        """Parse and check a value."""
        if self.kind == "choice":
            return self._choice(text, of)
        if text in self.choices:
            return text
        if self.kind == "gain":
            return self._gain_map(text, of)
        if self.kind == "set":
            return self._set(text, of)
        if self.kind == "levels":
            levels = {self._number(part, of) for part in text.split(";")}
            return ";".join(printed(level) for level in sorted(levels))
        return self._number(text, of)

    def _choice(self, text: str, of: str) -> str:
        if text not in self.choices:
            hint = did_you_mean(text, self.choices)
            raise MeasureError(f"{of}: {self.name}={text} is not a choice. {hint}")
        return text

    def _set(self, text: str, of: str) -> str:
        if not re.fullmatch(r"[\w.-]+", text):
            raise MeasureError(f"{of}: {self.name}={text} is not the name of a qrels set.")
        return text

    def _number(self, text: str, of: str) -> float:
        try:
            if not text.isascii() or "_" in text:
                raise ValueError
            value = int(text) if self.kind == "whole" else float(text) + 0.0  # -0.0 is 0.0
        except ValueError:
            kind = "a whole number" if self.kind == "whole" else "a number"
            raise MeasureError(f"{of}: {self.name}={text} is not {kind}.") from None
        if math.isinf(value):
            raise MeasureError(f"{of}: {self.name}={text} is not finite.")
        inside = self.low < value < self.high if self.open else self.low <= value <= self.high
        if not inside:
            raise MeasureError(f"{of}: {self.name}={text} is not {self._between}.")
        return _plain(value) if self.kind == "grade" else value

    def _gain_map(self, text: str, of: str) -> str:
        gains: dict[float, float] = {}
        for part in text.split(";"):
            grade, colon, gain = part.partition(":")
            try:
                pair = _plain(float(grade) + 0.0), float(gain) + 0.0
            except (ValueError, OverflowError):
                colon = ""
                pair = 0, 0.0
            if not colon or not (pair[0] >= 0 and 0 <= pair[1] < float("inf")):
                hint = did_you_mean(text, self.choices)
                raise MeasureError(
                    f"{of}: {self.name}={text} is neither a choice nor gains of at least 0 by "
                    f"grade, such as 1:3;2:9. {hint}"
                )
            if pair[0] in gains:
                raise MeasureError(f"{of}: {self.name}={text} gives grade {pair[0]} twice.")
            gains[pair[0]] = pair[1]
        return ";".join(
            f"{printed(grade)}:{printed(gain)}" for grade, gain in sorted(gains.items())
        )


def printed(value: object) -> str:
    """Format a parameter's value for a canonical name."""
    return f"{value:g}" if isinstance(value, float) and float(f"{value:g}") == value else str(value)


def numbers(levels: str) -> list[float]:
    """Return the numbers of a ``levels`` value."""
    return [float(part) for part in levels.split(";")]


def gain_map(text: str) -> dict[float, float]:
    """Return the gains by grade of a ``gain`` value that is not a choice."""
    pairs = (part.split(":") for part in text.split(";"))
    return {_plain(float(grade)): float(gain) for grade, gain in pairs}


def _plain(grade: float) -> float:
    """Return a grade as int if it is a whole number, so that names print it as one."""
    return int(grade) if grade == int(grade) else grade


REL = Parameter("rel", 1, "least grade that is relevant", kind="grade", low=0, open=True)


def unjudged_parameter(choices: Sequence[str]) -> Parameter:
    """Return the parameter for the treatment of unjudged docs."""
    return Parameter(
        "unjudged",
        "nonrelevant",
        "treatment of unjudged docs of a list; condensed: removed",
        kind="choice",
        choices=("nonrelevant", *choices),
    )


GMAX = Parameter("gmax", None, "highest grade; default the track's", kind="grade", low=0, open=True)
TIES = Parameter(
    "ties",
    "order",
    "weights within a block of tied docs: by the tie order, or shared by its docs",
    kind="choice",
    choices=("order", "share"),
)
BETA = Parameter("beta", 1.0, "weight of recall relative to precision", "number", low=0, high=1e6)
AVERAGES = ("arithmetic", "geometric", "harmonic", "median", "sum", "difficulty")


def average_parameter(default: str) -> Parameter:
    """Return the parameter for the kind of mean over queries."""
    return Parameter("average", default, "mean over queries", kind="choice", choices=AVERAGES)


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
    check
        Function that raises an error for parameters and a cutoff that cannot be combined.
    printed
        Function from parameters and cutoff to the parameters that a canonical name prints. None:
        all that are not the default.
    """

    name: str
    summary: str
    source: str
    parameters: tuple[Parameter, ...] = (REL,)
    cutoff: Literal["none", "optional", "required"] = "optional"
    cutoff_prefix: str = ""
    cutoff_is: Literal["rank", "level"] = "rank"
    revision: int = 1
    check: Callable[[Params, Cutoff], None] | None = None
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

    A number continues the name before it, as in ``P.5,10``, ``ndcg.1=3,2=9`` or ``ndeval@5,10``.
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
    if of.check is not None:
        of.check(settings, cut)
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
    """Split a name into its word, its parameters, and ``@`` with its cutoff; None for another form.

    The cutoff of MTEB's ``ndcg_at_10``, ranx's least relevant grade of ``map@100-l2`` and
    ir_measures' parameters are written as irmeta writes them.
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
    word, _, parameters = word.partition("(")
    parameters = ",".join(filter(None, [parameters.rstrip(")"), inside]))
    return word + (f"({parameters})" if parameters else "") + cut


def _parameters(inside: str) -> str:
    """Translate ir_measures' parameters; those with its defaults are dropped."""
    inside = _GAINS.sub(lambda gains: f"gain={gains[1].replace(',', ';').replace(' ', '')}", inside)
    translated = [_OF_IR_MEASURES.get("".join(part.split()), part) for part in inside.split(",")]
    return ",".join(part for part in translated if part is not None)


def text_of(name: Any) -> Any:
    """Return irmeta's name of a measure object of ir_measures; anything else unchanged."""
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


Registered = TypeVar("Registered", bound=Registration)
Function = TypeVar("Function", bound=Callable[..., Any])


class Registry(Generic[Registered]):
    """All measures, or all preferences: irmeta's `builtin` ones in listing order, then others.

    Other packages register theirs by entry points ``irmeta.NOUNs``, which `adopt` checks and
    returns with functions that cannot change views; `derive` returns further ones, whose names may
    be used.
    """

    def __init__(
        self,
        kind: type[Registered],
        noun: str,
        builtin: Iterable[Registered],
        derive: Callable[[Iterable[Registered]], Iterable[Registered]] | None = None,
        *,
        adopt: Callable[[Registered], Registered],
    ) -> None:
        self.kind = kind
        self.noun = noun
        self._builtin = {registration.name: registration for registration in builtin}
        self._derive = derive
        self._adopt = adopt
        self._registered: dict[str, Registered] | None = None
        self._problems: list[str] = []

    def __call__(self) -> dict[str, Registered]:
        """Return all registrations by name: irmeta's, then those of other installed packages.

        Warn of each entry point that cannot be loaded, is of another kind, or has a used name.
        """
        if self._registered is None:
            known = self._with_entry_points()
            further = self._derive(known.values()) if self._derive else ()
            by_name = {item.name: item for item in further if item.name not in known}
            self._registered = known | by_name
        return self._registered

    def cache_clear(self) -> None:
        """Forget the registrations, so that the next call loads the entry points again."""
        self._registered = None

    def unknown(self, name: str, hint: str) -> MeasureError:
        """Return the error for an unknown name."""
        missing = "".join(f" Its package may be missing: the {why}." for why in self._problems)
        return MeasureError(
            f"unknown {self.noun} {name!r}. {hint} `irmeta {self.noun}s` lists them.{missing}"
        )

    def _with_entry_points(self) -> dict[str, Registered]:
        registered, problems = dict(self._builtin), list[str]()
        entries = entry_points(group=f"irmeta.{self.noun}s")
        for entry in sorted(entries, key=lambda e: (e.name, e.value)):
            try:
                registered |= self._load(entry, registered)
            except (Exception, SystemExit) as error:  # another package may raise any exception
                reason = short(" ".join(f"{type(error).__name__}: {error}".split()))
                problem = (
                    f"entry point {entry.name!r} ({entry.value}) could not be loaded: {reason}"
                )
                problems.append(problem)
                warn(f"the {problem}. Fix or remove its package.", EntryPointWarning)
        self._problems = problems
        return registered

    def _load(self, entry: EntryPoint, known: Mapping[str, Registered]) -> dict[str, Registered]:
        """Load the registrations of an entry point, all or none."""
        loaded = entry.load()
        registered: dict[str, Registered] = {}
        for registration in [loaded] if isinstance(loaded, self.kind) else loaded:
            if not isinstance(registration, self.kind):
                raise MeasureError(
                    f"it registers {shown(registration)}, not a {self.kind.__name__}"
                )
            if not re.fullmatch(r"[A-Za-z]\w*[A-Za-z_]|[A-Za-z]", registration.name, re.ASCII):
                raise MeasureError(
                    f"it registers {registration.name!r}, not a word of letters, digits and "
                    "underscores that begins and ends with a letter"
                )
            if registration.name in known or registration.name in registered:
                raise MeasureError(f"it registers {registration.name!r}, an existing name")
            check_defaults(registration)
            registered[registration.name] = self._adopt(registration)
        return registered


def guarded(what: str, function: Function) -> Function:
    """Wrap a function of another package: its exceptions become errors that name `what`."""

    @wraps(function)
    def call(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except IrmetaError:
            raise
        except (Exception, SystemExit) as error:
            reason = short(" ".join(f"{type(error).__name__}: {error}".split()))
            raise BrokenMeasureError(f"{what} failed: {reason}") from error

    return cast(Function, call)


def check_defaults(of: Registration) -> None:
    """Check that a registration has a name with default parameters, and that it can be listed."""
    for field in ("summary", "source"):
        if not isinstance(getattr(of, field), str):
            raise MeasureError(f"{of.name}.{field} is no text: {shown(getattr(of, field))}")
    cut = {"none": None, "optional": None, "required": 0.5 if of.cutoff_is == "level" else 10}
    parameter_table(of)
    format_name(of, {p.name: p.default for p in of.all_parameters}, cut[of.cutoff])


@dataclass(frozen=True, kw_only=True)
class NamedSpec(ABC):
    """A registration with the values of its parameters and its cutoff: the meaning of a name."""

    params: tuple[tuple[str, Any], ...]
    cutoff: Cutoff

    @property
    @abstractmethod
    def registration(self) -> Registration:
        """The measure or preference."""

    @property
    def settings(self) -> dict[str, Any]:
        """Parameters by name."""
        return dict(self.params)

    @cached_property
    def name(self) -> str:
        """Canonical name, which prints every parameter that changes the value."""
        return format_name(self.registration, self.settings, self.cutoff)

    @property
    def rel(self) -> float:
        """Least grade that counts as relevant."""
        return self.settings.get("rel", 1)

    @property
    def record(self) -> dict[str, Any]:
        """Parameters and revision, as JSON values."""
        return {**self.settings, "revision": self.registration.revision}


def parameter_table(of: Registration) -> pl.DataFrame:
    """Return the meaning, default and range of each parameter; shared parameters come last."""
    import polars as pl  # options import this module, and load no polars

    return pl.DataFrame(
        [(p.name, p.meaning, p.default_text, p.range) for p in of.all_parameters],
        schema=dict.fromkeys(("parameter", "meaning", "default", "range"), pl.String),
        orient="row",
    )


def definition(function: object) -> str:
    """Return the docstring of a function as plain text, without markup."""
    docstring = inspect.cleandoc(function.__doc__ or "")
    return re.sub(r"\n(\w+)\n-{3,}\n", r"\n\1: ", docstring).replace("`", "")
