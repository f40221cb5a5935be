"""Relevant docs that systems, groups and types of runs retrieve, alone and together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from irmeta.rankings.holders import number_names
from irmeta.stats.doc_overlap import cluster_order, greedy_cover, jaccard
from irmeta.studies.papers.innovation.rare_track import RareTrack

Row = dict[str, Any]


def found_docs(track: RareTrack) -> np.ndarray:
    """Return which relevant docs each system retrieves within the cutoff: bool [docs, systems]."""
    return track.parts.weights[0] > 0


def contributions(track: RareTrack) -> Iterator[Row]:
    """Yield the rows of the table `contributions`, by system, group and type of run."""
    facts, hits = track.facts, found_docs(track)
    holders, union = hits.sum(axis=1), int(hits.any(axis=1).sum())
    levels: dict[str, Sequence[str | None]] = {
        "system": facts.systems,
        "group": facts.groups,
        "type": facts.types,
    }
    known = {level: number_names(names) for level, names in levels.items() if any(names)}
    by_level = {level: _by_number(hits, *numbered) for level, numbered in known.items()}
    unique_to = {
        f"unique_to_{level}": (hits & _only(by_level[level])[:, known[level][0]]).sum(axis=0)
        for level in ("group", "type")
        if level in known
    }
    nobody = dict.fromkeys(("unique_to_group", "unique_to_type"))
    for level, found in by_level.items():
        numbers, sizes = known[level]
        unique, mean_holders = _only(found).sum(axis=0), _mean_holders(found, holders)
        for number, docs in enumerate(found.sum(axis=0)):
            system = int(np.argmax(numbers == number))
            if (name := levels[level][system]) is None:
                continue
            of_system = {column: count[system] for column, count in unique_to.items()}
            yield {
                "level": level,
                "name": name,
                "systems": sizes[number],
                "found": docs,
                "unique": unique[number],
                **nobody,
                **(of_system if level == "system" else {}),
                "share": docs / union if union else np.nan,
                "mean_rarity": 1.0 - mean_holders[number] / len(facts.systems),
            }


def _by_number(hits: np.ndarray, numbers: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return which docs any system of each number retrieves: bool [docs, numbers]."""
    columns = [hits[:, numbers == number].any(axis=1) for number in range(len(sizes))]
    return np.stack(columns, axis=1)


def _only(found: np.ndarray) -> np.ndarray:
    """Return which docs one column alone retrieves: bool [docs, columns]."""
    return found & (found.sum(axis=1) == 1)[:, None]


def _mean_holders(found: np.ndarray, holders: np.ndarray) -> np.ndarray:
    """Return the mean number of systems that retrieve the docs of each column; NaN: no docs."""
    docs = found.sum(axis=0)
    # sums of integers, so that no order of docs changes them
    return np.divide(holders @ found, docs, out=np.full(len(docs), np.nan), where=docs > 0)


def greedy(track: RareTrack) -> Iterator[Row]:
    """Yield the rows of the table `greedy`."""
    hits = found_docs(track)
    union, covered = int(hits.any(axis=1).sum()), 0
    for place, (system, added) in enumerate(zip(*greedy_cover(hits), strict=True), start=1):
        covered += added
        yield {
            "order": place,
            "system": track.facts.systems[system],
            "added": added,
            "covered": covered,
            "share": covered / union if union else np.nan,
        }


def overlap(track: RareTrack) -> Iterator[Row]:
    """Yield the rows of the table `overlap`: unordered pairs, in the clustered order."""
    found = jaccard(found_docs(track))
    order = cluster_order(found).tolist()
    for a, system_a in enumerate(order):
        for b, system_b in enumerate(order[a + 1 :], start=a + 1):
            yield {
                "place_a": a + 1,
                "place_b": b + 1,
                "system_a": track.facts.systems[system_a],
                "system_b": track.facts.systems[system_b],
                "jaccard": found[system_a, system_b],
            }
