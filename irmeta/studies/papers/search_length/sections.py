"""The sections of the study's page, in the paper's order."""

from __future__ import annotations

from collections.abc import Iterator

from irmeta.studies.framework.data import data_section
from irmeta.studies.framework.sides import ROLES
from irmeta.studies.framework.study import Section, Show, Tables
from irmeta.studies.framework.words import count
from irmeta.studies.papers.search_length.chains import CHAINS
from irmeta.studies.papers.search_length.options import SearchLengthOptions as Options
from irmeta.studies.papers.search_length.paper import DATA, EFFECTIVE_FRACTION

BEYOND = (
    "AP discounts rank r by 1/r, so the paper's 1/P is the search length; what it averages is the "
    "length. nDCG, RBP and ERR discount by other functions c, and go the same way: a doc by itself "
    "is worth c(SL), then docs, and then queries, are averaged as lengths.",
    "The literal 1/c would not do: for nDCG it is log2(1 + SL), no flat scale of ranks, and for "
    "RBP p^(1 - SL), which the deepest doc alone decides. The measures' own gains stay as "
    "weights, so nDCG and ERR end at a search length in which docs of a higher grade count more. "
    "A perfect list is worth 1 after the first step, where RBP's and ERR's own value is less: the "
    "Delta-value of that step, and of the cumulative step, includes that change of scale.",
)


def sections(tables: Tables, options: Options) -> Iterator[Section]:
    """Yield what is said over tracks."""
    yield data_section(tables, options, "Data (Section 4.1)", DATA)
    if not tables["studied_tracks"]["used"].any():
        return
    yield _headroom(tables, options)
    yield _two_techniques(tables, options)
    yield Section(
        "Reordering (Section 4.4)",
        "From AP to ASL a step at a time, each compared with the one before. Delta-sort is how "
        "far a track's furthest system moves past the others, in per cent of its systems; "
        f"better means a ratio of means of at least {options.ratio:g} and a two-sided test "
        f"({options.test}) with p up to {options.alpha:g}. Delta-value is new over old, in P "
        "space, over all systems: where AP is near 0 it is large, so a few weak systems sway "
        "its mean. In brackets the mean less and plus one standard deviation, as the paper "
        "prints it, within what is possible.",
        [Show("table_2", rows={"chain": ("AP", "P@20", "RR")}), "furthest", "delta_sort", "tau_b"],
    )
    yield Section(
        "Beyond the paper: nDCG, RBP and ERR",
        BEYOND,
        [
            Show("table_2", rows={"chain": [chain.name for chain in CHAINS[1:]]}, name="beyond",
                 caption="The same for nDCG, RBP and ERR."),
            "beyond_delta_sort",
            "beyond_tau_b",
        ],
    )  # fmt: skip
    yield Section(
        "Differences of ASL",
        f"Differences of means, less is better, with {options.confidence:.0%} bootstrap "
        f"intervals over queries ({options.resamples:,} resamples). Best, median and second "
        f"are by {options.best_by or 'the measure of the row'}.",
        ["asl_differences"],
    )
    yield _effective_fraction(tables)
    yield Section(
        "How much is depth (footnote 6)",
        f"Lists end where their track ended them. Here all are cut at {options.depth}: the "
        "docs below are not retrieved. ASL is bounded by the cut, so compare the orders of "
        "systems and not the values.",
        ["depth_sensitivity", "cut_lists*"],
    )


def _headroom(tables: Tables, options: Options) -> Section:
    text = (
        "The best system of each track by four measures. P@20 and AP (its mean is MAP) look at "
        "what a user sees, ASL@g10 at the first ten relevant docs, ASL at all of them. The buckets "
        "of the paper are lost with its figures; these are ours."
    )
    if options.best_by:
        text += f" Here the best is the best by {options.best_by}."
    short = tables["headroom"].filter(measure=options.asl())
    notes = []
    if tracks := short["short"].sum():
        notes.append(
            f"On {tracks} of {count(short.height, 'track')} the best system by {options.asl()} "
            "misses more relevant docs than the median system (\u2020): Eq. 3 makes the docs that "
            f"a short list misses cheap. {options.deep[options.asl()]}, which counts them at the "
            "track's deepest rank, stands beside it."
        )
    best = Show("headroom", ("track", "measure", "value", "system"), pivot="measure")
    shown = ["classes", best, "best_by_choice", "figure_*", "headroom_*"]
    return Section("Headroom (Section 4.2)", text, shown, notes=notes)


def _two_techniques(tables: Tables, options: Options) -> Section:
    said = f"Two systems of each track: {options.baseline} and {options.contender}. "
    if {options.baseline, options.contender} <= set(ROLES):
        by = options.best_by or "ASL"
        said = f"The median system by {by} and the best by {options.best_by or 'each measure'}. "
        said += "(--baseline and --contender name two groups or systems.) "
    said += (
        "RRIE is by how much of its distance from a perfect system the second betters the first "
        "(Eqs. 11 and 12)."
    )
    used = tables["studied_tracks"].filter("used")
    lost = used.join(tables["table_1"], on="track", how="anti")["track"]
    notes = [f"{track} has no system for one of the sides." for track in lost]
    shown = ["table_1", "paper_table_1"]
    return Section("Two techniques (Section 4.3, Table 1)", said, shown, notes=notes)


def _effective_fraction(tables: Tables) -> Section:
    row = tables["effective_summary"].row(0, named=True)
    text = (
        "An unweighted mean of precisions is a weighted mean of search lengths (Eqs. 14 and 15). "
    )
    if row["tracks"]:
        text += (
            f"It is nearest to the plain mean over the top {_percent(row, 'fraction')} of the "
            f"relevant docs, over {count(row['tracks'], 'track')} (the paper: "
            f"{EFFECTIVE_FRACTION.value}). With all queries of a run at once it is "
            f"{_percent(row, 'pooled')}."
        )
    else:
        text += "No system retrieves a relevant doc, so none has an average to compare with."
    trivial = tables["effective_by_track"].filter("trivial")["track"]
    notes = [
        f"{track} is not in the mean: no query has two relevant docs, so the share is always 100%."
        for track in trivial
    ]
    shown = ["effective_by_track", "averaged_by_ap"]
    return Section("What MAP averages (Appendix A.1)", text, shown, notes=notes)


def _percent(row: dict[str, float], name: str) -> str:
    mean, sd = row[name], row[f"{name}_sd"]
    return f"{mean:.0%}" + ("" if sd != sd else f" \u00b1 {100 * sd:.0f}")


def track_section(tables: Tables, options: Options, track: str) -> Section:
    """Return the figures of one track, and a note where its best system is one of short lists."""
    asl, notes = options.asl(), []
    best = {row["measure"]: row for row in tables["best_by_choice"].iter_rows(named=True)}
    row, deep = best.get(asl), best.get(options.deep[asl])
    if row is not None and deep is not None and row["short"] and deep is not row:
        same = deep["system"] == row["system"]
        notes.append(
            f"{row['system']}, the best by {asl}, does not retrieve {row['missed']:.0%} of the "
            f"relevant docs; half of the systems miss less than {row['median_missed']:.0%}. Eq. 3 "
            "makes the docs that a short list misses cheap: by "
            f"{options.deep[asl]} the best is {'the same' if same else deep['system']}."
        )
    return Section(track, show=["figure_5*", "figure_6*"], notes=notes)
