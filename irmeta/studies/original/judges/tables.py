"""The tables of the study of judges."""

from __future__ import annotations

from irmeta.schema.columns import (
    QUERY,
    SYSTEM,
    TRACK,
    Column,
    Shown,
    Table,
    measured,
    percent,
    stored,
)
from irmeta.schema.result_tables import SAME_SCALE, SCALE_FREE
from irmeta.studies.original.judges.replicate_tables import (
    DEVIATIONS,
    JUDGE,
    NONE,
    QUERIES,
    REPLICATE_TABLES,
    real,
    spanned,
)

MEASURE = Column("name", "measure or preference; each set of labels has its own relevant grade")
BY_MEASURE = {"track": TRACK, "judge": JUDGE, "measure": MEASURE}
TEST = Column("name", "test of the pairs of systems, and its correction")
_SAID = "; null: nothing can be said"
_95 = "its 95 % interval over queries"
_QUANTILES = "the quantiles .025 and .975 over splits"
_APART = f"{DEVIATIONS}, whose resamples draw the queries of each side by themselves"
_PRINTED = ("kappa_binary", "kappa", "alpha_ordinal")
"""Coefficients in LaTeX."""
_SHOWN = (*_PRINTED, "spearman", "kappa_quadratic", "ac2", "leniency")
"""Coefficients that the page shows."""
_MEANINGS = {
    "spearman": "Spearman's rho of the grades",
    "precision": "share of the judge's relevant docs that are relevant by the reference",
    "recall": "share of the reference's relevant docs that are relevant by the judge",
    "kappa_binary": "Cohen's kappa of relevance",
    "exact": "share of equal grades",
    "kappa": "Cohen's kappa of grades",
    "kappa_linear": "Cohen's kappa, weighted by the difference of grades",
    "kappa_quadratic": "Cohen's kappa, weighted by the squared difference of grades",
    "alpha_nominal": "Krippendorff's alpha, nominal",
    "alpha_ordinal": "Krippendorff's alpha, ordinal",
    "alpha_interval": "Krippendorff's alpha, interval",
    "ac1": "Gwet's AC1",
    "ac2": "Gwet's AC2, quadratic weights",
    "mean_reference": "mean grade by the reference",
    "mean_judge": "mean grade by the judge",
    "leniency": "mean grade of the judge minus that of the reference",
}


def _tested(of: str) -> dict[str, Column]:
    return {
        "displacement": real(f"mean {of} by the judge minus that by its permuted labels, turned "
                             "where less is better; positive: too high; NaN: not tested",
                             show="page"),
        "contrast": real("displacement minus that of all other systems; of all systems their "
                         "displacement; NaN: not tested, or permuted labels do not change it"),
        "sd": stored("real", "standard deviation of the contrast under permuted labels"),
        "z": Column("real", "contrast / sd", format=".1f", show="page"),
        "p": Column("real", "p, corrected for all judges, measures, systems, groups and types of "
                    "the track", format=".4f"),
        "flagged": Column("yes", "whether p is at most the significance level"),
        "detectable": real("contrast that is flagged with probability .8", show="page"),
        "unjudged": percent("share of the first ten ranks without a label by the judge",
                            "unjudged@10"),
    }  # fmt: skip


def _correlated_values(show: Shown) -> dict[str, Column]:
    return {
        **spanned("tau_gap", "AP correlation of the judge's order, weighted by the gaps of the "
                  f"reference's means; {NONE}", DEVIATIONS, "tau-GAP", show),
        **spanned("spearman", f"Spearman's rho; {NONE}", DEVIATIONS, "rho", show),
        **spanned("pearson", f"Pearson's correlation of the means; {NONE}", DEVIATIONS, "r",
                  show),
        **spanned("rmse", "root mean squared difference of the means", DEVIATIONS, "RMSE", show),
    }  # fmt: skip


def _survival_limits() -> dict[str, Column]:
    return {
        "survived_low": stored("real", "lower 95 % limit of the share on as many other queries; "
                               "null: not computed for the test", True),
        "survived_high": stored("real", "upper limit", True),
    }  # fmt: skip


def _meaning(name: str) -> str:
    undefined = "NaN: other scale, or undefined" if name in SAME_SCALE else "NaN: undefined"
    return f"{_MEANINGS[name]}; {undefined}"


def _coefficients() -> dict[str, Column]:
    columns = dict[str, Column]()
    for name in (*SCALE_FREE, *SAME_SCALE):
        span = (f"{name}_low", f"{name}_high")
        show: Shown = "all" if name in _PRINTED else "page" if name in _SHOWN else "none"
        columns |= spanned(name, "", _95) | {
            name: Column("real", _meaning(name), format=".3f", span=span, show=show)
        }
    return columns


