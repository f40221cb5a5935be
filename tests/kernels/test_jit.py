"""Compilation and cache of kernels."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from numba.core.caching import FunctionCache

from irmeta.kernels import jit

FRESH = """
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
import irmeta, irmeta.kernels

MEASURES = (
    "default,trec_eval,AP@10,RBP(p=0.5,gain=linear),nDCG(gain=exp)@5,nDCG(ideal=pool)@5,"
    "AP(unjudged=condensed),P(unjudged=upper)@5,ERR(unjudged=upper)@5,P(ties=share)@5,"
    "RBP(ties=share)@5,RBPResidual(ties=share)@5,"
    "RBP(ties=share,unjudged=condensed)@5,AP(norm=pool)@5,Q(norm=pool,ideal=pool)@5,Q,ERR,nERR@5,"
    "ERRResidual,ISL,AvgSL,Judged@5,FirstUnjudged,AP(average=difficulty),RareP@5,RareAP,"
    "Compat,INST,BPM@5,statAP,xinfAP,infP@5,infNDCG@5,EffortR@0.1,RareAP(counted=others)@5,RareRBP(counted=groups),RarenDCG(unjudged=condensed,counted=pooled)"
)

def all_of(store):
    for choices in ({}, {"tie_order": "file"}, {"negative": "nonrelevant"}):
        store.means(MEASURES, **choices)
        for track in store.tracks:
            if any(one["subtopics"] for one in store.reader.track(track).record["qrels"]):
                store.means("ERR_IA@5,alpha_nDCG,P_IA@5,CT@5", track=track, **choices)
    store.curve("AP,nDCG,ERR,Q,P", [1, 5], [2, 7])
    store.per_doc.search_lengths()
    store.per_doc.rarity()
    store.pairs.preferences("RPP,RPP(p=dcg),LexiRecall,RRLexiPrecision,OI,RPP@3,OI(p=dcg)@3")
    store.pairs.win_rates("RPP,RPP(p=dcg)")
    store.per_doc.contributions()
    store.pools.budget("P@5", order=["movetofront", "hedge"], draws=2)
    for track in store.tracks:
        judged(store.scores("AP,ASL", track=track))

def judged(scores):
    import numpy as np
    from irmeta.results.verdicts import Verdicts
    from irmeta import stats
    from irmeta.stats.pairs import TESTS
    matrix = scores.matrix("AP")
    for test in TESTS:
        stats.pairwise(matrix, test, resamples=50)
    stats.stability(matrix, trials=5)
    stats.swap_rates(matrix, trials=5)
    stats.mc4(Verdicts.of(matrix))
    stats.preference_pairs(matrix, resamples=50)
    stats.query_subsets(matrix, [1], 2)
    made = irmeta.Matrix(np.eye(5), tuple("12345"), tuple("abcde"), "AP")
    stats.correction_gain(made, {"same": made}, [3], draws=2, pair_draws=2)
    stats.corrected_means(made, made)
    for method in ("tau-a", "tau-b", "tau-ap", "tau-gap", "spearman", "rbo"):
        stats.correlate(scores.mean_values(), method)

import io
from irmeta.store.ingest import ingest_collection
from irmeta.store.layout import Layout
from irmeta.trec.runs import RowReader
from irmeta.api.in_memory import read_tracks
from irmeta.store.ranked_track import Evaluation
*collections, out = sys.argv[1:]
for number, path in enumerate(collections):
    for order in ("trec_eval", "rank"):
        read_tracks(path, irmeta.ReadPolicy(order), evaluation=Evaluation())[0].means("AP")
        store = f"{out}/{number}-{order}"
        ingest_collection(path, Layout(Path(store)), irmeta.ReadPolicy(order))
        all_of(irmeta.open_store(store))
    for text in (b"1 Q0 a 1 2.5 t\\n1 Q0 b 2 1e-3 t", b"1 Q0 a 1 2"):
        assert RowReader().read(io.BytesIO(text)) is not None
