"""Print a pip constraint for the lowest version of each library that irmeta declares."""

import re
import tomllib
from pathlib import Path

project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
for requirement in project["dependencies"]:
    name, lowest = re.match(r"([\w.-]+)>=([\w.]+)", requirement).groups()
    print(f"{name}=={lowest}")
