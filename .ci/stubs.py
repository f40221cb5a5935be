"""Write irmeta/studies/__init__.pyi: what editors know of the functions of irmeta's studies."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args, get_origin

from irmeta.options import choices_of, typed_fields, value_type
from irmeta.studies.framework.registry import OWN, find
from irmeta.studies.framework.run_options import RunOptions
from irmeta.studies.framework.study import Study

FILE = Path(__file__).parents[1] / "irmeta" / "studies" / "__init__.pyi"
HEAD = '''\
# Written by .ci/stubs.py: change the studies and run it again.
from collections.abc import Iterable
from concurrent.futures import Executor
from pathlib import Path
from typing import Literal

from irmeta.api import Store
from irmeta.store.scan import StoreReader
from irmeta.studies.framework.run_options import Progress
from irmeta.studies.framework.run_all import run_all as run_all
from irmeta.studies.framework.study_results import StudyResults

def open(folder: str | Path) -> StudyResults:
    """Open the results that a study left in a folder."""
'''
PLACES = {
    "tracks": ("store: Store | StoreReader | str | Path", "out: str | Path"),
    "optional": ("store: Store | StoreReader | str | Path | None", "out: str | Path"),
    "none": ("out: str | Path",),
}


def stubs() -> str:
    """Return the text of the file."""
    return "\n".join([HEAD, *(_function(find(name)) for name in sorted(OWN))])


def _function(study: Study) -> str:
    keywords = [
        f"{one.name}: {_type(one, kind)} = {one.default!r}".replace("'", '"')
        for cls in (study.options, RunOptions)
        for one, kind in typed_fields(cls)
    ]
    lines = [*PLACES[study.inputs], "*", *keywords]
    name = study.name.replace("-", "_")
    return "\n".join([f"def {name}(", *(f"    {line}," for line in lines), ") -> StudyResults:",
                      f'    """{study.title}: {study.paper or study.gives}"""\n'])  # fmt: skip


def _type(one: Any, kind: Any) -> str:
    plain = value_type(kind)
    if choices := choices_of(one, kind):
        text = f"Literal[{', '.join(map(repr, choices))}]"
    elif get_origin(plain) is tuple:
        item = get_args(plain)[0].__name__
        text = f"{item} | Iterable[{item}]"
    else:
        text = "Progress" if one.name == "progress" else plain.__name__
    return text if plain is kind else f"{text} | None"


if __name__ == "__main__":
    FILE.write_text(stubs(), encoding="utf-8")
