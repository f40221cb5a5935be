"""Names of measures that are written as expressions: ``irmeta.AP(rel=2) @ 100``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from irmeta.errors import MeasureError, did_you_mean
from irmeta.measures.names import registry
from irmeta.measures.spec import Measure
from irmeta.naming.forms import joined, split_form
from irmeta.naming.parameters import printed


class MeasureName(str):
    """The name of a measure, to which parameters and a cutoff can be added.

    Examples
    --------
    >>> irmeta.nDCG @ 10, irmeta.AP(rel=2) @ 100
    (nDCG@10, AP(rel=2)@100)
    """

    __slots__ = ()

    def __call__(self, **parameters: object) -> MeasureName:
        """Return the name with further parameters.

        Raises
        ------
        MeasureError
            If the measure has no such parameter.
        """
        word, inside, cut = self._form()
        known = {parameter.name for parameter in registry()[word].all_parameters}
        for name in parameters:
            if name not in known:
                hint = did_you_mean(name, known)
                raise MeasureError(f"{self}: {word} has no parameter {name!r}. {hint}")
        further = (f"{name}={_text(value)}" for name, value in parameters.items())
        return MeasureName(joined(word, ",".join([*filter(None, [inside]), *further]), cut))

    def __matmul__(self, cutoff: float) -> MeasureName:
        """Return the name with a cutoff.

        Raises
        ------
        MeasureError
            If the name has a cutoff.
        """
        word, inside, cut = self._form()
        if cut:
            raise MeasureError(f"{self} has a cutoff.")
        prefix = registry()[word].cutoff_prefix
        return MeasureName(joined(word, inside, f"@{prefix}{printed(cutoff)}"))

    def __repr__(self) -> str:
        """Return the name without quotation marks."""
        return str(self)

    def _form(self) -> tuple[str, str, str]:
        form = split_form(self)
        assert form is not None
        return form


def measure_named(word: str) -> MeasureName | None:
    """Return the name of a registered measure, None for any other word."""
    measure: Measure | None = registry().get(word)
    return None if measure is None else MeasureName(measure.name)


def _text(value: object) -> str:
    if isinstance(value, Mapping):
        gains = cast(Mapping[Any, Any], value)
        return ";".join(f"{grade}:{printed(gain)}" for grade, gain in gains.items())
    return printed(value)
