"""`irmeta trec_eval -R` beside the compiled functions of trec_eval."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from irmeta.cli.trec_eval_command import run as run_trec_eval
from support import compiled_trec_eval
from support.examples import rest_in_ci

FORMS = ("prefs", "qrels_prefs", "qrels_jg")
LEVELS = {"prefs": (0, 0, 1, 2, 2.5), "qrels_prefs": (0, 0, 1, 2, 2.5), "qrels_jg": (-1, 0, 1, 2)}


def judgments(rng: Random, form: str) -> str:
    """Make judgments of one to three groups, in parts that agree where the format has parts."""
    lines = list[str]()
    for query in sorted(rng.sample(("1", "2", "3", "10"), rng.randint(1, 4))):
        for group in rng.choice(("1", "12", "213")):
            level = {doc: rng.choice(LEVELS[form]) for doc in "abcdefg"}
            parts = rng.choice(("x", "x", "xy", "zxy")) if form == "prefs" else "x"
            for part in parts:
                docs = rng.sample("abcdefg", rng.randint(1, 7))
                named = f"{query} {group} {part} " if form == "prefs" else f"{query} {group} "
                lines += [f"{named}{doc} {level[doc]}\n" for doc in docs]
    return "".join(lines)


def ranking(rng: Random) -> str:
    """Make a run with tied scores, docs that nobody judged and a query that nobody judged."""
    lines = list[str]()
    for query in ("1", "10", "2", "3", "9"):
        docs = rng.sample("abcdefguvw", rng.randint(1, 10))
        lines += [f"{query} Q0 {doc} 1 {rng.randint(1, 6)} made\n" for doc in docs]
    return "".join(lines)


@pytest.mark.exhaustive
@pytest.mark.skipif(sys.platform == "win32", reason="needs os.fork")
@pytest.mark.parametrize("seed", rest_in_ci(range(6), [0]))
def test_trec_eval__judgments_of_groups_byte_for_byte(tmp_path: Path, capsysbinary, seed):
    rng, orders, all_asked = Random(seed), list[str](), list[list[str]]()
    for number in range(24):
        form = FORMS[number % 3]
        flags = ["-q", *(flag for flag in ("-c", "-J", "-l2", "-M4", "-M1") if rng.random() < 0.2)]
        qrels, run, out = (tmp_path / f"{name}{number}" for name in ("qrels", "run", "out"))
        qrels.write_text(judgments(rng, form))
        run.write_text(ranking(rng))
        orders.append(f"{form} {''.join(flags)} {out} {qrels} {run}\n")
        measures = "-mqrels_jg" if form == "qrels_jg" else "-mall_prefs"
        all_asked.append([*flags, "-R", form, measures, str(qrels), str(run)])
    program = [sys.executable, compiled_trec_eval.__file__]
    subprocess.run(program, input="".join(orders), text=True, check=True)
    for number, asked in enumerate(all_asked):
        status = run_trec_eval(asked)
        found, err = capsysbinary.readouterr()
        assert (status, err) == (0, b""), asked
        theirs = (tmp_path / f"out{number}").read_bytes()
        assert found.splitlines() == theirs.splitlines(), asked
