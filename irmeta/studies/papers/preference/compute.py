"""The tables of one track."""

from __future__ import annotations

from irmeta.phrases import count
from irmeta.studies.framework.study import TableRows, declared_rows
from irmeta.studies.framework.track_view import TrackView
from irmeta.studies.papers.preference.compared_track import ComparedTrack
from irmeta.studies.papers.preference.options import PreferenceOptions as Options
from irmeta.studies.papers.preference.recall_levels import count_levels, points, two_lists
from irmeta.studies.papers.preference.system_orders import (
    TESTS,
    SystemOrders,
    label_noise,
    significant_pairs,
    table_1,
)
from irmeta.studies.papers.preference.tables import TABLES


def compute(track: TrackView, options: Options) -> TableRows:
    """Yield the tables of one track, from a single pass over its blocks."""
    compared = ComparedTrack.of(track, options)
    facts = table_1(track, compared, options)
    yield "table_1", [facts]
    counts = count_levels(compared, options)
    unequal = counts.row()
    yield "unequal_levels", [unequal]
    if not _is_comparable(track, compared, options, unequal["share_reached"]):
        return
    orders = SystemOrders(compared, options)
    for frame in orders.orders():
        yield "orders", frame
    yield "order_agreement", orders.agreement()
    yield "table_2", orders.table_2()
    for table in TESTS:
        yield table, significant_pairs(compared, options, table, facts["dataset"])
    yield "figure_2", counts.distribution()
    lists = two_lists(track, compared, orders, options)
    if lists is not None:
        yield "figure_4", lists.rows()
        yield "figure_4_deltas", lists.delta_rows()
    yield from points(compared, counts, options)
    yield "label_noise", label_noise(track, compared, orders, options)
    yield from declared_rows(TABLES, compared, options)


def _is_comparable(
    track: TrackView, compared: ComparedTrack, options: Options, share_unequal: float
) -> bool:
    """Check that there are pairs, queries and ranks to compare; exclude the track if not."""
    without = int((~compared.is_relevant).sum())
    if without and compared.is_relevant.any():
        queries = count(without, "judged query has", "judged queries have")
        track.note(f"{queries} no relevant doc, and no preference")
    if not compared.subtopic_qrels:
        track.note("no qrels set has subtopics, so STRPP is absent")
    if not compared.is_relevant.any():
        track.leave_out("no query has a relevant doc")
    elif len(compared.facts.systems) < 2:
        track.leave_out("one system, so none to compare it with")
    elif (saturation := compared.saturation(options.rel)).is_most:
        differ = f"{share_unequal:.1%} of the recall levels that a list reaches"
        effect = f"preferences mean little here: the ranks of two lists differ at {differ}"
        track.leave_out(saturation.reason(effect))
    else:
        return True
    return False
