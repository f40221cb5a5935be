"""Views with other ends of the lists: same values as modified files; shares of changed scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings

import irmeta
from irmeta.errors import UsageError
from irmeta.rankings.derive.lists import cut_ends, pad_ends
from irmeta.rankings.judged import JudgedRanks
from support.examples import scaled
from support.making import Line, Track, diverse_tracks, down, tracks
from support.viewing import NEEDS, assert_equal_values, specs_without, view_of

Lines = list[Line]
Edit = Callable[[Lines, dict[str, int]], Lines]
UNREAD = ("pool", "retrieved")


def cut(best: Lines, docs: dict[str, int]) -> Lines:
    relevant = [i for i, line in enumerate(best) if docs.get(line[0], 0) >= 1]
    return best[: relevant[-1] + 1] if relevant else best[:1]


def edited(track: Track, edit: Edit) -> Track:
    """Change each list, in the order of its ranks."""
    runs = {
        system: {
            q: edit(
                [
                    next(line for line in lines if line[0] == doc)
                    for doc in track.ranking(system, q)
                ],
                track.qrels.get(q, {}),
            )
            for q, lines in lists.items()
            if lines
        }
        for system, lists in track.runs.items()
    }
    return replace(track, runs=runs)


def same_values(view: JudgedRanks, track: Track, deepest_rank: int) -> None:
    expected = view_of(track.read(), *NEEDS)
    assert_equal_values(view, expected, specs_without(*UNREAD), deepest_rank=deepest_rank)
    assert (view.lengths == expected.lengths).all()


@pytest.mark.exhaustive
@settings(max_examples=scaled(12))
@given(track=tracks())
def test_cut_ends__same_values_as_lists_to_the_last_relevant_doc(track: Track):
    view = view_of(track.read(), *NEEDS)
    same_values(cut_ends(view), edited(track, cut), view.facts.deepest_rank)


@pytest.mark.exhaustive
def test_pad_ends__same_values_as_lists_with_unjudged_docs():
    runs = {
        "s1": {"q1": down("r", "x"), "q2": down("x", "r", "y", "u", "z")},
        "s2": {"q1": down("y", "u", "r", "x"), "q3": down("u")},
    }
    track = Track(runs, {q: {"r": 2, "u": 1, "y": 0} for q in ("q1", "q2", "q3")})
    view = view_of(track.read(), *NEEDS)

    def pad(best: Lines, docs: dict[str, int]) -> Lines:
        return [*best, *((f"end{i}", -100.0 - i) for i in range(min(2, 5 - len(best))))]

    same_values(pad_ends(view, 2), edited(track, pad), 5)


@pytest.mark.exhaustive
@settings(max_examples=scaled(8))
@given(track=diverse_tracks())
def test_cut_ends__diversity_view_has_its_own_relevant_docs(track: Track):
    view = view_of(track.read(), *NEEDS, "subtopics")
    found = cut_ends(view).by_subtopic()
    assert (found.lengths == cut_ends(view.by_subtopic()).lengths).all()
    assert found.subtopics is view.by_subtopic().subtopics


def test_truncation__shares_of_lists():
    """s1 has a non-relevant doc at the end of one list of two, and no list for the third query."""
    qrels = {q: {"r": 1, "u": 1} for q in ("q1", "q2", "q3")}
    runs = {
        "s1": {"q1": down("r", "x"), "q2": down("x", "r")},
        "s2": {"q1": down("r", "u", "x"), "q2": down("r"), "q3": down("x", "y")},
    }
    store = Track(runs, qrels).read()
    frame = store.stability.truncation("SetP,AP,ASL(unretrieved=depth)")
    rows = {row[1:3]: row[3:] for row in frame.rows()}
    assert frame.columns[3:] == [
        "lists", "better_cut", "worse_cut", "better_padded", "worse_padded",
    ]  # fmt: skip
    third = pytest.approx(1 / 3)
    assert rows["s1", "SetP"] == (2, 0.5, 0.0, 0.0, 1.0)
    assert rows["s2", "SetP"] == (3, third, 0.0, 0.0, third)
    assert rows["s1", "AP"] == (2, 0.0, 0.0, 0.0, 0.0)
    assert rows["s2", "ASL(unretrieved=depth)"][:1] == (3,)


def test_truncation__invalid_argument(made_store: irmeta.Store):
    with pytest.raises(UsageError, match="docs = 0"):
        made_store.stability.truncation("AP", track="news", docs=0)
    with pytest.raises(UsageError, match="no `retrieved`: a view of lists with other ends"):
        made_store.stability.truncation("AvgSL", track="news")


def test_truncation_command__csv_of_the_frame(made_store: irmeta.Store, run):
    done = run("truncation", made_store.path, "-m", "SetP,ACT@10", "--track", "web", "--docs", 2)
    lines = done.out.splitlines()
    assert lines[0].startswith("track,system,measure,lists,better_cut,worse_cut")
    assert (
        len(lines) == 1 + made_store.stability.truncation("SetP,ACT@10", track="web", docs=2).height
    )
