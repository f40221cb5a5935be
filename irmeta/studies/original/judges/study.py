"""The declaration of the study of judges, and its options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from irmeta.errors import NothingToStudyError, UsageError, check_choice, first_few
from irmeta.naming import gain_map, split_names
from irmeta.options import option
from irmeta.policies import Comments, Missing, TrackOptions
from irmeta.studies.framework.study import Study
from irmeta.studies.original.judges.tables import TABLES

MEASURES = ("nDCG@10", "AP", "P@10", "RBP", "Compat", "RPP")
"""Default measures; a preference is averaged over all other systems."""
TESTS = ("t", "t+holm", "permutation", "hsd-randomised")
"""Default tests: with and without control of the family-wise error rate."""
HALVED = ("t", "t+holm")
"""Tests that are also compared between halves of the queries."""
SIZES = (1, 5, 10, 20)
"""Sizes of the sets of best systems that are compared."""
REPEATS = 100
"""Random orders of the queries, for mixtures of labels."""
LABELLED = (15, 20, 25, 30)
"""Numbers of queries that people label, for corrected means."""
SHARES = (0.1, 0.25, 0.5)
"""Default shares of systems that adopt labels."""
INTERVAL_TEST = "t"
"""Test whose share of surviving conclusions has an interval: see `survival_limits`."""
MAPS = ("same", "expected", "drawn")
"""Maps of a judge's grades to the reference's that need no pairs of grades."""
HOME = "irmeta.studies.original.judges"


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
        None,
        "Qrels set of the reference; default the track's first. Without a store, a file of values "
        "by system and query.",
        metavar="SET|FILE",
        names="qrels",
    )
    judges: tuple[str, ...] = option(
        (),
        "Judge: a qrels set of the store by name, or qrels in a file (repeatable). Without names, "
        "all other sets. Without a store, a file of values by system and query.",
        flag="--judge",
        metavar="SET|NAME=FILE",
        names="judge",
    )
    human: tuple[str, ...] = option(
        (),
        "People beside the reference: their sets of labels, joined in this order, a later label "
        "winning (repeatable). Judges are compared with people in the same way as people with "
        "each other.",
        metavar="SET,SET|NAME=SET,SET",
        parse="irmeta.studies.original.judges.study:checked_human",
    )
    epsilon: float | None = option(
        None,
        "Run the alternative annotator test with this epsilon: 0.2 for experts, 0.15 for skilled "
        "people, 0.1 for crowds.",
        share=True,
    )
    families: str | None = option(
        None,
        "CSV of the family of models of each system: system, family, and team unless the "
        "collection names groups. Judges are tested for favouring families.",
        metavar="FILE",
        file=True,
    )
    rels: tuple[str, ...] = option(
        (),
        "Least relevant grade, of all sets or of one (repeatable); default as the collection "
        "states, or 1.",
        flag="--rel",
        metavar="GRADE|NAME=GRADE",
        parse="irmeta.studies.original.judges.study:checked_rels",
        names="graded",
    )
    qrels: str | None = option(  # pyright: ignore[reportIncompatibleVariableOverride]  # one set
        None, "The same as `reference`.", flag="", names="qrels"
    )
    rel: tuple[str, ...] = option(
        (), "The same as `rels`.", flag="", parse="irmeta.policies:checked_rel"
    )
    measures: tuple[str, ...] = option(
        MEASURES,
        "Measures and preferences (repeatable).",
        parse="irmeta.studies.original.judges.study:checked_measures",
        flag="-m --measures",
    )
    tests: tuple[str, ...] = option(
        TESTS,
        "Test of all pairs of systems, as TEST or TEST+CORRECTION (repeatable).",
        parse="irmeta.studies.original.judges.study:checked_tests",
        flag="--test",
        metavar="TEST|TEST+CORRECTION",
    )
    alpha: float = option(0.05, "Significance level.", least=0, most=1, exclusive=True)
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
    categories: str | None = option(
        None,
        "CSV file with a row for each judge, for means over judges: judge, and any of model, "
        "prompt, method, repeat. Default: the track's judges.csv, if it has these columns.",
        metavar="FILE",
        file=True,
    )
    leave_out: tuple[str, ...] = option(
        (),
        "With categories, judges that are left out of means over judges: those whose file has docs "
        "with several grades (repeated), lacks over 1 % of the reference's labels (partial), or "
        "whose kappa of relevance is not above 0 (chance) (repeatable).",
        choices=("repeated", "partial", "chance"),
        metavar="FAULT",
    )
    missing: Missing = option(
        "common",
        "Without a store, systems and queries without a value: an error, compare the systems and "
        "queries that all have, or count 0.",
    )
    comments: Comments = option(
        "auto", "Meaning of lines of text that begin with #, in files of judges."
    )
    columns: tuple[str, ...] = option(
        (),
        "Columns of tables by what they hold: query=topic,doc=sku,grade=label for qrels of judges, "
        "system=run,measure=metric,value=score for values; also of runs and qrels in tables.",
        parse="irmeta.policies:checked_columns",
        metavar="KEY=COLUMN,...",
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
        "Largest loss of tau-b, compared with people on as many other queries, of a judge that "
        "orders systems as well.",
        least=0,
        most=1,
    )
    adoption: int = option(
        100,
        "Docs of each list that are re-ranked where systems adopt the labels of a judge; 0: no "
        "table of adoption.",
        least=0,
    )
    shares: tuple[float, ...] = option(
        SHARES,
        "Shares of the systems that adopt labels, besides one and all (repeatable).",
        flag="--share",
        least=0,
        most=1,
        exclusive=True,
    )
    adoption_draws: int = option(
        200, "Random choices of the systems that adopt labels, of each share.", least=2
    )
    holes: int = option(
        10,
        "First ranks of lists in which docs without a label are counted, and depth of pools "
        "without half of the teams; 0: no tables of holes.",
        least=0,
    )
    hole_draws: int = option(
        50, "Random halves of the teams whose docs are left out of the pool.", least=2
    )
    maps: tuple[str, ...] = option(
        (),
        "Grades by which a judge fills holes, of all judges or of one (repeatable): same; pairs of "
        "a judge's and a reference grade; expected or drawn: the mean reference grade of docs with "
        "that grade by the judge, or the reference grade of a random one. Default same if the "
        "grades of both are the same, else expected.",
        flag="--map",
        metavar="MAP|NAME=MAP",
        parse="irmeta.studies.original.judges.study:checked_maps",
        names="graded",
    )
    seed: int = option(0, "Random seed.", least=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if None not in (self.reference, self.qrels) and self.reference != self.qrels:
            raise UsageError(
                f"reference = {self.reference!r} and qrels = {self.qrels!r} name two sets: give "
                "one of them."
            )
        if self.overlay:
            raise UsageError(
                "overlay: this study compares qrels sets with one another: name them by "
                "`reference` and `judges`."
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
        for name, default in (("shares", SHARES), ("adoption_draws", 200)):
            if not self.adoption and getattr(self, name) != default:
                raise UsageError(f"{name} has no effect with adoption = 0: leave it out.")
        for name, default in (("maps", ()), ("hole_draws", 50)):
            if not self.holes and getattr(self, name) != default:
                raise UsageError(f"{name} has no effect with holes = 0: leave it out.")
        if self.epsilon is not None and len(self.people) < 2:
            raise UsageError(
                "epsilon: the alternative annotator test needs three people: the reference, and "
                "two more by human."
            )
        from irmeta.stats.bias import least_draws

        if (draws := least_draws(self.alpha)) > self.draws:
            raise UsageError(
                f"draws = {self.draws} are too few for alpha = {self.alpha:g}: at least {draws:,}."
            )
        _check_once("judge", [*self.judge_files, *self.named_judges])
        _check_once("least relevant grade", [name or "all sets" for name, _ in self._rels])
        _check_once(
            "map of grades", [text.rpartition("=")[0] or "all judges" for text in self.maps]
        )

    def check_sets(self, sets: Mapping[str, Sequence[str]]) -> None:
        """Check that a track has a judge beside the reference, and no option without effect."""
        if self.columns and not self.judge_tables:
            raise UsageError("columns: no file of a judge has named columns; omit it.")
        if self.missing != "common":
            raise UsageError("missing: is for values in files, without a store; omit it.")
        has_judge = any(
            len(of_track) > 1 for of_track in sets.values() if self.reference in (None, *of_track)
        )
        if not self.judge_files and not has_judge:
            tracks = first_few(list(sets), "`irmeta info` lists the sets")
            raise NothingToStudyError(
                "no judge to compare with the reference: no second qrels set without subtopics in "
                f"{tracks}. Name qrels of a judge by `judges='NAME=FILE'`, or ingest a second set."
            )

    @property
    def judge_files(self) -> dict[str, str]:
        """Paths of the judges in files, by name."""
        parts = (judge.partition("=") for judge in self.judges)
        return {name: path for name, equals, path in parts if equals}

    @property
    def judge_tables(self) -> list[str]:
        """Names of the judges whose files may have named columns."""
        from irmeta.trec.readers.files import may_have_named_columns
        from irmeta.trec.streams import InputFile

        files = ((name, InputFile.at(Path(path), path)) for name, path in self.judge_files.items())
        return [name for name, file in files if may_have_named_columns(file, "qrels")]

    @property
    def named_judges(self) -> tuple[str, ...]:
        """Names of the judges that are qrels sets of the store; empty: all other sets."""
        return tuple(judge for judge in self.judges if "=" not in judge)

    @property
    def people(self) -> dict[str, tuple[str, ...]]:
        """Names of the sets that are joined, by group of people."""
        groups = (human.rpartition("=") for human in self.human)
        return {name: tuple(sets.split(",")) for name, _, sets in groups}

    @property
    def files(self) -> dict[str, str]:
        """Paths of files, by the option that names them."""
        files = super().files | {f"judge {n}": path for n, path in self.judge_files.items()}
        values = {"reference": self.reference} | {f"judge {j}": j for j in self.named_judges}
        return files | {n: path for n, path in values.items() if path and Path(path).is_file()}

    @property
    def _rels(self) -> list[tuple[str, float]]:
        return [_rel(rel) for rel in self.rels]

    def rels_of(self, sets: Iterable[str]) -> dict[str, float]:
        """Return the least relevant grades that are given, by qrels set."""
        by_set = dict(self._rels)
        named = {name: by_set.get(name, by_set.get("")) for name in sets}
        return {name: rel for name, rel in named.items() if rel is not None}

    def map_of(self, judge: str) -> str | None:
        """Return the map of the grades of a judge, see `read_map`; None: none is given."""
        by_judge = {name: how for name, _, how in (text.rpartition("=") for text in self.maps)}
        return by_judge.get(judge, by_judge.get(""))

    @property
    def run_tests(self) -> tuple[Test, ...]:
        """The tests with their corrections."""
        return tuple(_test(test) for test in self.tests)

    def scored(self) -> tuple[str, ...]:
        """Return the names of the measures; preferences have no revision."""
        from irmeta.preferences.registry import is_preference

        return (*(measure for measure in self.measures if not is_preference(measure)), "Judged@10")


def checked_measures(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return names of measures and preferences, each once; names without `rel` remain without.

    Each set of labels has its own relevant grade, unless the name of a measure states one.
    """
    from irmeta.measures.names import parse_measures
    from irmeta.preferences.registry import is_preference, parse_preference

    measures = list[str]()
    for name in (name for text in names for name in split_names(text)):
        if is_preference(name):
            preference = parse_preference(name)
            measures.append(name.strip() if preference.states_rel else preference.name)
            continue
        for spec in parse_measures(name):
            if spec.average != "arithmetic":
                raise UsageError(f"{spec.name} has no arithmetic mean, which this study compares.")
            measures.append(spec.name_without_rel)
    if not measures:
        raise UsageError("no measure was given.")
    return tuple(dict.fromkeys(measures))


