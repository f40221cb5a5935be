"""Output of prefer, and of explain for preferences."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence

import polars as pl
from rich.markup import escape
from rich.table import Table

from irmeta.api.prefer import Leaderboard
from irmeta.errors import first_few
from irmeta.escapes import escape_name
from irmeta.preferences.explain import PreferenceExplanation
from irmeta.preferences.spec import PairTerm, PreferenceRule
from irmeta.show.console import open_console, print_frame, print_table, print_text
from irmeta.show.measures import MOST_TERMS
from irmeta.show.notes import note


def print_boards(boards: Sequence[Leaderboard], csv_safe: bool, *, to_file: bool) -> None:
    """Print the systems, best first, and whether the preference is transitive.

    With `to_file`, only the summaries are printed, on stderr.
    """
    on_terminal = sys.stdout.isatty() and not to_file
    if not on_terminal and not to_file:
        print_frame(pl.concat(board.frame() for board in boards), csv_safe)
    for board in boards:
        if on_terminal:
            console = open_console()
            frame = board.systems if board.baseline is None else board.baseline
            if "top" in frame.columns:
                star = pl.when("top").then(pl.lit("*")).otherwise(pl.lit("")).alias("top")
                frame = frame.with_columns(star)
            print_table(console, frame)
            print_text(console, f"{_summary(board)}; * none is better by the test", "bold")
        else:
            note(_summary(board))


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


def _turned(board: Leaderboard) -> str:
    """Name the systems whose mean preference over the baseline turns in a segment."""
    if board.baseline is None or board.segment is None:
        return ""
    rows = board.baseline.filter("turned").select("system", better=pl.col("value") > 0).rows()
    named = [f"{system} ({'better' if better else 'worse'} here)" for system, better in rows]
    listed = first_few(named, "see the column turned") or "none"
    return f"; turned from all queries against the baseline: {listed}"


def print_pair_explanation(explained: PreferenceExplanation, every: bool) -> None:
    """Print the facts, the policies, the terms, and the sum."""
    console = open_console()
    pair = f"{explained.system} over {explained.against}"
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


def print_rule(rule: PreferenceRule, definition: str, parameters: pl.DataFrame) -> None:
    """Print the description of a preference."""
    console = open_console()
    print_text(console, rule.name, "bold")
    print_text(console, f"{rule.summary}\n\n{definition}\n")
    print_table(console, parameters, fit=True)
    print_text(console, f"\nsource: {rule.source}; revision {rule.revision}")
