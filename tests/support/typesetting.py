"""Documents of all tables, set by pdflatex in two columns."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

DOCUMENT = r"""\documentclass[twocolumn]{article}
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

    The test is skipped without pdflatex. Packages are those that the files ask for.
    """
    if shutil.which("pdflatex") is None:
        pytest.skip("needs pdflatex, which is not on the path")
    texts = {file: file.read_text(encoding="utf-8") for file in files}
    floats = [file for file, text in texts.items() if r"\begin{longtable}" not in text]
    packages: set[str] = set()
    for text in texts.values():
        packages |= set(re.findall(r"^% Packages: ([\w, ]+)", text)[0].split(", "))
    parts = [*map(_input, floats), r"\onecolumn", *(_input(f) for f in texts if f not in floats)]
    document = DOCUMENT.replace("PACKAGES", ",".join(sorted(packages)))
    (folder / "all.tex").write_text(document.replace("BODY", "\n".join(parts)), encoding="utf-8")
    command = ["pdflatex", "-draftmode", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    for _ in range(2):  # labels are known in the second run
        done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
        assert done.returncode == 0, done.stdout[-1500:].decode(errors="replace")
    log = re.sub(r"(?<=.{79})\n", "", (folder / "all.log").read_text(errors="replace"))
    return list(_faults(log))


def _input(file: Path) -> str:
    return rf"\typeout{{FILE {file.parent.parent.name}/{file.name}}}\input{{{file}}}\clearpage"


def _faults(log: str) -> Iterable[str]:
    where = ""
    for line in log.splitlines():
        where = line[5:] if line.startswith("FILE ") else where
        if (fault := FAULT.search(line)) and float(fault["points"] or ALLOWED + 1) > ALLOWED:
            yield f"{where}: {line}"
