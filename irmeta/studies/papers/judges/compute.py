"""The tables of one track."""

from __future__ import annotations

from irmeta.studies.framework.study import TableRows
from irmeta.studies.framework.track_view import TrackView
from irmeta.studies.papers.judges.bias_tables import bias_tables
from irmeta.studies.papers.judges.conclusion_tables import conclusions
from irmeta.studies.papers.judges.judged_track import JudgedTrack
from irmeta.studies.papers.judges.label_saving_tables import corrected_tables, mixture_tables
from irmeta.studies.papers.judges.label_tables import agreement, judges
from irmeta.studies.papers.judges.options import JudgesOptions as Options
from irmeta.studies.papers.judges.order_tables import (
    leaderboards,
    queries,
    query_noise,
    top,
)
from irmeta.studies.papers.judges.verdict_tables import verdicts


def compute(track: TrackView, options: Options) -> TableRows:
    """Yield the tables of one track; all sets of labels are scored once."""
    judged = JudgedTrack.of(track, options)
    if judged is None:
        return
    if not any(True for _ in judged.scores.measures[0].sides):
        track.leave_out(
            f"no query that a judge labelled has a value of {options.measures[0]} for every system"
        )
    yield "judges", list(judges(judged))
    yield from agreement(judged)
    made = {
        "leaderboards": list(leaderboards(judged)),
        "query_noise": list(query_noise(judged)),
        "conclusions": list(conclusions(judged)),
        "queries": list(queries(judged)),
        "top": list(top(judged)),
    }
    yield from made.items()
    frames = [*bias_tables(judged), *mixture_tables(judged), *corrected_tables(judged)]
    yield from frames
    yield "verdicts", list(verdicts(judged, made, frames))
