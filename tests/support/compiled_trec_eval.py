"""Print what trec_eval prints, by its compiled functions inside the extension of pytrec_eval.

pytrec_eval passes only qrels; its extension also holds the readers and measures of the other
formats of judgments. As a program it reads commands, one a line: `FORMAT OPTIONS OUT QRELS RUN`,
with options as `-qcJ-l2-M4`.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import sys
from ctypes import POINTER, Structure, byref, c_char_p, c_double, c_long, c_void_p


class Options(Structure):
    """`EPI` of trec_eval.h."""

    _fields_ = (
        ("query_flag", c_long),
        ("summary_flag", c_long),
        ("debug_level", c_long),
        ("debug_query", c_char_p),
        ("relation_flag", c_long),
        ("average_complete_flag", c_long),
        ("judged_docs_only_flag", c_long),
        ("num_docs_in_coll", c_long),
        ("relevance_level", c_long),
        ("max_num_docs_per_topic", c_long),
        ("rel_info_format", c_char_p),
        ("results_format", c_char_p),
        ("zscore_flag", c_long),
        ("meas_arg", c_void_p),
    )


class Value(Structure):
    _fields_ = (("name", c_char_p), ("value", c_double))


class Values(Structure):
    """`TREC_EVAL`: the values of a query, or their sums."""

    _fields_ = (
        ("qid", c_char_p),
        ("num_queries", c_long),
        ("values", POINTER(Value)),
        ("num_values", c_long),
        ("max_num_values", c_long),
    )


class Run(Structure):
    _fields_ = (
        ("qid", c_char_p),
        ("run_id", c_char_p),
        ("ret_format", c_char_p),
        ("q_results", c_void_p),
    )


class Runs(Structure):
    _fields_ = (("number", c_long), ("space", c_long), ("each", POINTER(Run)))


class Judged(Structure):
    _fields_ = (("qid", c_char_p), ("rel_format", c_char_p), ("q_rel_info", c_void_p))


class AllJudged(Structure):
    _fields_ = (("number", c_long), ("space", c_long), ("each", POINTER(Judged)))


CALL = ctypes.CFUNCTYPE(ctypes.c_int, c_void_p, c_void_p, c_void_p)
CALCULATE = ctypes.CFUNCTYPE(ctypes.c_int, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p)
ADD = ctypes.CFUNCTYPE(ctypes.c_int, c_void_p, c_void_p, c_void_p, c_void_p)


class Measure(Structure):
    """`TREC_MEAS`: a measure with its functions."""

    _fields_ = (
        ("name", c_char_p),
        ("explanation", c_char_p),
        ("start", CALL),
        ("calculate", CALCULATE),
        ("add", ADD),
        ("average", ADD),
        ("print_query", CALL),
        ("print_all", CALL),
        ("meas_params", c_void_p),
        ("eval_index", c_long),
    )


def evaluate(library: ctypes.CDLL, form: str, flags: str, qrels: str, run: str) -> None:
    """Print each measure of a format to C's standard output, as `main` of trec_eval.c does."""
    options = Options(query_flag=1, summary_flag=1, relation_flag=1, relevance_level=1)
    options.average_complete_flag, options.judged_docs_only_flag = "c" in flags, "J" in flags
    numbers = {part[0]: int(part[1:]) for part in flags.split("-") if part[0:1] in ("l", "M")}
    options.relevance_level = numbers.get("l", 1)
    options.max_num_docs_per_topic = numbers.get("M", sys.maxsize)
    options.rel_info_format, options.results_format = form.encode(), b"trec_results"
    judged, runs = AllJudged(), Runs()
    at = byref(options)
    assert getattr(library, f"te_get_{form}")(at, qrels.encode(), byref(judged)) == 1
    assert library.te_get_trec_results(at, run.encode(), byref(runs)) == 1
    queries = {judged.each[i].qid: judged.each[i] for i in range(judged.number)}
    sums = Values(qid=b"all", values=(Value * 1000)(), max_num_values=1000)
    measures = list[Measure]()
    for i in range(c_long.in_dll(library, "te_num_trec_measures").value):
        place = POINTER(Measure) * (i + 1)
        measure = place.in_dll(library, "te_trec_measures")[i].contents
        is_pref = measure.name.startswith(b"prefs")
        if form == "qrels_jg":
            is_wanted = measure.name.endswith(b"avgjg") and not is_pref
        else:
            is_wanted = is_pref
        if is_wanted or measure.name in (b"runid", b"num_q"):
            measure.start(at, byref(measure), byref(sums))
            measures.append(measure)
    for i in range(runs.number):
        found = runs.each[i]
        if found.qid not in queries:
            continue
        sums.num_queries += 1
        values = (Value * 1000)(*(Value(sums.values[k].name) for k in range(sums.num_values)))
        query = Values(found.qid, 0, values, sums.num_values, 1000)
        for measure in measures:
            of = byref(measure)
            measure.calculate(at, byref(queries[found.qid]), byref(found), of, byref(query))
            measure.print_query(at, of, byref(query))
            measure.add(at, of, byref(query), byref(sums))
    for measure in measures:
        measure.average(at, byref(measure), byref(judged), byref(sums))
        measure.print_all(at, byref(measure), byref(sums))


def main() -> None:
    spec = importlib.util.find_spec("pytrec_eval_ext")
    assert spec is not None
    assert spec.origin is not None
    stdio = ctypes.CDLL(None)
    for line in sys.stdin:
        form, flags, out, qrels, run = line.split()
        if (child := os.fork()) == 0:  # each measure keeps what it read
            os.dup2(os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
            evaluate(ctypes.CDLL(spec.origin), form, flags, qrels, run)
            stdio.fflush(None)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0, line


if __name__ == "__main__":
    main()
