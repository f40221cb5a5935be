"""The overview's tables as one page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from irmeta.report.figures import (
    READING,
    measure_agreement,
    rarity_histogram,
    search_length_histogram,
    system_scores,
)
from irmeta.report.look import to_svg
from irmeta.report.page import Figure, Page, TrackSection, render
from irmeta.report.tables import to_latex
from irmeta.results.tables import write_text
from irmeta.studies import drawing
from irmeta.studies.base import Chart, Folder

_FILES = (
    ("means.parquet", "mean of every measure for every system, and how many queries it averages"),
    ("best.parquet", "all systems of each track by each measure, best first"),
    ("agreement.parquet", "Kendall's tau-b between the measures' orders of systems"),
    ("search_length_histogram.parquet", "relevant docs by search length, for every system"),
    ("tracks.parquet", "what each track holds"),
    ("systems.parquet", "every run file: its facts, what reading noticed, why it was set aside"),
    ("scores/", "values per query, one file a track"),
    ("search_lengths/", "one row for each system, query and relevant doc, one file a track"),
    ("rarity/", "how many systems retrieve each relevant doc, one file a track"),
    ("figures/tracks/", "the figures of this page, a folder a track"),
    ("best.tex", "the best systems as a LaTeX table (booktabs)"),
)


def write_page(
    folder: Folder, tables: Mapping[str, pl.DataFrame], provenance: Mapping[str, Any]
) -> None:
    """Write `report.html` from the combined tables."""
    sections = [
        _section(folder, row, _of_track(tables, row["track"]), provenance["rarity_depth"])
        for row in tables["tracks"].iter_rows(named=True)
    ]
    totals = (
        tables["tracks"]
        .select(pl.col("systems", "queries", "rows", "relevant").sum())
        .rename({"relevant": "relevant docs"})
    )
    aside = tables["systems"].filter(pl.col("set_aside").is_not_null())
    page = Page(
        title="Overview of retrieval tracks",
        lead="Every system of every track by every measure, and how far the measures agree.",
        summary={"tracks": len(sections), **totals.row(0, named=True)},
        tracks=sections,
        notes=_notes(aside),
        set_aside=aside.select("track", "file", reason="set_aside"),
        provenance=_provenance(provenance),
        files=list(_FILES),
        overview_measures=_overview_measures(list(provenance["measures"])),
    )
    write_text(folder.root / "report.html", render(page))
    _write_latex(folder, sections, page.overview_measures)


def _write_latex(folder: Folder, sections: list[TrackSection], measures: Sequence[str]) -> None:
    """The page's first table for a paper: the best system of each track by each measure."""
    rows = []
    for section in sections:
        row: dict[str, object] = {"track": section.name, "systems": section.facts["systems"]}
        best = {r["measure"]: r for r in section.best.iter_rows(named=True)}
        for measure in measures:
            found = best.get(measure, {})
            row |= {f"best by {measure}": found.get("system"), measure: found.get("value")}
        rows.append(row)
    caption = "The best system of each track, and its mean over queries."
    write_text(folder.root / "best.tex", to_latex(pl.DataFrame(rows), caption, "tab:best"))


def _of_track(tables: Mapping[str, pl.DataFrame], track: str) -> dict[str, pl.DataFrame]:
    return {name: frame.filter(pl.col("track") == track) for name, frame in tables.items()}


def _overview_measures(measures: list[str]) -> tuple[str, ...]:
    """AP and ASL, the paper's two; where one was not computed, the first that was."""
    return tuple(dict.fromkeys(m if m in measures else measures[0] for m in ("AP", "ASL")))


def _section(
    folder: Folder,
    row: Mapping[str, Any],
    tables: Mapping[str, pl.DataFrame],
    rarity_depth: int,
) -> TrackSection:
    return TrackSection(
        name=row["track"],
        facts={
            "systems": row["systems"],
            "set aside": row["set_aside"],
            "queries": row["queries"],
            "relevant docs": row["relevant"],
            "judged docs": row["judged"],
            "rows": row["rows"],
            "deepest rank": row["deepest_rank"],
            "qrels": f"{row['qrels']}, highest grade {row['highest_grade']}",
            "tie order": row["tie_order"],
        },
        best=_best(tables["best"]),
        figures=list(_figures(folder, row["track"], tables, rarity_depth)),
        notes=list(_track_notes(row, tables)),
    )


