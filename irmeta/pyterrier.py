"""Measures of irmeta in PyTerrier and ir_measures: for ``pt.Experiment``, and as a provider.

Needs the extra ``ir-measures``.

>>> from irmeta.pyterrier import measures
>>> measures("ASL@g10, nDCG@10")  # pt.Experiment(systems, topics, qrels, eval_metrics=...)
[ASL@g10, nDCG@10]
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from irmeta.rankings.track import Track

try:
    import ir_measures
    from ir_measures.measures.base import Agg
except ImportError as _error:
    raise ImportError(
        "irmeta.pyterrier needs ir_measures: pip install 'irmeta[ir-measures]'"
    ) from _error

from irmeta.errors import MeasureError
from irmeta.measures.evaluate import evaluate
from irmeta.measures.names import Spec, parse_measure, parse_measures
from irmeta.policies import ReadPolicy
from irmeta.rankings.view import needs_of
from irmeta.results.averages import average
from irmeta.store.memory import read_data
from irmeta.trec.readers.columns import QrelsColumns
from irmeta.trec.readers.given import given_qrels, given_runs

TRACK = "data"


class _Mean(Agg):
    """Mean over queries as irmeta computes it: undefined values are left out."""

    def __init__(self, kind: str) -> None:
        self._kind, self._values = kind, list[float]()

    def add(self, value: float) -> None:
        self._values.append(value)

    def result(self) -> float:
        values = np.array(self._values, np.float64)[None, :, None]
        return float(average(self._kind, values[0], ~np.isnan(values[0]))[0])


class IrmetaMeasure(ir_measures.Measure):
    """A measure of irmeta as an object of ir_measures."""

    NAME: str | None = "irmeta"
    DEFAULT = math.nan  # for a run without rows

    def __init__(self, spec: Spec) -> None:
        super().__init__()
        self.spec = spec

    def __repr__(self) -> str:
        return self.spec.asked

    def aggregator(self) -> Agg:
        """Return the mean over queries of this measure."""
        return _Mean(self.spec.average)


class IrmetaProvider(ir_measures.Provider):
    """Provider that computes ir_measures' measures, and those of `measures`, by irmeta.

    Docs are ordered as by trec_eval 9, and every judged query has a value.
    """

    NAME: str = "irmeta"

    def supports(self, measure: Any) -> bool:
        """Check whether irmeta has a measure."""
        measure.validate_params()
        try:
            _spec_of(measure)
        except MeasureError:
            return False
        return True

    def _evaluator(self, measures: Iterable[Any], qrels: Any) -> ir_measures.Evaluator:
        return _Evaluator(list(measures), qrels)


class _Evaluator(ir_measures.Evaluator):
    """Evaluator of several runs; measures by subtopic read the iterations of qrels."""

    def __init__(self, measures: list[Any], qrels: Any) -> None:
        self._qrels = given_qrels(qrels)
        parts = [part for frame in self._qrels for part in frame.parts]
        judged = [part.frame["query"] for part in parts if isinstance(part, QrelsColumns)]
        super().__init__(measures, {query for queries in judged for query in queries.unique()})
        self._groups: dict[bool, list[tuple[Any, Spec]]] = {}
        for measure in measures:
            spec = _spec_of(measure)
            self._groups.setdefault("subtopics" in needs_of([spec]), []).append((measure, spec))

    def _iter_calc(self, run: Any) -> Iterator[ir_measures.Metric]:
        if hasattr(run, "empty") and run.empty:
            return
        runs = given_runs(run)
        for by_subtopic, group in self._groups.items():
            store, _ = read_data(TRACK, self._qrels, runs, ReadPolicy(subtopics=by_subtopic))
            track = Track.of(store, TRACK)
            scores = evaluate(track, list({spec: spec for _, spec in group}))
            for measure, spec in group:
                values = scores.values[scores.measures.index(spec.name), :, 0].tolist()
                for query, value in zip(scores.queries, values, strict=True):
                    yield ir_measures.Metric(query, measure, value)


def _spec_of(measure: Any) -> Spec:
    return measure.spec if isinstance(measure, IrmetaMeasure) else parse_measure(measure)


def measures(names: str | Iterable[str]) -> list[IrmetaMeasure]:
    """Return measures of irmeta for ``pt.Experiment(eval_metrics=...)`` and ir_measures.

    Parameters
    ----------
    names : str or iterable of str
        See `Store.evaluate`. Columns of an experiment are headed by the names as written.

    Returns
    -------
    list of IrmetaMeasure
        Objects of ir_measures, which can be mixed with its own. `register` is called.

    Raises
    ------
    MeasureError
        If a measure is unknown, or averaged by the difficulty of queries.

    Examples
    --------
    >>> import ir_measures
    >>> run, qrels = {"q": {"d1": 2.0, "d2": 1.0}}, {"q": {"d2": 1}}
    >>> ir_measures.calc_aggregate(irmeta.pyterrier.measures("mrr"), qrels, run)
    {mrr: 0.5}
    """
    specs = parse_measures(names)
    for spec in specs:
        if spec.average == "difficulty":
            raise MeasureError(f"{spec.asked}: ir_measures averages each system by itself.")
    register()
    return [IrmetaMeasure(spec) for spec in specs]


def register(*, first: bool = False) -> IrmetaProvider:
    """Register irmeta as a provider of ir_measures.

    Parameters
    ----------
    first : bool, default False
        Whether irmeta computes every measure that it has; otherwise those that no other installed
        provider computes, such as alpha_nDCG without pyndeval and ERR without Perl.

    Returns
    -------
    IrmetaProvider
        The provider, also ``ir_measures.providers.registry["irmeta"]``.

    Examples
    --------
    >>> import ir_measures
    >>> provider = irmeta.pyterrier.register()
    >>> provider.calc_aggregate([ir_measures.AP], {"q": {"d2": 1}}, {"q": {"d1": 2.0, "d2": 1.0}})
    {AP: 0.5}
    """
    pipeline: list[Any] = ir_measures.DefaultPipeline.providers
    if _PROVIDER in pipeline:
        pipeline.remove(_PROVIDER)
    pipeline.insert(0 if first else len(pipeline), _PROVIDER)
    return ir_measures.providers.register(_PROVIDER)


_PROVIDER = IrmetaProvider()
