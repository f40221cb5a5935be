"""Measure five measures at every cutoff to 1,000, and write the table in README.md.

    python benchmarks/bench_curve.py [--repeat 15]

60 systems x 50 queries, from a made view of the shape of TREC-8, in one thread. Beside it the limit
of anything that holds a value for every cutoff, query and system: numpy's running sum over such an
array; and one evaluation at the 1,000 cutoffs as separate measures, for those few it can bear.
"""

from __future__ import annotations

import argparse

import numpy as np
from bench_main_job import write
from synthetic import judged_view
from timing import seconds

from irmeta.measures.curve import add_curve
from irmeta.measures.names import parse_measure
from irmeta.policies import EvalPolicy
from irmeta.rankings.view import replace_arrays

MEASURES = ("AP", "nDCG", "RBP", "ERR", "Q")
SYSTEMS, QUERIES, DEPTH = 60, 50, 1000
SOME = 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=15)
    repeat = parser.parse_args().repeat
    view = judged_view(SYSTEMS, QUERIES, DEPTH)
    ks, policy = np.arange(1, DEPTH + 1), EvalPolicy()
    specs = {name: parse_measure(f"{name}@1") for name in MEASURES}

    def curve_of(name: str) -> None:
        sums = np.zeros((DEPTH, SYSTEMS))
        fresh = replace_arrays(view)  # nothing is left from the call before
        add_curve(fresh, specs[name], ks, policy, sums, np.zeros(sums.shape, np.int64))

    def one_by_one(name: str) -> None:
        spec = specs[name]
        for k in range(1, SOME + 1):
            spec.measure.compute(view, spec.settings, [k])

    dense = np.ones((DEPTH, QUERIES, SYSTEMS))
    ours = {name: 1e3 * seconds(lambda name=name: curve_of(name), repeat) for name in MEASURES}
    apart = {name: 1e3 * seconds(lambda name=name: one_by_one(name), 3) for name in MEASURES}
    limit = 1e3 * seconds(lambda: np.cumsum(dense, axis=0), repeat) * len(MEASURES)
    total = sum(ours.values())
    lines = [
        f"{SYSTEMS} systems x {QUERIES} queries, cutoffs 1 to {DEPTH}, one thread; median of "
        f"{repeat}.",
        "",
        "| measure | at all cutoffs, ms | cutoff by cutoff, ms |",
        "|---|---|---|",
        *(f"| {n} | {ours[n]:.1f} | {apart[n] * DEPTH / SOME:.0f} |" for n in MEASURES),
        f"| all five | {total:.1f} | {sum(apart.values()) * DEPTH / SOME:.0f} |",
        "",
        f"- numpy's running sums over {len(MEASURES)} dense arrays of that shape take {limit:.0f} "
        f"ms, {limit / total:.1f} times as long.",
        f"- Cutoff by cutoff is estimated from the first {SOME}.",
    ]
    text = "\n".join(lines)
    print(text)
    write("curve", text)


if __name__ == "__main__":
    main()
