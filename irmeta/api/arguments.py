"""Options of operations: keywords of functions, options of commands, checks, records.

This module is loaded for the help text of a command, and so imports no package for data.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, get_args

from irmeta.options import Options, numpydoc, option, set_signature, signature
from irmeta.policies import (
    Alternative,
    By,
    Comments,
    Correction,
    JudgingOrder,
    Majority,
    Missing,
    On,
    Opponents,
    PreferenceTest,
    Test,
    VarianceEstimator,
)

OptionsT = TypeVar("OptionsT", bound=Options)
P = ParamSpec("P")
R = TypeVar("R")
Call = TypeVar("Call", bound=Callable[..., Any])


def operation(
    cls: type[OptionsT], *, policies: bool = True
) -> Callable[[Callable[Concatenate[OptionsT, P], R]], Callable[P, R]]:
    """Let a function, whose first argument is an instance of `cls`, take its fields as keywords.

    The line ``{options}`` of the docstring becomes the fields. A type checker knows the keywords
    from the typed dict of ``**choices``, which .ci/stubs.py writes. Where the function takes no
    fields of `EvalPolicy`, without `policies`, other keywords are errors.
    """

    def decorate(function: Callable[Concatenate[OptionsT, P], R]) -> Callable[P, R]:
        @wraps(function)
        def call(*arguments: P.args, **keywords: P.kwargs) -> R:
            taken = cls.__dataclass_fields__ if policies else keywords.keys() - declared
            asked = {name: keywords.pop(name) for name in [*keywords] if name in taken}
            return function(cls.of(asked), *arguments, **keywords)

        declared = inspect.signature(function).parameters.keys()
        return documented(cls, without=next(iter(declared)), policies=policies)(call)

    return decorate


def documented(
    cls: type[Options], *, without: str = "", policies: bool = True
) -> Callable[[Call], Call]:
    """Show the fields of an options class in the signature and the docstring of a function."""

    def decorate(function: Call) -> Call:
        declared = [
            one for name, one in inspect.signature(function).parameters.items() if name != without
        ]
        *leading, choices = declared
        shown = [*signature(leading, cls).parameters.values(), *([choices] if policies else [])]
        set_signature(function, inspect.Signature(shown))
        function.__doc__ = re.sub(
            r"^( *)\{options\}$",
            lambda line: textwrap.indent(numpydoc(cls), line[1]),
            function.__doc__ or "",
            flags=re.MULTILINE,
        )
        return function

    return decorate


CORRECTION = "Correction of the p-values for the number of pairs."
MISSING = (
    "Queries without a value of a system: an error, compare on those that both systems have, or "
    "count 0."
)


def seed(**rules: Any) -> Any:
    """Declare the random seed of an operation; `rules` are those of `option`."""
    return option(0, "Random seed.", least=0, flag="--seed", recorded="seed", **rules)


@dataclass(frozen=True)
class Resampling(Options):
    """Options of random tests."""

    resamples: int = option(
        10_000,
        "Number of resamples, for randomised tests.",
        least=1,
        doc="Number of resamples, for randomised tests: see `irmeta.stats.pairwise`.",
    )
    rng: int = seed(generator=True, doc="Random seed, or a generator.")


@dataclass(frozen=True)
class CompareOptions(Resampling):
    """Options of `compare`."""

    less_is_better: bool = option(
        False,
        "Smaller values are better, for a measure unknown to irmeta.",
        doc="Direction of values of an unknown measure.",
    )
    robust: bool = option(
        False,
        "Also list significant pairs that are not significant, or are reversed, by another "
        "measure, qrels set, pool, half of the relevant docs or other queries.",
        doc="Also check which significantly different pairs remain so by another measure (AP and "
        "nDCG@10, and those of `measures`), every other qrels set, half the depth of the pool, "
        "half of the relevant docs, and in 97.5 % of the bootstrap samples of the queries: "
        "attribute `robust` of the result. Only for runs that can be scored again, and without "
        "`baseline`.",
    )
    relative: bool = option(
        False,
        "With a baseline, also print the ratio of means minus 1, with Fieller's interval.",
        doc="With a baseline, also give each system's mean divided by the baseline's, minus 1, "
        "with its interval by Fieller's method [1]_.",
    )
    test: str = option(
        "t",
        "Test of the difference of two systems; hsd tests and bootstrap-max-t compare all pairs at "
        "once, max-t all systems with a baseline.",
        choices=(*get_args(Test), "max-t"),
        doc="See `irmeta.stats.pairwise`.",
    )
    correction: Correction | None = option(
        None,
        f"{CORRECTION} Default holm; none for tests of all systems at once, which need none.",
        doc="See `irmeta.stats.pairwise`; default ``holm`` over the pairs of a track and measure, "
        "and ``none`` for a test of all systems at once, which needs no correction.",
    )
    alpha: float = option(
        0.05,
        "Significance level, default 0.05; with --max-drop, a significant drop fails too, unless "
        "--non-inferior.",
        shown=False,
        share=True,
        doc="Significance level: systems with a p-value of at most `alpha` differ significantly. "
        "Intervals have the confidence level 1 - alpha.",
    )
    missing: Missing = option(
        "common",
        MISSING,
        doc="Queries without a value of a system that another system has: an error, compare two "
        "systems on those that both have and all at once on those that all have, or count 0.",
    )
    baseline: tuple[str, ...] | None = option(
        None,
        "Compare every other system with this one alone (repeatable: the correction counts the "
        "pairs with all baselines); with --max-drop default the first run.",
        metavar="SYSTEM",
        doc="Compare every other system with this one alone; with several, with each of them, "
        "where a correction counts the pairs with all baselines: see "
        "`irmeta.stats.against_baselines`.",
    )
    replicates: str | None = option(
        None,
        "Column of the tracks' systems.csv, or CSV or TSV of runs and their methods (columns "
        "system, method): runs of one method, as of several seeds or folds, are averaged on each "
        "query before the tests.",
        metavar="COLUMN|FILE",
        frame=True,
        doc="Methods of runs: a file or frame with the columns system, method and, where tracks "
        "share names, track; or, of a store, the name of a column of the tracks' "
        "``systems.csv``. Runs of one method, such as seeds or folds, are averaged on each query "
        "before the tests, since they share the queries. Attribute `replicates` of the result has "
        "their spread.",
    )
    components: VarianceEstimator = option(
        "anova",
        "With --replicates, estimator of the variance components: mean squares, or restricted "
        "maximum likelihood.",
        doc="Estimator of the variance components of `replicates`: see `irmeta.stats.facet_study`.",
    )
    resample_by: str | None = option(
        None,
        "Column of the tracks' queries.csv, or CSV or TSV of queries and their clusters (columns "
        "query, cluster): tests flip and draw whole clusters; of fewer than 20, a t-test of their "
        "means replaces them.",
        metavar="COLUMN|FILE",
        frame=True,
        doc="Clusters of queries that are not independent, such as variants or turns of a "
        "dialogue: a file or frame with the columns query, cluster and, where tracks share names, "
        "track; or, of a store, the name of a column of the tracks' ``queries.csv``. Tests and "
        "rank sets flip the signs of whole clusters, or draw them: see `irmeta.stats.pairwise`. "
        "With fewer than 20 clusters, a t-test of their means replaces every other test. Variants "
        "of a query (column variant_of) are else averaged before the tests.",
    )
    alternative: Alternative = option(
        "two-sided",
        "With a baseline, test only whether systems have greater, or less, values than it.",
        doc="With a baseline, test only whether systems have greater, or smaller, values than it: "
        "see `irmeta.stats.pairwise`.",
    )


@dataclass(frozen=True)
class PowerOptions(Resampling):
    """Options of `power`."""

    tests: tuple[str, ...] = option(
        ("t",),
        "Test of the difference of two systems (repeatable).",
        choices=get_args(Test),
        flag="--test",
        doc="One test or several: see `irmeta.stats.pairwise`.",
    )
    correction: Correction = option(
        "none",
        f"{CORRECTION} Default none, since discriminative power is defined pair by pair.",
        doc="See `irmeta.stats.pairwise`.",
    )
    alpha: tuple[float, ...] = option(
        (0.05, 0.01),
        "Significance level (repeatable).",
        share=True,
        doc="Significance levels.",
    )
    missing: Missing = option(
        "common",
        MISSING,
        doc="Queries without a value of a system that another system has: see `compare`.",
    )


@dataclass(frozen=True)
class OverTracksOptions(Resampling):
    """Options of `over_tracks`."""

    missing: Missing = option(
        "error",
        "Systems without a mean on a track: an error, leave them out, or count 0.",
        doc="Systems that have no value on a track that others have: ``error``, ``common`` (leave "
        "them out: see `OverTracks.left_out`) or ``zero`` (a mean of 0 there).",
    )
    system_names: str | None = option(
        None,
        "CSV or TSV of names (columns system, name): systems of one name on several tracks are one "
        "system.",
        metavar="FILE",
        doc="File of names, with the columns system and name: systems of one name on several "
        "tracks are one system.",
    )
    nemenyi: bool = option(
        False,
        "Also print p of Nemenyi's test of mean ranks, which depends on the other systems.",
        doc="Whether pairs also have p of Nemenyi's test of mean ranks. Whether two systems differ "
        "by it depends on the other systems [3]_.",
    )
    snapshots: bool = option(
        False,
        "Tracks are snapshots of one collection, in their order: also print the changes from each "
        "to the next.",
        doc="Whether the tracks, in their order, are snapshots of one collection: changes of means "
        "and of the order from each to the next.",
    )
    pivot: str | None = option(
        None,
        "With --snapshots, baseline system: the improvements of other systems over it are "
        "compared between snapshots.",
        metavar="SYSTEM",
        doc="With `snapshots`, the baseline system: the improvements of other systems over it are "
        "compared between snapshots, as effect ratio and fall of the relative improvement.",
    )
    alpha: float = option(
        0.05,
        "Significance level; intervals have the confidence level 1 - alpha.",
        share=True,
    )


@dataclass(frozen=True)
class PreferOptions(Options):
    """Options of `prefer`."""

    by: By = option(
        "win-rate",
        "Rule of the order.",
        doc="Rule of the order: see `irmeta.stats.preference_order`.",
    )
    majority: Majority = option(
        "queries",
        "Queries that mc4 needs to rank a system above another: more than half of all (queries), "
        "or more than rank it below (decided).",
    )
    opponents: Opponents = option(
        "systems",
        "Equal weights of opponents: for all systems, or for all groups of systems.",
        doc="See `Store.pairs.win_rates`.",
    )
    on: On = option(
        "preference",
        "Values to test: preferences of pairs, or their win rates.",
        doc="Test the preferences of all pairs, or the differences of their win rates, which "
        "separate fewer pairs.",
    )
    baseline: str | None = option(
        None,
        "Compare every other system with this one alone.",
        doc="A baseline to compare every other system with.",
    )
    rank_resamples: int = option(
        1000,
        "Resamples of the queries, for rank sets.",
        least=1,
        doc="Number of bootstrap resamples of the queries, for rank sets.",
    )
    test: PreferenceTest = option(
        "hsd-randomised",
        "Test of the mean preference of two systems.",
        doc="See `irmeta.stats.preference_pairs`.",
    )
    correction: Correction = option(
        "none",
        f"{CORRECTION} For test t; hsd-randomised needs none.",
        doc="See `irmeta.stats.preference_pairs`.",
    )
    alpha: float = option(
        0.05,
        "Significance level.",
        share=True,
        doc="Significance level; intervals have the confidence level 1 - alpha.",
    )
    resamples: int = option(
        10_000,
        "Number of resamples, for randomised tests.",
        least=1,
        doc="See `irmeta.stats.preference_pairs`.",
    )
    rng: int = seed()


@dataclass(frozen=True)
class AgreeOptions(Options):
    """Options of `agree`."""

    reference: str | None = option(
        None,
        "Name of the reference; for a store, its qrels set.",
        shown="the file's name, or the primary set",
        doc="For a store, the qrels set of the reference; default: the primary set. For other "
        "sources, the reference's name.",
    )
    same_scale: bool = option(
        False,
        "Treat all sets as on one scale, even if some never use one of its grades.",
        doc="Whether all sets have one scale of grades although some never use a grade of it. By "
        "default, sets with different grades have different scales.",
    )
    raw: bool = option(
        False,
        "Compare grades even where the scales differ.",
        doc="Whether coefficients that need one scale are computed for sets with different "
        "scales, and of stray grades, too; AC1 and AC2 then count the grades of the common docs.",
    )
    grade_digits: int | None = option(
        None,
        "Decimal places to which grades in files are rounded.",
        least=0,
        doc="Decimals that grades are rounded to; None keeps them.",
    )
    comments: Comments = option(
        "auto",
        "Meaning of lines of text that begin with #.",
        doc="Meaning of lines of files that begin with #, see `ReadPolicy`.",
    )
    columns: tuple[str, ...] = option(
        (),
        "Columns of tables by what they hold: doc=sku,grade=label.",
        parse="irmeta.policies:checked_columns",
        metavar="KEY=COLUMN,...",
        doc="Columns of tables by what they hold, see `ReadPolicy`.",
    )
    resamples: int = option(
        1000,
        "Resamples of the queries, for intervals.",
        least=1,
        doc="Number of resamples of the queries.",
    )
    rng: int = seed(
        generator=True, doc="Random seed; judges of equally many queries share their draws."
    )


@dataclass(frozen=True)
class ReproduceOptions(Options):
    """Options of `reproduce`."""

    rerun_track: str | None = option(
        None,
        "Track of the reruns, where they are on other queries.",
        shown="--track",
        doc="The track of the reruns, where they are on other queries (a replication): only "
        "means, p_unpaired and effects compare them with the original. Default: `track`.",
    )
    list_depth: int = option(
        1000,
        "Depth to which lists are compared.",
        least=1,
        doc="Ranks of the lists that `tau_union` and `rbo` compare.",
    )
    persistence: float = option(
        0.95, "Persistence p of rank-biased overlap.", share=True, doc="Persistence of `rbo`."
    )
    resamples: int = option(
        1000,
        "Resamples of the queries, for 95 % intervals.",
        least=1,
        doc="Draws of the queries for 95 % intervals (percentiles).",
    )
    rng: int = seed()


@dataclass(frozen=True)
class BudgetOptions(Options):
    """Options of `Store.pools.budget`, and of the next docs of a live pool."""

    order: tuple[str, ...] = option(
        (),
        "Order of judging (repeatable). Default with --simulate all, and a random sample; with "
        "--next bandit, which is maxmean.",
        choices=get_args(JudgingOrder),
        doc="Orders of judging, ``bandit`` being ``maxmean``, and ``sample``, a random sample; "
        "default all, ``judge`` if there is a judge, and ``sample`` if the measure can be "
        "estimated from one.",
    )
    draws: int = option(
        30,
        "With --simulate, draws of each order in which chance plays a part.",
        least=1,
        doc="Draws of each order in which chance plays a part.",
    )
    rng: int = seed()
    goal: str = option(
        "tau=.9",
        "With --simulate, goal of the least budget: relevant, tau or kept, and its level.",
        metavar="NAME=LEVEL",
        doc="Goal of the least budget: ``relevant`` (share of the relevant docs), ``tau`` or "
        "``kept`` (share of the significant pairs), and its least value.",
    )
    goal_share: float = option(
        0.95,
        "With --simulate, share of the draws that must reach the goal.",
        least=0.5,
        most=1,
        doc="Share of the draws that must reach the goal, and to which ``_low`` and ``_high`` of "
        "the table refer.",
    )
    judge: str | None = option(
        None,
        "With --simulate, qrels set whose labels the order judge sorts by.",
        doc="Qrels set whose labels the order ``judge`` sorts by, the greatest first.",
    )
    teams: bool = option(
        False,
        "With --simulate, also leave out the docs of each team, and print the ranks that it loses.",
        doc="Whether the docs of each team are also left out, for the ranks that its runs lose.",
    )
    stops: float | None = option(
        None,
        "With --simulate, also print how often rules that end judging miss this share of the "
        "relevant docs of a query.",
        metavar="RECALL",
        share=True,
        doc="Share of the relevant docs of a query that rules that end judging are to reach: how "
        "often they miss it.",
    )
    alpha: float = option(
        0.05,
        "With --simulate, significance level.",
        share=True,
        doc="Significance level of the paired t-test with Holm's correction.",
    )
