"""The state, tasks and formats of each track of the catalogue."""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path

import pytest

import irmeta
from irmeta.archive import catalog
from irmeta.archive.catalog import FOLDER, STATES, all_choices, choices
from irmeta.trec.qrels import QrelsFormat, parse_qrels
from irmeta.trec.streams import InputFile

READY = [one for one in all_choices().values() if one.state == "ready"]


def tables(name: str) -> dict[str, object]:
    return tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


def test_choices__every_track_has_exactly_one_state() -> None:
    ids = catalog.runs()["id"].unique()
    assert all_choices().keys() == set(ids)
    assert {one.state for one in all_choices().values()} == set(STATES)
    not_ready = tables("not_ready")
    named = [*tables("ready")]
    named += [id_ for kind in not_ready.values() for one in kind for id_ in one["tracks"]]
    assert [id_ for id_, times in Counter(named).items() if times > 1] == []
    assert set(named) <= set(ids)


def test_choices__reason_unless_ready() -> None:
    assert {id_ for id_, one in all_choices().items() if not one.reason} == {o.id for o in READY}
    assert all(one.tasks for one in READY)
    assert not any(one.tasks for one in all_choices().values() if one.state != "ready")


def test_choices__ready_tracks_have_qrels_and_runs() -> None:
    runs = {key: set(group["task"]) for (key,), group in located_runs().group_by("id")}
    for one in READY:
        for task in one.tasks:
            assert runs[one.id] & set(task.run_tasks), task.folder
            assert task.sets, task.folder


def located_runs():
    return catalog.runs().drop_nulls("address")


def test_choices__each_run_task_is_used_once_or_left_out() -> None:
    for one in READY:
        known = set(catalog.runs().filter(id=one.id)["task"])
        used = [task for choice in one.tasks for task in choice.run_tasks]
        used += [task for task, _ in one.left_out]
        assert sorted(used) == sorted(known), one.id


def test_choices__first_set_is_primary_and_names_differ() -> None:
    folders = [task.folder for one in READY for task in one.tasks]
    assert len({folder.lower() for folder in folders}) == len(folders)
    for one in READY:
        for task in one.tasks:
            assert [s.primary for s in task.sets] == [True] + [False] * (len(task.sets) - 1)
            assert len({s.name for s in task.sets}) == len(task.sets)
            archives = (".tar.gz", ".tgz", ".zip")
            for chosen in task.sets:
                assert bool(chosen.members) == any(a.endswith(archives) for a in chosen.addresses)


@pytest.mark.parametrize(
    ("track", "state"),
    [
        ("trec8/adhoc", "ready"),
        ("trec8/qa", "not a ranking task"),
        ("trec8/girt", "no qrels"),
        ("trec13/HARD", "no runs"),
        ("trec19/session", "needs a choice"),
    ],
)
def test_choices__state(track: str, state: str) -> None:
    assert choices(track).state == state


def test_choices__unknown_track_is_refused_with_the_nearest() -> None:
    with pytest.raises(irmeta.UsageError, match="Did you mean 'trec8/adhoc'"):
        choices("trec8/ad-hoc")


def test_choices__web_2010_takes_ad_hoc_qrels_before_diversity() -> None:
    (task,) = choices("trec19/web").tasks
    assert [(one.name, one.format) for one in task.sets] == [
        ("adhoc", "trec"),
        ("diversity", "subtopics"),
    ]
    assert task.sets[0].addresses != task.sets[1].addresses


# By the folder of a task: files and the number of their queries, in the order of the sets.
FILES = {
    "trec2-adhoc": {"adhoc.101-150": 50},
    "trec3-adhoc": {"adhoc.151-200": 50},
    "trec7-adhoc": {"adhoc.351-400": 50},
    "trec8-adhoc": {"adhoc.401-450": 50},
    "trec8-web": {"web.401-450": 50},
    "trec14-robust": {"robust05": 50},
    "trec13-terabyte": {"terabyte04.701-750": 49},
    "trec14-terabyte-adhoc": {"terabyte05.751-800": 50},
    "trec15-terabyte-adhoc": {"terabyte06.801-850": 50},
    "trec16-million-query": {"prels.mq.1-10000": 1778},
    "trec18-web": {"prels.web.1-50": 50, "web-2009.diversity": 50},
    "trec19-web": {"web.51-100": 48, "web-2010.diversity": 48},
    "trec20-web": {"web.101-150": 50, "web-2011.diversity": 50},
    "trec22-web": {"web.201-250": 50, "web.201-250.ndeval": 50},
    "trec23-web": {"web.251-300": 50, "web.251-300.ndeval": 50},
    "trec20-microblog": {"microblog2011": 49},
    "trec21-microblog": {"microblog2012": 59},
    "trec22-microblog": {"microblog2013": 60},
    "trec23-microblog": {"microblog2014": 55},
    "trec26-core": {"core17": 50},
    "trec27-core": {"core18": 50},
    "trec27-news-background": {"backgroundlinking18": 50},
    "trec28-news-background": {"backgroundlinking19": 57},
    "trec28-deep-docs": {"dl19-doc": 43},
    "trec28-deep-passages": {"dl19-passage": 43},
    "trec29-deep-docs": {"dl20-doc": 45},
    "trec29-deep-passages": {"dl20-passage": 54},
    "trec30-deep-docs": {"dl21-doc": 57},
    "trec30-deep-passages": {"dl21-passage": 53},
    "trec31-neuclir-fas": {"neuclir22-fa": 46},
    "trec31-neuclir-rus": {"neuclir22-ru": 45},
    "trec31-neuclir-zho": {"neuclir22-zh": 49},
}


@pytest.mark.real
def test_choices__real_files_have_the_chosen_format(shared: Path) -> None:
    for folder, files in FILES.items():
        track = "/".join(folder.split("-")[:2]).replace("million", "million-query")
        (task,) = (one for one in choices(track).tasks if one.folder == folder)
        for (name, queries), chosen in zip(files.items(), task.sets, strict=False):
            by_subtopic = chosen.format == "subtopics"
            form: QrelsFormat = "trec" if chosen.format == "subtopics" else chosen.format
            file = InputFile.at(shared / "qrels" / f"{name}.txt.gz", name)
            frame = parse_qrels(file, form, subtopics=by_subtopic).frame
            assert frame["query"].n_unique() == queries, name
            assert (frame["subtopic"].n_unique() > 1) == by_subtopic, name
