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
from irmeta.studies.papers.trust.options import TrustOptions
from irmeta.studies.papers.trust.trusted_track import TrustedTrack

Row = dict[str, Any]
NO_DEPTH = "the measure has a cutoff, or no value by lists to a rank"
_DEPTH = ("least_k", "depth_tau")
_LEFT_OUT = ("left_out_tau", "left_out_drop", "rank_change", "greatest_rank_change")


def compute(track: TrackView, options: TrustOptions) -> TableRows:
    """Yield the tables of one track."""
    trusted = TrustedTrack.of(track, options)
    changes = criteria.changed_judgments(trusted)
    yield (
        "changes",
        [
            {"measure": measure, "change": change, "amount": amount, **_spread("tau_b", taus)}
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
    options = trusted.options
    depths = criteria.depth(trusted)
    lost, unit, parts = criteria.left_out(trusted)
    undecided = criteria.undecided(trusted)
    ends = criteria.ties_and_ends(trusted)
    for measure, matrix in trusted.matrices.items():
        complete = matrix.complete()
        row: Row = {
            "queries": len(complete.queries),
            **criteria.separates(matrix, options),
            **criteria.queries(matrix, options),
            **dict.fromkeys(_DEPTH),
            **depths.get(measure, {}),
            "left_out": unit if lost else None,
            "contributors": parts,
            **dict.fromkeys(_LEFT_OUT),
            **lost.get(measure, {}),
            **_of_changes(changes, measure, options),
            "undecided": undecided.get(measure),
            "tie_change": None,
            **ends[measure],
        }
        found = verdicts(
            row,
            options,
            systems=len(matrix.systems),
            queries=row["queries"],
            reasons={"depth": _no_depth(trusted) if measure in depths else NO_DEPTH},
            unchecked={"judgments": trusted.unchecked},
        )
        for family, verdict in found.items():
            row |= {f"{family}_grade": verdict.grade, f"{family}_why": verdict.why}
            row[f"{family}_number"] = verdict.number
        yield {"measure": measure, **row}


def _no_depth(trusted: TrustedTrack) -> str:
    """Return why a measure of full lists has no value at the depth of the pool."""
    if trusted.complete_depth is None:
        return "every doc of the pool's lists is judged, so that the pool has no depth"
    return "the pool is not complete to any depth"


def _of_changes(changes: criteria.Changes, measure: str, options: TrustOptions) -> Row:
    """Return tau-b with half of the relevant docs, altered labels and other qrels sets."""
    taus: dict[str, list[list[float]]] = {}
    for change, _, of_measure in changes:
        taus.setdefault(change, []).append(of_measure[measure])
    altered = taus.get("labels altered", [])
    others = [tau for draws in taus.get("qrels set", []) for tau in draws]
    names = ("altered_tau", "altered_tau_low", "altered_tau_high")
    at = options.altered.index(options.graded_share) if altered else 0
    return {
        "dropped_tau": taus["relevant docs kept"][0][0],
        **(_spread("altered_tau", altered[at]) if altered else dict.fromkeys(names)),
        "other_qrels_tau": min(others) if others else None,
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
