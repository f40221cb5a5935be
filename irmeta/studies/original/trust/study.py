"""The declaration of the study of trust: options, tables, and the constants of its method."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from irmeta.errors import UsageError
from irmeta.options import option
from irmeta.policies import TrackOptions
from irmeta.schema.columns import MEASURE, TRACK, Column, Table, percent, stored
from irmeta.studies.framework.study import Study

MEASURES = (
    "AP", "nDCG", "nDCG@10", "nDCG@100", "P@10", "RR", "Rprec", "Bpref", "RBP(p=0.8)",
    "RBP(p=0.95)", "ERR@20", "Q", "ASL(unretrieved=depth)", "RareAP",
)  # fmt: skip
"""Default measures of judgments by doc; infAP is added where the pool is sampled."""
BY_SUBTOPIC = ("alpha_nDCG@20", "ERR_IA@20", "StRecall@20")
"""Default measures of judgments by subtopic, added where a track has them."""
CONCLUDED = ("AP", "nDCG@10")
"""Default measures whose conclusions are checked."""
PREFERENCES = ("RPP",)
"""Default preferences, whose win rates are values as those of measures."""
SUBTOPIC_PREFERENCES = ("STRPP",)
"""Added where a track has judgments by subtopic."""
DROPPED = (0.5, 0.75, 0.9)
"""Shares of the relevant docs that are dropped at random, the first in `DRAWS` draws."""
ALTERED = (0.2, 0.4, 0.6)
"""Shares of the labels that move by one grade."""
GRADED_SHARE = 0.4
"""The share of altered labels that has a grade."""
LEAST_SYSTEMS = LEAST_QUERIES = 5
"""Fewest systems and queries of a track whose measures are graded."""
DRAWS = 20
FEW_DRAWS = 5
"""Draws of altered labels, and of greater shares of dropped docs."""
POWER = 0.8
"""Power of the least detectable difference."""
RELIABILITY = 0.95
"""E rho^2 for which queries are counted."""
HOME = "irmeta.studies.original.trust"
_UNDEFINED = "; null: not computed on this track"


@dataclass(frozen=True)
class TrustOptions(TrackOptions):
    """Options of the study of trust."""

    measures: tuple[str, ...] = option(
        (),
        "Measures and preferences, these by win rates (repeatable); default RPP and 14 common "
        "measures, and more where a track is sampled or has judgments by subtopic.",
        parse="irmeta.studies.original.trust.study:checked_names",
        flag="-m --measures",
    )
    concluded: tuple[str, ...] = option(
        (),
        "Measures whose conclusions are checked (repeatable); default AP and nDCG@10 where they "
        "are among the measures, else the first two.",
        parse="irmeta.studies.original.trust.study:checked_measures",
    )
    min_systems: int = option(
        LEAST_SYSTEMS,
        "Compute nothing for tracks with fewer systems; those of 5 and more have grades.",
        least=1,
    )
    computes_few = False
    alpha: float = option(0.05, "Significance level.", least=0, most=1, exclusive=True)
    resamples: int = option(
        1_000, "Permutations of the randomised HSD, and bootstrap samples of the queries.", least=1
    )
    splits: int = option(100, "Random splits of the queries in two halves.", least=2)
    seed: int = option(0, "Random seed.", least=0)

    def scored(self) -> tuple[str, ...]:
        """Return the names of the measures that every track has."""
        named = self._named(False) if self.measures else checked_measures(MEASURES)
        return tuple(dict.fromkeys((*named, *self.concluded)))

    def preferred(self) -> tuple[str, ...]:
        """Return the names of the preferences that every track has."""
        return self._named(True) if self.measures else checked_preferences(PREFERENCES)

    def _named(self, are_preferences: bool) -> tuple[str, ...]:
        from irmeta.preferences.registry import is_preference

        return tuple(name for name in self.measures if is_preference(name) == are_preferences)

    def concluded_of(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return the measures, of some, whose conclusions are checked."""
        usual = tuple(name for name in checked_measures(CONCLUDED) if name in names)
        return self.concluded or usual or tuple(names[:2])


def checked_measures(names: Iterable[str]) -> tuple[str, ...]:
    """Return names of measures, each once; without `rel` unless the name states one.

    Each qrels set then has its own least relevant grade. Means are arithmetic.
    """
    from irmeta.measures.names import parse_measures
    from irmeta.naming import split_names

    split = [name for text in names for name in split_names(text)]
    # each alone, since AP and AP(rel=1) differ on a qrels set that states another grade
    specs = [spec for name in split for spec in parse_measures(name)]
    for spec in specs:
        if spec.average != "arithmetic":
            raise UsageError(f"{spec.name} has no arithmetic mean, which this study compares.")
    return tuple(dict.fromkeys(spec.name_without_rel for spec in specs))


