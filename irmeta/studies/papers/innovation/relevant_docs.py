"""Relevant docs: their rarity and grades, examples, and the systems that retrieve them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from irmeta.errors import DataError
from irmeta.rankings.derive.other_lists import sample_queries
from irmeta.rankings.holders import number_names
from irmeta.stats.contributors import cluster_order, greedy_cover, jaccard
from irmeta.studies.papers.innovation import paper
from irmeta.studies.papers.innovation.options import DOCS, EXAMPLES
from irmeta.studies.papers.innovation.rare_track import RareTrack

Row = dict[str, Any]


def docs_by_holders(track: RareTrack) -> pl.DataFrame:
    """Return the table `docs_by_holders`."""
    number = pl.len().alias("docs")
    return track.docs.group_by("retrieved_by", "counted", "rarity").agg(number).sort("retrieved_by")


def buckets(total: int) -> list[tuple[int, int]]:
    """Return ranges of S_d: 0, 1, and quarters of S above 1."""
    ends = sorted({0, 1, *(total * quarter // 4 for quarter in (1, 2, 3, 4))})
    return [(0, 0), *((low + 1, high) for low, high in pairwise(ends))]


def rare_grades(track: RareTrack) -> Iterator[Row]:
    """Yield the rows of the table `rare_grades`."""
    docs = track.docs
    if docs.is_empty():
        return
    grades = sorted(docs["grade"].unique())
    for low, high in buckets(docs["counted"].item(0)):
        within = docs.filter(pl.col("retrieved_by").is_between(low, high))["grade"]
        for grade in grades:
            of_grade, at_least = (int(of.sum()) for of in (within == grade, within >= grade))
            yield {
                "low": low,
                "high": high,
                "grade": grade,
                "docs": len(within),
                "of_grade": of_grade,
                "share": of_grade / len(within) if len(within) else np.nan,
                "share_at_least": at_least / len(within) if len(within) else np.nan,
            }


def example_queries(track: RareTrack) -> list[str]:
    """Return the queries of Table 4, of those with a relevant doc that is retrieved.

    They are the named ones, or six at random of those whose relevant docs have five different S_d
    above 0; where no query has five, of those with the most.
    """
    options, held = track.options, track.docs.filter(pl.col("retrieved_by") > 0)
    if options.examples:
        return sorted(set(options.examples) & {*held["query"]})
    numbers = held.group_by("query").agg(pl.col("retrieved_by").n_unique().clip(0, DOCS))
    most = pl.col("retrieved_by") == pl.col("retrieved_by").max()
    enough = numbers.filter(most)["query"].to_list()
    return sorted(sample_queries(enough, min(EXAMPLES, len(enough)), options.seed))


def table_4(track: RareTrack) -> Iterator[Row]:
    """Yield the rows of the table `table_4`."""
    chosen = [row for query in example_queries(track) for row in _chosen(track, query)]
    file = track.options.texts
    texts = {} if file is None else read_texts(file, [row["doc"] for row in chosen])
    for row in chosen:
        view = track.views[row["block"]]
        ranks = {
            s: int(r)
            for s, r in zip(view.systems, view.ranks[row["row"]], strict=True)
            if r != view.missing
        }
        held = sorted((rank, s) for s, rank in ranks.items() if rank <= track.options.held_to)
        yield {
            **{
                name: row[name]
                for name in ("query", "doc", "rarity", "retrieved_by", "grade", "printed")
            },
            "best_rank": min(ranks.values(), default=None),
            "median_rank": float(np.median([rank for rank, _ in held])) if held else np.nan,
            "held_by": ", ".join(f"{system} {rank}" for rank, system in held) or None,
            "text": texts.get(row["doc"]),
        }


def _chosen(track: RareTrack, query: str) -> Iterator[Row]:
    """Yield the docs of a query with the paper's rarity; those of the paper, if it has any."""
    of_query = track.docs.filter(pl.col("retrieved_by") > 0, query=query).rows(named=True)
    for row in of_query:
        row["printed"] = paper.RARITY.get((track.collection or "", query, row["doc"]))
    rows = [row for row in of_query if row["printed"]] or of_query
    for i in spaced([row["rarity"] for row in rows], min(DOCS, len(rows))):
        yield rows[i]


def spaced(rarity: Sequence[float], number: int) -> list[int]:
    """Choose the indices of `number` docs of nearly equally spaced rarity, from the greatest down.

    Of each point it is the nearest doc not chosen yet; of equally near docs the first.
    """
    chosen = list[int]()
    for point in np.linspace(max(rarity), min(rarity), number) if number else ():
        left = [i for i in range(len(rarity)) if i not in chosen]
        chosen.append(min(left, key=lambda i: round(abs(rarity[i] - point), 12)))
    return chosen


def read_texts(file: str, docs: Collection[str]) -> dict[str, str]:
    """Read the texts of some docs from a file with a doc, a tab and its text in each line."""
    texts, wanted = dict[str, str](), set(docs)
    try:
        with open(file, encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                content = line.rstrip("\n")
                doc, tab, text = content.partition("\t")
                if not tab:
                    fix = "Write a doc, a tab and its text in each line."
                    raise DataError("no tab", file=file, line=number, value=content, fix=fix)
                if doc in texts:
                    raise DataError("a second text of a doc", file=file, line=number, value=doc)
                if doc in wanted:
                    texts[doc] = text
    except UnicodeDecodeError as error:
        raise DataError("not UTF-8", file=file, fix="Write the texts in UTF-8.") from error
    return texts


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
    for level, is_retrieved in by_level.items():
        numbers, sizes = known[level]
        unique, mean_holders = _only(is_retrieved).sum(axis=0), _mean_holders(is_retrieved, holders)
        for number, docs in enumerate(is_retrieved.sum(axis=0)):
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
    similarity = jaccard(found_docs(track))
    order = cluster_order(similarity).tolist()
    for a, system_a in enumerate(order):
        for b, system_b in enumerate(order[a + 1 :], start=a + 1):
            yield {
                "place_a": a + 1,
                "place_b": b + 1,
                "system_a": track.facts.systems[system_a],
                "system_b": track.facts.systems[system_b],
                "jaccard": similarity[system_a, system_b],
            }
