"""Write what editors know of keywords: of studies (a stub) and of policies (typed dicts)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args, get_origin

from irmeta import policies
from irmeta.api import arguments
from irmeta.options import Options, choices_of, typed_fields, value_type
from irmeta.policies import SELECTING, EvalPolicy, ReadPolicy
from irmeta.studies.framework.registry import OWN, find
from irmeta.studies.framework.study import Study

PACKAGE = Path(__file__).parents[1] / "irmeta"
HEAD = '''\
# Written by .ci/stubs.py: change the studies and run it again.
from collections.abc import Iterable
from concurrent.futures import Executor
from pathlib import Path
from typing import Literal

from irmeta.api import Store
from irmeta.store.scan import StoreReader
from irmeta.studies.framework.study_results import bundle as bundle
from irmeta.studies.framework.claim_matrix import claim_matrix as claim_matrix
from irmeta.studies.framework.study_results import claims as claims
from irmeta.progress import Progress
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


def _texts(policy: type[Options], *, without: tuple[str, ...] = ()) -> dict[str, str]:
    """Map the fields of a policy to their types, as written in irmeta/policies.py."""
    return {one.name: str(one.type) for one in fields(policy) if one.name not in without}


_SELECTING = {
    "system": "str | Iterable[str] | None",
    "query": "str | int | Iterable[str | int] | None",
}
_BY_TRACK = {"qrels": "str | Mapping[str, str] | Sequence[str] | None"}
_REL = {"rel": "float | Mapping[str, float] | Sequence[str] | None"}
_EVAL = _texts(EvalPolicy) | _SELECTING | _BY_TRACK | _REL
_READ = _texts(ReadPolicy) | {"columns": "Mapping[str, str] | Sequence[str]"}
_DATA = {name: kind for name, kind in _READ.items() if name != "names"}
_RUNS = (
    *("duplicates", "malformed", "run_format", "drop_self", "comments", "drop_docs", "chunks"),
    "columns",
)
_READ_ALONE = {name: kind for name, kind in _DATA.items() if name not in _EVAL}
KEYWORDS = {
    "EvalChoices": ("The fields of `EvalPolicy`", _EVAL),
    "GradedChoices": (
        "The fields of `EvalPolicy` of functions with a `rel` of their own",
        {name: kind for name, kind in _EVAL.items() if name != "rel"},
    ),
    "PairChoices": (
        "The fields of `EvalPolicy` of functions that name systems",
        {name: kind for name, kind in _EVAL.items() if name != "system"},
    ),
    "GradedPairChoices": (
        "The fields of `EvalPolicy` of functions that name systems, without `rel`",
        {name: kind for name, kind in _EVAL.items() if name not in ("system", "rel")},
    ),
    "ExplainChoices": (
        "The fields of `EvalPolicy` of functions that name a system and a query",
        {name: kind for name, kind in _EVAL.items() if name not in SELECTING},
    ),
    "ReadChoices": ("The fields of `ReadPolicy`", _READ),
    "DataChoices": ("The fields of `ReadPolicy` without the names of systems", _DATA),
    "PoolChoices": (
        "The fields of `EvalPolicy` for pools",
        {name: _EVAL[name] for name in ("qrels", "negative", "tie_order")},
    ),
    "RunChoices": (
        "The fields of `ReadPolicy` that matter without judgments",
        {name: _READ[name] for name in _RUNS},
    ),
    "DataPolicies": (
        "The fields of `EvalPolicy` and, for qrels and runs in memory, of reading",
        _EVAL | _READ_ALONE,
    ),
    "Policies": (
        "The fields of `ReadPolicy` and `EvalPolicy` for one track of data",
        _DATA | _texts(EvalPolicy, without=("qrels",)) | _SELECTING | _REL,
    ),
}
"""Description of each typed dict, and the types of its keywords."""
OPERATIONS = {
    arguments.CompareOptions: True,
    arguments.PowerOptions: True,
    arguments.PreferOptions: True,
    arguments.AgreeOptions: False,
    arguments.ReproduceOptions: True,
    arguments.OverTracksOptions: True,
    arguments.BudgetOptions: True,
}
"""Options of functions and methods of `Store`, and whether these take policies too."""


def stubs() -> str:
    """Return the text of the file."""
    return "\n".join([HEAD, *(_function(find(name)) for name in sorted(OWN))])


def _function(study: Study) -> str:
    keywords = [
        f"{one.name}: {_type(one, kind)} = {one.default!r}".replace("'", '"')
        for cls in (study.options, study.run_options)
        for one, kind in typed_fields(cls)
    ]
    takes_none = study.inputs == "tracks" and not study.needs_store
    lines = [*PLACES["optional" if takes_none else study.inputs], "*", *keywords]
    name = study.name.replace("-", "_")
    return "\n".join([f"def {name}(", *(f"    {line}," for line in lines), ") -> StudyResults:",
                      f'    """{study.title}: {study.paper or study.gives}"""\n'])  # fmt: skip


def _type(one: Any, kind: Any) -> str:
    plain = value_type(kind)
    several = get_origin(plain) is tuple
    text = get_args(plain)[0].__name__ if several else plain.__name__
    if choices := choices_of(one, kind):
        text = f"Literal[{', '.join(map(repr, choices))}]"
    if several:
        text = f"{text} | Iterable[{text}]"
    elif not choices:
        text = "Progress" if one.name == "progress" else text
    return text if plain is kind else f"{text} | None"


def _keyword(one: Any) -> str:
    """Return the type of an option as a keyword: a field of several values takes one, too."""
    text = re.sub(r"tuple\[(\w+), \.\.\.\]", r"\1 | Iterable[\1]", str(one.type))
    also = {"generator": "np.random.Generator", "frame": "pl.DataFrame"}
    named = [name for name in text.split(" | ") if name != "None"]
    named += [name for key, name in also.items() if one.metadata[key]]
    return " | ".join([*named, *(["None"] if text.endswith("| None") else [])])


def _of_operation(cls: type[Options]) -> Iterator[str]:
    """Yield the typed dicts of an operation: its options, with policies of stores or of data."""
    name = cls.__name__.removesuffix("Options")
    lines = [f"    {one.name}: {_keyword(one)}" for one, _ in typed_fields(cls)]
    head = f'class {name}Keywords(TypedDict, total=False):\n    """The fields of `{cls.__name__}`'
    yield "\n".join([f'{head}, as keywords."""\n', *lines, ""])
    if not OPERATIONS[cls]:
        return
    for kind, base, of in (
        ("", "EvalChoices", "`EvalPolicy`"),
        ("Data", "DataPolicies", "`DataPolicies`"),
    ):
        head = f"class {name}{kind}Choices({name}Keywords, {base}, total=False):"
        yield f'{head}\n    """The fields of `{cls.__name__}` and {of}, as keywords."""\n'


