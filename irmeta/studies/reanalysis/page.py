"""The page of the overview: sections and figures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from irmeta.measures.names import display_of
from irmeta.phrases import count, listed
from irmeta.report.charts.heat import heat_map, lower_triangle
from irmeta.report.charts.row_charts import rank_places, ranked
from irmeta.report.figures import length_histogram, rarity_histogram
from irmeta.studies.framework.study import Figure, Section, Show, Tables
from irmeta.studies.reanalysis.study import OverviewOptions as Options

HEADLINE = ("AP", "ASL(unretrieved=depth)", "ASL")
DAGGERS = "\u2020: the system misses more relevant docs than the median system."


def headline(options: Options) -> list[str]:
    """Return the measures of the first table: AP and ASL, or the first requested measure."""
    return [m for m in HEADLINE if m in options.measures] or list(options.measures[:1])


def sections(tables: Tables, options: Options) -> Iterator[Section]:
    """Yield the sections over tracks."""
    yield Section(
        "Best systems",
        [
            "The best system of each track. Each line runs from the worst system (left) to the "
            "best (right, dot); the tick is the median system. All tracks share one scale.",
            "Could be first: number of systems whose rank set over queries has rank 1, where the "
            "sets of all systems hold at once with 95 %.",
            "Which measures can be trusted on these tracks, to which depth, and which differences "
            "between systems other measures, judgments and queries would keep: `irmeta study trust "
            "STORE --out FOLDER`.",
        ],
        [
            Show("best_systems", ("track", "systems", "queries", "relevant", "measure", "system",
                 "value", "could_be_first", "worst"), pivot="measure", name="best",
                 rows={"measure": headline(options)}),
        ],
        notes=list(_short(tables, options)),
    )  # fmt: skip
    yield Section("Measures", show=["measures"])
    if tables["skipped_runs"].height:
        yield Section("Skipped runs", show=["skipped_runs"])


def _short(tables: Tables, options: Options) -> Iterator[str]:
    rows = tables["best_systems"].filter("short", pl.col("measure") == "ASL")
    if rows.height:
        yield (
            "By ASL, as defined in Eq. 3 of its paper, the best system misses more relevant docs "
            f"than the median system (\u2020) on {listed(rows['track'].to_list(), most=5)}: "
            "ASL(unretrieved=depth) counts these docs one rank below the track's deepest."
        )


def track_section(tables: Tables, options: Options, track: str) -> Section:
    """Return the section of one track."""
    row = tables["tracks"].row(0, named=True)
    columns = ("measure", "system", "value", "missed", "second", "second_value", "median", "worst")
    return Section(
        track,
        show=[Show("best_systems", (*columns, "ties", "could_be_first"),
                   caption="Best systems by each measure."),
              _every_system(tables), "systems_*", "ranks_*", "search_lengths*", "rarity_*",
              "tau_b"],
        facts={
            "systems": row["systems"],
            "skipped runs": row["skipped_runs"],
            "queries": row["queries"],
            "relevant docs": row["relevant"],
            "judged docs": row["judged"],
            "rows": row["rows"],
            "deepest rank": row["deepest_rank"],
            "qrels": f"{row['qrels']}, highest grade {row['highest_grade']}",
            "tie order": row["tie_order"],
        },
        notes=list(_notes(tables)),
    )  # fmt: skip


def _every_system(tables: Tables) -> Show:
    """Return the table of all systems: what reading noticed of each, and its means."""
    systems = tables["systems"].filter(pl.col("skip_reason").is_null())
    facts = [name for name in ("group", "type", "pooled") if systems[name].count()]
    counts = ("lists", "missing_queries", "unjudged_queries", "duplicates", "malformed")
    noticed = ["rows", *(name for name in counts if name == "lists" or systems[name].sum())]
    joined = (*facts, *noticed, "tied_rows")
    return Show(
        "best",
        ("system", *joined, "measure", "value"),
        pivot="measure",
        caption="All systems, with what reading noticed, and their means.",
        join=Show("systems", joined, rows={"skip_reason": (None,)}),
        page_only=True,
    )


def _notes(tables: Tables) -> Iterator[str]:
    row = tables["tracks"].row(0, named=True)
    if row["queries_without_relevant"]:
        yield (
            f"{row['queries_without_relevant']} of {row['queries']} judged queries have no "
            "relevant doc: the value is 0 where trec_eval prints 0; search lengths exclude them."
        )
    lengths = tables["means"].filter(pl.col("lists_without_nonrelevant").is_not_null())
    first = lengths.filter(pl.col("measure") == pl.col("measure").first())
    if perfect := first["lists_without_nonrelevant"].sum():
        yield (
            f"{perfect} lists hold no non-relevant doc (irrel_q = 0). Eq. 3 of the paper on search "
            "lengths gives the relevant docs that such a list misses a length of 0, like a perfect "
            "list: compare ASL(unretrieved=depth)."
        )
    if missing := first["no_list"].sum():
        yield (
            f"{missing} (system, query) pairs have no list and get each measure's worst value, for "
            f"search lengths the track's deepest rank ({row['deepest_rank']:,}) plus 1."
        )
    tied = tables["systems"]["tied_rows"].sum() / max(1, row["rows"])
    if tied >= 0.01:
        yield f"{tied:.0%} of all rows share their score with another row of the same list."


def _best(tables: Tables, options: Options) -> pl.DataFrame:
    """Return histograms of the best systems by search lengths, or by the first measure."""
    best = tables["best_systems"].filter(pl.col("measure").is_in(headline(options)))
    lengths = best.filter(pl.col("missed").is_not_null())
    chosen = (lengths if lengths.height else best.head(1)).unique("system", maintain_order=True)
    return chosen.select("track", "measure", "system", "short").join(
        tables["search_length_histogram"], on=["track", "system"], maintain_order="left_right"
    )


def _lengths(rows: pl.DataFrame, options: Options) -> Any:
    mark = " \u2020" * rows["short"][0]
    return length_histogram(rows, f"Search lengths of {rows['system'][0]}{mark}")


def _caption(rows: pl.DataFrame, options: Options) -> str:
    note = f" {DAGGERS}" * rows["short"][0]
    return f"Search lengths of {rows['system'][0]}, the best system by {rows['measure'][0]}.{note}"


def _agreement(rows: pl.DataFrame, options: Options) -> Any:
    return heat_map(
        lower_triangle(rows, "measure_a", "measure_b", "tau"),
        title="Agreement of measures",
        subtitle="Kendall's tau-b between the orders of the systems",
    )


def _headline(tables: Tables, options: Options) -> pl.DataFrame:
    return tables["best"].filter(pl.col("measure").is_in(headline(options)))


def _ranks(rows: pl.DataFrame, options: Options) -> Any:
    first = count(int((rows["rank_low"] == 1).sum()), "system")
    subtitle = f"95 % simultaneous rank sets over queries; {first} could be first"
    return rank_places(rows.rename({"system": "name"}), f"Ranks by {rows['measure'][0]}", subtitle)


FIGURES = (
    Figure("systems", _headline,
           lambda rows, _: ranked(
               rows.select("value", name="system"), rows["measure"][0],
               display_of(rows["measure"][0])
           ),
           "All systems by {measure}.",
           "Each dot is a system, best first. The dark dot is the best system, the dashed line the "
           "median.", by="track", each="measure"),
    Figure("ranks", _headline, _ranks,
           "Ranks that each system could have by {measure}.",
           "Each row is a system, best first: a dot at its rank, and a line over its rank set, the "
           "ranks that it could have on all queries of which these are a sample. The sets of all "
           "systems hold at once with 95 % (Mogstad et al. 2024), by 1,000 bootstrap samples of "
           "the queries, with the standard errors of the sample, or of each bootstrap sample where "
           "there are fewer than 25 queries. Horizontal lines divide tiers.",
           by="track", each="measure"),
    Figure("search_lengths", _best, _lengths, _caption,
           "Each bar counts relevant docs by their search length. Bars at the left are docs "
           "retrieved early; the last bar, orange, is the docs that were not retrieved.",
           by="track", each="measure"),
    Figure("rarity_of_docs", "rarity_histogram", lambda rows, _: rarity_histogram(rows),
           lambda _, o: "Relevant docs by the number of systems that retrieve them in the first "
           f"{o.rarity_depth} ranks.",
           "Each bar counts relevant docs by the number of systems that retrieve them. Rare docs "
           "are at the left; the first bar, orange, is the docs that no system retrieves.",
           by="track"),
    Figure("tau_b", "agreement", _agreement,
           "Kendall's tau-b between the measures' orders of systems.",
           "Each cell is Kendall's tau-b between the orders of the systems by two measures: 1 is "
           "the same order, 0 no relation, below 0 more pairs of systems reversed than kept.",
           by="track"),
)  # fmt: skip
