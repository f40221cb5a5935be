"""`Store.pools.budget`: how many judgments would have been enough, by orders of judging."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import polars as pl

from irmeta._version import __version__
from irmeta.api.arguments import BudgetOptions
from irmeta.api.judging_simulation import (
    GOALS,
    Simulation,
    estimator,
    least_budget,
    mean_interval,
    outcome_row,
)
from irmeta.api.stop_rules import Shares, stop_rows, stops_of
from irmeta.errors import UsageError, check_choice
from irmeta.measures.evaluate import how_made, relevant_in_set
from irmeta.measures.names import parse_measures
from irmeta.phrases import count
from irmeta.policies import JudgingOrder
from irmeta.progress import reported
from irmeta.rankings.judging_orders import SAMPLED, checked_orders
from irmeta.rankings.load import judged_ranks
from irmeta.rankings.track import Track
from irmeta.report.charts.curves import Pane, curve_panes
from irmeta.schema.pool_tables import BUDGET_GOALS, BUDGET_STOPS, BUDGET_TEAMS, BUDGETS
from irmeta.store.scan import read_table
from irmeta.summaries import Line, Part, Result, Rows, Summary

if TYPE_CHECKING:
    import altair as alt

PANES = {
    "relevant": "share of the relevant docs",
    "tau": "tau-b with the order by all judgments",
    "kept": "share of the significant pairs kept",
    "false": "share of the significant pairs that are false",
}


@dataclass(frozen=True, repr=False)
class Budgets(Result):
    """Conclusions from fewer judgments, by orders of judging.

    Attributes
    ----------
    budgets : DataFrame
        One row per track, order and budget: see `irmeta.schema.pool_tables`, `BUDGETS`.
    goals : DataFrame
        One row per track and order: the least budget that reaches the goal.
    teams : DataFrame
        With `teams`, one row per track, order and budget: ranks that left-out teams lose.
    stops : DataFrame
        With `stops`, one row per track, order and rule that ends judging.
    notes : tuple of str
        What the results depend on, by track.
    settings : Mapping
        Arguments and policies.
    """

    budgets: pl.DataFrame
    goals: pl.DataFrame
    teams: pl.DataFrame
    stops: pl.DataFrame
    notes: tuple[str, ...]
    settings: Mapping[str, Any]

    def _summary(self) -> Summary:
        orders = self.budgets["order"].n_unique()
        return Summary(", ".join(self.goals["track"].unique()), [count(orders, "order")])

    def frame(self) -> pl.DataFrame:
        """Return `budgets`."""
        return self.budgets

    def tables(self) -> dict[str, pl.DataFrame]:
        """Return the frames by the names of their files."""
        tables = {"budgets": self.budgets, "budget_goals": self.goals}
        tables |= {"budget_teams": self.teams} if self.teams.height else {}
        return tables | ({"budget_stops": self.stops} if self.stops.height else {})

    def provenance(self) -> dict[str, Any]:
        """Return the record of arguments, policies and notes."""
        return {"irmeta": __version__, "pool_budget": {**self.settings, "notes": [*self.notes]}}

    def parts(self, digits: int | None = None, every: bool = False) -> Iterator[Part]:
        """Return the tables, and what may be concluded from them."""
        share = f"{100 * self.settings['goal_share']:g} %"
        means = ["order", "budget", "relevant", "tau", "kept", "false", "tau_low", "false_high"]
        for track in self.goals["track"].unique(maintain_order=True):
            goals, measure = self.goals.filter(track=track), self.goals["measure"][0]
            yield Line(f"{track}: orders of judging beside all judgments, by {measure}", "bold")
            yield Rows(self.budgets.filter(track=track).select(means))
            yield Line(
                f"Means over draws; tau_low: tau that {share} of the draws reach; false_high: what "
                "so many do not pass. Kept and false are by the tests of all judgments, which are "
                "no truth either."
            )
            yield Line(f"Least budget for {goals['goal'][0]} in {share} of the draws", "bold")
            yield Rows(goals.select("order", "budget", "pool", "reached", "draws"))
            yield Line(
                "Of the budgets tried, from which on it is reached. The draws share the queries "
                "and systems of this track: they say nothing of other tracks."
            )
            if self.teams.height:
                yield Line("Ranks that teams lose whose docs are left out of the pool", "bold")
                yield Rows(self.teams.filter(track=track).drop("track", "measure"))
                yield Line(
                    "bias: lost more than when their docs are in the pool, with 95 % limits over "
                    "teams, for one order and budget alone."
                )
        if self.stops.height:
            recall = f"{100 * self.settings['stops']:g} %"
            yield Line(f"Rules that end judging, for {recall} of the relevant docs", "bold")
            yield Rows(self.stops)
            yield Line(
                "erred: share of the queries with less, with 95 % limits over queries like these. "
                "Relevant docs are those that the lists of the pool hold. A chosen rule was chosen "
                "on the other tracks alone."
            )
        for text in self.notes:
            yield Line(text)

    def show(self) -> alt.ConcatChart | alt.LayerChart:
        """Draw the means over draws by the number of judgments, of one track.

        Raises
        ------
        UsageError
            For several tracks.
        """
        if self.goals["track"].n_unique() > 1:
            raise UsageError("a figure of budgets is of one track: name it.")
        curves = pl.concat(
            self.budgets.select(
                pane=pl.lit(pane),
                name="order",
                x=pl.col("budget").cast(pl.Float64),
                y=pane,
                dashed=pl.lit(False),
            )
            for pane in PANES
        )
        row = self.goals.row(0, named=True)
        return curve_panes(
            curves,
            [Pane(pane, heading) for pane, heading in PANES.items()],
            title="Orders of judging",
            subtitle=f"{row['track']}, {row['measure']}, means over draws",
            x_title="number of judgments",
        )


def simulate(
    tracks: Sequence[Track], measure: str, budget: Sequence[int], options: BudgetOptions
) -> Budgets:
    """Simulate orders of judging on tracks: see `Store.pools.budget`."""
    goal, level = goal_of(options.goal)
    rows, goals, teams = list[dict[str, Any]](), list[dict[str, Any]](), list[dict[str, Any]]()
    notes, stopped = list[str](), dict[str, dict[str, Shares]]()
    for track in tracks:
        simulation = simulation_of(track, measure, options)
        about = {"track": track.name, "measure": simulation.specs[0].name}
        budgets, orders = simulation.budgets(budget), orders_of(simulation, options)
        for order in reported(orders, len(orders), "orders"):
            by_budget = simulation.outcomes(order, budgets, options.draws, options.rng)
            outcomes = dict(zip(budgets, by_budget, strict=True))
            least, reached = least_budget(outcomes, goal, level, options.goal_share)
            number = {"pool": len(simulation.pooled[1]), "draws": len(by_budget[0])}
            text = f"{goal} of {level:g} or more"
            named = about | {"order": order}
            goals.append(named | number | {"goal": text, "budget": least, "reached": reached})
            rows += (
                named | {"budget": at} | outcome_row(of_budget, options.goal_share)
                for at, of_budget in outcomes.items()
            )
            if options.stops is not None and order != SAMPLED:
                shares = stops_of(simulation, order, options.draws, options.rng)
                stopped.setdefault(order, {})[track.name] = shares
            if options.teams:
                lost = simulation.displacements(order, budgets, options.draws, options.rng)
                for at, (with_docs, without, most) in zip(
                    budgets, lost.transpose(0, 2, 1), strict=True
                ):
                    bias, low, high = mean_interval(without - with_docs, 0.95)
                    means = {"lost_with": with_docs.mean(), "lost_without": without.mean()}
                    limits = {"bias": bias, "low": low, "high": high, "most": most.max()}
                    teams.append(named | {"budget": at, "teams": len(most)} | means | limits)
        notes += _notes(track, simulation)
        if options.teams and not any(simulation.views[0].facts.groups):
            notes.append(f"{track.name}: no team is known, so each run is a team of its own.")
    source = how_made(tracks, parse_measures(measure), tracks[0].policy)
    settings = {"measure": measure, "budget": [*budget], **options.record(), "source": source}
    settings["order"] = list(dict.fromkeys(row["order"] for row in goals))
    stops = [
        {"order": order, "chosen_on": None} | row
        for order, by_track in stopped.items()
        for row in stop_rows(by_track, options.stops or 0.0)
    ]
    frames = BUDGETS.frame(rows), BUDGET_GOALS.frame(goals), BUDGET_TEAMS.frame(teams)
    frames = *frames, BUDGET_STOPS.frame(stops)
    return Budgets(*frames, tuple(notes), settings)


def goal_of(text: str) -> tuple[str, float]:
    """Return the name and the least value of a goal such as ``tau=.9``."""
    name, _, level = text.partition("=")
    check_choice("goal", name, GOALS)
    try:
        value = float(level)
    except ValueError:
        value = np.nan
    if not 0 < value <= 1:
        raise UsageError(f"goal = {text!r} has no level above 0 and up to 1, as {name}=.9 has.")
    return name, value


def simulation_of(track: Track, measure: str, options: BudgetOptions) -> Simulation:
    """Read the full judgments of a track."""
    specs = relevant_in_set(track, parse_measures(measure))
    if len(specs) != 1:
        raise UsageError("orders of judging are simulated by one measure: name one.")
    (spec,) = specs
    by_sample = estimator(spec)
    views = list(judged_ranks(track, needs={"pool"}))
    judge = None if options.judge is None else _labels(track, options.judge)
    chosen = [spec] if by_sample is None else [spec, by_sample]
    return Simulation(views, chosen, track.policy, options.alpha, judge)


def orders_of(simulation: Simulation, options: BudgetOptions) -> tuple[str, ...]:
    """Return the orders to simulate; `UsageError` for one that lacks a judge or an estimate."""
    lacks, asked = {"bandit"}, checked_orders(options.order)
    if simulation.judge is None:
        lacks.add("judge")
    if len(simulation.specs) < 2:
        lacks.add(SAMPLED)
    if SAMPLED in lacks.intersection(asked):
        raise UsageError(
            f"{simulation.specs[0].name} cannot be estimated from a sample: AP, P@k and Rprec can."
        )
    if "judge" in lacks.intersection(asked):
        raise UsageError("the order judge sorts by the labels of a qrels set: name it by `judge`.")
    if simulation.judge is not None and asked and "judge" not in asked:
        raise UsageError("`judge` is of the order judge, which is not among the orders.")
    return asked or tuple(name for name in get_args(JudgingOrder) if name not in lacks)


def _labels(track: Track, judge: str) -> dict[tuple[str, int], float]:
    """Return the labels of a qrels set by query and doc_id."""
    name = track.facts_of(judge).qrels  # an unknown set is an error
    if name == track.facts.qrels:
        raise UsageError(f"judge = {judge!r}: these are the full judgments themselves.")
    rows = read_table(track.stored, "qrels", pl.col("set") == name)
    rows = rows.group_by("query", "doc_id").agg(pl.col("grade").max())
    queries = rows["query"].cast(pl.String)
    return dict(zip(zip(queries, rows["doc_id"], strict=True), rows["grade"], strict=True))


def _notes(track: Track, simulation: Simulation) -> Iterator[str]:
    """Yield what the results of a track depend on."""
    name, number = track.name, len(simulation.pooled[1])
    judged = int(sum(view.is_judged.sum() for view in simulation.views))
    if judged > number:
        yield (
            f"{name}: no order can choose {judged - number:,} of {judged:,} judged docs, which no "
            "list that made the pool holds; they count in all judgments."
        )
    depths = np.concatenate([view.require("complete_depth") for view in simulation.views])
    if track.policy.pool_depth is None or track.policy.pool_depth > depths.min():
        where = "not even all first docs" if depths.min() == 0 else "all docs"
        yield (
            f"{name}: {where} are judged down to rank {max(depths.min(), 1)} of the lists that "
            "made the pool. Docs without a judgment are passed over at no cost, so that an order "
            "that meets them needs more judgments than is said here. `pool_depth` ends lists and "
            "judgments at a rank."
        )
    if not track.pool.known:
        yield f"{name}: the pool is taken from {track.pool.note}."
