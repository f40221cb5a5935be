"""Output of compare, power, prefer, agree and verify."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from irmeta.api.pairs import Leaderboard, PairExplanation
from irmeta.archive.verification import DIFFER, Verification
from irmeta.cli.display import Display
from irmeta.cli.explanations import MADE, print_terms
from irmeta.cli.notes import note
from irmeta.cli.tables import Result, open_console, print_parts, print_table_of, print_text
from irmeta.errors import first_few
from irmeta.phrases import count
from irmeta.preferences.spec import PreferenceRule
from irmeta.summaries import DIGITS, MOST_TERMS, Line, Rows, print_table

if TYPE_CHECKING:
    from irmeta.api.agree import JudgeAgreement
    from irmeta.api.comparisons import Comparisons
    from irmeta.api.gates import Gate


_HEADINGS = {
    "conclusions": "Conclusions, and the conditions that undo or reverse them",
    "conditions": "Conclusions that each condition keeps",
    "best": "Systems that no other beats safely",
    "methods": "Spread of the replicates of each method",
    "components": "Variance of methods, replicates and queries",
    "needed": "Queries that an E rho2 of .95 needs, by the number of replicates (-: none suffices)",
    "variants": "Spread over the variants of a query, which tests average",
}


def print_comparisons(
    comparisons: Comparisons,
    made: Mapping[str, Any],
    display: Display,
    gate: Gate | None = None,
    notes: Sequence[str] = (),
    table: str = "systems",
) -> None:
    """Print or write the systems, best first, or the tested pairs with the results of the tests.

    LaTeX and Markdown have systems by measures. JSON also has the rows of a gate, the tables of
    robust comparisons and of segments, and the notes on runs.
    """
    tables, is_pairs = comparisons.more_tables(), table == "pairs"
    effect = comparisons[0].pairs.effect_text
    first = {"pairs": comparisons.pair_frame()} if is_pairs else {}

    def show(digits: int) -> None:
        for one in comparisons:
            tested, *more = one.lines(sets=False)
            pairs = [Rows(one.pairs.frame().drop(one.pairs.names())), Line(tested, "bold")]
            parts = [*pairs, *map(Line, more)] if is_pairs else one.parts(digits)
            print_parts(parts, digits)
        if not is_pairs and any(one.pairs.baseline is None for one in comparisons):
            print_text(open_console(), "p-values of each pair: --table pairs")
        if comparisons.by_segment is not None:
            _print_interactions(comparisons.by_segment.interactions, digits)
        for name, heading in _HEADINGS.items():
            if name in tables:
                print_text(open_console(), f"{heading}:", "bold")
                print_table_of(tables[name], digits=digits)

    display.write(
        Result(
            "compare",
            first
            | {"systems": comparisons.frame()}
            | tables
            | ({} if gate is None else {"gate": gate.rows, "gate_queries": gate.queries}),
            "Pairs of systems with the results of tests."
            if is_pairs
            else "Systems with the results of tests.",
            made,
            {"notes": list(notes)} | ({} if gate is None else {"passed": gate.passed}),
            show=show,
            grid=None
            if is_pairs
            else lambda digits, file: comparisons.table(digits, system_names=file),
            comment=comparisons.made_text(),
            remark=f"Test: {comparisons.test_in_full()}. Effect: {effect}." if is_pairs else "",
        )
    )
    if display.form != "table":
        for one in comparisons:
            has_effect = (is_pairs or one.pairs.baseline is not None) and not display.is_paper
            for line in one.lines(effect=has_effect, sets=not is_pairs):
                note(line)
    if comparisons.robust is not None and display.form not in ("table", "json"):
        is_safe = comparisons.robust.conclusions["safe"]
        note(
            f"{is_safe.sum():,} of {count(len(is_safe), 'conclusion')} safe; "
            "what undoes the others: --format json or table, or a folder of --out"
        )


def _print_interactions(rows: pl.DataFrame, digits: int) -> None:
    """Print how many pairs depend on the segment, and those that do."""
    verdict = pl.col("verdict")
    is_reversed = verdict.str.starts_with("reversal")
    shown = rows.filter(is_reversed | verdict.str.starts_with("depends"))
    untested = rows.filter(verdict.str.starts_with("cannot")).height
    parts = [
        f"{shown.height:,} of {count(rows.height, 'pair')} shown to depend on the segment",
        f"{shown.filter(is_reversed).height:,} of them reversed",
        *([f"{untested:,} cannot be tested"] if untested else []),
    ]
    text = (
        f"{', '.join(parts)} (corrected over the pairs of one measure, track and baseline; all: "
        "--format json, or --out FOLDER/)."
    )
    print_text(open_console(), text, "bold")
    if shown.height:
        print_table_of(shown, digits=digits)


def print_boards(boards: Sequence[Leaderboard], made: Mapping[str, Any], display: Display) -> None:
    """Print or write the systems, best first, and whether the preference is transitive."""

    def show(digits: int) -> None:
        for board in boards:
            print_parts(board.parts(digits), digits)

    frame = pl.concat(board.frame() for board in boards)
    caption = "Systems by preference."
    display.write(Result("prefer", {"leaderboard": frame}, caption, made, show=show))
    if display.form != "table":
        for board in boards:
            for line in board.lines():
                note(line)


def print_pair_explanation(
    explained: PairExplanation, every: bool, made: Mapping[str, Any], display: Display
) -> None:
    """Print or write the terms of a preference; as text with facts, policies and the sum."""
    pair = {"system": explained.system, "baseline": explained.baseline, "query": explained.query}
    display.write(
        Result(
            "explain",
            {"terms": explained.frame()},
            f"{explained.preference} of {explained.system} over {explained.baseline} on query "
            f"{explained.query}.",
            {**made, "explain": pair},
            {"value": explained.value, **explained.facts},
            show=lambda digits: print_terms(explained, every),
        )
    )


def print_lists(
    lists: pl.DataFrame,
    measure: str,
    pair: Mapping[str, str],
    every: bool,
    made: Mapping[str, Any],
    display: Display,
) -> None:
    """Print or write two lists side by side, with the values that they add up to."""
    values: dict[str, Any] = {
        name: None if lists[column].null_count() else lists[column].sum()
        for name, column in (
            ("value", "adds"),
            ("baseline_value", "baseline_adds"),
            ("difference", "moves"),
        )
    }
    caption = "Lists of {system} and {baseline} on query {query}".format_map(pair)

    def show(digits: int) -> None:
        rows = lists if every else lists.head(MOST_TERMS)
        more = lists.height - rows.height
        hidden = [Line(f"... and {count(more, 'doc')} more; --all shows them.")] if more else []
        total = f"{measure} is defined without a sum here."
        if values["difference"] is not None:
            sums = "{value:.6g} - {baseline_value:.6g} = {difference:.6g}".format_map(values)
            total = f"{measure}: {sums}, the sum of moves"
        heading = Line(f"{caption}, and what moves {measure}", "bold")
        print_parts([heading, Rows(rows), *hidden, Line(total, "bold")], digits)

    facts = {"measure": measure, **values}
    tables = {"lists": lists}
    display.write(Result("explain", tables, f"{caption}.", {**made, "explain": dict(pair)}, facts,
                         show=show))  # fmt: skip


def rule_result(rule: PreferenceRule, definition: str, parameters: pl.DataFrame) -> Result:
    """Return the parameters of a preference; as text with its definition and source."""

    def show(digits: int) -> None:
        console = open_console()
        print_text(console, rule.name, "bold")
        print_text(console, f"{rule.summary}\n\n{definition}\n")
        print_table(console, parameters, fit=True)
        print_text(console, f"\nsource: {rule.source}; revision {rule.revision}")

    facts = {"summary": rule.summary, "definition": definition, "source": rule.source}
    return Result(
        "preferences",
        {"parameters": parameters},
        f"Parameters of {rule.name}.",
        {**MADE, "preference": rule.name},
        {**facts, "revision": rule.revision},
        show=show,
    )


REVERSED = -0.5
"""Spearman's rho up to which a scale may run the other way."""


