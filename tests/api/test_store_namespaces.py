"""`Store`: its namespaces, and its methods `compare`, `power` and `prefer`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cached_property
from importlib import import_module
from typing import Any

import polars as pl
import pytest

import irmeta
from irmeta.api import Store
from irmeta.policies import EvalPolicy

PLACES = {
    "compare": "irmeta.api.significance",
    "power": "irmeta.api.significance",
    "prefer": "irmeta.api.pairs",
}
KEYWORDS = inspect.Parameter.VAR_KEYWORD


def parameters(function: Any, left_out: int) -> list[inspect.Parameter]:
    """Return the parameters after the first ones, without the policies."""
    found = list(inspect.signature(function).parameters.values())
    return [one for one in found[left_out:] if one.kind is not KEYWORDS]


@pytest.mark.parametrize("name", PLACES)
def test_store_methods__have_the_signatures_of_the_functions(name: str):
    method, function = getattr(Store, name), getattr(irmeta, name)
    assert parameters(method, 1) == parameters(function, 2)  # without self; results and runs
    returned = (inspect.signature(one).return_annotation for one in (method, function))
    assert len(set(returned)) == 1


@pytest.mark.parametrize("name", PLACES)
def test_store_methods__hand_every_argument_on(
    name: str, made_store: Store, monkeypatch: pytest.MonkeyPatch
):
    called: list[tuple[tuple[Any, ...], dict[str, Any]]] = []
    place = import_module(PLACES[name])
    monkeypatch.setattr(place, name, lambda *args, **given: called.append((args, given)))
    given = {one.name: object() for one in parameters(getattr(Store, name), 1)}
    given |= {"queries": object(), "pool_depth": object()}
    getattr(made_store, name)(**given)
    assert called == [((made_store,), given)]


def test_namespaces__are_annotated_and_kept(made_store: Store):
    spaces = {n: one for n, one in vars(Store).items() if isinstance(one, cached_property)}
    assert set(spaces) == {"pairs", "per_doc", "plot", "pools", "stability"}
    for name, one in spaces.items():
        value = getattr(made_store, name)
        assert type(value).__name__ == one.func.__annotations__["return"]
        assert type(value).__module__ == f"irmeta.api.{name}"
        assert getattr(made_store, name) is value


ASKED: dict[str, Callable[..., pl.DataFrame]] = {
    "pairs": lambda s, **choices: s.pairs.preferences(track="web", **choices),
    "per_doc": lambda s, **choices: s.per_doc.rarity("web", **choices),
    "pools": lambda s, **choices: s.pools.unjudged("web", **choices)[0].unjudged,
    "stability": lambda s, **choices: s.stability.volatility(
        "AP", ks=[3, 9], track="web", **choices
    ),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("space", ASKED)
def test_namespaces__evaluate_by_the_policies_of_the_store(space: str, made_store: Store):
    """A store that is opened by results has the policies of these results."""
    ask, store = ASKED[space], Store(made_store.reader)
    store.eval_policy = EvalPolicy(pool_depth=3)
    asked = ask(made_store, pool_depth=3)
    assert ask(store).equals(asked)
    assert not ask(made_store).equals(asked)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("rarity", "see store.per_doc.rarity"),
        ("unjudged", "see store.pools.unjudged"),
        ("win_rates", "see store.pairs.win_rates"),
        ("truncation", "see store.stability.truncation"),
        ("rarities", "no attribute 'rarities'$"),
        (
            "only_queries",
            r"\[view.only_queries\(...\) for view in store.views\(track\)\]; .*query=",
        ),
    ],
)
def test_store__names_the_namespace_of_a_method(name: str, hint: str, made_store: Store):
    with pytest.raises(AttributeError, match=hint):
        getattr(made_store, name)