def checked_preferences(names: Iterable[str]) -> tuple[str, ...]:
    """Return names of preferences, each once; without `rel` as those of measures."""
    from irmeta.naming import without_rel
    from irmeta.preferences.registry import parse_preference

    specs = {name.strip(): parse_preference(name) for name in names}
    checked = (name if spec.states_rel else without_rel(spec.name) for name, spec in specs.items())
    return tuple(dict.fromkeys(checked))


def checked_names(names: Iterable[str]) -> tuple[str, ...]:
    """Return names of measures, then of preferences, each once, as `checked_measures`.

    Raise UsageError for preferences alone.
    """
    from irmeta.naming import split_names
    from irmeta.preferences.registry import is_preference

    split = [name for text in names for name in split_names(text)]
    preferences = checked_preferences(name for name in split if is_preference(name))
    measures = checked_measures(name for name in split if not is_preference(name))
    if preferences and not measures:
        raise UsageError("preferences alone have no conclusions to check: name a measure too.")
    return (*measures, *preferences)


def _tau(meaning: str, label: str, **more: object) -> Column:
    return Column("real", meaning, True, label=label, format=".3f", **more)  # pyright: ignore[reportArgumentType]


def _grade(family: str) -> dict[str, Column]:
    return {
        f"{family}_grade": Column("name", "worst grade of the criteria before it",
                                  label="grade"),
        f"{family}_why": Column("text", "the criterion that decides, and what the pool is too "
                                "shallow for", label="why", show="none"),
    }  # fmt: skip


