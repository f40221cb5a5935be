"""Architecture: layers of imports, structure of the code, and what `import irmeta` loads."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import get_args

import pytest

import irmeta
from irmeta.policies import TieOrder
from support import house

PACKAGE = Path(irmeta.__file__).parent
TWINS = Path(__file__).parent / "twins"
FLOORS = (  # from the top layer down; subpackages of a layer do not import each other
    {"cli"},
    {"pyterrier"},  # measures for PyTerrier
    {"api"},
    {"archive"},  # facts of TREC's tracks, and published values beside recomputed ones
    {"studies"},
    {"report", "stats"},
    {"measures", "preferences"},
    {"results"},
    {"rankings"},
    {"store"},
    {"trec"},
    {"kernels"},
    {"options", "policies", "schema", "errors", "escapes", "checksums", "files", "locations"}
    | {
        "clusters",
        "delimited",
        "equality",
        "policy_keywords",
        "naming",
        "numbered_rankings",
        "parallel",
        "phrases",
        "progress",
        "summaries",
        "_version",
    },
)
FOUNDATION = FLOORS[-1]
FLOOR = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
NOT_HOUSED = {"__init__", "__main__", "testing"}
LONGEST = 700
NUMBA = {"jit", "lanes", "vector"}  # the kernel modules that may import numba

FILES = sorted(PACKAGE.rglob("*.py"))
API = [file for file in FILES if "api" in file.parts and file.stem != "__init__"]


def room_of(file: Path) -> str:
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


def in_rooms(*rooms: str) -> Callable[[Callable[[Path], None]], Callable[[], None]]:
    """Call a test with each file of some subpackages, as a single test to save time."""
    found = [file for file in FILES if room_of(file) in rooms]

    def decorate(test: Callable[[Path], None]) -> Callable[[], None]:
        def of_all_files() -> None:
            assert found
            wrong = []
            for file in found:
                try:
                    test(file)
                except AssertionError as error:
                    wrong.append(f"{file.relative_to(PACKAGE).as_posix()}: {error}")
            assert not wrong

        return of_all_files

    return decorate


files = in_rooms(*FLOOR, *NOT_HOUSED)


@cache  # parsing the package takes a second, and most tests here walk through it
def nodes_of(file: Path) -> list[ast.AST]:
    """Return all nodes of a file's syntax tree."""
    return [*ast.walk(ast.parse(file.read_text(encoding="utf-8")))]


@cache
def imports(file: Path) -> list[str]:
    """Return the dotted names of all imports of a file, including names imported from modules."""
    return [*_imports(file)]


def _imports(file: Path) -> Iterator[str]:
    module = ["irmeta", *file.relative_to(PACKAGE).with_suffix("").parts]
    for node in nodes_of(file):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = module[: -node.level] if node.level else []
            base = [*base, *(node.module or "").split(".")]
            yield from (".".join([*filter(None, base), alias.name]) for alias in node.names)


def _for_kernels() -> Iterator[str]:
    """Yield the dotted names of functions decorated with `inner` or `inlined`."""
    for file in (PACKAGE / "kernels").glob("*.py"):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            declared = {ast.unparse(d) for d in getattr(node, "decorator_list", ())}
            if isinstance(node, ast.FunctionDef) and declared & {"inner", "inlined"}:
                yield f"irmeta.kernels.{file.stem}.{node.name}"


FOR_KERNELS = set(_for_kernels())


def rooms(file: Path) -> set[str]:
    """Return the subpackages of irmeta that a file imports, ignoring `__version__`."""
    found = {name.split(".")[1] for name in imports(file) if name.startswith("irmeta.")}
    return found - {"__version__"}


def packages(file: Path) -> set[str]:
    """Return the packages other than irmeta that a file imports."""
    return {name.split(".")[0] for name in imports(file)} - {"irmeta", "__future__"}


def test_package__every_file_is_in_a_known_subpackage():
    assert {room_of(file) for file in FILES} - NOT_HOUSED <= FLOOR.keys()
    assert {"api", "kernels", "measures", "rankings", "store", "trec"} <= {
        room_of(file) for file in FILES
    }


