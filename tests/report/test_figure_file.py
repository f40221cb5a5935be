"""Formats and marks of files of figures."""

from __future__ import annotations

import struct
import zlib

import pytest

from irmeta.errors import UsageError
from irmeta.report import FORMATS, parse_formats
from irmeta.report.figure_file import add_mark, images_of

SPEC = {"mark": "point", "data": {"values": [{}]}, "width": 90, "config": {"title": {}}}


def test_parse_formats__orders_texts_with_commas():
    assert parse_formats("png, svg") == parse_formats(["png", "svg,png"]) == ("svg", "png")
    for wrong in ("sgv", "svg,", []):
        with pytest.raises(UsageError, match="formats"):
            parse_formats(wrong)


def test_add_mark__marked_images_keep_their_format():
    images = images_of(SPEC, FORMATS)
    marked = {form: add_mark(image, form, "irmeta compare") for form, image in images.items()}
    assert list(marked) == list(FORMATS)
    for form, image in marked.items():
        assert b"irmeta compare" in image[-100:]
        assert image[:20] == images[form][:20]
    kinds = dict(chunks(marked["png"]))
    assert list(kinds)[-2:] == [b"tEXt", b"IEND"]
    assert kinds[b"tEXt"] == b"Software\0irmeta compare"


def chunks(png: bytes):
    """Yield kind and content of the chunks of a PNG, and check their checksums."""
    at = 8
    while at < len(png):
        size, kind = struct.unpack(">I4s", png[at : at + 8])
        content = png[at + 8 : at + 8 + size]
        assert struct.unpack(">I", png[at + 8 + size :][:4])[0] == zlib.crc32(kind + content)
        yield kind, content
        at += 12 + size