TABLES = (
    Table("trust", ("track", "measure"), {
        "track": TRACK,
        "measure": MEASURE,
        "queries": Column("count", "queries on which every system has a value", show="page"),
        "reads_grades": Column("yes", "whether a value changes when labels move by one grade",
                               show="none"),
        "separated": percent("share of pairs of systems that differ significantly (paired t, "
                             "Holm)", "separated"),
        "separated_hsd": percent("the same by the randomised HSD", "by HSD", show="page"),
        "detectable": Column("real", "least difference of means that a paired t-test detects with "
                             "power .8 at alpha over the number of pairs (the first step of Holm's "
                             "correction); mean over pairs", label="detectable", format=".3f"),
        "half_tau": Column("real", "mean tau-b of the orders by two disjoint halves of the "
                           "queries; NaN: undefined", label="halves", format=".2f",
                           span=("half_tau_low", "half_tau_high")),
        "half_tau_low": stored("real", "quantile .025 of that tau-b over splits"),
        "half_tau_high": stored("real", "quantile .975"),
        "swaps": percent("share of the significantly different pairs of one half (paired t) that "
                         "the other half reverses; NaN: none", "swaps"),
        "variance_system": stored("real", "variance component of systems"),
        "variance_query": stored("real", "variance component of queries"),
        "variance_interaction": stored("real", "variance component of their interaction"),
        "e_rho2": Column("real", "generalizability coefficient E rho^2 with the track's queries",
                         label="E rho\u00b2", format=".3f", show="page"),
        "phi": Column("real", "index of dependability Phi with the track's queries",
                      label="Phi", format=".3f", show="page"),
        "queries_needed": Column("big", "queries for E rho^2 = .95; null: none", True,
                                 label="queries needed"),
        **_grade("queries"),
        "least_k": Column("count", "least cutoff from which on the order has the safe tau-b with "
                          "that of full lists; null: the measure has a cutoff", True,
                          label="least k"),
        "depth_tau": _tau(f"tau-b of the order at the depth of the pool with that of full lists"
                          f"{_UNDEFINED}", "at pool depth"),
        **_grade("depth"),
        "left_out": Column("name", "what is left out of the pool: group or run" + _UNDEFINED, True,
                           show="none"),
        "contributors": Column("count", "number of groups or runs that are left out one by one",
                               show="page"),
        "left_out_tau": _tau(f"tau-b of the orders before and after, quantile .1 over those left "
                             f"out{_UNDEFINED}", "left out"),
        "left_out_least": stored("real", f"least of these tau-b{_UNDEFINED}", True),
        "left_out_named": Column("name", "whose judgments give the least; null: not computed",
                                 True, label="least without", show="page"),
        "left_out_drop": Column("real", "mean relative drop of the scores of those left out, or "
                                "drop of their win rates" + _UNDEFINED,
                                True, label="their drop", format="percent"),
        "rank_change": Column("real", "mean change of their ranks" + _UNDEFINED, True,
                              label="ranks moved", format=".1f", show="page"),
        "greatest_rank_change": Column("count", "greatest change of their ranks" + _UNDEFINED, True,
                                       label="at most", show="page"),
        "dropped_tau": _tau("tau-b with a random half of the relevant docs, mean over 20 draws",
                            "half relevant", span=("dropped_tau_low", "dropped_tau_high")),
        "dropped_tau_low": stored("real", "least over draws"),
        "dropped_tau_high": stored("real", "greatest over draws"),
        "altered_tau": _tau("tau-b with 40 % of the labels moved by one grade, mean over 5 draws",
                            "moved labels", span=("altered_tau_low", "altered_tau_high")),
        "altered_tau_low": stored("real", "least over draws"),
        "altered_tau_high": stored("real", "greatest over draws"),
        "other_qrels_tau": _tau("tau-b with the orders by other qrels sets, mean over sets; NaN: a "
                                "set gives no order; null: no other set", "other qrels"),
        "other_qrels_least": stored("real", "least of these tau-b; null: none", True),
        "other_qrels_named": Column("name", "the set with the least; null: none", True,
                                    label="least by", show="page"),
        "undecided": Column("real", "share of pairs of systems that differ by less than the worse "
                            "system would gain if its unjudged docs were relevant; null: the "
                            "measure has no upper bound",
                            True, label="undecided", format="percent"),
        **_grade("judgments"),
        "tied_pairs": percent("share of pairs of systems that tie on a query, mean over queries",
                              "tied pairs"),
        "tie_tau": _tau("tau-b between two random orders of tied docs, drawn for each list, mean "
                        "over 20 pairs", "random ties", span=("tie_tau_low", "tie_tau_high")),
        "tie_tau_low": stored("real", "least over pairs of draws"),
        "tie_tau_high": stored("real", "greatest over pairs of draws"),
        "tie_pairs": percent("share of pairs of systems whose means overlap between the orders of "
                             "tied docs with relevant docs last and first", "overlap by ties"),
        "tie_movers": Column("big", "systems whose mean moves by more than the detectable "
                             "difference between these orders", label="moved by ties", show="page"),
        "tie_movers_named": Column("text", "their names; null: none", True, show="none"),
        "end_flips": percent("share of pairs of systems that are reversed when lists end at their "
                             "last doc of a grade that counts for the measure", "by ends"),
        **_grade("ties_and_ends"),
    }, caption="Reliability of each measure, by four families of criteria."),
    Table("grades", ("track", "measure", "family"), {
        "track": TRACK,
        "measure": MEASURE,
        "family": Column("name", "family of criteria"),
        "grade": Column("name", "safe, with care, unsafe or cannot be said"),
        "number": Column("text", "the number that decides"),
        "why": Column("text", "what the number is, or why there is no grade"),
    }, caption="Grades of each measure, and the number that decides.", folded=True),
    Table("changes", ("track", "measure", "change", "amount"), {
        "track": TRACK,
        "measure": MEASURE,
        "change": Column("name", "what is changed: relevant docs kept at random, labels altered by "
                         "one grade, qrels set"),
        "amount": Column("name", "share of docs or labels, or name of the set"),
        "draws": Column("count", "number of random draws"),
        "tau_b": Column("real", "tau-b of the order of systems with that by all judgments, mean "
                        "over draws; NaN: undefined", label="tau-b", format=".3f",
                        span=("tau_b_low", "tau_b_high")),
        "tau_b_low": stored("real", "least over draws; NaN: undefined"),
        "tau_b_high": stored("real", "greatest over draws; NaN: undefined"),
    }, caption="Orders of systems by other judgments.", folded=True, section="Judgments"),
    Table("between_measures", ("track", "measure", "other"), {
        "track": TRACK,
        "measure": MEASURE,
        "other": Column("name", "another measure"),
        "tau_b": Column("real", "tau-b of their orders of systems; NaN: undefined", format=".3f",
                        label="tau-b"),
        "found": percent("share of the other's significantly different pairs that the measure "
                         "also has; NaN: none", "found"),
        "reversed": percent("share of these pairs whose order it reverses", "reversed"),
    }, caption="Agreement and predictive power between measures.", folded=True, latex=False,
       section="Other measures"),
    Table("conditions", ("track", "measure", "condition"), {
        "track": TRACK,
        "measure": MEASURE,
        "condition": Column("name", "what is changed"),
        "draws": Column("count", "draws of what is random, else 1: a pair is kept or reversed if "
                        "it is in most"),
        "conclusions": Column("big", "pairs of systems that differ significantly (paired t, Holm)"),
        "kept": Column("big", "those that do under the condition too, in the same direction"),
        "kept_low": stored("big", "least number over draws"),
        "kept_high": stored("big", "greatest number over draws"),
        "kept_share": percent("their share; NaN: no conclusion", "share kept"),
        "reversed": Column("big", "those whose difference of means changes its sign"),
    }, caption="Conclusions that are also significant by other measures, qrels sets, pools, "
       "relevant docs and queries.", section="Conclusions"),
    Table("best", ("track", "measure", "rank", "system"), {
        "track": TRACK,
        "measure": MEASURE,
        "rank": Column("count", "rank by mean; equal means share one"),
        "rank_low": Column("count", "least rank of its simultaneous rank set over queries"),
        "rank_high": Column("count", "greatest rank of the set"),
        "system": Column("name", "a system that no other beats safely"),
        "mean": Column("real", "mean over queries", format="measure"),
        "beats": Column("big", "systems that it beats safely"),
        "worse_than": Column("big", "systems that beat it significantly, but not safely"),
    }, caption="Systems that no other beats safely.", folded=True, section="Conclusions"),
    Table("conclusions", ("track", "measure", "better", "worse"), {
        "track": TRACK,
        "measure": MEASURE,
        "better": Column("name", "the better system"),
        "worse": Column("name", "the worse system"),
        "difference": Column("real", "mean of the better minus that of the worse, negative where "
                             "less is better", format="measure"),
        "p_adjusted": Column("real", "p-value after the correction", format=".2g", label="p"),
        "undone_by": Column("text", "conditions under which the pair does not differ significantly "
                            "in the same direction, with the corrected p there (median over "
                            "draws); null: none",
                            True, label="not significant by"),
        "reversed_by": Column("text", "conditions that change the sign of the difference; null: "
                              "none", True, label="reversed by"),
        "safe": Column("yes", "significant in the same direction under every condition"),
    }, caption="Pairs of systems that differ significantly.", latex=False,
       folded=True),
    Table("measure_facts", ("measure",), {
        "measure": MEASURE,
        "user": Column("name", "what the user of the measure does"),
        "stops_at": Column("count", "rank at which the user stops; null: none", True,
                           label="stops at"),
        "persistence": Column("real", "probability p of going on to the next rank; null: none",
                              True, label="patience p", format="g"),
        "violated": Column("text", "properties that binary rankings of up to 10 docs violate: see "
                           "study properties; null: the measure compares lists", True),
        "unequal_steps": Column("real", "greatest over least step between values on rankings of 10 "
                                "docs; 1: all steps are equal, which an interval scale needs; "
                                "null: no value for a list alone", True,
                                label="unequal steps", format=",.1f"),
    }, caption="What the users of the measures do, properties that the measures violate, and "
       "steps of their scales.", by="all", rows=f"{HOME}.grades:measure_facts",
       section="Other measures"),
    Table("safe_measures", ("measure", "family"), {
        "measure": MEASURE,
        "family": Column("name", "family of criteria"),
        "tracks": Column("count", "tracks where the family has a grade"),
        "safe": percent("share of these tracks on which the measure is safe; NaN: none", "safe"),
        "unsafe": percent("share on which it is unsafe", "unsafe"),
    }, caption="Share of the tracks on which each measure is safe.", by="all",
       rows=f"{HOME}.grades:safe_measures", section="Over tracks"),
    Table("criterion_means", ("measure", "criterion"), {
        "measure": MEASURE,
        "criterion": Column("name", "a column of the table `trust`"),
        "tracks": Column("count", "tracks where it is defined"),
        "collections": Column("count", "collections of docs of these tracks, by their names "
                              "without year or round"),
        "mean": Column("real", "mean over tracks", format=".3f", span=("mean_low", "mean_high")),
        "mean_low": stored("real", "95 % interval, from draws of whole collections; NaN: one"),
        "mean_high": stored("real", "its upper end"),
    }, caption="Means of the criteria over tracks.", by="all", folded=True,
       rows=f"{HOME}.grades:criterion_means", section="Over tracks"),
)  # fmt: skip


STUDY = Study(
    name="trust",
    title="Trust: which measure, to what depth, and which conclusions",
    paper="",
    gives="How far each measure can be trusted on a track: by other queries, depths, judgments, "
    "and orders of tied docs. This is reliability. Whether a measure asks what your users want is "
    "validity, which no table can show.",
    revision=5,
    options=TrustOptions,
    tables=TABLES,
    statistics={
        "trust between_measures conditions conclusions best": ("t+holm",),
        "trust": ("hsd-randomised", "discriminative power", "least detectable differences"),
        "trust criterion_means": ("generalizability coefficients",),
        "trust grades": ("disjoint halves of the queries", "systems left out of the pool"),
        "trust grades changes between_measures": ("tau-b",),
        "conditions conclusions best criterion_means": ("bootstrap intervals",),
        "best": ("simultaneous rank sets",),
    },
    compute=f"{HOME}.compute:compute",
    figures=f"{HOME}.page:FIGURES",
    sections=f"{HOME}.page:sections",
    track_section=f"{HOME}.page:track_section",
)
