"""Policies: validation, defaults and records."""

import json
import pickle
from dataclasses import FrozenInstanceError
from itertools import product
from typing import get_args

import pytest

from irmeta.policies import (
    Averaged,
    Duplicates,
    EvalPolicy,
    Malformed,
    Negative,
    ReadPolicy,
    TieOrder,
)


def test_policy__defaults():
    assert ReadPolicy() == ReadPolicy("trec_eval", None, "error", "error")
    assert EvalPolicy() == EvalPolicy("judged", "unjudged", None, None)


READ = [
    ReadPolicy(*choice)
    for choice in product(get_args(TieOrder), (None, 7), get_args(Duplicates), get_args(Malformed))
]
EVAL = [
    EvalPolicy(*choice)
    for choice in product(
        get_args(Averaged), get_args(Negative), (None, "graded"), (None, *get_args(TieOrder))
    )
]


@pytest.mark.parametrize("policies", [READ, EVAL], ids=["read", "eval"])
def test_policy__round_trips_through_json_record(policies):
    for policy in policies:
        record = json.loads(json.dumps(policy.record()))
        assert type(policy).from_record(record) == policy
        assert pickle.loads(pickle.dumps(policy)) == policy
    assert len({json.dumps(p.record()) for p in policies}) == len(policies)


def test_policy__is_immutable():
    with pytest.raises(FrozenInstanceError):
        ReadPolicy().depth = 3
