"""`RareTrack`, the tables of its relevant docs, and the hypothetical systems of Figure 1."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import polars as pl

from irmeta.errors import DataError
from irmeta.measures.names import parse_measures
from irmeta.measures.rareness import RareParts, rare_parts
from irmeta.policies import EvalPolicy
from irmeta.rankings.derive.sample import sample_queries
from irmeta.rankings.holders import groups_of, holders_within, number_names
from irmeta.rankings.judged import JudgedRanks
from irmeta.results.scores import Scores
from irmeta.stats.contributors import cluster_order, greedy_cover, jaccard
from irmeta.stats.orders import kendall_tau_b, mean_ranks, round_rows
from irmeta.studies.framework.study import Row
from irmeta.studies.framework.track_view import StudiedTrack, TrackView
from irmeta.studies.papers.innovation import study
from irmeta.studies.papers.innovation.study import InnovationOptions as Options


@dataclass(frozen=True)
class RareTrack(StudiedTrack):
    """A track with the parts of its measures."""

    options: Options
    parts: RareParts  # parts of the means of RareP and RareAP
    # name of the paper's collection with as many systems and queries; None: there is none, or the
    # options change the measures
    collection: str | None

    @classmethod
    def of(cls, track: TrackView, options: Options) -> RareTrack:
        """Read a track once."""
        views = list(track.blocks({"pool"} if track.facts.contributors else ()))
        parts = parts_of(views, options)
        queries = sum(len(view.queries) for view in views)
        is_papers, systems = options.is_papers, len(track.facts.systems)
        collection = study.collection_of(systems, queries) if is_papers else None
        return cls(track.facts, views, options, parts, collection)

    @cached_property
    def scores(self) -> Scores:
        """Values by query of the measures of Tables 1 and 2."""
        return self.evaluate(parse_measures(self.options.scored()))

    @cached_property
    def rare(self) -> np.ndarray:
        """Means of the parts that alpha multiplies: float64 [2, systems]."""
        every = np.ones((1, len(self.facts.systems)), bool)
        return self.parts.rare_sums(every, self.options.rarity, self.options.counted)[:, 0]

    def means(self, alphas: Sequence[float]) -> np.ndarray:
        """Return the means of RareP and RareAP for each alpha: float64 [2, alphas, systems]."""
        weights = np.array(alphas)[:, None]
        return self.parts.plain[:, None] + weights * self.rare[:, None]

    @cached_property
    def docs(self) -> pl.DataFrame:
        """The relevant docs, sorted by query, then doc.

        Columns: query, doc, grade, retrieved_by (S_d), counted (S), rarity; block, row: the doc's
        row in ``views[block]``.
        """
        options, blocks = self.options, list[pl.DataFrame]()
        for block, view in enumerate(self.views):
            rows = view.relevant_rows(options.rel)
            holders = holders_within(view, rows, options.held_to, options.counted_docs)
            query = pl.Series(view.queries, dtype=pl.String)
            columns = {
                "query": query.gather(view.query_of(rows)),
                "doc": view.docs.gather(rows),
                "grade": view.grades[rows],
                "retrieved_by": holders.retrieved_by[:, 0],
                "counted": np.full(len(rows), holders.total[0]),
                "rarity": holders.rarity(options.rarity)[:, 0],
                "block": np.full(len(rows), block),
                "row": rows,
            }
            blocks.append(pl.DataFrame(columns))
        return pl.concat(blocks)

    @property
    def has_groups(self) -> bool:
        """Whether the group of a system is known."""
        return any(self.facts.groups)

    @cached_property
    def groups(self) -> dict[str, list[int]]:
        """The systems of each group, in the order of `RareParts.groups`.

        A system without a group is one of its own, of its name.
        """
        group_of = [*self.facts.groups] or [None] * len(self.facts.systems)
        groups = dict[str, list[int]]()
        for index, (system, group) in enumerate(zip(self.facts.systems, group_of, strict=True)):
            alone = f"{system} (system)" if system in group_of else system
            groups.setdefault(alone if group is None else group, []).append(index)
        return groups


def parts_of(views: Sequence[JudgedRanks], options: Options) -> RareParts:
    """Return the parts of the means over the queries that the options average."""
    policy: EvalPolicy = options.policy
    return rare_parts(views, options.k, options.rel, options.rarity_depth, policy.queries)


def tau_b(order: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Compute tau-b of an order of systems with each of `others` [orders, systems]."""
    return kendall_tau_b(round_rows(order[None]), round_rows(others), False)[0]


def ranks(means: np.ndarray) -> np.ndarray:
    """Rank means [rows, systems], the greatest first; ties share the mean rank."""
    return mean_ranks(round_rows(means))


def docs_by_holders(track: RareTrack) -> pl.DataFrame:
    number = pl.len().alias("docs")
    return track.docs.group_by("retrieved_by", "counted", "rarity").agg(number).sort("retrieved_by")


