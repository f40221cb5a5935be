"""Options of the study, and the judges, relevant grades and tests that they name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from irmeta.errors import UsageError, check_choice
from irmeta.naming import split_names
from irmeta.options import option
from irmeta.policies import Comments, TrackOptions

MEASURES = ("nDCG@10", "AP", "P@10", "RBP", "Compat", "RPP")
"""Default measures; a preference is averaged over all other systems."""
TESTS = ("t", "t+holm", "permutation", "hsd-randomised")
"""Default tests: with and without control of the family-wise error rate."""
HALVED = ("t", "t+holm")
"""Tests that are also compared between halves of the queries."""
INTERVAL_TEST = "t"
"""Test whose share of surviving conclusions has an interval: see `survival_limits`."""


class Test(NamedTuple):
    """A test of pairs of systems, and the correction of its p-values."""

    test: str
    correction: str

    @property
    def name(self) -> str:
        """The test, with its correction."""
        return self.test if self.correction == "none" else f"{self.test}+{self.correction}"


@dataclass(frozen=True)
class JudgesOptions(TrackOptions):
    """Options of the study of judges."""

    reference: str | None = option(
        None, "Qrels set of the reference; default the track's first.", metavar="SET", names="qrels"
    )
    judges: tuple[str, ...] = option(
        (),
        "Judge: a qrels set of the store by name, or qrels in a file (repeatable). Without names, "
        "all other sets.",
        flag="--judge",
        metavar="SET|NAME=FILE",
        names="judge",
    )
    rels: tuple[str, ...] = option(
        (),
        "Least relevant grade, of all sets or of one (repeatable); default as the collection "
        "states, or 1.",
        flag="--rel",
        metavar="GRADE|NAME=GRADE",
        parse="irmeta.studies.original.judges.options:checked_rels",
        names="graded",
    )
    qrels: str | None = option(None, "The same as `reference`.", flag="", names="qrels")
    rel: tuple[str, ...] = option(
        (), "The same as `rels`.", flag="", parse="irmeta.policies:checked_rel"
    )
    measures: tuple[str, ...] = option(
        MEASURES,
        "Measures and preferences (repeatable).",
        parse="irmeta.studies.original.judges.options:checked_measures",
        flag="-m --measures",
    )
    tests: tuple[str, ...] = option(
        TESTS,
        "Test of all pairs of systems, as TEST or TEST+CORRECTION (repeatable).",
        parse="irmeta.studies.original.judges.options:checked_tests",
        flag="--test",
        metavar="TEST|TEST+CORRECTION",
    )
    alpha: float = option(0.05, "Significance level.", least=0, most=1, exclusive=True)
    sizes: tuple[int, ...] = option(
        (1, 5, 10, 20), "Sizes of the sets of best systems to compare (repeatable).", least=1,
        flag="--size",
    )  # fmt: skip
    common: bool = option(
        False,
        "Compare by the docs that both the reference and a judge judged; leaderboards also by all.",
    )
    same_scale: bool = option(
        False, "Treat all sets as on one scale, even if some never use one of its grades."
    )
    raw: bool = option(
        False, "Compute coefficients that need a common scale for different scales too."
    )
    comments: Comments = option(
        "auto", "Meaning of lines of text that begin with #, in files of judges."
    )
    repeats: int = option(100, "Random orders of the queries, for mixtures of labels.", least=1)
    labelled: tuple[int, ...] = option(
        (15, 20, 25, 30),
        "Numbers of queries that people label, for corrected means (repeatable).",
        least=3,
    )
    resamples: int = option(1_000, "Resamples of the queries, and permutations of tests.", least=2)
    draws: int = option(
        2_000, "Permutations of the labels of each judge, for tests of bias.", least=19
    )
    within: Literal["query", "track"] = option(
        "query",
        "Permute labels within each query, or within the whole track, so that leniency on some "
        "queries is bias, too.",
    )
    splits: int = option(1_000, "Random splits of the queries in two halves.", least=2)
    margin: float = option(
        0.05,
        "Most loss of tau-b, beside people on as many other queries, of a judge that orders "
        "systems as well.",
        least=0,
        most=1,
    )
    seed: int = option(0, "Random seed.", least=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if None not in (self.reference, self.qrels) and self.reference != self.qrels:
            raise UsageError(
                f"reference = {self.reference!r} and qrels = {self.qrels!r} name two sets: give "
                "one of them."
            )
        if self.reference is not None:
            object.__setattr__(self, "qrels", self.reference)
        if self.rel:  # of judges too, which are no sets of the store
            if self.rels:
                raise UsageError("rel and rels are the same: give one of them.")
            object.__setattr__(self, "rels", checked_rels(self.rel))
            object.__setattr__(self, "rel", ())
        if "" in self.judge_files:
            raise UsageError("a judge in a file needs a name: NAME=FILE.")
        if not self.tests:
            raise UsageError("no test was given.")
        if not self.sizes:
            raise UsageError("no size was given.")
        from irmeta.stats.bias import least_draws

        if (draws := least_draws(self.alpha)) > self.draws:
            raise UsageError(
                f"draws = {self.draws} are too few for alpha = {self.alpha:g}: at least {draws:,}."
            )
        _check_once("judge", [*self.judge_files, *self.named_judges])
        _check_once("least relevant grade", [name or "all sets" for name, _ in self._rels])

    @property
    def judge_files(self) -> dict[str, str]:
        """Paths of the judges in files, by name."""
        parts = (one.partition("=") for one in self.judges)
        return {name: path for name, equals, path in parts if equals}

    @property
    def named_judges(self) -> tuple[str, ...]:
        """Names of the judges that are qrels sets of the store; empty: all other sets."""
        return tuple(one for one in self.judges if "=" not in one)

    @property
    def files(self) -> dict[str, str]:
        """Paths of files, by the option that names them."""
        return super().files | {f"judge {n}": path for n, path in self.judge_files.items()}

    @property
    def _rels(self) -> list[tuple[str, float]]:
        return [_rel(one) for one in self.rels]

    def rels_of(self, sets: Iterable[str]) -> dict[str, float]:
        """Return the least relevant grades that are given, by qrels set."""
        given = dict(self._rels)
        named = {name: given.get(name, given.get("")) for name in sets}
        return {name: rel for name, rel in named.items() if rel is not None}

    @property
    def run_tests(self) -> tuple[Test, ...]:
        """The tests with their corrections."""
        return tuple(_test(one) for one in self.tests)

    def scored(self) -> tuple[str, ...]:
        """Return the names of the measures; preferences have no revision."""
        from irmeta.preferences.registry import is_preference

        return (*(one for one in self.measures if not is_preference(one)), "Judged@10")


def checked_measures(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return names of measures and preferences, each once; names without `rel` remain without.

    Each set of labels has its own relevant grade, unless the name of a measure states one.

    Raises
    ------
    UsageError
        If there is none.
    MeasureError
        If one is unknown.
    """
    from irmeta.measures.names import parse_measures
    from irmeta.preferences.registry import is_preference, parse_preference

    found = list[str]()
    for name in (name for text in names for name in split_names(text)):
        if is_preference(name):
            preference = parse_preference(name)
            found.append(name.strip() if preference.states_rel else preference.name)
            continue
        for spec in parse_measures(name):
            if spec.average != "arithmetic":
                raise UsageError(f"{spec.name} has no arithmetic mean, which this study compares.")
            found.append(spec.name_without_rel)
    if not found:
        raise UsageError("no measure was given.")
    return tuple(dict.fromkeys(found))