def test_contributing__names_every_subpackage():
    text = (TWINS.parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rooms = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert [room for room in sorted(rooms) if f"`irmeta/{room}/`" not in text] == []


@in_rooms(*FLOOR)
def test_imports__only_from_lower_layers(file: Path):
    room = room_of(file)
    for other in rooms(file) - {room}:
        both_below = room in FOUNDATION and other in FOUNDATION
        assert FLOOR[other] > FLOOR[room] or both_below, f"{room} imports {other}"


def test_api__has_no_import_circle():
    """Late imports and those for type checkers count too: `Store` is above what it calls."""
    modules = {f"irmeta.{'.'.join(f.relative_to(PACKAGE).with_suffix('').parts)}": f for f in API}
    graph = {
        module: {name for found in imports(file) for name in (found, found.rpartition(".")[0])}
        & (modules.keys() - {module})
        for module, file in modules.items()
    }
    assert "irmeta.api.opened_store" in graph["irmeta.api.store"]
    TopologicalSorter(graph).prepare()  # CycleError: names the modules of a circle


@in_rooms("kernels")
def test_kernels__import_only_numpy_and_kernels(file: Path):
    door = {"progress"} if file.stem == "jit" else set[str]()  # which tells of compiling
    assert rooms(file) <= {"kernels"} | door
    if file.stem not in NUMBA:
        assert packages(file) <= {"numpy", "math"}


@in_rooms(*{room_of(file) for file in FILES} - {"kernels"})
def test_kernels__inner_functions_are_imported_by_kernels_only(file: Path):
    """Plain Python would run such functions slowly and without integer overflow."""
    assert FOR_KERNELS
    assert FOR_KERNELS.isdisjoint(imports(file))


def test_imports__no_circle_of_modules():
    """A late import would hide one until a function is called."""
    rooms = {"kernels", "measures", "naming", "preferences", "rankings"}
    modules = {
        ".".join(["irmeta", *file.relative_to(PACKAGE).with_suffix("").parts]): file
        for file in FILES
        if room_of(file) in rooms and file.stem != "__init__"
    }
    graph = {
        module: {
            used if used in modules else used.rpartition(".")[0] for used in imports(file)
        } & modules.keys() - {module}
        for module, file in modules.items()
    }  # fmt: skip
    TopologicalSorter(graph).prepare()  # raises CycleError


@in_rooms("report")
def test_report__imports_only_the_foundation(file: Path):
    assert rooms(file) <= {"report", "schema", "escapes", "errors", "equality", "files", "naming"}


@files
def test_print__not_called_directly(file: Path):
    nodes = nodes_of(file)
    called = (node.func for node in nodes if isinstance(node, ast.Call))
    assert "print" not in {name.id for name in called if isinstance(name, ast.Name)}


@files
def test_tie_orders__not_compared_by_name(file: Path):
    names = set(get_args(TieOrder))
    for node in nodes_of(file):
        if isinstance(node, ast.Compare) and "order" in ast.unparse(node):
            constants = {n.value for n in ast.walk(node) if isinstance(n, ast.Constant)}
            assert not constants & names, ast.unparse(node)


@in_rooms("stats")
def test_stats__imports_no_file_access(file: Path):
    assert packages(file).isdisjoint({"pathlib", "os", "io", "pyarrow", "json", "csv"})
    assert "irmeta.results.tidy_files" not in {name.rpartition(".")[0] for name in imports(file)}
    assert rooms(file).isdisjoint({"store", "rankings"})
    of_trec = {name.rpartition(".")[0] for name in imports(file) if name.startswith("irmeta.trec")}
    assert of_trec <= {"irmeta.trec.readers.frames"}  # tables of users, in memory


@files
def test_parquet__imported_only_by_store_results_and_given_files(file: Path):
    if room_of(file) not in ("store", "results") and file.stem != "file_tables":
        assert not any(name.startswith("pyarrow.parquet") for name in imports(file))


@pytest.mark.parametrize("count", [house.count_in_source, house.count_at_run_time])
def test_structure__counts_are_within_limits_that_only_fall(count: Callable[[], house.Counts]):
    """After a count fell: `PYTHONPATH=.:tests python tests/support/house.py`."""
    assert [*house.exceeded(count())] == []


def test_page__shows_the_way_of_a_number(tmp_path: Path):
    """A compiled kernel is no Python call: of kernels the page's files only exist."""
    page = TWINS.parents[1] / "notebooks" / "site" / "architecture.md"
    shown = re.findall(r"^ {6}(\w+/\w+\.py)  ", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(shown) > 15
    store, out = tmp_path / "store", tmp_path / "means.parquet"
    called = house.files_called("ingest", house.COLLECTIONS / "news", "--out", store)
    called |= house.files_called("evaluate", store, "-m", "AP", "--out", out)
    called |= {file for file in shown if file.startswith("kernels/") and (PACKAGE / file).exists()}
    assert [file for file in shown if file not in called] == []


@files
def test_files__line_limit(file: Path):
    assert len(file.read_text(encoding="utf-8").splitlines()) <= LONGEST


def test_twins__import_nothing_of_irmeta():
    """A mistake of irmeta must not be repeated in the code that it is compared with."""
    files = [f for f in TWINS.glob("*.py") if not f.name.startswith("test_")]
    twins = [f for f in files if f.stem != "registry" and not f.stem.endswith("_families")]
    assert twins
    for file in twins:
        text = file.read_text(encoding="utf-8")
        assert not re.search(r"^\s*(from|import) (irmeta|support)\b", text, re.MULTILINE), file.name


def test_import_irmeta__loads_no_heavy_packages():
    heavy = "('polars', 'numba', 'pyarrow', 'altair', 'scipy', 'numpy', 'pandas')"
    code = f"import sys, irmeta; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_import_irmeta__public_names_are_available():
    for name in irmeta.__all__:
        assert getattr(irmeta, name) is not None
    assert set(dir(irmeta)) == {*irmeta.__all__, "pyterrier"}
    with pytest.raises(AttributeError, match="no attribute 'ingset'"):
        _ = irmeta.ingset


def test_stats__no_module_has_the_name_of_a_function():
    """Importing such a module would replace the function in `irmeta.stats`."""
    modules = {file.stem for file in (PACKAGE / "stats").glob("*.py")}
    assert modules & set(irmeta.stats.__all__) == set()
