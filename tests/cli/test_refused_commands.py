"""Command lines that are refused before anything is printed or written, and why."""

from __future__ import annotations

from pathlib import Path

import pytest

import irmeta
from support.ingesting import put

FILES = {
    "table": "query,a,b\n1,.1,.2\n2,.2,.4\n",
    "run": "1 Q0 a 1 2 s\n",
    "human": "1 0 a 1\n1 0 b 0\n2 0 a 2\n",
    "binary": "1 0 a 1\n1 0 b 0\n2 0 a 1\n",
}
WEB = "STORE -m AP --track web"
TWO = "STORE -m RR,P@1 --track web --baseline heronQE"
LIST = "--track news --query 901 --system aldBM25"
XY = "WORKED --track paper4-x-y --query 1 --system X"
REFUSED = (
    # Options that contradict each other, or lack another.
    (f"evaluate {WEB} --out x.csv --format json", "json: the ending of x.csv is its format"),
    (f"evaluate {WEB} --out x.csv --digits 3", "--digits is for printed output"),
    (f"evaluate {WEB} --out x.json --csv-safe", "--csv-safe applies only to CSV, not to x.json"),
    (f"evaluate {WEB} --format json --csv-safe", "--csv-safe applies only to CSV, not to json"),
    (f"evaluate {WEB} --format json --caption C.", "--caption is for LaTeX and Markdown, not for"),
    (f"evaluate {WEB} --format markdown --label a", "--label is for LaTeX, not for markdown"),
    (f"evaluate {WEB} --format csv --system-names x", "--system-names is for LaTeX and Markdown"),
    (f"evaluate {WEB} --out x.txt", "an output file is .csv, .json, .md, .parquet or .tex"),
    (f"evaluate {WEB} --format jso", "Did you mean 'json'"),
    (f"evaluate {WEB} --judged-at-least 0.5", "--judged-at-least needs --unjudged"),
    (f"compare {WEB} --judged-at-least 0.5", "--judged-at-least needs --unjudged"),
    (f"evaluate {WEB} --draw run", "--draw is for --unjudged"),
    (f"evaluate {WEB} --unjudged --draws 5", "--draws and --seed are for --draw"),
    (f"evaluate {WEB} --unjudged --draw query --wide", "a table of its own"),
    (f"evaluate {WEB} --unjudged --draw query --dask local:2", "omit --per-query, --wide, --dask"),
    (f"compare {WEB} --lost 3", "--lost belongs to a gate: give --max-drop too."),
    (f"compare {WEB} --non-inferior", "--non-inferior belongs to a gate: give --max-drop too."),
    (f"compare {WEB} --max-drop 0.1", "--max-drop needs a baseline: name it by --baseline."),
    (f"compare {WEB} --robust --max-drop 0.01", "--max-drop compares with one system"),
    (f"compare {WEB} --robust --baseline heronQE", "--baseline compares with one system"),
    ("compare TABLE --depth 5", "holds values"),
    ("compare TABLE --strict", "holds values"),
    ("compare TABLE --queries retrieved", "holds values"),
    (f"explain STORE {LIST} -m RPP", "name the other by --baseline"),
    (f"explain STORE {LIST}", "name a measure by -m, or another system by --baseline"),
    (f"explain STORE {LIST} -m RPP(x=1) --baseline aldBM25fb", "no parameter 'x'"),
    (f"explain {XY} -m RPP --baseline Y --figure x.gif", "the ending of a figure"),
    (f"explain {XY} -m AP --figure x.svg", "--figure draws a preference"),
    ("pool STORE --out x.txt", "specify a track: news, passage, web."),
    ("pool STORE --track wob --out x.txt", "has no track 'wob'. Did you mean 'web'?"),
    ("pool STORE --track web --system grebe", "no system 'grebe'. Did you mean 'grebeQL'?"),
    ("pool STORE --track web --pool-depth 2 --budget 3", "`--budget` is for unjudged docs"),
    ("pool RUNS", "name the depth of the pool"),
    ("pool RUNS --pool-depth 2 --budget 3", "--budget needs qrels"),
    ("pool RUNS --pool-depth 2 --negative nonrelevant", "--negative needs qrels"),
    ("pool RUNS --pool-depth 2 --names tag", "--names needs qrels"),
    ("evaluate STORE -m AP --depth 10", "A cutoff such as AP@100 needs no other depth."),
    ("evaluate STORE -m AP --format trec_eval", "name it with --track (news, passage, web)"),
    (f"compare {WEB} --differences q.txt", "a table, .csv or .parquet, or a figure"),
    (f"compare {TWO} --differences q.svg", "two systems by one measure on one track, not"),
    (f"compare {TWO} --max-drop RR=.7", "`--max-drop` has no drop of P@1"),
    (f"compare {TWO} --max-drop RR=.7,P@1=1,AP=.1", "names AP, which is not compared. Known: P@1"),
    (f"compare {TWO} --max-drop RR=.7,recip_rank=.1", "has two drops of RR: give one."),
    (f"compare {TWO} --max-drop RR=.7,P@1", "is neither a number nor MEASURE=NUMBER"),
    (f"compare {TWO} --max-drop RR=-1,P@1=1", "max_drop = '-1' is not a number of at least 0."),
    (f"compare {TWO} --max-drop .1 --max-drop .2", "--max-drop is given 2 times"),
    ("evaluate HUMAN", "name the qrels file, and after it the runs"),
    ("evaluate HUMAN none", "none does not exist"),
    ("evaluate HUMAN RUN --names fiel", "Did you mean 'file'?"),
    ("evaluate HUMAN RUN -m AP --track other", "has no track 'other'"),
    ("agree HUMAN BINARY --rel binray=1", "no set 'binray'. Did you mean 'binary'"),
    ("agree HUMAN BINARY --rel two", "--rel two: 'two' is not a grade"),
    ("agree HUMAN BINARY --rel 1 --rel 2", "another grade is given for all sets"),
    ("agree HUMAN BINARY --per-query --confusion", "exclude each other"),
    ("agree HUMAN BINARY --track news", "--track"),
    ("agree HUMAN none", "none does not exist."),
    ("agree none HUMAN", "none does not exist."),
    # Studies.
    ("study search-length STORE --out x --track newss", "no track 'newss'. Did you mean 'news'?"),
    ("study search-length STORE --out x --baseline type=maual", "Did you mean 'manual'?"),
    ("study search-length STORE --out x --contender team=x", "systems have no fact 'team'"),
    ("study search-length STORE --out x --rel 0", "rel = 0 is not a whole number between 1 and"),
    ("study --quiet search-length STORE --out x", "--quiet before search-length is for the list"),
    ("study --format csv search-length STORE --out x", "--format before search-length is for the"),
    ("study --out x.csv search-length STORE --out x", "--out before search-length is for the list"),
    # Names that options do not have.
    ("info STORE --json", "It is called --format."),
    ("prefer collection --against value", "It is called --baseline."),
    ("ingest collection --store value", "It is called --out."),
    ("pool collection --depth value", "It is called --pool-depth."),
    ("study innovation store --out out --alpha 1", "It is called --rarity-weight."),
)  # fmt: skip


@pytest.mark.parametrize(("line", "said"), REFUSED, ids=[line for line, _ in REFUSED])
def test_commands__refuse_a_line_and_say_why(
    run, made_store: irmeta.Store, collections: Path, worked_examples: Path,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, said: str,
):  # fmt: skip
    monkeypatch.chdir(tmp_path)
    folder = put(tmp_path / "files", FILES)
    places = {"STORE": made_store.path, "RUNS": collections / "news" / "runs"}
    places |= {"WORKED": worked_examples} | {name.upper(): folder / name for name in FILES}
    done = run(*(places.get(word, word) for word in line.split()))
    assert (done.status, done.out) == (2, "")
    assert said in " ".join(done.err.split())
    assert [path.name for path in tmp_path.iterdir()] == ["files"]
