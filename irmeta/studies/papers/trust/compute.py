"""The tables of one track."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from irmeta.stats.correlation import correlate
from irmeta.stats.new_measure import covered_pairs
from irmeta.stats.pairs import Pairs, pairwise
from irmeta.studies.framework.study import TableRows
from irmeta.studies.framework.track_view import TrackView
from irmeta.studies.papers.trust import criteria
from irmeta.studies.papers.trust.conclusions import conclusion_tables
from irmeta.studies.papers.trust.grades import FAMILIES, verdicts
from irmeta.studies.papers.trust.options import DROPPED, GRADED_SHARE, TrustOptions
from irmeta.studies.papers.trust.tied_orders import tied_orders
from irmeta.studies.papers.trust.trusted_track import TrustedTrack

Row = dict[str, Any]
NO_DEPTH = "the measure has a cutoff, or no value by lists to a rank"
_DEPTH = ("least_k", "depth_tau")
_LEFT_OUT = (
    *("left_out_tau", "left_out_least", "left_out_named"),
    *("left_out_drop", "rank_change", "greatest_rank_change"),
)


def compute(track: TrackView, options: TrustOptions) -> TableRows:
    """Yield the tables of one track."""
    trusted = TrustedTrack.of(track, options)
    changes = criteria.changed_judgments(trusted)
    yield (
        "changes",
        [
            {
                "measure": measure,
                "change": change,
                "amount": amount,
                "draws": len(taus),
                **_spread("tau_b", taus),
            }
            for change, amount, by_measure in changes
            for measure, taus in by_measure.items()
        ],
    )
    if trusted.unchecked:
        track.note(trusted.unchecked)
    rows = list(_trust(trusted, changes))
    grades = list(_grades(rows))
    yield "trust", rows
    yield "grades", grades
    yield "between_measures", list(_between(trusted))
    yield from conclusion_tables(trusted)


def _trust(trusted: TrustedTrack, changes: criteria.Changes) -> Iterator[Row]:
    """Yield the rows of the table `trust`."""
    depths = criteria.depth(trusted)
    lost, unit, parts = criteria.left_out(trusted)
    undecided, reads = criteria.undecided(trusted), criteria.reads_grades(trusted)
    ends, options = criteria.ties_and_ends(trusted), trusted.options
    matrices = trusted.matrices
    separated = [criteria.separates(matrix, options) for matrix in matrices.values()]
    ties = tied_orders(trusted, [one["detectable"] for one in separated])
    for (measure, matrix), found, tied in zip(matrices.items(), separated, ties, strict=True):
        row: Row = {
            "measure": measure,
            "queries": len(matrix.complete().queries),
            "reads_grades": reads[measure],
            **found,
            **criteria.queries(matrix, options),
            **dict.fromkeys(_DEPTH),
            **depths.get(measure, {}),
            "left_out": unit if lost else None,
            "contributors": parts,
            **dict.fromkeys(_LEFT_OUT),
            **lost.get(measure, {}),
            **_of_changes(changes, measure),
            "undecided": undecided.get(measure),
            **ends[measure],
            **tied,
        }
        graded = verdicts(
            row,
            systems=len(matrix.systems),
            queries=row["queries"],
            reasons={"depth": _no_depth(trusted) if measure in depths else NO_DEPTH},
            unchecked={"judgments": _unexamined(trusted, row, changes)},
        )
        for family, verdict in graded.items():
            row |= {f"{family}_grade": verdict.grade, f"{family}_why": verdict.why}
            row[f"{family}_number"] = verdict.number
        yield row


def _no_depth(trusted: TrustedTrack) -> str:
    """Return why a measure of full lists has no value at the depth of the pool."""
    if trusted.complete_depth is None:
        return "every doc of the pool's lists is judged, so that the pool has no depth"
    return "the pool is not complete to any depth"


def _unexamined(trusted: TrustedTrack, row: Row, changes: criteria.Changes) -> str:
    """Return why a criterion of the judgments could not be examined; empty: all were."""
    found = []
    if row["left_out"] is None:
        found.append(
            "fewer than two contributors are known"
            if trusted.knows_contributors
            else f"contributors are not left out: the pool, complete to depth "
            f"{trusted.complete_depth}, is too shallow"
        )
    for change, name, of_measure in changes:
        if change == "qrels set" and np.isnan(of_measure[row["measure"]][0]):
            found.append(f"qrels set {name} gives no order of systems")
    return "; ".join(found)


def _of_changes(changes: criteria.Changes, measure: str) -> Row:
    """Return tau-b with half of the relevant docs, altered labels and other qrels sets."""
    taus = {(change, amount): of_measure[measure] for change, amount, of_measure in changes}
    others = {name: draws[0] for (change, name), draws in taus.items() if change == "qrels set"}
    known = {name: tau for name, tau in others.items() if not np.isnan(tau)}
    least = min(known, key=known.__getitem__, default=None)
    return {
        **_spread("dropped_tau", taus["relevant docs kept", f"{1 - DROPPED[0]:.0%}"]),
        **_spread("altered_tau", taus["labels altered", f"{GRADED_SHARE:.0%}"]),
        "other_qrels_tau": float(np.mean([*others.values()])) if others else None,
        "other_qrels_least": None if least is None else known[least],
        "other_qrels_named": least,
    }


def _spread(name: str, draws: list[float]) -> Row:
    """Return the mean, least and greatest value of some draws; NaN if one is."""
    values = np.array(draws)
    found = (values.mean(), values.min(), values.max())
    return dict(zip((name, f"{name}_low", f"{name}_high"), map(float, found), strict=True))


def _grades(rows: list[Row]) -> Iterator[Row]:
    """Yield the rows of the table `grades`, and take their numbers out of those of `trust`."""
    for row in rows:
        for family in FAMILIES:
            yield {
                "measure": row["measure"],
                "family": family.replace("_", " "),
                "grade": row[f"{family}_grade"],
                "number": row.pop(f"{family}_number"),
                "why": row[f"{family}_why"],
            }


def _between(trusted: TrustedTrack) -> Iterator[Row]:
    """Yield the rows of the table `between_measures`."""
    orders = trusted.orders(trusted.scores)
    taus = correlate(orders, "tau-b").values
    tested = [pairwise(matrix, "t", correction="holm") for matrix in trusted.matrices.values()]
    for i, measure in enumerate(trusted.matrices):
        for j, other in enumerate(trusted.matrices):
            if i != j:
                yield {
                    "measure": measure,
                    "other": other,
                    "tau_b": float(taus[i, j]),
                    **_found(tested[j], tested[i], trusted.options.alpha),
                }


def _found(other: Pairs, own: Pairs, alpha: float) -> Row:
    size, _, covered, inverted = covered_pairs(other, own, alpha)
    return {
        "found": covered / size if size else np.nan,
        "reversed": inverted / size if size else np.nan,
    }
