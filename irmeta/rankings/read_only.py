"""Read-only views for the functions of other packages."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from copy import copy
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np
import polars as pl

from irmeta.rankings.judged import JudgedRanks

Made = TypeVar("Made")
Function = TypeVar("Function", bound=Callable[..., Any])


class ReadOnlyRanks(JudgedRanks):
    """A view whose arrays, and the arrays that its methods cache, cannot be written.

    The cache is its own: arrays that a view of irmeta caches stay writeable, since a kernel would
    otherwise be compiled a second time for read-only arrays.
    """

    def cached(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Return what a function makes of the view, read-only."""
        return super().cached(key, lambda: read_only(make()))


def with_read_only_view(function: Function) -> Function:
    """Wrap a function whose first argument is a view, so that it cannot change the view."""

    @wraps(function)
    def protected(view: JudgedRanks, *arguments: Any) -> Any:
        protected_view = view.cached("read-only", lambda: _of_view(view))
        return function(protected_view, *arguments)

    return cast(Function, protected)


def _of_view(view: JudgedRanks) -> JudgedRanks:
    if isinstance(view, ReadOnlyRanks):
        return view
    names = (field.name for field in fields(view) if field.name != "_cache")
    return ReadOnlyRanks(**{name: read_only(getattr(view, name)) for name in names})


def read_only(value: Any) -> Any:
    """Return a value with all its arrays read-only; the arrays share memory with those given."""
    if isinstance(value, np.ndarray):
        return _read_only_array(cast(np.ndarray, value))
    if isinstance(value, pl.Series):
        return value.clone()  # assignment to an element replaces the buffer of this object alone
    if isinstance(value, JudgedRanks):
        return _of_view(value)
    if isinstance(value, tuple) and type(value) is tuple:
        return tuple(map(read_only, cast(tuple[Any, ...], value)))
    if isinstance(value, Mapping):
        return {key: read_only(one) for key, one in cast(Mapping[Any, Any], value).items()}
    if is_dataclass(value) and not isinstance(value, type):
        copied = copy(value)
        for field in fields(value):
            object.__setattr__(copied, field.name, read_only(getattr(value, field.name)))
        return copied
    return value


def _read_only_array(array: np.ndarray) -> np.ndarray:
    """Return an array over a read-only buffer: its `writeable` flag cannot be set again."""
    if array.dtype.hasobject or array.size == 0:
        array = array.copy()
        array.flags.writeable = False
        return array
    return np.asarray(memoryview(cast(Any, array)).toreadonly())
