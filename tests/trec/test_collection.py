"""Which files make a track: by convention and by collection.toml; facts about systems."""

from pathlib import Path

import pytest

from irmeta.errors import DataError, UsageError
from irmeta.policies import ReadPolicy
from irmeta.store.facts import Facts, read_facts
from irmeta.trec.collection import read_collection
from irmeta.trec.source import QrelsSource, TrackSource

FILES = ("a/runs/y.gz", "a/runs/x.txt", "a/runs/.hidden", "b/z.run", "q.txt", "div.txt", "f.csv")
PLAIN = '[tracks.t]\nruns = ["a/runs/*"]\nqrels = "q.txt"\n'
FACTS = 'systems = { file = "f.csv", name = "run", group = "team", type = "kind", pooled = "p" }\n'


@pytest.fixture
def configured(tmp_path: Path):
    """Reads a collection of a few (empty) files through the given collection.toml."""

    def read(config: str | bytes, policy: ReadPolicy | None = None) -> list[TrackSource]:
        place(tmp_path, *FILES)
        raw = config if isinstance(config, bytes) else config.encode()
        (tmp_path / "collection.toml").write_bytes(raw)
        return read_collection(tmp_path, policy)

    return read


def place(folder: Path, *files: str) -> Path:
    for file in files:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).touch()
    return folder


def test_by_convention_every_folder_with_runs_is_a_track(tmp_path):
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


def test_a_store_beside_the_tracks_is_no_track(tmp_path):
    place(tmp_path, "t/runs/1", "t/qrels", "store/manifest.json", "store/runs/t/part-0.parquet")
    assert [track.name for track in read_collection(tmp_path)] == ["t"]


def test_a_folder_that_holds_runs_is_one_track(tmp_path):
    place(tmp_path / "mine", "runs/1", "qrels.txt")
    (track,) = read_collection(str(tmp_path / "mine"), ReadPolicy(depth=5))
    assert (track.name, track.runs, track.policy.depth) == ("mine", ("runs/1",), 5)
    assert track.qrels == (QrelsSource("qrels", "qrels.txt"),)


@pytest.mark.parametrize("name", ["x[1]", "a*b", "what?", "{a,b}", "x y", "é", "-"])
def test_a_folder_may_have_any_name_and_is_no_pattern(tmp_path, name):
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
            "track t: one file named qrels* expected, found t/",
        ),
        (
            ["t/runs/1"],
            "track t: one file named qrels* expected, found none. Name the track's files",
        ),
        (["t/runs/.keep", "t/qrels"], "track t: runs/ is empty. Put one run a file there."),
        (
            ["t/1", "t/qrels"],
            "no sub-folder holds runs/. Put runs in TRACK/runs/ and the judgments",
        ),
    ],
)
def test_what_convention_cannot_settle_is_an_error_that_says_what_to_do(tmp_path, files, said):
    with pytest.raises(DataError) as error:
        read_collection(place(tmp_path, *files))
    assert said in str(error.value)
    assert "collection.toml" in str(error.value) or "Put" in said


def test_two_qrels_are_both_named_in_the_error_that_asks_for_a_collection_toml(tmp_path):
    with pytest.raises(DataError, match=r"found t/qrels.a, t/qrels.b. .* in collection.toml."):
        read_collection(place(tmp_path, "t/runs/1", "t/qrels.a", "t/qrels.b"))


def test_a_collection_must_be_a_folder(tmp_path):
    for path in (tmp_path / "none", place(tmp_path, "file") / "file"):
        with pytest.raises(UsageError, match="is not a folder: a collection is a folder"):
            read_collection(path)


def test_a_config_names_everything(configured):
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
    assert tracks[0].policy == ReadPolicy("rank", 7, "first", "skip")
    assert tracks[0].facts is None
    assert tracks[1].runs == ("a/runs/x.txt", "a/runs/y.gz")
    assert tracks[1].qrels == (QrelsSource("qrels", "q.txt"),)
    assert tracks[1].policy == ReadPolicy(depth=9, malformed="skip")
    assert (tracks[1].facts.name, tracks[1].facts.pooled) == ("run", "p")


