"""The state of each track of the catalogue, and its ranking tasks."""

from __future__ import annotations

import tomllib
from collections import Counter

import pytest

import irmeta
from irmeta.archive import catalog
from irmeta.archive.catalog import FOLDER, STATES, all_choices, choices

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
