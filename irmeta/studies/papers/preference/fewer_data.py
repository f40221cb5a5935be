"""Orders of systems by fewer queries and fewer relevant docs: Figures 6 and 7."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from irmeta.measures.evaluate import evaluate_block
from irmeta.measures.names import parse_measures
from irmeta.preferences.evaluate import compare_block, join_blocks
from irmeta.preferences.registry import parse_preferences
from irmeta.rankings.derive.fewer_judgments import DropOrder, drop_relevant_shares
from irmeta.rankings.judged import JudgedRanks
from irmeta.results.scores import Scores
from irmeta.results.verdicts import Verdicts
from irmeta.stats.aggregation import mc4
from irmeta.stats.preferences import STEPS, preference_subsets
from irmeta.stats.resampling import query_subsets, spread
from irmeta.studies.papers.preference.compared_track import ComparedTrack
from irmeta.studies.papers.preference.options import PreferenceOptions as Options
from irmeta.studies.papers.preference.system_orders import places, tau_b

ORDERS: dict[str, DropOrder] = {"random": "random", "pool": "least-retrieved"}
"""Names of the order in which relevant docs are removed, in the table and in `drop_relevant`."""


def fewer_queries(compared: ComparedTrack, options: Options) -> pl.DataFrame:
    """Return the table `figure_6`; all measures share their samples."""
    by_measure = list[pl.DataFrame]()
    sizes = options.kept(int(compared.is_relevant.sum()))
    for name in options.compared:
        if name in compared.preferences:
            found = preference_subsets(
                compared.rates[name],
                sizes,
                options.replicates,
                majority=options.majority,
                rng=options.seed,
            )
        else:
            matrix = compared.matrix(name)
            found = query_subsets(matrix, sizes, options.replicates, rng=options.seed)
        by_measure.append(spread(found).rename({"size": "queries"}))
    return pl.concat(by_measure)


def fewer_labels(compared: ComparedTrack, options: Options) -> pl.DataFrame:
    """Return the table `figure_7`.

    Random orders have `label_replicates` samples; the order by lists is the same each time.
    """
    by_order = list[pl.DataFrame]()
    whole = _places(compared.views, options)
    seeds = np.random.SeedSequence(options.seed).generate_state(options.label_replicates).tolist()
    for labels, order in ORDERS.items():
        rows: list[dict[str, Any]] = []
        for seed in seeds if labels == "random" else [0]:
            by_view = [
                drop_relevant_shares(view, options.removed, order, rel=options.rel, rng=seed)
                for view in compared.views
            ]
            for share, *views in zip(options.removed, *by_view, strict=True):
                rows += [
                    {"size": share, "measure": name, "tau": tau_b(whole[name], values)}
                    for name, values in _places(views, options).items()
                ]
        found = spread(pl.DataFrame(rows)).rename({"size": "removed"})
        by_order.append(found.with_columns(labels=pl.lit(labels)))
    return pl.concat(by_order)


def _places(views: list[JudgedRanks], options: Options) -> dict[str, np.ndarray]:
    """Return the negated ranks of the systems by each of the six: float64 [system]."""
    preferences = parse_preferences(options.preferences)
    measures = parse_measures(options.measures)
    blocks = [(view.queries, compare_block(view, preferences)) for view in views]
    found: dict[str, np.ndarray] = {}
    for one in join_blocks(views[0].facts, preferences, blocks):
        verdicts = Verdicts.of(one.win_rates().complete())
        chain = mc4(verdicts, majority=options.majority, steps=STEPS)
        ranks = dict(chain.select("system", "rank").iter_rows())
        found[one.name] = -np.array([ranks[system] for system in one.systems], np.float64)
    scores = Scores.concat([evaluate_block(view, measures, options.policy) for view in views])
    for name, means in zip(scores.measures, scores.mean_values(), strict=True):
        found[name] = places(means * scores.directions[name])
    return found
