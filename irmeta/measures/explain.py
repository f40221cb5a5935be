"""Arithmetic behind one value, recomputed in plain Python."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from irmeta.measures.evaluate import SeenViews, evaluate_block, warn_above_highest_grade
from irmeta.measures.names import Spec
from irmeta.measures.spec import Term, Trace
from irmeta.rankings.derive.select import UNJUDGED_DOC
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.one_list import (
    OneList,
    block_with,
    check_arithmetic,
    one_list,
    policies_read,
    system_index,
)
from irmeta.rankings.track import Track
from irmeta.rankings.view import needs_of
from irmeta.store.scan import read_table
from irmeta.summaries import MOST_TERMS, Line, Part, Result, Rows, Summary, hidden_text
from irmeta.trec.tie_orders import as_float32

_TERMS = {
    "rank": pl.Int32,
    "doc": pl.String,
    "grade": pl.Int16,
    "arithmetic": pl.String,
    "amount": pl.Float64,
}


@dataclass(frozen=True, repr=False)
class Explanation(Result):
    """Explanation of one value.

    Attributes
    ----------
    value
        The value of `evaluate`; the trace's value agrees to 1e-9.
    docs
        The judged docs of the list and the relevant docs not retrieved: rank (null: not retrieved),
        doc, grade, score, rank_given, tied (number of docs of the list with the same score as
        float32, including this doc); for a measure that needs subtopics also subtopics, to which
        the doc is relevant.
    """

    measure: str
    summary: str
    source: str
    track: str
    system: str
    query: str
    value: float
    trace: Trace
    docs: pl.DataFrame
    facts: dict[str, object]
    policies: dict[str, object]

    def frame(self) -> pl.DataFrame:
        """Return the terms of the value.

        Returns
        -------
        DataFrame
            rank (null: not retrieved), doc, grade, arithmetic, amount. The value is the sum of the
            amounts over ``trace.divisor``, unless ``trace.undefined`` is set.
        """
        rows = [[getattr(term, name) for name in _TERMS] for term in self.trace.terms]
        return pl.DataFrame(rows, _TERMS, orient="row")

    def sum_text(self) -> str:
        """Return the sum of the terms over the divisor, such as ``3.2 / 9 (...) = 0.355``."""
        trace, total = self.trace, sum(term.amount for term in self.trace.terms)
        if trace.undefined is not None:
            return f"divisor 0: defined as {trace.undefined:g}"
        if trace.divisor == 1:
            return f"sum = {total:.6g}"
        return f"{total:.6g} / {trace.divisor:.6g} ({trace.divisor_is}) = {self.value:.6g}"

    def _summary(self) -> Summary:
        place = f"{self.system} on query {self.query} of {self.track}"
        return Summary(self.measure, [place])

    def parts(self, digits: int | None = None, every: bool = False) -> Iterator[Part]:
        """Return the lines and tables to print: see `Summarized.parts`."""
        subject = f"{self.system} on query {self.query} (track {self.track})"
        yield Line(f"{self.measure} of {subject} = {self.value:.6g}", "bold")
        yield Line(f"{self.summary}\nsource: {self.source}", "dim")
        for facts in (self.facts, self.policies):
            yield Line("; ".join(f"{name}: {value}" for name, value in facts.items()))
        terms = self.trace.terms
        shown = terms if every else terms[:MOST_TERMS]
        yield Line("")
        yield Rows(self._terms(shown), ("rank", "grade", "score", "tied", "adds"))
        if hidden := terms[len(shown) :]:
            yield Line(hidden_text(len(hidden), sum(term.amount for term in hidden)))
        yield Line(self.sum_text(), "bold")

    def _terms(self, terms: Sequence[Term]) -> pl.DataFrame:
        """Return terms with the facts of their docs, numbers as text."""
        details = {row["doc"]: row for row in self.docs.iter_rows(named=True)}
        by_subtopic = ("subtopics",) if "subtopics" in self.docs.columns else ()
        rows = list[dict[str, str | None]]()
        for term in terms:
            doc = details.get(term.doc, {"score": None, "tied": None})
            tied = doc["tied"]
            rows.append(
                {
                    "rank": None if term.rank is None else str(term.rank),
                    "doc": term.doc,
                    "grade": str(term.grade) if term.doc in details else None,
                    **{name: doc.get(name) or "" for name in by_subtopic},
                    "score": None if doc["score"] is None else f"{doc['score']:g}",
                    "tied": "" if tied in (None, 1) else f"with {tied - 1}",
                    "arithmetic": term.arithmetic,
                    "adds": f"{term.amount:.6g}",
                }
            )
        columns = ("rank", "doc", "grade", *by_subtopic, "score", "tied", "arithmetic", "adds")
        return pl.DataFrame(rows, dict.fromkeys(columns, pl.String))


def explain(track: Track, spec: Spec, system: str, query: str) -> Explanation:
    """Explain the value of one measure for one system and query.

    Raises
    ------
    UsageError
        If the track has no such system, or no such judged query.
    """
    view = block_with(
        track,
        query,
        needs_of([spec]),
        lambda view: SeenViews(view).judged_for(spec).judged_queries,
    )
    s = system_index(view, track.name, system)
    q = view.queries.index(query)
    value = float(evaluate_block(view, [spec], track.policy).values[0, q, s])
    ranking, trace = trace_value(view, spec, q, s, value)
    view = SeenViews(view).judged_for(spec)
    warn_above_highest_grade(track, [spec])
    return Explanation(
        measure=spec.name,
        summary=spec.measure.summary,
        source=spec.measure.source,
        track=view.facts.track,
        system=system,
        query=query,
        value=value,
        trace=trace,
        docs=_docs(track, one_list(view, q, s), spec.rel, system, query),
        facts=_facts(ranking, spec),
        policies=_policies(track, view, spec),
    )


def trace_value(
    view: JudgedRanks, spec: Spec, q: int, s: int, value: float
) -> tuple[OneList, Trace]:
    """Return the list that a measure reads, and the arithmetic behind its value."""
    ranking = one_list(SeenViews(view).of(spec, [spec.cutoff]), q, s)
    trace = spec.measure.trace(ranking, spec.settings, spec.cutoff)
    what = f"{spec.name} of {view.systems[s]} on query {view.queries[q]}"
    check_arithmetic(what, value, trace.value)
    return ranking, trace


def _docs(track: Track, ranking: OneList, rel: float, system: str, query: str) -> pl.DataFrame:
    of_list = (pl.col("query") == query) & (pl.col("system") == system)
    rows = read_table(track.stored, "runs", of_list)
    compared = as_float32(rows["score"].to_numpy())
    rows = rows.select("doc", "score", "rank_given", compared=pl.Series(compared))
    rows = rows.with_columns(tied=pl.len().over("compared").cast(pl.Int32)).drop("compared")
    is_whole = all(isinstance(grade, int) for *_, grade in ranking.judged)
    grades = pl.Int8 if is_whole else pl.Float64
    judged = pl.DataFrame(
        [d for d in ranking.judged if d[0] is not None or d[2] >= rel],
        schema={"rank": pl.Int32, "doc": pl.String, "grade": grades},
        orient="row",
    )
    if ranking.subtopics:
        grades_of = (ranking.subtopic_grades.get(doc, {}) for doc in judged["doc"])
        relevant_to = [
            ", ".join(name for name, grade in grades.items() if grade >= rel)
            for grades in grades_of
        ]
        judged = judged.with_columns(subtopics=pl.Series(relevant_to, dtype=pl.String))
    return judged.join(rows, on="doc", how="left", maintain_order="left")


def _facts(ranking: OneList, spec: Spec) -> dict[str, object]:
    relevant = [d for d in ranking.relevant(spec.rel) if d[1] != UNJUDGED_DOC]
    length = "list length" + (", without unjudged docs" if spec.unjudged == "condensed" else "")
    facts: dict[str, object] = {
        length: ranking.length,
        "judged docs": sum(doc != UNJUDGED_DOC for _, doc, _ in ranking.judged),
        f"relevant docs (grade >= {spec.rel})": len(relevant),
        "relevant docs retrieved": sum(rank is not None for rank, *_ in relevant),
        "deepest rank of the track": ranking.deepest_rank,
        "highest grade of the track": ranking.highest_grade,
    }
    if ranking.subtopics:
        facts["subtopics of the query"] = len(ranking.subtopics)
    return facts


def _policies(track: Track, view: JudgedRanks, spec: Spec) -> dict[str, object]:
    policy = track.policy
    record = policies_read(view, policy)
    if "pool" in needs_of([spec]) or policy.has_smaller_pool:
        record["pool"] = f"{track.pool.note}, in order {policy.pool_order!r}"
    return record
