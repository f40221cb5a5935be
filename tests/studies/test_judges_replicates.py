"""Prompts and repeats of judges: faults, spread, models, variance components."""

from __future__ import annotations

import gzip
import math
import statistics
import struct
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import irmeta
from irmeta.errors import IrmetaError
from irmeta.stats.generalizability import crossed_components
from irmeta.studies.framework.study_results import StudyResults
from twins import generalizability
from twins import judges as twin
from twins.orders import kendall_tau_b

pytestmark = pytest.mark.usefixtures("undrawn_module")

FEW: dict[str, Any] = {
    "measures": "nDCG@10", "resamples": 200, "splits": 20, "draws": 19, "tests": "t", "adoption": 0,
    "holes": 0, "rel": 2,
}  # fmt: skip
MODELS, PROMPTS = ("big", "small"), ("1", "2", "3")


def made() -> tuple[dict[str, twin.Labels], dict[str, Any]]:
    """Return labels of people and of six judges, and five systems with distinct scores."""
    rng = np.random.default_rng(4)
    queries, docs = [f"q{q}" for q in range(7)], [f"d{d:02}" for d in range(14)]
    people = {q: {d: float(rng.integers(0, 4)) for d in docs} for q in queries}

    def judge(errors: float) -> twin.Labels:
        return {
            q: {
                d: float(rng.integers(0, 4)) if rng.random() < errors else grade
                for d, grade in people[q].items()
            }
            for q in queries
        }

    sets = {"people": people}
    sets |= {f"big{p}": judge(0.3 + int(p) / 20) for p in PROMPTS}
    sets |= {f"small{p}": judge(0.5 + int(p) / 10) for p in PROMPTS}
    for query in queries:  # a partial judge, and one that is worse than chance
        for doc in docs[:3]:
            del sets["big2"][query][doc]
    sets["small3"] = {q: {d: 3 - grade for d, grade in of.items()} for q, of in people.items()}
    runs = {
        f"s{s}": {
            q: {d: grade * s / 4 + float(rng.normal()) for d, grade in people[q].items()}
            for q in queries
        }
        for s in range(5)
    }
    return sets, runs


SETS, RUNS = made()
LISTS = {
    system: {q: sorted(scores, key=lambda d: -scores[d]) for q, scores in of.items()}
    for system, of in RUNS.items()
}


def studied(folder: Path, **options: Any) -> StudyResults:
    """Study the judges of `SETS` as files, one of them with repeated docs, and an empty one."""
    files = {}
    for name, labels in SETS.items():
        rows = [f"{q} 0 {d} {grade:g}" for q, of in labels.items() for d, grade in of.items()]
        if name == "big1":
            first, second = rows[:2]  # an earlier row of one has another grade, that of one has not
            rows = [f"{first[:-1]}{'12'[first[-1] == '1']}", second, *rows]
        files[name] = folder / f"{name}.txt"
        files[name].write_text("\n".join([*rows, ""]))
    files["big4"] = folder / "big4.txt"
    files["big4"].write_text("")
    del files["people"]
    categories = folder / "judges.csv"
    rows = [f"{m}{p},{m},{p}" for m in MODELS for p in (*PROMPTS, "4")]
    categories.write_text("\n".join(["judge,model,prompt", *rows[:-1], ""]))
    chosen: dict[str, Any] = {"categories": str(categories)} | FEW | options
    return irmeta.studies.judges(
        irmeta.from_data({"people": SETS["people"]}, RUNS),
        folder / "out",
        judges=[f"{name}={file}" for name, file in files.items()],
        **chosen,
    )


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> StudyResults:
    return studied(tmp_path_factory.mktemp("replicates"))


def shared_labels() -> dict[str, twin.Labels]:
    """Return the labels of the pairs that all sets have."""
    return {
        name: {
            q: {d: g for d, g in of.items() if all(d in other[q] for other in SETS.values())}
            for q, of in labels.items()
        }
        for name, labels in SETS.items()
    }


def values_by(labels: twin.Labels) -> list[list[float]]:
    return twin.adopted_values(LISTS, None, labels, 0)


