"""Write the expected quantities and residuals that cwl_eval computes of drawn lists.

    pip install cwl-eval==1.0.12
    python data_fixtures/make_cwl_oracle.py [--out DIR]

The tests do not need the package: they read `oracles/cwl_eval.csv.gz`. A list is a text, a letter a
doc: u is unjudged, and 0 to 4 are grades, whose gain is a quarter of the grade. Costs of ranks are
all 1, or those of `COSTS` in turn.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import random
from pathlib import Path

import numpy as np
from cwl.ruler import cwl_ruler as cwl

HERE = Path(__file__).parent
COSTS = (1.0, 0.5, 2.0, 4.0, 0.25)
QUANTITIES = ("EU", "ETU", "EC", "ETC", "ED")
MODELS = {
    "INST": cwl.INSTCWLMetric(1.0),
    "INST(T=3)": cwl.INSTCWLMetric(3.0),
    "INSQ": cwl.INSQCWLMetric(1.0),
    "INSQ(T=2.5)": cwl.INSQCWLMetric(2.5),
    "SDCG@1": cwl.NDCGCWLMetric(1),
    "SDCG@10": cwl.NDCGCWLMetric(10),
    "BPM@10": cwl.BPMCWLMetric(1.0, 10),
    "BPM(T=2.5)@4": cwl.BPMCWLMetric(2.5, 4),
    # The program adds hc to T where K is meant, so that only hc=0 is comparable.
    "BPM(limits=moving,hc=0)@8": cwl.BPMDCWLMetric(1, 8, 1.0, 0.0, 0.5),
    "BPM(T=2,limits=moving,hb=0.5,hc=0,gain_med=0.25)@20": cwl.BPMDCWLMetric(2, 20, 0.5, 0.0, 0.25),
    "NERR8@10": cwl.NERReq8CWLMetric(10),
    "NERR9@10": cwl.NERReq9CWLMetric(10),
    "NERR10": cwl.NERReq10CWLMetric(0.9),
    "NERR10(p=0.5)": cwl.NERReq10CWLMetric(0.5),
    "NERR11(T=2)": cwl.NERReq11CWLMetric(2.0),
    "CWL": cwl.RBPCWLMetric(0.8),
    "CWL(model=P,K=5)": cwl.PrecisionCWLMetric(5),
    "CWL(model=RR)": cwl.RRCWLMetric(),
    "CWL(model=AP)": cwl.APCWLMetric(),
}
LISTS = ("4", "0", "u", "0u41", "20u34", "u1uu20u34u", "01230", "4444", "uuuuuuuuuuuu1")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=HERE / "oracles")
    out: Path = parser.parse_args().out
    rng, text = random.Random(5), io.StringIO()
    drawn = ["".join(rng.choices("uu0001234", k=rng.randint(5, 60))) for _ in range(6)]
    table = csv.writer(text, lineterminator="\n")
    table.writerow(("list", "costs", "measure", "quantity", "lower", "residual"))
    for docs in (*LISTS, *drawn):
        gains = np.array([np.nan if doc == "u" else int(doc) / 4 for doc in docs])
        for costs in ("1", "given"):
            paid = [COSTS[i % 5] if costs == "given" else np.nan for i in range(len(docs))]
            for name, metric in MODELS.items():
                metric.residuals = True
                metric.measure(cwl.Ranking("q", gains, np.array(paid)))
                residuals = (
                    metric.residual_expected_utility,
                    metric.residual_expected_total_utility,
                    metric.residual_expected_cost,
                    metric.residual_expected_total_cost,
                    metric.residual_expected_items,
                )
                for row in zip(QUANTITIES, metric.get_scores(), residuals, strict=True):
                    table.writerow((docs, costs, name, *(row[:1]), *(f"{v:.12g}" for v in row[1:])))
    out.mkdir(exist_ok=True)
    (out / "cwl_eval.csv.gz").write_bytes(gzip.compress(text.getvalue().encode(), mtime=0))


if __name__ == "__main__":
    main()
