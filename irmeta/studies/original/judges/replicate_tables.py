"""Tables on prompts and repeats of judges, and the columns that tables of judges share."""

from __future__ import annotations

from typing import Any

from irmeta.schema.columns import SYSTEM, TRACK, Column, Shown, Table, percent, stored

JUDGE = Column("name", "judge: a qrels set, or the name of a file")
QUERIES = Column("count", "queries that both labelled, on which the reference has a value of every "
                 "system", show="page")  # fmt: skip
NONE = "NaN: all systems tie"
DEVIATIONS = "the estimate -+ 1.96 bootstrap standard deviations"
_REPLICATES = "Prompts and repeats"
_PAIRS = Column("name", "pairs of query and doc: all of each judge, or those that all replicates "
                "labelled (shared)")  # fmt: skip
_MODEL = Column("name", "model, with its method if any")
_SPREAD: tuple[tuple[str, str, str, Shown], ...] = (
    ("mean", "tau-b", "; NaN: undefined", "all"),
    ("sd", "sd of tau-b", "; NaN: fewer than two", "page"),
    ("least", "least tau-b", "; NaN: undefined", "all"),
    ("median", "median tau-b", "; NaN: undefined", "page"),
    ("greatest", "greatest tau-b", "; NaN: undefined", "all"),
)


def real(meaning: str, label: str = "", **more: Any) -> Column:
    return Column("real", meaning, label=label, format=".3f", **more)


def spanned(
    name: str, meaning: str, what: str, label: str = "", show: Shown = "all"
) -> dict[str, Column]:
    low, high = f"{name}_low", f"{name}_high"
    return {
        name: real(meaning, label, span=(low, high), show=show),
        low: stored("real", f"lower bound of {what}; NaN: undefined"),
        high: stored("real", "upper bound"),
    }


REPLICATE_TABLES = (
    Table("judge_faults", ("track", "judge", "fault"), {
        "track": TRACK,
        "judge": JUDGE,
        "fault": Column("name", "empty: a file without a label; repeated: docs with several "
                        "grades; partial: lacks labels of the reference's docs; chance: kappa of "
                        "relevance is not above 0"),
        "text": Column("text", "the fault, with its numbers"),
        "left_out": Column("yes", "whether the judge is left out of means over judges",
                           label="left out"),
    }, caption="Judges with faults, which means over judges hold unless they are left out.",
       section=_REPLICATES, only_filled=True),
    Table("replicates", ("track", "pairs", "model"), {
        "track": TRACK,
        "pairs": _PAIRS,
        "model": _MODEL,
        "measure": Column("name", "the first measure", show="none"),
        "replicates": Column("count", "judges of the model that are used"),
        "queries": Column("count", "least number of queries of a replicate"),
        "unjudged": percent("mean share of docs without a label in the first ten ranks; NaN: "
                            "values alone", "unjudged@10"),
        **{f"tau_{part}": real(f"{part} of tau-b over replicates{more}", label, show=show)
           for part, label, more, show in _SPREAD},
        "least_judge": stored("name", "judge of the least tau-b; null: none", True),
        "greatest_judge": stored("name", "judge of the greatest tau-b; null: none", True),
        **{f"kappa_{part}": real(f"{part} of Cohen's kappa of relevance{more}",
                                  label.replace("tau-b", "kappa"), show=show)
           for part, label, more, show in _SPREAD},
        "limits": Column("text", "replicates of which nothing can be said, or that unjudged@10 of "
                         "shared pairs is above .4; null: neither", True),
    }, caption="Spread of tau-b and kappa with the reference over the prompts and repeats of each "
               "model.", section=_REPLICATES, only_filled=True),
    Table("replicate_models", ("track", "model", "other_model"), {
        "track": TRACK,
        "model": _MODEL,
        "other_model": Column("name", "another model", label="other model"),
        "queries": Column("count", "queries with a pair that all replicates labelled"),
        "replicates": Column("count", "prompts that both models have, which alone are used; null: "
                             "none, so all of each are used", True, label="shared prompts"),
        "tau": real("mean tau-b over its replicates", "tau-b"),
        "tau_other": real("the same of the other model", "other's tau-b"),
        **spanned("difference", "tau-b minus that of the other model",
                   f"{DEVIATIONS}, which draw queries and prompts together; NaN: undefined",
                   "difference"),
        "verdict": Column("text", "higher or lower: the interval is above or below 0; else not "
                          "distinguishable; null: undefined", True),
    }, caption="Models compared on the pairs of query and doc that all replicates labelled.",
       section=_REPLICATES, only_filled=True),
    Table("replicate_components", ("track", "design", "component"), {
        "track": TRACK,
        "design": Column("name", "model whose replicates are crossed with queries and systems; "
                         "all models, crossed with the replicates that all have; or repeats "
                         "within the prompts of a model"),
        "component": Column("name", "facets; rest: the interaction of all, with all other error. A "
                            "cell is a query with a system"),
        "variance": Column("real", "variance; negative: too small to estimate", format=".5f"),
        "share": percent("share of the sum of the positive variances", "share"),
    }, caption="Variance components of values by judges, on the pairs that all labelled.",
       section=_REPLICATES, only_filled=True),
    Table("replicate_reliability", ("track", "model", "replicates"), {
        "track": TRACK,
        "model": _MODEL,
        "replicates": Column("count", "replicates whose values are averaged"),
        "queries": Column("count", "queries"),
        "e_rho2": real("expected squared correlation of the systems' means with those over all "
                        "prompts of the model and all queries; NaN: systems do not differ",
                        "E rho^2"),
        "as_queries": Column("real", "queries on which one replicate is as reliable; null: no "
                             "number of queries", True, label="as one on queries", format=".1f"),
    }, caption="How many queries several replicates are worth.", section=_REPLICATES,
       only_filled=True),
    Table("replicate_judges", ("track", "pairs", "judge"), {
        "track": TRACK,
        "pairs": _PAIRS,
        "model": _MODEL,
        "judge": JUDGE,
        "replicate": Column("name", "its prompt and repeat, or its name"),
        "queries": QUERIES,
        "unjudged": percent("mean share of docs without a label in the first ten ranks; NaN: "
                            "values alone", "unjudged@10"),
        "tau_b": real(f"Kendall's tau-b of the leaderboards; {NONE}", "tau-b"),
        "kappa": real("Cohen's kappa of relevance; NaN: undefined, or values alone", "kappa"),
    }, caption="Replicates of each model.", folded=True, latex=False, section=_REPLICATES,
       only_filled=True),
    Table("replicate_systems", ("track", "pairs", "model", "system"), {
        "track": TRACK,
        "pairs": _PAIRS,
        "model": _MODEL,
        "system": SYSTEM,
        "mean": real("mean over replicates of the mean of the system", "mean"),
        "sd": real("standard deviation over replicates", "sd"),
        "least": real("least mean", "least"),
        "greatest": real("greatest mean", "greatest"),
        "rank_first": Column("real", "best rank by a replicate", label="best rank", format="g"),
        "rank_last": Column("real", "worst rank by a replicate", label="worst rank", format="g"),
    }, caption="Spread of the means of systems over the replicates of each model.", folded=True,
       latex=False, section=_REPLICATES, only_filled=True),
)  # fmt: skip
