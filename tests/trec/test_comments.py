"""Lines that begin with #: comments, rows of queries with such ids, or rows commented out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import irmeta
from irmeta.cli.trec_eval_command import run as run_trec_eval
from support.parsing import parse, rows

QRELS = "news 0 d1 1\n#covid 0 d1 1\n#jazz 0 d2 1\n"
RUN = "news Q0 x 1 9 s\nnews Q0 d1 2 8 s\n#covid Q0 d1 1 9 s\n#jazz Q0 d2 1 9 s\n"
JUDGED = {"news": {"d1": 1}, "#covid": {"d1": 1}, "#jazz": {"d2": 1}}
RANKED = {"news": {"x": 9, "d1": 8}, "#covid": {"d1": 9}, "#jazz": {"d2": 9}}
AS_ROWS = "lines that begin with # read as rows: 2"
QRELS_FORMS = {
    "trec": QRELS,
    "only": QRELS.replace("news 0", "#news 0"),
    "three columns": "#covid d1 1\n#jazz d2 1\nnews d1 1\n",
    "csv": "query_id,doc_id,relevance\nnews,d1,1\n#covid,d1,1\n#jazz,d2,1\n",
    "json": json.dumps(JUDGED),
}
RUN_FORMS = {
    "trec": RUN,
    "first": "".join(reversed(RUN.splitlines(keepends=True))),
    "five columns": RUN.replace(" s\n", "\n"),
    "msmarco": "#covid d1 1\nnews x 1\nnews d1 2\n#jazz d2 1\n",
    "msmarco scores": "#covid d1 1 9\nnews x 1 9\nnews d1 2 8\n#jazz d2 1 9\n",
    "scores": "#covid d1 1.5\nnews x 9\nnews d1 8\n#jazz d2 .5\n",
    "tsv": "qid\tdocid\tscore\n#covid\td1\t1.5\nnews\tx\t9\nnews\td1\t8\n#jazz\td2\t1\n",
    "json": json.dumps(RANKED),
}
TEXT = (
    "trec",
    "first",
    "only",
    "three columns",
    "five columns",
    "msmarco",
    "msmarco scores",
    "scores",
)


def written(folder: Path, **texts: str) -> list[str]:
    for name, text in texts.items():
        (folder / name).write_text(text)
    return [str(folder / name) for name in texts]


def rr(qrels: str, run: str, **choices: str) -> dict[str, float]:
    found = irmeta.evaluate(qrels, run, "RR", per_query=True, **choices)
    return dict(found.select("query", "value").iter_rows())


@pytest.mark.filterwarnings("ignore:.*begin with #")
@pytest.mark.parametrize("form", RUN_FORMS)
def test_comments__runs_of_all_forms_keep_queries_that_begin_with_hash(form, tmp_path):
    qrels, run = written(tmp_path, q=QRELS, r=RUN_FORMS[form])
    assert rr(qrels, run) == {"news": 0.5, "#covid": 1, "#jazz": 1}
    notes = irmeta.read_files(qrels, [run]).systems()["notes"][0] or ""
    assert (AS_ROWS in notes) == (form in TEXT)


@pytest.mark.parametrize("form", QRELS_FORMS)
def test_comments__qrels_of_all_forms_keep_queries_that_begin_with_hash(form, tmp_path, recwarn):
    qrels, run = written(tmp_path, q=QRELS_FORMS[form], r=json.dumps(RANKED))
    found = rr(qrels, run)
    news = "#news" if form == "only" else "news"
    assert found == {news: 0 if form == "only" else 0.5, "#covid": 1, "#jazz": 1}
    said = " ".join(str(one.message) for one in recwarn)
    assert ("lines that begin with # read as rows: " in said) == (form in TEXT)


@pytest.mark.filterwarnings("ignore:.*begin with #")
def test_comments__skip_leaves_the_lines_out(tmp_path):
    qrels, run = written(tmp_path, q=QRELS, r=RUN)
    assert rr(qrels, run, comments="skip") == {"news": 0.5}
    store = irmeta.read_files(qrels, [run], comments="skip")
    assert "left out as comments, with the fields of a row: 2" in store.systems()["notes"][0]
    assert store.warnings("q")["rows"].startswith(qrels[-1])


@pytest.mark.parametrize(
    "comment",
    [
        "# qrels of round 1",
        "#comment",
        "#",
        "# qid docno 1",
        "# topics judged 2024",
        "# ir_metadata.start\n# # platform:\n#   hardware:\n# ir_metadata.end",
        "#qid 0 docno grade",
        "#qid Q0 docno rank score tag",
        "#qid Q0 docno 1 score tag",
    ],
)
def test_comments__real_comments_stay_comments(comment, tmp_path):
    qrels, run = written(tmp_path, q=f"{comment}\n1 0 d 1\n", r=f"{comment}\n1 Q0 d 1 9 s\n")
    assert rr(qrels, run) == {"1": 1}
    store = irmeta.read_files(qrels, [run])
    assert (store.systems()["notes"][0], store.warnings("q")) == (None, {})


OUT_QRELS, OUT_RUN = "1 0 a 1\n#1 0 b 1\n2 0 c 1\n", "1 Q0 b 1 9 s\n#1 Q0 a 2 8 s\n2 Q0 c 1 9 s\n"


@pytest.mark.filterwarnings("ignore:.*begin with #")
def test_comments__a_row_that_may_be_commented_out_needs_a_choice(tmp_path):
    qrels, run = written(tmp_path, q=OUT_QRELS, r=OUT_RUN)
    said = (
        "line 2: a row of query #1, or a commented-out row of query 1, which the file has too. "
        r"\(1 such line\). `comments='rows'` reads such lines. `comments='skip'` leaves them out."
    )
    plain = tmp_path / "plain"
    plain.write_text("1 0 a 1\n2 0 c 1\n")
    for files in ((qrels, run), (str(plain), run)):
        with pytest.raises(irmeta.IrmetaError, match=said):
            rr(*files)
    assert rr(qrels, run, comments="rows") == {"1": 0, "#1": 0, "2": 1}
    assert rr(qrels, run, comments="skip") == {"1": 0, "2": 1}
    with pytest.raises(irmeta.DataError, match=said):
        parse(OUT_RUN)
    assert len(rows(parse(OUT_RUN, comments="rows"))) == 3


def test_comments__of_judges_are_read_alike(tmp_path):
    human, judge = written(
        tmp_path, h="#covid 0 d1 1\nnews 0 d1 1\n", j="#covid 0 d1 1\nnews 0 d1 0\n"
    )
    with pytest.warns(irmeta.QrelsWarning, match="begin with # read as rows: 1"):
        assert irmeta.agree(human, [judge]).judges["docs"].item() == 2
    with pytest.warns(irmeta.QrelsWarning, match="left out"):
        found = irmeta.agree(human, [judge], comments="skip")
    assert (found.judges["docs"].item(), found.settings["comments"]) == (1, "skip")


def test_comments__command_prints_a_note_and_records_the_choice(tmp_path, run):
    done = run("evaluate", *written(tmp_path, q=QRELS, r=RUN), "-m", "RR")
    assert "s,RR,0.833333,3" in done.out
    assert f"q: {AS_ROWS}" in done.err
    assert "s (read as rows: 2)" in done.err
    out = tmp_path / "store"
    folder = tmp_path / "collection" / "t"
    (folder / "runs").mkdir(parents=True)
    written(folder, qrels=QRELS)
    written(folder / "runs", s=RUN)
    assert run("ingest", folder.parent, "--out", out, "--comments", "skip").status == 0
    record = json.loads(next(out.glob("tracks/*.json")).read_text())
    assert record["config"]["policy"]["comments"] == "skip"


@pytest.mark.parametrize(("version", "mean", "queries"), [("9", "0.8333", 3), ("10", "0.5000", 1)])
def test_comments__trec_eval_follows_its_version(version, mean, queries, tmp_path, capsysbinary):
    qrels, run = written(tmp_path, q=QRELS, r=RUN)
    asked = ["--version", version, "-m", "recip_rank", "-m", "num_q", qrels, run]
    assert run_trec_eval(asked) == 0
    out = capsysbinary.readouterr()[0].decode().split()
    assert out == ["num_q", "all", str(queries), "recip_rank", "all", mean]


@pytest.mark.parametrize("version", ["9", "10"])
def test_comments__trec_eval_9_knows_none(version, tmp_path, capsysbinary):
    qrels, run = written(
        tmp_path, q="# qid docno 1\n1 0 d 1\n", r="# a run of mine\n1 Q0 d 1 9 s\n"
    )
    asked = ["--version", version, "-c", "-m", "num_q", qrels, run]
    status = run_trec_eval(asked)
    out, err = capsysbinary.readouterr()
    if version == "10":
        assert (status, out.split()[-1]) == (0, b"1")
    else:
        assert (status, b", line 1: " in err) == (2, True)
        plain = written(tmp_path, s="1 Q0 d 1 9 s\n")[0]
        assert run_trec_eval([*asked[:-1], plain]) == 0
        assert capsysbinary.readouterr()[0].split()[-1] == b"2"  # query # of the first line
