"""Policies: validation, defaults and records."""

import json
import pickle
from dataclasses import FrozenInstanceError
from itertools import product
from typing import get_args

import pytest

from irmeta.errors import UsageError
from irmeta.policies import (
    Averaged,
    Duplicates,
    EvalPolicy,
    Malformed,
    Negative,
    ReadPolicy,
    TieOrder,
)


@pytest.mark.parametrize(
    ("policy", "choice", "value", "hint"),
    [
        (ReadPolicy, "tie_order", "trec-eval", "Did you mean 'trec_eval'?"),
        (ReadPolicy, "tie_order", "TREC_EVAL10", "Did you mean 'trec_eval10'?"),
        (ReadPolicy, "tie_order", None, "Known: file, rank, score-file, trec_eval, trec_eval10."),
        (ReadPolicy, "tie_order", ["rank"], "is not a choice"),
        (ReadPolicy, "duplicates", "frist", "Did you mean 'first'?"),
        (ReadPolicy, "duplicates", True, "Known: best, error, first."),
        (ReadPolicy, "malformed", "skipp", "Did you mean 'skip'?"),
        (ReadPolicy, "depth", 0, "is not a whole number of at least 1"),
        (ReadPolicy, "depth", -1, "is not a whole number of at least 1"),
        (ReadPolicy, "depth", True, "is not a whole number of at least 1"),
        (ReadPolicy, "depth", 10.0, "is not a whole number of at least 1"),
        (ReadPolicy, "depth", "10", "is not a whole number of at least 1"),
        (EvalPolicy, "queries", "judge", "Did you mean 'judged'?"),
        (EvalPolicy, "queries", None, "Known: judged, relevant, retrieved."),
        (EvalPolicy, "negative", "non-relevant", "Did you mean 'nonrelevant'?"),
        (EvalPolicy, "tie_order", "score_file", "Did you mean 'score-file'?"),
        (EvalPolicy, "tie_order", "", "is not a choice"),
    ],
)
def test_policy__invalid_option_is_refused(policy, choice, value, hint):
    with pytest.raises(UsageError) as error:
        policy(**{choice: value})
    assert str(error.value).startswith(f"{choice} = {value!r} is not")
    assert hint in str(error.value)


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