def at(key: str, value: str) -> str:
    """The plain config with one more or another key of its track."""
    kept = [line for line in PLAIN.splitlines() if not line.startswith(f"{key} =")]
    return "\n".join([*kept, f"{key} = {value}\n"])


def in_set(entry: str) -> str:
    return at("qrels", f'[{{ name = "q", file = "q.txt", {entry} }}]')


CONFIG_ERRORS = [
    ("x = 1", "x is not a known key. Known: tracks."),
    ("", "tracks names no track. Add a table [tracks.NAME]."),
    ("tracks = 3", "tracks = 3 is not a table"),
    ("tracks.t = 3", "tracks.t = 3 is not a table"),
    (at("rnus", '"a"'), "tracks.t.rnus is not a known key. Did you mean 'runs'?"),
    (at("runs", "3"), "tracks.t.runs = 3 is not a list of file patterns"),
    (at("runs", "[]"), "tracks.t.runs = [] is not a list of file patterns"),
    ('[tracks.t]\nqrels = "q.txt"', "tracks.t.runs is not a list of file patterns"),
    (at("runs", '["a/*.none"]'), "tracks.t.runs = 'a/*.none' matches no file"),
    (at("runs", "[3]"), "tracks.t.runs = 3 is not a pattern"),
    (at("runs", '[""]'), "tracks.t.runs = ''"),
    (at("runs", '["."]'), "tracks.t.runs = '.'"),
    (at("runs", '["**x"]'), "tracks.t.runs = '**x'"),
    (at("qrels", "[]"), "tracks.t.qrels = [] names no qrels set. Write [[tracks.t.qrels]]"),
    ('[tracks.t]\nruns = ["a/*"]', "tracks.t.qrels names no qrels set"),
    (at("qrels", '"no.txt"'), "tracks.t.qrels[0].file = 'no.txt' is not a file. Paths are"),
    (at("qrels", '"a"'), "tracks.t.qrels[0].file = 'a' is not a file"),
    (at("qrels", '[{ name = "q" }]'), "tracks.t.qrels[0].file is missing or not a text"),
    (at("qrels", '[{ file = "q.txt" }]'), "tracks.t.qrels[0].name is missing or not a text"),
    (at("qrels", "[1]"), "tracks.t.qrels[0] = 1 is not a table"),
    (
        at("qrels", '[{ name = "q", file = "q.txt" }, { name = "q", file = "div.txt" }]'),
        "tracks.t.qrels = ['q', 'q'] names two sets alike",
    ),
    (in_set('fromat = "trec"'), "tracks.t.qrels[0].fromat is not a known key. Did you mean 'fo"),
    (in_set('format = "prel"'), "tracks.t.qrels[0].format = 'prel' is not a format. Did you mea"),
    (in_set("format = 3"), "tracks.t.qrels[0].format = 3 is not a format"),
    (in_set('format = ["trec"]'), "tracks.t.qrels[0].format = ['trec'] is not a format"),
    (in_set('subtopics = "yes"'), "tracks.t.qrels[0].subtopics = 'yes' is not true or false"),
    (
        in_set('subtopics = true, format = "prels"'),
        "tracks.t.qrels[0].subtopics = True with format 'prels'. Only the trec format",
    ),
    (at("names", '"(("'), "tracks.t.names = '((' is not a pattern (missing )"),
    (at("names", '"x"'), "tracks.t.names = 'x' has 0 groups, not one. Write names = "),
    (at("names", "''"), "tracks.t.names = '' is missing or not a text"),
    (at("tie_order", '"trec-eval"'), "tracks.t.tie_order = 'trec-eval' is not a known choice. D"),
    (at("tie_order", "3"), "tracks.t.tie_order = 3 is not a known choice"),
    (at("depth", "0"), "tracks.t.depth = 0 is not a whole number of at least 1"),
    (at("depth", "1.5"), "tracks.t.depth = 1.5 is not a whole number"),
    (at("depth", "true"), "tracks.t.depth = True is not a whole number"),
    (at("duplicates", '"frist"'), "tracks.t.duplicates = 'frist' is not a known choice. Did you"),
    (at("systems", '"f.csv"'), "tracks.t.systems = 'f.csv' is not a table"),
    (at("systems", '{ file = "f.csv" }'), "tracks.t.systems.name is missing: the column of sys"),
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
def test_an_error_names_the_dotted_key_and_the_value(configured, config, said):
    with pytest.raises(DataError) as error:
        configured(config)
    assert str(error.value).startswith("collection.toml: ")
    assert said in str(error.value)


def test_bad_syntax_is_an_error_that_names_the_line(configured):
    with pytest.raises(DataError, match=r"collection.toml: cannot be read as TOML .*at line 2"):
        configured("[tracks.t]\nruns = [a/*]\n")
    with pytest.raises(DataError, match=r"collection.toml: cannot be read as TOML"):
        configured('[tracks.t]\nruns = "é"\n'.encode("latin-1"))


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
def test_paths_stay_inside_the_collection(tmp_path, config, path):
    folder = place(tmp_path / "c", *FILES)
    outside = config.replace("PATH", path.format(folder))
    (folder / "collection.toml").write_text(outside)
    with pytest.raises(DataError, match=r"collection.toml: tracks\.t\."):
        read_collection(folder)


@pytest.mark.parametrize(
    ("names", "file", "tag", "name"),
    [
        ("tag", "a/runs/x.gz", "my tag", "my tag"),
        ("tag", "a/runs/bm25.v1.run.txt.gz", None, "bm25.v1"),
        ("tag", "a/runs/input", None, "input"),
        (r"input\.(.*)\.gz", "a/runs/input.a.b.gz", "tag", "a.b"),
        (r"(?:.*-)?(\w+)\.txt", "runs/x-y.txt", None, "y"),
    ],
)
def test_a_system_is_named_by_its_tag_or_by_its_file(names, file, tag, name):
    assert TrackSource("t", Path(), (), (), names=names).system_name(file, tag) == name


@pytest.mark.parametrize("file", ["r/x.gz", "r/input.a.gz.old", "r/my-input.a.gz", "input.a.gz/x"])
def test_a_file_name_that_does_not_match_the_whole_pattern_is_an_error(file):
    source = TrackSource("t", Path(), (), (), names=r"input\.(.*)\.gz")
    with pytest.raises(DataError, match=r"its name does not match the pattern .* track t") as error:
        source.system_name(file, "tag")
    assert str(error.value).startswith(f"{file}: ")


@pytest.mark.parametrize("pattern", [r"(x)?.*", r"(.*)run\.gz"])
def test_a_pattern_that_finds_no_name_is_an_error(pattern):
    source = TrackSource("t", Path(), (), (), names=pattern)
    with pytest.raises(DataError, match=r"^r/run.gz"):
        source.system_name("r/run.gz", "tag")


@pytest.fixture
def facts_of(configured, tmp_path):
    """The facts read from a CSV with the columns run, team, kind and p."""

    def read(content: bytes | str) -> dict[str, Facts]:
        (track,) = configured(PLAIN + FACTS)
        raw = content if isinstance(content, bytes) else content.encode()
        (tmp_path / "f.csv").write_bytes(raw)
        return read_facts(track)

    return read


@pytest.mark.parametrize(
    "content",
    [
        "run,team,kind,p\nx,alpha,auto,yes\n007,,,0\nz,b,manual,\n",
        "\ufeffkind,p, run ,team\r\nauto,True,x,alpha\r\n,no,007,\r\nmanual,,z,b\r\n",
    ],
)
def test_facts_are_read_by_column_name(facts_of, content):
    assert facts_of(content) == {
        "x": Facts("alpha", "auto", True),
        "007": Facts(None, None, False),
        "z": Facts("b", "manual", None),
    }


def test_facts_need_not_be_utf8(facts_of):
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
def test_facts_that_cannot_be_used_are_errors(facts_of, content, said):
    with pytest.raises(DataError) as error:
        facts_of(content)
    assert said in str(error.value)


def test_a_track_without_a_csv_has_no_facts(configured):
    assert read_facts(configured(PLAIN)[0]) == {}
