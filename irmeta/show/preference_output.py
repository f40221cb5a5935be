"""Output of prefer, and of explain for preferences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
from rich.markup import escape
from rich.table import Table

from irmeta.api.pair_explanation import PairExplanation
from irmeta.api.prefer import Leaderboard
from irmeta.errors import first_few
from irmeta.escapes import escape_name
from irmeta.preferences.spec import PairTerm, PreferenceRule
from irmeta.show.console import open_console, print_table, print_text
from irmeta.show.display import Display
from irmeta.show.frame_output import Result
from irmeta.show.measures import MADE, MOST_TERMS
from irmeta.show.notes import note
from irmeta.show.significance_output import starred


def print_boards(boards: Sequence[Leaderboard], made: Mapping[str, Any], display: Display) -> None:
    """Print or write the systems, best first, and whether the preference is transitive."""

    def show(digits: int) -> None:
        for board in boards:
            console = open_console()
            frame = board.systems if board.baseline is None else board.baseline
            print_table(console, starred(frame), digits=digits)
            print_text(console, f"{_summary(board)}; * none is better by the test", "bold")
            print_text(console, _sets_text(board))

    frame = pl.concat(board.frame() for board in boards)
    caption = "Systems by preference."
    display.write(Result("prefer", {"leaderboard": frame}, caption, made, show=show))
    if display.form != "table":
        for board in boards:
            note(_summary(board))
            note(_sets_text(board))


def _summary(board: Leaderboard) -> str:
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
    for name in (*(("set",) if has_parts else ()), "level", "rank", "doc", "rank", "doc", "better"):
        table.add_column(name, justify="right" if name in ("level", "rank") else "left")
    for name in ("weight", "adds"):
        table.add_column(name, justify="right")
    for term in shown:
        table.add_row(*([escape(escape_name(term.part))] if has_parts else []), *_cells(term))
    console.print()
    console.print(table)
    if hidden := terms[len(shown) :]:
        amount = sum(t.sign * t.weight for t in hidden)
        print_text(console, f"... {len(hidden)} more terms add {amount:.6g}; --all shows them.")
    is_defined = not math.isnan(explained.value)
    total = f"sum = {explained.value:.6g}" if is_defined else "no relevant doc: undefined"
    print_text(console, total, "bold")


def _cells(term: PairTerm) -> list[str]:
    """Return level, both ranks and docs, the better side, weight and amount as text."""
    own, other = (
        ("-" if rank is None else str(rank), escape(escape_name(doc)) if doc else "-")
        for rank, doc in ((term.rank, term.doc), (term.other_rank, term.other_doc))
    )
    better = {1: "first", -1: "second", 0: "tie"}[term.sign]
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
