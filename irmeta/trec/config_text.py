"""Text of `collection.toml`."""

from __future__ import annotations

import json
import re

CONFIG = "collection.toml"
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def toml_key(name: str) -> str:
    """Return a TOML key, quoted if necessary."""
    return name if _BARE_KEY.fullmatch(name) else toml_text(name)


def toml_text(text: str) -> str:
    """Return a TOML string."""
    return json.dumps(text, ensure_ascii=False)
