"""Execute notebooks and keep small, reproducible outputs: .ci/notebooks.py [NAME...]."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[1] / "notebooks"
LARGEST = 400_000  # bytes of a notebook
FORMS = ("image/svg+xml", "text/html", "text/plain")  # the best first; others are left out
FORBIDDEN = {
    "an absolute path": r"/(home|Users|tmp|work|root)/|[A-Z]:\\\\",
    "a memory address": r"\bat 0x[0-9a-f]{6,}",
}
STYLE = re.compile(r"<style>.*?</style>\s*", re.DOTALL)  # polars repeats it in every table
TEXT_CELL = re.compile(r"<td>&quot;(.*?)&quot;</td>")
FONT = re.compile(r' font-family="([^"]*)"')
NEEDLESS = re.compile(
    r"<title>.*?</title>"  # browsers show no titles of images in notebooks
    r'| class="[^"]*"| opacity="1"| font-weight="normal"',
    re.DOTALL,
)
PLACES = re.compile(r' (?:d|transform|x|y|[xy][12])="[^"]*"')


def execute(file: Path) -> nbformat.NotebookNode:
    """Run a notebook in its folder and return it with its cleaned outputs."""
    notebook = nbformat.read(file, as_version=4)
    for cell in notebook.cells:
        cell.metadata = {}
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    resources = {"metadata": {"path": str(file.parent)}}
    NotebookClient(
        notebook, timeout=600, kernel_name="python3", resources=resources, record_timing=False
    ).execute(env={**os.environ, "IRMETA_PROGRESS": "0"})
    for cell in notebook.cells:
        cell.metadata = {}
        if cell.cell_type == "code":
            cell.outputs = [cleaned(output, file.stem) for output in cell.outputs]
    python = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook.metadata = {"kernelspec": python, "language_info": {"name": "python"}}
    return notebook


def cleaned(output: nbformat.NotebookNode, name: str) -> nbformat.NotebookNode:
    """Keep one form of a result, without metadata."""
    if output.output_type == "stream":
        if output.name == "stderr":
            raise SystemExit(f"{name} prints to stderr: {output.text}")
        return output
    output.metadata = {}
    data = output.data
    best = next(form for form in FORMS if form in data)
    shorten = smaller if best == FORMS[0] else plain
    output.data = {best: shorten(data[best])}
    return output


def plain(html: str) -> str:
    """Return the HTML of a table without polars' style and quotation marks."""
    return TEXT_CELL.sub(r"<td>\1</td>", STYLE.sub("", html))


def smaller(svg: str) -> str:
    """Return an SVG that looks the same, with tenths of pixels and one font."""
    svg = PLACES.sub(lambda place: re.sub(r"-?\d+\.\d+", rounded, place[0]), NEEDLESS.sub("", svg))
    if len(fonts := set(FONT.findall(svg))) == 1:
        svg = FONT.sub("", svg).replace("<svg ", f'<svg font-family="{fonts.pop()}" ', 1)
    return re.sub(r'="([^"\']*)"', r"='\1'", svg)  # JSON escapes double quotes


def rounded(number: re.Match[str]) -> str:
    """Round a number of a path to one digit."""
    return f"{float(number[0]):.1f}".removesuffix(".0")


def written(notebook: nbformat.NotebookNode) -> str:
    """Return the text of a notebook, as nbformat writes it."""
    return nbformat.writes(notebook) + "\n"


def problems_of(text: str) -> list[str]:
    """Return what the text of a notebook must not have."""
    found = [what for what, pattern in FORBIDDEN.items() if re.search(pattern, text)]
    return found + [f"more than {LARGEST:,} bytes"] * (len(text) > LARGEST)


def main() -> None:
    """Execute the named notebooks, or all, and replace the files."""
    problems = []
    for file in sorted(FOLDER.glob("*.ipynb")):
        if sys.argv[1:] and file.stem not in sys.argv[1:]:
            continue
        text = written(execute(file))
        print(f"{file.stem}: {len(text):,} bytes", flush=True)
        problems += [f"{file.stem} has {what}" for what in problems_of(text)]
        file.write_text(text, encoding="utf-8")
    if problems:
        raise SystemExit("\n".join(problems))


if __name__ == "__main__":
    main()