def ask_about_scales(judges: pl.DataFrame) -> None:
    """Print a note on judges whose grades fall as those of the reference rise."""
    reversed_ = (pl.col("spearman") <= REVERSED) & (pl.col("spearman_high") < 0)
    for row in judges.filter(reversed_).iter_rows(named=True):
        track = f"{row['track']}: " if row["track"] else ""
        note(
            f"irmeta: {track}Spearman's rho of {row['judge']} and {row['reference']} is "
            f"{row['spearman']:.2f}: does one of their scales run the other way, with 1 as the "
            "best grade?"
        )


def print_agreement(found: JudgeAgreement, digits: int | None) -> None:
    """Print the best-known coefficients of each judge with their intervals, best judge first."""
    print_parts(found.parts(digits))
    judges = found.judges.sort("kappa_binary", descending=True, nulls_last=True)
    differing = judges.filter(~pl.col("scale").str.starts_with("same"))["judge"].to_list()
    if differing and not found.settings["same_scale"]:
        advice = (
            "compared by --raw"
            if found.settings["raw"]
            else "no kappa of grades, alpha or AC; add --same-scale if a set only lacks a grade"
        )
        names = first_few(differing, "--format csv lists their grades")
        note(f"irmeta: grades differ from the reference's: {names}: {advice}")
    kinds = judges["interval"].to_list()
    covered = {
        "percentile": "95 % intervals draw whole queries (bootstrap percentiles, which of 20 to 30 "
        "queries cover 88 to 95 % in simulations)",
        "bootstrap-t": "95 % intervals of 5 to 19 queries are bootstrap-t over queries (those of "
        "kappa, alpha and AC cover 92 to 97 % in simulations, of recall 79 % and more)",
        "jackknife t": "95 % intervals of 2 to 4 queries are Student's t by a jackknife over "
        "queries (91 to 96 % cover, of recall 82 % and more)",
    }
    texts = [text for kind, text in covered.items() if kind in kinds]
    note(f"irmeta: {'; '.join([*texts, '--format csv has all coefficients'])}")


