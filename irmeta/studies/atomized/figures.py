"""The study's figures, from its tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import polars as pl

from irmeta.report import figures, headroom, lengths, spreads
from irmeta.studies.atomized.settings import Settings
from irmeta.studies.atomized.summaries import BEYOND, ORDER

Tables = Mapping[str, pl.DataFrame]


class Chart(NamedTuple):
    """A chart under the name of its files, what it shows, and how to read it."""

    name: str
    chart: Any
    caption: str
    reading: str


def over_tracks(tables: Tables, settings: Settings) -> Iterator[Chart]:
    """The figures of what is said over all tracks that are used."""
    used = tables["studied_tracks"].filter("used").select("track")
    spread = headroom.READING["best_distribution"]
    for number, measure in enumerate(settings.headroom, 1):
        own = tables["distributions"].filter(figure=f"Figure {number}")
        chart = headroom.best_distribution(own.select("low", "high", "tracks"), measure)
        caption = f"Figure {number}: tracks by the {measure} of their best system."
        yield Chart(f"figure-{number}", chart, caption, spread)
    best = tables["headroom"].join(used, on="track", how="semi", maintain_order="left")
    for measure in settings.headroom[1::2]:
        chart = headroom.track_headroom(best, measure)
        caption = f"Best and median system of each track by {measure}."
        yield Chart(f"headroom-{measure}", chart, caption, headroom.READING["track_headroom"])
    steps = tables["reordering"].join(used, on="track", how="semi", maintain_order="left")
    for name, rows, said in (
        ("table-2", ORDER, "Table 2 and Section 4.4"),
        ("beyond", BEYOND, "nDCG, RBP and ERR"),
    ):
        own = pl.concat([steps.filter(chain=chain, step=step) for chain, step in rows])
        moves, taus = spreads.chain_moves(own), spreads.chain_taus(own)
        yield Chart(name, moves, f"{said}: the largest move.", spreads.READING["chain_moves"])
        yield Chart(f"{name}-tau", taus, f"{said}: the order.", spreads.READING["chain_taus"])
    fractions = tables["effective_fraction"].join(used, on="track", how="semi")
    yield Chart(
        "effective-fraction",
        spreads.effective_fractions(fractions),
        "The share of the relevant docs that AP averages (Appendix A.1).",
        spreads.READING["effective_fractions"],
    )
    cut = tables["depth_sensitivity"].join(used, on="track", how="semi", maintain_order="left")
    yield Chart(
        "depth-sensitivity",
        headroom.depth_sensitivity(cut, settings.asl()),
        f"The best ASL over whole lists and lists cut at {settings.depth} (footnote 6).",
        headroom.READING["depth_sensitivity"],
    )


def of_track_names(
    tables: Tables, track: str, settings: Settings
) -> Iterator[tuple[str, str, str]]:
    """Name, caption and reading of the figures of one track, without drawing them again."""
    for one in of_track(tables, track, settings):
        yield one.name, one.caption, one.reading


def of_track(tables: Tables, track: str, settings: Settings) -> Iterator[Chart]:
    """Figures 5 and 6 of one track, where it has them."""
    histogram, means, differences = (
        tables[name].filter(track=track)
        for name in ("search_length_histogram", "means", "length_differences")
    )
    best = means.filter(measure=settings.asl()).filter(pl.col("value").is_not_nan())
    if histogram.height and best.height:
        system = best.sort("value", "system")["system"][0]
        bars = histogram.filter(system=system).select("low", "high", "docs")
        yield Chart(
            "figure-5",
            figures.search_length_histogram(bars, f"{track}: search lengths of {system}"),
            f"Figure 5: the relevant docs by search length in {system}, the best system by ASL.",
            figures.READING["search_length_histogram"],
        )
    if differences.height:
        system, median = differences.select("best", "median").row(0)
        yield Chart(
            "figure-6",
            lengths.length_differences(
                differences, system, median, f"{track}: search lengths, best less median"
            ),
            f"Figure 6: the relevant docs by search length in {system}, the best system by ASL, "
            f"less that in {median}, the median one.",
            lengths.READING["length_differences"],
        )
