"""The study's figures, from its tables."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import polars as pl

from irmeta.report import figures, headroom, lengths, spreads
from irmeta.studies.atomized.paper import CLASSES, EFFECTIVE_FRACTION
from irmeta.studies.atomized.settings import Settings
from irmeta.studies.atomized.summaries import BEYOND, ORDER
from irmeta.studies.base import Chart, Tables


def over_tracks(tables: Tables, settings: Settings) -> Iterator[Chart]:
    """The figures of what is said over all tracks that are used; none where no track is."""
    used = tables["studied_tracks"].filter("used").select("track")
    if used.is_empty():
        return
    for number, measure in enumerate(settings.headroom, 1):
        own = tables["distributions"].filter(figure=f"Figure {number}")
        yield Chart(
            f"figure_{number}",
            partial(headroom.best_distribution, own, measure, CLASSES[number]),
            f"Figure {number}: tracks by the {measure} of their best system.",
            headroom.READING["best_distribution"],
        )
    best = tables["headroom"].join(used, on="track", how="semi", maintain_order="left")
    for name, measure in (("asl_g10", settings.asl(10)), ("asl", settings.asl())):
        by = settings.best_by or measure
        yield Chart(
            f"headroom_{name}",
            partial(headroom.track_headroom, best, measure),
            f"{measure} of the best and the median system of each track, by {by}.",
            headroom.READING["track_headroom"],
        )
    steps = tables["reordering"].join(used, on="track", how="semi", maintain_order="left")
    for name, rows, said in (
        ("table_2", ORDER, "Table 2 and Section 4.4"),
        ("beyond", BEYOND, "nDCG, RBP and ERR"),
    ):
        own = pl.concat([steps.filter(chain=chain, step=step) for chain, step in rows])
        moves, taus = partial(spreads.chain_moves, own), partial(spreads.chain_taus, own)
        yield Chart(name, moves, f"{said}: the largest move.", spreads.READING["chain_moves"])
        yield Chart(f"{name}_tau", taus, f"{said}: the order.", spreads.READING["chain_taus"])
    fractions = tables["effective_fraction"].join(used, on="track", how="semi")
    yield Chart(
        "effective_fraction",
        partial(spreads.effective_fractions, fractions, EFFECTIVE_FRACTION[0]),
        "The share of the relevant docs that AP averages (Appendix A.1).",
        spreads.READING["effective_fractions"],
    )
    cut = tables["depth_sensitivity"].join(used, on="track", how="semi", maintain_order="left")
    yield Chart(
        "depth_sensitivity",
        partial(headroom.depth_sensitivity, cut, settings.asl()),
        f"The best ASL over whole lists and lists cut at {settings.depth} (footnote 6).",
        headroom.READING["depth_sensitivity"],
    )


def of_track(tables: Tables, track: str, settings: Settings) -> Iterator[Chart]:
    """Figures 5 and 6 of one track, where it has them."""
    histogram, best, differences = (
        tables[name].filter(track=track)
        for name in ("search_length_histogram", "best_by_choice", "length_differences")
    )
    for system in best.filter(measure=settings.asl())["system"]:
        bars = histogram.filter(system=system).select("low", "high", "docs")
        title = f"{track}: search lengths of {system}"
        yield Chart(
            "figure_5",
            partial(figures.search_length_histogram, bars, title),
            f"Figure 5: the relevant docs by search length in {system}, the best system by ASL.",
            figures.READING["search_length_histogram"],
        )
    if differences.height:
        system, median = differences.select("best", "median").row(0)
        title = f"{track}: search lengths, best less median"
        yield Chart(
            "figure_6",
            partial(lengths.length_differences, differences, system, median, title),
            f"Figure 6: the relevant docs by search length in {system}, the best system by ASL, "
            f"less that in {median}, the median one.",
            lengths.READING["length_differences"],
        )
