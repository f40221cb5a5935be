"""FirstFound@k: how early in the first k docs the first relevant one is, from 1 down to 0."""

import numpy as np

from irmeta.measures.spec import Measure, Term, Trace
from irmeta.naming import REL


def compute(view, params, ks):
    """(k + 1 - the rank of the first relevant doc) / k; 0 where there is none up to k."""
    ranks, offsets = view.sorted_ranks(params["rel"])  # ascending within a query
    some = np.diff(offsets) > 0
    first = np.full((len(view.queries), len(view.systems)), np.inf)
    first[some] = ranks[offsets[:-1][some]]
    first[first == view.missing] = np.inf  # not retrieved
    return np.stack([np.maximum((k + 1 - first) / k, 0.0) for k in ks])


def trace(one, params, k):
    """The same in plain Python, for `irmeta explain`."""
    first = [doc for doc in one.within(k) if doc[2] >= params["rel"]][:1]
    terms = tuple(Term(*doc, f"{k} + 1 - {doc[0]}", k + 1.0 - doc[0]) for doc in first)
    return Trace(terms, k, "the cutoff k")


FIRST_FOUND = Measure(
    name="FirstFound",
    summary="how early in the first k docs the first relevant one is",
    compute=compute,
    trace=trace,
    source="documentation of irmeta",
    parameters=(REL,),
    cutoff="required",
    family="utility",
)
