"""Make the three small tracks of ``collections/``: news, web and passage.

Run as ``python data_fixtures/make_collections.py [--out DIR]``. The same seed gives
the same text; README.md beside this script says what is in it.
"""

import argparse
import csv
import gzip
import io
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path

import numpy as np

SEED = 20_220_104
FAMILIES = 4
"""Systems of one family score docs by the same function, but for small noise."""


@dataclass(frozen=True)
class System:
    """A system, how well it ranks, and how its run file looks."""

    name: str
    team: str
    family: int
    skill: float
    """How far a relevant doc rises above the others."""
    noise: float = 0.4
    kind: str = "automatic"
    judged: bool = True
    """Whether its top docs went into the pool."""
    style: str = "bm25"
    """How scores are printed: a key of STYLES."""
    step: float = 0.0
    """Scores are rounded to multiples of this, so that some tie."""
    depth: int = 0
    """Length of its lists; 0 for the track's."""
    spam: float = 0.0
    """What a spam doc gains in score."""
    missing: tuple[int, ...] = ()
    """Positions of the queries that it has no list for."""
    short: dict[int, int] = field(default_factory=dict)
    """Position of a query -> length of its list there."""
    only_relevant: tuple[int, ...] = ()
    """Positions of the queries where it lists judged relevant docs and no others."""
    extra_query: str = ""
    """A query that is not in the qrels."""
    ranks: str = "one"
    """The rank column: from "one", from "zero", or that of a "first-stage" ranking."""
    separator: str = " "
    newline: str = "\n"
    gz: bool = True
    cut_line: int = 0
    """The line, counted from 1, that ends after its fourth field."""


@dataclass(frozen=True)
class Track:
    """A track's queries and the distributions that its docs are drawn from."""

    name: str
    queries: tuple[str, ...]
    depth: int
    pool_depth: int
    candidates: int
    """Docs of a query that any system could list."""
    relevant: tuple[int, int]
    """Fewest and most relevant docs of a query, before pooling."""
    hidden: float
    """Share of the relevant docs that few families recognise."""
    grades: tuple[tuple[float, int], ...]
    """(share of the relevant docs, grade), the best first."""
    systems: tuple[System, ...]
    spam: float = 0.0
    no_relevant: int = -1
    """Position of a query without a relevant doc."""
    subtopics: bool = False


@dataclass
class Query:
    """What is true of a query's candidate docs, known or not."""

    docs: np.ndarray
    grade: np.ndarray
    strength: np.ndarray
    """What a relevant doc gains for each family: [families, docs]."""
    subtopics: np.ndarray
    """Grade of each doc for each subtopic: [docs, subtopics]."""


STYLES = {
    "bm25": (lambda s: 9.0 + 3.2 * s, "{:.3f}"),
    "lm": (lambda s: -7.5 + 0.55 * s, "{:.4f}"),
    "cosine": (lambda s: 0.5 + 0.08 * s, "{:.4f}"),
    "small": (lambda s: 2e-5 * (6.0 + s), "{:.4e}"),
    # Some of these differ as float64 and tie as float32, as trec_eval compares them.
    "dot": (lambda s: 700.0 + 0.05 * s, "{:.6f}"),
    "count": (lambda s: np.round(40.0 + 12.0 * s, 2), "{:g}"),
}

# fmt: off
NEWS = Track(
    name="news",
    queries=tuple(str(901 + i) for i in range(25)),
    depth=200,
    pool_depth=60,
    candidates=1400,
    relevant=(12, 130),
    hidden=0.35,
    grades=((1.0, 1),),
    systems=(
        System("aldBM25", "alder", 0, 1.15, step=0.001),
        System("aldBM25fb", "alder", 0, 1.5),
        System("aldDFR", "alder", 0, 1.1, judged=False, style="cosine"),
        System("aldTitle", "alder", 0, 0.8, step=0.0015),
        System("aldDesc", "alder", 0, 0.95, ranks="zero"),
        System("birchLM", "birch", 1, 1.1, style="lm"),
        System("birchRM3", "birch", 1, 1.5, style="lm", ranks="zero"),
        System("birchJM", "birch", 1, 0.9, judged=False, style="lm"),
        System("birchDep", "birch", 1, 1.25, style="small", missing=(17,)),
        System("birchMix", "birch", 1, 1.35, style="lm", separator="\t"),
        System("cedarVec", "cedar", 2, 0.8, style="cosine"),
        System("cedarLSI", "cedar", 2, 0.7, judged=False, style="cosine"),
        System("cedarRoc", "cedar", 2, 1.0, style="cosine", newline="\r\n"),
        System("cedarBool", "cedar", 2, 0.85, style="count", step=0.05,
               short={2: 17, 8: 4, 13: 140, 20: 9}),
        System("cedarFuse", "cedar", 2, 1.3, ranks="first-stage"),
        System("doumMan1", "douma", 3, 1.9, 0.3, kind="manual", style="count", depth=60,
               only_relevant=(6,), short={3: 25, 11: 12, 22: 18}, gz=False),
        System("doumMan2", "douma", 3, 1.75, 0.3, kind="manual", style="count"),
        System("doumAuto", "douma", 3, 1.05, style="cosine", missing=(4, 21)),
        System("doumExp", "douma", 3, 1.4, judged=False, step=0.0012),
        System("elmBase", "elm", 0, 0.95, 0.6, judged=False, depth=100),
    ),
)

