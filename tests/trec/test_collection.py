"""Files of a track, by convention or by collection.toml, and facts about systems."""

import errno
import os
from pathlib import Path

import pytest

from irmeta.errors import DataError, UsageError
from irmeta.policies import ReadPolicy
from irmeta.store.facts import Facts, read_facts
from irmeta.trec import collection
from irmeta.trec.collection import chosen, left_out, read_collection
from irmeta.trec.source import AnyTrack, BrokenTrack, QrelsSource, TrackSource

FILES = ("a/runs/y.gz", "a/runs/x.txt", "a/runs/.hidden", "b/z.run", "q.txt", "div.txt", "f.csv")
PLAIN = '[tracks.t]\nruns = ["a/runs/*"]\nqrels = "q.txt"\n'
FACTS = 'systems = { file = "f.csv", name = "run", group = "team", type = "kind", pooled = "p" }\n'


@pytest.fixture
def configured(tmp_path: Path):
    """Return a function that reads a collection of empty files with a given collection.toml."""

    def read(config: str | bytes, policy: ReadPolicy | None = None) -> list[AnyTrack]:
        place(tmp_path, *FILES)
        raw = config if isinstance(config, bytes) else f"only_described = true\n{config}".encode()
        (tmp_path / "collection.toml").write_bytes(raw)
        return read_collection(tmp_path, policy)

    return read


def problem(tracks: list[AnyTrack]) -> str:
    """Return the error of the only track."""
    (track,) = tracks
    assert isinstance(track, BrokenTrack)
    return str(track.error)


def place(folder: Path, *files: str) -> Path:
    for file in files:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).touch()
    return folder


def test_read_collection__every_folder_with_runs_is_a_track(tmp_path):
    place(tmp_path, "b/runs/2", "b/runs/1.gz", "b/runs/.x", "b/qrels.txt", "b/notes.txt")
    place(tmp_path, "a c/runs/1", "a c/qrels-graded.gz", "other/x", ".git/runs/x")
    assert read_collection(tmp_path) == [
        TrackSource(
            "a c", tmp_path, ("a c/runs/1",), (QrelsSource("qrels", "a c/qrels-graded.gz"),)
        ),
        TrackSource(
            "b", tmp_path, ("b/runs/1.gz", "b/runs/2"), (QrelsSource("qrels", "b/qrels.txt"),)
        ),
    ]


def test_read_collection__store_beside_tracks_is_ignored(tmp_path):
    place(tmp_path, "t/runs/1", "t/qrels", "store/manifest.json", "store/runs/t/part-0.parquet")
    assert [track.name for track in read_collection(tmp_path)] == ["t"]


def test_read_collection__folder_with_runs_is_a_single_track(tmp_path):
    place(tmp_path / "mine", "runs/1", "qrels.txt")
    (track,) = read_collection(str(tmp_path / "mine"), ReadPolicy(depth=5))
    assert (track.name, track.runs, track.policy.depth) == ("mine", ("runs/1",), 5)
    assert track.qrels == (QrelsSource("qrels", "qrels.txt"),)


@pytest.mark.parametrize("name", ["x[1]", "a*b", "what?", "{a,b}", "x y", "é", "-"])
def test_read_collection__folder_name_is_not_a_pattern(tmp_path, name):
    for other in (name, "x1", "axb", "whatx", "a", "b"):
        place(tmp_path / other, "runs/1", "qrels.txt")
    tracks = {track.name: track for track in read_collection(tmp_path)}
    assert tracks[name].runs == (f"{name}/runs/1",)
    assert tracks[name].qrels == (QrelsSource("qrels", f"{name}/qrels.txt"),)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (
            ["t/runs/1", "t/qrels.a", "t/qrels.b"],
            "track t: one file named qrels* expected, found FOLDER/t/qrels.a, FOLDER/t/qrels.b. "
            "Put this line at the top of collection.toml, the primary set first",
        ),
        (
            ["t/runs/1"],
            "track t: one file named qrels* expected, found none. Name the track's files",
        ),
        (["t/runs/.keep", "t/qrels"], "track t: FOLDER/t/runs: is empty. Put one file per run"),
    ],
)
def test_read_collection__ambiguous_folder_is_an_error_with_advice(tmp_path, files, said):
    assert problem(read_collection(place(tmp_path, *files))).startswith(
        said.replace("FOLDER", str(tmp_path))
    )