def policy_keywords() -> str:
    """Return the text of irmeta/policy_keywords.py."""
    of_options = [_keyword(one) for cls in OPERATIONS for one in fields(cls)]
    types = " ".join(
        [*of_options, *(k for _, of_dict in KEYWORDS.values() for k in of_dict.values())]
    )
    found = set(re.findall(r"[A-Z]\w+", types)) - {"Collection", "Iterable", "Mapping", "Sequence"}
    names = sorted(name for name in found if hasattr(policies, name))
    head = (
        '"""Fields of policies and options as keywords: written by .ci/stubs.py."""\n\n'
        "from __future__ import annotations\n\n"
        "from collections.abc import Iterable, Mapping, Sequence\n"
        "from typing import TYPE_CHECKING, TypedDict\n\n"
        f"from irmeta.policies import (\n{''.join(f'    {name},{chr(10)}' for name in names)})\n\n"
        "if TYPE_CHECKING:\n    import numpy as np\n    import polars as pl\n"
    )
    classes = [
        "\n".join(
            [f"class {name}(TypedDict, total=False):", f'    """{text}, as keywords."""\n']
            + [f"    {field}: {kind}" for field, kind in of_dict.items()]
        )
        for name, (text, of_dict) in KEYWORDS.items()
    ]
    of_operations = (text for cls in OPERATIONS for text in _of_operation(cls))
    return "\n\n".join([head, *(f"{one}\n" for one in classes), *of_operations])


FILES = {"studies/__init__.pyi": stubs, "policy_keywords.py": policy_keywords}
"""Function that returns the text of each file."""


if __name__ == "__main__":
    for name, text_of in FILES.items():
        (PACKAGE / name).write_text(text_of(), encoding="utf-8")
