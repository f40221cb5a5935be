"""Documents of all tables, set by pdflatex in two columns; without it, their structure."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

DOCUMENT = r"""\PassOptionsToPackage{table}{xcolor}
\documentclass[twocolumn]{article}
\usepackage[T1]{fontenc}
\IfFileExists{lmodern.sty}{\usepackage{lmodern}}{}
\usepackage{PACKAGES}
\setlength{\textwidth}{504pt}\setlength{\columnsep}{24pt}\setlength{\oddsidemargin}{-20pt}
\setlength{\topmargin}{-40pt}\setlength{\textheight}{660pt}
\extrafloats{200}
\begin{document}
BODY
\end{document}
"""
FAULT = re.compile(
    r"Overfull \\hbox \((?P<points>[\d.]+)pt|LaTeX Warning: (?P<warning>.*defined|Float too large)"
)
ALLOWED = 5.0  # points that a line may be too wide


def faults(files: Iterable[Path], folder: Path) -> list[str]:
    """Set the tables as they are to be used; return wide lines, long floats and labels not unique.

    Faults of structure are returned too: without pdflatex, they alone. Packages are those that the
    files ask for.
    """
    texts = {file: file.read_text(encoding="utf-8") for file in files}
    found = [f"{file.name}: {fault}" for file, text in texts.items() for fault in structure(text)]
    if found or shutil.which("pdflatex") is None:
        return found
    floats = [file for file, text in texts.items() if r"\begin{longtable}" not in text]
    packages: set[str] = set()
    for text in texts.values():
        asked = re.findall(r"^% Packages: ([\w, ]+)", text)[0]
        packages |= set(asked.replace(" with option table", "").split(", "))
    parts = [*map(_input, floats), r"\onecolumn", *(_input(f) for f in texts if f not in floats)]
    document = DOCUMENT.replace("PACKAGES", ",".join(sorted(packages)))
    (folder / "all.tex").write_text(document.replace("BODY", "\n".join(parts)), encoding="utf-8")
    command = ["pdflatex", "-draftmode", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    for _ in range(2):  # labels are known in the second run
        done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
        assert done.returncode == 0, done.stdout[-1500:].decode(errors="replace")
    log = re.sub(r"(?<=.{79})\n", "", (folder / "all.log").read_text(errors="replace"))
    return list(_faults(log))


TABULAR = re.compile(
    r"\\begin\{(?P<name>tabular|tabularx|longtable)\}(?P<rest>.*?)\\end\{(?P=name)\}", re.DOTALL
)
STACKED = re.compile(r"\\begin\{tabular\}\[b\].*?\\end\{tabular\}", re.DOTALL)
RULES = re.compile(
    r"\\(toprule|midrule|bottomrule|endfirsthead|endhead|endfoot|endlastfoot)\b"
    r"|\\(cmidrule\(\w*\)|addlinespace)(\[.*?\]|\{.*?\})|\\(caption|label)\{.*?\}\s*\\\\\n"
)
LETTERS = re.compile(r"[@>p]?\{[^{}]*(\{[^{}]*\}[^{}]*)*\}")
NO_PROSE = re.compile(r"(?<!\\)\$.*?(?<!\\)\$|\\(cellcolor\[HTML\]|multicolumn\{\d+\})\{.*?\}")

RAW = re.compile(r"(?<!\\)[#%_^~<>|]")


def structure(text: str) -> Iterator[str]:
    """Yield unbalanced braces and environments, rows of other lengths, and raw special characters.

    The length of a row is counted in cells, with those that cells span.
    """
    body = "\n".join(line for line in text.splitlines() if not line.startswith("%"))
    opened, closed = (
        len(re.findall(rf"(?<!\\)\{mark}", body.replace(r"\\", "  "))) for mark in "{}"
    )
    if opened != closed:
        yield f"{opened} braces are opened, {closed} closed"
    stack = list[str]()
    for kind, name in re.findall(r"\\(begin|end)\{(\w+\*?)\}", body):
        if kind == "begin":
            stack.append(name)
        elif not stack or stack.pop() != name:
            yield f"\\end{{{name}}} ends another environment"
    yield from (f"{name} does not end" for name in stack)
    captions = re.findall(r"^\\caption\{.*?\}(?=\\label|\n)", body, re.MULTILINE)
    yield from (f"raw {m[0]} in a caption" for c in captions if (m := RAW.findall(_prose(c))))
    for table in TABULAR.finditer(STACKED.sub("H", body)):
        spec, rows = _group(re.sub(r"^\{\\(column|text)width\}", "", table["rest"]))
        columns = len(re.findall("[lcrXSp]", LETTERS.sub(_letter, spec)))
        for row in map(str.strip, RULES.sub("", rows).split(r"\\")[:-1]):
            spans = re.findall(r"\\multicolumn\{(\d+)\}", row)
            cells = len(re.findall(r"(?<!\\)&", row)) + 1 + sum(int(n) - 1 for n in spans)
            if cells != columns:
                yield f"{cells} cells in {columns} columns: {row[:60]}"
            if marks := RAW.findall(_prose(row)):
                yield f"raw {' '.join(marks)}: {row[:60]}"
            if row.startswith(("[", "*")):
                yield f"an argument of the row before: {row[:60]}"


def _prose(text: str) -> str:
    return NO_PROSE.sub("", text)


def _letter(part: re.Match[str]) -> str:
    return part[0][:1] if part[0].startswith("p") else ""


def _group(text: str) -> tuple[str, str]:
    """Split text behind the group of braces with which it begins."""
    depth = 0
    for i, mark in enumerate(text):
        depth += {"{": 1, "}": -1}.get(mark, 0)
        if depth == 0:
            return text[1:i], text[i + 1 :]
    return text, ""


def _input(file: Path) -> str:
    return rf"\typeout{{FILE {file.parent.parent.name}/{file.name}}}\input{{{file}}}\clearpage"


def _faults(log: str) -> Iterable[str]:
    where = ""
    for line in log.splitlines():
        where = line[5:] if line.startswith("FILE ") else where
        if (fault := FAULT.search(line)) and float(fault["points"] or ALLOWED + 1) > ALLOWED:
            yield f"{where}: {line}"
