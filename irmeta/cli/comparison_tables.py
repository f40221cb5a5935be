"""Output of compare, power, prefer, agree and verify."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl
from rich.markup import escape
from rich.table import Table

from irmeta.api.pairs import Leaderboard, PairExplanation
from irmeta.archive.verification import DIFFER, Verification
from irmeta.cli.display import Display
from irmeta.cli.explanations import MADE, MOST_TERMS
from irmeta.cli.notes import note
from irmeta.cli.score_tables import without_zero_counts
from irmeta.cli.tables import DIGITS, Result, open_console, print_table, print_table_of, print_text
from irmeta.errors import first_few
from irmeta.escapes import escape_name
from irmeta.phrases import count
from irmeta.preferences.spec import PairTerm, PreferenceRule

if TYPE_CHECKING:
    from rich.console import Console

    from irmeta.api.agree import JudgeAgreement
    from irmeta.api.comparisons import Comparison, Comparisons
    from irmeta.api.gates import Gate


_SETS = "rank_low, rank_high, tier"
_HEADINGS = {
    "conclusions": "Conclusions, and the conditions that undo or reverse them",
    "conditions": "Conclusions that each condition keeps",
    "best": "Systems that no other beats safely",
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
    robust comparisons, and the notes on runs.
    """
    robust, is_pairs = comparisons.robust_tables(), table == "pairs"
    effect = comparisons[0].pairs.effect_text

    def has_effect(one: Comparison) -> bool:
        return is_pairs or one.pairs.baseline is not None

    first = {"pairs": comparisons.pair_frame()} if is_pairs else {}

    def show(digits: int) -> None:
        for one in comparisons:
            console, more = open_console(), ""
            if is_pairs:
                print_table(console, one.pairs.frame().drop(one.pairs.names()), digits=digits)
            else:
                print_systems(console, without_zero_counts(one.systems), digits)
            if one.pairs.baseline is None and not is_pairs:
                more = f"{bold_text(console)}; p-values of each pair: --table pairs"
            print_text(console, f"{_summary(one)}{more}", "bold")
            if has_effect(one):
                print_text(console, f"effect: {one.pairs.effect_text}")
            if one.relative_text:
                print_text(console, one.relative_text)
            if one.rank_sets is not None and not is_pairs:
                print_text(console, f"{_SETS}: {one.rank_sets.text}")
        for name, frame in robust.items():
            print_text(open_console(), f"{_HEADINGS[name]}:", "bold")
            print_table_of(frame, digits=digits)

    display.write(
        Result(
            "compare",
            first
            | {"systems": comparisons.frame()}
            | robust
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
            note(_summary(one))
            if has_effect(one) and not display.is_paper:
                note(f"effect: {one.pairs.effect_text}")
            if one.relative_text:
                note(one.relative_text)
            if one.rank_sets is not None and not is_pairs:
                note(f"{_SETS}: {one.rank_sets.text}")
    if robust and display.form not in ("table", "json"):
        is_safe = robust["conclusions"]["safe"]
        note(
            f"{is_safe.sum():,} of {count(len(is_safe), 'conclusion')} safe; "
            "what undoes the others: --format json or table, or a folder of --out"
        )


def print_systems(console: Console, systems: pl.DataFrame, digits: int) -> None:
    """Print systems, on a terminal bold where no system is significantly better."""
    bold = systems["top"].to_list() if "top" in systems.columns else ()
    print_table(console, systems.drop("top", strict=False), digits=digits, bold=bold)


def bold_text(console: Console) -> str:
    """Return what bold rows are; empty where the console shows no bold text."""
    return "; bold: none is better by the test" if console.is_terminal else ""


def _summary(comparison: Comparison) -> str:
    pairs = comparison.pairs
    against = "" if pairs.baseline is None else f" against {pairs.baseline}"
    family = f"; {pairs.family_text}" if pairs.family_text else ""
    return (
        f"{pairs.subject}, {pairs.test_text}{against}: {pairs.separated_text(comparison.alpha)}; "
        f"{'greater' if pairs.direction > 0 else 'less'} is better; "
        f"values within {pairs.tolerance:.2g} are equal{family}"
    )


def print_boards(boards: Sequence[Leaderboard], made: Mapping[str, Any], display: Display) -> None:
    """Print or write the systems, best first, and whether the preference is transitive."""

    def show(digits: int) -> None:
        for board in boards:
            console = open_console()
            frame = board.systems if board.baseline is None else board.baseline
            print_systems(console, frame, digits)
            more = bold_text(console) if board.baseline is None else ""
            print_text(console, f"{_board_text(board)}{more}", "bold")
            print_text(console, _sets_text(board))

    frame = pl.concat(board.frame() for board in boards)
    caption = "Systems by preference."
    display.write(Result("prefer", {"leaderboard": frame}, caption, made, show=show))
    if display.form != "table":
        for board in boards:
            note(_board_text(board))
            note(_sets_text(board))


def _board_text(board: Leaderboard) -> str:
    """Return the significant pairs, the system that beats all others, and cycles."""
    cycles = ""
    if not math.isnan(board.cycles):
        shares = (
            f"{100 * board.cycles:.2g} % over queries, {100 * board.cycles_by_query:.2g} % by query"
        )
        cycles = f"; intransitive triples: {shares}"
    subject = f"{board.preference} on {board.track}"
    if board.segment is not None:
        subject += f", segment {board.segment} ({board.systems['queries'][0]:,} queries)"
    return (
        f"{subject}, {board.pairs.test}: {board.pairs.separated_text(board.alpha)}; "
        f"{board.first_text()}{cycles}{_turned(board)}"
    )


def _sets_text(board: Leaderboard) -> str:
    """Return how the rank sets were computed, or why there are none."""
    if board.rank_sets is None:
        return "rank_low, rank_high: cannot be said by mc4, whose scores are no means over queries"
    return f"rank_low, rank_high: {board.rank_sets.text}"


def _turned(board: Leaderboard) -> str:
    """Name the systems whose mean preference over the baseline turns in a segment."""
    if board.baseline is None or board.segment is None:
        return ""
    rows = board.baseline.filter("turned").select("system", better=pl.col("value") > 0).rows()
    named = [f"{system} ({'better' if better else 'worse'} here)" for system, better in rows]
    listed = first_few(named, "see the column turned") or "none"
    return f"; turned from all queries against the baseline: {listed}"


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
            show=lambda digits: _show_pair(explained, every),
        )
    )


