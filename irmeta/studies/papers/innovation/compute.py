"""The tables of one track, with those of added runs and of other judgments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from irmeta.measures.evaluate import evaluate_block
from irmeta.measures.names import parse_measures
from irmeta.measures.rare_parts import RareParts
from irmeta.phrases import count, listed
from irmeta.policies import Counted
from irmeta.rankings.derive.changes import changed, keep_gained, take_rows, take_systems
from irmeta.rankings.derive.fewer_judgments import pool_cut
from irmeta.rankings.holders import groups_of, holders_within
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.pool import POOL_ARRAYS
from irmeta.results.scores import Scores
from irmeta.stats.orders import round_means
from irmeta.studies.framework.study import TableRows, declared_rows
from irmeta.studies.framework.track_view import TrackView
from irmeta.studies.papers.innovation import paper
from irmeta.studies.papers.innovation.options import MARKED, MEASURES, PAPER_QUERY
from irmeta.studies.papers.innovation.options import InnovationOptions as Options
from irmeta.studies.papers.innovation.rare_track import RareTrack, parts_of, ranks, rounded, tau_b
from irmeta.studies.papers.innovation.relevant_docs import example_queries
from irmeta.studies.papers.innovation.tables import TABLES


def relevant_counts(track: RareTrack) -> dict[str, int]:
    """Return the number of relevant docs of each query that has any."""
    return {
        query: number
        for view in track.views
        for query, number in zip(view.queries, view.counts(track.options.rel).tolist(), strict=True)
        if number
    }


def query_of_figure_1(track: RareTrack) -> str | None:
    """Return the query of Figure 1; None if the track has no such query with a relevant doc.

    It is the named one, that of the paper, or the first with the median number of relevant docs.
    """
    relevant = relevant_counts(track)
    if track.options.query is not None or PAPER_QUERY in relevant:
        asked = track.options.query or PAPER_QUERY
        return asked if asked in relevant else None
    middle = _median(relevant)
    return next((query for query, number in relevant.items() if number == middle), None)


def _median(relevant: dict[str, int]) -> int:
    """Return the median number of relevant docs, the lower of two; 0 without queries."""
    numbers = sorted(relevant.values())
    return numbers[(len(numbers) - 1) // 2] if numbers else 0


def figure_1(track: RareTrack, query: str) -> pl.DataFrame:
    """Return the table `figure_1`: hypothetical systems join the others in turn."""
    options = track.options
    (view,) = (one.only_queries(query) for one in track.views if query in one.queries)
    frames = list[pl.DataFrame]()
    for made in (_rare(view, options), _common(view, options)):
        for alpha in options.weights:
            values = made.plain + alpha * made.rare
            frame = pl.DataFrame({"value": values[:, -1], "rank": ranks(values)[:, -1]})
            docs = pl.int_range(1, pl.len() + 1)
            frames.append(frame.with_columns(made=pl.lit(made.name), alpha=alpha, docs=docs))
    return pl.concat(frames).with_columns(query=pl.lit(query), systems=len(view.systems) + 1)


def first_places(track: RareTrack, figure: pl.DataFrame) -> pl.DataFrame:
    """Return the table `first_places`, from the table `figure_1`."""
    relevant, rare = relevant_counts(track), figure.filter(made="rare")
    alone = pl.col("docs").filter(pl.col("rank") == 1)
    printed = paper.FIRST_PLACES if track.options.is_papers else {}
    return rare.group_by("query", "alpha", maintain_order=True).agg(
        relevant=pl.col("query").first().replace_strict(relevant),
        median_relevant=_median(relevant),
        first=alone.min(),
        most=pl.col("docs").max(),
        printed=pl.col("alpha").first().replace_strict(printed, default=None),
    )


class _Made(NamedTuple):
    """RareP of hypothetical systems with 1, 2, ... relevant docs, and of the systems they join.

    Attributes
    ----------
    plain, rare
        float64 [hypothetical systems, systems + 1]: P@k, and the part that alpha multiplies; the
        last column is the hypothetical system.
    """

    name: str
    plain: np.ndarray
    rare: np.ndarray


def _rare(view: JudgedRanks, options: Options) -> _Made:
    """Add systems with relevant docs that no other system retrieves.

    More of these docs change no other system, and S_d counts each of them down to its depth.
    """
    held = view.ranks[view.grades >= options.rel]
    new = np.full((1, held.shape[1]), view.missing, held.dtype)
    one = _joined("rare", view, np.vstack([new, held]), 1, options)
    number = _most_docs(view, options)
    plain, rare = (np.repeat(part, number, axis=0) for part in one[1:])
    docs = np.arange(1, number + 1)
    plain[:, -1] *= docs
    rare[:, -1] *= np.minimum(docs, options.held_to)
    return _Made("rare", plain, rare)


def _common(view: JudgedRanks, options: Options) -> _Made:
    """Add systems with the relevant docs that most systems retrieve, ties by doc."""
    rows = np.flatnonzero(view.grades >= options.rel)
    held = holders_within(view, rows, options.held_to, options.counted_docs).retrieved_by[:, 0]
    keys = list(zip((-held).tolist(), view.docs.gather(rows), strict=True))
    order = sorted(range(len(rows)), key=keys.__getitem__)
    number = min(_most_docs(view, options), len(rows))
    return _joined("common", view, view.ranks[rows[order]], number, options)


def _most_docs(view: JudgedRanks, options: Options) -> int:
    """Return the greatest D: the cutoff, or the length of the track's longest list."""
    return min(options.k, view.facts.deepest_rank)


