"""`irmeta trec_eval`: trec_eval's command line and output.

It is separate from the other commands and imports little, because scripts call it once per run.
"""

from __future__ import annotations

import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from getopt import GetoptError, gnu_getopt
from pathlib import Path
from typing import TYPE_CHECKING

from irmeta.escapes import print_line
from irmeta.files import discard_output, naming, writing_output

if TYPE_CHECKING:
    from irmeta.measures.trec_eval import TrecEvalOptions

USAGE = """\
Usage: irmeta trec_eval [-q] [-c] [-n] [-l NUM] [-M NUM] [-N NUM] [-J] [-m MEASURE[.PARAMS]]...
                        [-R FORMAT] [-Z FILE] [--version 9|10] QRELS RUN...
"""
HELP = f"""\
{USAGE}
Print what trec_eval 9.0.8 prints, byte for byte. A file may be compressed; - is standard input.

 -q, --query_eval_wanted            Print each query before the summary.
 -c, --complete_rel_info_wanted     Average over all judged queries; missing ones score 0.
 -n, --nosummary                    Print no summary.
 -l, --level_for_rel NUM            Least grade that is relevant (1).
 -M, --Max_retrieved_per_topic NUM  Evaluate only the first NUM docs of each list.
 -N, --Number_docs_in_coll NUM      Docs of the collection, for utility.
 -J, --Judged_docs_only             Remove unjudged docs from the lists.
 -m, --measure MEASURE[.PARAMS]     Measure or official (default), set, all_trec, all_prefs, prefs,
                                    qrels_jg; repeatable.
 -R, --Rel_info_format FORMAT       Format of QRELS: qrels (default); prefs, lines query person
                                    group doc level, and qrels_prefs, both for prefs_*; qrels_jg,
                                    with a person in the second column, for *_avgjg.
 -Z, --Zscore FILE                  Print z-scores by the means and deviations of FILE, lines query
                                    measure mean deviation; -1000000 where it lacks them.
 -o                                 Accepted and ignored, as in trec_eval.
 --version 9|10                     Print what trec_eval 9.0.8 or 10 prints (9).
 -v                                 Print the version.
 -h, --help                         Print this text.

Several runs are printed one after another. Exit status: 0; 1 for arguments, 2 for files that cannot
be read, 4 for a list with a doc twice, 7 if no query is both judged and in the run.

Examples:
  irmeta trec_eval qrels.txt run.txt
  irmeta trec_eval -q -c -m map -m P.5,10 qrels.txt run.gz
  zcat run.gz | irmeta trec_eval -m all_trec qrels.txt -
"""
_LONG = (
    *("help", "version=", "query_eval_wanted", "measure=", "complete_rel_info_wanted"),
    *("level_for_rel=", "nosummary", "Debug_level=", "Judged_docs_only", "Number_docs_in_coll="),
    *("Max_retrieved_per_topic=", "Rel_info_format=", "Results_format=", "Zscore="),
)
_SHORT = {"measure": "m", "level_for_rel": "l", "nosummary": "n", "query_eval_wanted": "q"} | {
    "complete_rel_info_wanted": "c", "Max_retrieved_per_topic": "M", "Number_docs_in_coll": "N",
    "Judged_docs_only": "J", "Debug_level": "D", "Rel_info_format": "R", "Results_format": "T",
    "Zscore": "Z", "help": "h",
}  # fmt: skip
_VERSIONS = {"9": 9, "9.0.8": 9, "10": 10}
ARGUMENTS, FILES = 1, 2


