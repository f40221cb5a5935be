"""Write the page of measures of other programs: names, parameters and defaults side by side."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from irmeta.errors import MeasureError
from irmeta.measures.names import Spec, parse_measures

ROOT = Path(__file__).parents[1]
REGISTRIES = ROOT / "data_fixtures" / "oracles" / "peer_registries.json"
CHOICES = ROOT / "data_fixtures" / "peers.toml"
PAGE = ROOT / "notebooks" / "site" / "peer_measures.md"
HEAD = """\
# Measures of other programs

Every measure that these programs register, at these versions, and irmeta's name of it, with
parameters and defaults. A dash in irmeta's column: the measure is left out, for the reason given. A
test fails on a name that is neither read nor left out; `python .ci/peer_names.py` writes this page.
[Differences](differences.md) has those in values.
"""
CUTS = {"cutoff": "@10", "recall": "@0.1"}
SCALE = {"max_rel": "4"}
"""Values of required parameters."""


def read() -> tuple[dict[str, dict[str, dict[str, str]]], dict[str, Any]]:
    """Return the recorded registries by program and version, and the choices made for them."""
    choices = tomllib.loads(CHOICES.read_text(encoding="utf-8"))
    return json.loads(REGISTRIES.read_text(encoding="utf-8")), choices


def spelled(name: str, params: Mapping[str, str]) -> Iterator[str]:
    """Yield spellings of a name: with the parameters that it requires, then with a cutoff."""
    needed = {p: SCALE.get(p, "1") for p, default in params.items() if not default}
    cut = next((cut for p, cut in CUTS.items() if p in needed), "")
    inside = ",".join(f"{p}={v}" for p, v in needed.items() if p not in CUTS)
    yield name + (f"({inside})" if inside else "") + cut
    yield f"{name}@10"


def meant(program: str, name: str, params: Mapping[str, str], choices: Any) -> list[Spec] | None:
    """Return the measures that a name of a program stands for; None if irmeta has none."""
    ours = choices["ours"].get(program, {}).get(name)
    for text in [ours] if ours else spelled(name, params):
        try:
            return parse_measures(text)
        except MeasureError:
            continue
    return None


def reason(program: str, name: str, choices: Any) -> str | None:
    """Return why a measure is left out; None if it is not said to be."""
    return choices["left_out"].get(program, {}).get(name)


def _parameters(spec: Spec) -> str:
    of = spec.measure.parameters
    return ", ".join(p.name + ("" if p.default is None else f"={p.default_text}") for p in of)


def _row(program: str, name: str, params: Mapping[str, str], choices: Any) -> str:
    theirs = ", ".join(f"{p}={default}" if default else p for p, default in params.items())
    why = reason(program, name, choices)
    found = None if why else meant(program, name, params, choices)
    if not found:
        return f"| `{name}` | {theirs} | - | {why} |"
    names = " to ".join(f"`{one.name}`" for one in dict.fromkeys((found[0], found[-1])))
    escaped = _parameters(found[0]).replace("|", "\\|")
    return f"| `{name}` | {theirs} | {names} | {escaped} |"


def page() -> str:
    """Return the page."""
    registries, choices = read()
    parts = [HEAD]
    for program, registry in registries.items():
        rows = [_row(program.split()[0], *one, choices) for one in registry.items()]
        head = "| name | parameters | irmeta | parameters, or why not |\n|---|---|---|---|"
        parts.append("\n".join([f"## {program}", "", head, *rows, ""]))
    rows = [f"| {what} | {why} |" for what, why in choices["others"].items()]
    parts.append("\n".join(["## Others", "", "| measures | why not |", "|---|---|", *rows, ""]))
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