def checked_tests(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return tests in their canonical form, each once.

    Raises
    ------
    UsageError
        If a test or a correction is unknown, or they do not fit.
    """
    return tuple(dict.fromkeys(_test(name).name for name in names))


def _test(name: str) -> Test:
    from irmeta.stats.corrections import CORRECTIONS
    from irmeta.stats.pairs import COMPLETE_TESTS, TESTS

    test, _, correction = name.partition("+")
    check_choice("tests", test, TESTS)
    check_choice("correction", correction or "none", CORRECTIONS)
    if test in COMPLETE_TESTS and correction not in ("", "none"):
        raise UsageError(f"{test} already controls the family-wise error: name it alone.")
    return Test(test, correction or "none")


def checked_rels(given: tuple[str, ...]) -> tuple[str, ...]:
    """Return least relevant grades unchanged.

    Raises
    ------
    UsageError
        If one is not a number.
    """
    for one in given:
        _rel(one)
    return given


def _rel(one: str) -> tuple[str, float]:
    """Return the set, empty for all sets, and its least relevant grade."""
    name, _, grade = one.rpartition("=")
    try:
        return name, float(grade)
    except ValueError:
        raise UsageError(f"rels = {one!r}: {grade!r} is not a grade.") from None


def _check_once(what: str, names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"{name!r} is named twice as a {what}: give it once.")
