"""Runs that do not exist: hypothetical systems of Figure 1, and runs that a group adds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from irmeta.measures.rare_parts import RareParts
from irmeta.policies import Counted
from irmeta.rankings.holders import groups_of, holders_within
from irmeta.rankings.judged import JudgedRanks
from irmeta.stats.orders import round_means
from irmeta.studies.framework.study import TableRows
from irmeta.studies.papers.innovation import paper
from irmeta.studies.papers.innovation.options import MEASURES, PAPER_QUERY
from irmeta.studies.papers.innovation.options import InnovationOptions as Options
from irmeta.studies.papers.innovation.rare_track import RareTrack, ranks, rounded, tau_b


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
    made = np.where(rank <= np.arange(1, number + 1), rank, missing)
    every = np.hstack([held, made])
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
