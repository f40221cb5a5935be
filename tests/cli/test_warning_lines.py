"""Warnings on stderr: many about tracks are shortened, no track is lost."""

from __future__ import annotations

import re
import threading

import pytest

from irmeta.cli.notes import PRINTED, WarningLines


def test_warnings_about_many_tracks__first_in_full_then_every_other_track_by_name(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = WarningLines()
    for number in range(PRINTED + 3):
        lines.show(UserWarning(f"track t{number}: its pool is shallow ({number})"), UserWarning)
    lines.show(DeprecationWarning("track t0: of another kind"), DeprecationWarning)
    lines.show(UserWarning("about no track"), UserWarning)
    lines.finish()
    lines.finish()
    printed = capsys.readouterr().err.splitlines()
    in_full = [line for line in printed if "shallow" in line]
    assert [re.findall(r"t\d", line)[0] for line in in_full] == [f"t{n}" for n in range(PRINTED)]
    assert printed[PRINTED:] == [
        "irmeta: track t0: of another kind",
        "irmeta: about no track",
        "irmeta: 3 more tracks with a warning like this (UserWarning): t5, t6, t7",
    ]


def test_warnings_from_threads__every_track_appears_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = WarningLines()
    threads = [
        threading.Thread(target=lines.show, args=(UserWarning(f"track t{n:02}: same"), UserWarning))
        for n in range(40)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines.finish()
    printed = capsys.readouterr().err
    assert sorted(re.findall(r"t\d\d", printed)) == [f"t{n:02}" for n in range(40)]