from irmeta.trec.streams import ZFile
assert ZFile(io.BufferedReader(io.BytesIO(b"\\x1f\\x9d\\x90a\\0"))).read() == b"a"
irmeta.measure_properties("AP", length=3)
import numpy as np
from irmeta.kernels.pair_preferences import preference_counts
preference_counts(np.array([[1, 2], [3, 3]], np.uint16), 0, 2, np.empty((2, 2), np.int32))
from irmeta.kernels.rank_agreement import count_level_pairs
level = np.array([[1, 2]], np.uint16), np.array([True]), 65535, np.ones((1, 1, 2)), 20
count_level_pairs(*level, np.zeros(3, np.int64), np.zeros((1, 41), np.int64))
view = irmeta.JudgedRanks.from_arrays(np.array([[1, 2], [2, 1]]), np.array([1, 0]))
irmeta.permuted_means(view, {"same": view}, "AP", draws=2)
import polars as pl
from irmeta.trec.numbered_names import Names
names = Names()
names.numbers(pl.Series(["a", "b"]))
Names().absorb(names)
for module in iter_modules(irmeta.kernels.__path__, "irmeta.kernels."):
    for name, value in vars(import_module(module.name)).items():
        if hasattr(value, "nopython_signatures"):
            print(module.name, name, len(value.signatures))
"""


def fresh(code: str, *args: object, **environment: str) -> str:
    """Return the output of a new Python process."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-W", "ignore:track", "-c", code, *map(str, args)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | environment,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_jit__each_kernel_compiles_once(collections, worked_examples, tmp_path):
    """The tracks vary in the number of systems, queries and qrels sets."""
    lines = fresh(FRESH, collections, worked_examples, tmp_path).splitlines()
    compiled = {line.rsplit(" ", 1)[0]: int(line.rsplit(" ", 1)[1]) for line in lines}
    assert len(compiled) >= 20
    assert compiled == dict.fromkeys(compiled, 1)


@pytest.fixture
def cache_folder(tmp_path, monkeypatch):
    """Provide `cache_folder` for a copy of the kernels, and the folder of the copy."""
    kernels = tmp_path / "kernels"
    shutil.copytree(
        Path(jit.__file__).parent, kernels, ignore=shutil.ignore_patterns("__pycache__")
    )
    monkeypatch.setattr(jit, "__file__", str(kernels / "jit.py"))
    monkeypatch.setenv("IRMETA_CACHE_DIR", str(tmp_path / "cache"))

    def folder() -> Path:
        jit.cache_folder.cache_clear()
        return Path(jit.cache_folder())

    yield folder, kernels
    monkeypatch.undo()
    jit.cache_folder.cache_clear()


def test_cache_folder__set_by_environment_variable(cache_folder, tmp_path):
    folder, _ = cache_folder
    assert folder().parent == tmp_path / "cache"
    assert folder().is_dir()
    assert folder() == folder()


@pytest.mark.parametrize("name", sorted(p.name for p in Path(jit.__file__).parent.glob("*.py")))
def test_cache_folder__changes_with_a_kernel_file(cache_folder, name):
    folder, kernels = cache_folder
    before = folder()
    with (kernels / name).open("a") as file:
        file.write("\n# changed\n")
    assert folder() != before


def test_cache_folder__changes_with_a_new_kernel_file(cache_folder):
    folder, kernels = cache_folder
    before = folder()
    (kernels / "another.py").write_text("X = 1\n")
    assert folder() != before


@pytest.mark.parametrize("what", ["numba", "cpu"])
def test_cache_folder__changes_with_numba_version_and_cpu(cache_folder, monkeypatch, what):
    folder, _ = cache_folder
    before = folder()
    if what == "numba":
        monkeypatch.setattr(jit.numba, "__version__", "0.0.0")
    else:
        monkeypatch.setattr(jit.llvmlite.binding, "get_host_cpu_name", lambda: "another")
    assert folder() != before


def test_cache_folder__removes_caches_unused_for_30_days(cache_folder, tmp_path):
    folder, kernels = cache_folder
    current = folder()
    for name, days in (("kernels-new", 29), ("kernels-old", 31), ("other-old", 31)):
        (tmp_path / "cache" / name).mkdir()
        (tmp_path / "cache" / name / "file").touch()
        used = time.time() - days * 86_400
        os.utime(tmp_path / "cache" / name, (used, used))
    os.utime(current, (0, 0))
    assert folder() == current, "in use again"
    assert (tmp_path / "cache" / "kernels-old").is_dir(), "nothing was made anew"
    (kernels / "cutoff_sums.py").write_text("changed = True")
    changed = folder()
    kept = {path.name for path in (tmp_path / "cache").iterdir()}
    assert kept == {current.name, changed.name, "kernels-new", "other-old"}


