"""The part of `Store` that asks which docs are unjudged, and what that leaves open."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypedDict, Unpack

import polars as pl

from irmeta.api.pool_tables import PoolTables
from irmeta.api.stored_tables import EvalChoices
from irmeta.errors import UsageError, check_whole
from irmeta.measures.docs_to_judge import Request, docs_to_judge
from irmeta.measures.evaluate import evaluate_tracks
from irmeta.measures.names import parse_measures
from irmeta.measures.unjudged_docs import UnjudgedDocs, unjudged_docs, unjudged_measures
from irmeta.options import check_names
from irmeta.policies import EvalPolicy, Negative, TieOrder
from irmeta.rankings.pool import check_pool_depth, pool_of
from irmeta.rankings.track_facts import track_facts
from irmeta.store.scan import Tracks, tracks_of
from irmeta.summaries import SummaryList


class PoolChoices(TypedDict, total=False):
    """The fields of `EvalPolicy` for pools, as keywords."""

    qrels: str | None
    negative: Negative
    tie_order: TieOrder | None


class UnjudgedTables(PoolTables):
    """Docs to judge, and the judged share of each system's lists."""

    def pool(
        self,
        track: Tracks = None,
        *,
        system: str | Iterable[str] | None = None,
        depth: int | None = None,
        budget: int | None = None,
        **choices: Unpack[PoolChoices],
    ) -> pl.DataFrame:
        """List the unjudged docs of some systems by weight, or the docs of a pool of some depth.

        The weight of a doc is the sum over the systems of (1 - p) p^(rank - 1) with p = 0.8: what
        RBP(p=0.8) of these systems would gain if the doc were relevant.

        Parameters
        ----------
        track : str or iterable of str, optional
            Only these tracks.
        system : str or iterable of str, optional
            Only docs of these systems, ``group=NAME`` or ``type=NAME``. Default: all systems; with
            `depth`, those that contributed to the pool (all systems if that is unknown).
        depth : int, optional
            All docs, judged and unjudged, that a system ranks at `depth` or above.
        budget : int, optional
            Only so many docs of each track, greatest weights first; not together with `depth`.
        qrels : str, optional
            The qrels set; default the track's first.
        negative : {'unjudged', 'nonrelevant'}, default 'unjudged'
            Grades below 0, as in `EvalPolicy`: such docs are in the pool but unjudged, so they are
            listed again for judging; or they are judged.
        tie_order : str, optional
            Tie order of the lists; default the store's, and ``score-file`` with `depth`.

        Returns
        -------
        DataFrame
            One row per doc of a judged query: track, query, doc, depth (smallest rank in the lists
            of the systems), retrieved_by (number of the systems that retrieve it, up to `depth`),
            weight (sum over these systems), judged, grade (null: not in the qrels). Sorted by track
            and weight, greatest first (to 12 significant digits), then by query and doc; with
            `depth` by track, query and doc, since assessors should not see an order of ranks.

        Raises
        ------
        UsageError
            If a name or choice is unknown, `budget` and `depth` are given together, or the lists
            were cut at reading and `depth` or the tie order needs docs below the cut.
        DataError
            If the systems that contributed are known, and none of them is in the store.

        References
        ----------
        .. [1] Moffat, Webber and Zobel (2007). Strategic system comparisons via targeted relevance
           judgments. doi:10.1145/1277741.1277806

        Examples
        --------
        >>> found = store.pool("passage", system="merlTiny", budget=2)
        >>> found.select("query", "doc", "weight").rows()
        [('1063750', '744839', 0.128), ('1112341', '3782071', 0.1024)]
        >>> store.pool("news", depth=10).select("doc", "depth", "judged").row(0)
        ('NW19990114-0039', 9, True)
        """
        check_names(choices, list(PoolChoices.__annotations__))
        for name, value in (("depth", depth), ("budget", budget)):
            if value is not None:
                check_whole(name, value)
        if depth is not None and budget is not None:
            raise UsageError(
                "`budget=` is for unjudged docs by weight, not for a pool of some depth."
            )
        merged = self.merged(choices)
        policy = EvalPolicy(**{n: merged[n] for n in PoolChoices.__annotations__ if n in merged})
        names = [system] if isinstance(system, str) else None if system is None else list(system)
        if names == []:
            raise UsageError("no system was given: omit `system` for all systems.")
        return pl.concat(
            self._pool(name, policy, names, depth, budget) for name in tracks_of(self.reader, track)
        )

    def _pool(
        self,
        track: str,
        policy: EvalPolicy,
        names: list[str] | None,
        depth: int | None,
        budget: int | None,
    ) -> pl.DataFrame:
        facts, order = track_facts(self.reader, track, policy.qrels), policy.tie_order
        if depth is not None:
            check_pool_depth(depth, facts)
            names = list(pool_of(self.reader, track).systems) if names is None else names
            order = order or policy.pool_order
        if names is not None:
            facts = facts.select(facts.indices(names))
        order = order or facts.policy["tie_order"]
        request = Request(facts, order, policy.negative, depth, depth is not None, budget)
        docs = docs_to_judge(self.reader, request)
        return docs if depth is None else docs.sort("query", "doc")

    def unjudged(
        self,
        track: Tracks = None,
        *,
        system: str | list[str] | None = None,
        k: int = 20,
        workers: int | None = None,
        **choices: Unpack[EvalChoices],
    ) -> list[UnjudgedDocs]:
        """Summarise the unjudged docs of each system and the pairs that they leave undecided.

        A pair of systems is undecided if their means of RBP(p=0.8) differ by less than the greater
        of their means of RBPResidual(p=0.8).

        Parameters
        ----------
        track, system, workers, **choices
            See `evaluate`, which also describes errors.
        k : int, default 20
            A second cutoff of the judged share, beside 10.

        Returns
        -------
        list of UnjudgedDocs
            One per track, with the frames `unjudged` and `undecided`.

        References
        ----------
        .. [1] Moffat and Zobel (2008). Rank-biased precision for measurement of retrieval
           effectiveness. doi:10.1145/1416950.1416952

        Examples
        --------
        >>> (web,) = store.unjudged("web")
        >>> web.unjudged.sort("judged_at_10").select("system", "judged_at_10").row(0)
        ('ibisBase', 0.43)
        >>> web.undecided.height, web.pairs
        (25, 66)
        """
        policy = EvalPolicy(**self.merged(choices))
        specs = parse_measures(unjudged_measures(k))
        return SummaryList(
            unjudged_docs(scores, track_facts(self.reader, scores.track, policy.qrels), k)
            for scores in evaluate_tracks(self.reader, track, system, specs, policy, workers)
        )
