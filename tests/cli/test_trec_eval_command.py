"""`irmeta trec_eval` prints what trec_eval prints, and exits as it does."""

from __future__ import annotations

import gzip
import io
import math
import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
import pytrec_eval

from irmeta.cli.trec_eval_command import run as run_trec_eval
from irmeta.measures.trec_eval import TrecEvalOptions, lines_of
from support import compiled_trec_eval
from support.examples import rest_in_ci

PARAMETERS = (
    "-q -miprec_at_recall..10,.20,.25,.75,.50 -m P.5,7,3 -m recall.20,2000"
    " -m Rprec_mult.5.0,0.2,0.35 -mutility.2,-1,0,0 -m 11pt_avg..25,.5,.75"
    " -mndcg.1=3,2=9,4=4.5 -mndcg_cut.10,20,23.4 -msuccess.2,5,20"
)
OWN_TESTS = {  # output: options, qrels, run
    "out.test": ("", "qrels.test", "results.test"),
    "out.test.a": ("-m all_trec", "qrels.test", "results.test"),
    "out.test.aq": ("-m all_trec -q", "qrels.test", "results.test"),
    "out.test.aqc": ("-m all_trec -q -c", "qrels.test", "results.trunc"),
    "out.test.aqcM": ("-m all_trec -q -c -M100", "qrels.test", "results.trunc"),
    "out.test.aql": ("-m all_trec -mrelstring.20 -q -l2", "qrels.rel_level", "results.test"),
    "out.test.meas_params": (PARAMETERS, "qrels.test", "results.test"),
    "out.test.prefs": ("-m all_prefs -q -R prefs", "prefs.test", "prefs.results.test"),
    "out.test.qrels_prefs": ("-m all_prefs -q -R qrels_prefs", "qrels.test", "results.test"),
    "out.test.qrels_jg": ("-m qrels_jg -q -R qrels_jg", "qrels.123", "results.test"),
    "out.test.aqZ": ("-q -m all_trec -Z zscores_file", "qrels.test", "results.test"),
}


def printed(capsysbinary, *arguments: object) -> tuple[int, bytes, str]:
    status = run_trec_eval([str(argument) for argument in arguments])
    out, err = capsysbinary.readouterr()
    return status, out, err.decode()


def assert_same(out: bytes, expected: bytes) -> None:
    ours, theirs = out.splitlines(keepends=True), expected.splitlines(keepends=True)
    assert [(a, b) for a, b in zip(ours, theirs, strict=True) if a != b] == []


@pytest.mark.one_in(4)
@pytest.mark.parametrize("version", [9, 10])
@pytest.mark.parametrize("out", OWN_TESTS)
def test_trec_eval__own_tests_byte_for_byte(shared, capsysbinary, out, version):
    folder = shared / "oracles" / "trec_eval_tests"
    folder = folder / "v9.0.8" if version == 9 else folder
    options, qrels, run = OWN_TESTS[out]
    options = options.replace("zscores_file", str(folder / "zscores_file"))
    asked = (f"--version={version}", *options.split(), folder / qrels, folder / run)
    status, found, err = printed(capsysbinary, *asked)
    assert (status, err) == (0, "")
    assert_same(found, (folder / out).read_bytes())


@pytest.mark.one_in(2)
@pytest.mark.parametrize("out", ["prefs", "qrels_jg"])
def test_trec_eval__comments_among_judgments_of_groups(shared, capsysbinary, out):
    folder = shared / "oracles" / "trec_eval_tests"
    options, _, run = OWN_TESTS[f"out.test.{out}"]
    qrels = "prefs.comment.test" if out == "prefs" else "qrels.comments.123"
    asked = ("--version=10", *options.split(), folder / qrels, folder / run)
    assert printed(capsysbinary, *asked)[1] == (folder / f"out.test.{out}").read_bytes()


def case1_outputs(shared: Path) -> list[Path]:
    return sorted((shared / "oracles" / "case1_adhoc").glob("out.te*.all_trec"))


