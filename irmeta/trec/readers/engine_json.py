"""JSON that search engines and rerankers write: judgments or ranked docs in records of queries."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import numpy as np

from irmeta.errors import DataError
from irmeta.trec.readers.columns import QrelsColumns, RunColumns
from irmeta.trec.readers.frames import qrels_of_dict, run_of_dict

Pairs = Iterable[tuple[Any, Any]]
"""Docs with their grade or score."""


@dataclass(frozen=True)
class EngineForm:
    """A form of JSON with a record for each query.

    Attributes
    ----------
    name
        What notes and errors call it.
    kind
        ``qrels`` or ``run``.
    fields
        Fields of the file, or of the first record, one of which has a list of records.
    by_query
        Function that yields the queries with their docs.
    note
        What a note says on the names of queries or docs.
    """

    name: str
    kind: str
    fields: tuple[str, ...]
    by_query: Callable[[Any], Iterator[tuple[Any, Pairs]]]
    note: str | None = None


@dataclass(frozen=True)
class EngineFile:
    """The content of a file in such a form, not yet checked."""

    form: EngineForm
    content: object

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the form."""
        return (self.form.name, *([self.form.note] if self.form.note else []))

    def qrels(self, file: str) -> QrelsColumns:
        """Return judgments; a doc that a query has twice with equal grades is one judgment.

        Raises
        ------
        DataError
            If a field is missing, a query occurs twice, a doc has two grades, or a grade is no
            number.
        """
        by_query, repeated = dict[Any, dict[Any, Any]](), 0
        for query, pairs in self._queries(file):
            grades = by_query[query] = {}
            for doc, value in pairs:
                grade = _number(value, query, doc, file)
                if grades.setdefault(doc, grade) != grade:
                    ids = {"query": query, "doc": doc, "first": grades[doc], "second": grade}
                    problem = "query {query}, doc {doc} has grades {first} and {second}"
                    raise DataError(problem, file=file, ids=ids, fix="Keep one of the ratings.")
                repeated += 1
            repeated -= len(grades)
        columns = qrels_of_dict(by_query, file)
        notes = (f"{repeated:,} judgments given twice with equal grades",) if repeated else ()
        return replace(columns, notes=(*self.notes, *columns.notes, *notes))

    def run(self, file: str) -> RunColumns:
        """Return ranked docs, best first; their places are their ranks.

        Raises
        ------
        DataError
            If a field is missing, a query occurs twice, or only some docs have a score.
        """
        pairs = {query: list(ranked) for query, ranked in self._queries(file)}
        docs = {query: [doc for doc, _ in ranked] for query, ranked in pairs.items()}
        columns = run_of_dict(docs, file)
        if all(score is None for ranked in pairs.values() for _, score in ranked):
            return replace(columns, notes=(*self.notes, *columns.notes))
        scores = list[float]()
        for query, ranked in pairs.items():
            for doc, value in ranked:
                score = _number(value, query, doc, file)
                if score is None or not np.isfinite(score):
                    problem = "query {query}, doc {doc}: the score is not a finite number"
                    fix = "Give all docs a score, or none."
                    shown = "null" if value is None else value
                    ids = {"query": query, "doc": doc}
                    raise DataError(problem, file=file, ids=ids, value=shown, fix=fix)
                scores.append(score)
        return replace(columns, score=np.array(scores), notes=self.notes)

    def _queries(self, file: str) -> Iterator[tuple[Any, Pairs]]:
        seen = set[Any]()
        try:
            for query, pairs in self.form.by_query(self.content):
                if query in seen:
                    raise _MalformedError("a query occurs twice", query)
                seen.add(query)
                yield query, pairs
        except _MalformedError as error:
            problem, value = error.args
            fix = f"The file looks like {self.form.name}: mend the record."
            words = value.values() if isinstance(value, dict) else [value]
            word = next(
                (text for text in cast(Iterable[Any], words) if isinstance(text, str)), None
            )
            ids = {} if word is None else {"query": word, "doc": word}  # which show the line
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            raise DataError(problem, file=file, ids=ids, value=text, fix=fix) from None


class _MalformedError(Exception):
    """A record that lacks a field; its arguments are the problem and the record."""


def _number(value: Any, query: object, doc: object, file: str) -> float | None:
    """Return a grade or score, which may be text as in OpenSearch; None is none."""
    ids = {"query": query, "doc": doc}
    try:
        if isinstance(value, bool | dict | list):
            raise ValueError
        return None if value is None else float(value)
    except (ValueError, OverflowError):
        problem = "query {query}, doc {doc}: the value is not a number"
        fix = "Give the doc a number."
        raise DataError(problem, file=file, ids=ids, value=str(value), fix=fix) from None