def tau_by(reference: twin.Labels, judge: twin.Labels) -> float:
    return kendall_tau_b(*(twin.means(values_by(labels)) for labels in (reference, judge)))


def test_faults__are_named_and_only_empty_files_left_out(results: StudyResults):
    rows = results.tables["judge_faults"].select("judge", "fault", "left_out").rows()
    assert sorted(rows) == [
        ("big1", "repeated", False),
        ("big2", "partial", False),
        ("big4", "empty", True),
        ("small3", "chance", False),
    ]
    texts = dict(results.tables["judge_faults"].select("fault", "text").rows())
    assert texts["repeated"].endswith(": 1")
    assert texts["partial"].startswith("78.6%")
    assert texts["chance"].startswith("worse than chance: kappa of relevance -")


def test_repeated_docs__have_their_last_grade(results: StudyResults):
    row = results.tables["judges"].row(by_predicate=pl.col("judge") == "big1", named=True)
    grades = [grade for of in SETS["big1"].values() for grade in of.values()]
    assert (row["labels"], row["mean_grade"]) == (len(grades), pytest.approx(twin.mean(grades)))


def test_replicates__of_each_with_all_its_labels_and_on_shared_pairs(results: StudyResults):
    kappas = dict[tuple[str, str], float]()
    for pairs, sets in (("all", SETS), ("shared", shared_labels())):
        of_judges = results.tables["replicate_judges"].filter(pairs=pairs)
        for row in of_judges.iter_rows(named=True):
            judge = sets[row["judge"]]
            assert row["tau_b"] == pytest.approx(tau_by(sets["people"], judge)), row
            kappa = twin.kappa_of_relevance(sets["people"], judge, (2.0, 2.0))
            assert row["kappa"] == pytest.approx(kappa), row
            kappas[pairs, row["judge"]] = kappa
        for model in MODELS:
            (row,) = results.tables["replicates"].filter(pairs=pairs, model=model).to_dicts()
            taus = of_judges.filter(model=model)["tau_b"].to_list()
            assert row["replicates"] == 3
            assert (row["tau_least"], row["tau_greatest"]) == (min(taus), max(taus))
            assert row["tau_median"] == pytest.approx(statistics.median(taus))
            assert row["tau_sd"] == pytest.approx(statistics.stdev(taus))
            assert row["kappa_mean"] == pytest.approx(
                twin.mean([kappas[pairs, f"{model}{p}"] for p in PROMPTS])
            )
    assert len(kappas) == 12
    unjudged = results.tables["replicate_judges"].filter(pairs="shared")["unjudged"].unique()
    assert unjudged.item() > 0


def test_systems__spread_over_replicates(results: StudyResults):
    for pairs, sets in (("all", SETS), ("shared", shared_labels())):
        means = [twin.means(values_by(sets[f"small{p}"])) for p in PROMPTS]
        for s in range(5):
            key = {"pairs": pairs, "model": "small", "system": f"s{s}"}
            (row,) = results.tables["replicate_systems"].filter(**key).to_dicts()
            of_system = [of[s] for of in means]
            assert row["sd"] == pytest.approx(statistics.stdev(of_system))
            assert (row["least"], row["greatest"]) == pytest.approx(
                (min(of_system), max(of_system))
            )
            ranks = [1 + sum(other > of[s] for other in of) for of in means]
            assert (row["rank_first"], row["rank_last"]) == (min(ranks), max(ranks))


def test_models__are_compared_on_shared_pairs_with_paired_prompts(results: StudyResults):
    (row,) = results.tables["replicate_models"].to_dicts()
    sets = shared_labels()
    means = [
        twin.mean([tau_by(sets["people"], sets[f"{model}{p}"]) for p in PROMPTS])
        for model in MODELS
    ]
    assert (row["replicates"], row["queries"]) == (3, 7)
    assert (row["tau"], row["tau_other"]) == pytest.approx(means)
    assert row["difference"] == pytest.approx(means[0] - means[1])
    assert row["difference_low"] < row["difference"] < row["difference_high"]