def _best(ordered: pl.DataFrame) -> pl.DataFrame:
    """One row a measure: the best system, the runner-up, the median and the worst value."""
    rows = []
    for (measure,), group in ordered.group_by("measure", maintain_order=True):
        places = group.sort("place", "system")
        second = places.row(1, named=True) if places.height > 1 else {}
        tied = places.filter(pl.col("place") == 1).height - 1
        rows.append(
            {
                "measure": measure,
                "direction": places["direction"][0],
                "system": places["system"][0],
                "value": places["value"][0],
                "second": second.get("system"),
                "second_value": second.get("value"),
                "median": places["value"].median(),
                "worst": places["value"][-1],
                "note": f"{tied} more with the same value" if tied else None,
            }
        )
    texts = dict.fromkeys(("measure", "system", "second", "note"), pl.String)
    numbers = dict.fromkeys(("value", "second_value", "median", "worst"), pl.Float64)
    return pl.DataFrame(rows, schema=texts | numbers | {"direction": pl.Int32})


def draw_track(
    folder: Folder, track: str, tables: Mapping[str, pl.DataFrame], rarity_depth: int
) -> list[Path]:
    """Write a track's figures as figures/tracks/TRACK/NAME.svg, from its own tables."""
    files = []
    for chart in _charts(folder, track, tables, rarity_depth):
        files.append(folder.figure(chart.name, "svg", track))
        write_text(files[-1], to_svg(chart.draw(), drawing.svg))
    return files


def _figures(
    folder: Folder, track: str, tables: Mapping[str, pl.DataFrame], rarity_depth: int
) -> Iterator[Figure]:
    """The figures that `draw_track` has written."""
    for chart in _charts(folder, track, tables, rarity_depth):
        svg = folder.figure(chart.name, "svg", track).read_text(encoding="utf-8")
        yield Figure(svg, chart.caption, chart.reading)


def _charts(
    folder: Folder, track: str, tables: Mapping[str, pl.DataFrame], rarity_depth: int
) -> Iterator[Chart]:
    yield from _score_charts(tables["best"])
    yield from _length_charts(folder, track, tables, rarity_depth)
    if tables["agreement"].height:
        pairs = tables["agreement"].select("measure_a", "measure_b", "tau")
        caption = "Do the measures put the systems in the same order?"
        draw = partial(measure_agreement, pairs)
        yield Chart("agreement", draw, caption, READING["measure_agreement"])


def _score_charts(best: pl.DataFrame) -> Iterator[Chart]:
    for measure in ("AP", "ASL"):
        values = best.filter(pl.col("measure") == measure)
        if values.height:
            direction = int(values["direction"][0])
            draw = partial(system_scores, values.select("system", "value"), measure, direction)
            caption = f"All systems by {measure}."
            yield Chart(measure, draw, caption, READING["system_scores"])


def _length_charts(
    folder: Folder, track: str, tables: Mapping[str, pl.DataFrame], rarity_depth: int
) -> Iterator[Chart]:
    best = tables["best"]
    if best.is_empty():
        return
    by = "ASL" if "ASL" in best["measure"] else best["measure"][0]
    system = best.filter((pl.col("measure") == by) & (pl.col("place") == 1))["system"].to_list()[0]
    buckets = tables["search_length_histogram"].filter(pl.col("system") == system)
    yield Chart(
        "search-lengths",
        partial(
            search_length_histogram,
            buckets.select("low", "high", "docs"),
            f"Search lengths of {system}",
        ),
        f"Search lengths of {system}, the best system by {by}.",
        READING["search_length_histogram"],
    )
    yield Chart(
        "rarity",
        lambda: rarity_histogram(_rarity(folder, track)),
        f"Relevant docs by how many systems retrieve them in their first {rarity_depth}.",
        READING["rarity_histogram"],
    )