def test_cache_folder__defaults_to_the_user_cache_folder(cache_folder, monkeypatch, tmp_path):
    folder, _ = cache_folder
    monkeypatch.delenv("IRMETA_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert folder().parent == tmp_path / "xdg" / "irmeta"


@pytest.fixture
def temporary(monkeypatch, tmp_path):
    """Replace the temporary folder of the machine for one test."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    jit._temporary_folder.cache_clear()
    yield tmp_path / "temporary"
    jit._temporary_folder().cleanup()
    jit._temporary_folder.cache_clear()


def assert_private(found: Path, temporary: Path) -> None:
    """Check that no other user can write compiled code to the folder."""
    assert found.parent == temporary
    assert found.stat().st_mode & 0o777 == 0o700


def test_cache_folder__private_temporary_folder_if_creation_fails(
    cache_folder, monkeypatch, tmp_path, temporary
):
    folder, _ = cache_folder
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("IRMETA_CACHE_DIR", str(tmp_path / "file" / "below"))
    assert_private(folder(), temporary)


def test_cache_folder__private_temporary_folder_if_not_writable(
    cache_folder, monkeypatch, tmp_path, temporary
):
    folder, _ = cache_folder
    monkeypatch.setenv("IRMETA_CACHE_DIR", str(tmp_path / "locked"))
    allowed = os.access
    monkeypatch.setattr(
        os, "access", lambda path, *a: "locked" not in str(path) and allowed(path, *a)
    )
    assert_private(folder(), temporary)


POSIX = pytest.mark.skipif(os.name != "posix", reason="no permission bits")


@POSIX
@pytest.mark.parametrize("mask", [0o022, 0o002, 0o000])
def test_cache_folder__others_cannot_write(cache_folder, mask: int):
    """Neither a permissive umask nor an older folder leaves the folder open to others."""
    folder, _ = cache_folder
    before = os.umask(mask)
    try:
        assert folder().stat().st_mode & 0o777 == 0o700
    finally:
        os.umask(before)
    folder().chmod(0o777)
    assert folder().stat().st_mode & 0o777 == 0o700


@POSIX
@pytest.mark.parametrize(
    ("case", "problem"),
    [
        ("owner", "belongs to another user"),
        ("link", "is a link"),
        ("no permissions", "can be written by other users"),
    ],
)
def test_cache_folder__warns_and_leaves_an_unsafe_folder(
    cache_folder, monkeypatch, tmp_path, temporary, case: str, problem: str
):
    folder, _ = cache_folder
    unsafe = folder()
    if case == "owner":
        monkeypatch.setattr(os, "geteuid", lambda: unsafe.stat().st_uid + 1)
    elif case == "link":
        unsafe.rename(tmp_path / "elsewhere")
        unsafe.symlink_to(tmp_path / "elsewhere")
    else:
        unsafe.chmod(0o777)
        monkeypatch.setattr(Path, "chmod", lambda *_: None)
    with pytest.warns(UserWarning, match=f"kernels-.* {problem}, so .* IRMETA_CACHE_DIR"):
        assert_private(folder(), temporary)


ONE_KERNEL = """
import numpy as np
from irmeta.kernels.cutoff_sums import systems_within
import numba
assert numba.config.CACHE_DIR == "theirs"
out = np.zeros(2, np.int32)
systems_within(np.array([[1, 9], [2, 3]], np.uint16), 3, out)
print(out.tolist(), sum(systems_within.stats.cache_hits.values()))
"""


def run_two_at_once(environment: dict[str, str]) -> list[str]:
    """Return the outputs of two processes that start at the same time."""
    command = [sys.executable, "-W", "error", "-c", ONE_KERNEL]
    own = os.environ | environment
    two = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=own) for _ in range(2)]
    return [process.communicate()[0] for process in two]


@pytest.mark.exhaustive
def test_jit__cache_shared_by_concurrent_processes(tmp_path):
    environment = {"IRMETA_CACHE_DIR": str(tmp_path), "NUMBA_CACHE_DIR": "theirs"}
    assert all(said.startswith("[1, 2]") for said in run_two_at_once(environment))
    assert fresh(ONE_KERNEL, **environment).strip() == "[1, 2] 1"
    assert {p.name.split("-")[0] for p in tmp_path.iterdir()} == {"kernels"}


CALLS_NUMBA = """
import sys
import numpy as np
from irmeta.kernels.lists import list_starts
assert list_starts(np.array([1, 1, 2], np.int32), np.array([1, 1, 1], np.int32)).tolist() == [0, 2]
print(sum(list_starts.stats.cache_hits.values()), "numba.np.arrayobj" in sys.modules)
"""


@pytest.mark.exhaustive
def test_jit__cached_kernel_loads_no_array_functions_of_numba(tmp_path):
    environment = {"IRMETA_CACHE_DIR": str(tmp_path)}
    assert fresh(CALLS_NUMBA, **environment).strip() == "0 True"
    assert fresh(CALLS_NUMBA, **environment).strip() == "1 False"


CALLED = """
import numpy as np
from irmeta.kernels.jit import jit
@jit
def half(x):
    return x / 2
@jit
def quarter(x):
    return half(half(x))
"""


@pytest.mark.exhaustive
def test_jit__new_kernel_calls_a_cached_kernel(tmp_path):
    """The bitcode of a cached kernel is parsed for kernels that call it."""
    (tmp_path / "module.py").write_text(CALLED)
    environment = {"IRMETA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path)}
    environment["PYTHONPATH"] += f"{os.pathsep}{Path(jit.__file__).parents[2]}"
    code = "from module import *; print({}, sum(half.stats.cache_hits.values()))"
    assert fresh(code.format("half(1.0)"), **environment).strip() == "0.5 0"
    assert fresh(code.format("half(1.0)"), **environment).strip() == "0.5 1"
    assert fresh(code.format("half(1.0), quarter(1.0)"), **environment).strip() == "0.5 0.25 1"
    assert fresh(code.format("quarter(2.0)"), **environment).strip() == "0.5 0"


def flip(raw: bytes, place: int) -> bytes:
    changed = bytearray(raw)
    changed[place] ^= 1
    return bytes(changed)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("ending", "damage"),
    [
        pytest.param("nbi", lambda raw: raw[: len(raw) // 2], id="index cut short"),
        pytest.param("nbc", lambda raw: flip(raw, -999), id="a bit of the code"),
    ],
)
def test_jit__damaged_cache_file_is_compiled_again(tmp_path, ending: str, damage):
    """Two processes that start at the same time also compile it again."""
    environment = {"IRMETA_CACHE_DIR": str(tmp_path), "NUMBA_CACHE_DIR": "theirs"}
    assert fresh(ONE_KERNEL, **environment).strip() == "[1, 2] 0"
    (file,) = tmp_path.rglob(f"*.{ending}")
    file.write_bytes(damage(file.read_bytes()))
    assert all(said.startswith("[1, 2]") for said in run_two_at_once(environment))
    assert fresh(ONE_KERNEL, **environment).strip() == "[1, 2] 1"


@pytest.mark.exhaustive
@POSIX
@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_jit__cache_file_that_others_may_write_is_compiled_again(tmp_path, ending: str):
    """A umask of 002 does not cost a compilation at each start."""
    environment = {"IRMETA_CACHE_DIR": str(tmp_path), "NUMBA_CACHE_DIR": "theirs"}
    before = os.umask(0o002)
    try:
        assert fresh(ONE_KERNEL, **environment).strip() == "[1, 2] 0"
        assert fresh(ONE_KERNEL, **environment).strip() == "[1, 2] 1"
    finally:
        os.umask(before)
    (file,) = tmp_path.rglob(f"*.{ending}")
    file.chmod(0o664)
    assert fresh(ONE_KERNEL, **environment).strip() == "[1, 2] 0"
    assert fresh(ONE_KERNEL, **environment).strip() == "[1, 2] 1"


def test_jit__warns_and_compiles_if_the_cache_cannot_be_written(cache_folder, monkeypatch):
    def full(*compiled: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(FunctionCache, "save_overload", full)

    def twice(x):
        return 2 * x

    with pytest.warns(UserWarning, match="IRMETA_CACHE_DIR names another folder"):
        assert jit.jit(twice)(2) == 4


@pytest.mark.exhaustive
def test_jit__numba_disable_jit_runs_plain_python():
    """NUMBA_DISABLE_JIT lets a debugger step through kernels."""
    code = "from irmeta.kernels.cutoff_sums import mean_of_first; print(mean_of_first.__name__)"
    plain = {"NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | plain, capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == ("mean_of_first\n", "")