def _show_pair(explained: PairExplanation, every: bool) -> None:
    console = open_console()
    pair = f"{explained.system} over {explained.baseline}"
    subject = f"{pair} on query {explained.query} (track {explained.track})"
    print_text(console, f"{explained.preference} of {subject} = {explained.value:.6g}", "bold")
    print_text(console, f"{explained.summary}\nsource: {explained.source}", "dim")
    for facts in (explained.facts, explained.policies):
        print_text(console, "; ".join(f"{name}: {value}" for name, value in facts.items()))
    terms = explained.trace.terms
    shown = terms if every else terms[:MOST_TERMS]
    table = Table(box=None, header_style="bold", pad_edge=False)
    has_parts = any(term.part for term in terms)
    sides = [escape(escape_name(name)) for name in (explained.system, explained.baseline)]
    ranked = [column for name in sides for column in (f"rank in {name}", "doc")]
    for column in (*(("set",) if has_parts else ()), "level", *ranked, "better"):
        is_number = column == "level" or column.startswith("rank in ")
        table.add_column(column, justify="right" if is_number else "left")
    for name in ("weight", "adds"):
        table.add_column(name, justify="right")
    for term in shown:
        table.add_row(
            *([escape(escape_name(term.part))] if has_parts else []), *_cells(term, sides)
        )
    console.print()
    console.print(table)
    if hidden := terms[len(shown) :]:
        amount = sum(t.sign * t.weight for t in hidden)
        print_text(console, f"... {len(hidden)} more terms add {amount:.6g}; --all shows them.")
    is_defined = not math.isnan(explained.value)
    total = f"sum = {explained.value:.6g}" if is_defined else "no relevant doc: undefined"
    print_text(console, total, "bold")


def _cells(term: PairTerm, sides: Sequence[str]) -> list[str]:
    """Return level, both ranks and docs, the better side, weight and amount as text."""
    own, other = (
        ("-" if rank is None else str(rank), escape(escape_name(doc)) if doc else "-")
        for rank, doc in ((term.rank, term.doc), (term.other_rank, term.other_doc))
    )
    better = {1: sides[0], -1: sides[1], 0: "tie"}[term.sign]
    amount = term.sign * term.weight
    return [str(term.level), *own, *other, better, f"{term.weight:.6g}", f"{amount:.6g}"]


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
SHOWN = (
    *("spearman", "precision", "recall", "kappa_binary", "kappa", "kappa_quadratic"),
    *("alpha_ordinal", "ac2"),
)


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


def print_agreement(found: JudgeAgreement, digits: int) -> None:
    """Print the best-known coefficients of each judge with their intervals, best judge first."""
    judges = found.judges.sort("kappa_binary", descending=True, nulls_last=True)
    keys = ["track"] if judges["track"].n_unique() > 1 else []
    for (reference,), rows in judges.group_by("reference", maintain_order=True):
        print_text(open_console(), f"Agreement with {reference}", "bold")
        texts = [_with_interval(name, digits) for name in SHOWN]
        print_table(open_console(), rows.select(*keys, "judge", "docs", *texts))
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


def _with_interval(name: str, digits: int) -> pl.Expr:
    """Format a coefficient with its interval, such as ``0.371 [0.316, 0.428]``."""
    parts = [
        pl.col(column).map_elements(lambda v: f"{v:.{digits}f}", pl.String)
        for column in (name, f"{name}_low", f"{name}_high")
    ]
    has_interval = pl.col(f"{name}_low").is_not_nan()
    text = pl.when(has_interval).then(pl.format("{} [{}, {}]", *parts)).otherwise(parts[0])
    return pl.when(pl.col(name).is_not_nan()).then(text).otherwise(pl.lit(None)).alias(name)


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