def test_trec_eval__case1_byte_for_byte(shared, capsysbinary):
    flags = {"c": ["-c"], "J": ["-J"], "l2": ["-l2"]}
    for file in case1_outputs(shared):
        _, program, qrels, run, *more, _ = file.name.split(".")
        version, expected = (10 if program == "te10" else 9), file.read_bytes()
        asked = [f"--version={version}", "-qmall_trec", *(flags[more[0]] if more else [])]
        if b"relstring_20" in expected:
            asked.append("-mrelstring.20")
        files = (file.parent / f"{name}.txt" for name in (qrels, run))
        status, found, err = printed(capsysbinary, *asked, *files)
        # Without -c, version 10 stops at the first judged query that the run misses.
        stops = version == 10 and run == "run_ties" and not more
        assert status == (4 if stops else 0), file.name
        assert ("trec_eval 10 stops" in err) == stops
        assert_same(found, expected)
    assert len(case1_outputs(shared)) == 24


@pytest.mark.real
def test_trec_eval__official_outputs_of_clef_ehealth(shared, capsysbinary):
    track = shared / "tracks" / "clef-ehealth-2015"
    names = sorted(file.name for file in (track / "official").iterdir())[::8]
    runs = [track / "runs" / name for name in names]
    qrels = track / "qrels.eng.clef2015.qtest.bin.txt"
    status, found, _ = printed(capsysbinary, "-q", qrels, *runs)
    assert status == 0
    official = (gzip.decompress((track / "official" / name).read_bytes()) for name in names)
    assert found == b"".join(official)


QRELS = "1 0 a 1\n1 0 b 0\n2 0 a 2\n2 0 c -1\n"
RUN = "1 Q0 b 1 3 t\n1 Q0 a 2 2 t\n2 Q0 c 1 9 u x\n2 Q0 n 2 8 t\n9 Q0 a 1 1 last more\n"


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "run").write_text(RUN)
    return tmp_path / "qrels", tmp_path / "run"


def test_trec_eval__runid_is_of_the_last_line(files, capsysbinary):
    _, out, _ = printed(capsysbinary, "-mrunid", "-mnum_q", *files)
    assert out == b"runid                 \tall\tlast\nnum_q                 \tall\t2\n"


def test_trec_eval__queries_without_a_summary(files, capsysbinary):
    _, out, _ = printed(capsysbinary, "-nq", "-o", "-m", "relstring", "-m", "gm_map", *files)
    assert out == b"relstring             \t1\t'01'\nrelstring             \t2\t'.-'\n"


EMPTIED_QRELS = "1 0 a 1\n1 0 b 2\n2 0 a 3\n3 0 a 2\n3 0 b 0\n4 0 a 1\n"
EMPTIED_RUN = "1 Q0 x 1 1 t\n2 Q0 x 1 1 t\n2 Q0 a 2 0 t\n3 Q0 b 1 1 t\n"


@pytest.mark.parametrize("level", [1, 2])
def test_trec_eval__judged_docs_only_equals_pytrec_eval(files, capsysbinary, level):
    qrels, run = files
    qrels.write_text(EMPTIED_QRELS)
    run.write_text(EMPTIED_RUN)
    measures = ["iprec_at_recall", "11pt_avg", "map", "P", "set_P", "Rprec"]
    judged = {q: {} for q in "1234"}
    for query, _, doc, grade in (line.split() for line in EMPTIED_QRELS.splitlines()):
        judged[query][doc] = int(grade)
    lists = {"1": {"x": 1.0}, "2": {"x": 1.0, "a": 0.0}, "3": {"b": 1.0}}
    theirs = pytrec_eval.RelevanceEvaluator(
        judged, set(measures), relevance_level=level, judged_docs_only_flag=True
    ).evaluate(lists)
    asked = [f"-m{name}" for name in measures]
    _, out, _ = printed(capsysbinary, "-nqJ", f"-l{level}", *asked, *files)
    ours = [line.split() for line in out.decode().splitlines()]
    assert [text for *_, text in ours] == [
        "-nan" if math.isnan(value := theirs[query][name]) else f"{value:.4f}"
        for name, query, _ in ours
    ]
    assert ["iprec_at_recall_0.00", "1", "-nan"] in ours


