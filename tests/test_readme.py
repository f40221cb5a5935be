"""The README and the pages of the site: examples, length, links and commands."""

from __future__ import annotations

import contextlib
import io
import json
import re
import shlex
import shutil
import tomllib
from pathlib import Path

import polars as pl
import pytest

import irmeta
from support.commands import all_commands

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SITE = ROOT / "notebooks" / "site"
EXECUTED = [ROOT / "README.md", SITE / "ties.md", SITE / "qrels_sets.md"]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *SITE.glob("*.md")]


@pytest.mark.parametrize("page", EXECUTED, ids=lambda page: page.stem)
def test_page__examples_print_their_output(page: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(ROOT)
    text = page.read_text(encoding="utf-8")
    names: dict[str, object] = {}
    examples = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", text, re.DOTALL)
    assert len(examples) == text.count("```python")
    for code, output in examples:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, names)
        assert printed.getvalue() == output


def test_readme__is_short():
    assert len(README.split()) <= 900


def test_metadata__readme_has_no_relative_links():
    """A package index shows it without the files of the repository."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    text = README
    for change in project["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"][
        "substitutions"
    ]:
        text = re.sub(change["pattern"], change["replacement"], text)
    assert not re.findall(r"\]\((?!https?:)", text)
    assert "and [more](" in README
    assert "and more." in text


def test_citation__names_this_version():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {irmeta.__version__}\n" in citation


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page__links_to_existing_files(page: Path):
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8"))
    missing = [link for link in links if not (page.parent / link).exists()]
    assert not missing


def test_contents__name_every_page_and_notebook():
    contents = (SITE / "contents.md").read_text(encoding="utf-8")
    for page in (ROOT / "notebooks").rglob("*"):
        if page.suffix in (".md", ".ipynb") and page.stem != "contents":
            name = page.relative_to(ROOT).with_suffix("").as_posix()
            assert f"\n{name}\n" in contents


MADE = ROOT / "data_fixtures" / "formats"
LINES = {
    page.stem: re.findall(r"^ {4}(irmeta .*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    for page in PAGES
}
"""Commands by the name of the page."""


def arguments(line: str) -> list[str]:
    """Return the words of a command; of a process substitution or redirection a file."""
    text = re.sub(r"<\([^)]*\)", "pipe", line).partition(" > ")[0]
    return shlex.split(text, comments=True)[1:]


@pytest.mark.parametrize("page", [name for name, lines in LINES.items() if lines])
def test_page__commands_are_valid(page: str):
    for line in LINES[page]:
        name, *rest = arguments(line)
        if name == "study" and rest:
            name, *rest = f"study {rest[0]}", *rest[1:]
        if name not in ("study", "trec_eval"):
            all_commands()[name].make_context(name, rest)  # an error for unknown options


FILES = {
    "scifact/qrels/test.tsv": "qrels/beir.tsv",
    "bm25.json": "runs/beir.json",
    "dense.json": "runs/lists.json",
    "qrels.dev.small.tsv": "qrels/msmarco.tsv",
    "run.dev.small.tsv": "runs/msmarco.tsv",
    "ratings.csv": "qrels/recommender.csv",
    "model.csv": "runs/named.csv",
    "qrels.txt": "qrels/trec.txt",
    "old.run": "runs/trec.run",
    "bm25.eval": "values/trec_eval/bm25.txt",
    "dense.eval": "values/trec_eval/dense.txt",
}
"""Files that the pages name, and made files of their forms."""


@pytest.fixture
def newcomer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that pages for new users name."""
    for name, made in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(MADE / made, tmp_path / name)
    run = (tmp_path / "old.run").read_text().splitlines()
    worse = [" ".join([*line.split()[:4], str(-i), "new"]) for i, line in enumerate(reversed(run))]
    (tmp_path / "new.run").write_text("\n".join(worse) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def line_of(page: str, start: str) -> list[str]:
    """Return the arguments of the first command of a page that begins so."""
    return next(arguments(line) for line in LINES[page] if line.startswith(start))


@pytest.mark.parametrize(
    ("page", "start", "status"),
    [
        ("formats", "irmeta evaluate scifact/", 0),
        ("formats", "irmeta evaluate qrels.dev", 0),
        ("formats", "irmeta evaluate ratings.csv", 0),
        ("formats", "irmeta compare bm25.eval", 0),
        ("regression_tests", "irmeta compare qrels.txt old.run new.run -m nDCG@10,RR", 1),
        ("regression_tests", "irmeta evaluate qrels.txt new.run", 0),
    ],
)
def test_page__commands_for_new_users_run(newcomer: Path, run, page, start, status):
    done = run(*line_of(page, start))
    assert (done.status, "failed" in done.err) == (status, status == 1), done.err
    assert len(done.out.splitlines()) > 1 or "rows in" in done.err


def test_page__json_of_a_build_has_what_the_page_says(newcomer: Path, run):
    done = run(*line_of("regression_tests", "irmeta compare qrels.txt old.run new.run -m nDCG@10 "))
    content = json.loads(done.out)
    assert content["facts"]["passed"] is False
    (row,) = content["tables"]["gate"]
    assert row.keys() >= {
        "baseline",
        "system",
        "drop",
        "max_drop",
        "p_uncorrected",
        "p_adjusted",
        "queries",
        "reason",
    }
    assert pl.read_csv("queries.csv")["relevant"].sum() > 0


def test_folders__errors_say_what_to_name(newcomer: Path, run):
    said = "Or name files: scifact/qrels/test.tsv, then those of runs."
    assert said in run("evaluate", "scifact", "-m", "AP").err
    done = run("evaluate", "qrels.txt", "scifact", "-m", "AP")
    assert (
        "scifact is a folder: name the file of the qrels, then the run files, such as" in done.err
    )
    assert "scifact/*." in done.err


def test_links__keep_their_names_in_errors_and_results(newcomer: Path, run):
    (newcomer / "bad.txt").write_text("701 Q0 d x y\n")
    for link, target in (
        ("mine.run", "old.run"),
        ("broken.run", "bad.txt"),
        ("judged", "qrels.txt"),
        ("values.csv", "bad.txt"),
        ("gone.run", "nowhere"),
    ):
        (newcomer / link).symlink_to(target)
    done = run("evaluate", "judged", "mine.run", "broken.run", "-m", "AP", "--names", "file")
    assert (done.status, done.out.splitlines()[1].split(",")[0]) == (3, "mine")
    assert "judged: broken.run, line 1: field 5" in done.err
    assert "bad.txt" not in done.err
    assert "gone.run is not a file" in run("evaluate", "judged", "gone.run", "-m", "AP").err
    assert run("compare", "values.csv", "-m", "AP").err.startswith("irmeta: values.csv")
    folder = newcomer / "news" / "runs"
    folder.mkdir(parents=True)
    (newcomer / "news" / "qrels.txt").symlink_to("../qrels.txt")
    (folder / "a.run").symlink_to("../../mine.run")
    (folder / "b.run").symlink_to("../../bad.txt")
    assert "news/runs/b.run, line 1" in run("evaluate", newcomer, "-m", "AP").err


def test_dockerfile__installs_the_wheel_and_runs_the_command():
    text = (SITE / "containers.md").read_text(encoding="utf-8")
    (lines,) = re.findall(r"```dockerfile\n(.*?)```", text, re.DOTALL)
    steps = [line.split(maxsplit=1) for line in lines.splitlines()]
    assert len(steps) <= 10
    given = dict(steps)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wheel, folder = given["COPY"].split()
    assert (wheel, folder) == (f"dist/{project['name']}-*.whl", "/tmp/")
    installed = next(value for name, value in steps if name == "RUN")
    assert f"pip install --no-cache-dir {folder}{wheel.removeprefix('dist/')}" in installed
    assert json.loads(given["ENTRYPOINT"]) == list(project["scripts"])
    minor = int(re.fullmatch(r"python:3\.(\d+)-slim", given["FROM"])[1])
    assert minor >= int(project["requires-python"].removeprefix(">=3."))
    name, _, home = given["ENV"].partition("=")
    assert home.startswith(f"/home/{given['USER']}/")
    assert name in (ROOT / "irmeta" / "kernels" / "jit.py").read_text(encoding="utf-8")
