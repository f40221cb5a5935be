"""The study's page: its tables and figures in the paper's order, with the paper's own numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import polars as pl

from irmeta.report.page import Figure
from irmeta.report.study_page import Section, StudyPage
from irmeta.studies.atomized import shown
from irmeta.studies.atomized.figures import of_track, over_tracks
from irmeta.studies.atomized.paper import DATA, SOURCE
from irmeta.studies.atomized.settings import PLACES, Settings
from irmeta.studies.base import Chart, Folder, Tables

FILES = (
    ("studied_tracks.parquet", "which tracks are counted, and why others are not"),
    ("means.parquet", "every measure of every system, ASL with all its choices"),
    ("headroom.parquet", "Figures 1 to 4 by track: the best system of each"),
    ("best_by_choice.parquet", "who is best under each choice for docs not retrieved"),
    ("distributions.parquet", "Figures 1 to 4: tracks by bucket"),
    ("classes.parquet", "the classes of Section 4.2"),
    ("table_1.parquet", "Table 1: two systems of each track and the reduction in error"),
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
) -> StudyPage:
    """All that the page says; its figures are in the folder."""
    tracks = tables["studied_tracks"]
    used = tracks.filter("used")
    summary = {
        "tracks": used.height,
        "left out": tracks.height - used.height,
        "systems": int(used["systems"].sum()),
        "queries": int(used["queries"].sum()),
        "relevant docs": int(used["relevant"].sum()),
    }
    pictures = _pictures(folder, over_tracks(tables, settings))
    counted = {
        name: frame.join(used.select("track"), on="track", how="semi", maintain_order="left")
        if "track" in frame.columns and name != "studied_tracks"
        else frame
        for name, frame in tables.items()
    }
    return StudyPage(
        title="Atomized search length",
        lead=f"The study of {SOURCE}, on the tracks of this store.",
        summary=summary,
        sections=list(_sections(counted, settings, pictures)),
        tracks=[_track(folder, tables, row, settings) for row in tracks.iter_rows(named=True)],
        provenance=_provenance(record),
        files=FILES,
    )


def _pictures(
    folder: Folder, charts: Iterable[Chart], track: str | None = None
) -> dict[str, Figure]:
    """The figures that lie in the folder, by name."""
    return {
        one.name: Figure(
            folder.figure(one.name, "svg", track).read_text(encoding="utf-8"),
            one.caption,
            one.reading,
        )
        for one in charts
    }


def _sections(
    tables: Tables, settings: Settings, pictures: Mapping[str, Figure]
) -> Iterator[Section]:
    yield _data(tables, settings)
    if not tables["studied_tracks"]["used"].any():
        return
    yield Section(
        "Headroom (Section 4.2)",
        [
            "The best system of each track by four measures. P@20 and AP (its mean is MAP) look at "
            "what a user sees, ASL@g10 at the first ten relevant docs, ASL at all of them. The "
            "buckets of the paper are lost with its figures; these are ours. "
            + (f"Here the best is the best by {settings.best_by}." if settings.best_by else ""),
        ],
        [shown.classes(tables), shown.headroom(tables), shown.choices(tables)],
        [f for name, f in pictures.items() if name.startswith(("figure_", "headroom_"))],
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
        [pictures["table_2"], pictures["table_2_tau"]],
    )
    yield Section(
        "Beyond the paper: nDCG, RBP and ERR",
        list(BEYOND_SAID),
        [shown.beyond(tables)],
        [pictures["beyond"], pictures["beyond_tau"]],
    )
    yield Section(
        "How sure a difference of ASL is",
        [
            f"Differences of means, less is better, with {settings.confidence:.0%} bootstrap "
            f"intervals over queries ({settings.resamples:,} resamples). Best, median and second "
            f"are by {settings.best_by or 'the measure of the row'}.",
        ],
        [shown.differences(tables)],
    )
    yield _fraction(tables, pictures)
    yield Section(
        "How much is depth (footnote 6)",
        [
            f"Lists end where their track ended them. Here all are cut at {settings.depth}: the "
            "docs below are not retrieved. ASL is bounded by the cut, so compare the orders of "
            "systems and not the values.",
        ],
        [shown.depth(tables)],
        [pictures["depth_sensitivity"]],
    )


BEYOND_SAID = (
    "AP discounts rank r by 1/r, so the paper's 1/P is the search length; what it averages is the "
    "length. nDCG, RBP and ERR discount by other functions c, and go the same way: a doc by itself "
    "is worth c(SL), then docs, and then queries, are averaged as lengths.",
    "The literal 1/c would not do: for nDCG it is log2(1 + SL), no flat scale of ranks, and for "
    "RBP p^(1 - SL), which the deepest doc alone decides. The measures' own gains stay as "
    "weights, so nDCG and ERR end at a search length in which docs of a higher grade count more. "
    "A perfect list is worth 1 after the first step, where RBP's and ERR's own value is less: the "
    "Delta-value of that step, and of the whole way, has that change of scale in it.",
)


def _data(tables: Tables, settings: Settings) -> Section:
    tracks = tables["studied_tracks"]
    used = tracks.filter("used")
    left_out = tracks.filter(~pl.col("used"))
    runs, queries = (int(used[name].sum()) for name in ("systems", "queries"))
    said = (
        f"Counted are {number(used.height, 'track')}, {number(runs, 'run')} and "
        f"{number(queries, 'query', 'queries')} with a relevant doc (the paper: {DATA}). "
        f"A track with fewer than {number(settings.min_runs, 'run')} is not."
    )
    notes = [f"{row['track']} is left out: {row['left_out']}." for row in left_out.to_dicts()]
    if not used.height:
        notes.append("No track is left to say anything of; each is described below.")
    return Section("Data (Section 4.1)", [said], [shown.tracks(tables)], notes=notes)


def _groups(tables: Tables, settings: Settings) -> Section:
    asked = {settings.baseline, settings.contender}
    said = f"Two systems of each track: {settings.baseline} and {settings.contender}. "
    if asked <= set(PLACES):
        by = settings.best_by or "ASL"
        said = f"The median system by {by} and the best by {settings.best_by or 'each measure'}. "
        said += "(--baseline and --contender name two groups or systems.) "
    text = [
        said + "RRIE is by how much of its distance from a perfect system the second betters the "
        "first (Eqs. 11 and 12).",
    ]
    lost = tables["studied_tracks"].filter("used").join(tables["table_1"], on="track", how="anti")
    notes = [f"{track} has no system for one of the sides." for track in lost["track"]]
    return Section(
        "Two techniques (Section 4.3, Table 1)",
        text,
        [shown.table_1(tables), shown.paper_table_1()],
        notes=notes,
    )


def _fraction(tables: Tables, pictures: Mapping[str, Figure]) -> Section:
    row = tables["effective_summary"].row(0, named=True)
    said = (
        "An unweighted mean of precisions is a weighted mean of search lengths (Eqs. 14 and 15). "
    )
    if row["tracks"]:
        said += (
            f"It is nearest to the plain mean over the top {row['fraction']:.0%}"
            f"{shown.plus_minus(row['fraction_sd'])} of the relevant docs, over "
            f"{number(row['tracks'], 'track')} (the paper: {row['paper']}). With all queries of a "
            f"run at once it is {row['pooled']:.0%}{shown.plus_minus(row['pooled_sd'])}."
        )
    else:
        said += "No system retrieves a relevant doc, so none has an average to compare with."
    return Section(
        "What MAP averages (Appendix A.1)",
        [said],
        [shown.fractions(tables)],
        [pictures["effective_fraction"]],
    )


def _track(folder: Folder, tables: Tables, row: Mapping[str, Any], settings: Settings) -> Section:
    track = row["track"]
    figures = [*_pictures(folder, of_track(tables, track, settings), track).values()]
    notes = [f"Left out: {row['left_out']}."] if row["left_out"] else []
    notes += [f"{row['notes'][0].upper()}{row['notes'][1:]}."] if row["notes"] else []
    notes += list(_short_lists(tables, track, settings))
    said = (
        f"{number(row['systems'], 'system')}, {number(row['queries'], 'query', 'queries')} with a "
        f"relevant doc, {number(row['relevant'], 'relevant doc')}, lists down to rank "
        f"{row['deepest_rank']:,}."
    )
    return Section(track, [said], figures=figures, notes=notes)


def _short_lists(tables: Tables, track: str, settings: Settings) -> Iterator[str]:
    """Say so when the best system by ASL misses more relevant docs than most."""
    own = {row["measure"]: row for row in tables["best_by_choice"].filter(track=track).to_dicts()}
    best, deep = own.get(settings.asl()), own.get(settings.asl(unretrieved="depth"))
    if best is None or deep is None or settings.unretrieved == "depth":
        return
    if best["missed"] > best["median_missed"]:
        other = "the same" if deep["system"] == best["system"] else deep["system"]
        yield (
            f"{best['system']}, the best by ASL, does not retrieve {best['missed']:.0%} of the "
            f"relevant docs; half of the systems miss less than {best['median_missed']:.0%}. "
            f"ASL(unretrieved={settings.unretrieved}) makes the docs that a short list misses "
            f"cheap: by ASL(unretrieved=depth) the best is {other}."
        )


def number(count: int, one: str, several: str | None = None) -> str:
    """A count and what is counted."""
    return f"{count:,} {one if count == 1 else several or one + 's'}"


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