def _joined(name: str, view: JudgedRanks, held: np.ndarray, number: int, options: Options) -> _Made:
    """Let systems that retrieve the first 1, 2, ... `number` of some docs join the track's in turn.

    `held` has the ranks of relevant docs in the systems of the track: [docs, systems].
    """
    k, depth, systems, missing = options.k, options.held_to, held.shape[1], view.missing
    rank = np.arange(1, len(held) + 1)[:, None]
    joined_ranks = np.where(rank <= np.arange(1, number + 1), rank, missing)
    every = np.hstack([held, joined_ranks])
    groups, sizes = groups_of(view.facts)
    is_pooled = np.zeros(systems + number, bool)
    is_pooled[[*view.facts.contributors, *range(systems, systems + number)]] = True
    weights = (every <= min(k, missing - 1)) / k
    parts = RareParts(
        systems=[*view.systems, *map(str, range(number))],
        plain=weights.sum(axis=0)[None],
        weights=weights[None],
        hits=every <= min(depth, missing - 1),
        groups=np.append(groups, len(sizes) + np.arange(number)),
        pooled=is_pooled,
    )
    members = np.hstack([np.ones((number, systems), bool), np.eye(number, dtype=bool)])
    sums = parts.rare_sums(members, options.rarity, options.counted)[0]
    plain = np.broadcast_to(parts.plain[0], sums.shape)
    plain, rare = (
        np.column_stack([part[:, :systems], np.diagonal(part[:, systems:])])
        for part in (plain, sums)
    )
    return _Made(name, plain, rare)


Row = dict[str, Any]
CLONES, EMPTY = (1, 5, 20), (20, 100)
ALPHA = 1.0
COUNTED: tuple[Counted, ...] = ("systems", "groups", "others")
UNATTACKED = "none"


class Attack(NamedTuple):
    """Runs that a group adds.

    Attributes
    ----------
    target
        Name of the group, or of the system that is a group of its own.
    runs
        Name of the added runs.
    best
        Index of the best system of the group.
    members
        int64 [runs]: how often each run of `Attacks.parts` takes part.
    """

    target: str
    runs: str
    best: int
    members: np.ndarray


