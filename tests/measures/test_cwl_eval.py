"""Expected utilities and residuals of cwl_eval 1.0.12, of lists in file order."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import pytest

from support.making import Track, read_qrels, read_run

HALF_A_DIGIT = 0.5e-4 + 1e-9
CUTS = (1, 2, 3, 4, 5, 10)
PERSISTENCES = (0.2, 0.4, 0.8)
MEASURES = (
    *("RR", "NumRet", "AP", "DCG(gain=binary)@5", "DCG(gain=binary)@10"),
    *(f"P@{k}" for k in CUTS),
    *(f"P(unjudged=upper)@{k}" for k in CUTS),
    *(f"{name}(p={p})" for p in PERSISTENCES for name in ("RBP", "RBPResidual")),
)


def utility(name: str, value: dict[str, float]) -> tuple[float, float | None]:
    """Compute the utility and the residual of cwl_eval from irmeta's values of one query.

    cwl_eval counts ranks below the end of a list as unjudged, as `RBPResidual` does; the upper
    bound of P counts only docs in the list. The residual is None where definitions differ.
    """
    measure, _, parameter = name.partition("@")
    if measure == "P":
        k, beyond = int(parameter), max(0.0, int(parameter) - value["NumRet"])
        lower = value[f"P@{k}"]
        return lower, value[f"P(unjudged=upper)@{k}"] - lower + beyond / k
    if measure == "RBP":
        return value[f"RBP(p={parameter},rel=1)"], value[f"RBPResidual(p={parameter})"]
    if measure == "NDCG-k":  # DCG over the sum of the discounts, not over the ideal list
        k = int(parameter)
        most = sum(1 / math.log2(i + 1) for i in range(1, k + 1))
        return value[f"DCG(gain=binary)@{k}"] / most, None
    return value["RR"], None


@pytest.mark.parametrize("run", ["run_plain", "run_ties"])
def test_evaluate__equals_cwl_eval_utilities_and_residuals(shared: Path, tmp_path: Path, run: str):
    folder = shared / "oracles" / "case1_adhoc"
    qrels = read_qrels(folder / "qrels_bin.txt")
    track = Track({"run": read_run(folder / f"{run}.txt")}, qrels)
    values: dict[str, dict[str, float]] = {}
    frame = track.ingest(tmp_path, tie_order="file").evaluate(MEASURES, per_query=True)
    for query, measure, value in frame.select("query", "measure", "value").iter_rows():
        values.setdefault(query, {})[measure] = value
    compared = 0
    with (folder / f"out.cwl_eval.bin.nr.{run}.tsv").open() as file:
        for line in csv.DictReader(file, delimiter="\t"):
            # AP of cwl_eval divides by the relevant docs retrieved; irmeta has no INST.
            if line["Topic"] in values and not line["Metric"].startswith(("INST", "AP")):
                lower, residual = utility(line["Metric"], values[line["Topic"]])
                assert lower == pytest.approx(float(line["EU"]), abs=HALF_A_DIGIT)
                if residual is not None:
                    assert residual == pytest.approx(float(line["ResEU"]), abs=HALF_A_DIGIT)
                compared += 1
    assert compared > 40
