"""The sections of the study's page."""

from __future__ import annotations

from collections.abc import Iterator

from irmeta.phrases import count
from irmeta.studies.framework.section_parts import data_section
from irmeta.studies.framework.study import Section, Show, Tables
from irmeta.studies.papers.trust.advice import advice, advice_over_tracks
from irmeta.studies.papers.trust.options import TrustOptions as Options

SOURCES = (
    "Halves of the queries and swaps: Voorhees and Buckley (2002), doi:10.1145/564376.564432. "
    "Variance components: Urbano, Marrero and Mart\u00edn (2013), On the measurement of test "
    "collection reliability, SIGIR. Depth of pools and evaluation, systems left out: Lu, Moffat "
    "and Culpepper (2016), doi:10.1007/s10791-016-9282-6. Least detectable differences: Sakai "
    "(2016), doi:10.1007/s10791-015-9273-z."
)


def sections(tables: Tables, options: Options) -> Iterator[Section]:
    """Yield the sections over tracks."""
    used = tables["studied_tracks"]["used"]
    if used.sum() > 1:
        yield Section(
            "Which measures can be trusted",
            "The section of each track shows every criterion and says what to report.",
            ["safe"],
            below=list(advice_over_tracks(tables, options)),
            is_first=True,
        )
    yield data_section(tables, options)
    if not used.any():
        return
    yield _grades(options)
    yield _criteria(options)
    yield Section(
        "Conclusions",
        "A conclusion is a pair of systems that differ significantly. It is safe if no condition "
        "undoes it, so that the pair no longer differs significantly in the same direction, and "
        "none reverses the sign of the difference. Other queries undo it where the difference has "
        "another sign in more than 2.5 % of the bootstrap samples: halves of the queries would "
        "halve the power too. No condition is more important than another. The file "
        "`conclusions.parquet` names for each pair those that undo it.",
    )
    yield Section(
        "Judgments",
        "Each row scores all systems again: with some of the relevant docs unjudged, at random; "
        "with some labels moved by one grade, all labels of a query that move in one direction, as "
        "one assessor is lenient or strict; by every other qrels set of the track. Real judges of "
        "language models have kappa around .4, and their errors have more in common than labels "
        "moved at random.",
    )
    yield Section(
        "Other measures",
        "Disagreement with other measures is no error, so it has no grade. Found: the share "
        "of another measure's significantly different pairs that the measure also has; reversed: "
        "the share of them that it orders the other way round.",
    )
    yield Section(
        "Over tracks",
        "On how many tracks each measure is safe, and the means of its criteria. Intervals draw "
        "whole collections with replacement: tracks that differ by a year or round at the end of "
        "their names are taken to share their docs.",
    )
    yield Section("Sources", SOURCES)


def _grades(options: Options) -> Section:
    return Section(
        "Grades",
        [
            "The grade of a family is the worst of its criteria; criteria are never added up. "
            f"Queries: tau-b of two halves of the queries, safe from {options.least_halves:g}, "
            f"unsafe below {options.unsafe_halves:g}; swaps, safe up to {options.most_swaps:.0%}, "
            f"unsafe above {options.unsafe_swaps:.0%}. Depth: tau-b at the depth of the pool with "
            "full lists. Judgments: tau-b without one contributor, with half of the relevant docs, "
            "with altered labels and by other qrels sets. Depth and judgments are safe from "
            f"{options.least_tau:g}, unsafe below {options.unsafe_tau:g}. Ties and ends: pairs "
            "that tie, means that tied scores change, pairs that trailing docs reverse; safe up to "
            f"{options.most_changed:.0%}, unsafe above {options.unsafe_changed:.0%}.",
            f"Tracks with fewer than {count(options.least_systems, 'system')} or "
            f"{count(options.least_queries, 'query', 'queries')} have no grades.",
        ],
        [
            Show("grades", ("track", "measure", "family", "grade", "number"), pivot="family",
                 name="trust_grades", caption="Grade of each family of criteria, and the number "
                 "that decides it."),
        ],
    )  # fmt: skip


def _criteria(options: Options) -> Section:
    own = ("track", "measure")
    return Section(
        "Criteria",
        "Separated: pairs of systems that differ significantly by paired t-tests with Holm's "
        "correction, and by the randomised HSD. Detectable: the least difference of means that a "
        f"t-test detects with power {options.power:g}. Halves: tau-b of the orders by two disjoint "
        "halves of the queries, with quantiles .025 and .975 over random splits; all queries "
        "together are more reliable than halves. Swaps: significantly different pairs of one half "
        "that the other half reverses. E rho\u00b2 and Phi: coefficients of generalizability and "
        f"dependability; queries needed for E rho\u00b2 = {options.reliability:g}. Least k: the "
        "least cutoff from which on the order has the safe tau-b with that of full lists.",
        [
            Show("trust", (*own, "queries", "separated", "separated_hsd", "detectable", "half_tau",
                 "swaps", "e_rho2", "phi", "queries_needed", "queries_grade"), name="trust_queries",
                 caption="Separation of systems, and dependence on the queries."),
            Show("trust", (*own, "least_k", "depth_tau", "depth_grade", "tied_pairs", "tie_change",
                 "end_flips", "ties_and_ends_grade"), name="trust_depth",
                 caption="Depth of lists, ties, and ends of lists."),
            Show("trust", (*own, "contributors", "left_out_tau", "left_out_drop", "rank_change",
                 "greatest_rank_change", "dropped_tau", "altered_tau", "other_qrels_tau",
                 "undecided", "judgments_grade"), name="trust_judgments",
                 caption="Dependence on the judgments."),
        ],
    )  # fmt: skip


def track_section(tables: Tables, options: Options, track: str) -> Section:
    """Return the section of one track: every criterion, what to report, grades by measure."""
    facts = tables["studied_tracks"].row(0, named=True)
    return Section(
        track,
        [],
        [
            "criteria_wide",
            Show("grades", ("measure", "family", "grade", "number"), pivot="family", name="grades",
                 page_only=True),
            "families",
        ],
        below=list(advice(tables, options)) if facts["used"] else [],
        is_first=True,
    )  # fmt: skip
