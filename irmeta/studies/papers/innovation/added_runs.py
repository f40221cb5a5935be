"""Values and ranks after a group adds runs to raise its own, or to lower those of others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from irmeta.measures.rare_parts import RareParts
from irmeta.policies import Counted
from irmeta.stats.orders import round_means
from irmeta.studies.framework.study import TableRows
from irmeta.studies.papers.innovation.options import MEASURES
from irmeta.studies.papers.innovation.rare_track import RareTrack, ranks, rounded, tau_b

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
