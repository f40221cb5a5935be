"""irmeta.testing: `check_measure` accepts valid measures and reports errors of others."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from irmeta import testing
from irmeta.errors import MeasureError
from irmeta.measures.names import registry
from irmeta.measures.spec import Events, Measure, Trace
from irmeta.naming import REL, Parameter
from irmeta.testing import check_measure, samples

pytestmark = pytest.mark.exhaustive

RR = registry()["RR"]


def mutant(**changes: Any) -> Measure:
    """Return RR with a defect, under an unregistered name."""
    return replace(RR, **{"name": "Mine", "events": None, **changes})


def computing(change: Callable[..., np.ndarray], **changes: Any) -> Measure:
    """Return RR with another `compute`: `change` receives its arguments and the RR values."""

    def compute(view, params, ks):
        """RR, changed."""
        return change(view, params, ks, RR.compute(view, params, ks))

    return mutant(compute=compute, **changes)


def test_check_measure__valid_measure_passes_without_registration():
    before = dict(registry())
    check_measure(mutant())
    check_measure(iter([replace(RR, summary="another summary")]))
    assert list(registry().items()) == list(before.items())


def forgets_a_relevant_doc(one, params, k):
    trace = RR.trace(one, params, k)
    return Trace(trace.terms[:-1], trace.divisor, trace.divisor_is, trace.undefined)


def counts_docs_not_retrieved(view, params, ks, values):
    """Unretrieved docs have the largest rank, so larger cutoffs count them."""
    ranks, offsets = view.sorted_ranks(params["rel"])
    first = np.full(view.lengths.shape, np.inf)
    some = np.diff(offsets) > 0
    first[some] = ranks[offsets[:-1][some]]
    deepest = view.facts.deepest_rank
    return np.stack([np.where(first <= (deepest if k is None else k), 1 / first, 0) for k in ks])


def rewards_no_list(view, params, ks, values):
    relevant = view.counts(params["rel"]) > 0
    return values + 0.5 * ((view.lengths == 0) & relevant[:, None])


def always_at_each_doc(view, params):
    ranks, offsets = view.sorted_ranks(params["rel"])
    return Events(ranks, offsets, 1.0 / ranks, lambda ks: np.ones((1, len(view.queries))))


def reads_ties(view, params, ks, values):
    return values * (view.ties[0].min() > 0)


def refuses_every_choice(params, cutoff):
    if params["how"] != "a":
        raise MeasureError("how=a is all there is.")
    return []


HOW = Parameter("how", "a", "how it is done", kind="choice", choices=("a", "b"))
NO_DOCSTRING = computing(lambda view, params, ks, values: values)
NO_DOCSTRING.compute.__doc__ = None

BROKEN = {
    "no summary": (mutant(summary=" "), "it has a summary and a source"),
    "no docstring": (NO_DOCSTRING, "compute has a docstring"),
    "two words": (mutant(name="Mine too"), "its name is one word"),
    "family": (mutant(family="quality"), "its family is utility, recall or count"),
    "bounds that cross": (mutant(bounds=(1.0, 0.0)), "its bounds are the least"),
    "default": (
        mutant(parameters=(replace(HOW, default="c"),)),
        "the default how='c' is not read as itself",
    ),
    "meaning": (mutant(parameters=(REL, replace(HOW, meaning=""))), "how has no meaning"),
    "same parameter twice": (mutant(parameters=(REL, REL)), "parameters have different names"),
    "parameter that cannot be used": (
        mutant(parameters=(REL, HOW), printed=refuses_every_choice),
        "how can be none of ['b']",
    ),
    "name that leaves a parameter out": (mutant(printed=lambda params, cutoff: []), "read again"),
    "need that is not said": (computing(reads_ties), "failed: TypeError"),
    "shape": (computing(lambda view, params, ks, values: values[0]), "not float64 of shape"),
    "cutoffs that depend on others": (
        computing(lambda view, params, ks, values: values[:1].repeat(len(ks), axis=0)),
        "change when other cutoffs are asked for",
    ),
    "NaN": (
        computing(lambda view, params, ks, values: np.where(values == 0, np.nan, values)),
        "NaN although there are relevant docs",
    ),
    "infinity": (computing(lambda view, params, ks, values: values / 0.0), "infinite"),
    "upper bound": (mutant(bounds=(0.0, 0.5)), "is not between 0 and 0.5"),
    "lower bound": (mutant(bounds=(0.2, 1.0)), "is not between 0.2 and 1"),
    "direction": (mutant(direction=-1), "makes the value worse"),
    "constant": (
        computing(lambda view, params, ks, values: 0 * values),
        "no relevant doc that is moved up or put in makes the value better",
    ),
    "monotone": (replace(registry()["P"], monotone=True), "monotone=True, but it is worse than"),
    "not monotone": (mutant(monotone=False), "no value gets worse as the cutoff grows"),
    "no relevant docs": (mutant(no_relevant=math.nan), "without relevant docs the value is 0"),
    "no list": (mutant(empty_list="0.5"), "scores [0.], not empty_list=0.5"),
    "no list that is good": (
        computing(rewards_no_list, empty_list="a half", unjudged=()),
        "a system without a list scores better than 'plain' with one",
    ),
    "cutoff beyond all ranks": (
        computing(counts_docs_not_retrieved),
        "it is worse than Mine@1000000",
    ),
    "trace": (mutant(trace=forgets_a_relevant_doc), "the trace adds up to"),
    "events": (mutant(events=always_at_each_doc), "its events and compute disagree at k = "),
}


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_check_measure__broken_measure_is_reported(name: str):
    measure, said = BROKEN[name]
    with pytest.raises(AssertionError, match=f"^{measure.name}.*: ") as error:
        check_measure(measure)
    assert said in str(error.value)


def test_check_measure__changed_view_is_reported():
    def overwrites(view, params, ks, values):
        view.lengths[0, 0] += 1
        return values

    try:
        with pytest.raises(AssertionError, match="changes the arrays of the view"):
            check_measure(computing(overwrites))
    finally:
        samples.views.cache_clear()


def reciprocal_rank(ranking: list[str], qrels: dict[str, int], k: float | None) -> float:
    """Compute RR naively."""
    for place, doc in enumerate(ranking, 1):
        if qrels.get(doc, 0) >= 1 and (k is None or place <= k):
            return 1 / place
    return 0.0


def test_check_measure__equal_twin_passes():
    check_measure(RR, twin=reciprocal_rank)


def test_check_measure__different_twin_is_reported_with_the_list():
    def of_the_last_rank(ranking, qrels, k):
        return reciprocal_rank(ranking, {d: g for d, g in qrels.items() if g < 4}, k)

    with pytest.raises(AssertionError, match=r"RR@1: .* but the twin says 0\.0, of \['.*grades"):
        check_measure(RR, twin=of_the_last_rank)


def test_check_measure__twin_receives_levels_and_empty_lists():
    seen = set()

    def interpolated(ranking, qrels, level):
        seen.add((level, bool(ranking)))
        relevant = sum(grade >= 1 for grade in qrels.values())
        found, best = 0, 0.0
        for place, doc in enumerate(ranking, 1):
            found += qrels.get(doc, 0) >= 1
            if relevant and found >= int(level * relevant + 0.9):
                best = max(best, found / place)
        return best

    check_measure(registry()["IPrec"], twin=interpolated)
    assert seen == {(level, listed) for level in (0, 0.3, 1) for listed in (True, False)}


def test_check_measure__skip_option_exempts_names():
    wrong = mutant(empty_list="0.5")
    check_measure(wrong, skip={"no list": ".*"})
    with pytest.raises(AssertionError, match="Mine: a system without a list"):
        check_measure(wrong, skip={"no list": r"Mine.*[@(].*"})
    with pytest.raises(ValueError, match=r"no check is named 'no lists'; there are: registration,"):
        check_measure(wrong, skip={"no lists": ".*"})
    with pytest.raises(ValueError, match="a twin goes with one measure"):
        check_measure([RR, wrong], twin=reciprocal_rank)


def test_import_testing__names_missing_hypothesis():
    code = "import sys; sys.modules['hypothesis'] = None; import irmeta, irmeta.cli, irmeta.api; "
    done = subprocess.run(
        [sys.executable, "-c", code + "import irmeta.testing"], capture_output=True, text=True
    )
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.endswith("irmeta.testing needs hypothesis: pip install 'irmeta[test]'")


def test_testing_track__means_by_hand(tmp_path):
    track = testing.Track({"s": {"q": testing.down("a", "é")}}, {"q": {"é": 2, "b": 1}})
    store = track.ingest(tmp_path)
    assert store.means("RR,R@10")["value"].to_list() == [0.5, 0.5]
    assert (track.deepest, track.highest) == (2, 2)