@pytest.mark.parametrize("name", ["adhoc-qrels.txt", "document_ndcg.qrels", "My.QRELS.gz"])
def test_read_collection__only_file_with_qrels_in_its_name_counts(tmp_path, name):
    (track,) = read_collection(place(tmp_path, "t/runs/1", f"t/{name}", "t/notes"))
    assert isinstance(track, TrackSource)
    assert track.qrels == (QrelsSource("qrels", f"t/{name}"),)
    (track,) = read_collection(place(tmp_path, "t/qrels"))
    assert isinstance(track, TrackSource)
    assert track.qrels == (QrelsSource("qrels", "t/qrels"),)


def test_read_collection__ambiguous_qrels_print_the_line_that_names_them(tmp_path):
    place(tmp_path, "2012 web/runs/1", "2012 web/adhoc-qrels.txt", "2012 web/diversity-qrels.txt")
    said = problem(read_collection(tmp_path))
    line = said[said.index("tracks.") :]
    (tmp_path / "collection.toml").write_text(f"{line}\n[tracks.z]\n")
    track, _ = read_collection(tmp_path)
    assert isinstance(track, TrackSource)
    assert (track.name, track.runs) == ("2012 web", ("2012 web/runs/1",))
    assert track.qrels == (
        QrelsSource("adhoc-qrels", "2012 web/adhoc-qrels.txt"),
        QrelsSource("diversity-qrels", "2012 web/diversity-qrels.txt"),
    )


def test_read_collection__runs_in_nested_folders(tmp_path):
    runs = ("t/runs/a/output/run1.txt", "t/runs/b/output/run1.txt", "t/runs/run2")
    place(tmp_path, "t/qrels", *runs, "t/runs/a/.x", "t/runs/.git/x")
    (tmp_path / "t/runs/up").symlink_to(tmp_path)
    (track,) = read_collection(tmp_path)
    assert track.runs == (*runs, "t/runs/up")


def test_read_collection__undescribed_folders_are_read_by_convention(tmp_path):
    place(tmp_path, "a/runs/1", "a/qrels", "b/runs/1", "b/qrels", "c/runs/1", "q.txt", "d/runs/1")
    config = tmp_path / "collection.toml"
    described = "[tracks.b]\ndepth = 5\n[tracks.t]\nruns = 'c/*/1'\nqrels = 'q.txt'\n"
    config.write_text(described)
    tracks = read_collection(tmp_path, ReadPolicy(tie_order="rank"))
    assert [track.name for track in tracks] == ["a", "b", "d", "t"]
    assert isinstance(tracks[2], BrokenTrack)
    assert [track.policy.depth for track in tracks if isinstance(track, TrackSource)] == [
        None,
        5,
        None,
    ]
    assert left_out(tmp_path) == []
    config.write_text(f"only_described = true\n{described}")
    assert [track.name for track in read_collection(tmp_path)] == ["b", "t"]
    assert left_out(tmp_path) == ["a", "d"]
    config.write_text("[tracks.t]\nruns = 'c/runs/none'\nqrels = 'q.txt'\n")
    assert [track.name for track in read_collection(tmp_path)] == ["a", "b", "d", "t"]


def test_read_collection__described_track_takes_missing_files_by_convention(tmp_path):
    place(tmp_path, "a/runs/x/1", "a/qrels", "b/other", "b/my.qrels", "c/runs/1")
    (tmp_path / "collection.toml").write_text(
        "[tracks.a]\n[tracks.b]\nruns = 'b/other'\n[tracks.c]\n[tracks.d]\nqrels = 'a/qrels'\n"
    )
    a, b, c, d = read_collection(tmp_path)
    assert (a.runs, b.runs) == (("a/runs/x/1",), ("b/other",))
    assert isinstance(a, TrackSource)
    assert isinstance(b, TrackSource)
    assert (a.qrels[0].file, b.qrels[0].file) == ("a/qrels", "b/my.qrels")
    assert problem([c]) == (
        f"track c: {tmp_path}/collection.toml: tracks.c.qrels is not given, and by convention one "
        "file named qrels* expected, found none. Name the track's files in collection.toml."
    )
    assert "tracks.d.runs names no run" in problem([d])


