"""The sections of the study's page."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from irmeta.phrases import count, listed
from irmeta.studies.framework.sections import POINTER, data_section
from irmeta.studies.framework.study import Section, Show, Tables
from irmeta.studies.original.judges.replicates import ALIKE
from irmeta.studies.original.judges.study import INTERVAL_TEST, REPEATS
from irmeta.studies.original.judges.study import JudgesOptions as Options
from irmeta.studies.original.judges.verdicts import (
    LEAST_DOCS,
    LEAST_QUERIES,
    MOST_APART,
    MOST_NAMED,
    MOST_UNJUDGED,
    OTHER_QUERIES,
    UNKNOWN,
    first_measure,
)

SOURCES = (
    "Rankings of systems by other assessors: Voorhees (1998), Variations in relevance judgments "
    "and the measurement of retrieval effectiveness, SIGIR; extended in Information Processing and "
    "Management 36 (2000), 697-716.",
    "Judges that are language models: Faggioli et al. (2023), Perspectives on large language "
    "models for relevance judgment, doi:10.1145/3578337.3605136; Rahmani et al. (2024), LLMJudge, "
    "arXiv:2408.08896; Rahmani et al. (2025), Judging the judges, arXiv:2502.13908.",
    "Weights of gaps: Gao and Oard (2015), doi:10.1145/2766462.2767793. Decisiveness and bias: "
    "Gera et al. (2024), JuStRank, arXiv:2412.09569.",
    "What a high correlation hides (the best systems, circular judges, significant differences): "
    "Clarke and Dietz (2024), arXiv:2412.17156; Otero, Parapar and Barreiro (2025), "
    "doi:10.1145/3726302.3730221; systems that re-rank by the judge's labels: Balog, Metzler and "
    "Qin (2025), doi:10.1145/3726302.3730348.",
    "People's labels of some queries, a judge's of all: Angelopoulos et al. (2023), "
    "Prediction-powered inference, doi:10.1126/science.adi6000; Angelopoulos, Duchi and Zrnic "
    "(2023), PPI++, arXiv:2311.01453; for rankings Oosterhuis et al. (2024), arXiv:2407.02464.",
)
COARSE = (
    "The verdict does not show that a judge knows a system: in simulations of 53 queries with "
    "judges that know none, 42 % of those with two grades that call 30 % of the nonrelevant docs "
    "relevant are called circular, and 27 % of those with 50 % of random labels."
)
REPLICATES = [
    "Judges with one model (and method) and other prompts or repeats are replicates. Their "
    "faults are named first: files without a label, docs with several grades (the last "
    "counts), files that lack over 1 % of the reference's labels, and judges whose kappa "
    "of relevance is not above 0. Judges with faults are in all means "
    "unless `--leave-out` names the fault; empty files never are.",
    "With all of its labels, each replicate differs also in the docs that it labelled. "
    "Models are therefore compared on the pairs of query and doc that the reference and "
    "all replicates labelled; all other docs are unjudged for both sides. Holes that both "
    "sides have make their orders more alike, so that tau-b on shared pairs compares "
    "models with one another, and is no estimate of tau-b on all pairs. Where many of the first "
    "ten docs are unjudged (unjudged@10), spread and components of prompts are too small, too: "
    "leave out the judges with few labels. Prompts that two "
    "models have are paired; intervals draw queries and prompts together, which is "
    "somewhat wide.",
    "Variance components are of values by the judges on the shared pairs, from mean "
    "squares with models, prompts, queries and systems as random. Prompts that several "
    "models have are crossed with models, not nested; of few models, their own component "
    "is very uncertain. Means of systems compare by the component of systems beside its "
    "interactions alone: E rho^2 says how well systems are told apart by this model with "
    "some prompts, not how well it agrees with people. The last column has the number of "
    "queries on which one prompt would do as well.",
]
"""What the page says of prompts and repeats."""
FIGURES = (
    "tau", "replicates", "ceiling", "conclusions", "slopes", "contrasts", "adoption", "mixtures",
    "widths", "agreement",
)  # fmt: skip
"""The figures of a track."""


def sections(tables: Tables, options: Options) -> Iterator[Section]:
    """Yield the sections over tracks."""
    has_labels = "score_tables" not in tables
    if tables["studied_tracks"]["used"].any():
        yield _verdicts(tables, options) if has_labels else _verdicts_of_values(tables, options)
    yield data_section(tables, options) if has_labels else _score_tables(tables)
    if not tables["studied_tracks"]["used"].any():
        return
    if has_labels:
        yield _labels(options)
    elif tables["leaderboards"].is_empty():
        yield Section("Sources", SOURCES)
        return
    yield _leaderboards(tables, options)
    if "ceiling" in tables:
        yield _people(options)
    yield Section(
        "Decisiveness",
        "The win rate of two systems is the share of queries on which the first has the greater "
        "value; a tie is half. Decisiveness is the shape a of the distribution function of Beta(a, "
        "a) that maps win rates by the reference to those by the judge with the least sum of "
        "squares: above 1 the judge exaggerates differences of systems; below 1 it flattens them, "
        "as noise of its labels does. "
        "The bias of a system is its mean win rate by the judge over all other systems minus that "
        "expected; noise of the queries spreads the biases of a judge that has none. JuStRank, "
        "which introduced both, compares with win rates of people on other prompts; here both "
        "sides have the same queries.",
    )
    if "categories" in tables:
        yield Section(
            "Categories",
            "Means over the judges of each model, prompt, method and repeat, without weights; the "
            "least and the greatest tau-b show their spread. Judges of one category share queries "
            "and may share errors.",
            ["categories"],
        )
    if "replicates" in tables:
        yield Section("Prompts and repeats", REPLICATES)
    yield _noise(options)
    yield _conclusions(options)
    yield Section(
        "The best systems",
        "The regret of choosing the best systems by a judge: the mean of the reference's best "
        "systems minus that of the judge's best, both by the reference. Where systems tie at the "
        "border, all choices are averaged.",
    )
    if has_labels:
        yield _bias(options)
        if "families" in tables:
            yield _families(options)
        if "adoption" in tables:
            yield _adoption(options)
        if "holes" in tables:
            yield _holes(tables, options)
    yield _label_saving(tables, options)
    yield Section(
        "Single queries",
        "Queries on which a judge orders systems differently. A conclusion is reversed on a query "
        "where the better system of a significantly different pair of the reference is better by "
        "the reference and worse by the judge. A query whose removal raises tau-b is worth "
        "judging again.",
    )
    yield Section("Sources", SOURCES)


def _verdicts_of_values(tables: Tables, options: Options) -> Section:
    """Return the section of verdicts on tables of values: of judges that share queries."""
    measure, test = first_measure(tables, options), options.tests[0]
    text = [
        f"A conclusion is a significantly different pair of systems by {measure} (test {test}, "
        f"p <= {options.alpha:g}), over the queries of both tables. Survives: the share of the "
        f"reference's conclusions that the judge also has{_survival_text(options)} Reversed "
        "conclusions are false, if the reference is right. "
        "Reference, other queries: the share of the reference's conclusions on one half of the "
        "queries that the other half keeps. Tables of values have no labels, so that the agreement "
        "of labels and a bias to groups cannot be said.",
    ]
    keys = ["track"] if tables["verdicts"]["track"].n_unique() > 1 else []
    if tables["verdicts"]["category"].is_not_null().any():
        keys.append("category")
    columns = ["judge", *keys, "queries", "tau_b", "survived", "survived_holm", "survived_halves",
               "conclusions", "reversed", "orders_as", "limits"]  # fmt: skip
    show: list[str | Show] = [Show("verdicts", columns)]
    apart = tables["other_queries"].unique("judge", maintain_order=True)
    notes = [
        f"{row['judge']}: {OTHER_QUERIES}. The reference has "
        f"{count(row['queries_reference'], 'query')}, {row['judge']} "
        f"{count(row['queries_judge'], 'query')}: tau-b mixes the judge with the queries, and "
        "there is no verdict."
        for row in apart.iter_rows(named=True)
    ]
    if notes:
        first = ("queries_reference", "queries_judge", "shared", "tau_b", "tau_halves", "tau_ap",
                 "tau_ap_judge", "tau_gap", "spearman", "pearson", "rmse", "systems")  # fmt: skip
        show.append(Show("other_queries", ("track", "judge", "measure", *first)))
        text.append(
            "Where no query is shared, both leaderboards are means over other queries. Their "
            "intervals draw the queries of each table by themselves. Beside them is the mean tau-b "
            "of the reference on two halves of its queries, which are fewer and have more noise: a "
            "lower bound only of tau-b on as many other queries. There are no conclusions, no "
            "prediction-powered means and no tau-b by query."
        )
    return Section("Which conclusions survive", text, show, notes=notes)


def _score_tables(tables: Tables) -> Section:
    """Return the section on the tables of values that were read."""
    notes = tables["studied_tracks"]["notes"].drop_nulls().to_list()
    return Section(
        "Score tables",
        "Values by system, query and measure, read as they are: irmeta did not compute them. Rows "
        "of means (all, amean) are no queries. A query on which all systems have 0 by all measures "
        "of a table is taken as not judged.",
        ["score_tables"],
        notes=[f"{part}." for text in notes for part in text.split("; ")],
    )


def _verdicts(tables: Tables, options: Options) -> Section:
    measure, test = options.measures[0], options.tests[0]
    return Section(
        "Which conclusions survive",
        [*summary(tables, options)],
        ["verdicts"],
        below=[
            f"A conclusion is a significantly different pair of systems by {measure} (test {test}, "
            f"p <= {options.alpha:g}), over the queries that both labelled. Survives: the share of "
            "the reference's conclusions that the judge also has"
            f"{_survival_text(options)} Reversed conclusions are false, if the reference is right.",
            "Nothing can be said of a judge that shares fewer than "
            f"{LEAST_QUERIES} queries with the reference, or leaves over {MOST_UNJUDGED * 100:g} "
            "points more of the first ten docs unjudged: absent labels would decide. Where the "
            "share of the reference's docs that a judge labelled differs by more than "
            f"{MOST_APART * 100:g} points between grades (of {LEAST_DOCS} labels or more), the "
            "docs may have been selected by grade, as where people relabel what was found "
            "relevant; agreement is then an upper bound of that on all docs. These four limits "
            "are chosen by us.",
            "For comparison, the noise of queries is the share of the reference's conclusions on "
            "one half of the queries that the other half keeps. It is not the noise of people; a "
            "second set of people's labels, where there is one, is one more judge. The halves have "
            "fewer queries than the judge, so that the two shares do not compare a judge with "
            'people; the column "beside other queries" compares orders of systems on equally many '
            "queries. A judge's bias does not average out with more queries.",
            "Bias found: the judge's errors depend on more than query and reference grade. They "
            "raise or lower the means of all systems, or those of some groups, types of run or "
            "systems more than those of all others (for, against). None: this is not shown; a "
            "contrast as great as that beside it would be found with probability .8 (a range, "
            "since it differs by system). Each is described below.",
        ],
    )


def summary(tables: Tables, options: Options) -> Iterator[str]:
    """Yield one sentence each on conclusions, people, adoption, holes, and prompts."""
    verdicts = tables["verdicts"].sort("survived", "judge", nulls_last=True)
    several = tables["studied_tracks"]["used"].sum() > 1
    name = pl.format("{} on {}", "judge", "track") if several else pl.col("judge")
    number, verdicts = verdicts.height, verdicts.with_columns(name=name)
    verdicts = verdicts.filter(pl.col("survived").is_not_nan())
    what = ("judge", "judges")
    if several:
        what = ("pair of a judge and a track", "pairs of a judge and a track")
    test, _, correction = options.tests[0].partition("+")
    how = f"corrected by {correction}" if correction else "without correction"
    if verdicts.height:
        reversing = int((verdicts["reversed"] > 0).sum())
        shares = [
            f"{100 * row[0]:.0f} % ({row[1]})" for row in verdicts.select("survived", "name").rows()
        ]
        span = shares[0] if len(shares) == 1 else f"{shares[0]} to {shares[-1]}"
        yield (
            f"Conclusions: of the reference's by {options.measures[0]} ({test}, {how}), on the "
            f"queries that both labelled, a judge keeps {span}; {reversing} of "
            f"{count(verdicts.height, *what)} "
            f"{'reverses' if reversing == 1 else 'reverse'} one or more."
        )
    if unsaid := number - verdicts.height:
        yield (
            f"No share of conclusions: {count(unsaid, *what)}, of which nothing can be said "
            "(see limits), or where the reference has no conclusion."
        )
    ceiling = tables.get("ceiling")
    if ceiling is not None and len(people := ceiling.filter("is_person")["tau"].drop_nans()):
        told = f"from {people.min():.3f} to {people.max():.3f}" if len(people) > 2 else (
            f"{people[0]:.3f}"
        )  # fmt: skip
        words = ceiling.filter(~pl.col("is_person"))["tau_beside"].drop_nulls()
        counts = [
            f"{(words == word).sum()} {word}"
            for word in ("higher", "not distinguishable", "lower")
            if (words == word).any()
        ]
        of_pairs = f"; of {count(len(words), 'pair')} of a judge and a person, "
        how = " (by 95 % intervals, not corrected for their number)"
        beside = f"{of_pairs}{listed(counts)}{how}" if counts else ""
        yield (
            f"People: tau-b by {options.measures[0]} of the leaderboards of two people is "
            f"{told}{beside}."
        )
    effects = tables["verdicts"].with_columns(name=name).filter(pl.col("circular").is_not_null())
    if effects.height:
        circular = effects.filter(circular="circular").sort("circular_effect", descending=True)
        texts = [
            f"{row['name']} ({row['circular_effect']:.2f}, {row['circular_effect_low']:.2f} to "
            f"{row['circular_effect_high']:.2f})"
            for row in circular.to_dicts()
        ]
        named = f": {listed(texts, MOST_NAMED)}" if texts else ""
        yield (
            f"Adoption: {len(texts)} of {count(effects.height, *what)} "
            f"{'is' if len(texts) == 1 else 'are'} called circular{named} (tau-b lost because all "
            "systems adopt the judge's labels, not the reference's; 95 % interval over queries, "
            "not corrected for the number of judges); of the others that is not shown."
            + (f" {COARSE}" if texts else "")
        )
    yield from filling_text(tables, what, name)
    if "replicates" in tables:
        yield from _replicates_text(tables, bool(several))


def _replicates_text(tables: Tables, several: bool) -> Iterator[str]:
    """Yield a sentence on the spread over the prompts and repeats of models."""
    spread = tables["replicates"].filter(pl.col("replicates") > 1, pl.col("tau_mean").is_not_nan())
    for pairs in spread.partition_by("pairs", maintain_order=True):
        widest = pairs.sort(pl.col("tau_least") - pl.col("tau_greatest")).row(0, named=True)
        where = {"all": "each with all its labels", "shared": "on the pairs that all labelled"}
        on = f" on {widest['track']}" if several else ""
        is_unsaid = pl.col("limits").str.starts_with(UNKNOWN)
        unsaid = pairs.filter(is_unsaid)["model"].unique().sort().to_list()
        told = f"; of replicates of {listed(unsaid)} nothing can be said" if unsaid else ""
        if (pairs["limits"] == ALIKE).any():
            told += (
                f"; {widest['unjudged']:.0%} of the first ten docs have no label there on either "
                "side, which makes orders alike, so that the spread is too small"
            )
        yield (
            f"Prompts and repeats, {where[pairs['pairs'][0]]}: tau-b by {widest['measure']} spans "
            f"{widest['tau_least']:.3f} to {widest['tau_greatest']:.3f} over the "
            f"{widest['replicates']} replicates of {widest['model']}{on}, the widest of "
            f"{count(pairs.height, 'model')}{told}."
        )


def _survival_text(options: Options) -> str:
    """Return the end of a sentence: the correction of the shares, and their interval."""
    test, _, correction = options.tests[0].partition("+")
    parts = list[str]()
    if not correction and f"{test}+holm" in options.tests:
        parts.append("without a correction for the number of pairs, and with Holm's")
    if options.tests[0] == INTERVAL_TEST:
        parts.append(
            "in brackets the 95 % interval of the uncorrected share over queries: Student's t "
            "times its deviation between halves of the queries"
        )
    return "".join(f"; {part}" for part in parts) + "."


def _labels(options: Options) -> Section:
    return Section(
        "Labels",
        "Only docs that both judged are compared: an absent label is unjudged, not grade 0. "
        "Coefficients of grades need one scale, and are empty where the grades of both differ. "
        f"Intervals draw whole queries ({count(options.resamples, 'resample')}), because labels of "
        "one query are not independent: percentiles or, of 5 to 19 queries, a bootstrap-t; of 2 to "
        "4 they are Student's t by a jackknife over queries.",
    )


def _leaderboards(tables: Tables, options: Options) -> Section:
    columns = ("track", "judge", "measure", "docs", "queries", "tau_b", "sd", "drawn", "tau_many",
               "tau_by_query", "tau_ap", "tau_ap_judge", "tau_gap", "spearman", "pearson", "rmse",
               "same_best", "common_5", "common_10", "common_20",
               "drop", "dropped", "rise", "risen")  # fmt: skip
    text = [
        "Both leaderboards are over the queries that both labelled (column queries). "
        "The best systems are compared as sets, in which ties share places.",
        "Intervals are the estimate plus and minus 1.96 standard deviations over resamples of the "
        "queries, within [-1, 1]. They are not percentiles, since a resample, in which queries "
        "repeat, has a lower tau-b than the queries themselves: the column resampled has its mean. "
        "They are for the tau-b that as many other queries would give, not for that of many: noise "
        "of the queries in both orders lowers tau-b, so that a judge without bias stays below 1. "
        "Tau-b of many queries is estimated by inversion of a test: errors of resampled means are "
        "added to true means that have this tau-b, and those whose tau-b is like the observed one "
        "are kept. Of judges simulated with the variances of TREC 2021 deep learning, with true "
        "tau-b 1, .835 and .6 on 25 and 53 queries, its intervals cover over 90 %.",
    ]
    text.append(
        "Tau-GAP is tau-AP with the gaps of the reference's means as weights: to exchange systems "
        "of nearly equal means costs little. Tau-b by query is the mean over single queries, whose "
        "orders have more noise than those of means."
    )
    if options.common:
        text.append(
            "Rows of common docs cut both sets to the docs that both judged, as many papers do. "
            "All other tables of this page are by common docs."
        )
    return Section(
        "Leaderboards",
        [*text, POINTER],
        [
            Show(
                "leaderboards", [column for column in columns if options.common or column != "docs"]
            )
        ],
    )


def _people(options: Options) -> Section:
    text = [
        "Each set of labels is compared with each person, over the queries and docs that it and "
        "all people labelled. People are the reference, and the sets of `--human`. Beside is the "
        "mean of that person with the other people, and the difference with its 95 % interval, for "
        "which queries are drawn for all sets together: an interval that holds 0 is not "
        "distinguishable, which is no proof of equality.",
        "Agreement of people with people is a yardstick, no bound: a judge that averages out the "
        "whims of people may agree with each of them better than they do with one another. Where "
        "docs were selected by the reference's grade (see the shares of its docs), agreement is an "
        "upper bound of that on all docs, and kappa is of these docs only.",
        "People as rankers: docs are ranked by the labels of a set, as a system would that knew "
        "them, and scored by the reference; ties are averaged. The best "
        "system is chosen by these labels, so that its mean is too high by chance: a system above "
        "people is no proof that it knows more than they do.",
    ]
    if options.epsilon is not None:
        text.append(
            "The alternative annotator test asks of each person whether the judge agrees with the "
            "others at least as well, on all but a share epsilon of the docs. The judge passes if "
            "the winning rate is at least 50 %. The paper takes docs as independent, which they "
            "are not within a query; the last column has standard errors of whole queries."
        )
    return Section("Judges beside people", text)


def _noise(options: Options) -> Section:
    return Section(
        "Noise of queries",
        "The queries are split at random in equal halves A and B "
        f"({count(options.splits, 'split')}). "
        "Tau-b of the reference on A with the reference on B is the noise of queries; tau-b of the "
        "judge on one half with the reference on the other adds the judge's (mean of both ways). A "
        "judge orders systems as well as people on as many other queries if the lower 95 % limit "
        f"of the difference (one-sided, bootstrap over queries) is above {-options.margin:g}, and "
        "worse if the upper limit is below; else it cannot be said. Least loss: the loss of tau-b "
        "that these queries show with power .8, 2.49 standard errors. All this is about half of "
        "the queries: with more, the noise shrinks and the bias of a judge remains.",
        ["query_noise"],
    )


def _conclusions(options: Options) -> Section:
    return Section(
        "Conclusions",
        "Pairs of systems that are significantly different by both in the same direction (kept), "
        "in opposite directions (reversed), by the reference alone (lost), or by the judge alone "
        "(new). Of new ones, those are counted whose means by the reference have the same "
        "direction. hsd-randomised controls the family-wise error rate over all pairs by the "
        "greatest difference of permuted systems; p-values of a permutation test with few "
        "resamples are too coarse for a correction. Halves: the conclusions of the reference on a "
        "half of its queries that it keeps, or reverses, on the other half.",
        ["conclusions"],
    )


def _bias(options: Options) -> Section:
    among = "of the same query and" if options.within == "query" else "of all queries with"
    within = "in each query" if options.within == "query" else "in all queries together"
    return Section(
        "Bias",
        [
            "A judge that cannot see systems errs alike on all docs of a query that have one grade "
            f"by the reference. So the labels of the judge are permuted among docs {among} the "
            f"same grade by the reference ({count(options.draws, 'draw')}); its confusion matrix "
            f"{within}, and so its leniency, stays. Docs without a label by the judge have none in "
            "any draw, and labels of docs that the reference did not judge stay. Displacement: the "
            "mean by the judge minus that by its permuted labels. Contrast: displacement of a "
            "system, group or type minus that of all other systems.",
            "A contrast is divided by its standard deviation under permuted labels. p is the share "
            "of draws whose greatest such value over all judges, measures, systems, groups and "
            "types of the track is at least as great, so that a track has any flag "
            f"with a probability of at most {options.alpha:g} if no judge sees more than "
            "query and grade.",
            "A flag says that errors depend on more than query and reference grade, not why: the "
            "judge may know a system, favour the text that one kind of system retrieves, or err "
            "on docs that are nearly relevant, which good systems retrieve. A group with more "
            "unjudged docs (unjudged@10) has fewer labels that could err. Measures that are no "
            "sums over docs are tested only if they are the first, because draws take long.",
        ],
    )


def _families(options: Options) -> Section:
    return Section(
        "Families",
        "Systems of one family of models may please a judge of that family. As under Bias, "
        "displacement is the mean by the judge minus that by its labels permuted among docs of "
        f"the same reference grade ({count(options.draws, 'draw')}), here over the pairs of query "
        "and doc that all judges labelled, and as a mean over teams, whose systems are alike; "
        "a team in several families counts once on each side of a contrast. A family is favoured "
        "if p is at most "
        f"{options.alpha:g}, corrected for all judges and families, and the interval over "
        "teams (Welch's t) is above 0: the first is the chance of labels, the second of teams. "
        "Families of fewer than three teams, and those with fewer outside, are described alone. A "
        "family with more unjudged docs has fewer labels that could err. Which docs a family "
        "retrieves differs in more than its models: a favoured family shows no cause.",
    )


def _adoption(options: Options) -> Section:
    return Section(
        "Adoption",
        [
            "A judge that is part of the systems cannot evaluate them. So the first "
            f"{options.adoption} docs of each list are re-ranked by the labels of the judge, docs "
            "of equal labels in the order of the list. Confirmed is the share of the adopters' "
            "gain by the judge that the reference gives too. Places won: how many places a system "
            "stands higher by the judge than by the reference if it alone adopts. Tau-b is the "
            "judge's with the reference, after one, some or all systems adopt "
            f"({count(options.adoption_draws, 'draw')} of the systems).",
            "A fall of tau-b alone shows no circularity: re-ranked systems differ less (standard "
            "deviations), and tau-b falls where they adopt the reference's labels, too. The "
            "circular effect is tau-b if all systems adopt the reference's labels minus that if "
            "all adopt the judge's. It is 0 on average if judge and reference are equally good "
            "people, since either could then be called the judge. A judge is called circular if "
            "the 95 % interval over queries is above 0: its leaderboard can be gamed more than "
            f"people's. {COARSE} Not shown is no proof of independence. Intervals are of each "
            "judge alone: of 40 judges as good as people, one is called circular on average. "
            "Adoption of other judges' labels, in the table of all rows, games a judge too if both "
            "err alike.",
        ],
        [
            Show("adoption", ("track", "judge", "adopted", "tau_before", "tau", "gain_judge",
                 "gain_reference", "confirmed", "sd_reference", "sd_judge", "effect"),
                 {"labels": ("judge", "reference"), "share": (1.0,)}, name="adoption_by_all",
                 caption="Orders of systems that all re-rank their lists by the labels of the "
                 "judge, or of the reference."),
        ],
    )  # fmt: skip


def _holes(tables: Tables, options: Options) -> Section:
    text = [
        f"Holes are docs in the first {options.holes} ranks of lists without a label by the "
        "reference. They may be nonrelevant, removed from the lists (condensed), or filled with "
        "the judge's labels. Filling needs one scale: grades of the judge are used as they are "
        "(same), by stated pairs, as the mean grade by the reference of the docs with that grade "
        "by the judge (expected), or as the grade of one of these docs (drawn). The modal grade "
        "would make rare grades vanish. A mean grade is no grade: it suits measures whose gain is "
        "the grade, not a least relevant grade, for which drawn is better.",
    ]
    if "filling" not in tables:
        text.append("Whether filling helps is not tested: that needs groups of systems (teams).")
        return Section("Holes", text)
    text += [
        "Does filling help? Half of the teams are left out of the pool "
        f"({count(options.hole_draws, 'draw')}): only docs in the first {options.holes} ranks of "
        "the other teams keep the reference's labels, by which expected and drawn grades are "
        "fitted. The order of all systems is compared with that by all labels of the reference. "
        "Docs that the reference never labelled are not tested, and count as nonrelevant: what "
        "filling them is worth, nobody knows. Places of new teams are above 0 where the systems "
        "left out stand too high. A way helps, or does harm, if the 95 % interval of tau-b minus "
        "that of nonrelevant holes, over draws and queries, is above or below 0. Intervals are of "
        "each row alone, and of these teams: other teams may differ.",
        "Filling is worse than nonrelevant holes where scales differ: a filled doc whose grade is "
        "too high raises the systems that people judged less, and ideal lists; error of grades has "
        "the mean grade of filled docs minus that by the reference. Grades fitted on docs of the "
        "other teams may err too: docs that these teams miss may be better or worse than others of "
        "the same grade by the judge.",
        "That a way helps is not yet the merit of the judge: the mean grade by the reference in "
        "every hole that the judge fills may help, too (filled: mean grade). The judge's grades "
        "are worth more where the interval of the difference from it is above 0.",
    ]
    return Section("Holes", text)


def filling_text(tables: Tables, what: tuple[str, str], name: pl.Expr) -> Iterator[str]:
    """Yield one sentence on whether `what`, judges, help to fill holes, by the map of each."""
    rows = tables.get("filling")
    if rows is None or rows.is_empty():
        return
    maps = tables["maps"].select("track", "judge", "map").unique()
    rows = rows.join(maps, on=["track", "judge"]).filter(
        pl.col("way") == pl.format("filled: {}", "map"), pl.col("verdict").is_not_null()
    )
    if rows.is_empty():
        return
    helped, harmed = (rows.filter(verdict=word).height for word in ("helps", "does harm"))
    difference = pl.col("difference")
    base = tables["filling"].filter(way="nonrelevant")["tau"].mean()
    beyond = rows.filter(pl.col("beyond_mean_low") > 0).height
    named = [
        f"{row['name']} ({row['tau']:.3f}; mean error of filled grades {row['excess']:+.2f})"
        for row in rows.with_columns(name=name).filter(difference < 0).sort(difference).to_dicts()
    ]
    yield (
        "Holes: to fill docs of teams left out of the pool with the judge's labels helps with "
        f"{helped} of {count(rows.height, *what)}, and does harm with {harmed}, beside nonrelevant "
        f"holes (mean tau-b {base:.3f}); with {rows.height - helped - harmed} neither is shown. "
        f"More than the mean grade in these docs, which takes no judge, is shown of {beyond}."
        + (f" Below these: {listed(named, MOST_NAMED)}." if named else "")
    )


def _label_saving(tables: Tables, options: Options) -> Section:
    return Section(
        "Queries that people must still label",
        [
            "Mixture: n random queries have the reference's labels, and the others the judge's "
            f"({count(REPEATS, 'random order')}). A mixture contains labels of "
            "the reference, and becomes the reference as n grows, whatever the quality of the "
            "judge. So the table also has the n queries of the reference alone, and compares both "
            "with the reference on the queries not labelled, too.",
            "Corrected means (prediction-powered inference) use the judge's labels of all queries "
            "and correct them by the reference's of n queries: the bias of a judge cancels out, "
            "and an inaccurate judge gets a small weight. The table has the mean width of 95 % "
            "intervals, and how often they cover the mean over all queries in a simulation; 93 to "
            "97 % agrees with the nominal level. Equivalent is the number of queries that people "
            "alone would have to label for that width.",
        ],
        [
            Show("corrected", ("track", "judge", "measure", "labelled", "width_reference", "width",
                 "width_all", "equivalent", "coverage", "least_coverage"),
                 {"target": ("systems",), "method": ("ppi++",),
                  "measure": (first_measure(tables, options),)}, name="corrected_systems",
                 caption="Means of systems, corrected by PPI++: widths and coverage of 95 % "
                 "intervals."),
            *(["corrected_means"] if "corrected_means" in tables else []),
        ],
    )  # fmt: skip


def track_section(tables: Tables, options: Options, track: str) -> Section:
    """Return the section of one track: its figures."""
    facts = tables["studied_tracks"].row(0, named=True)
    labels = {"systems": facts["systems"], "queries with a relevant doc": facts["queries"]}
    judges = tables.get("judges")
    if judges is None:
        return Section(track, [], [f"{name}*" for name in FIGURES],
                       facts={"systems": facts["systems"], "queries": facts["queries"],
                              "judges": tables["verdicts"].height})  # fmt: skip
    if judges.height:
        labels["judges"] = judges.height - 1
        labels["reference"] = judges.filter("is_reference")["judge"][0]
    return Section(track, [], [f"{name}*" for name in FIGURES], facts=labels)