def test_trec_eval__mean_of_an_emptied_list_is_nan(files, capsysbinary):
    files[0].write_text(EMPTIED_QRELS)
    files[1].write_text(EMPTIED_RUN)
    _, out, _ = printed(capsysbinary, "-cJ", "-m11pt_avg", *files)
    assert out == b"11pt_avg              \tall\t  -nan\n"


def test_trec_eval__missing_query_is_undefined_only_in_version_10(files, capsysbinary):
    files[0].write_text(EMPTIED_QRELS)
    files[1].write_text("2 Q0 a 2 0 t\n")
    asked = ["-cJ", "-miprec_at_recall.0", *files]
    outputs = [printed(capsysbinary, f"--version={v}", *asked)[1].split()[-1] for v in (9, 10)]
    assert outputs == [b"0.2500", b"-nan"]


def test_trec_eval__nothing_is_unjudged_among_judged_docs_only(files, capsysbinary):
    files[1].write_text("1 Q0 n 1 3 t\n1 Q0 a 2 2 t\n2 Q0 n 1 1 t\n")
    _, out, _ = printed(capsysbinary, "-J", "--version=10", "-munj.5", "-mrbp_resid", *files)
    assert [line.split()[-1] for line in out.splitlines()] == [b"0.0000", b"0.0000"]


@pytest.mark.parametrize(("asked", "number"), [("-l2", b"1"), ("-cl2", b"3"), ("-cl2 10", b"1")])
def test_trec_eval__num_rel_of_all_queries_ignores_the_level_in_version_9(
    files, capsysbinary, asked, number
):
    options, *version = asked.split()
    files[0].write_text("1 0 a 1\n1 0 b 0\n2 0 a 2\n9 0 c 1\n9 0 d -1\n")
    version = [f"--version={one}" for one in version]
    _, out, _ = printed(capsysbinary, options, *version, "-mnum_rel", *files)
    assert out.split()[-1] == number


def test_trec_eval__standard_input_and_several_runs(files, capsysbinary, monkeypatch):
    class Stdin:
        buffer = io.BytesIO(gzip.compress(RUN.encode()))

    monkeypatch.setattr(sys, "stdin", Stdin)
    status, out, _ = printed(capsysbinary, "-m", "map", files[0], "-", files[1])
    assert status == 0
    first, second = out.splitlines()
    assert first == second == b"map                   \tall\t0.2500"