def cells_of(models: tuple[str, ...]) -> generalizability.Cells:
    """Return values on shared pairs by model, prompt, query and system."""
    sets = shared_labels()
    return {
        (m, p, q, s): value
        for m, model in enumerate(models)
        for p, prompt in enumerate(PROMPTS)
        for q, row in enumerate(values_by(sets[f"{model}{prompt}"]))
        for s, value in enumerate(row)
    }


def test_components__of_models_and_of_all_models(results: StudyResults):
    names = ("model", "replicate", "query", "system")
    every = results.tables["replicate_components"]
    cells = {"all models": (names, cells_of(MODELS))} | {
        model: (names[1:], {key[1:]: value for key, value in cells_of((model,)).items()})
        for model in MODELS
    }
    for design, (facets, of_design) in cells.items():
        expected = {
            " x ".join(facets[i] for i in shared) if len(shared) < len(facets) else "rest": of
            for shared, of in generalizability.crossed_components(of_design).items()
        }
        rows = every.filter(design=design).select("component", "variance").rows()
        assert dict(rows) == pytest.approx(expected)
    assert every["design"].n_unique() == 3
    assert every.filter(design="big")["share"].sum() == pytest.approx(1)


def test_reliability__of_prompts_and_the_queries_they_are_worth(results: StudyResults):
    rows = results.tables["replicate_components"].filter(design="small")
    of = {name: max(v, 0.0) for name, v in rows.select("component", "variance").rows()}
    for row in results.tables["replicate_reliability"].filter(model="small").to_dicts():
        errors = [
            of["replicate x system"] / prompts
            + of["query x system"] / queries
            + of["rest"] / prompts / queries
            for prompts, queries in ((row["replicates"], 7), (1, row["as_queries"] or math.inf))
        ]
        assert row["e_rho2"] == pytest.approx(of["system"] / (of["system"] + errors[0]))
        if row["as_queries"] is None:
            assert errors[0] <= errors[1]
        else:
            assert errors[1] == pytest.approx(errors[0])
    assert results.tables["replicate_reliability"]["replicates"].unique().to_list() == [
        1, 2, 3, 5, 10,
    ]  # fmt: skip


@pytest.mark.parametrize("shape", [(2, 3), (3, 2, 4), (2, 2, 3, 2)])
def test_crossed_components__are_those_of_products(shape: tuple[int, ...]):
    values = np.random.default_rng(len(shape)).normal(size=shape)
    cells = {key: float(values[key]) for key in product(*map(range, shape))}
    assert crossed_components(values) == pytest.approx(generalizability.crossed_components(cells))


def test_leave_out__means_without_faulty_judges(tmp_path: Path):
    chosen = ["repeated", "partial", "chance"]
    results = studied(tmp_path, leave_out=chosen)
    assert results.tables["judge_faults"]["left_out"].all()
    judges = results.tables["replicate_judges"]["judge"].unique().sort().to_list()
    assert judges == ["big3", "small1", "small2"]
    (row,) = results.tables["categories"].filter(category="model", value="small").to_dicts()
    assert row["judges"] == 2
    assert {"big1", "small3"} < set(results.tables["verdicts"]["judge"])
    assert set(results.tables["replicate_components"]["design"]) == {"small"}


def test_repeats__are_nested_in_prompts(tmp_path: Path):
    file = tmp_path / "repeats.csv"
    rows = [f"big{i},m,{i > 1},{i}" for i in (1, 2, 3)] + ["small1,m,False,2", "small2,n,1,1"]
    file.write_text("\n".join(["judge,model,prompt,repeat", *rows, ""]))
    results = studied(tmp_path, categories=str(file))
    components = results.tables["replicate_components"].filter(design="m: repeats")
    assert components["component"].to_list() == [
        "prompt", "repeat", "cell", "prompt x cell", "rest",
    ]  # fmt: skip
    sets = {name: SETS[name] for name in ("people", "big1", "big2", "big3", "small1", "small2")}
    values = np.array(
        [
            values_by({q: {d: g for d, g in of.items() if d in sets["big2"][q]}
                       for q, of in sets[name].items()})
            for name in ("big1", "small1", "big2", "big3")
        ]
    ).reshape(2, 2, -1)  # fmt: skip
    within = values - values.mean(axis=1, keepdims=True)
    centred = within - within.mean(axis=2, keepdims=True)
    residual = float((centred**2).sum()) / (2 * (values.shape[2] - 1))
    assert components["variance"][4] == pytest.approx(residual)


