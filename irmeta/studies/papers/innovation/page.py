"""The sections of the study's page, in the paper's order, and sentences about one track."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import polars as pl

from irmeta.phrases import agreeing, count, listed
from irmeta.schema.columns import Paper
from irmeta.studies.framework.sections import (
    MOST_SENTENCES,
    POINTER,
    absent,
    data_section,
    sentences,
    show_printed,
    tracks_without,
)
from irmeta.studies.framework.study import Section, Show, Tables, read_notes
from irmeta.studies.framework.track_groups import show_over_tracks
from irmeta.studies.papers.innovation.study import FUZZINESS, MARKED, MEASURES, STUDY
from irmeta.studies.papers.innovation.study import InnovationOptions as Options

DATA = Paper("4 collections of 29 to 129 runs and 45 or 50 topics", "Section 4.1 and Table 1")
SLIPS = read_notes("irmeta.studies.papers.innovation")
"""Contradictions in the paper or with its released code, and the choice made here, by result."""


MOST_COVERED = 0.95  # share of the relevant docs that a few systems retrieve


def rarity(tables: Tables, track: str) -> Iterator[str]:
    """Yield how many relevant docs no system and one system alone retrieves."""
    rows = tables["docs_by_holders"].filter(track=track)
    total = int(rows["docs"].sum())
    if not total:
        return
    lost, alone = (int(rows.filter(retrieved_by=n)["docs"].sum()) for n in (0, 1))
    yield (
        f"On {track}, {lost:,} ({lost / total:.0%}) of {count(total, 'relevant doc')} are found "
        f"by no system, and {alone:,} ({alone / total:.0%}) by one system alone."
    )


def power(tables: Tables, track: str) -> Iterator[str]:
    """Yield the significantly different pairs by each test at the least and the greatest alpha."""
    rows = tables["table_1"].filter(pl.col("percent").is_finite(), track=track)
    rows = rows.filter(pl.col("level") == pl.col("level").max())
    for (measure,), of_measure in rows.group_by("measure", maintain_order=True):
        pairs, level = of_measure.select("pairs", "level").row(0)
        ends = _ends(of_measure, "test", "separated", ",d")
        yield (
            f"On {track}, the number of significantly different pairs (of {pairs:,}, level "
            f"{level:g}) by {measure} is {ends}."
        )


def stability(tables: Tables, track: str) -> Iterator[str]:
    """Yield the stability by each rule for ties at the least and the greatest alpha."""
    added = ~pl.col("measure").str.contains("convex")
    rows = tables["table_2"].filter(pl.col("stability").is_finite(), added, track=track)
    for (measure,), of_measure in rows.group_by("measure", maintain_order=True):
        kinds = of_measure.with_columns(pl.col("ties").replace("none", "no") + " ties")
        ends = _ends(kinds, "ties", "stability", ".3f")
        yield f"On {track}, the stability of {measure} is {ends}."


def _ends(rows: pl.DataFrame, by: str, value: str, digits: str) -> str:
    """Return a value at the least and the greatest alpha, e.g. "9 at alpha = 0, 12 at 1 by t"."""
    least, most = rows["alpha"].min(), rows["alpha"].max()
    texts = []
    for (kind,), of_kind in rows.sort("alpha").group_by(by, maintain_order=True):
        first, last = (format(of_kind[value][end], digits) for end in (0, -1))
        texts.append((first, last, kind))
    (first, last, kind), *others = texts
    start = f"{first} at alpha = {least:g} and {last} at alpha = {most:g} by {kind}"
    return listed([start, *(f"{a} and {b} by {name}" for a, b, name in others)])


def contributions(tables: Tables, track: str) -> Iterator[str]:
    """Yield who retrieves the most relevant docs, and the most that no other system does."""
    rows = tables["contributions"].filter(track=track, level="system")
    if not rows["found"].sum():
        return
    most, alone = (
        rows.sort(name, "name", descending=[True, False]).row(0, named=True)
        for name in ("found", "unique")
    )
    text = (
        f"On {track}, {most['name']} retrieves the most relevant docs ({most['found']:,}, "
        f"{most['share']:.0%} of those that any system retrieves)"
    )
    if alone["unique"]:
        who = " and" if alone["name"] == most["name"] else f", {alone['name']}"
        text += f"{who} the most that no other system does ({alone['unique']:,})"
    few = tables["greedy"].filter(pl.col("share") >= MOST_COVERED, track=track)["order"].min()
    if isinstance(few, int):
        covers = agreeing(few, "covers", "cover")
        text += f"; {few:,} of {count(rows.height, 'system')} {covers} {MOST_COVERED:.0%}"
    yield f"{text}."


def swaps(tables: Tables, track: str) -> Iterator[str]:
    """Yield how many pairs change places by each measure, and where the best system does."""
    rows = tables["dethroned"].filter(pl.col("pairs") > 0, track=track)
    for row in rows.iter_rows(named=True):
        pairs = f"{row['swapped']:,} of {count(row['pairs'], 'pair')}"
        best = f"{row['best']} stays the best"
        if row["alpha"] is not None:
            best = f"{row['next']} is better than {row['best']} above alpha = {row['alpha']:.3g}"
        change = "changes" if 1 in (row["swapped"], row["pairs"]) else "change"
        yield (
            f"On {track}, {pairs} {change} places by {row['measure']} for an alpha up to 1; {best}."
        )


def gaming(tables: Tables, track: str) -> Iterator[str]:
    """Yield how far a system falls at most when its group adds clones of it."""
    fall = pl.col("rank_after") - pl.col("rank_before")
    rows = tables["gaming_effects"].filter(track=track).with_columns(fall=fall)
    rows = rows.filter(pl.col("attack").str.contains("clone"), pl.col("fall").is_finite())
    texts = []
    for (counted,), of_kind in rows.group_by("counted", maintain_order=True):
        most = of_kind.sort("fall", "target", descending=[True, False]).row(0, named=True)
        text = "no system falls"
        if most["fall"] > 0:
            text = (
                f"{most['system']} falls from rank {most['rank_before']:g} to "
                f"{most['rank_after']:g} by {most['measure']} ({most['attack']})"
            )
        texts.append(f"{text} under counted={counted}")
    if texts:
        yield f"On {track}, where groups add clones of their best system, {'; '.join(texts)}."


def grades(tables: Tables, track: str) -> Iterator[str]:
    """Yield the share of highly relevant docs among the rarest and the most common docs."""
    rows = tables["rare_grades"].filter(pl.col("low") > 0, pl.col("docs") > 0, track=track)
    rows = rows.sort("grade", "low")
    levels = rows["grade"].unique().sort().to_list()
    if len(levels) < 2 or rows["low"].n_unique() < 2:
        return
    of_grade = rows.filter(grade=levels[1])
    rare, common = of_grade.row(0, named=True), of_grade.row(-1, named=True)
    yield (
        f"On {track}, {rare['share_at_least']:.0%} of the relevant docs with {_held(rare)} have "
        f"grade {levels[1]} or above, and {common['share_at_least']:.0%} of those with "
        f"{_held(common)}."
    )


def _held(row: dict[str, int]) -> str:
    low, high = row["low"], row["high"]
    return f"S_d = {low}" if low == high else f"S_d = {low} to {high}"


def pool(tables: Tables, track: str) -> Iterator[str]:
    """Yield how far systems whose group is left out fall or rise on average, by measure."""
    fall = (pl.col("rank_after") - pl.col("rank_before")).fill_nan(None).mean()
    rows = tables["pool_bias"].filter(track=track).group_by("measure", maintain_order=True)
    moves = []
    for measure, mean in rows.agg(fall=fall).drop_nulls().iter_rows():
        places = f"{'falls' if mean > 0 else 'rises'} {abs(mean):.1f} places"
        moves.append(f"{places if round(mean, 1) else 'keeps its place'} by {measure}")
    if moves:
        yield (
            f"On {track}, a system that is left out of the pool and of S_d on average "
            f"{listed(moves)}."
        )


def labels(tables: Tables, track: str) -> Iterator[str]:
    """Yield which share of the relevant docs of a qrels set another set confirms, by S_d."""
    rows = tables["label_confirmations"].filter(pl.col("share").is_finite(), track=track)
    for (of, by), pair in rows.group_by("relevant_in", "judged_in", maintain_order=True):
        shares = dict(pair.select("retrieved_by", "share").iter_rows())
        if "few" in shares and "many" in shares:
            yield (
                f"On {track}, {by} confirms {shares['few']:.0%} of the docs relevant in {of} that "
                f"few systems retrieve, and {shares['many']:.0%} of those that many do."
            )


CONCLUSIONS = (rarity, power, stability, contributions, swaps, gaming, grades, pool, labels)
"""The functions of sentences about a track, in the order of its section."""
_absent = partial(absent, STUDY, reason="too few systems, queries or docs")
OWN = "each system is a group of its own"
WORST = 10  # systems of a track that are shown
_COUNTED = {
    "pooled": ("pooled systems", ""),
    "others": (
        "systems of other groups",
        " S and S_d also count the group of the system itself, once. Tables of docs count all "
        "systems.",
    ),
}
"""Words for the values of `counted` that need other words, each with a note."""


def _baselines(options: Options) -> Mapping[str, Callable[[Mapping[str, Any]], str]]:
    """Return the label of each row: the measure, without rarity where alpha is 0, as printed."""
    plain = {options.family(measure): options.name(measure, 0.0) for measure in MEASURES}
    return {"measure": lambda row: row["measure"] if row["alpha"] else plain[row["measure"]]}


def sections(tables: Tables, options: Options) -> Iterator[Section]:
    """Yield the sections over tracks."""
    yield data_section(tables, options, "Data (Section 4.1)", DATA)
    if not tables["studied_tracks"]["used"].any():
        return
    yield _measures(tables, options)
    yield _made_systems(tables, options)
    yield _orders(tables, options)
    yield _power(tables, options)
    yield _stability(tables, options)
    yield _fewer_systems(tables, options)
    yield _examples(tables, options)
    yield _contributions(tables, options)
    yield _swaps(tables)
    yield _gaming(tables)
    yield _grades(tables)
    yield _pool(tables)
    yield _label_sets(tables)


def _measures(tables: Tables, options: Options) -> Section:
    p, ap = options.families()
    rule = "" if options.rarity == "linear" else f" The rarity here is {options.rarity}."
    counted, note = _COUNTED.get(options.counted, (options.counted, ""))
    text = [
        f"A relevant doc in the top {options.k} of a list earns 1 + alpha R(d) in place of 1, "
        f"where R(d) is its rarity: {p} and {ap} are P@{options.k} and AP@{options.k} at alpha = 0 "
        "(Eqs. 1 and 3). By linear rarity R(d) = 1 - S_d/S (Eq. 2). S_d is how many of the S "
        f"{counted} retrieve the doc within rank {options.held_to}; systems without a list for the "
        f"query count in S.{note}{rule}",
        "For each alpha the values are P + alpha B and AP + alpha C, and B and C do not depend on "
        "alpha. So each alpha at which two systems change places is exact, and no sample of "
        f"systems is scored again. {POINTER}",
        *sentences(tables, rarity),
    ]
    return Section("Measures (Section 2)", text, notes=SLIPS["Section 2"])


def _made_systems(tables: Tables, options: Options) -> Section:
    return Section(
        "Hypothetical systems (Section 3, Figure 1)",
        "On one query, two hypothetical systems join the real ones: S_rare retrieves D new "
        "relevant docs that no other system has, S_common the D relevant docs that most systems "
        "retrieve. The rank of a hypothetical system is 1 + the systems above it + half of those "
        "that tie with it. D runs to the cutoff, or to the length "
        "of the longest list. The query is that of the paper where the track has it, else the "
        "first with the median number of relevant docs (--figure-query). S_rare is first from the "
        "least D on which it alone has rank 1; the paper's D are those of its own topic. "
        f"{POINTER}",
        [
            Show("first_places", ("track", "query", "relevant", "alpha", "first"), pivot="alpha"),
            show_printed("Figure 1"),
        ],
        notes=[*_absent(tables, "figure_1"), *SLIPS["Figure 1"]],
    )


def _orders(tables: Tables, options: Options) -> Section:
    rows = {"alpha": MARKED, "method": ("tau-b",)}
    return Section(
        "Orders of systems (Section 4.2, Figure 2)",
        "Kendall's tau-b of the order of systems by each alpha with that by alpha = 0; means that "
        "are equal to 12 digits tie. The figures of tracks also show tau_AP,b, the AP correlation "
        f"of orders with ties (Urbano and Marrero 2017). {POINTER}",
        [
            "figure_2_tracks",
            Show("figure_2", ("track", "alpha", "measure", "value"), rows, "measure",
                 caption="Tau-b with the order by alpha = 0 (Figure 2)."),
            show_printed("Figure 2"),
        ],
        notes=[*_absent(tables, "figure_2"), *SLIPS["Figure 2"]],
    )  # fmt: skip


def _power(tables: Tables, options: Options) -> Section:
    every = ("track", "level", "measure", "alpha", "test", "separated")
    papers = ("measure", "alpha", "track", "level", "separated", "printed")
    pairs = tables["table_1"].select("track", "pairs").unique(maintain_order=True)
    of = "; ".join(f"{track}: {number:,}" for track, number in pairs.iter_rows())
    of = f", of all pairs of {of}" if pairs.height <= MOST_SENTENCES else ""
    of_paper, labels_of = {"test": ("t-unpaired",)}, _baselines(options)
    averages = ("measure", "alpha", "group", "level", "percent")
    over_tracks = Show("table_1_tracks", averages, of_paper, ("group", "level"), best="column",
                       texts=labels_of)  # fmt: skip
    return Section(
        "Significantly different pairs (Section 4.3, Table 1)",
        [
            "Pairs of systems at p up to the level. t-unpaired is the paper's test. Beside it are "
            "the paired t-test, Tukey's HSD without and with queries as blocks, and the randomised "
            f"HSD ({count(options.resamples, 'permutation')}). Only the HSD tests correct for the "
            "number of pairs.",
        ],
        [
            Show("table_1", papers, of_paper, ("track", "level"), best="column", texts=labels_of,
                 caption=f"Significantly different pairs (Table 1){of}."),
            *show_over_tracks(tables, over_tracks),
            Show("table_1", every, pivot="test", name="table_1_tests",
                 caption="Significantly different pairs by test."),
            show_printed("Table 1"),
        ],
        notes=[*_absent(tables, "table_1"), *SLIPS["Table 1"]],
    )  # fmt: skip


def _stability(tables: Tables, options: Options) -> Section:
    every = ("track", "measure", "alpha", "ties", "stability")
    papers = ("measure", "alpha", "track", "stability", "printed")
    of_paper = {"ties": ("absolute",), "measure": options.families()}
    averages, labels_of = ("measure", "alpha", "group", "stability"), _baselines(options)
    over_tracks = Show("table_2_tracks", averages, of_paper, "group", best="column",
                       texts=labels_of)  # fmt: skip
    return Section(
        "Stability (Section 4.4, Table 2)",
        [
            f"In each of {count(options.trials, 'trial')}, half of the queries order the systems. "
            "The stability of a pair is the share of trials in which the system that is better "
            f"more often is better. Means tie up to {FUZZINESS:g} (absolute), up to that "
            "share of the greater (relative) or where they are equal (none). A tie counts for "
            "neither system. Under mix=convex, measures follow Eq. 4, at alphas up to 1.",
        ],
        [
            Show("table_2", papers, of_paper, "track", best="column", texts=labels_of),
            *show_over_tracks(tables, over_tracks),
            Show("table_2", every, pivot="ties", name="table_2_ties",
                 caption="Stability by the rule for ties."),
            show_printed("Table 2"),
        ],
        notes=[*_absent(tables, "table_2"), *SLIPS["Table 2"]],
    )  # fmt: skip


def _fewer_systems(tables: Tables, options: Options) -> Section:
    papers = ("track", "measure", "alpha", "systems", "tau_b", "printed")
    columns = ("track", "alpha", "systems", "measure", "tau_b", "draws", "undefined", "enumerated")
    averages, labels_of = ("group", "measure", "alpha", "systems", "tau_b"), _baselines(options)
    return Section(
        "The number of systems (Section 4.5, Table 3)",
        f"Algorithm 1: N systems are drawn ({count(options.draws, 'draw')}) and ordered with S_d "
        "and S of the draw alone; tau-b is that of their order with their order among all systems.",
        [
            "fewer_systems",
            Show("table_3", papers, pivot="systems", texts=labels_of),
            *show_over_tracks(
                tables, Show("table_3_tracks", averages, pivot="systems", texts=labels_of)
            ),
            Show("table_3", columns, pivot="measure", page_only=True,
                 caption="Draws of fewer systems."),
            show_printed("Table 3"),
        ],
        notes=[*_absent(tables, "table_3"), *SLIPS["Table 3"]],
    )  # fmt: skip


def _examples(tables: Tables, options: Options) -> Section:
    text = (
        "Relevant docs of some queries, whose rarities lie as evenly as possible between the least "
        "and the greatest of the query. The table file also has the systems that retrieve each "
        "doc, with its ranks."
    )
    if options.texts is None:
        text += " Without a file of texts (--texts) the relevant content is empty."
    return Section(
        "Rare and common docs (Section 4.6, Table 4)",
        text,
        ["table_4", show_printed("Table 4")],
        notes=_absent(tables, "table_4"),
    )


def _contributions(tables: Tables, options: Options) -> Section:
    columns = ("track", "name", "systems", "found", "unique", "share", "mean_rarity")
    return Section(
        "Beyond the paper: who retrieves what no other does",
        [
            f"Relevant docs within rank {options.k}: all that a system, a group or a type of run "
            "retrieves, and those that no other does. The greedy order takes, one after the other, "
            f"the system that adds the most docs. {POINTER}",
            *sentences(tables, contributions),
        ],
        [
            "greedy*",
            Show("contributions", columns, {"level": ("type",)}, name="contributions_types",
                 caption="Relevant docs that types of runs retrieve."),
            Show("contributions", columns, {"level": ("group",)}, name="contributions_groups",
                 caption="Relevant docs that groups retrieve."),
        ],
        notes=[
            *_absent(tables, "contributions"),
            *_unknown(tables, "group", "the store does not state the groups of the systems, so the "
                     "column of docs of no other group is empty"),
            *_unknown(tables, "type", "the store does not state the types of the runs, so the "
                     "column of docs of no other type is empty"),
        ],
    )  # fmt: skip


def _swaps(tables: Tables) -> Section:
    return Section(
        "Beyond the paper: pairs that change places",
        [
            "The alpha at which two systems have equal values is "
            "-(P_a - P_b) / (B_a - B_b), and likewise for AP. The table `swaps` has every pair "
            "that changes places for an alpha up to 1.",
            *sentences(tables, swaps),
        ],
        ["swaps*"],
        notes=_absent(tables, "dethroned"),
    )


def _gaming(tables: Tables) -> Section:
    return Section(
        "Beyond the paper: runs that change the ranks of others",
        [
            "A group adds clones of its best run, empty runs, or a spoiler: a run that retrieves "
            "what only the best system retrieves. Ranks are among the systems that are not added. "
            "If systems are counted, clones make the docs of a run common, so that honest variants "
            "of it are punished. If each group counts the others, its empty runs make the docs of "
            "all others rarer, but not its own. If groups are counted, neither clones nor empty "
            f"runs of an existing group change a value. {POINTER}",
            *sentences(tables, gaming),
        ],
        notes=[*_absent(tables, "gaming_effects"), *_unknown(tables, "group", OWN)],
    )


def _grades(tables: Tables) -> Section:
    return Section(
        "Beyond the paper: grades of rare docs",
        [
            "Rareness is binary: it rewards a rare doc whatever its grade. The table says how "
            "often docs of each S_d have a higher grade (Section 4.6 as a number).",
            *sentences(tables, grades),
        ],
        notes=_absent(tables, "rare_grades"),
    )


def _pool(tables: Tables) -> Section:
    return Section(
        "Beyond the paper: systems that the pool did not know (Section 5.4)",
        [
            "For each group, the docs that it alone put into the pool become unjudged, and S and "
            "S_d are those of the other systems. The ranks of its systems before and after say "
            "how a new system of this kind would fare: it loses the docs that it alone found, but "
            f"its other docs become rarer, for it does not count in S_d. {POINTER}",
            *sentences(tables, pool),
        ],
        notes=[*_absent(tables, "pool_bias"), *_unknown(tables, "group", OWN)],
    )


def _label_sets(tables: Tables) -> Section:
    return Section(
        "Beyond the paper: other judgments",
        [
            "The orders of systems by another qrels set of the track, and how many relevant docs "
            "of one set the other confirms: docs that few systems retrieve (S_d of 1 or 2), and "
            "docs that many do (S_d > S/2).",
            *sentences(tables, labels),
        ],
        notes=_absent(tables, "label_sets", reason="the track has one qrels set"),
    )


def track_section(tables: Tables, options: Options, track: str) -> Section:
    """Return the section of one track: conclusions, figures, and its systems."""
    facts = tables["studied_tracks"].row(0, named=True)
    labels = {"systems": "systems", "queries": "queries with a relevant doc"}
    of_system = tables["contributions"].filter(level="system")
    rows = of_system.sort("unique", "found", "name", descending=[True, True, False])["name"]
    columns = ("name", "found", "unique", "unique_to_group", "unique_to_type", "share",
               "mean_rarity")  # fmt: skip
    most = Show(
        "contributions",
        columns,
        {"level": ("system",), "name": rows.head(WORST).to_list()},
        caption=f"The {count(min(WORST, len(rows)), 'system')} with most relevant docs that no "
        "other system retrieves.",
    )
    return Section(
        track,
        [text for about in CONCLUSIONS for text in about(tables, track)],
        ["*", *([most] if len(rows) else []), *_most_moved(tables)],
        facts={label: facts[name] for name, label in labels.items()},
    )


def _most_moved(tables: Tables) -> list[Show]:
    """Return the added runs of the group of a track whose best system changes its rank most."""
    change = (pl.col("rank_after") - pl.col("rank_before")).abs()
    most = tables["gaming_effects"].sort(change, descending=True, maintain_order=True)
    columns = ("attack", "counted", "measure", "system", "rank_before", "rank_after", "moved",
               "furthest", "tau_b", "tau_b_plain")  # fmt: skip
    return [
        Show(
            "gaming_effects",
            columns,
            {"target": [group]},
            caption=f"Ranks after {group} adds runs: no system of another group moves more.",
        )
        for group in most["target"].head(1)
    ]


def _unknown(tables: Tables, level: str, text: str) -> list[str]:
    """Return a note on the included tracks whose groups or types of runs are unknown."""
    tracks = tracks_without(tables, tables["contributions"].filter(level=level))
    return [f"On {tracks}, {text}."] if tracks else []
