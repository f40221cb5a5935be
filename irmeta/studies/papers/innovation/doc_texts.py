"""A file of the texts of docs, for Table 4."""

from __future__ import annotations

from collections.abc import Collection

from irmeta.errors import DataError


def read_texts(file: str, docs: Collection[str]) -> dict[str, str]:
    """Read the texts of some docs from a file with a doc, a tab and its text in each line.

    Raises
    ------
    DataError
        If the file is not UTF-8, a line has no tab, or one of the docs has two texts.
    """
    texts, wanted = dict[str, str](), set(docs)
    try:
        with open(file, encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                content = line.rstrip("\n")
                doc, tab, text = content.partition("\t")
                if not tab:
                    fix = "Write a doc, a tab and its text in each line."
                    raise DataError("no tab", file=file, line=number, value=content, fix=fix)
                if doc in texts:
                    raise DataError("a second text of a doc", file=file, line=number, value=doc)
                if doc in wanted:
                    texts[doc] = text
    except UnicodeDecodeError as error:
        raise DataError("not UTF-8", file=file, fix="Write the texts in UTF-8.") from error
    return texts
