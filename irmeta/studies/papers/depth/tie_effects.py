"""Tied scores and their effect on the order of systems: Table 6."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import polars as pl

from irmeta.errors import UsageError
from irmeta.measures.evaluate import evaluate_block
from irmeta.measures.names import Spec, parse_measures
from irmeta.policies import TieOrder
from irmeta.rankings.load import LEAST_ROWS, other_order
from irmeta.rankings.needs import Need
from irmeta.rankings.pool import ComprehensiveDepth
from irmeta.results.scores import Scores
from irmeta.stats.correlation import correlate
from irmeta.stats.orders import round_means
from irmeta.studies.framework.study import TableRows
from irmeta.studies.framework.track_view import TrackView
from irmeta.studies.papers.depth.options import DepthOptions
from irmeta.trec.tie_orders import TIE_RULES

TOP = 20
ORDERS: tuple[TieOrder, ...] = ("trec_eval", "file", "score-file", "trec_eval10")
RBP = "RBP(p=0.8)"
SHARED = "share"


def under_orders(
    track: TrackView, options: DepthOptions
) -> tuple[dict[str, np.ndarray], dict[str, int | None]]:
    """Return the means of RBP and the comprehensive depth under each tie order.

    Orders that the store cannot give, since its lists were cut at reading, are missing.
    """
    needs, specs = dict[TieOrder, set[Need]](), dict[TieOrder, list[Spec]]()
    for order in ORDERS:
        try:
            other_order(track.facts, order)
        except UsageError as error:
            track.note(str(error).rstrip("."))
            continue
        shares, rbp = order == options.tie_order, options.at(RBP)
        needs[order] = {"pool", "ties"} if shares else {"pool"}
        specs[order] = parse_measures([rbp, f"{rbp[:-1]},ties=share)"] if shares else rbp)
    found = {order: ComprehensiveDepth() for order in needs}
    scores: dict[str, list[Scores]] = {order: [] for order in needs}
    for views in track.blocks_under(needs, LEAST_ROWS):
        for order, view in views.items():
            found[order].add(view)
            scores[order].append(evaluate_block(view, specs[order], options.policy))
    means = dict[str, np.ndarray]()
    for order, blocks in scores.items():
        names = (order, SHARED) if order == options.tie_order else (order,)
        for name, values in zip(names, Scores.concat(blocks).mean_values(), strict=True):
            means[name] = round_means(values)
    return means, {order: one.value for order, one in found.items()}


def ties(track: TrackView, options: DepthOptions, means: Mapping[str, np.ndarray]) -> TableRows:
    """Yield the tables `ties`, `table_6` and `ties_tau`."""
    lists = tied_shares(track, options)
    by_system = lists.group_by("system", maintain_order=True).agg(
        mean_percent_tied=pl.col("percent").mean(), median_percent_tied=pl.col("percent").median()
    )
    yield "ties", by_system
    taus = {row["order_b"]: row["tau_b"] for row in ties_tau(means)}
    yield "ties_tau", list(ties_tau(means))
    medians = by_system.select(pl.exclude("system").median().fill_null(float("nan"))).row(0)
    yield "table_6", [{
        "systems": len(track.facts.systems),
        "median_of_means": medians[0],
        "median_of_medians": medians[1],
        "pooled_median": lists["percent"].median() if lists.height else np.nan,
        "tau_b": taus.get("file"),
    }]  # fmt: skip


def tied_shares(track: TrackView, options: DepthOptions) -> pl.DataFrame:
    """Return system, query and the percentage of tied docs among the 20 greatest scores.

    The lists are those of the judged queries.
    """
    score = pl.col("score")
    if options.scores_compared == "float32":
        score = score.cast(pl.Float32)
    keys = ["system", "query"]
    top = _candidates(track).with_columns(score).group_by(keys).agg(pl.col("score").top_k(TOP))
    tied = top.explode("score").with_columns(same=pl.len().over(*keys, "score"))
    shares = tied.group_by(keys).agg(percent=100.0 * (pl.col("same") > 1).mean())
    return shares.sort(keys)


def _candidates(track: TrackView) -> pl.DataFrame:
    """Return rows of all lists that include the 20 greatest scores of each."""
    keys = ["system", "query"]
    rows = track.rows([*keys, "rank", "score"])
    rule = TIE_RULES[track.facts.policy["tie_order"]]
    if rule.column != "score":  # lists are not sorted by score
        return rows.select(*keys, "score").collect()
    near = rows.filter(pl.col("rank") <= TOP + 1).collect()
    if not rule.float32:
        return near
    # Scores are sorted as float32: at the boundary, a tie may hide a greater float64.
    single = pl.col("score").cast(pl.Float32)
    ends = near.filter(pl.col("rank") >= TOP).with_columns(single=single)
    open_ended = ends.group_by(keys).agg(
        pl.col("single").min(), tied=pl.col("single").is_duplicated().any()
    )
    hidden = rows.filter(pl.col("rank") > TOP + 1).join(open_ended.filter("tied").lazy(), on=keys)
    rest = hidden.filter(single == pl.col("single")).select(near.columns).collect()
    return pl.concat([near, rest])


def ties_tau(means: Mapping[str, np.ndarray]) -> Iterator[dict[str, Any]]:
    """Yield the rows of `ties_tau`: the order by trec_eval's rule with each other order."""
    base = "trec_eval"
    for other in (*(order for order in ORDERS if order != base), SHARED):
        if base in means and other in means:
            both = np.stack([means[base], means[other]])
            tau = float(correlate(both, "tau-b").values[0, 1])
            yield {"order_a": base, "order_b": other, "tau_b": tau}
