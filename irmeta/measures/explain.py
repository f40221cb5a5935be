"""The arithmetic behind one number, worked out once more in plain Python."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from irmeta.errors import IrmetaError, UsageError, did_you_mean
from irmeta.measures.evaluate import evaluate_block
from irmeta.measures.spec import OneList, Spec, Trace
from irmeta.policies import EvalPolicy
from irmeta.rankings.judged import JudgedRanks, judged_ranks
from irmeta.store.layout import Layout
from irmeta.store.scan import lazy
from irmeta.trec.ordering import as_float32


@dataclass(frozen=True)
class Explanation:
    """How one value comes about.

    Attributes
    ----------
    value
        As `evaluate` gives it; the trace's own sum agrees to 1e-9.
    docs
        The judged docs that the list holds and the relevant ones that it lacks: rank (null: not
        retrieved), doc, grade, score, rank_given, tied (docs of the list with the same score as
        float32, this one included).
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


def explain(
    layout: Layout, track: str, spec: Spec, system: str, query: str, policy: EvalPolicy
) -> Explanation:
    """Explain the value of one measure for one system and query.

    Raises
    ------
    UsageError
        If the track has no such system, or no such judged query.
    """
    view = _block_with(layout, track, query, policy)
    if system not in view.systems:
        hint = did_you_mean(system, view.systems)
        raise UsageError(f"track {track!r} has no system {system!r}. {hint}")
    q, s = view.queries.index(query), view.systems.index(system)
    value = float(evaluate_block(view, [spec], policy).values[0, q, s])
    one = _one_list(view, q, s)
    trace = spec.measure.trace(one, spec.settings, spec.cutoff)
    if not np.isclose(trace.value, value, rtol=1e-9, atol=1e-12, equal_nan=True):
        raise IrmetaError(
            f"{spec.name} of {system} on query {query} is {value!r}, but its arithmetic gives "
            f"{trace.value!r}: this is a bug in irmeta, please report it."
        )
    return Explanation(
        measure=spec.name,
        summary=spec.measure.summary,
        source=spec.measure.source,
        track=view.facts.track,
        system=system,
        query=query,
        value=value,
        trace=trace,
        docs=_docs(layout, view.facts.track, one, spec.rel, system, query),
        facts=_facts(one, view, spec),
        policies=_policies(view, policy),
    )


def _block_with(layout: Layout, track: str, query: str, policy: EvalPolicy) -> JudgedRanks:
    known: list[str] = []
    for view in judged_ranks(layout, track, policy):
        if query in view.queries:
            return view
        known += view.queries
    raise UsageError(f"track {track!r} has no judged query {query!r}. {did_you_mean(query, known)}")


def _one_list(view: JudgedRanks, q: int, s: int) -> OneList:
    rows = slice(view.offsets[q], view.offsets[q + 1])
    ranks = view.ranks[rows, s].tolist()
    judged = [
        (None if rank == view.missing else rank, doc, grade)
        for rank, doc, grade in zip(
            ranks,
            view.docs[int(rows.start) : int(rows.stop)],
            view.grades[rows].tolist(),
            strict=True,
        )
    ]
    judged.sort(key=lambda d: (d[0] is None, d[0] or 0))
    return OneList(
        judged=tuple(judged),
        length=int(view.lengths[q, s]),
        deepest_rank=view.facts.deepest_rank,
        highest_grade=view.facts.highest_grade,
        negative=view.negative,
    )


def _docs(
    layout: Layout, track: str, one: OneList, rel: int, system: str, query: str
) -> pl.DataFrame:
    of_list = (pl.col("query") == query) & (pl.col("system") == system)
    rows = lazy(layout, "runs", track).filter(of_list).collect()
    compared = as_float32(rows["score"].to_numpy())
    rows = rows.select("doc", "score", "rank_given", compared=pl.Series(compared))
    rows = rows.with_columns(tied=pl.len().over("compared").cast(pl.Int32)).drop("compared")
    judged = pl.DataFrame(
        [d for d in one.judged if d[0] is not None or d[2] >= rel],
        schema={"rank": pl.Int32, "doc": pl.String, "grade": pl.Int8},
        orient="row",
    )
    return judged.join(rows, on="doc", how="left", maintain_order="left")


def _facts(one: OneList, view: JudgedRanks, spec: Spec) -> dict[str, object]:
    relevant = one.relevant(spec.rel)
    return {
        "list length": one.length,
        "judged docs": len(one.judged),
        f"relevant docs (grade >= {spec.rel})": len(relevant),
        "relevant docs retrieved": sum(rank is not None for rank, *_ in relevant),
        "deepest rank of the track": one.deepest_rank,
        "highest grade of the track": one.highest_grade,
    }


def _policies(view: JudgedRanks, policy: EvalPolicy) -> dict[str, object]:
    read = view.facts.policy
    return {
        "qrels set": view.facts.qrels,
        "tie order": policy.tie_order or read["tie_order"],
        "depth cut at reading": read["depth"] or "none",
        "negative grades": view.negative,
    }
