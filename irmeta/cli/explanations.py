"""Output of explain, measures and diff."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl
from rich.markup import escape
from rich.table import Table

from irmeta._version import __version__
from irmeta.api.pairs import PairExplanation
from irmeta.cli.display import Display
from irmeta.cli.tables import Result, open_console, print_parts, print_text
from irmeta.escapes import escape_text
from irmeta.measures.catalog import SHARED, Description
from irmeta.measures.explain import Explanation
from irmeta.results.diff import Difference
from irmeta.summaries import MOST_TERMS, print_table

MADE = {"irmeta": __version__}
CERTAINTY = (
    "\nyes: no pair of rankings up to this length violates the property, which proves nothing for "
    "longer ones; no: some do."
)


def print_explanation(
    explained: Explanation, every: bool, made: Mapping[str, Any], display: Display
) -> None:
    """Print or write the terms of a value; as text with the facts, the policies and the sum."""
    asked = {name: getattr(explained, name) for name in ("system", "query")}
    facts = {"value": explained.value, "sum": explained.sum_text(), **explained.facts}
    display.write(
        Result(
            "explain",
            {"terms": explained.frame(), "docs": explained.docs},
            f"{explained.measure} of {explained.system} on query {explained.query}.",
            {**made, "explain": asked},
            facts,
            show=lambda digits: print_terms(explained, every),
        )
    )


def print_terms(explained: Explanation | PairExplanation, every: bool) -> None:
    """Print an explanation, by default with its first terms."""
    print_parts(explained.parts(every=every))
    if not every and len(explained.trace.terms) > MOST_TERMS:
        print_text(open_console(), "--all shows all terms.")


def measures_result(frame: pl.DataFrame) -> Result:
    """Return the table of all measures; as text with their shared parameters."""

    def show(digits: int) -> None:
        console = open_console()
        print_table(console, frame, fit=True)
        console.print(f"\n{SHARED}", markup=False, highlight=False)
        console.print("irmeta measures NAME describes one measure.", highlight=False)

    return Result("measures", {"measures": frame}, "Measures.", MADE, show=show)


def preset_result(name: str, frame: pl.DataFrame) -> Result:
    """Return the measures of a preset."""
    made = {**MADE, "preset": name}
    return Result("measures", {"measures": frame}, f"Measures of the preset {name}.", made)


def properties_result(
    frame: pl.DataFrame, name: str | None, kinds: str, sizes: Mapping[str, int]
) -> Result:
    """Return the properties of measures; as text a row per measure."""
    made = {**MADE, "properties": {"name": name, "for": kinds, **sizes}}
    caption = "Properties of measures on all short rankings."
    return Result(
        "measures",
        {"properties": frame},
        caption,
        made,
        show=lambda digits: _show_properties(frame),
    )


def _show_properties(frame: pl.DataFrame) -> None:
    """Print a row per measure: which properties hold, and what violates the others first."""
    names = frame["property"].unique(maintain_order=True).to_list()
    sign = pl.when(pl.col("lower_value") > pl.col("upper_value")).then(pl.lit(">"))
    sign = sign.when(pl.col("lower_value") < pl.col("upper_value")).then(pl.lit("<"))
    first = pl.format("{} {} {} {}", "property", "lower", sign.otherwise(pl.lit("=")), "upper")
    held = pl.col("holds").replace_strict({True: "yes", False: "no"}, default="-")
    wide = frame.group_by("measure", maintain_order=True).agg(
        *(held.filter(pl.col("property") == name).first().alias(name) for name in names),
        first.filter(~pl.col("holds")).str.join("; ").alias("first violations"),
    )
    console = open_console()
    print_table(console, wide, fit=True)
    print_text(console, CERTAINTY, "dim")


def description_result(asked: str, described: Description) -> Result:
    """Return the parameters of a measure; as text with its definition and facts."""
    facts = {name: getattr(described, name) for name in ("summary", "definition", "written")}
    return Result(
        "measures",
        {"parameters": described.parameters},
        f"Parameters of {described.name}.",
        {**MADE, "measure": described.name},
        {**facts, **described.facts},
        show=lambda digits: _show_description(asked, described),
    )


def _show_description(asked: str, described: Description) -> None:
    console = open_console()
    print_text(console, described.name, "bold")
    print_text(console, described.summary)
    if described.asked not in ((), (asked,)):
        print_text(console, f"\n{asked} stands for {', '.join(described.asked)}")
    print_text(console, f"\n{described.definition}")
    print_text(console, f"\nwrite {described.written}, such as {described.example}\n")
    print_table(console, described.parameters, fit=True)
    console.print()
    table = Table(box=None, show_header=False, pad_edge=False)
    for fact, text in described.facts.items():
        table.add_row(escape(escape_text(fact)), escape(escape_text(text, keep="\n")))
    console.print(table)


def print_difference(difference: Difference, a: str, b: str, display: Display) -> None:
    """Print or write the differences of two files in values and provenance."""
    asked = {"a": a, "b": b}
    asked |= {name: getattr(difference, name) for name in ("tolerance", "worse_only", "missing")}
    display.write(
        Result(
            "diff",
            {"measures": difference.measures, "provenance": difference.made},
            "Differences of values by measure.",
            {"irmeta": __version__, "diff": asked},
            show=lambda digits: _show_difference(difference, a, b),
        )
    )


def _show_difference(difference: Difference, a: str, b: str) -> None:
    """Print the differences in provenance, then in values, then a summary."""
    console = open_console()
    print_text(console, f"A: {a}\nB: {b}")
    if difference.made.height:
        print_text(console, "\nDifferent provenance", "bold")
        print_table(console, difference.made)
    else:
        print_text(console, "\nSame provenance: irmeta, policies, measures and input.")
    exact = pl.col("greatest", "a", "b").map_elements("{:.10g}".format, pl.String)
    print_text(console, "\nValues by measure", "bold")
    print_table(console, difference.measures.with_columns(exact).drop("lost"))
    both, lone_a, lone_b, different, other_queries = (
        difference.measures.select("both", "only_a", "only_b", "different", "other_queries")
        .sum()
        .row(0)
    )
    named = difference.measures["lost"].explode().drop_nulls().unique(maintain_order=True)
    more = f" ({', '.join(named.head(10))}{', ...' * (lone_a > 10)})" if len(named) else ""
    differ = "are worse in B" if difference.worse_only else "differ"
    print_text(
        console,
        f"\n{different:,} of {both:,} values {differ} by more than {difference.tolerance:g}; "
        f"{lone_a:,} rows are in A alone{more}, {lone_b:,} in B alone; {other_queries:,} means are "
        "of another number of queries.",
        "bold",
    )