SEVERAL = {
    "run": RUN,
    "ties": "1 Q0 n 1 2 t\n1 Q0 a 2 2 t\n1 Q0 b 3 2 t\n2 Q0 a 1 1 t\n2 Q0 q 2 1 t\n",
    "one query": "1 Q0 a 1 3 t\n",
    "other/run": "1 Q0 a 1 9 other\n2 Q0 c 1 8 other\n",
}
FAULTY = {
    "five columns": "1 Q0 a 1 3\n",
    "twice": "1 Q0 a 1 3 t\n1 Q0 a 2 2 t\n",
    "no query": "9 Q0 a 1 3 t\n",
    "no number": "1 Q0 a 1 x t\n",
    "missing": None,
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("faulty", rest_in_ci([None, *FAULTY], (None, "twice")))
@pytest.mark.parametrize(
    "options",
    [
        "-q -m all_trec",
        "-q -c -m all_trec --version=10",
        "-q -m map -m relstring",
        "-q --version=10",
    ],
)
def test_trec_eval__several_runs_as_one_after_another(files, capsysbinary, options, faulty):
    runs = []
    for name, text in SEVERAL.items():
        runs.append(files[0].parent / "runs" / name)
        runs[-1].parent.mkdir(parents=True, exist_ok=True)
        runs[-1].write_text(text)
    runs.append(runs[0])
    if faulty is not None:
        runs.insert(2, runs[0].with_name(faulty))
        if (text := FAULTY[faulty]) is not None:
            runs[2].write_text(text)
    expected = b""
    for run in runs:
        status, out, error = printed(capsysbinary, *options.split(), files[0], run)
        expected += out
        if status:
            break
    together = printed(capsysbinary, *options.split(), files[0], *runs)
    assert together == (status, expected, error)
    is_zero = faulty == "no query" and "--version=10" in options  # version 10 prints zeros
    assert (status == 0) == (faulty is None or is_zero) or options == "-q --version=10"


@pytest.mark.exhaustive
def test_trec_eval__reads_the_qrels_once_for_runs_that_fit(files, capsysbinary, monkeypatch):
    from irmeta.api import trec_eval as module
    from irmeta.api import trec_eval_reading as reading

    read: list[int] = []

    def track(qrels, runs, policy):
        read.append(len(runs))
        return actual(qrels, runs, policy)

    actual = reading.track_of_files
    monkeypatch.setattr(reading, "track_of_files", track)
    for most, expected in ((1 << 20, [3]), (1, [1, 1, 1])):
        monkeypatch.setattr(module, "MOST_BYTES", most)
        read.clear()
        assert printed(capsysbinary, files[0], *[files[1]] * 3)[0] == 0
        assert read == expected


@pytest.mark.exhaustive
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_trec_eval__named_pipe(files, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    command = "from irmeta.cli import main; main()"
    asked = [sys.executable, "-c", command, "trec_eval", "-m", "map", str(files[0]), str(pipe)]
    with subprocess.Popen(asked, stdout=subprocess.PIPE) as process:
        pipe.write_text(RUN)
        assert process.communicate()[0] == b"map                   \tall\t0.2500\n"


def test_trec_eval__options_that_change_values():
    options = TrecEvalOptions(version=10, rel=2, condensed=True, docs=100)
    asked = ["ndcg", "map", "utility.0,0,0,1", "iprec_at_recall..5"]
    asked += ["rbp.p=0.5", "rbp_resid.p=0.5"]
    names = [line.spec.name for line in lines_of(asked, options) if line.spec is not None]
    assert names == [
        "AP(rel=2,unjudged=condensed)",
        "IPrec(rel=2,trec_eval=10,unjudged=condensed)@0.5",
        "Utility(a=0,b=0,d=1,N=100,rel=2,unjudged=condensed)",
        "nDCG(unjudged=condensed)",
        "RBP(p=0.5,gain=trec_eval10,unjudged=condensed)",
        "RBPResidual(p=0.5,tail=trec_eval10)",
    ]


def test_trec_eval_10__no_query_in_common_is_all_zero_with_c(files, capsysbinary):
    files[1].write_text("9 Q0 a 1 3 t\n9 Q0 b 2 2 last tag\n")
    names = ("runid", "num_q", "num_ret", "map", "P.5")
    asked = ("--version=10", *(f"-m{name}" for name in names))
    status, out, err = printed(capsysbinary, "-c", *asked, *files)
    queries = {line.split()[0] for line in files[0].read_text().splitlines()}
    lines = [line.split() for line in out.decode().splitlines()]
    assert (status, err) == (0, "")
    assert [line[::2] for line in lines] == [
        ["runid", "last"],
        ["num_q", str(len(queries))],
        ["num_ret", "0"],
        ["map", "0.0000"],
        ["P_5", "0.0000"],
    ]
    status, out, _ = printed(capsysbinary, "-q", "-c", "--version=10", "-m", "map", *files)
    assert {line.split()[1] for line in out.decode().splitlines()} == {*queries, "all"}
    status, out, err = printed(capsysbinary, *asked, *files)
    assert (status, out) == (4, b"")
    assert "is not in the run, where trec_eval 10 stops without -c" in err
    status, out, _ = printed(capsysbinary, "-c", *asked, *files, files[1])  # several runs
    assert (status, out.count(b"num_q")) == (0, 2)


def test_trec_eval__help_and_version(capsysbinary):
    status, out, _ = printed(capsysbinary, "-h")
    assert status == 0
    assert b"--Max_retrieved_per_topic NUM" in out
    assert printed(capsysbinary, "-v")[::2] == (0, "trec_eval version 9.0.8\n")
    assert printed(capsysbinary, "-v", "--version=10")[2] == "trec_eval version 10.0\n"
    assert printed(capsysbinary, "qrels")[0] == 1


GROUPS = "1 p a 1\n1 p b 0\n1 q b 2\n1 q c 1\n2 p a 1\n3 q a 0\n"
PREFS = "".join(f"{line[:3]} 0{line[3:]}\n" for line in GROUPS.splitlines())


def lines_of_all(out: bytes) -> dict[str, str]:
    """Return the values for all queries by name."""
    rows = (line.split() for line in out.decode().splitlines())
    return {name: value for name, query, value in rows if query == "all"}


@pytest.mark.exhaustive
def test_trec_eval__means_over_groups_are_those_of_single_groups(files, capsysbinary):
    """Query 1 has AP 1/2 by person p and (1 + 2/3) / 2 by q, query 2 has 0 by p, 3 is missing."""
    qrels, run = files
    qrels.write_text(GROUPS)
    run.write_text("1 Q0 b 1 3 t\n1 Q0 a 2 2 t\n1 Q0 c 3 1 t\n2 Q0 n 1 9 t\n")
    asked = ("-R", "qrels_jg", "-m", "map_avgjg", "-m", "P_avgjg.2", "-mnum_q")
    means = lines_of_all(printed(capsysbinary, *asked, qrels, run)[1])
    ap = ((1 / 2) + (1 + 2 / 3) / 2) / 2
    assert means == {"num_q": "2", "map_avgjg": f"{ap / 2:.4f}", "P_avgjg_2": "0.2500"}
    complete = lines_of_all(printed(capsysbinary, *asked, "-c", qrels, run)[1])
    assert complete == {"num_q": "3", "map_avgjg": f"{ap / 3:.4f}", "P_avgjg_2": "0.1667"}
    strict = lines_of_all(printed(capsysbinary, *asked, "-l2", qrels, run)[1])
    assert strict["map_avgjg"] == "0.2500"


@pytest.mark.parametrize(("version", "all_of_them"), [(9, "3"), (10, "3")])
def test_trec_eval__preferences_of_missing_queries_and_cut_lists(
    files, capsysbinary, version, all_of_them
):
    qrels, run = files
    qrels.write_text(PREFS)
    run.write_text("1 Q0 b 1 3 t\n1 Q0 a 2 3 t\n1 Q0 c 3 1 t\n2 Q0 n 1 9 t\n")
    asked = ("-R", "prefs", "-mprefs", "-c", f"--version={version}")
    means = lines_of_all(printed(capsysbinary, *asked, qrels, run)[1])
    # Of tied docs the first by name is first: a above b, and b above c.
    assert (means["prefs_num_prefs_ful"], means["num_q"]) == ("2", all_of_them)
    assert means["prefs_simp"] == f"{1 / 3:.4f}"
    cut = lines_of_all(printed(capsysbinary, *asked, "-M1", qrels, run)[1])
    assert (cut["prefs_num_prefs_ful"], cut["prefs_num_prefs_ful_ret"]) == ("1", "0")


def test_trec_eval__zscores_and_what_the_file_lacks(files, capsysbinary, tmp_path):
    scores = tmp_path / "z.txt"
    scores.write_text("1 map 0.25 0.5\n2 map 0.5 0\n1 num_ret 2 0\n1 gm_map -1 2\n")
    asked = ("-q", "-Z", scores, "-mmap", "-mnum_ret", "-mgm_map", "-mnum_q", *files)
    lines = printed(capsysbinary, *asked)[1].decode().splitlines()
    assert [line.split() for line in lines] == [
        ["Znum_ret", "1", "0.0000"],
        ["Zmap", "1", "0.5000"],
        ["Znum_ret", "2", "-1000000.0000"],
        ["Zmap", "2", "-1000000.0000"],
        ["Znum_q", "all", "2.0000"],
        ["Znum_ret", "all", "-1000000.0000"],
        ["Zmap", "all", "-499999.7500"],
        ["Zgm_map", "all", "0.0000"],
    ]


HUGE = "9" * 5000


@pytest.mark.parametrize(
    ("options", "qrels", "run", "status", "message"),
    [
        ("-m AP", QRELS, RUN, 1, "illegal measure 'AP'"),
        ("-m rbp", QRELS, RUN, 1, "illegal measure 'rbp'"),
        ("-m dcg", QRELS, RUN, 1, "not implemented"),
        ("-m P.", QRELS, RUN, 1, "improper measure in parameter 'P'"),
        ("-m P.5,5", QRELS, RUN, 2, "duplicate cutoffs"),
        ("-m P.0", QRELS, RUN, 2, "negative cutoff"),
        (f"-m P.{HUGE}", QRELS, RUN, 2, "a cutoff is at least 1 and at most 2147483647"),
        ("-m ndcg.3", QRELS, RUN, 2, "malformed pair parameters"),
        ("-m utility.1", QRELS, RUN, 2, "does not take these parameters"),
        ("-m set_F.1e400", QRELS, RUN, 2, "parameter '1e400' is not finite"),
        (f"-m set_F.{HUGE}", QRELS, RUN, 2, "(5,000 characters)' is not finite"),
        ("-m iprec_at_recall.1e400", QRELS, RUN, 2, "parameter '1e400' is not finite"),
        ("-m relstring.1e400", QRELS, RUN, 2, "parameter '1e400' is not finite"),
        ("-x", QRELS, RUN, 1, "option -x not recognized"),
        ("-l0", QRELS, RUN, 1, "-l 0 is not a whole number from 1"),
        ("--version=11", QRELS, RUN, 1, "neither 9 nor 10"),
        ("", QRELS, "1 Q0 a 1 3\n", 2, "five columns"),
        ("", QRELS, "1 Q0 a 1 x t\n", 2, "line 1"),
        ("", QRELS, "1 Q0 a 1 3 t\n1 Q0 a 2 2 t\n", 4, "duplicate doc in a list"),
        ("", QRELS, "9 Q0 a 1 3 t\n", 7, "none of its queries is judged"),
        ("-R prefs -m map", PREFS, RUN, 4, "measure 'map' needs judgments -R qrels"),
        ("-R prefs", PREFS, RUN, 4, "measure 'num_ret' needs judgments -R qrels"),
        ("-m prefs_simp", QRELS, RUN, 4, "needs judgments -R prefs or -R qrels_prefs"),
        ("-m map_avgjg", QRELS, RUN, 4, "needs judgments -R qrels_jg"),
        ("-R prefs -m prefs", QRELS, RUN, 2, "line 1: 4 fields instead of 5"),
        ("-R pref -m prefs", PREFS, RUN, 2, "is not one of qrels, prefs, qrels_prefs, qrels_jg"),
        ("-R qrels_jg -m map_avgjg", "1 p a 1\n1 p a 0\n", RUN, 2, "has doc a twice in a group"),
        ("-R prefs -m prefs", "1 p 0 a 1\n1 p 0 a 2\n", RUN, 4, "query 1: a doc has two levels"),
        ("-R prefs -m prefs", "8 p 0 a 1\n", RUN, 7, "none of its queries is judged"),
        ("-Z none", QRELS, RUN, 255, "none"),
        ("-Z RUN", QRELS, RUN, 255, "line 1: a line is: query measure mean deviation"),
        ("-M 9223372036854775808", QRELS, RUN, 0, ""),
        *((f"-{option} {HUGE}", QRELS, RUN, 0, "") for option in "MNl"),
    ],
    ids=lambda value: str(value)[:24],
)
def test_trec_eval__exit_statuses(files, capsysbinary, options, qrels, run, status, message):
    for file, text in zip(files, (qrels, run), strict=True):
        file.write_text(text)
    asked = options.replace("RUN", str(files[1])).split()
    result, out, err = printed(capsysbinary, *asked, *files)
    assert (result, out == b"") == (status, status > 0)
    assert message in err
    assert "malformed=" not in err
    assert len(err) < 400 or options == "-x"
    assert "Usage: irmeta trec_eval" in err or options != "-x"


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
