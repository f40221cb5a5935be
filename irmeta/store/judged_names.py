"""Names of the judged docs of each query, by which a list is read without numbers for all docs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from irmeta.inputs.columns import bounds_and_bytes, large_strings
from irmeta.kernels.interning import number_judged
from irmeta.kernels.lists import summarize_judged
from irmeta.store.readers import Judgments, TrackNames
from irmeta.trec.numbered_names import SLACK, Names


@dataclass(frozen=True)
class JudgedNames:
    """The names of the docs that `Judgments` judge, in their order.

    Attributes
    ----------
    queries
        The index of each judged query.
    firsts
        int64 [queries + 1]: the first judged doc of each query.
    bounds, content
        The names: int64 [judged docs + 1] and uint8, see irmeta.kernels.interning.
    primary
        See `Judgments`.
    """

    queries: dict[str, int]
    firsts: np.ndarray
    bounds: np.ndarray
    content: np.ndarray
    primary: np.ndarray

    @classmethod
    def of(cls, pool: Judgments, names: TrackNames) -> JudgedNames:
        """Collect the names; all queries of `names` are judged."""
        indices = np.arange(len(names.queries), dtype=np.int32)
        firsts = pool.bounds(indices)
        docs = names.docs.gather(pool.docs(firsts))
        bounds, text = bounds_and_bytes(large_strings(docs))
        content = np.zeros(int(bounds[-1] - bounds[0]) + SLACK, np.uint8)
        content[: len(content) - SLACK] = text[bounds[0] : bounds[-1]]
        queries = dict(zip(names.queries.to_list(), indices.tolist(), strict=True))
        return cls(queries, firsts, bounds - bounds[0], content, pool.primary)

    def number(
        self, queries: np.ndarray, starts: np.ndarray, docs: np.ndarray, names: Names
    ) -> np.ndarray:
        """Return numbers of the docs of lists, judged docs of the query first: int32 by row.

        Unjudged docs are numbered list by list, so that a doc of several lists of a query has
        several numbers.

        Parameters
        ----------
        queries, starts
            By list: index of the query, int64, -1 if it is not judged; and the first row.
        docs
            int32 number in `names` of each row's doc.
        """
        numbers = np.empty(len(docs), np.int32)
        seen = np.full(len(names), -1, np.int64)
        table = self.firsts, self.bounds, self.content
        number_judged(docs, starts, queries, *table, names.table, names.content, seen, numbers)
        return numbers

    def summarize(
        self, queries: np.ndarray, starts: np.ndarray, numbers: np.ndarray
    ) -> tuple[int, int]:
        """Count the rows of lists whose doc the primary set judges, and hash the lists."""
        judged, hashes = list_summaries(
            queries, queries, starts, numbers, self.firsts, self.primary
        )
        return int(judged.sum()), int(hashes.sum())


def list_summaries(
    query: np.ndarray,
    place: np.ndarray,
    starts: np.ndarray,
    numbers: np.ndarray,
    firsts: np.ndarray,
    primary: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the counts and hashes of `irmeta.kernels.lists.summarize_judged`, by list."""
    judged, hashes = np.empty(len(query), np.int64), np.empty(len(query), np.uint64)
    summarize_judged(
        query, place, starts, numbers, firsts, primary, Judgments.NO_GRADE, judged, hashes
    )
    return judged, hashes
