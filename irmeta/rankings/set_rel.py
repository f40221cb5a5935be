"""The least relevant grade that a qrels set states, for names of measures without `rel=`."""

from __future__ import annotations

from irmeta.rankings.needs import Reader, needs_of
from irmeta.rankings.subtopics import has_subtopics, subtopic_set
from irmeta.rankings.track_facts import track_facts
from irmeta.store.scan import StoreReader


def stated_rel(store: StoreReader, track: str, spec: Reader, qrels: str | None) -> float:
    """Return the least relevant grade of the qrels set that a measure or preference reads."""
    # Few collections state a grade: without one, the systems of the track are not read.
    if not any("rel" in one for one in store.read_record(track)["config"]["qrels"]):
        return 1
    facts = track_facts(store, track, qrels)
    if "subtopics" in needs_of([spec]) and has_subtopics(store, facts.track):
        facts = track_facts(store, track, subtopic_set(store, facts))
    return facts.rel
