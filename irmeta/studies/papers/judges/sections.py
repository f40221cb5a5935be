"""The sections of the study's page: the verdicts first."""

from __future__ import annotations

from collections.abc import Iterator

from irmeta.phrases import count
from irmeta.studies.framework.section_parts import POINTER, data_section
from irmeta.studies.framework.study import Section, Show, Tables
from irmeta.studies.papers.judges.options import JudgesOptions as Options
from irmeta.studies.papers.judges.sources import SOURCES

FIGURES = ("tau", "slopes", "conclusions", "agreement")
"""The figures of a track."""


def sections(tables: Tables, options: Options) -> Iterator[Section]:
    """Yield the sections over tracks."""
    if tables["studied_tracks"]["used"].any():
        yield _verdicts(options)
    yield data_section(tables, options)
    if not tables["studied_tracks"]["used"].any():
        return
    yield _labels(options)
    yield _leaderboards(tables, options)
    yield _noise(options)
    yield _conclusions(options)
    yield Section(
        "The best systems",
        "What a user loses who takes the best systems of a judge: how much lower their mean is, by "
        "the reference, than that of the reference's best. Of systems that tie at the border, all "
        "ways to choose are averaged.",
    )
    yield Section(
        "Systems",
        "Means and ranks of all systems by the reference and by each judge.",
    )
    yield Section(
        "Single queries",
        "On which queries a judge orders systems otherwise. A conclusion is turned on a query "
        "where the better system of a significantly different pair of the reference is better by "
        "the reference and worse by the judge. A query whose removal raises tau-b is one to judge "
        "again.",
    )
    yield Section("Sources", SOURCES)


def _verdicts(options: Options) -> Section:
    return Section(
        "Which conclusions survive",
        [
            f"A conclusion is a significantly different pair of systems by {options.measures[0]} "
            f"(test {options.tests[0]}, p <= {options.alpha:g}). Survives: the share of the "
            "reference's conclusions that the judge also has. Reversed conclusions are false, if "
            "the reference is right; unconfirmed ones are the judge's alone, and not false: the "
            "reference may have too few queries for them.",
            "Beside it stands what another sample of queries does to the reference alone: the "
            "conclusions on one half of its queries that the other half keeps. This is noise of "
            "queries, not of people; a second set of people's labels, where there is one, is one "
            "more judge. The halves have fewer queries than the judge, so that the two shares do "
            "not compare a judge with people; orders of systems compare alike in the column "
            "beside other queries. A judge's bias does not average out with more queries.",
        ],
        ["verdicts"],
    )


def _labels(options: Options) -> Section:
    return Section(
        "Labels",
        "Only docs that both judged are compared: an absent label is unjudged, not grade 0. "
        "Coefficients of grades need one scale, and are empty where the grades of both differ. "
        f"Intervals draw whole queries ({count(options.resamples, 'resample')}), because labels of "
        "one query are not independent.",
        ["judges"],
    )


def _leaderboards(tables: Tables, options: Options) -> Section:
    columns = ("track", "judge", "measure", "docs", "tau_b", "sd", "drawn", "tau_ap",
               "tau_ap_judge", "spearman", "same_best", "common_5", "common_10", "common_20",
               "drop", "dropped", "rise", "risen")  # fmt: skip
    text = [
        "The reference is never cut to what a judge judged. A query without any label by the judge "
        "counts 0. Best sets are compared as sets, in which ties share places.",
        "Intervals are the estimate plus and minus 1.96 standard deviations over resamples of the "
        "queries, within [-1, 1]. They are not percentiles, since a resample, in which queries "
        "repeat, has a lower tau-b than the queries themselves: the column resampled has its mean.",
    ]
    if options.common:
        text.append(
            "Rows of common docs cut both sets to the docs that both judged, as many papers do."
        )
    return Section(
        "Leaderboards",
        [*text, POINTER],
        [Show("leaderboards", [one for one in columns if options.common or one != "docs"])],
    )


def _noise(options: Options) -> Section:
    return Section(
        "Noise of queries",
        f"The queries are split at random in halves A and B ({count(options.splits, 'split')}). "
        "Tau-b of the reference on A with the reference on B is the noise of queries; tau-b of the "
        "judge on A with the reference on B adds the judge's. A judge whose difference covers 0 "
        "(quantiles .025 to .975) orders systems as well as people on other queries do, and no "
        "better. It may still favour some systems: that bias remains with any number of queries.",
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


def track_section(tables: Tables, options: Options, track: str) -> Section:
    """Return the section of one track: its figures."""
    facts = tables["studied_tracks"].row(0, named=True)
    labels = {"systems": facts["systems"], "queries with a relevant doc": facts["queries"]}
    judges = tables["judges"]
    if judges.height:
        labels["judges"] = judges.height - 1
        labels["reference"] = judges.filter("is_reference")["judge"][0]
    return Section(track, [], [f"{name}*" for name in FIGURES], facts=labels)
