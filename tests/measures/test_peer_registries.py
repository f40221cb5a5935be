"""Every measure of other programs is read, or left out for a stated reason."""

from __future__ import annotations

import importlib.util
from importlib.metadata import version
from pathlib import Path

import ir_measures
import pytest
import pytrec_eval

from irmeta.errors import MeasureError
from irmeta.measures.names import parse_measures

ROOT = Path(__file__).parents[2]
spec = importlib.util.spec_from_file_location("peer_names", ROOT / ".ci" / "peer_names.py")
assert spec is not None
assert spec.loader is not None
peers = importlib.util.module_from_spec(spec)
spec.loader.exec_module(peers)
REGISTRIES, CHOICES = peers.read()
NAMES = [(program.split()[0], name) for program, of in REGISTRIES.items() for name in of]


def params_of(program: str, name: str) -> dict[str, str]:
    return next(of[name] for one, of in REGISTRIES.items() if one.startswith(program))


@pytest.mark.parametrize(("program", "name"), NAMES)
def test_peers__every_name_is_read_or_left_out_with_a_reason(program: str, name: str):
    found = peers.meant(program, name, params_of(program, name), CHOICES)
    why = peers.reason(program, name, CHOICES)
    assert (found is None) != (why is None), f"{name}: {found} and {why}: see peers.toml"


def test_peers__choices_name_measures_of_the_registries():
    named = {(p, n) for part in ("ours", "left_out") for p, of in CHOICES[part].items() for n in of}
    assert named <= set(NAMES)


def test_peers__recorded_registries_are_those_of_installed_programs():
    """data_fixtures/make_peer_registries.py records another version."""
    installed = REGISTRIES.get(f"ir_measures {version('ir-measures')}")
    if installed is not None:
        assert set(installed) == set(ir_measures.measures.registry)
    installed = REGISTRIES.get(f"pytrec_eval {version('pytrec-eval-terrier')}")
    if installed is not None:
        nicknamed = set().union(*pytrec_eval.supported_nicknames.values())
        assert set(installed) == pytrec_eval.supported_measures | nicknamed


@pytest.mark.parametrize("name", CHOICES["left_out"]["pytrec_eval"])
def test_parse_measures__names_left_out_of_trec_eval_say_what_prints_them(name: str):
    with pytest.raises(
        MeasureError, match=r"trec_eval (prints a text|computes it .* trec_eval -R)"
    ):
        parse_measures(name)


def test_page__is_written_by_its_script():
    """Run .ci/peer_names.py where this fails."""
    assert peers.PAGE.read_text(encoding="utf-8") == peers.page()
