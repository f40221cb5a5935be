"""The tables of one track."""

from __future__ import annotations

from irmeta.phrases import count, listed
from irmeta.studies.framework.study import TableRows, declared_rows
from irmeta.studies.framework.track_view import TrackView
from irmeta.studies.papers.innovation.added_runs import (
    added_runs,
    figure_1,
    first_places,
    query_of_figure_1,
)
from irmeta.studies.papers.innovation.options import InnovationOptions as Options
from irmeta.studies.papers.innovation.other_judgments import left_out_groups, other_labels
from irmeta.studies.papers.innovation.rare_track import RareTrack
from irmeta.studies.papers.innovation.relevant_docs import example_queries
from irmeta.studies.papers.innovation.tables import TABLES


def compute(track: TrackView, options: Options) -> TableRows:
    """Yield the tables of one track, from a single pass over its blocks."""
    rare = RareTrack.of(track, options)
    query = query_of_figure_1(rare)
    _describe(track, rare)
    _describe_tables(track, rare)
    if query is None:
        named = f"query {options.query}" if options.query else "query"
        track.note(f"Figure 1 is absent: no {named} with a relevant doc")
    else:
        made = figure_1(rare, query)
        yield "figure_1", made
        yield "first_places", first_places(rare, made)
    yield from declared_rows(TABLES, rare)
    yield from added_runs(rare)
    yield from other_labels(track, rare)


def _describe(track: TrackView, rare: RareTrack) -> None:
    """Add notes on what the tables of a track do not say; exclude it if nothing is comparable."""
    options, facts = rare.options, rare.facts
    without = sum(int((view.counts(options.rel) == 0).sum()) for view in rare.views)
    if rare.docs.is_empty():
        track.leave_out("no query has a relevant doc")
    elif len(facts.systems) < 2:
        track.leave_out("one system, so none to compare it with")
    elif without and options.queries == "judged":
        queries = count(without, "judged query has", "judged queries have")
        track.note(f"{queries} no relevant doc, and the value 0")
    if options.counted in ("groups", "others") and not rare.has_groups:
        track.note("the groups of the systems are unknown, so each system counts as a group")
    if (cut := facts.policy["depth"]) is not None and cut < max(options.k, options.held_to):
        track.note(f"lists were cut at {cut} when they were read, so no doc counts below it")
    if len(facts.systems) > 1:
        _describe_pool(track, rare)


def _describe_tables(track: TrackView, rare: RareTrack) -> None:
    """Add notes on queries and sizes that were asked for and that the tables lack."""
    options, systems = rare.options, len(rare.facts.systems)
    if large := sorted({size for size in options.sizes if size > systems}):
        has = count(systems, "system")
        track.note(f"Table 3 is without N = {listed([*map(str, large)])}: the track has {has}")
    shown = example_queries(rare)
    absent = sorted({*options.examples}.difference(shown))
    if not shown:
        named = f"query {listed(absent)}" if absent else "query"
        track.note(f"Table 4 is absent: no {named} with a relevant doc that is retrieved")
    elif absent:
        word = "query" if len(absent) == 1 else "queries"
        track.note(f"Table 4 is without {word} {listed(absent)}: no relevant doc is retrieved")


def _describe_pool(track: TrackView, rare: RareTrack) -> None:
    """Add notes on the pool, from which groups are left out."""
    facts = rare.facts
    if not facts.contributors:
        track.note("no system contributed to the pool, so no group is left out of it")
        return
    if not facts.pool_known:
        track.note("the contributing systems are unknown, so all systems count as contributors")
    if not left_out_groups(rare):
        (whole,) = (n for n, systems in rare.groups.items() if {*facts.contributors} & {*systems})
        track.note(f"group {whole} is the complete pool, so it is not left out")
    incomplete = sum(int((view.require("complete_depth") == 0).sum()) for view in rare.views)
    if incomplete:
        queries = count(incomplete, "query", "queries")
        track.note(
            f"for {queries}, the pool is complete to no depth and loses no judgment where a group "
            "is left out of it"
        )