def test_tables_of_values__have_replicates_too(tmp_path: Path):
    files = {}
    for name in ("people", "big1", "big3", "small1", "small2"):
        files[name] = tmp_path / f"{name}.tot"
        files[name].write_text(
            "\n".join(
                f"s{s} ndcg_cut_10 q{q} {value:.4f}"
                for q, row in enumerate(values_by(SETS[name]))
                for s, value in enumerate(row)
            )
        )
    categories = tmp_path / "judges.csv"
    categories.write_text(
        "judge,model,prompt\nbig1,big,1\nbig3,big,3\nsmall1,small,1\nsmall2,small,2\n"
    )
    results = irmeta.studies.judges(
        None, tmp_path / "out", reference=str(files.pop("people")), splits=20, resamples=50,
        judges={name: str(file) for name, file in files.items()}, categories=str(categories),
    )  # fmt: skip
    rows = results.tables["replicates"]
    assert rows["pairs"].to_list() == ["all", "all", "shared", "shared"]
    assert rows["kappa_mean"].is_nan().all()
    assert results.tables["replicate_models"]["replicates"].to_list() == [1]
    assert rows["tau_mean"][0] == pytest.approx(rows["tau_mean"][2])


def test_page__says_the_widest_spread(results: StudyResults):
    text = (results.folder / "report.html").read_text()
    row = results.tables["replicates"].filter(pairs="all")
    widest = row.sort(pl.col("tau_least") - pl.col("tau_greatest")).row(0, named=True)
    said = f"spans {widest['tau_least']:.3f} to {widest['tau_greatest']:.3f} over the 3 replicates"
    assert said in text


def test_refusals(tmp_path: Path):
    with pytest.raises(IrmetaError, match="leave_out has no effect without categories of judges"):
        studied(tmp_path, leave_out="chance", categories=None)
    file = tmp_path / "same.csv"
    file.write_text("judge,model,prompt\nbig1,big,1\nbig2,big,1\n")
    with pytest.raises(IrmetaError, match="'big1' and 'big2' of big have the same prompt 1"):
        studied(tmp_path, categories=str(file))


def single(score: str) -> float:
    """Return a score as the four bytes in which trec_eval holds it."""
    return struct.unpack("f", struct.pack("f", float(score)))[0]


