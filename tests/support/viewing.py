"""Views of small tracks, and their comparison by the values of many measures."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np

import irmeta
from irmeta.errors import MeasureError
from irmeta.measures.evaluate import evaluate_block
from irmeta.measures.names import Spec, parse_measure, registry
from irmeta.measures.spec import Measure
from irmeta.policies import EvalPolicy
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.load import judged_ranks

NEEDS = ("ties", "pool", "retrieved")
PARAMETERS = (
    *("", "ties=share", "norm=pool", "ideal=pool", "norm=min"),
    *("unjudged=condensed", "unjudged=upper", "rel=2", "unretrieved=depth"),
)


def is_by_subtopic(measure: Measure) -> bool:
    """Check whether a measure reads judgments by subtopic."""
    return "subtopics" in measure.needs({p.name: p.default for p in measure.all_parameters})


def _specs() -> list[Spec]:
    """Return all measures with parameters that read different arrays, with and without a cutoff.

    Measures of subtopics are left out: the views have no subtopics.
    """
    specs = set()
    ad_hoc = [m for m in registry().values() if not is_by_subtopic(m)]
    for measure, inside, cut in product(ad_hoc, PARAMETERS, ("", "1", "3")):
        at = cut and f"@{measure.cutoff_prefix}{cut}"
        try:
            specs.add(parse_measure(measure.name + (inside and f"({inside})") + at))
        except MeasureError:
            continue
    return sorted(specs, key=lambda spec: spec.name)


SPECS = _specs()


def view_of(store: irmeta.Store, *needs: str, **choices: str) -> JudgedRanks:
    """Return the only block of a small track."""
    (view,) = judged_ranks(store.track("t", EvalPolicy(**choices)), needs=needs)
    return view


def specs_without(*needs: str) -> list[Spec]:
    return [s for s in SPECS if not set(s.measure.needs(s.settings)) & set(needs)]


def assert_equal_values(
    view: JudgedRanks, expected: JudgedRanks, specs: list[Spec], **facts: int
) -> None:
    """Compare measures on the queries of both views, with the highest grade of the derived view."""
    known = {"highest_grade": view.facts.highest_grade, **facts}
    expected = replace(expected, facts=replace(expected.facts, **known))
    view = view.only_queries(expected.queries)
    assert (view.queries, tuple(view.systems)) == (expected.queries, tuple(expected.systems))
    one, two = (evaluate_block(v, specs, EvalPolicy()).values for v in (view, expected))
    for spec, left, right in zip(specs, one, two, strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-12, atol=1e-13, err_msg=spec.name)