def _common(size: int) -> Column:
    return Column("real", f"common systems of the best {size} by both, where ties share places; "
                  "null: fewer systems", True, label=f"of {size}", format=".3g")  # fmt: skip


TABLES = (
    Table("verdicts", ("track", "judge"), {
        "track": TRACK,
        "judge": JUDGE,
        "measure": Column("name", "the first measure of the study", show="none"),
        "test": Column("name", "the first test of the study", show="none"),
        "queries": QUERIES,
        "category": Column("text", "category of the judge; null: unknown", True, show="none"),
        "labels": Column("count", "labels of these queries by the judge; null: values alone", True,
                         show="none"),
        "labelled": Column("text", "share of the reference's labels of these queries that the "
                           "judge has, by the reference's grade if it differs; null: values alone",
                           True, show="none"),
        "unjudged": percent("mean share of docs without a label by the judge in the first ten "
                            "ranks of all systems; NaN: no query, or values alone", "unjudged@10",
                            show="none"),
        "unjudged_reference": stored("real", "the same of the reference"),
        "limits": Column("text", "why nothing can be said, or in what agreement is an upper bound; "
                         "null: neither", True, label="limits"),
        "pairs": Column("count", f"pairs of systems{_SAID}", True, show="none"),
        "conclusions": Column("count", "pairs that are significantly different by the reference"
                              f"{_SAID}", True),
        "survived": percent("share of these conclusions that the judge keeps; NaN: it has none, or "
                            "nothing can be said", "survives",
                            span=("survived_low", "survived_high")),
        **_survival_limits(),
        "survived_holm": percent("the same by the test with Holm's correction; null: not computed",
                                 "survives, Holm", null=True),
        "survived_halves": percent("share of the reference's conclusions on one half of the "
                                   "queries that it keeps on the other; null: not computed",
                                   "reference, other queries",
                                   null=True),
        "reversed": Column("count", f"conclusions of the reference that the judge reverses{_SAID}",
                           True),
        "unconfirmed": Column("count", "conclusions of the judge that the reference does not have"
                              f"{_SAID}", True, show="none"),
        "bias": Column("text", "whether errors depend on more than query and reference grade: all "
                       "systems raised or lowered; groups and types of run whose means they raise "
                       "(for) or lower (against) more than those of all others, and the number of "
                       f"such systems{_SAID}", True, label="bias found"),
        "to_label": Column("count", "queries that people must still label, so that the order of "
                           "systems has tau-b 0.9 for 95 % of random choices of them; null: "
                           "not even all", True, show="none"),
        "orders_as": Column("text", "whether the judge orders systems as well as the reference on "
                            "as many other queries does (see query_noise), worse, or cannot be "
                            "said; null: undefined", True, label="beside other queries"),
        "least_loss": real("least loss of tau-b beside other queries that the judge's queries "
                           "show with power .8; NaN: undefined", "least loss", show="none"),
        **spanned("circular_effect", "tau-b if all systems re-rank by the reference's labels "
                  "minus that if all re-rank by the judge's; NaN: undefined, or not computed",
                  f"{DEVIATIONS}, over queries", "circular effect", "none"),
        "circular": Column("text", "circular: the interval of the effect is above 0; less than "
                           "people: below; else not shown; null: undefined, or not computed. "
                           "Judges that know no system, but have few grades or much noise, may be "
                           "circular, too", True, label="circular"),
        "tau_b": real(f"Kendall's tau-b of the leaderboards; {NONE}", "tau-b"),
    }, caption="Verdicts on each judge: conclusions kept, bias, and queries still to label."),
    Table("judges", ("track", "judge"), {
        "track": TRACK,
        "judge": Column("name", "set of labels"),
        "is_reference": Column("yes", "whether it is the reference", show="none"),
        "queries": Column("count", "queries with a label, of those of the reference"),
        "labels": Column("count", "labels of these queries"),
        "outside": stored("count", "labels of other queries, which are not used"),
        "rel": Column("real", "least relevant grade", label="rel", format="g"),
        "relevant": Column("count", "relevant docs"),
        "grades": Column("count", "distinct grades"),
        "mean_grade": real("mean grade", "mean grade"),
        "unjudged": percent("mean share of unjudged docs in the first ten ranks of all systems",
                            "unjudged@10"),
        "common": Column("count", "docs that the reference judged too", label="in common"),
        "reference_alone": Column("count", "docs of the reference without a label by this set",
                                  label="not labelled"),
    }, caption="The sets of labels, the reference first.", section="Labels"),
    Table("agreement", ("track", "judge"), {
        "track": TRACK,
        "judge": JUDGE,
        "queries": stored("count", "queries that both judged"),
        "docs": Column("count", "docs that both judged"),
        "reference_alone": stored("count", "docs that the reference alone judged"),
        "judge_alone": stored("count", "docs that the judge alone judged"),
        "rel_reference": stored("real", "least relevant grade of the reference"),
        "rel_judge": stored("real", "least relevant grade of the judge"),
        "both_relevant": stored("count", "docs relevant by both"),
        "reference_relevant": stored("count", "docs relevant by the reference alone"),
        "judge_relevant": stored("count", "docs relevant by the judge alone"),
        "none_relevant": stored("count", "docs relevant by neither"),
        "scale": Column("text", "same (without strays), or the grades that differ", show="none"),
        **_coefficients(),
    }, caption="Agreement of labels, with 95 % bootstrap intervals over queries.",
       section="Labels"),
    Table("agreement_by_query", ("track", "judge", "query"), {
        "track": TRACK,
        "judge": JUDGE,
        "query": QUERY,
        "docs": Column("count", "docs of the query that both judged"),
        **{name: Column("real", _meaning(name), format=".3f",
                        show="all" if name in _SHOWN else "none")
           for name in (*SCALE_FREE, *SAME_SCALE)},
    }, caption="Agreement of labels by query.", folded=True, latex=False, section="Labels"),
    Table("confusion", ("track", "judge", "reference_grade", "judge_grade"), {
        "track": TRACK,
        "judge": JUDGE,
        "reference_grade": Column("real", "grade by the reference", format="g"),
        "judge_grade": Column("real", "grade by the judge", format="g"),
        "docs": Column("count", "docs with these grades"),
    }, caption="Confusion matrix: docs by grade of the reference and of the judge.",
       folded=True, latex=False, section="Labels"),
    Table("leaderboards", ("track", "judge", "measure", "docs"), {
        **BY_MEASURE,
        "docs": Column("name", "docs of the leaderboards: all of each set, or those that both "
                       "judged (common)"),
        "queries": QUERIES,
        "undefined": Column("count", "of these, queries with an undefined value by the "
                            "judge, which counts 0", show="none"),
        **spanned("tau_b", f"Kendall's tau-b of the two leaderboards; {NONE}",
                  f"{DEVIATIONS}, for tau-b on as many other queries", "tau-b"),
        "sd": real("standard deviation of tau-b over resamples of the queries; NaN: one query",
                   "sd", show="page"),
        "drawn": real("mean tau-b over these resamples, which is biased downwards: a resample "
                      "has fewer distinct queries", "resampled", show="page"),
        **spanned("tau_many", "tau-b that many queries would give, whose noise lowers tau-b; NaN: "
                  "fewer than five queries or systems, or no differences of systems beyond noise",
                  "95 % interval by inversion of a test", "tau-b of many queries"),
        **spanned("tau_ap", f"AP correlation of the judge's order as an estimate; {NONE}",
                  DEVIATIONS, "tau-AP"),
        **spanned("tau_ap_judge", "AP correlation with the roles of both swapped",
                  DEVIATIONS, "tau-AP, swapped",
                  "page"),
        **_correlated_values("page"),
        **spanned("tau_by_query", "mean of tau-b on single queries, without queries on which all "
                  "systems tie", "95 % interval by Student's t", "tau-b by query", "page"),
        "best_reference": stored("name", "best system by the reference, the first of ties"),
        "best_judge": stored("name", "best system by the judge, the first of ties"),
        "same_best": Column("yes", "whether a system is best, or ties as best, by both",
                            label="same best"),
        "common_5": _common(5),
        "common_10": _common(10),
        "common_20": _common(20),
        "drop": Column("count", "greatest number of places that a system falls"),
        "dropped": Column("name", "that system, the last by name of several; null: none falls",
                          True, show="page"),
        "rise": Column("count", "greatest number of places that a system rises"),
        "risen": Column("name", "that system; null: none rises", True, show="page"),
        "mean_reference": measured("mean of all systems by the reference", show="none"),
        "mean_judge": measured("mean of all systems by the judge", show="none"),
    }, caption="Leaderboards by each judge beside the reference's, with 95 % intervals."),
    Table("decisiveness", ("track", "judge", "measure"), {
        **BY_MEASURE,
        "queries": QUERIES,
        **spanned("decisiveness", "shape a of the distribution function of Beta(a, a) that maps "
                  "win rates by the reference to those by the judge; above 1: the judge "
                  "exaggerates differences of systems; NaN: undefined",
                  "the estimate times exp(-+ 1.96 bootstrap standard deviations of log a)",
                  "decisiveness"),
        "bias_spread": real("standard deviation over systems of the biases of win rates, which "
                            "noise of the queries raises", "spread of bias"),
        "most_raised": stored("name", "system with the greatest bias"),
        "most_lowered": stored("name", "system with the least bias"),
    }, caption="Decisiveness of judges, and the spread of their biases to systems.",
       section="Decisiveness"),
    Table("categories", ("track", "measure", "category", "value"), {
        "track": TRACK,
        "measure": MEASURE,
        "category": Column("name", "model, prompt, method or repeat"),
        "value": Column("name", "value of the category"),
        "judges": Column("count", "judges of this value with a defined tau-b"),
        "tau_b": real("mean of their tau-b", "tau-b"),
        "tau_least": real("least tau-b", "least"),
        "tau_greatest": real("greatest tau-b", "greatest"),
        **{name: real(f"mean {label}", label) for name, label in (
            ("tau_ap", "tau-AP"), ("tau_gap", "tau-GAP"), ("spearman", "rho"), ("rmse", "RMSE"),
            ("tau_by_query", "tau-b by query"))},
    }, caption="Means over the judges of each category.", only_filled=True),
    *REPLICATE_TABLES,
    Table("score_tables", ("track", "judge"), {
        "track": TRACK,
        "judge": Column("name", "judge: the name of a table of values"),
        "is_reference": Column("yes", "whether it is the reference", show="none"),
        "file": Column("name", "name of the file"),
        "measures": Column("text", "measures of the table", show="page"),
        "systems": Column("count", "systems with a value"),
        "queries": Column("count", "queries with values, which the table judged"),
        "shared": Column("count", "of these, queries that the reference judged too",
                         label="shared"),
        "not_judged": Column("count", "queries on which all systems have 0 by all measures, taken "
                             "as not judged", label="all 0"),
        "queries_not_judged": stored("text", "names of these queries"),
    }, caption="Tables of values by system and query.", only_filled=True),
    Table("other_queries", ("track", "judge", "measure"), {
        **BY_MEASURE,
        "queries_reference": Column("count", "queries of the reference", label="reference queries"),
        "queries_judge": Column("count", "queries of the judge", label="judge's queries"),
        "shared": Column("count", "queries of both"),
        "systems": Column("count", "systems of both"),
        **spanned("tau_b", "Kendall's tau-b of the two leaderboards, of other queries each; "
                  f"{NONE}", _APART, "tau-b"),
        **spanned("tau_ap", f"AP correlation of the judge's order as an estimate; {NONE}",
                  _APART, "tau-AP"),
        **spanned("tau_ap_judge", "AP correlation with the roles of both swapped", _APART,
                  "tau-AP, swapped", "page"),
        **_correlated_values("page"),
        **spanned("tau_halves", "mean tau-b of the reference on two halves of its queries: a "
                  "lower bound of tau-b of the reference on as many other queries, since halves "
                  "have fewer", _QUANTILES, "halves of the reference"),
        "splits": stored("count", "random splits of the queries in halves"),
    }, caption="Judges without a query of the reference: orders of other queries by another judge.",
       only_filled=True),
    Table("corrected_means", ("track", "judge", "measure", "system"), {
        **BY_MEASURE,
        "system": SYSTEM,
        "labelled": Column("count", "queries of both"),
        "unlabelled": Column("count", "queries of the judge alone"),
        "mean_reference": measured("mean by the reference over the queries of both"),
        "mean_judge": measured("mean by the judge over all its queries"),
        "estimate": measured("prediction-powered mean (PPI++)", span=("low", "high")),
        "low": stored("real", "lower limit of its 95 % interval"),
        "high": stored("real", "upper limit"),
        "weight": real("weight of the judge, from 0 to 1", "weight"),
        "equivalent": Column("real", "queries of the reference that give an interval of this width",
                             format=".1f"),
    }, caption="Prediction-powered means: values of the reference on some queries, and of the "
               "judge on more.", folded=True, latex=False, only_filled=True),
    Table("query_noise", ("track", "judge", "measure"), {
        **BY_MEASURE,
        "queries": QUERIES,
        "splits": stored("count", "random splits of the queries in halves A and B"),
        **spanned("tau_reference", "mean tau-b of the reference on A with the reference on B",
                  _QUANTILES, "reference, reference"),
        **spanned("tau_judge", "mean tau-b of the judge on A with the reference on B",
                  _QUANTILES, "judge, reference"),
        "difference": real("mean of the second minus the first", "difference"),
        "error": real("its bootstrap standard error over queries; NaN: undefined",
                      "standard error"),
        "difference_low": real("its one-sided lower 95 % limit by Student's t", "lower limit"),
        "least_loss": real("least loss that these queries show with power .8: 2.49 standard "
                           "errors", "least loss"),
        "orders_as": Column("text", "as well: the lower limit is above minus the margin; worse: "
                            "the upper one-sided 95 % limit is below; else cannot be said; null: "
                            "undefined", True, label="judge orders"),
    }, caption="Noise of queries: tau-b of the reference, and of the judge, with the reference on "
               "other queries."),
    Table("conclusions", ("track", "judge", "measure", "test"), {
        **BY_MEASURE,
        "test": TEST,
        "queries": QUERIES,
        "kept": Column("count", "pairs significantly different by both, in the same direction"),
        "reversed": Column("count", "pairs significantly different in opposite directions: false"),
        "lost": Column("count", "pairs significantly different by the reference alone"),
        "new": Column("count", "pairs significantly different by the judge alone: unconfirmed, "
                      "not false"),
        "new_agree": Column("count", "new pairs whose means by the reference have the same "
                            "direction", label="of which agree"),
        "neither": Column("count", "pairs significantly different by neither", show="page"),
        "survived": percent("share of the reference's conclusions that the judge keeps; NaN: it "
                            "has none", "survived", span=("survived_low", "survived_high")),
        **_survival_limits(),
        "false": percent("share of the reference's conclusions that the judge reverses",
                         "false"),
        "survived_halves": percent("share of the reference's conclusions on one half of the "
                                   "queries that it keeps on the other; null: not computed for "
                                   "the test",
                                   "halves: survived", null=True),
        "false_halves": percent("share of these conclusions that it reverses", "halves: false",
                                null=True),
    }, caption="Conclusions of the reference that the judge keeps, reverses and loses."),
    Table("groups", ("track", "judge", "measure", "by", "group"), {
        **BY_MEASURE,
        "by": Column("name", "group: who submitted the systems; type: type of run; all: all "
                     "systems"),
        "group": Column("name", "group or type"),
        "systems": Column("count", "systems of the group"),
        **_tested("of the group"),
    }, caption="Groups and types of systems whose means the errors of a judge displace.",
       folded=True, latex=False, section="Bias"),
    Table("systems", ("track", "judge", "measure", "system"), {
        **BY_MEASURE,
        "system": SYSTEM,
        "group": Column("name", "who submitted the system; null: unknown", True, show="none"),
        "type": Column("name", "type of run; null: unknown", True, show="none"),
        "mean_reference": measured("mean by the reference"),
        "mean_judge": measured("mean by the judge"),
        "rank_reference": Column("count", "rank by the reference; ties share the best"),
        "rank_judge": Column("count", "rank by the judge"),
        "place_reference": stored("count", "place in the reference's order, ties by name"),
        "place_judge": stored("count", "place in the judge's order, ties by name"),
        **spanned("bias_win", "mean over all other systems of the win rate by the judge minus "
                  "that expected from the reference's by the decisiveness of the judge; NaN: not "
                  "computed", DEVIATIONS, "bias of win rates"),
        **_tested("of the system"),
    }, caption="Systems by the reference and by each judge.", folded=True, latex=False,
       section="Bias"),
    Table("single_queries", ("track", "judge", "measure", "query"), {
        **BY_MEASURE,
        "query": QUERY,
        "tau_b": real(f"tau-b of the systems on the query; {NONE}", "tau-b"),
        "difference": measured("mean of all systems by the judge minus that by the reference"),
        "conclusions": Column("count", "conclusions of the reference (t, no correction) with the "
                              "same direction by its values on the query"),
        "turned": Column("count", "of these, conclusions with the opposite direction by the "
                         "judge's values on the query"),
        "tau_without": real("tau-b of the leaderboards without the query", "tau-b without"),
    }, caption="Single queries, and the conclusions of the reference that the judge reverses "
               "there.", folded=True, latex=False,
       section="Single queries"),
    Table("least_labelled", ("track", "judge", "measure", "wanted"), {
        **BY_MEASURE,
        "wanted": Column("real", "wanted tau-b with the full reference, in 95 % of random orders "
                         "of the queries", format=".2f"),
        "mixture": Column("count", "least number of queries with the reference's labels, the "
                          "others with the judge's; null: not even all", True),
        "alone": Column("count", "the same for queries of the reference alone", True,
                        label="reference alone"),
        "queries": Column("count", "all queries that both labelled"),
    }, caption="Queries that people must label for the order of systems.",
       section="Queries that people must still label"),
    Table("mixtures", ("track", "judge", "measure", "labelled"), {
        **BY_MEASURE,
        "labelled": Column("count", "queries with the reference's labels"),
        "queries": stored("count", "all queries that both labelled"),
        "repeats": stored("count", "random orders of the queries"),
        "tau": real("mean tau-b of the mixture with the full reference; NaN: undefined",
                    "mixture"),
        "tau_sd": stored("real", "its standard deviation over repeats"),
        "tau_low": stored("real", "tau-b that 95 % of the repeats reach"),
        "alone": real("mean tau-b of the labelled queries of the reference alone with the full "
                      "reference", "reference alone"),
        "alone_sd": stored("real", "its standard deviation over repeats"),
        "alone_low": stored("real", "tau-b that 95 % of the repeats reach"),
        "tau_unlabelled": real("mean tau-b of the mixture with the reference on the queries not "
                               "labelled", "mixture, other queries"),
        "alone_unlabelled": real("mean tau-b of the reference alone with the reference on the "
                                 "queries not labelled", "alone, other queries"),
    }, caption="Mixtures of labels: some queries by the reference, the others by a judge.",
       folded=True, latex=False, section="Queries that people must still label"),
    Table("corrected", ("track", "judge", "measure", "target", "labelled", "method"), {
        **BY_MEASURE,
        "target": Column("name", "means of systems, or differences of pairs"),
        "labelled": Column("count", "queries that both labelled"),
        "queries": stored("count", "all queries that both labelled"),
        "method": Column("name", "ppi++, ppi (weight 1), or difference: the mean over just these "
                         "queries"),
        "width_reference": real("mean width of the interval of the labelled queries of the "
                                "reference alone", "reference alone"),
        "width": real("mean width of the corrected interval", "corrected"),
        "width_all": real("mean width with all queries labelled by the reference", "all queries"),
        "equivalent": Column("real", "queries that people would have to label for the corrected "
                             "width", format=".1f"),
        "coverage_reference": stored("real", "share of intervals of the reference alone that "
                                     "cover the mean over all queries"),
        "coverage": percent("share of corrected intervals that cover it"),
        "least_coverage": percent("least coverage of a system or pair", "least"),
        "least_a": Column("name", "that system, or the first of that pair", True, show="none"),
        "least_b": Column("name", "the second of that pair; null: a system", True, show="none"),
        "draws": stored("count", "simulated draws"),
    }, caption="Prediction-powered means from few labelled queries: widths and coverage of 95 % "
               "intervals.",
       folded=True, latex=False, section="Queries that people must still label"),
    Table("top", ("track", "judge", "measure", "size"), {
        **BY_MEASURE,
        "size": Column("count", "number of best systems", label="n best"),
        "best": measured("mean of the best by the reference, in its values"),
        "regret": Column("real", "mean of the best by the reference minus that of the best by the "
                         "judge; ties are averaged", format=".4f"),
        "common": Column("real", "systems that both have; ties share places", format=".3g"),
        "chosen": Column("text", "the best by the judge, ties at the border included",
                         show="none"),
        **spanned("tau_first", "tau-b of the leaderboards of the best by the reference alone, "
                  f"ties at the border included; {NONE}", DEVIATIONS, "tau-b of these"),
    }, caption="Regret: loss in means of the reference from choosing systems by the judge.",
       section="The best systems"),
    Table("adoption", ("track", "judge", "measure", "adopted", "adopters"), {
        **BY_MEASURE,
        "adopted": Column("name", "set of labels by which systems re-rank their first docs; ties "
                          "in the order of the list", label="labels adopted"),
        "labels": Column("name", "whose labels these are: judge, reference, or other judge",
                         show="page", label="of the"),
        "adopters": Column("count", "number of systems that adopt: one (each in turn), drawn, or "
                           "all"),
        "share": percent("their share of all systems", "of systems"),
        "queries": stored("count", "queries that both labelled"),
        "tau_before": real("tau-b of the judge's order with the reference's before", "before"),
        **spanned("tau", f"mean tau-b of the judge's order with the reference's; {NONE}",
                  f"{DEVIATIONS}, over queries and choices of systems", "tau-b"),
        "gain_judge": measured("mean gain of an adopter, by the judge"),
        "gain_reference": measured("mean gain of an adopter, by the reference"),
        **spanned("confirmed", "gain by the reference / gain by the judge; NaN: no gain by the "
                  "judge, or the reference's labels",
                  "the quantiles .025 and .975 over resamples of the queries",
                  "confirmed", "page"),
        "sd_reference": real("standard deviation of the systems' means by the reference if all "
                             "adopt; NaN: not all do", "sd, reference", show="page"),
        "sd_judge": real("the same by the judge", "sd, judge", show="page"),
        **spanned("effect", "tau-b if all adopt these labels minus that if all adopt the judge's; "
                  "NaN: not all adopt, or the judge's own", DEVIATIONS, "circular effect"),
        "detectable": stored("real", "effect that would be found with probability .8"),
        "places": Column("real", "mean over single adopters of the place by the reference minus "
                         "that by the judge; null: not one, or other labels", True, format=".1f",
                         label="places won"),
        "most_places": Column("count", "most of a single adopter; null: not one", True,
                              label="most"),
    }, caption="Orders of systems that re-rank their lists by the labels of a judge, of the "
               "reference, or of another judge.", folded=True, latex=False, section="Adoption",
       only_filled=True),
    Table("adopters", ("track", "judge", "measure", "system"), {
        **BY_MEASURE,
        "system": SYSTEM,
        "gain_judge": measured("gain of its mean by the judge if it adopts the judge's labels"),
        "gain_reference": measured("gain by the reference"),
        "place_judge": Column("count", "place by the judge if it alone adopts; ties share the "
                              "best"),
        "place_reference": Column("count", "place by the reference"),
        "won": Column("count", "places by which it stands higher by the judge", label="places won"),
    }, caption="Single systems that re-rank their lists by the labels of a judge.",
       folded=True, latex=False, section="Adoption", only_filled=True),
    Table("ceiling", ("track", "judge", "person"), {
        "track": TRACK,
        "judge": Column("name", "set of labels: a judge or people"),
        "person": Column("name", "set of labels of people: those of --human, or the reference"),
        "measure": stored("name", "the first measure"),
        "is_person": Column("yes", "whether the first set is of people, too", label="people"),
        "beside": Column("text", "the other people, whose agreement with the person is compared; "
                         "null: none", True, show="none"),
        "queries": Column("count", "queries with a label of all these sets", show="page"),
        "docs": Column("count", "docs with a label of all these sets", show="page"),
        "labelled": Column("text", "their share of the reference's labels of these queries, by the "
                           "reference's grade", show="page", label="of the reference's docs"),
        **spanned("tau", f"tau-b of the leaderboards by both sets; {NONE}", DEVIATIONS, "tau-b"),
        "tau_people": real("mean tau-b of the person with the other people; NaN: none",
                           "people"),
        **spanned("tau_difference", "tau-b minus that of people", DEVIATIONS, "difference"),
        "tau_beside": Column("text", "higher or lower than that of people: the interval of the "
                             "difference is above or below 0; else not distinguishable; null: "
                             "undefined", True, label="tau-b is"),
        **spanned("kappa", "Cohen's kappa of relevance of both sets on these docs; NaN: "
                  "undefined", _95, "kappa"),
        "kappa_grades": real("Cohen's kappa of grades; NaN: other scales", "kappa of grades",
                             show="page"),
        "kappa_people": real("mean kappa of relevance of the person with the other people; NaN: "
                             "none", "people"),
        **spanned("kappa_difference", "kappa of relevance minus that of people", DEVIATIONS,
                  "difference"),
        "kappa_beside": Column("text", "as for tau-b", True, label="kappa is"),
    }, caption="Agreement of judges with people beside that of people with people.",
       section="Judges beside people", only_filled=True),
    Table("rankers", ("track", "judge"), {
        "track": TRACK,
        "judge": Column("name", "set of labels by which the docs with a label of it or of the "
                        "reference are ranked"),
        "is_person": Column("yes", "whether it is of people", label="people"),
        "queries": Column("count", "queries that both labelled, with a doc of positive grade"),
        **spanned("ndcg", "nDCG@10 of these lists by the reference: the expectation over orders "
                  "of ties; docs without a label are last", "95 % interval by Student's t",
                  "nDCG@10"),
        "best_system": Column("name", "best system by the reference, chosen on these queries"),
        "best": real("its nDCG@10", "best system's"),
        **spanned("difference", "nDCG@10 of the labels minus that of the best system",
                  "95 % interval by Student's t", "difference"),
        "systems_above": Column("count", "systems with a greater mean", label="systems above"),
    }, caption="People and judges as rankers: nDCG@10 by the reference of docs ranked by labels.",
       section="Judges beside people", only_filled=True),
    Table("annotators", ("track", "judge"), {
        "track": TRACK,
        "judge": JUDGE,
        "labels": Column("name", "labels that are compared: grades, or relevance where scales "
                         "differ"),
        "people": Column("count", "people, the reference among them"),
        "epsilon": Column("real", "what a person costs more than the judge, as a share of docs",
                          format="g"),
        "docs": Column("count", "fewest docs of a person with a label of the judge and another "
                       "person"),
        "advantage": percent("mean over people of the share of docs on which the judge agrees with "
                             "the others at least as well"),
        "winning_rate": percent("share of people whom the judge may replace, docs being "
                                "independent; it passes from .5 on; NaN: too few docs",
                                "winning rate"),
        "winning_rate_queries": percent("the same with standard errors of whole queries",
                                        "winning rate, by query"),
    }, caption="The alternative annotator test: may a judge replace one of several people?",
       section="Judges beside people", only_filled=True),
    Table("filling", ("track", "judge", "way"), {
        **BY_MEASURE,
        "way": Column("name", "docs without a label are nonrelevant; filled: labelled by the "
                      "judge, with the map of its grades, or with the mean grade by the reference, "
                      "for comparison; condensed: removed from the lists; judge alone: all labels "
                      "are the judge's"),
        "queries": stored("count", "queries that both labelled"),
        "teams": stored("count", "teams, half of which are left out of the pool"),
        "draws": stored("count", "random halves"),
        "labelled": percent("mean share of the reference's labels that remain: those of docs in "
                            "the first ranks of the other teams", "labels left", show="page"),
        **spanned("tau", "mean tau-b with the reference's order by all its labels",
                  f"{DEVIATIONS}, over draws and queries", "tau-b"),
        **spanned("places", "mean places by which systems of the teams left out stand higher than "
                  "by all labels of the reference", f"{DEVIATIONS}, over draws and queries",
                  "places of new teams"),
        **spanned("difference", "tau-b minus that of docs without a label as nonrelevant; NaN: "
                  "that itself", f"{DEVIATIONS}, over draws and queries", "beside nonrelevant"),
        **spanned("beyond_mean", "tau-b minus that of the mean grade in every hole that the judge "
                  "fills; NaN: not filled by the judge's grades",
                  f"{DEVIATIONS}, over draws and queries", "beside the mean grade"),
        "raised": percent("share of draws with a greater tau-b than nonrelevant", "draws above",
                          show="page"),
        "excess": real("mean grade of filled docs minus that by the reference; NaN: not filled",
                       "error of grades"),
        "verdict": Column("text", "helps: the interval of the difference is above 0; does harm: "
                          "below; else not shown; null: undefined", True),
    }, caption="Orders of systems where half of the teams were left out of the pool.",
       section="Holes", only_filled=True),
    Table("holes", ("track", "judge", "system"), {
        **BY_MEASURE,
        "system": SYSTEM,
        "queries": stored("count", "queries that both labelled"),
        "map": Column("text", "map of the judge's grades to the scale of the reference: same, "
                      "pairs of grades, expected or drawn", show="none"),
        "holes": percent("share of the first ranks without a label by the reference", "holes"),
        "holes_filled": percent("the same without a label by either", "holes, filled"),
        "people": measured("mean by the reference's labels; docs without one are not relevant"),
        "lower": measured("lower bound of the mean for any grades of the system's own docs "
                          "without a label, which others' docs could lower further; NaN: AP"),
        "upper": measured("upper bound of the same"),
        "condensed": measured("mean without docs that the reference did not label"),
        "filled": measured("mean by the reference's labels and, where it has none, the judge's; "
                           "drawn: mean over the draws"),
        "judge_alone": measured("mean by the judge's labels alone"),
    }, caption="Docs without a label by the reference, and means of systems by each way to treat "
               "them.", folded=True, latex=False, section="Holes", only_filled=True),
    Table("maps", ("track", "judge", "judge_grade"), {
        **BY_MEASURE,
        "map": Column("text", "map of the judge's grades to the scale of the reference: same, "
                      "pairs of grades, expected or drawn"),
        "judge_grade": Column("real", "grade by the judge", format="g"),
        "docs": Column("count", "docs with this grade that the reference labelled"),
        "expected": real("mean grade by the reference of these docs; without docs, of those of "
                         "the nearest grade, the lower of two; NaN: no doc has both"),
        "filled": real("grade by which docs without a label by the reference are filled; NaN: "
                       "drawn"),
    }, caption="Grades of judges on the scale of the reference.", folded=True, latex=False,
       section="Holes", only_filled=True),
    Table("families", ("track", "judge", "family"), {
        "track": TRACK,
        "judge": JUDGE,
        "family": Column("name", "family of models, from the file of --families"),
        "measure": stored("name", "the first measure"),
        "teams": Column("count", "teams with a system of the family, which are the units"),
        "systems": Column("count", "systems of the family"),
        "pairs": percent("share of the reference's labels whose pairs of query and doc all judges "
                         "labelled, which alone are used", "pairs", show="page"),
        "displacement": real("mean over teams of the mean by the judge minus that by its permuted "
                             "labels; positive: too high", show="page"),
        **spanned("contrast", "displacement minus that of the teams of all other families",
                  "95 % interval over teams by Welch's t; NaN: fewer than 3 teams in the "
                  "family or outside it",
                  "contrast"),
        "rank_displacement": real("the same of ranks, in places upwards", "places", show="page"),
        "rank_contrast": real("places minus those of the teams of all other families",
                              "contrast in places", show="page"),
        "sd": stored("real", "standard deviation of the contrast under permuted labels"),
        "z": Column("real", "contrast / sd", format=".1f", show="page"),
        "p": Column("real", "p by permuted labels, corrected for all judges and families; NaN: "
                    "not tested", format=".4f"),
        "verdict": Column("text", "favoured or disfavoured: p is at most the significance level, "
                          "and the interval over teams is above or below 0; else not shown; null: "
                          "not tested", True),
        "unjudged": percent("mean over teams of the share of the first ten ranks without a label "
                            "by the judge", "unjudged@10"),
        "unjudged_common": percent("the same by the pairs that all judges labelled",
                                   "unjudged@10, pairs of all", show="page"),
    }, caption="Families of systems whose means the errors of a judge displace, with teams as "
               "units.", section="Families", only_filled=True),
)  # fmt: skip