def _field(record: Any, name: str) -> Any:
    """Return a field that may not be missing or null."""
    if not isinstance(record, dict):
        raise _MalformedError("not a record", record)
    value = cast(dict[str, Any], record).get(name)
    if value is None:
        raise _MalformedError(f"a record without the field {name!r}", record)
    return value


def _id(record: Any, name: str) -> str | int:
    """Return a field that names a query or a doc."""
    if isinstance(value := _field(record, name), bool | float | dict | list):
        raise _MalformedError(f"the field {name!r} is neither text nor a whole number", record)
    return value


def _list(record: Any, name: str) -> list[Any]:
    """Return a field that is a list."""
    value = _field(record, name)
    if not isinstance(value, list):
        raise _MalformedError(f"the field {name!r} is not a list", value)
    return cast(list[Any], value)


def _rated(queries: str, query: str, doc: str, content: Any) -> Iterator[tuple[Any, Pairs]]:
    """Yield queries with a list `ratings`; the arguments are the names of the fields."""
    for record in _list(content, queries):
        ratings = [(_id(rated, doc), rated.get("rating")) for rated in _list(record, "ratings")]
        yield _id(record, query), ratings


def _rre(content: Any) -> Iterator[tuple[Any, Pairs]]:
    topics = _list(content, "topics") if "topics" in content else []
    for place in (*topics, content):
        for group in _list(place, "query_groups") if "query_groups" in place else []:
            yield _id(group, "name"), list(_gains(_field(group, "relevant_documents")))


def _gains(docs: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the docs of a query group: {grade: [doc]}, {doc: {"gain": grade}}, or records."""
    if isinstance(docs, list):
        for doc in cast(list[Any], docs):
            yield _id(doc, "document_id"), _field(doc, "gain")
        return
    if not isinstance(docs, dict):
        raise _MalformedError("relevant_documents are neither a dict nor a list", docs)
    for name, value in cast(dict[str, Any], docs).items():
        if isinstance(value, list):
            yield from ((_id({"doc": doc}, "doc"), name) for doc in cast(list[Any], value))
        else:
            yield name, _field(value, "gain")


def _rank_llm(content: Any) -> Iterator[tuple[Any, Pairs]]:
    for record in cast(list[Any], content) if isinstance(content, list) else [content]:
        if "candidates" in record:
            query, docs = _id(_field(record, "query"), "qid"), _list(record, "candidates")
        elif docs := _list(record, "hits"):
            query = _id(docs[0], "qid")
            if stray := next((doc for doc in docs if _field(doc, "qid") != query), None):
                raise _MalformedError(f"a hit of another query than {query!r}", stray)
        else:
            continue  # an earlier form, which names no query that has no doc
        yield query, [(_id(doc, "docid"), doc.get("score")) for doc in docs]


ENGINE_FORMS = (
    EngineForm(
        "a request of Elasticsearch's _rank_eval",
        "qrels",
        ("requests",),
        partial(_rated, "requests", "id", "_id"),
        "queries are named by the id of their request, docs by _id",
    ),
    EngineForm(
        "judgments of OpenSearch's Search Relevance",
        "qrels",
        ("judgmentRatings",),
        partial(_rated, "judgmentRatings", "query", "docId"),
    ),
    EngineForm(
        "ratings of the Rated Ranking Evaluator (RRE)",
        "qrels",
        ("topics", "query_groups"),
        _rre,
        "queries are named by their query group",
    ),
    EngineForm("RankLLM's JSON", "run", ("candidates", "hits"), _rank_llm),
)
"""Forms that are read."""


def engine_file(content: object) -> EngineFile | None:
    """Return parsed JSON in one of these forms, None for any other.

    A field with a list of records shows the form. An answer of OpenSearch has the file inside.
    """
    hits: Any = content
    for name in ("hits", "hits"):
        hits = cast(dict[str, Any], hits).get(name) if isinstance(hits, dict) else None
    hit: Any = hits[0] if isinstance(hits, list) and len(cast(list[Any], hits)) == 1 else None
    content = cast(dict[str, Any], hit).get("_source") if isinstance(hit, dict) else content
    first: object = content
    if isinstance(content, list) and content:
        first = cast(list[object], content)[0]
    if not isinstance(first, Mapping):
        return None
    record = cast(Mapping[str, object], first)
    for form in ENGINE_FORMS:
        fields: list[Any] = [record.get(name) for name in form.fields]
        lists = [field for field in fields if isinstance(field, list)]
        is_of_records = all(isinstance(item, Mapping) for field in lists for item in field[:1])
        if lists and is_of_records and (form.kind == "run" or first is content):
            return EngineFile(form, content)
    return None