@dataclass(frozen=True)
class Attacks:
    """Every attack on a track, beginning with none.

    Attributes
    ----------
    parts
        Parts of the measures, with an empty run of each group, then a spoiler run of each: it
        retrieves the docs that the best system alone retrieves.
    """

    parts: RareParts
    attacks: Sequence[Attack]

    @classmethod
    def of(cls, track: RareTrack) -> Attacks:
        """Make the attacks of each group; the best systems are those by AP."""
        parts, ap = track.parts, round_means(track.parts.plain[1])
        groups, systems, best = parts.groups, len(track.facts.systems), int(np.argmax(ap))
        numbers = np.arange(len(track.groups))
        spoiled = parts.hits[:, best] & (parts.hits.sum(axis=1) == 1)
        empty = np.zeros((len(parts.hits), len(numbers)), bool)
        spoilers = np.repeat(spoiled[:, None], len(numbers), axis=1)
        parts = parts.with_runs(np.hstack([empty, spoilers]), np.tile(numbers, 2))
        nobody = np.append(np.ones(systems, np.int64), np.zeros(2 * len(numbers), np.int64))
        attacks = [Attack(UNATTACKED, UNATTACKED, best, nobody)]
        for number, (target, own) in enumerate(track.groups.items()):
            of_group = own[int(np.argmax(ap[own]))]
            added = [(f"{n} clone{'s' * (n > 1)}", of_group, n) for n in CLONES]
            added += [(f"{n} empty runs", systems + number, n) for n in EMPTY]
            if number != groups[best]:
                added.append(("spoiler", systems + len(numbers) + number, 1))
            for name, run, n in added:
                members = nobody.copy()
                members[run] += n
                attacks.append(Attack(target, name, of_group, members))
        return cls(parts, attacks)


def added_runs(track: RareTrack) -> TableRows:
    """Yield the tables `gaming` and `gaming_effects`."""
    attacks = Attacks.of(track)
    members = np.stack([attack.members for attack in attacks.attacks])
    names = replace(track.options, counted="systems")
    for counted in COUNTED:
        sums = attacks.parts.rare_sums(members, track.options.rarity, counted)
        for measure, plain, rare in zip(MEASURES, track.parts.plain, sums, strict=True):
            values = rounded(plain + ALPHA * rare)
            about = {"counted": counted, "measure": names.name(measure, ALPHA)}
            yield "gaming", _values(track, attacks.attacks, values, about)
            yield "gaming_effects", _effects(track, attacks.attacks, values, plain, about)


def _values(
    track: RareTrack, attacks: Sequence[Attack], values: np.ndarray, about: Row
) -> pl.DataFrame:
    """Return the value and rank of each system after each attack."""
    systems = values.shape[1]
    named = pl.DataFrame({name: [getattr(a, name) for a in attacks] for name in ("target", "runs")})
    rows = named.select(pl.all().repeat_by(systems).explode()).rename({"runs": "attack"})
    return rows.with_columns(
        system=pl.Series([*track.facts.systems]).gather(np.tile(np.arange(systems), len(attacks))),
        value=values.ravel(),
        rank=ranks(values).ravel(),
        **{name: pl.lit(value) for name, value in about.items()},
    )


def _effects(
    track: RareTrack,
    attacks: Sequence[Attack],
    values: np.ndarray,
    plain: np.ndarray,
    about: Row,
) -> Iterator[Row]:
    """Yield the rows of `gaming_effects` of one measure."""
    by_attack, taus, plain_taus = ranks(values), tau_b(values[0], values), tau_b(plain, values)
    rows = zip(attacks, by_attack, taus, plain_taus, strict=True)
    for attack, after, tau, plain_tau in list(rows)[1:]:
        moves = np.abs(after - by_attack[0])
        yield {
            **about,
            "target": attack.target,
            "attack": attack.runs,
            "system": track.facts.systems[attack.best],
            "rank_before": by_attack[0, attack.best],
            "rank_after": after[attack.best],
            "moved": int((moves > 0).sum()),
            "furthest": moves.max(),
            "tau_b": tau,
            "tau_b_plain": plain_tau,
        }