WEB = Track(
    name="web",
    queries=tuple(str(301 + i) for i in range(20)),
    depth=100,
    pool_depth=20,
    candidates=700,
    relevant=(15, 110),
    hidden=0.35,
    grades=((0.015, 4), (0.06, 3), (0.25, 2), (1.0, 1)),
    spam=0.12,
    subtopics=True,
    systems=(
        System("finchSpamOK", "finch", 0, 0.9, style="lm", spam=0.7),
        System("finchNoSpam", "finch", 0, 1.05, style="lm", spam=-2.0),
        System("finchDiv", "finch", 0, 1.15, style="lm", spam=-2.0, ranks="first-stage"),
        System("grebeBM25", "grebe", 1, 0.8, step=0.0015, spam=0.5),
        System("grebeAnchor", "grebe", 1, 0.95, step=0.001, spam=0.2, missing=(9, 14)),
        System("grebeLTR", "grebe", 1, 1.5, style="small", spam=-1.0),
        System("grebeQL", "grebe", 1, 0.75, judged=False, spam=0.5, extra_query="399"),
        System("heronQE", "heron", 2, 1.0, spam=-0.5, ranks="zero", separator="\t"),
        System("heronCat", "heron", 2, 0.8, style="count", step=0.004, short={4: 15, 16: 7}),
        System("heronFus", "heron", 2, 1.3, style="cosine", spam=-0.5),
        System("ibisMan", "ibis", 3, 1.5, 0.3, kind="manual", style="count", depth=40,
               spam=-2.0, gz=False),
        System("ibisBase", "ibis", 3, 0.7, judged=False, style="cosine", spam=0.9, missing=(0,)),
    ),
)

PASSAGE = Track(
    name="passage",
    queries=(
        "19335", "47923", "87181", "130510", "156493", "264014", "359349", "443396",
        "573724", "833860", "962179", "1037798", "1063750", "1112341", "1133167",
    ),
    depth=200,
    pool_depth=30,
    candidates=1600,
    relevant=(6, 50),
    hidden=0.4,
    grades=((0.18, 3), (0.5, 2), (1.0, 1)),
    no_relevant=5,
    systems=(
        System("kestBM25", "kestrel", 0, 1.35, step=0.001),
        System("kestBM25p", "kestrel", 0, 1.45, ranks="zero"),
        System("kestRM3", "kestrel", 0, 1.6, judged=False, style="lm"),
        System("larkDoc2q", "lark", 1, 1.7, short={3: 11}),
        System("larkSplade", "lark", 1, 2.1, kind="neural", style="cosine"),
        System("larkMonoT5", "lark", 2, 3.0, 0.25, kind="neural", style="lm"),
        System("merlCross", "merlin", 2, 3.2, 0.25, kind="neural", step=0.001),
        System("merlDense", "merlin", 3, 1.9, kind="neural", style="dot", missing=(12,)),
        System("merlTiny", "merlin", 3, 1.5, judged=False, kind="neural", style="cosine",
               depth=50, ranks="zero", separator="\t", gz=False),
        System("nuthFirst", "nuthatch", 0, 1.2, judged=False, depth=80, gz=False, cut_line=611),
    ),
)
# fmt: on