def rare_grades(track: RareTrack) -> Iterator[Row]:
    docs = track.docs
    if docs.is_empty():
        return
    grades = sorted(docs["grade"].unique())
    ends = sorted({0, 1, *(docs["counted"].item(0) * quarter // 4 for quarter in (1, 2, 3, 4))})
    for low, high in [(0, 0), *((low + 1, high) for low, high in pairwise(ends))]:
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

    They are the named ones, or six at random of those with most different S_d above 0, up to five.
    """
    options, held = track.options, track.docs.filter(pl.col("retrieved_by") > 0)
    if options.examples:
        return sorted(set(options.examples) & {*held["query"]})
    numbers = held.group_by("query").agg(pl.col("retrieved_by").n_unique().clip(0, study.DOCS))
    most = pl.col("retrieved_by") == pl.col("retrieved_by").max()
    enough = numbers.filter(most)["query"].to_list()
    return sorted(sample_queries(enough, min(study.EXAMPLES, len(enough)), options.seed))


def table_4(track: RareTrack) -> Iterator[Row]:
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
        row["printed"] = study.PAPER_RARITY.get((track.collection or "", query, row["doc"]))
    rows = [row for row in of_query if row["printed"]] or of_query
    for i in spaced([row["rarity"] for row in rows], min(study.DOCS, len(rows))):
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
    known = {level: number_names(members) for level, members in levels.items() if any(members)}
    by_level = {  # docs that any system of each number retrieves: bool [docs, numbers]
        level: np.stack([hits[:, numbers == n].any(axis=1) for n in range(len(sizes))], axis=1)
        for level, (numbers, sizes) in known.items()
    }
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


def _only(is_retrieved: np.ndarray) -> np.ndarray:
    """Return which docs one column alone retrieves: bool [docs, columns]."""
    return is_retrieved & (is_retrieved.sum(axis=1) == 1)[:, None]


def _mean_holders(is_retrieved: np.ndarray, holders: np.ndarray) -> np.ndarray:
    """Return the mean number of systems that retrieve the docs of each column; NaN: no docs."""
    docs = is_retrieved.sum(axis=0)
    # sums of integers, so that no order of docs changes them
    return np.divide(holders @ is_retrieved, docs, out=np.full(len(docs), np.nan), where=docs > 0)


def greedy(track: RareTrack) -> Iterator[Row]:
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
    if track.options.figure_query is not None or study.PAPER_QUERY in relevant:
        asked = track.options.figure_query or study.PAPER_QUERY
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
    (view,) = (block.only_queries(query) for block in track.views if query in block.queries)
    frames = list[pl.DataFrame]()
    for hypothetical in (_rare(view, options), _common(view, options)):
        for alpha in options.weights:
            values = hypothetical.plain + alpha * hypothetical.rare
            frame = pl.DataFrame({"value": values[:, -1], "rank": ranks(values)[:, -1]})
            docs = pl.int_range(1, pl.len() + 1)
            frames.append(
                frame.with_columns(made=pl.lit(hypothetical.name), alpha=alpha, docs=docs)
            )
    return pl.concat(frames).with_columns(query=pl.lit(query), systems=len(view.systems) + 1)


def first_places(track: RareTrack, figure: pl.DataFrame) -> pl.DataFrame:
    """Return the table `first_places`, from the table `figure_1`."""
    relevant, rare = relevant_counts(track), figure.filter(made="rare")
    alone = pl.col("docs").filter(pl.col("rank") == 1)
    printed = study.PAPER_FIRST_PLACES if track.options.is_papers else {}
    return rare.group_by("query", "alpha", maintain_order=True).agg(
        relevant=pl.col("query").first().replace_strict(relevant),
        median_relevant=_median(relevant),
        first=alone.min(),
        most=pl.col("docs").max(),
        printed=pl.col("alpha").first().replace_strict(printed, default=None),
    )


class _Made(NamedTuple):
    """RareP of hypothetical systems with 1, 2, ... relevant docs, and of the systems they join."""

    name: str
    # plain, rare: float64 [hypothetical systems, systems + 1]: P@k, and the part that alpha
    # multiplies; the last column is the hypothetical system
    plain: np.ndarray
    rare: np.ndarray


def _rare(view: JudgedRanks, options: Options) -> _Made:
    """Add systems with relevant docs that no other system retrieves.

    More of these docs change no other system, and S_d counts each of them down to its depth.
    """
    held = view.ranks[view.grades >= options.rel]
    new = np.full((1, held.shape[1]), view.missing, held.dtype)
    joined = _joined("rare", view, np.vstack([new, held]), 1, options)
    number = _most_docs(view, options)
    plain, rare = (np.repeat(part, number, axis=0) for part in joined[1:])
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
