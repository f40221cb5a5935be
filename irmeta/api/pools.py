"""`Store.pools`: docs to judge, unjudged docs, and scores by the pools of fewer contributors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Unpack

import numpy as np
import polars as pl

from irmeta.api.arguments import BudgetOptions, documented
from irmeta.api.budgets import Budgets, simulate
from irmeta.api.opened_store import OpenedStore
from irmeta.errors import UsageError, check_choice, check_whole
from irmeta.measures.drawn_labels import Drawing, check_drawable, drawn_means
from irmeta.measures.evaluate import evaluate_tracks, relevant_in_set, warn_above_highest_grade
from irmeta.measures.names import parse_call, parse_measures
from irmeta.measures.pools import (
    Request,
    UnjudgedDocs,
    complete_depth,
    docs_to_judge,
    parts_of,
    reduced_pools,
    unjudged_docs,
    unjudged_measures,
)
from irmeta.options import check_names
from irmeta.policies import EvalPolicy
from irmeta.policy_keywords import BudgetChoices, EvalChoices, PoolChoices
from irmeta.progress import Progress, reported, shows_progress
from irmeta.rankings.derive.sample import SOURCES, Source, seed_of
from irmeta.rankings.load import judged_ranks
from irmeta.rankings.pool import check_pool_depth
from irmeta.rankings.track import Track
from irmeta.rankings.view import Need, needs_of
from irmeta.schema import result_tables
from irmeta.stats.contributors import left_out_rows
from irmeta.store.scan import Tracks, tracks_of
from irmeta.summaries import SummaryList

LEAVE_OUT = result_tables.LEAVE_OUT.wide()


class StorePools:
    """Docs to judge, and what follows from docs that are unjudged."""

    def __init__(self, store: OpenedStore) -> None:
        self._store, self._reader = store, store.reader

    def to_judge(
        self,
        track: Tracks = None,
        *,
        system: str | Iterable[str] | None = None,
        pool_depth: int | None = None,
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
            `pool_depth`, those that contributed to the pool (all systems if that is unknown).
        pool_depth : int, optional
            All docs, judged and unjudged, that a system ranks at `pool_depth` or above.
        budget : int, optional
            Only so many docs of each track, greatest weights first; not together with `pool_depth`.
        qrels : str, optional
            The qrels set; default the track's first.
        negative : {'unjudged', 'nonrelevant'}, default 'unjudged'
            Grades below 0, as in `EvalPolicy`: such docs are in the pool but unjudged, so they are
            listed again for judging; or they are judged.
        tie_order : str, optional
            Tie order of the lists; default the store's, and ``score-file`` with `pool_depth`.

        Returns
        -------
        DataFrame
            One row per doc of a judged query: track, query, doc, depth (smallest rank in the lists
            of the systems), retrieved_by (number of the systems that retrieve it, up to
            `pool_depth`), weight (sum over these systems), judged, grade (null: not in the
            qrels). Sorted by track and weight, greatest first (to 12 significant digits), then by
            query and doc; with `pool_depth` by track, query and doc, since assessors should not see
            an order of ranks.

        Raises
        ------
        UsageError
            If a name or choice is unknown, `budget` and `pool_depth` are given together, or the
            lists were cut at reading and `pool_depth` or the tie order needs docs below the cut.
        DataError
            If the systems that contributed are known, and none of them is in the store.

        References
        ----------
        .. [1] Moffat, Webber and Zobel (2007). Strategic system comparisons via targeted relevance
           judgments. doi:10.1145/1277741.1277806

        Examples
        --------
        >>> found = store.pools.to_judge("passage", system="merlTiny", budget=2)
        >>> found.select("query", "doc", "weight").rows()
        [('1063750', '744839', 0.128), ('1112341', '3782071', 0.1024)]
        >>> store.pools.to_judge("news", pool_depth=10).select("doc", "depth", "judged").row(0)
        ('NW19990114-0039', 9, True)
        """
        check_names(choices, [*PoolChoices.__annotations__, "pool_depth"])
        for name, value in (("pool_depth", pool_depth), ("budget", budget)):
            if value is not None:
                check_whole(name, value)
        if pool_depth is not None and budget is not None:
            raise UsageError(
                "`budget=` is for unjudged docs by weight, not for a pool of some depth."
            )
        merged = self._store.merged(choices)
        policy = EvalPolicy(**{n: merged[n] for n in PoolChoices.__annotations__ if n in merged})
        systems = [system] if isinstance(system, str) else None if system is None else list(system)
        if systems == []:
            raise UsageError("no system was given: omit `system` for all systems.")
        frames = (
            self._docs_of(opened, systems, pool_depth, budget)
            for opened in self._store.each(track, policy)
        )
        return pl.concat(frames, how="vertical_relaxed")  # grades of a track may be decimal

    def _docs_of(
        self,
        track: Track,
        systems: list[str] | None,
        depth: int | None,
        budget: int | None,
    ) -> pl.DataFrame:
        facts, policy, order = track.facts, track.policy, track.policy.tie_order
        if depth is not None:
            check_pool_depth(depth, facts)
            systems = list(track.pool.systems) if systems is None else systems
            order = order or policy.pool_order
        if systems is not None:
            facts = facts.select(facts.indices(systems))
        order = order or facts.policy["tie_order"]
        request = Request(facts, order, policy.negative, depth, depth is not None, budget)
        docs = docs_to_judge(track.stored, request)
        return docs if depth is None else docs.sort("query", "doc")

    @shows_progress("Evaluating")
    def unjudged(
        self,
        track: Tracks = None,
        *,
        k: int = 20,
        workers: int | None = None,
        progress: Progress = None,
        **choices: Unpack[EvalChoices],
    ) -> list[UnjudgedDocs]:
        """Summarise the unjudged docs of each system and the pairs that they leave undecided.

        A pair of systems is undecided if their means of RBP(p=0.8) differ by less than the mean
        RBPResidual(p=0.8) of the worse system: only then can judgments reverse their order.

        Parameters
        ----------
        track, workers, progress, **choices
            See `Store.evaluate`, which also describes errors.
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
        >>> (web,) = store.pools.unjudged("web")
        >>> web.unjudged.sort("judged_at_10").select("system", "judged_at_10").row(0)
        ('ibisBase', 0.43)
        >>> web.undecided.height, web.pairs
        (25, 66)
        """
        policy = self._store.policy_with(choices)
        specs = parse_measures(unjudged_measures(k))
        collected = EvalPolicy(qrels=policy.qrels)  # with the rel that the collection states
        return SummaryList(
            unjudged_docs(scores, self._store.track(scores.track, collected).facts, k)
            for scores in evaluate_tracks(self._reader, track, specs, policy, workers)
        )

    @shows_progress("Drawing grades")
    def drawn(
        self,
        measures: str | Iterable[str] = "basic",
        track: Tracks = None,
        *,
        source: Source = "query",
        draws: int = 200,
        rng: int | np.random.Generator = 0,
        workers: int | None = None,
        progress: Progress = None,
        **choices: Unpack[EvalChoices],
    ) -> pl.DataFrame:
        """Compute means if unjudged docs are like judged ones, beside condensed lists and bounds.

        The unjudged docs of a list, down to the cutoff of the measure, get grades of judged docs,
        each drawn by itself, and count as judged: in the ideal list of nDCG, for example.

        Parameters
        ----------
        measures : str or iterable of str, default 'basic'
            Names as in `Store.evaluate`, of measures that read only ranks and grades.
        track, workers, progress, **choices
            See `Store.evaluate`.
        source : {'query', 'run'}, default 'query'
            Judged docs whose grades are drawn: all of the query; or those that the list has down to
            the cutoff of the measure, or all of the query where it has none.
        draws : int, default 200
            Number of draws of the grades of all unjudged docs.
        rng : int or numpy.random.Generator, default 0
            Random seed. The draws of a list depend only on it and on the names of its system and
            query.

        Returns
        -------
        DataFrame
            One row per track, system and measure: track, system, measure (and qrels, of several
            sets), value, condensed (under unjudged=condensed), upper (unjudged=upper) and residual
            (upper - value), both NaN for measures without this bound, drawn (mean over the draws
            of the means over queries) with drawn_low and drawn_high (percentiles 2.5 and 97.5 of
            the draws), unjudged (mean number of docs drawn per query).

        Raises
        ------
        UsageError
            If a name or choice is unknown, or a measure has its own treatment of unjudged docs or
            reads more than ranks and grades.

        Notes
        -----
        The bootstrap of Fröbe et al. [1]_, for any measure. The pool of their published code draws
        judged docs that the list lacks, each once; here a grade is put back, so that the expected
        gain of a doc is the mean gain of the judged docs.

        The means hold if the unjudged docs are as relevant as the judged docs of the query, or of
        the list, and the percentiles are no confidence interval of later judgments. Round 5 of
        TREC-COVID judged 2,414 unjudged docs of the top 10 of round 4: 47 % were relevant, and of
        the drawn docs 47 % by ``query`` and 68 % by ``run``, since a list's judged docs are
        those that several lists rank high. The later means lay between the percentiles for 21
        (``query``) and 8 (``run``) of 34 systems.

        References
        ----------
        .. [1] Fröbe et al. (2023). Bootstrapped nDCG estimation in the presence of unjudged
           documents. doi:10.1007/978-3-031-28244-7_20

        Examples
        --------
        >>> found = store.pools.drawn("P@10", "web", system="ibisBase", source="run")
        >>> row = found.select("value", "condensed", "upper", "drawn", "unjudged").row(0)
        >>> [round(value, 2) for value in row]
        [0.2, 0.43, 0.72, 0.46, 5.2]
        """
        check_choice("source", source, SOURCES)
        specs, policy = parse_call(measures, self._store.merged(choices))
        check_drawable(specs, policy)
        drawing = Drawing(source, check_whole("draws", draws), seed_of(rng))
        frames = list[pl.DataFrame]()
        number = len(tracks_of(self._reader, track))
        for opened in reported(self._store.each(track, policy), number, "tracks"):
            sets = opened.by_set()
            for of_set in sets:
                frame = drawn_means(of_set, relevant_in_set(of_set, specs), drawing, workers)
                qrels = pl.lit(of_set.facts.qrels).alias("qrels")
                frames.append(frame.with_columns(qrels) if len(sets) > 1 else frame)
        return pl.concat(frames, how="diagonal")

    @shows_progress("Scoring reduced pools")
    def leave_out(
        self,
        measures: str | Iterable[str],
        *,
        unit: str = "run",
        judgments: str = "pool",
        others: str = "rescored",
        track: Tracks = None,
        workers: int | None = None,
        progress: Progress = None,
        **choices: Unpack[EvalChoices],
    ) -> pl.DataFrame:
        """Score contributing systems by the pool that the other contributors made.

        A collection can judge new systems if its contributors keep their scores and ranks when
        their own contribution is removed from the pool. All systems are scored again by each
        reduced pool.

        Parameters
        ----------
        measures : str or iterable of str
            Names as in `Store.evaluate`, with arithmetic means.
        unit : {'run', 'group', 'type'}, default 'run'
            What is left out at once: one run, or all contributing runs of a group or of a type.
        judgments : {'pool', 'all'}, default 'pool'
            ``pool``: judgments as a pool of depth `pool_depth` would have made them. ``all``: all
            judgments, less the docs that only the left-out runs rank within the depth to which the
            pool is complete.
        others : {'rescored', 'original'}, default 'rescored'
            Means of the other systems when the new ranks are determined: by the reduced pool, or
            by the whole pool.
        track : str or iterable of str, optional
            Only these tracks.
        workers : int, optional
            Number of threads, default the usable cores. No value depends on it.
        progress : bool or callable, optional
            See `irmeta.read`.
        **choices
            Fields of `EvalPolicy`; `system` selects rows, of systems that are left out. Without
            `pool_depth`, the pools have the greatest depth to which
            the pools of all queries are complete. Lu, Moffat and Culpepper use
            ``tie_order="score-file"``.

        Returns
        -------
        DataFrame
            One row per track, left-out part, system of that part and measure: track, level
            (`unit`), left_out, system, measure, judgments, depth (null: all judgments), k (null: no
            cutoff), judged_lost and relevant_lost (docs, over all queries), value (mean by the
            pool of all contributors, as of ``evaluate(pool_depth=depth)``: by all judgments only
            where `depth` is null), value_left_out (mean by the pool without the left-out part),
            delta_percent (NaN where `value` is 0), rank and rank_left_out (among the contributors;
            equal means share the better rank; null: no mean).

        Raises
        ------
        MeasureError
            If a measure is unknown or is not averaged arithmetically.
        UsageError
            If the groups or types are not stated, a part is the whole pool, or the pool of a query
            is complete at no depth and no `pool_depth` is given.

        Notes
        -----
        If a track does not state which systems contributed, all systems are contributors, and the
        result says what would have been if the runs at hand had made the pool.

        References
        ----------
        .. [1] Lu, Moffat and Culpepper (2016), Table 5. doi:10.1007/s10791-016-9282-6
        .. [2] Zobel (1998). How reliable are the results of large-scale information retrieval
           experiments? doi:10.1145/290941.291014

        Examples
        --------
        >>> lost = store.pools.leave_out("AP@10", track="news", pool_depth=10)
        >>> lost.select("left_out", "value", "value_left_out", "rank", "rank_left_out").row(0)
        ('aldBM25', 0.2075554034734946, 0.19989922126866572, 8, 8)
        """
        check_choice("judgments", judgments, ("pool", "all"))
        check_choice("others", others, ("rescored", "original"))
        specs, policy = parse_call(measures, self._store.merged(choices))
        frames = [LEAVE_OUT.empty()]
        for selected in self._store.each(track, policy):
            opened, systems = selected.all_systems, set(selected.systems)
            name, parts = opened.name, parts_of(opened.facts, unit)
            deep = policy.pool_depth if judgments == "pool" else None
            if judgments == "pool" and deep is None:
                deep = complete_depth(opened)
                if deep == 0:
                    raise UsageError(
                        f"track {name!r}: the pool is not complete at any depth; give "
                        f"`pool_depth=`."
                    )
            needs: set[Need] = {*needs_of(specs), "pool"}
            views = list(judged_ranks(opened, needs=needs))
            pools = reduced_pools(views, specs, policy, parts, deep, workers)
            complete = next(pools)
            warn_above_highest_grade(opened, specs)
            about = {"track": name, "level": unit, "judgments": judgments, "depth": deep}
            rows = (
                row | about
                for pool in reported(pools, sum(map(len, parts.values())), "pools")
                for row in left_out_rows(complete, pool, others)
            )
            frames.append(LEAVE_OUT.frame(row for row in rows if row["system"] in systems))
        return pl.concat(frames)

    @documented(BudgetOptions)
    @shows_progress("Simulating orders of judging")
    def budget(
        self,
        measure: str = "AP",
        *,
        budget: int | Iterable[int] = (),
        track: Tracks = None,
        progress: Progress = None,
        **choices: Unpack[BudgetChoices],
    ) -> Budgets:
        """Simulate how many judgments would have been enough, by orders of judging.

        Parameters
        ----------
        measure : str, default 'AP'
            Name of a measure of ranks and grades, averaged arithmetically.
        budget : int or iterable of int, optional
            Numbers of judgments to try, over all queries. Default: 1, 2, 5, 10, 20, 30, 50, 75 and
            100 % of the judged docs of the pool.
        {options}
        track, progress, **choices
            See `Store.evaluate`. With `pool_depth`, lists and judgments end at this rank.

        Returns
        -------
        Budgets
            Frames `budgets` (shares of relevant docs, tau-b, significant pairs kept and false),
            `goals` (least budgets) and, with `teams`, `teams` (ranks that left-out teams lose).

        Raises
        ------
        UsageError
            If a name or choice is unknown, an order lacks what it needs, a budget is beyond the
            pool, or systems are selected.

        Notes
        -----
        ``depth`` judges docs by their smallest rank in a list, ``rbp`` by the weights of
        `to_judge` [1]_, ``judge`` by a judge's labels, and ``random`` in random order, over all
        queries. The others judge equally many docs of each query, one after the other, by the
        labels so far. ``movetofront`` [2]_: the next doc of the list of highest priority, which a
        non-relevant doc (also one judged before) reduces by one and a relevant one sets to the
        greatest; of equal lists that which last yielded a relevant doc. ``hedge`` [3]_: the doc of
        greatest weighted loss, with beta = 0.1. ``maxmean`` and ``thompson`` [4]_: the next doc of
        the list whose posterior Beta(1 + relevant, 1 + non-relevant) has the greatest mean, or
        draw, of the docs that were judged when the list was picked, for ``maxmean`` of the last one
        (the non-stationary form). Equal docs and lists are in random order.

        ``sample`` draws each doc independently with a known probability, proportional to its weight
        in average precision over the lists and equal in sum for the queries. The number of docs is
        the budget on average. Values are estimates as `statAP`: sums of relevant docs over their
        probabilities are unbiased, their ratio by the estimated number of relevant docs only
        nearly so [5]_. Values that a query without a relevant doc leaves undefined count 0.

        References
        ----------
        .. [1] Moffat, Webber and Zobel (2007). doi:10.1145/1277741.1277806
        .. [2] Cormack, Palmer and Clarke (1998). Efficient construction of large test collections.
           doi:10.1145/290941.291009
        .. [3] Aslam, Pavlu and Savell (2003). A unified model for metasearch, pooling, and system
           evaluation. doi:10.1145/956863.956953
        .. [4] Losada, Parapar and Barreiro (2017). Multi-armed bandits for adjudicating documents
           in pooling-based evaluation of information retrieval systems.
           doi:10.1016/j.ipm.2017.04.005
        .. [5] Li and Kanoulas (2017). Active sampling for large-scale information retrieval
           evaluation. doi:10.1145/3132847.3133015
        .. [6] Otero, Parapar and Ferro (2023). How discriminative are your qrels? arXiv:2308.09340
        .. [7] Voorhees (2018). On building fair and reusable test collections using bandit
           techniques. doi:10.1145/3269206.3271766

        Examples
        --------
        >>> found = store.pools.budget(track="news", order=["depth", "rbp"], draws=3)
        >>> found.goals.select("order", "budget", "pool").rows()
        [('depth', 1458, 7292), ('rbp', 729, 7292)]
        """
        fields = BudgetOptions.__dataclass_fields__
        policies: Any = {n: value for n, value in choices.items() if n not in fields}
        options = BudgetOptions.of({n: v for n, v in choices.items() if n in fields})
        budgets = [budget] if isinstance(budget, int) else list(budget)
        for number in budgets:
            check_whole("budget", number)
        policy = self._store.policy_with(policies)
        if policy.system is not None or policy.pool_without:
            raise UsageError(
                "orders of judging are of all systems: omit `system` and `pool_without`; `teams` "
                "leaves teams out of the pool."
            )
        tracks = list(self._store.each(track, policy))
        return simulate(tracks, measure, budgets, options)
