"""Derived views: same values as a store made from modified files."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import irmeta
from irmeta.errors import RelevanceWarning, UsageError
from irmeta.measures.names import parse_measure, registry
from irmeta.policies import EvalPolicy
from irmeta.rankings.derive.sample import doc_numbers, random_number, sample_queries
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.load import judged_ranks, judged_under
from irmeta.rankings.pool import NOT_POOLED, PooledLists, pool_depths
from irmeta.results.tidy_files import provenance
from support.examples import scaled
from support.making import Track, diverse_tracks, down, tracks
from support.viewing import (
    NEEDS,
    SPECS,
    assert_equal_values,
    is_by_subtopic,
    specs_without,
    view_of,
)
from twins import incomplete


def reread(track: Track, systems: tuple[str, ...]) -> JudgedRanks:
    """Return the view of a modified track; reject examples without queries or a system."""
    qrels = {q: docs for q, docs in track.qrels.items() if docs}
    runs = {s: {q: lines for q, lines in of.items() if lines} for s, of in track.runs.items()}
    assume(qrels)
    # A run without a judged query is skipped when it is read.
    assume(all(set(runs[s]) & set(qrels) for s in systems))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", irmeta.QrelsWarning)
        return view_of(Track(runs, qrels).read(), *NEEDS)


def test_specs__cover_all_measures():
    assert {s.measure for s in SPECS} == {m for m in registry().values() if not is_by_subtopic(m)}


BY_SUBTOPIC = [
    parse_measure(name)
    for name in ("alpha_nDCG@5", "ERR_IA@5", "StRecall@3", "AP_IA", "NRBP", "P_IA@3")
]

Change = Callable[[Track, JudgedRanks, int], tuple[JudgedRanks, Track]]


def without_system(track: Track, view: JudgedRanks, n: int) -> tuple[JudgedRanks, Track]:
    name = view.systems[n % len(view.systems)]
    runs = {s: lists for s, lists in track.runs.items() if s != name}
    return view.without_systems(name), replace(track, runs=runs)


def only_two_systems(track: Track, view: JudgedRanks, n: int) -> tuple[JudgedRanks, Track]:
    names = {view.systems[0], view.systems[n % len(view.systems)]}
    return view.only_systems(names), replace(track, runs={s: track.runs[s] for s in names})


def sampled_queries(track: Track, view: JudgedRanks, n: int) -> tuple[JudgedRanks, Track]:
    names = sample_queries(view.queries, max(1, len(view.queries) - 1), rng=n)
    return view.only_queries(names), replace(track, qrels={q: track.qrels[q] for q in names})


def pool_of_depth(track: Track, view: JudgedRanks, n: int) -> tuple[JudgedRanks, Track]:
    qrels = {}
    for query, docs in track.qrels.items():
        lists = [track.ranking(s, query, "score-file") for s in track.runs]
        qrels[query] = incomplete.pooled_to(docs, incomplete.pool_depths(lists, docs), n)
    return view.with_pool(n), replace(track, qrels=qrels)


def least_retrieved_dropped(track: Track, view: JudgedRanks, n: int) -> tuple[JudgedRanks, Track]:
    qrels = {}
    for query, docs in track.qrels.items():
        held = [{line[0] for line in lists.get(query, [])} for lists in track.runs.values()]
        relevant = sorted(
            (d for d, g in docs.items() if g >= 1),
            key=lambda d: (sum(d in one for one in held), d.encode()),
        )
        dropped = relevant[: len(relevant) * n // 4]
        qrels[query] = {d: g for d, g in docs.items() if d not in dropped}
    return view.drop_relevant(n / 4, "least-retrieved"), replace(track, qrels=qrels)


def random_dropped(track: Track, view: JudgedRanks, n: int) -> tuple[JudgedRanks, Track]:
    """Drop the docs that the view drew at random."""
    view = view.drop_relevant(n / 4, rng=n)
    qrels = {
        q: {d: track.qrels[q][d] for d in view.docs[int(first) : int(last)]}
        for q, (first, last) in zip(view.queries, pairwise(view.offsets), strict=True)
    }
    return view, replace(track, qrels=qrels)


def labels_altered(track: Track, view: JudgedRanks, n: int) -> tuple[JudgedRanks, Track]:
    """Label docs as the view drew at random, up to the same highest grade."""
    altered = view.alter_labels(n / 4, n % 2 == 0, rng=n)
    qrels = {
        q: dict(
            zip(
                altered.docs[int(first) : int(last)],
                altered.grades[first:last].tolist(),
                strict=True,
            )
        )
        for q, (first, last) in zip(altered.queries, pairwise(altered.offsets), strict=True)
    }
    assert {q: set(docs) for q, docs in qrels.items()} == {
        q: set(docs) for q, docs in track.qrels.items()
    }
    assume(max(g for docs in qrels.values() for g in docs.values()) == altered.facts.highest_grade)
    return altered, replace(track, qrels=qrels)


CHANGES = [
    without_system,
    only_two_systems,
    sampled_queries,
    pool_of_depth,
    least_retrieved_dropped,
    random_dropped,
    labels_altered,
]


@pytest.mark.exhaustive
@pytest.mark.parametrize("change", CHANGES)
@settings(max_examples=scaled(8))
@given(track=tracks(), n=st.integers(1, 4))
def test_derived_view__same_values_as_modified_files(change: Change, track: Track, n: int):
    view, changed = change(track, view_of(track.read(), *NEEDS), n)
    expected = reread(changed, tuple(view.systems))
    lacks = [need for need, array in (("retrieved", view.retrieved),) if array is None]
    if change is pool_of_depth:  # the requested depth limits the pool depth
        complete = np.minimum(expected.complete_depth, n)
        expected = replace(expected, complete_depth=complete)
    assert_equal_values(view, expected, specs_without(*lacks))


@pytest.mark.exhaustive
@settings(max_examples=scaled(12))
@given(track=tracks(), depth=st.integers(1, 4))
def test_cut_to__same_values_as_truncated_lists(track: Track, depth: int):
    view = view_of(track.read(), *NEEDS).cut_to(depth)
    runs = {
        system: {
            q: [next(line for line in lines if line[0] == doc) for doc in best[:depth]]
            for q, lines in lists.items()
            if (best := track.ranking(system, q))
        }
        for system, lists in track.runs.items()
    }
    expected = reread(replace(track, runs=runs), tuple(view.systems))
    assert_equal_values(view, expected, specs_without("pool", "retrieved"))


@pytest.mark.exhaustive
@settings(max_examples=scaled(12))
@given(track=tracks())
def test_condense__same_values_as_lists_of_judged_docs(track: Track):
    view = view_of(track.read(), *NEEDS).condense()
    judged = {q: incomplete.judged_docs(docs) for q, docs in track.qrels.items()}
    runs = {
        system: {q: [ln for ln in lines if ln[0] in judged.get(q, ())] for q, lines in of.items()}
        for system, of in track.runs.items()
    }
    expected = reread(replace(track, runs=runs), tuple(view.systems))
    assert_equal_values(view, expected, specs_without("pool"), deepest_rank=view.facts.deepest_rank)


@pytest.mark.exhaustive
@settings(max_examples=scaled(25))
@given(track=tracks(), depth=st.one_of(st.none(), st.integers(1, 4)), n=st.integers(0, 3))
def test_with_pool__removes_a_system_from_the_pool_only(track: Track, depth: int | None, n: int):
    view = view_of(track.read(), *NEEDS)
    removed = view.systems[n % len(view.systems)]
    pooled = view.with_pool(depth, without=removed)
    assert pooled.systems == view.systems
    for q, query in enumerate(view.queries):
        docs = track.qrels[query]
        lists = {s: track.ranking(s, query, "score-file") for s in track.runs}
        rest = incomplete.pool_depths([r for s, r in lists.items() if s != removed], docs)
        alone = incomplete.pool_depths([lists[removed]], docs)
        complete = incomplete.pool_depths(lists.values(), docs).complete
        if depth is None:
            kept = {d for d in docs if not (alone[d] <= complete < rest[d])}
        else:
            kept = {d for d in docs if rest[d] <= depth}
        rows = slice(int(pooled.offsets[q]), int(pooled.offsets[q + 1]))
        assert set(pooled.docs[rows]) == kept
        found = [math.inf if d == NOT_POOLED else d for d in pooled.pool_depth[rows].tolist()]
        assert found == [rest[d] for d in pooled.docs[rows]]
        left = {doc: grade for doc, grade in docs.items() if doc in kept}
        again = incomplete.pool_depths([r for s, r in lists.items() if s != removed], left)
        expected = again.complete if depth is None else min(rest.complete, depth)
        assert pooled.complete_depth[q] == expected
    if depth is not None:
        again = pooled.without_systems(removed)
        assert (again.complete_depth <= depth).all()


@pytest.mark.exhaustive
@settings(max_examples=scaled(12))
@given(track=diverse_tracks())
def test_one_subtopic__same_values_as_qrels_of_the_subtopic(track: Track):
    name = next(iter(next(iter(track.diversity.values()))))
    qrels = {q: of[name] for q, of in track.diversity.items() if of.get(name)}
    assume(qrels)
    view = view_of(track.read(), *NEEDS, "subtopics").one_subtopic(name)
    assert view.subtopics.names == (name,) * len(view.queries)
    np.testing.assert_array_equal(view.subtopics.grade, view.grades)
    expected = reread(replace(track, qrels=qrels, diversity={}), tuple(view.systems))
    assert_equal_values(view, expected, SPECS)


@pytest.mark.exhaustive
@settings(max_examples=scaled(25))
@given(track=diverse_tracks())
def test_derived_view__changes_the_diversity_view_too(track: Track):
    whole = view_of(track.read(), *NEEDS, "subtopics")
    for view in (whole.with_pool(2), whole.drop_relevant(0.5), whole.only_queries(["q0"])):
        diversity, pairs = view.by_subtopic(), set(pairs_of(view))
        kept = set(zip(queries_of(diversity), diversity.docs, strict=True))
        assert pairs == {
            (q, s, d, g)
            for q, of in track.diversity.items()
            for s, docs in of.items()
            for d, g in docs.items()
            if (q, d) in kept
        }


@settings(max_examples=scaled(15))
@given(track=diverse_tracks(), share=st.sampled_from([0.3, 1.0]), n=st.integers(0, 3))
def test_alter_labels__same_values_by_subtopic_as_altered_files(track: Track, share: float, n: int):
    view = view_of(track.read(), *NEEDS, "subtopics")
    altered = view.alter_labels(share, n % 2 == 0, rng=n)
    before, after = ({tuple(key): g for *key, g in pairs_of(v)} for v in (view, altered))
    assert before.keys() == after.keys()
    assert all(
        abs(g - after[key]) <= 1 and (g >= 0 or g == after[key]) for key, g in before.items()
    )
    qrels: dict[str, dict[str, dict[str, int]]] = {}
    for (query, subtopic, doc), grade in after.items():
        qrels.setdefault(query, {}).setdefault(subtopic, {})[doc] = grade
    if track.qrels:
        plain = view_of(replace(track, diversity={}).read(), *NEEDS)
        np.testing.assert_array_equal(
            plain.alter_labels(share, n % 2 == 0, rng=n).grades,
            altered.only_queries(plain.queries).grades,
        )
    expected = view_of(replace(track, diversity=qrels).read(), *NEEDS, "subtopics")
    found, expected = altered.by_subtopic(), expected.by_subtopic()
    assert found.docs.to_list() == expected.docs.to_list()  # by descending grade
    np.testing.assert_array_equal(found.grades, expected.grades)
    assert_equal_values(found, expected, BY_SUBTOPIC)


def pairs_of(view: JudgedRanks) -> list[tuple[str, str, str, int]]:
    """Return query, subtopic, doc and grade of each pair that the diversity qrels judge."""
    diversity = view.by_subtopic()
    rows, grades = diversity.subtopics.rows, diversity.subtopics.grade
    queries, docs = queries_of(diversity), diversity.docs
    names = names_of(diversity)
    return [
        (queries[row], name, docs[row], grade)
        for row, name, grade in zip(rows.tolist(), names, grades.tolist(), strict=True)
    ]


def queries_of(view: JudgedRanks) -> list[str]:
    return [view.queries[q] for q in view.query_of(np.arange(len(view.grades)))]


def names_of(view: JudgedRanks) -> list[str]:
    """Return the subtopic name of each pair."""
    subtopics = view.subtopics
    first = subtopics.offsets[view.query_of(subtopics.rows)]
    return [subtopics.names[i] for i in (first + subtopics.subtopic).tolist()]


TRACK = Track(
    {
        "a": {"q1": down("r1", "x", "r2"), "q2": down("r1")},
        "b": {"q1": down("r2", "r3"), "q2": down("y", "r1")},
        "c": {"q1": down("n", "r4"), "q2": down("n")},
    },
    {"q1": {"r1": 1, "r2": 2, "r3": 1, "r4": 1, "n": 0}, "q2": {"r1": 1, "n": 0}},
)


def test_require__error_explains_why_an_array_is_missing(tmp_path):
    view = view_of(TRACK.ingest(tmp_path))
    with pytest.raises(UsageError, match=r"has no `ties`: ask for it by needs=\('ties',\)"):
        irmeta.scores_of(view, "P(ties=share)@1")
    with_all = view_of(TRACK.read(), *NEEDS)
    with pytest.raises(UsageError, match=r"no `retrieved`.*unjudged docs only some systems"):
        irmeta.scores_of(with_all.without_systems("a"), "AvgSL")
    with pytest.raises(UsageError, match=r"no `retrieved`: a view of lists that were cut"):
        irmeta.scores_of(with_all.cut_to(1), "TSL")
    with pytest.raises(UsageError, match=r"no `pooled_lists`"):
        view.with_pool(3)
    with pytest.raises(UsageError, match=r"no `diversity`"):
        view.one_subtopic("1")


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("derive", "problem"),
    [
        (lambda v: v.without_systems("d"), r"no system 'd'"),
        (lambda v: v.without_systems(["a", "b", "c"]), r"no system of track 't' is left"),
        (
            lambda v: v.without_systems("group=x"),
            r"no group 'x'\. No group of its systems is known",
        ),
        (lambda v: v.only_systems([]), r"no system of track 't' is left"),
        (lambda v: v.only_queries([12]), r"queries are named by texts, not 12"),
        (lambda v: v.drop_relevant("a"), r"share = 'a' is not from 0 to 1"),
        (lambda v: v.drop_relevant(0.5, rng=-1), r"rng = -1 is neither a whole number from 0"),
        (lambda v: v.drop_relevant(0.5, rng=None), r"rng = None is neither"),
        (lambda v: v.assume_relevant(3, "xx"), r"gain = 'xx' is not a choice"),
        (lambda v: v.cut_to(0), r"depth = 0 is not a whole number of at least 1"),
        (lambda v: v.cut_to(2.5), r"depth = 2\.5 is not a whole number of at least 1"),
        (lambda v: v.alter_labels(1.5), r"confusion = 1\.5 is neither a share from 0 to 1"),
        (lambda v: v.alter_labels({0: {0: 1}}), r"no row for grade"),
        (
            lambda v: v.alter_labels({g: {0: -1} for g in range(9)}),
            r"must be numbers of at least 0",
        ),
        (lambda v: v.alter_labels({g: {0: 0} for g in range(9)}), r"all weights of grade"),
        (lambda v: v.alter_labels(pl.DataFrame({"docs": [1]})), r"no column 'reference_grade'"),
        (lambda v: v.with_pool(0), r"depth = 0 is not a whole number of at least 1"),
        (lambda v: v.drop_relevant(1.5), r"share = 1\.5 is not from 0 to 1"),
        (lambda v: v.drop_relevant(0.5, "best"), r"order = 'best'"),
        (lambda v: sample_queries(v.queries, 3), r"3 of 2 queries cannot be drawn"),
    ],
)
def test_derived_view__rejects_invalid_arguments(derive, problem: str):
    with pytest.raises(UsageError, match=problem):
        derive(view_of(TRACK.read()))


def test_without_systems__accepts_groups_and_types():
    view = view_of(TRACK.read(), "pool")
    facts = replace(
        view.facts,
        groups=("g", "g", "h"),
        types=("auto", "manual", None),
        pooled=(True, None, False),
        pool_known=True,
    )
    view = replace(view, facts=facts)
    assert view.without_systems("group=g").systems == ("c",)
    assert view.without_systems(["type=manual", "c"]).systems == ("a",)
    assert view.only_systems("type=auto").facts.groups == ("g",)
    with pytest.raises(UsageError, match=r"no type 'automatic'.*auto"):
        view.without_systems("type=automatic")
    with pytest.raises(UsageError, match=r"'group=h' did not contribute to the pool of 't'"):
        view.with_pool(without="group=h")
    alone = view.without_systems("a")
    assert alone.pool_depth is None
    with pytest.raises(UsageError, match=r"no system that was pooled is left"):
        irmeta.scores_of(alone, "AP(norm=pool)@2")


def test_without_systems__deepest_rank_of_the_remaining_systems():
    view = view_of(TRACK.read())
    assert (view.facts.deepest_rank, view.without_systems("a").facts.deepest_rank) == (3, 2)


def test_drop_relevant__drops_a_share_per_query_rounded_down():
    view = view_of(TRACK.read())
    for share, left in ((0, [4, 1]), (0.25, [3, 1]), (0.7, [2, 1]), (1, [0, 0])):
        dropped = view.drop_relevant(share, rng=3)
        assert dropped.counts(1).tolist() == left
        assert (dropped.counts(0) - dropped.counts(1)).tolist() == [1, 1]
    hundred = JudgedRanks.from_arrays(np.zeros((100, 1), int), np.ones(100, int))
    assert hundred.drop_relevant(0.29).counts(1).tolist() == [71]


def test_drop_relevant__independent_of_other_queries():
    view = view_of(TRACK.read())
    for seed in range(5):
        alone = view.only_queries(["q1"]).drop_relevant(0.5, rng=seed)
        beside = view.drop_relevant(0.5, rng=seed).only_queries(["q1"])
        assert alone.docs.to_list() == beside.docs.to_list()
    drawn = {tuple(view.drop_relevant(0.5, rng=seed).docs) for seed in range(20)}
    assert len(drawn) > 3
    one, two = (view.drop_relevant(0.5, rng=np.random.default_rng(4)) for _ in range(2))
    assert one.docs.to_list() == two.docs.to_list()


def test_drop_relevant__drops_the_same_docs_from_both_qrels_sets():
    docs = [f"d{i}" for i in range(40)]
    track = Track(
        {"s": {"q": down(*docs)}},
        {"q": dict.fromkeys(docs, 1)},
        diversity={"q": {"1": dict.fromkeys(docs, 1)}},
    )
    view = view_of(track.read(), "subtopics")
    for rng in (3, np.random.default_rng(3)):
        dropped = view.drop_relevant(0.5, rng=rng)
        assert len(dropped.docs) == 20
        assert sorted(dropped.docs) == sorted(dropped.diversity.docs)


def test_only_queries__accepts_a_single_name():
    view = view_of(TRACK.read())
    assert view.only_queries("q1").queries == ("q1",)


def test_with_pool__requires_a_contributing_system():
    view = view_of(TRACK.read(), "pool")
    for depth in (None, 2):
        with pytest.raises(UsageError, match=r"no system is left to contribute to the pool of 't'"):
            view.with_pool(depth, without=["a", "b", "c"])


@pytest.mark.parametrize(
    ("needs", "problem"),
    [
        ("pool", r"needs = 'pool' must be a list"),
        (["pools"], r"need = 'pools'.*Did you mean 'pool'"),
    ],
)
def test_views__rejects_invalid_needs(needs, problem: str):
    with pytest.raises(UsageError, match=problem):
        list(TRACK.read().views("t", needs=needs))


def test_sample_queries__smaller_samples_are_subsets_of_larger_samples():
    queries = [f"{i}" for i in range(30)]
    samples = [set(sample_queries(queries, n, rng=5)) for n in range(31)]
    assert [len(one) for one in samples] == list(range(31))
    assert all(one <= two for one, two in pairwise(samples))
    assert sample_queries(queries, 7, rng=5) != sample_queries(queries, 7, rng=6)


def test_without_systems__arrays_stay_contiguous_and_writeable():
    view = view_of(TRACK.read(), *NEEDS).without_systems("b")
    for array in (view.ranks, view.lengths, *view.ties, view.pooled_lists.ranks):
        assert array.flags.c_contiguous
        assert array.flags.writeable


def test_derived_view__does_not_change_the_original_view():
    view = view_of(TRACK.read(), *NEEDS)
    before = [array.copy() for array in (view.ranks, view.grades, view.lengths, view.pool_depth)]
    view.with_pool(1, without="a").drop_relevant(1).cut_to(1).condense().only_queries(["q1"])
    for array, known in zip(
        (view.ranks, view.grades, view.lengths, view.pool_depth), before, strict=True
    ):
        np.testing.assert_array_equal(array, known)


def test_doc_numbers__equal_random_numbers_of_the_names():
    queries, query, docs = ["1", "q é", ""], np.array([0, 2, 1, 1]), ["a", "b\0c", "", "ü"]
    numbers = doc_numbers(7, queries, query, docs)
    assert numbers.dtype == np.uint64
    expected = [random_number(7, queries[q], doc) for q, doc in zip(query, docs, strict=True)]
    assert numbers.tolist() == expected
    assert doc_numbers(7, queries, query[:0], []).tolist() == []


DEPTHS = st.none() | st.integers(1, 4)


def assert_pool_is_current(view: JudgedRanks, has_current_lists: bool) -> None:
    lists, systems = view.pooled_lists, view.facts.contributors
    np.testing.assert_array_equal(view.pool_depth, pool_depths(lists.ranks, systems))
    anew = PooledLists.of(view.facts, lists.ranks, view.offsets, lists.lengths)
    if has_current_lists:
        np.testing.assert_array_equal(lists.judged, anew.judged)
        complete = np.minimum(anew.complete(view.facts, view.queries), view.pooled_to or NOT_POOLED)
        np.testing.assert_array_equal(view.complete_depth, complete)


@settings(max_examples=scaled(30))
@given(tracks(), DEPTHS, DEPTHS, st.integers(0, 2**4 - 1))
def test_with_pool__arrays_equal_those_of_the_docs_that_remain(
    track: Track, earlier: int | None, depth: int | None, chosen: int
):
    view = view_of(track.read(), *NEEDS)
    names = [name for i, name in enumerate(view.systems) if chosen >> i & 1]
    assume(len(names) < len(view.systems))
    # An earlier cut leaves lists whose judged depths are those of the deeper pool.
    made = view.with_pool(earlier).with_pool(depth, names)
    assert_pool_is_current(made, depth is None and (bool(names) or earlier is None))
    if depth is not None:
        # A doc must be in both pools: the first of all systems, the second of those that remain.
        ranks, of_all = view.pooled_lists.ranks, view.facts.contributors
        is_kept = pool_depths(ranks, made.facts.contributors) <= depth
        is_kept &= pool_depths(ranks, of_all) <= (earlier or NOT_POOLED)
        assert len(made.grades) == is_kept.sum()


@pytest.mark.exhaustive
@settings(max_examples=scaled(10))
@given(tracks(), st.sampled_from([1, 4, 100]))
def test_judged_under__equals_one_order_at_a_time(track: Track, rows: int):
    opened = track.read()
    orders = ("trec_eval", "file", "score-file", "trec_eval10")
    policies = [EvalPolicy(tie_order=one, pool_order=one) for one in orders]
    asked = [
        (policy, {"pool", "ties"} if one == "file" else {"pool"})
        for one, policy in zip(orders, policies, strict=True)
    ]
    together = list(judged_under(opened.track("t"), asked, rows))
    for place, (policy, needs) in enumerate(asked):
        alone = list(judged_ranks(opened.track("t", policy), rows, needs))
        for one, several in zip(alone, together, strict=True):
            other = several[place]
            assert one.queries == other.queries
            for name in ("ranks", "grades", "lengths", "pool_depth", "complete_depth"):
                np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
            assert (one.ties is None) == (other.ties is None) == (needs == {"pool"})
            if one.ties is not None:
                np.testing.assert_array_equal(one.ties, other.ties)


Labels = dict[str, dict[str, float]]
HUMAN: Labels = {"q1": {"a": 2, "b": 0, "x": -1}, "q2": {"c": 1}}
JUDGE: Labels = {"q1": {"a": 0, "d": 1, "x": 2}, "q2": {"c": 2, "e": 2}, "q3": {"f": 1}}
RUNS = {
    "s": {"q1": {"a": 3.0, "d": 2.0, "x": 1.0}, "q2": {"e": 2.0, "c": 1.0}, "q3": {"f": 1.0}},
    "t": {"q1": {"b": 3.0, "x": 2.0, "a": 1.0}, "q2": {"c": 2.0, "g": 1.0}, "q3": {"g": 1.0}},
}


def laid_over(*sets: Labels, negative: bool = False) -> Labels:
    """Return the label of the first set that has one, a negative grade last, for each doc."""
    joined: Labels = {}
    for accepts_negative in (negative, True):
        for labels in sets:
            for query, docs in labels.items():
                for doc, grade in docs.items():
                    if grade >= 0 or accepts_negative:
                        joined.setdefault(query, {}).setdefault(doc, grade)
    return joined


def means(qrels: Any, **choices: Any) -> dict[tuple[str, str], float]:
    frame = irmeta.evaluate(qrels, RUNS, ["nDCG@10", "P@2", "Judged@3"], **choices)
    return {row[:2]: row[2] for row in frame.select("system", "measure", "value").rows()}


@pytest.fixture
def store() -> irmeta.Store:
    return irmeta.from_data({"human": HUMAN, "judge": JUDGE}, RUNS)


@pytest.mark.parametrize("names", [("human", "judge"), ("judge", "human")])
@pytest.mark.parametrize("negative", ["unjudged", "nonrelevant"])
def test_overlay__scores_as_the_joined_labels(names: tuple[str, str], negative: str):
    sets = {"human": HUMAN, "judge": JUDGE}
    joined = laid_over(*(sets[name] for name in names), negative=negative == "nonrelevant")
    expected = means(joined, negative=negative)
    assert means(sets, overlay=names, negative=negative) == pytest.approx(expected)
    assert means(sets, overlay=",".join(names), negative=negative) == pytest.approx(expected)


def test_overlay__of_a_store(store: irmeta.Store):
    frame = store.evaluate("P@2", overlay=["human", "judge"])
    expected = means(laid_over(HUMAN, JUDGE))
    assert dict(frame.select("system", "value").rows()) == pytest.approx(
        {system: value for (system, measure), value in expected.items() if measure.startswith("P@")}
    )
    assert "overlay" not in irmeta.EvalPolicy().record()


def test_overlay__compare_and_selected_queries(store: irmeta.Store):
    (compared,) = irmeta.compare(store, "P@2", overlay="human,judge")
    assert compared.matrix.qrels == "human+judge"
    assert compared.systems["queries"].to_list() == [3, 3]
    (matrix,) = irmeta.matrices(store, "P@2", overlay="human,judge", query=["q1", "q2"])
    assert matrix.queries == ("q1", "q2")
    assert matrix.qrels == "human+judge"
    assert matrix.values[:, 0].tolist() == [1.0, 1.0]


def test_overlay__refused(store: irmeta.Store):
    with pytest.raises(UsageError, match="two or more different qrels sets"):
        store.evaluate("P@2", overlay="human")
    with pytest.raises(UsageError, match="two or more different qrels sets"):
        store.evaluate("P@2", overlay="human,human")
    with pytest.raises(UsageError, match=r"no qrels set 'jugde'.*judge"):
        store.evaluate("P@2", overlay="human,jugde")
    with pytest.raises(UsageError, match="overlay and qrels both"):
        store.evaluate("P@2", overlay="human,judge", qrels="human")
    with pytest.raises(UsageError, match=r"least relevant grades .*human 2, judge 1"):
        store.evaluate("P@2", overlay="human,judge", rel={"human": 2})
    with pytest.raises(UsageError, match="compares qrels sets with one another"):
        irmeta.studies.judges(store, "out", overlay="human,judge")
    binary = irmeta.from_data({"human": HUMAN, "binary": {"q1": {"d": 1}}}, RUNS)
    with pytest.warns(RelevanceWarning, match=r"highest grades .*human 2, binary 1"):
        binary.evaluate("P@2", overlay="human,binary")


def test_overlay__one_grade_for_all_sets(store: irmeta.Store):
    expected = means(laid_over(HUMAN, JUDGE), rel=2)
    frame = store.evaluate("P@2", overlay="human,judge", rel=2)
    assert dict(frame.select("system", "value").rows()) == pytest.approx(
        {system: value for (system, measure), value in expected.items() if measure.startswith("P")}
    )


def test_command__overlay(tmp_path: Path, run):
    folder = tmp_path / "news"
    (folder / "runs").mkdir(parents=True)
    for name, labels in (("human", HUMAN), ("judge", JUDGE)):
        rows = [f"{q} 0 {d} {g}\n" for q, docs in labels.items() for d, g in docs.items()]
        (folder / f"qrels.{name}.txt").write_text("".join(rows))
    for name, lists in RUNS.items():
        rows = [f"{q} Q0 {d} 0 {s} {name}\n" for q, docs in lists.items() for d, s in docs.items()]
        (folder / "runs" / name).write_text("".join(rows))
    sets = (f'{{ name = "{name}", file = "news/qrels.{name}.txt" }}' for name in ("human", "judge"))
    (tmp_path / "collection.toml").write_text(f"tracks.news.qrels = [{', '.join(sets)}]\n")
    done = run("evaluate", tmp_path, "-m", "P@2", "--overlay", "human,judge", "--format", "csv")
    assert done.status == 0, done.err
    expected = means(laid_over(HUMAN, JUDGE))
    printed = pl.read_csv(done.out.encode()).select("system", "value").rows()
    assert dict(printed) == pytest.approx(
        {system: value for (system, measure), value in expected.items() if measure.startswith("P")}
    )
    file = tmp_path / "scores.parquet"
    written = run("evaluate", tmp_path, "-m", "P@2", "--overlay", "human,judge", "--out", file)
    assert written.status == 0, written.err
    record = provenance(file)
    assert record is not None
    assert record["eval_policy"]["overlay"] == ["human", "judge"]
    assert record["tracks"]["news"]["qrels"] == "human+judge"
    # a, b and c by people; d, x (people's -1 is no label), e and f by the judge
    assert record["tracks"]["news"]["overlay"] == {"human": 3, "judge": 4}