@pytest.fixture(scope="session")
def prompts(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> StudyResults:
    """The study of 80 files by three models on TREC 2021 deep learning."""
    source, folder = shared / "judges", tmp_path_factory.mktemp("prompts")
    track = source / "trec-dl-2021-passage"
    files = {
        f"{file.parent.name}-{file.name.partition('.txt')[0]}": file
        for file in sorted((source / "prompts-dl-2021").glob("*/*.txt.gz"))
    }
    rows = [f"{name},{file.parent.name},{file.name}" for name, file in files.items()]
    (folder / "judges.csv").write_text("\n".join(["judge,model,prompt", *rows, ""]))
    return irmeta.studies.judges(
        irmeta.from_data({"nist": track / "qrels.txt"}, sorted((track / "runs").iterdir())),
        folder / "out",
        judges=[f"{name}={file}" for name, file in files.items()],
        categories=str(folder / "judges.csv"),
        **FEW,
    )


@pytest.mark.real
def test_prompts__spread_of_three_models_on_dl_2021(prompts: StudyResults):
    every = prompts.tables["replicates"].rows_by_key("pairs", named=True)
    spread = {
        row["model"]: (round(row["tau_least"], 3), round(row["tau_greatest"], 3))
        for row in every["all"]
    }
    assert spread == {
        "gpt-4o": (0.85, 0.939),
        "llama3.2": (0.407, 0.901),
        "mistral": (0.816, 0.89),
    }
    of_llama = {row["model"]: row for row in every["all"]}["llama3.2"]
    assert round(of_llama["tau_median"], 3) == 0.805
    limits = {row["model"]: row["limits"] for row in every["all"]}
    assert limits["gpt-4o"] == "cannot be said: 26 of 27 replicates (see verdicts)"
    assert limits["mistral"] is None
    llama = {row["model"]: row for row in every["shared"]}["llama3.2"]
    assert llama["tau_greatest"] - llama["tau_least"] < 0.1
    assert llama["limits"].startswith("holes of both sides")
    faults = prompts.tables["judge_faults"]
    assert faults.filter(fault="empty")["judge"].to_list() == ["llama3.2-binary-empty"]
    assert set(faults.filter(fault="repeated")["judge"]) == {
        "llama3.2-graded-1", "llama3.2-graded-2", "llama3.2-graded-3", "mistral-graded-17",
        "mistral-graded-28", "mistral-graded-29",
    }  # fmt: skip
    partial = faults.filter(fault="partial", judge="gpt-4o-graded-0")["text"].item()
    assert partial == "17.1% of the reference's labels; by its grade 0: 12%, 1: 17%, 2: 21%, 3: 29%"
    assert prompts.tables["replicate_models"]["replicates"].to_list() == [27] * 3


@pytest.mark.real
def test_prompts__tau_of_some_files_by_hand(prompts: StudyResults, shared: Path):
    folder = shared / "judges" / "trec-dl-2021-passage"
    nist = labels_of((folder / "qrels.txt").read_text())
    lists: dict[str, dict[str, list[str]]] = {}
    for file in (folder / "runs").iterdir():
        content = file.read_bytes()
        scored: dict[str, list[tuple[float, str]]] = {}
        text = gzip.decompress(content) if file.suffix == ".gz" else content
        for line in text.decode().splitlines():
            query, _, doc, _, score, _ = line.split()
            scored.setdefault(query, []).append((single(score), doc))
        lists[file.name] = {
            query: [doc for _, doc in sorted(docs, reverse=True)[:10]]
            for query, docs in scored.items()
        }
    people = twin.means(twin.adopted_values(lists, None, nist, 0))
    taus = dict(
        prompts.tables["replicate_judges"].filter(pairs="all").select("judge", "tau_b").rows()
    )
    for model, prompt in (("llama3.2", 1), ("mistral", 28), ("gpt-4o", 0)):
        file = shared / "judges" / "prompts-dl-2021" / model / f"graded-{prompt}.txt.gz"
        judge = labels_of(gzip.decompress(file.read_bytes()).decode())
        means = twin.means(twin.adopted_values(lists, None, judge, 0))
        assert taus[f"{model}-graded-{prompt}"] == pytest.approx(kendall_tau_b(people, means))


def labels_of(text: str) -> twin.Labels:
    """Return labels by query and doc; the last of several counts."""
    labels: twin.Labels = {}
    for line in text.splitlines():
        query, _, doc, grade = line.split()
        labels.setdefault(query, {})[doc] = float(grade)
    return labels


@pytest.mark.study
def test_categories__of_a_track_are_those_of_its_file(tmp_path: Path):
    labels = {name: SETS[name] for name in ("people", "big1", "big2", "small1", "small2")}
    irmeta.from_data(labels, RUNS, track="t").to_trec(tmp_path / "collection")
    rows = [f"{name},{name[:-1]},{name[-1]}" for name in labels if name != "people"]
    file = tmp_path / "collection" / "t" / "judges.csv"
    file.write_text("\n".join(["judge,model,prompt", *rows, ""]))
    store, options = irmeta.read(tmp_path / "collection"), {"reference": "people", **FEW}
    options |= {"leave_out": ("chance",)}
    beside = irmeta.studies.judges(store, tmp_path / "beside", **options).tables
    stated = irmeta.studies.judges(
        store, tmp_path / "stated", categories=str(file), **options
    ).tables
    assert beside["verdicts"]["category"].to_list() == [
        f"model {m}, prompt {p}" for m in ("big", "small") for p in "12"
    ]
    for name in ("categories", "replicates"):
        assert beside[name].height
        assert beside[name].equals(stated[name])
