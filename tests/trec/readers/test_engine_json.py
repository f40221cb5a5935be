"""Judgments of search engines and rerankers in JSON, features for ranking, files of lz4."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import irmeta
from irmeta.errors import IrmetaError
from irmeta.trec.readers.files import read_qrels
from irmeta.trec.streams import InputFile

RUN = {"phone": ["B2", "B1"], "case": ["B1", "B9"]}
OPENSEARCH = {
    "name": "j",
    "judgmentRatings": [
        {
            "query": "phone",
            "ratings": [
                {"docId": "B1", "rating": "1.0"},
                {"docId": "B2", "rating": "0.7"},
                {"docId": "B3", "rating": 0},
            ],
        },
        {"query": "case", "ratings": [{"docId": "B9", "rating": "0.5"}]},
    ],
}
RANK_EVAL = {
    "metric": {"dcg": {"k": 10}},
    "requests": [
        {
            "id": "phone",
            "request": {"query": {"match": {"t": "phone"}}},
            "ratings": [
                {"_index": "i", "_id": "B1", "rating": 3},
                {"_index": "i", "_id": "B2", "rating": 1},
                {"_index": "j", "_id": "B2", "rating": 1},
            ],
        },
        {"id": "case", "ratings": [{"_index": "i", "_id": "B9", "rating": 1}]},
    ],
}
GROUPS = [
    {"name": "phone", "queries": [], "relevant_documents": {"3": ["B1"], "1": ["B2"]}},
    {"name": "case", "relevant_documents": {"B9": {"gain": 1}}},
]
RECORDS = [
    {"name": "phone", "relevant_documents": [{"document_id": "B1", "gain": 3}]},
    {"name": "case", "relevant_documents": [{"document_id": "B9", "gain": 1}]},
]
RRE = {"index": "core", "topics": [{"description": "t", "query_groups": GROUPS}]}
ANSWER = {"took": 1, "hits": {"hits": [{"_id": "x", "_source": OPENSEARCH}]}}
TWO_GRADES = {"phone": 0.796708, "case": 0.63093}
JUDGED: dict[str, tuple[object, dict[str, float]]] = {
    "opensearch": (OPENSEARCH, {"phone": 0.923198, "case": 0.63093}),
    "answer of opensearch": (ANSWER, {"phone": 0.923198, "case": 0.63093}),
    "rank_eval": (RANK_EVAL, TWO_GRADES),
    "requests first": (dict(reversed(RANK_EVAL.items())), TWO_GRADES),
    "rre": (RRE, TWO_GRADES),
    "rre without topics": ({"query_groups": RECORDS}, {"phone": 0.63093, "case": 0.63093}),
}


@pytest.mark.parametrize("is_on_lines", [False, True])
@pytest.mark.parametrize("form", JUDGED)
def test_judgments__of_engines_are_qrels(form, is_on_lines, tmp_path: Path):
    content, expected = JUDGED[form]
    file = tmp_path / "judged.json"
    file.write_text(json.dumps(content, indent=2 if is_on_lines else None))
    found = irmeta.evaluate(str(file), RUN, "nDCG@10", per_query=True)
    values = found.select("query", "value").rows()
    assert {query: round(value, 6) for query, value in values} == expected


def notes_of(folder: Path, content: object) -> tuple[str, ...]:
    (folder / "q").write_text(json.dumps(content))
    return read_qrels(InputFile.at(folder / "q", "q")).notes


def test_judgments__notes_name_the_form_and_what_was_dropped(tmp_path: Path):
    notes = notes_of(tmp_path, RANK_EVAL)
    assert "a request of Elasticsearch's _rank_eval" in notes
    assert "1 judgments given twice with equal grades" in notes
    unrated = {"requests": [{"id": "a", "ratings": [{"_id": "d", "rating": None}]}]}
    unrated["requests"].append({"id": "b", "ratings": [{"_id": "d", "rating": 1}]})
    unrated["requests"].append({"id": "c", "ratings": []})
    notes = " ".join(notes_of(tmp_path, unrated))
    assert "rows without a grade, taken as unjudged: 1" in notes
    assert "queries without a judgment" in notes


FAULTS: dict[str, tuple[str, str]] = {
    "field": ('{"requests": [\n{"id": "q",\n"ratings": [{"_id": "d9"}, {"id": "d8"}]}]}',
              r"j, line 3: .*without the field '_id'.*d8"),
    "record": ('{"requests": [{"id": "q", "ratings":\n["d7"]}]}', r"j, line 2: not a record.*d7"),
    "text": ('{"judgmentRatings": [{"query": "q", "ratings": [\n{"docId": "d", "rating": "x"}]}]}',
             r"j, line 2: query q, doc d: the value is not a number.*'x'"),
    "grades": ('{"requests": [{"id": "q", "ratings": [\n{"_id": "d", "rating": 1},'
               '{"_id": "d", "rating": 2}]}]}', r"j, line 2: query q, doc d has grades 1.* and 2"),
    "twice": ('{"requests": [{"id": "q", "ratings": []},\n{"id": "q", "ratings": []}]}',
              r"a query occurs twice.*'q'"),
    "id": ('{"requests": [{"id": "q", "ratings": [{"_id": ["d"], "rating": 1}]}]}',
           "'_id' is neither text nor a whole number"),
    "list": ('{"query_groups": [{"name": "q", "relevant_documents": "d"}]}',
             "relevant_documents are neither"),
    "kind": (json.dumps([{"query": {"qid": "q"}, "candidates": [{"docid": "d"}]}]),
             "RankLLM's JSON, where qrels are expected.*Write"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_judgments__faults_are_located(fault, tmp_path: Path):
    content, said = FAULTS[fault]
    (tmp_path / "j").write_text(content)
    with pytest.raises(IrmetaError, match=said):
        read_qrels(InputFile.at(tmp_path / "j", "j"))


CANDIDATES = [
    {
        "query": {"text": "red shoes", "qid": "q1"},
        "candidates": [
            {"docid": "d2", "score": 9.1, "doc": {"contents": 'a "quoted", {text}'}},
            {"docid": "d1", "score": 8.0, "doc": {}},
        ],
    },
    {"query": {"text": "none", "qid": 2}, "candidates": []},
]
HITS = [
    {
        "query": "red shoes",
        "hits": [
            {"qid": "q1", "docid": "d2", "rank": 1, "score": 9.1},
            {"qid": "q1", "docid": "d1", "rank": 2, "score": 8.0},
        ],
    }
]


def as_lines(records: list[object]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


@pytest.mark.parametrize(
    "content",
    [json.dumps(CANDIDATES), as_lines(CANDIDATES), json.dumps(HITS), as_lines(HITS[:1]),
     json.dumps(CANDIDATES[0], indent=1),
     json.dumps(CANDIDATES).replace("9.1", "null").replace("8.0", "null")],
)  # fmt: skip
@pytest.mark.parametrize("tie_order", ["trec_eval", "rank"])
def test_rank_llm__runs_are_read(content, tie_order, tmp_path: Path):
    (tmp_path / "reranked").write_text(content)
    store = irmeta.from_data({"q1": {"d1": 1}}, str(tmp_path / "reranked"), tie_order=tie_order)
    assert store.means("RR")["value"].item() == 0.5
    assert "RankLLM's JSON" in store.systems()["notes"].item()


def test_rank_llm__lines_may_be_long(tmp_path: Path):
    first = {
        "query": {"qid": "q"},
        "candidates": [{"docid": "d", "score": 1.5, "doc": {"text": "x" * 100_000}}],
    }
    (tmp_path / "r").write_text(as_lines([first, CANDIDATES[0]]))
    found = irmeta.evaluate({"q1": {"d1": 1}, "q": {"d": 1}}, str(tmp_path / "r"), "RR")
    assert found["value"].to_list() == [0.75]


def test_rank_llm__faults_are_located(tmp_path: Path):
    for change, said in (
        (('"score": 8.0', '"score": null'), r"line 1: query q1, doc d1: the score is not a finite"),
        (('"docid": "d1"', '"id": "d1"'), "without the field 'docid'"),
        (('"docid": "d1"', '"docid": "d2"'), "query q1 has doc d2 a second time"),
    ):
        (tmp_path / "r").write_text(as_lines(CANDIDATES).replace(*change))
        with pytest.raises(IrmetaError, match=said):
            irmeta.evaluate({"q1": {"d1": 1}}, str(tmp_path / "r"), "RR")
    (tmp_path / "r").write_text(json.dumps(OPENSEARCH))
    with pytest.raises(IrmetaError, match=r"OpenSearch's .*, where a run is expected"):
        irmeta.evaluate({"q1": {"d1": 1}}, str(tmp_path / "r"), "RR")


LZ4 = bytes.fromhex(
    "04224d186440a720000000f3027131205130206431203120322e3020740a1100a032203220312e3020740a0000000076b83929"
)
"""What the program lz4 1.9 writes of two lines of a run."""


def test_lz4__files_of_the_program_are_read(tmp_path: Path):
    (tmp_path / "bm25.run.lz4").write_bytes(LZ4)
    found = irmeta.evaluate({"q1": {"d2": 1}}, str(tmp_path / "bm25.run.lz4"), "RR")
    assert found.select("system", "value").rows() == [("t", 0.5)]
    (tmp_path / "bm25.run.lz4").write_bytes(LZ4[:-5])
    with pytest.raises(IrmetaError, match="cut short or damaged"):
        irmeta.evaluate({"q1": {"d2": 1}}, str(tmp_path / "bm25.run.lz4"), "RR")
    (tmp_path / "bm25.run.lz4").write_bytes(LZ4.replace(b"Q0 d1", b"Q0 d3"))
    with pytest.raises(IrmetaError, match="cut short or damaged"):
        irmeta.evaluate({"q1": {"d2": 1}}, str(tmp_path / "bm25.run.lz4"), "RR")


LETOR = "3 qid:1 1:0.5 2:0.1 #docid = 17 inc = 1\n0 qid:1 1:0.4 2:0.3 #docid = 22\n"
LETOR += "1 qid:2 1:0.2 2:0.9 #docid = 9\n"
QUEPID = "# qid:1: red shoes\n3\tqid:1\t# 17\tred shoes\n0\tqid:1\t# 22\tred shoes\n"
QUEPID += "\n1\tqid:2\t# 9\t2001\n"
SVMLIGHT = "3 qid:1 1:0.5\n0 qid:1 2:0.4\n1 qid:2\n"
FILES = {
    "letor": (LETOR, ["17", "22", "9"], "docid = after #"),
    "quepid": (QUEPID, ["17", "22", "9"], "the first word after #"),
    "svmlight": (SVMLIGHT, ["1", "2", "3"], "the numbers of their lines"),
}


def qrels(folder: Path, content: str):
    (folder / "ltr").write_text(content)
    return read_qrels(InputFile.at(folder / "ltr", "ltr"))


@pytest.mark.parametrize("form", FILES)
def test_features__files_are_qrels_and_scores_of_their_lines_runs(form, tmp_path: Path, run):
    content, docs, note = FILES[form]
    judged = qrels(tmp_path, content)
    assert judged.frame.select("query", "doc", "grade").rows() == [
        ("1", docs[0], 3), ("1", docs[1], 0), ("2", docs[2], 1)
    ]  # fmt: skip
    assert note in " ".join(judged.notes)
    (tmp_path / "rank.txt").write_text("0.1\n9e-1\n-.5\n")
    (tmp_path / "good.txt").write_text("3\n2\n1\n")
    found = irmeta.evaluate(
        str(tmp_path / "ltr"), [str(tmp_path / "rank.txt"), str(tmp_path / "good.txt")], "nDCG@10"
    )
    values = {system: round(value, 6) for system, value in found.select("system", "value").rows()}
    assert values == {"rank": 0.815465, "good": 1.0}  # (1 / log2(3) + 1) / 2
    done = run("evaluate", *(tmp_path / name for name in ("ltr", "rank.txt")), "-m", "nDCG@10")
    assert "rank,nDCG@10,0.815465,2" in done.out


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("1 qid:1 1:0.5\n0 qid:1 1:0.5 1\n", r"ltr, line 2: a field that is no feature:value.*1:0"),
        ("1 qid:1 1:0.5 1\n", "line 1: a field that is no feature:value"),
        ("1 qid:1 1:0.5\nx qid:1 1:0.5\n", r"line 2: the grade is not a finite number.*'x'"),
        ("1 qid:1 1:0.5\n1 1:0.5 2:0.1\n", r"line 2: no query \(qid:\) in field 2.*'1:0.5'"),
        ("1 qid:1 # a\n0 qid:1 1:1\n", "line 2: the doc is not named as those of the lines before"),
        ("1 qid:1\n0 qid:1 # a\n", "line 2: the doc is not named as those of the lines before"),
        ("1 qid:1 # a\n\n0 qid:1 # a\n", "line 3: query 1, doc a has grades 1 and 0, first in lin"),
    ],
)
def test_features__faults_are_located(content, said, tmp_path: Path):
    with pytest.raises(IrmetaError, match=said):
        qrels(tmp_path, content)


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ("1\n2\n", r"scores: 2 scores for 3 lines of .*ltr.*Write a score for each line"),
        ("1\n2\n\n3\n4\n", "scores: 4 scores for 3 lines"),
        ("1\nx\n3\n", r"line 2: column 'score' is not a number.*'x'"),
        ("1\n2\nnan\n", r"line 3: .*not a finite number"),
        ("1\n2 3\n1\n", "line 2: 2 fields instead of 1"),
        ("1 qid:1 1:0.5\n", "features for learning to rank .*where a run is expected"),
    ],
)
def test_predictions__faults_are_located(scores, said, tmp_path: Path):
    (tmp_path / "ltr").write_text(SVMLIGHT)
    (tmp_path / "scores").write_text(scores)
    with pytest.raises(IrmetaError, match=said):
        irmeta.evaluate(str(tmp_path / "ltr"), str(tmp_path / "scores"), "AP")


def test_predictions__need_a_file_whose_lines_they_score(tmp_path: Path):
    (tmp_path / "qrels").write_text("1 0 d 1\n")
    (tmp_path / "scores").write_text("1\n2\n")
    with pytest.raises(IrmetaError, match="without qrels of qid: lines to which"):
        irmeta.evaluate(str(tmp_path / "qrels"), str(tmp_path / "scores"), "AP")


def test_features__memory_is_that_of_the_judgments(tmp_path: Path, monkeypatch):
    monkeypatch.setattr("irmeta.trec.room.FLOOR", 0)
    features = " ".join(f"{number}:0.123456" for number in range(136))
    lines = (f"{row % 2} qid:{row // 100} {features} # d{row}\n" for row in range(4000))
    (tmp_path / "ltr").write_text("".join(lines))
    file = InputFile.at(tmp_path / "ltr", "ltr")  # 6 MB of text
    assert read_qrels(file, room=lambda: 4 << 20).frame.height == 4000