def test_read_collection__single_track_may_be_described(tmp_path):
    place(tmp_path, "runs/1", "qrels.txt")
    (tmp_path / "collection.toml").write_text("[tracks.mine]\npool_depth = 7\n")
    (track,) = read_collection(tmp_path)
    assert isinstance(track, TrackSource)
    assert (track.name, track.runs, track.pool_depth) == ("mine", ("runs/1",), 7)
    assert track.qrels == (QrelsSource("qrels", "qrels.txt"),)


def test_read_collection__folder_without_tracks_is_refused(tmp_path):
    said = r"no sub-folder holds runs/. Put runs in TRACK/runs/ and the judgments"
    with pytest.raises(DataError, match=said):
        read_collection(place(tmp_path, "t/1", "t/qrels"))


def test_read_collection__broken_track_leaves_others_readable(configured, tmp_path):
    place(tmp_path / "c", "a/runs/1", "a/qrels", "b/runs/1", "b/qrels.1", "b/qrels.2", "c/runs/1")
    broken = read_collection(tmp_path / "c")
    assert [type(track) for track in broken] == [TrackSource, BrokenTrack, BrokenTrack]
    tracks = configured(PLAIN + '[tracks.u]\nruns = "none*"\nqrels = "q.txt"\n')
    assert [type(track) for track in tracks] == [TrackSource, BrokenTrack]
    assert "tracks.u.runs = 'none*' matches no file" in str(tracks[1].error)


def test_chosen__fails_only_if_all_chosen_tracks_are_broken(tmp_path):
    tracks = read_collection(place(tmp_path, "a/runs/1", "a/qrels", "b/runs/1", "c/runs/1"))
    assert [track.name for track in chosen(tracks, None, "c")] == ["a", "b", "c"]
    assert [track.name for track in chosen(tracks, "a", "c")] == ["a"]
    with pytest.raises(DataError, match=r"track b: .*found none.*1 more tracks cannot"):
        chosen(tracks, ["b", "c"], "c")


@pytest.fixture
def closed(monkeypatch: pytest.MonkeyPatch):
    """Return a function that makes a folder unreadable for any user."""
    paths: list[Path] = []

    def refused(function, itself: bool):
        def guarded(path, *more, **named):
            above = [Path(path), *Path(path).parents][not itself :]
            if any(one in above for one in paths):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
            return function(path, *more, **named)

        return guarded

    for name in ("listdir", "stat", "lstat"):
        function = refused(getattr(os, name), name == "listdir")
        monkeypatch.setattr(collection.os, name, function)
    return paths.append


@pytest.mark.parametrize("folder", ["b", "b/runs"])
def test_read_collection__unreadable_folder_is_named(tmp_path, closed, folder):
    place(tmp_path, "a/runs/1", "a/qrels", "b/runs/1", "b/qrels", "d/runs/1", "d/qrels")
    closed(tmp_path / folder)
    one, other, third = read_collection(tmp_path)
    assert isinstance(one, TrackSource)
    assert isinstance(third, TrackSource)
    assert problem([other]) == (
        f"track b: {tmp_path / folder}: cannot be opened (Permission denied)"
    )


@pytest.mark.parametrize("pattern", ["a/runs/*", "*/runs/*", "**/*.gz", "a/runs/y.gz"])
def test_read_collection__pattern_does_not_skip_unreadable_folder(
    configured, tmp_path, closed, pattern
):
    place(tmp_path, "d/runs/z.gz")
    closed(tmp_path / "a" / "runs")
    said = problem(configured(at("runs", f'["{pattern}"]')))
    assert "cannot be opened (Permission denied)" in said
    assert "a/runs" in said
    assert "a" not in left_out(tmp_path)


