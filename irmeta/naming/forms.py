"""Forms of names: word, parameters and cutoff, and objects of ir_measures as names."""

from __future__ import annotations

import re
from typing import Any

from irmeta.errors import MeasureError
from irmeta.naming.parameters import printed

_FORM = re.compile(r"(?P<word>[\w#-]+)\s*(?P<inside>\([^()]*\))?\s*(?P<cut>@.*)?")
_AT = re.compile(r"[_-]at[_-](?=[\d.]+(?:-l\d+)?$)", re.IGNORECASE)  # MTEB's ndcg_at_10
_LEVEL = re.compile(r"(.*\w)-l(\d+)")  # ranx's least relevant grade: map@100-l2
_OF_IR_MEASURES = {
    "judged_only=True": "unjudged=condensed",
    "judged_only=False": None,
    "dcg='exp-log2'": "gain=exp",
    "dcg='log2'": None,
}
_GAINS = re.compile(r"gains\s*=\s*\{([^{}]*)\}")


def split_form(name: str) -> tuple[str, str, str] | None:
    """Split a name into its word, its parameters without parentheses, and ``@`` with its cutoff.

    The cutoff of MTEB's ``ndcg_at_10``, and ranx's least relevant grade of ``map@100-l2``, are
    written as irmeta writes them; ir_measures' parameters too. None for another form.
    """
    name = _AT.sub("@", name.strip())
    level = _LEVEL.fullmatch(name)
    match = _FORM.fullmatch(level[1] if level else name)
    if match is None:
        return None
    inside = _parameters((match["inside"] or "()")[1:-1])
    if level:
        inside = ",".join(filter(None, [inside, f"rel={level[2]}"]))
    return match["word"], inside, match["cut"] or ""


def joined(word: str, inside: str, cut: str) -> str:
    """Return a name of a word, which may have parameters, further parameters, and a cutoff."""
    word, _, own = word.partition("(")
    parameters = ",".join(filter(None, [own.rstrip(")"), inside]))
    return word + (f"({parameters})" if parameters else "") + cut


def _parameters(inside: str) -> str:
    """Translate ir_measures' parameters; those with its defaults are dropped."""
    inside = _GAINS.sub(lambda gains: f"gain={gains[1].replace(',', ';').replace(' ', '')}", inside)
    translated = [_OF_IR_MEASURES.get("".join(part.split()), part) for part in inside.split(",")]
    return ",".join(part for part in translated if part is not None)


def text_of(name: Any) -> Any:
    """Return the name of a measure object of ir_measures in irmeta; anything else unchanged.

    Raises
    ------
    MeasureError
        If the measure is another in irmeta.
    """
    if isinstance(name, str) or not (hasattr(name, "NAME") and hasattr(name, "params")):
        return name
    params: dict[str, Any] = dict(name.params)
    if name.NAME == "RBP" and params.get("rel") is None:
        raise MeasureError(
            f"{name}: RBP of ir_measures is graded without rel, and binary in irmeta: give rel=1, "
            "or write 'RBP(gain=linear)'."
        )
    if name.NAME == "NumRet" and params.get("rel") is not None:
        return f"NumRelRet(rel={params['rel']})"
    if name.NAME == "SetF" and "beta" in params:  # which ir_measures passes on as beta squared
        word, inside, _ = split_form(str(name(beta=1.0))) or ("SetF", "", "")
        beta = f"beta={params['beta'] ** 0.5!r}"
        return joined(word, ",".join(filter(None, [inside, beta])), "")
    if name.NAME == "ERR":  # of gdeval, whose highest grade is 4
        return f"ERR(gmax=4){'' if 'cutoff' not in params else '@' + printed(params['cutoff'])}"
    return str(name)