def _rarity(folder: Folder, track: str) -> pl.DataFrame:
    found = pl.read_parquet(folder.of_track("rarity", track), columns=["retrieved_by", "systems"])
    docs = found.group_by(systems_retrieving="retrieved_by").len("docs")
    # The greatest number of systems is drawn even where no doc has it: it ends the axis.
    ends = found.select(systems_retrieving="systems", docs=pl.lit(0, pl.UInt32)).head(1)
    return pl.concat([docs, ends]).group_by("systems_retrieving").sum().sort("systems_retrieving")


def _track_notes(row: Mapping[str, Any], tables: Mapping[str, pl.DataFrame]) -> Iterator[str]:
    if row["notes"]:
        yield f"{row['notes']}."
    if row["queries_without_relevant"]:
        yield (
            f"{row['queries_without_relevant']} of {row['queries']} judged queries have no "
            "relevant doc: they score 0 where trec_eval prints 0; search lengths leave them out."
        )
    lengths = tables["means"].filter(pl.col("no_irrelevant").is_not_null())
    if lengths.height:
        first = lengths.filter(pl.col("measure") == lengths["measure"][0])
        if perfect := first["no_irrelevant"].sum():
            yield (
                f"{perfect} lists hold no non-relevant doc (irrel_q = 0). Eq. 3 of the paper on "
                "search lengths gives the relevant docs that such a list misses a length of 0, as "
                "if it were perfect: compare ASL(unretrieved=depth)."
            )
        if missing := first["no_list"].sum():
            yield (
                f"{missing} (system, query) pairs have no list: they score each measure's worst, "
                f"for search lengths the track's deepest rank ({row['deepest_rank']:,}) plus 1."
            )
    yield from _short_list_notes(tables)
    tied = tables["systems"]["tied_rows"].sum() / max(1, row["rows"])
    if tied >= 0.01:
        yield f"{tied:.0%} of all rows share their score with another row of the same list."


def _short_list_notes(tables: Mapping[str, pl.DataFrame]) -> Iterator[str]:
    """Say so when the best system by ASL misses more relevant docs than most."""
    best = tables["best"].filter((pl.col("measure") == "ASL") & (pl.col("place") == 1))
    not_retrieved = pl.col("docs").filter(pl.col("low").is_null()).sum() / pl.col("docs").sum()
    missed = tables["search_length_histogram"].group_by("system").agg(share=not_retrieved)
    median = missed["share"].median()
    for system, share in best.join(missed, on="system").select("system", "share").iter_rows():
        if isinstance(median, float) and share > median:
            yield (
                f"{system}, the best by ASL, does not retrieve {share:.0%} of the relevant docs; "
                f"the median system {median:.0%}. Eq. 3 makes the docs that a short list misses "
                "cheap: compare ASL(unretrieved=depth)."
            )


def _notes(aside: pl.DataFrame) -> list[str]:
    if aside.is_empty():
        return []
    runs = "1 run was" if aside.height == 1 else f"{aside.height} runs were"
    return [f"{runs} set aside and left out of every number; the reasons are listed below."]


def _provenance(record: Mapping[str, Any]) -> dict[str, str]:
    policy = record["eval_policy"]
    reading = [track["read_policy"] for track in record["tracks"].values()]

    def said(choice: str) -> str:
        values = dict.fromkeys(str(policy[choice] or "none") for policy in reading)
        return ", ".join(values)

    return {
        "irmeta": record["irmeta"],
        "measures": ", ".join(record["measures"]),
        "queries averaged": policy["queries"],
        "negative grades": policy["negative"],
        "tie order at reading": said("tie_order"),
        "depth cut at reading": said("depth"),
        "a doc twice in a list": said("duplicates"),
        "malformed lines": said("malformed"),
        "search length of a doc that is not retrieved": record["unretrieved"],
        "rarity depth": str(record["rarity_depth"]),
    }