def news_doc(i):
    """Doc ids in the way of a newswire: the date and a number within the day."""
    day = date(1999, 1, 1) + timedelta(i // 80)
    return f"NW{day:%Y%m%d}-{i % 80:04d}"


def web_doc(i):
    return f"cw-en{i % 12:04d}-{i // 12 % 100:02d}-{i * 7919 % 40_000:05d}"


def passage_doc(i):
    """Numbers of 1 to 7 digits: in byte order 1000 stands before 99."""
    return str(7 + 176 * i)


DOC_IDS = {"news": news_doc, "web": web_doc, "passage": passage_doc}
DOCS = 29_000


def draw_query(rng, track, position):
    """Draw a query's docs, their true grades and how well each can be recognised."""
    n = track.candidates
    low, high = track.relevant
    # Skewed: most queries have few relevant docs.
    count = low + int((high - low) * rng.random() ** 2)
    count = 0 if position == track.no_relevant else count
    numbers = rng.choice(DOCS, n, replace=False).tolist()
    docs = np.array([DOC_IDS[track.name](i) for i in numbers])
    grade = np.zeros(n, dtype=int)
    grade[:count] = draw_grades(rng, track, count)
    strength = np.zeros((FAMILIES, n))
    strength[:, :count] = draw_strength(rng, track, grade[:count])
    grade[count:][rng.random(n - count) < track.spam] = -2
    subtopics = draw_subtopics(rng, grade) if track.subtopics else np.zeros((n, 0), int)
    return Query(docs, grade, strength, subtopics)


def draw_strength(rng, track, grade):
    """How well each family can recognise each relevant doc: [families, docs].

    A hidden doc is recognised by few families or none: it is rare, or nobody finds it.
    """
    count = len(grade)
    strength = rng.uniform(0.6, 1.5) * rng.uniform(0.9, 2.2, count) + 0.25 * (grade - 1)
    affinity = rng.uniform(0.45, 1.25, (FAMILIES, count))
    missed = (rng.random(count) < track.hidden) & (rng.random((FAMILIES, count)) < 0.75)
    return strength * np.where(missed, 0.1, affinity)


def draw_grades(rng, track, count):
    share = rng.random(count)
    grade = np.zeros(count, dtype=int)
    for limit, value in reversed(track.grades):
        grade[share <= limit] = value
    return grade


def draw_subtopics(rng, grade):
    """Share each relevant doc's grade among 2 to 4 subtopics, the first the most popular."""
    size = rng.integers(2, 5)
    popularity = 0.75 * 0.6 ** np.arange(size)
    covers = rng.random((len(grade), size)) < popularity
    # A doc relevant to the query as a whole answers some part of it.
    covers[np.flatnonzero(~covers.any(axis=1)), 0] = True
    part = np.clip(grade[:, None] - rng.integers(0, 2, covers.shape), 1, 3)
    relevant = np.where(covers, part, 0)
    return np.where(grade[:, None] > 0, relevant, grade[:, None])


def draw_scores(rng, track, query):
    """Score a query's docs by every system: {name: scores as float64}.

    A score is what all systems share, plus the family's own view, plus noise; a relevant
    doc gains by the system's skill, more in families that recognise it better.
    """
    n = len(query.docs)
    common = rng.normal(0, 0.6, n)
    families = rng.normal(0, 0.7, (FAMILIES, n))
    scores = {}
    for system in track.systems:
        gain = system.skill * query.strength[system.family]
        own = rng.normal(0, system.noise, n)
        spam = system.spam * (query.grade == -2)
        scores[system.name] = common + families[system.family] + own + gain + spam
    return scores


def print_scores(system, raw):
    """The score column as text, as the system would have printed it."""
    if system.step:
        raw = np.round(raw / system.step) * system.step
    scale, form = STYLES[system.style]
    return np.array([form.format(value) for value in scale(raw)])


def list_docs(system, track, position, query, raw):
    """A system's list: (docs, printed scores, first-stage ranks), or None where it has none."""
    if position in system.missing:
        return None
    text = print_scores(system, raw)
    # Docs that tie as printed stay in the system's own order.
    order = np.argsort(-raw, kind="stable")
    length = system.short.get(position, system.depth or track.depth)
    if position in system.only_relevant:
        order = order[: track.pool_depth]
        order = order[query.grade[order] > 0]
    order = order[:length]
    # A first stage ranked the same docs by a blurred score.
    blurred = raw[order] + np.sin(np.arange(len(order)) * 2.4)
    first_stage = np.argsort(np.argsort(-blurred, kind="stable")) + 1
    return query.docs[order], text[order], first_stage


def run_lines(system, query_id, docs, scores, first_stage):
    """The lines of one list, without their line ends."""
    rank = np.arange(len(docs)) + (0 if system.ranks == "zero" else 1)
    lines = np.arange(len(docs))
    if system.ranks == "first-stage":
        rank, lines = first_stage, np.argsort(first_stage)
    return [
        system.separator.join((query_id, "Q0", docs[i], str(rank[i]), scores[i], system.name))
        for i in lines
    ]


def top_docs(docs, scores, depth):
    """The first docs by score descending as float32, then doc descending, as trec_eval ranks."""
    by_doc = np.argsort(docs)[::-1]
    ranked = by_doc[np.argsort(-scores[by_doc].astype(np.float32), kind="stable")]
    return docs[ranked[:depth]]


def pool(track, queries, lists):
    """Judged docs of each query, by id: the top docs of the systems that were judged."""
    judged = []
    for position in range(len(track.queries)):
        found = [lists[s.name][position] for s in track.systems if s.judged]
        tops = [top_docs(x[0], x[1], track.pool_depth) for x in found if x is not None]
        docs = queries[position].docs
        pooled = np.flatnonzero(np.isin(docs, np.concatenate(tops)))
        judged.append(pooled[np.argsort(docs[pooled])])
    return judged


def qrels_lines(track, queries, judged):
    return [
        f"{name} 0 {query.docs[i]} {query.grade[i]}"
        for name, query, docs in zip(track.queries, queries, judged, strict=False)
        for i in docs
    ]


def subtopic_lines(track, queries, judged):
    return [
        f"{name} {t + 1} {query.docs[i]} {query.subtopics[i, t]}"
        for name, query, docs in zip(track.queries, queries, judged, strict=False)
        for i in docs
        for t in range(query.subtopics.shape[1])
    ]


def write_text(path, lines, newline="\n"):
    path.parent.mkdir(parents=True, exist_ok=True)
    data = "".join(line + newline for line in lines).encode()
    if path.suffix == ".gz":
        # No file name and no time in the header: the same text gives the same bytes.
        buffer = io.BytesIO()
        with gzip.GzipFile("", "wb", 9, buffer, mtime=0) as member:
            member.write(data)
        data = buffer.getvalue()
    path.write_bytes(data)


def write_run(folder, track, system, lists):
    lines = []
    query_ids = [*track.queries, system.extra_query]
    for query_id, found in zip(query_ids, lists, strict=True):
        if query_id and found is not None:
            lines += run_lines(system, query_id, *found)
    if system.cut_line:
        fields = lines[system.cut_line - 1].split(system.separator)
        lines[system.cut_line - 1] = system.separator.join(fields[:4])
    name = system.name + (".gz" if system.gz else ".txt")
    write_text(folder / "runs" / name, lines, system.newline)


def write_systems(folder, track):
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(("run", "team", "kind", "judged"))
    for s in track.systems:
        rows.writerow((s.name, s.team, s.kind, "yes" if s.judged else "no"))
    write_text(folder / "systems.csv", text.getvalue().splitlines())


def make_track(track, out):
    """Write a track's runs, qrels and systems.csv below ``out``."""
    rng = np.random.default_rng([SEED, *track.name.encode()])
    # One query more than the track has: a system may answer it all the same.
    queries = [draw_query(rng, track, i) for i in range(len(track.queries) + 1)]
    scores = [draw_scores(rng, track, query) for query in queries]
    lists = {
        s.name: [list_docs(s, track, i, q, scores[i][s.name]) for i, q in enumerate(queries)]
        for s in track.systems
    }
    judged = pool(track, queries, lists)
    folder = out / track.name
    for s in track.systems:
        write_run(folder, track, s, lists[s.name])
    write_systems(folder, track)
    for _, file, subtopics in qrels_tables(track):
        lines = subtopic_lines if subtopics else qrels_lines
        write_text(folder / file, lines(track, queries, judged))


def qrels_tables(track):
    """(name, file, has subtopics) of each of a track's qrels, the primary one first."""
    if track.subtopics:
        return (("adhoc", "adhoc.qrels.txt", False), ("diversity", "diversity.qrels.txt", True))
    return (("graded" if len(track.grades) > 1 else "binary", "qrels.txt", False),)


def collection_lines(tracks):
    """collection.toml: which files make each track."""
    facts = 'name = "run", group = "team", type = "kind", pooled = "judged"'
    lines = []
    for t in tracks:
        lines += [f"[tracks.{t.name}]", f'runs = ["{t.name}/runs/*"]']
        lines += [f'systems = {{ file = "{t.name}/systems.csv", {facts} }}', ""]
        for name, file, subtopics in qrels_tables(t):
            lines += [f"[[tracks.{t.name}.qrels]]", f'name = "{name}"']
            lines += [f'file = "{t.name}/{file}"', *["subtopics = true"] * subtopics, ""]
    return lines[:-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    here = Path(__file__).resolve().parent
    parser.add_argument("--out", type=Path, default=here / "collections")
    out = parser.parse_args().out
    tracks = (NEWS, WEB, PASSAGE)
    for track in tracks:
        make_track(track, out)
    write_text(out / "collection.toml", collection_lines(tracks))


if __name__ == "__main__":
    main()