ALPHAS = (0.0, 1.0)


def left_out_groups(track: RareTrack) -> dict[str, list[int]]:
    """Return the systems of each group with a contributor, unless the group is the whole pool."""
    contributors = set(track.facts.contributors)
    return {
        name: systems
        for name, systems in track.groups.items()
        if 0 < len(contributors.intersection(systems)) < len(contributors)
    }


def pool_bias(track: RareTrack) -> Iterator[Row]:
    """Yield the rows of the table `pool_bias`."""
    facts, options = track.facts, track.options
    names = [options.name(measure, alpha) for measure in MEASURES for alpha in ALPHAS]
    before = track.means(ALPHAS).reshape(len(names), -1)
    ranks_before, docs_before = ranks(before), _docs(track.views, options.rel)
    gained = [keep_gained(view) for view in track.views]
    for group, systems in left_out_groups(track).items():
        pools = [view.with_pool(None, _contributing(track, systems)) for view in gained]
        after = _means(track, pools, systems)
        judged, docs = _judged(track, systems)
        ranks_after = ranks(after)
        lost = docs_before - docs
        for row, name in enumerate(names):
            for place, system in enumerate(systems):
                yield {
                    "left_out": group,
                    "system": facts.systems[system],
                    "measure": name,
                    "pooled": facts.pooled[system] if facts.pool_known else None,
                    "value_before": before[row, system],
                    "value_after": after[row, system],
                    "rank_before": ranks_before[row, system],
                    "rank_after": ranks_after[row, system],
                    "judged": judged[place],
                    "judged_lost": lost[0],
                    "relevant_lost": lost[1],
                }


def _contributing(track: RareTrack, systems: Sequence[int]) -> list[str]:
    """Return the names of those of the systems that contributed to the pool."""
    contributing = set(track.facts.contributors).intersection(systems)
    return [track.facts.systems[system] for system in sorted(contributing)]


def _means(track: RareTrack, pools: Sequence[JudgedRanks], systems: Sequence[int]) -> np.ndarray:
    """Compute the means of all systems, where S and S_d count none of `systems`."""
    parts, options = parts_of(pools, track.options), track.options
    members = np.ones((1, len(track.facts.systems)), bool)
    members[0, systems] = False
    rare = parts.rare_sums(members, options.rarity, options.counted, all_scored=True)[:, 0]
    return np.stack([p + a * r for p, r in zip(parts.plain, rare, strict=True) for a in ALPHAS])