def checked_human(groups: tuple[str, ...]) -> tuple[str, ...]:
    """Return groups of people as NAME=SET,SET; each set is in one group, each name once."""
    checked, labels, every = list[str](), list[str](), list[str]()
    for group in groups:
        name, _, sets = group.rpartition("=")
        parts = [part.strip() for part in sets.split(",") if part.strip()]
        if not parts:
            raise UsageError(f"human = {group!r} names no set of labels.")
        labels.append(name.strip() or "+".join(parts))
        every += parts
        checked.append(f"{labels[-1]}={','.join(parts)}")
    _check_once("group of people", labels)
    _check_once("set of a group of people", every)
    return tuple(checked)


def checked_tests(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return tests in their canonical form, each once."""
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
    """Return least relevant grades unchanged; raise UsageError if one is not a number."""
    for rel in given:
        _rel(rel)
    return given


def checked_maps(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Return maps of grades without spaces; raise UsageError for one of another form."""
    checked = list[str]()
    for text in texts:
        name, equals, how = text.rpartition("=")
        how = "".join(how.split())
        if ":" in how:
            read_map(how)
        else:
            check_choice("maps", how, MAPS)
        checked.append(f"{name.strip()}{equals}{how}")
    return tuple(checked)


def read_map(how: str) -> str | dict[float, float]:
    """Return one of `MAPS`, or the reference's grade of each grade of a judge."""
    if ":" not in how:
        return how
    try:
        grades = gain_map(how)
    except (ValueError, OverflowError):
        raise UsageError(f"maps = {how!r}: write pairs of grades, as 0:0;1:2.") from None
    if len(grades) < len(how.split(";")):
        raise UsageError(f"maps = {how!r} has two grades for one grade of the judge.")
    return grades


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


STUDY = Study(
    name="judges",
    title="Judges: how far can these judgments be trusted?",
    paper="",
    gives="Which conclusions survive judgments by others than the reference, compared with the "
    "noise of the queries alone.",
    revision=9,
    options=JudgesOptions,
    tables=TABLES,
    statistics={
        "agreement agreement_by_query": ("kappa, alpha and AC2", "Spearman's rho"),
        "ceiling replicates": ("kappa, alpha and AC2",),
        "leaderboards other_queries categories": ("tau-b", "tau-ap", "tau-gap", "Spearman's rho"),
        "leaderboards other_queries": ("Pearson's r", "bootstrap intervals"),
        "top filling adoption ceiling replicate_models": ("tau-b", "bootstrap intervals"),
        "query_noise single_queries mixtures least_labelled replicates": ("tau-b",),
        "agreement decisiveness systems": ("bootstrap intervals",),
        "conclusions": ("{tests}",),
        "single_queries": ("t",),
        "query_noise": ("disjoint halves of the queries",),
        "decisiveness systems": ("decisiveness and bias of win rates",),
        "groups families": ("permuted labels with the greatest z",),
        "families": ("Welch's intervals",),
        "corrected corrected_means": ("prediction-powered inference",),
        "adoption": ("systems that adopt a judge's labels",),
        "leaderboards rankers": ("Student's intervals",),
        "annotators": ("alternative annotator test",),
        "replicate_components": ("variance components from mean squares",),
        "replicate_reliability": ("generalizability coefficients",),
    },
    compute=f"{HOME}.score_tables:compute",
    figures=f"{HOME}.figures:FIGURES",
    sections=f"{HOME}.page:sections",
    track_section=f"{HOME}.page:track_section",
    file_tracks=f"{HOME}.score_tables:file_tracks",
)
