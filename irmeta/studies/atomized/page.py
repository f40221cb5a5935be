"""The study's page: its tables and figures in the paper's order, with the paper's own numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from irmeta.report.page import Figure
from irmeta.report.study_page import Section, StudyPage
from irmeta.store.layout import folder_name
from irmeta.studies.atomized import shown
from irmeta.studies.atomized.figures import Chart, Tables, of_track_names
from irmeta.studies.atomized.groups import PLACES
from irmeta.studies.atomized.paper import DATA, EFFECTIVE_FRACTION, SOURCE
from irmeta.studies.atomized.settings import Settings
from irmeta.studies.base import Folder

Charts = Mapping[str, tuple[Chart, Sequence[Path]]]

FILES = (
    ("studied_tracks.parquet", "which tracks are counted, and why others are not"),
    ("means.parquet", "every measure of every system, ASL with all its choices"),
    ("headroom.parquet", "Figures 1 to 4 by track: the best system of each"),
    ("distributions.parquet", "Figures 1 to 4: tracks by bucket"),
    ("classes.parquet", "the classes of Section 4.2"),
    ("groups.parquet", "Table 1: two systems of each track and the reduction in error"),
    ("asl_differences.parquet", "bootstrap intervals of differences of ASL"),
    ("table_2.parquet", "Table 2, Section 4.4, and the chains of nDCG, RBP and ERR"),
    ("reordering.parquet", "the same for each track, with the system that moves furthest"),
    ("moves.parquet", "the same for each system"),
    ("search_length_histogram.parquet", "Figure 5 of every system"),
    ("length_differences.parquet", "Figure 6: best less median system"),
    ("effective_fraction.parquet", "Appendix A.1 by system"),
    ("effective_summary.parquet", "Appendix A.1 over tracks"),
    ("depth_sensitivity.parquet", "whole lists against cut ones"),
    ("figures/", "every figure as SVG, PDF and PNG; those of one track in its folder"),
    ("latex/", "the tables of this page (booktabs)"),
)


def study_page(
    folder: Folder,
    tables: Tables,
    settings: Settings,
    record: Mapping[str, Any],
    charts: Charts,
) -> StudyPage:
    """All that the page says; `charts` by name, with their files, the SVG first."""
    tracks = tables["studied_tracks"]
    used = tracks.filter("used")
    summary = {
        "tracks": used.height,
        "left out": tracks.height - used.height,
        "systems": int(used["systems"].sum()),
        "queries": int(used["queries"].sum()),
        "relevant docs": int(used["relevant"].sum()),
    }
    pictures = {name: _figure(*chart) for name, chart in charts.items()}
    return StudyPage(
        title="Atomized search length",
        lead=f"The study of {SOURCE}, on the tracks of this store.",
        summary=summary,
        sections=list(_sections(tables, settings, pictures)),
        tracks=[_track(folder, tables, row, settings) for row in tracks.iter_rows(named=True)],
        provenance=_provenance(record),
        files=FILES,
    )


def _figure(chart: Chart, files: Sequence[Path]) -> Figure:
    return Figure(files[0].read_text(encoding="utf-8"), chart.caption, chart.reading)


def _sections(
    tables: Tables, settings: Settings, pictures: Mapping[str, Figure]
) -> Iterator[Section]:
    yield _data(tables, settings)
    if not tables["studied_tracks"]["used"].any():
        return
    yield Section(
        "Headroom (Section 4.2)",
        [
            "The best system of each track by four measures. P@20 and MAP look at what a user "
            "sees, ASL@g10 at the first ten relevant docs, ASL at all of them. The buckets of the "
            "paper are lost with its figures; these are ours.",
        ],
        [shown.classes(tables), shown.headroom(tables)],
        [f for name, f in pictures.items() if name.startswith(("figure-", "headroom-"))],
    )
    yield _groups(tables, settings)
    yield Section(
        "Reordering (Section 4.4)",
        [
            "From AP to ASL a step at a time, each compared with the one before. Delta-sort is how "
            "far a track's furthest system moves past the others, in per cent of its systems; "
            f"better means a ratio of means of at least {settings.ratio:g} and a two-tailed test "
            f"({settings.test}) with p up to {settings.alpha:g}. Delta-value is new over old, in P "
            "space, over all systems: where AP is near 0 it is large, so a few weak systems sway "
            "its mean. In brackets the mean less and plus one standard deviation, as the paper "
            "prints it.",
        ],
        [shown.table_2(tables), shown.furthest(tables)],
        [pictures["table-2"], pictures["table-2-tau"]],
    )
    yield Section(
        "Beyond the paper: nDCG, RBP and ERR",
        list(BEYOND_SAID),
        [shown.beyond(tables)],
        [pictures["beyond"], pictures["beyond-tau"]],
    )
    yield Section(
        "How sure a difference of ASL is",
        [
            f"Differences of means, less is better, with {settings.confidence:.0%} bootstrap "
            f"intervals over queries ({settings.resamples:,} resamples).",
        ],
        [shown.differences(tables)],
    )
    yield _fraction(tables, pictures)
    yield Section(
        "How much is depth (footnote 6)",
        [
            f"Lists end where their track ended them. Here all are cut at {settings.depth}: the "
            "docs below are not retrieved.",
        ],
        [shown.depth(tables)],
        [pictures["depth-sensitivity"]],
    )


BEYOND_SAID = (
    "AP discounts rank r by 1/r, so the paper's 1/P is the search length; what it averages is the "
    "length. nDCG, RBP and ERR discount by other functions c, and go the same way: a doc by itself "
    "is worth c(SL), then docs, and then queries, are averaged as lengths.",
    "The literal 1/c would not do: for nDCG it is log2(1 + SL), no flat scale of ranks, and for "
    "RBP p^(1 - SL), which the deepest doc alone decides. The measures' own gains stay as "
    "weights, so nDCG and ERR end at a search length in which docs of a higher grade count more.",
)


def _data(tables: Tables, settings: Settings) -> Section:
    tracks = tables["studied_tracks"]
    used = tracks.filter("used")
    left_out = tracks.filter(~pl.col("used"))
    one = used.height == 1
    said = (
        f"{used.height} track{'' if one else 's'}, {used['systems'].sum():,} runs and "
        f"{used['queries'].sum():,} queries with a relevant doc are counted (the paper: {DATA}). "
        f"A track with fewer than {settings.min_runs} runs is not."
    )
    notes = [f"{row['track']} is left out: {row['left_out']}." for row in left_out.to_dicts()]
    if not used.height:
        notes.append("No track is left to say anything of; each is described below.")
    return Section("Data (Section 4.1)", [said], [shown.tracks(tables)], notes=notes)


def _groups(tables: Tables, settings: Settings) -> Section:
    sides = f"{settings.baseline} and {settings.contender}"
    if {settings.baseline, settings.contender} <= set(PLACES):
        sides += " (the median and the best system; --baseline and --contender name others)"
    text = [
        f"Two systems of each track, {sides}. RRIE is by how much of its distance from a perfect "
        "system the second betters the first (Eqs. 11 and 12).",
    ]
    notes = []
    if tables["groups"].is_empty():
        notes.append(f"No track has two different systems for {sides}.")
    return Section(
        "Two techniques (Section 4.3, Table 1)",
        text,
        [shown.groups(tables), shown.paper_groups()],
        notes=notes,
    )


def _fraction(tables: Tables, pictures: Mapping[str, Figure]) -> Section:
    row = tables["effective_summary"].row(0, named=True)
    said = (
        f"An unweighted mean of precisions is a weighted mean of search lengths (Eqs. 14 and 15). "
        f"It is nearest to the plain mean over the top {row['fraction']:.0%}"
        f"{shown.plus_minus(row['fraction_sd'])} of the relevant docs, over {row['tracks']} "
        f"tracks (the paper: {EFFECTIVE_FRACTION}). With all queries of a run at once it is "
        f"{row['pooled']:.0%}{shown.plus_minus(row['pooled_sd'])}."
    )
    return Section(
        "What MAP averages (Appendix A.1)",
        [said],
        [shown.fractions(tables)],
        [pictures["effective-fraction"]],
    )


def _track(folder: Folder, tables: Tables, row: Mapping[str, Any], settings: Settings) -> Section:
    track = row["track"]
    figures = [
        Figure(
            folder.figure(f"{folder_name(track)}/{name}", "svg").read_text(encoding="utf-8"),
            caption,
            reading,
        )
        for name, caption, reading in of_track_names(tables, track, settings)
    ]
    notes = [f"Left out: {row['left_out']}."] if row["left_out"] else []
    notes += [f"{row['notes'][0].upper()}{row['notes'][1:]}."] if row["notes"] else []
    notes += list(_short_lists(tables, track, settings))
    said = (
        f"{row['systems']:,} systems, {row['queries']:,} queries with a relevant doc, "
        f"{row['relevant']:,} relevant docs, lists down to rank {row['deepest_rank']:,}."
    )
    return Section(track, [said], figures=figures, notes=notes)


def _short_lists(tables: Tables, track: str, settings: Settings) -> Iterator[str]:
    """Say so when the best system by ASL misses more relevant docs than most."""
    own = tables["search_length_histogram"].filter(track=track)
    if own.is_empty():
        return
    missing = pl.col("docs").filter(pl.col("low").is_null()).sum() / pl.col("docs").sum()
    missed = dict(own.group_by("system").agg(missing).iter_rows())
    means = tables["means"].filter(track=track).filter(pl.col("value").is_not_nan())
    best, by_depth = (
        means.filter(measure=name).sort("value", "system")["system"].to_list()[:1]
        for name in (settings.asl(), settings.asl(unretrieved="depth"))
    )
    median = pl.Series(list(missed.values())).median()
    if best and by_depth and isinstance(median, float) and missed[best[0]] > median:
        other = "the same" if by_depth == best else by_depth[0]
        yield (
            f"{best[0]}, the best by ASL, does not retrieve {missed[best[0]]:.0%} of the relevant "
            f"docs; the median system {median:.0%}. Eq. 3 makes the docs that a short list misses "
            f"cheap: by ASL(unretrieved=depth) the best is {other}."
        )


def _provenance(record: Mapping[str, Any]) -> dict[str, str]:
    policy, settings = record["eval_policy"], record["settings"]
    orders = dict.fromkeys(track["tie_order"] for track in record["tracks"].values())
    return {
        "irmeta": record["irmeta"],
        "study": f"{record['study']}, revision {record['revision']}",
        "relevant": f"grade {settings['rel']} and above",
        "search length of a doc that is not retrieved": (
            f"{settings['unretrieved']}; floor in the chains"
        ),
        "best system by": settings["best_by"] or "each measure itself",
        "queries averaged": policy["queries"],
        "negative grades": policy["negative"],
        "qrels": policy["qrels"] or "each track's primary set",
        "tie order": ", ".join(orders),
        "seed": str(settings["seed"]),
    }