def test_expand__patterns_match_as_in_a_shell(tmp_path):
    place(tmp_path, "a/x.gz", "a/b/x.gz", "a/b/.x.gz", "a/[x]", "c.gz", ".h/x.gz", "a/b/y.txt")
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    for pattern, files in {
        "*.gz": {"c.gz"},
        "**/*.gz": {"c.gz", "a/x.gz", "a/b/x.gz"},
        "./a//*.gz": {"a/x.gz"},
        "a/**/[xy].*": {"a/x.gz", "a/b/x.gz", "a/b/y.txt"},
        "a/up/c.gz": {"a/up/c.gz"},
        "*/up/c.gz": {"a/up/c.gz"},
        "a/?/x.gz": {"a/b/x.gz"},
        "a/b/.x.gz": set(),
        "c.gz/x": set(),
        f"{tmp_path}/*.gz": {f"{tmp_path}/c.gz"},
        "a/../c.gz": {"a/../c.gz"},
    }.items():
        assert collection.expand(tmp_path, pattern) == files, pattern


def test_expand__several_stars_in_a_row_are_one(tmp_path, monkeypatch: pytest.MonkeyPatch):
    place(tmp_path, *(f"{'a/' * depth}f" for depth in range(1, 30)))
    monkeypatch.setattr(collection, "MOST_FOLDERS", 100)  # in exponentially many ways, millions
    assert len(collection.expand(tmp_path, "/".join(["**"] * 14) + "/f")) == 29