def run(arguments: Sequence[str]) -> int:
    """Run trec_eval's command line; return the exit status."""
    from irmeta.errors import IrmetaError

    try:
        options, files = gnu_getopt(list(arguments), "hvqm:cl:nD:JN:M:R:T:oZ:", list(_LONG))
    except GetoptError as error:
        return _misused(str(error))
    given = [(_SHORT.get(name.lstrip("-"), name.lstrip("-")), value) for name, value in options]
    flags = {name for name, _ in given}
    try:
        if "h" in flags:
            _write(iter([HELP]))
            return 0
        chosen = _chosen(given)
        if "v" in flags:
            print_line(
                f"trec_eval version {'10.0' if chosen.version == 10 else '9.0.8'}", sys.stderr
            )
            return 0
        if len(files) < 2:
            return _misused("name the qrels, and a run")
        measures = [value for name, value in given if name == "m"] or ["official"]
        with ExitStack() as stack:
            qrels, *runs = (_regular(file, stack) for file in files)
            from irmeta.api.trec_eval import trec_eval_each

            shown = {"per_query": "q" in flags, "summary": "n" not in flags}
            for lines in trec_eval_each(qrels, runs, measures, **shown, options=chosen):
                _write(lines)
    except IrmetaError as error:
        return _fail(str(error), getattr(error, "status", FILES))
    except BrokenPipeError:  # the reader, such as `head`, closed the pipe
        discard_output()
        return ARGUMENTS
    except OSError as error:
        return _fail(str(error), FILES)
    return 0


def _chosen(given: Sequence[tuple[str, str]]) -> TrecEvalOptions:
    """Return the options that change values; an unsupported one is a `TrecEvalError`."""
    from irmeta.errors import short
    from irmeta.measures.trec_eval import (
        FORMATS,
        TrecEvalError,
        TrecEvalOptions,
        whole_number,
    )

    values = dict(given)
    for name, known in (("R", FORMATS), ("T", ("trec_results",))):
        if values.get(name, known[0]) not in known:
            raise TrecEvalError(f"-{name} {values[name]} is not one of {', '.join(known)}", FILES)
    if "D" in values:
        raise TrecEvalError("-D is not supported", ARGUMENTS)
    if values.get("version", "9") not in _VERSIONS:
        raise TrecEvalError(f"--version {values['version']} is neither 9 nor 10", ARGUMENTS)
    numbers: dict[str, int] = {}
    for name, least in (("l", 1), ("M", 1), ("N", 0)):
        text = values.get(name)
        if text is not None and not (
            text.isascii() and text.isdigit() and whole_number(text) >= least
        ):
            raise TrecEvalError(
                f"-{name} {short(text)} is not a whole number from {least}", ARGUMENTS
            )
        if text is not None:
            numbers[name] = whole_number(text)
    return TrecEvalOptions(
        version=_VERSIONS[values.get("version", "9")],
        complete="c" in values,
        condensed="J" in values,
        rel=numbers.get("l", 1),
        depth=numbers.get("M"),
        docs=numbers.get("N", 0),
        judgments=values.get("R", "qrels"),
        zscores=values.get("Z"),
    )


def _regular(file: str, stack: ExitStack) -> Path:
    """Return the path of a file; of standard input or a pipe, that of a copy."""
    path = Path(file)
    if file != "-" and not (path.exists() and stat.S_ISFIFO(path.stat().st_mode)):
        return path
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="irmeta-"))
    copy = Path(folder) / ("stdin" if file == "-" else path.name)
    with naming(copy), copy.open("wb") as target:
        if file == "-":
            shutil.copyfileobj(sys.stdin.buffer, target)
        else:
            with path.open("rb") as source:
                shutil.copyfileobj(source, target)
    return copy


def _write(lines: Iterator[str]) -> None:
    """Write lines as UTF-8, those before an error too."""
    written: list[str] = []
    try:
        written.extend(lines)
    finally:
        with writing_output():
            sys.stdout.flush()
            sys.stdout.buffer.write("".join(written).encode())
            sys.stdout.buffer.flush()


def _misused(message: str) -> int:
    status = _fail(message, ARGUMENTS)
    sys.stderr.write(USAGE)
    return status


def _fail(message: str, status: int) -> int:
    print_line(f"irmeta trec_eval: {message}", sys.stderr)
    return status