MOST_ROWS = 20  # values that differ without a known reason


def print_verification(found: Verification, display: Display) -> None:
    """Print a row per track, as text with what differs and why; write every value to a file."""

    def show(digits: int) -> None:
        print_table_of(found.tracks, digits=digits)
        _print_details(found)

    tables = {"tracks": found.tracks, "values": found.values, "unmatched": found.unmatched}
    if display.file is not None:
        tables = {"values": found.values, **tables}
    caption = "Published values that were recomputed."
    display.write(Result("verify", tables, caption, found.provenance, show=show))
    if display.file is not None:
        show(DIGITS)
    published, differ, explained = found.tracks.select(
        pl.col("published", "differ", "explained").sum()
    ).row(0)
    verb = "differs" if differ == 1 else "differ"
    note(
        f"irmeta: {differ:,} of {count(published, 'published value')} {verb}"
        f"{f' ({explained:,} explained)' if differ else ''}"
    )


def _print_details(found: Verification) -> None:
    console = open_console()
    is_open = (pl.col("verdict") == DIFFER) & pl.col("reason").is_null()
    unexplained = found.values.filter(is_open)
    if unexplained.height:
        print_text(console, "\nValues that differ without a known reason", "bold")
        shown = unexplained.head(MOST_ROWS).with_columns(
            value=pl.col("value").map_elements("{:.10g}".format, pl.String)
        )
        columns = ("track", "system", "query", "evaluator", "measure", "canonical")
        print_table(console, shown.select(*columns, "printed", "value"))
        if unexplained.height > MOST_ROWS:
            more = unexplained.height - MOST_ROWS
            print_text(console, f"... and {more:,} more: --out FILE writes all.")
    explained = found.reasons.drop_nulls("reason")
    if explained.height:
        print_text(console, "\nValues with a remark", "bold")
        print_table(console, explained)
    for (track, place), rows in found.unmatched.group_by(
        "track", "absent_from", maintain_order=True
    ):
        of = "not in the store" if place == "store" else "without a published value"
        listed = first_few(rows["system"].to_list(), "irmeta.verify(...).unmatched has all")
        print_text(console, f"\n{track}: {count(rows.height, 'system')} {of}: {listed}")