def test_read_collection__pattern_of_a_whole_disk_is_refused(
    configured, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(collection, "MOST_FOLDERS", 20)
    config = 'allow_outside = true\n[tracks.t]\nruns = ["/**/*.run"]\nqrels = "q.txt"\n'
    said = problem(configured(config))
    assert "tracks.t.runs = '/**/*.run' matches files in more than 20 folders" in said


def test_read_collection__path_must_be_a_folder(tmp_path):
    file = place(tmp_path, "file") / "file"
    for path, said in ((tmp_path / "none", "does not exist"), (file, "is not a folder")):
        with pytest.raises(UsageError, match=f"{said}: a collection is a folder"):
            read_collection(path)


def test_read_collection__config_sets_all_options(configured):
    tracks = configured(
        PLAIN
        + FACTS
        + '[tracks."2012"]\nruns = ["b/*.run", "a/runs/x*", "a/**/x.txt"]\n'
        + 'names = "(.*)\\\\.run"\ntie_order = "rank"\ndepth = 7\nduplicates = "first"\n'
        + 'qrels = [{ name = "adhoc", file = "q.txt", format = "prels" },'
        + ' { name = "div", file = "div.txt", subtopics = true }]\n',
        ReadPolicy(depth=9, malformed="skip"),
    )
    assert [t.name for t in tracks] == ["2012", "t"]
    assert tracks[0].runs == ("a/runs/x.txt", "b/z.run")
    assert tracks[0].qrels == (
        QrelsSource("adhoc", "q.txt", "prels"),
        QrelsSource("div", "div.txt", subtopics=True),
    )
    assert tracks[0].policy == ReadPolicy("rank", 7, "first", "skip", r"(.*)\.run")
    assert tracks[0].facts is None
    assert tracks[1].runs == ("a/runs/x.txt", "a/runs/y.gz")
    assert tracks[1].qrels == (QrelsSource("qrels", "q.txt"),)
    assert tracks[1].policy == ReadPolicy(depth=9, malformed="skip")
    assert (tracks[1].facts.name, tracks[1].facts.pooled) == ("run", "p")


def at(key: str, value: str) -> str:
    """Return the plain config with a key of its track set."""
    kept = [line for line in PLAIN.splitlines() if not line.startswith(f"{key} =")]
    return "\n".join([*kept, f"{key} = {value}\n"])


def in_set(entry: str) -> str:
    return at("qrels", f'[{{ name = "q", file = "q.txt", {entry} }}]')


CONFIG_ERRORS = [
    ("x = 1", "x is not a known key. Known: allow_outside, only_described, tracks."),
    ("", "tracks names no track. Add a table [tracks.NAME]."),
    ('allow_outside = "yes"', "allow_outside = 'yes' is not true or false"),
    ("tracks = 3", "tracks = 3 is not a table"),
    ("tracks.t = 3", "tracks.t = 3 is not a table"),
    (at("rnus", '"a"'), "tracks.t.rnus is not a known key. Did you mean 'runs'?"),
    (at("runs", "3"), "tracks.t.runs = 3 is not text"),
    (at("runs", "[]"), "tracks.t.runs names no run. Write a list of file patterns"),
    ('[tracks.t]\nqrels = "q.txt"', "tracks.t.runs names no run"),
    (at("runs", '["a/*.none"]'), "tracks.t.runs = 'a/*.none' matches no file"),
    (at("runs", "[3]"), "tracks.t.runs = 3 is not text"),
    (at("runs", '[""]'), "tracks.t.runs = ''"),
    (at("runs", '["."]'), "tracks.t.runs = '.'"),
    (at("runs", '["**x"]'), "tracks.t.runs = '**x'"),
    (at("qrels", "[]"), "tracks.t.qrels = [] names no qrels set. Write [[tracks.t.qrels]]"),
    ('[tracks.t]\nruns = ["a/*"]', "tracks.t.qrels names no qrels set"),
    (at("qrels", '"no.txt"'), "tracks.t.qrels[0].file = 'no.txt' is not a file. Paths are"),
    (at("qrels", '"a"'), "tracks.t.qrels[0].file = 'a' is not a file"),
    (at("qrels", '[{ name = "q" }]'), "tracks.t.qrels[0].file is missing. File of the judgments,"),
    (at("qrels", '[{ file = "q.txt" }]'), "tracks.t.qrels[0].name is missing"),
    (at("qrels", "[1]"), "tracks.t.qrels[0] = 1 is not a table"),
    (
        at("qrels", '[{ name = "q", file = "q.txt" }, { name = "q", file = "div.txt" }]'),
        "tracks.t.qrels = ['q', 'q'] has a duplicate set name",
    ),
    (in_set('fromat = "trec"'), "tracks.t.qrels[0].fromat is not a known key. Did you mean 'fo"),
    (in_set('format = "prel"'), "tracks.t.qrels[0].format = 'prel' is not a choice. Did you mea"),
    (in_set("format = 3"), "tracks.t.qrels[0].format = 3 is not a choice"),
    (in_set('format = ["trec"]'), "tracks.t.qrels[0].format = ['trec'] is not a choice"),
    (in_set('subtopics = "yes"'), "tracks.t.qrels[0].subtopics = 'yes' is not true or false"),
    (
        in_set('subtopics = true, format = "prels"'),
        "tracks.t.qrels[0].subtopics = True with format 'prels'. Only the trec format",
    ),
    (at("names", '"(("'), "tracks.t.names = '((' is not a pattern (missing )"),
    (at("names", '"x"'), "tracks.t.names = 'x' has 0 groups, not one. Known: auto, file, tag; or"),
    (at("names", '"fiel"'), "tracks.t.names = 'fiel' has 0 groups, not one. Did you mean 'file'?"),
    (at("names", "''"), "tracks.t.names = '' has 0 groups, not one"),
    (at("names", "3"), "tracks.t.names = 3 is not text"),
    (at("tie_order", '"trec-eval"'), "tracks.t.tie_order = 'trec-eval' is not a choice. Did"),
    (at("tie_order", "3"), "tracks.t.tie_order = 3 is not a choice"),
    (at("depth", "0"), "tracks.t.depth = 0 is not a whole number of at least 1"),
    (at("depth", "1.5"), "tracks.t.depth = 1.5 is not a whole number"),
    (at("depth", "true"), "tracks.t.depth = True is not a whole number"),
    (at("duplicates", '"frist"'), "tracks.t.duplicates = 'frist' is not a choice. Did you"),
    (at("systems", "3"), "tracks.t.systems = 3 is not a table"),
    (at("systems", '"none.csv"'), "tracks.t.systems = 'none.csv' is not a file"),
    (at("systems", '{ file = "f.csv" }'), "tracks.t.systems.name is missing. Column of sys"),
    (at("systems", '{ file = "g.csv", name = "r" }'), "tracks.t.systems.file = 'g.csv' is not a"),
    (
        at("systems", '{ file = "f.csv", name = "r", groop = "g" }'),
        "tracks.t.systems.groop is not a known key. Did you mean 'group'?",
    ),
    (PLAIN.replace("tracks.t", 'tracks.""'), "tracks."),
]


@pytest.mark.parametrize(
    ("config", "said"), CONFIG_ERRORS, ids=[said[:40] for _, said in CONFIG_ERRORS]
)
def test_read_collection__config_error_names_key_and_value(configured, config, said):
    with pytest.raises(DataError) as error:
        chosen(configured(config), None, "c")
    assert "/collection.toml: " in str(error.value)
    assert said in str(error.value)


def test_read_collection__invalid_toml_names_the_line(configured):
    with pytest.raises(DataError, match=r"collection.toml: cannot be read as TOML .*at line 3"):
        configured("[tracks.t]\nruns = [a/*]\n")
    with pytest.raises(DataError, match=r"collection.toml: cannot be read as TOML"):
        configured('[tracks.t]\nruns = "é"\n'.encode("latin-1"))


@pytest.mark.parametrize(
    "value",
    [
        "[" * 3000 + "]" * 3000,
        "{a=" * 3000 + "1" + "}" * 3000,
        "9" * 5000,
        "0\n" + "a." * 100_000 + "a = 1",
    ],
)
def test_read_collection__deep_or_huge_toml_is_one_error(configured, value: str):
    with pytest.raises(DataError, match=r"collection.toml: cannot be read as TOML"):
        configured(f"x = {value}\n")


@pytest.mark.parametrize("path", ["{}/q.txt", "../c/q.txt", "a/../../c/q.txt"])
@pytest.mark.parametrize(
    "config",
    [
        '[tracks.t]\nruns = ["PATH"]\nqrels = "q.txt"\n',
        '[tracks.t]\nruns = ["a/runs/*"]\nqrels = "PATH"\n',
        PLAIN + 'systems = { file = "PATH", name = "run" }\n',
    ],
    ids=["runs", "qrels", "systems"],
)
def test_read_collection__outside_paths_need_permission(tmp_path, config, path):
    folder = place(tmp_path / "c", *FILES)
    outside = config.replace("PATH", path.format(folder))
    (folder / "collection.toml").write_text(f"only_described = true\n{outside}")
    said = problem(read_collection(folder))
    assert "is outside of the collection. Write allow_outside = true at the top of" in said
    (folder / "collection.toml").write_text(
        f"only_described = true\nallow_outside = true\n{outside}"
    )
    (track,) = read_collection(folder)
    assert isinstance(track, TrackSource)
    assert track.outside == (path.format(folder),)


@pytest.fixture
def facts_of(configured, tmp_path):
    """Return a function that reads facts from a CSV with the columns run, team, kind and p."""

    def read(content: bytes | str) -> dict[str, Facts]:
        (track,) = configured(PLAIN + FACTS)
        raw = content if isinstance(content, bytes) else content.encode()
        (tmp_path / "f.csv").write_bytes(raw)
        return read_facts(track)[0]

    return read


@pytest.mark.parametrize(
    "content",
    [
        "run,team,kind,p\nx,alpha,auto,yes\n007,,,0\nz,b,manual,\n",
        "\ufeffkind,p, run ,team\r\nauto,True,x,alpha\r\n,no,007,\r\nmanual,,z,b\r\n",
    ],
)
def test_read_facts__columns_are_found_by_name(facts_of, content):
    assert facts_of(content) == {
        "x": Facts("alpha", "auto", True),
        "007": Facts(None, None, False),
        "z": Facts("b", "manual", None),
    }


def test_read_facts__latin_1_is_accepted(facts_of):
    assert facts_of("run,team,kind,p\nx,é,,\n".encode("latin-1")) == {"x": Facts("é")}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("run,teem,kind,p\n", "f.csv: no such column: 'team'. Did you mean 'teem'?"),
        ("run,team,kind\n", "f.csv: no such column: 'p'. Known: kind, run, team."),
        ("run,team,kind,p\nx,,,\ny,,,maybe\n", "line 3: column 'p' is neither yes nor no: 'maybe'"),
        ("run,team,kind,p\nx,,,\nx,,,\n", "f.csv, line 3: system named twice: 'x'"),
        ("run,team,kind,p\nx,,,,,,\n", "f.csv: cannot be read as CSV"),
        ("run, run,team,kind,p\nx,x,,,\n", "f.csv"),
        ("", "f.csv: is empty"),
    ],
)
def test_read_facts__invalid_csv_is_refused(facts_of, content, said):
    with pytest.raises(DataError) as error:
        facts_of(content)
    assert said in str(error.value)


def test_read_facts__track_without_csv_has_none(configured):
    assert read_facts(configured(PLAIN)[0])[0] == {}