def _judged(track: RareTrack, systems: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Leave systems out of the pool; return their mean judged share, and docs as `_docs`."""
    options, blocks, docs = track.options, list[Scores](), np.zeros(2, np.int64)
    specs = parse_measures([f"Judged@{options.k}"])
    for view in track.views:
        cut = pool_cut(view, None, _contributing(track, systems))
        assert cut is not None
        left_out = take_systems(changed(view, **dict.fromkeys(POOL_ARRAYS)), list(systems))
        left_out = take_rows(left_out, np.flatnonzero(cut.is_kept))
        blocks.append(evaluate_block(left_out, specs, options.policy))
        is_counted = view.is_judged, view.grades >= options.rel
        docs += [int((one & cut.is_kept).sum()) for one in is_counted]
    return Scores.concat(blocks).mean_values()[0], docs


def _docs(views: Sequence[JudgedRanks], rel: int) -> np.ndarray:
    """Count the judged and the relevant docs: int64 [2]."""
    return np.sum([(view.is_judged.sum(), view.counts(rel).sum()) for view in views], axis=0)


MOST_FEW = 2
"""The greatest S_d of docs that few systems retrieve."""


def other_labels(track: TrackView, rare: RareTrack) -> TableRows:
    """Yield the tables `label_sets` and `label_confirmations`."""
    primary = track.facts.qrels
    for qrels in (one["name"] for one in track.record["qrels"]):
        if qrels == primary:
            continue
        views = list(track.blocks(qrels=qrels))
        other = replace(rare, views=views, parts=parts_of(views, rare.options))
        yield "label_sets", _orders(rare, other, qrels)
        yield "label_confirmations", _confirmations(rare, other, primary, qrels)
        yield "label_confirmations", _confirmations(other, rare, qrels, primary)


def _orders(one: RareTrack, other: RareTrack, qrels: str) -> Iterator[Row]:
    """Yield the rows of the table `label_sets` of one other set, over the queries of both."""
    common = _averaged(one) & _averaged(other)
    one, other = _only_queries(one, common), _only_queries(other, common)
    pairs = zip(one.options.families(), one.means(MARKED), other.means(MARKED), strict=True)
    for measure, ours, theirs in pairs:
        for alpha, a, b in zip(MARKED, ours, theirs, strict=True):
            yield {
                "qrels": qrels,
                "measure": measure,
                "alpha": alpha,
                "queries": len(common),
                "tau_b": tau_b(a, b[None])[0] if common else np.nan,
            }


def _averaged(rare: RareTrack) -> set[str]:
    """Return the queries that the policy of the options averages."""
    least = 1 if rare.options.policy.queries == "relevant" else 0
    return {
        query
        for view in rare.views
        for query, relevant in zip(view.queries, view.counts(rare.options.rel), strict=True)
        if relevant >= least
    }


def _only_queries(rare: RareTrack, queries: set[str]) -> RareTrack:
    """Return the track with only some queries, in the blocks that have any of them."""
    blocks = [view for view in rare.views if queries.intersection(view.queries)]
    views = [view.only_queries(queries) for view in blocks or rare.views[:1]]
    return replace(rare, views=views, parts=parts_of(views, rare.options))


def _confirmations(one: RareTrack, other: RareTrack, name: str, judged_in: str) -> Iterator[Row]:
    """Yield the rows of the table `label_confirmations` for the relevant docs of `one`."""
    judged = _judged_docs(other.views, one.options.rel)
    docs = one.docs.join(judged, on=["query", "doc"], how="left")
    held, counted = pl.col("retrieved_by"), pl.col("counted")
    buckets = {"none": held == 0, "few": held.is_between(1, MOST_FEW), "many": 2 * held > counted}
    for bucket, is_in in buckets.items():
        of_bucket = docs.filter(is_in)["is_relevant"]
        confirmed = int(of_bucket.sum())
        yield {
            "relevant_in": name,
            "judged_in": judged_in,
            "retrieved_by": bucket,
            "docs": len(of_bucket),
            "confirmed": confirmed,
            "unjudged": of_bucket.null_count(),
            "share": confirmed / len(of_bucket) if len(of_bucket) else np.nan,
        }


def _judged_docs(views: Sequence[JudgedRanks], rel: int) -> pl.DataFrame:
    """Return the judged docs: query, doc, is_relevant."""
    blocks = list[pl.DataFrame]()
    for view in views:
        rows = np.flatnonzero(view.is_judged)
        query = pl.Series(view.queries, dtype=pl.String).gather(view.query_of(rows))
        relevant = view.grades[rows] >= rel
        blocks.append(
            pl.DataFrame({"query": query, "doc": view.docs.gather(rows), "is_relevant": relevant})
        )
    return pl.concat(blocks)


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
        (whole_group,) = (
            n for n, systems in rare.groups.items() if {*facts.contributors} & {*systems}
        )
        track.note(f"group {whole_group} is the complete pool, so it is not left out")
    incomplete = sum(int((view.require("complete_depth") == 0).sum()) for view in rare.views)
    if incomplete:
        queries = count(incomplete, "query", "queries")
        track.note(
            f"for {queries}, the pool is complete to no depth and loses no judgment where a group "
            "is left out of it"
        )
