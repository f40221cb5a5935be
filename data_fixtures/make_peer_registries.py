"""Write the names, parameters and defaults of the measures of other programs.

    pip install ir-measures==0.4.3 pytrec-eval-terrier==0.5.11 cwl-eval==1.0.12
    pip download --no-deps ranx==0.3.20 && unzip ranx-0.3.20-*.whl
    python data_fixtures/make_peer_registries.py ranx/metrics/__init__.py [--out DIR]

The tests and the page of names read `oracles/peer_registries.json`: program, name, parameters with
their defaults as text, empty where a value is required.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import pkgutil
import re
from importlib.metadata import version
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
Registry = dict[str, dict[str, str]]


def of_ir_measures() -> Registry:
    """Return the measures that ir_measures registers."""
    import ir_measures

    def default(info: Any) -> str:
        known = type(info.default) is not object
        return str(info.default) if known else "" if info.required else "None"

    return {
        name: {param: default(info) for param, info in measure.SUPPORTED_PARAMS.items()}
        for name, measure in ir_measures.measures.registry.items()
    }


def of_pytrec_eval() -> Registry:
    """Return the measures of pytrec_eval, also those that only its nicknames name."""
    import pytrec_eval

    nicknamed = set().union(*pytrec_eval.supported_nicknames.values())
    return {name: {} for name in sorted(pytrec_eval.supported_measures | nicknamed)}


def of_cwl_eval() -> Registry:
    """Return the classes of metrics of cwl_eval, also those that its program does not offer."""
    from cwl.ruler import measures
    from cwl.ruler.measures.cwl_metrics import CWLMetric

    classes: Registry = {}
    for module in pkgutil.iter_modules(measures.__path__):
        for name, one in vars(
            importlib.import_module(f"{measures.__name__}.{module.name}")
        ).items():
            if inspect.isclass(one) and issubclass(one, CWLMetric) and one is not CWLMetric:
                params = list(inspect.signature(one).parameters.values())
                classes[name] = {
                    p.name: "" if p.default is p.empty else str(p.default) for p in params
                }
    return dict(sorted(classes.items()))


def of_ranx(source: Path) -> Registry:
    """Return the metrics that ranx's `metric_switch` knows, read from its source."""
    names = re.findall(r'metric == "([\w-]+)"', source.read_text(encoding="utf-8"))
    return {name: {} for name in names}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ranx", type=Path, help="ranx/metrics/__init__.py of ranx 0.3.20")
    parser.add_argument("--out", type=Path, default=HERE / "oracles")
    args = parser.parse_args()
    registries = {
        f"ir_measures {version('ir-measures')}": of_ir_measures(),
        f"pytrec_eval {version('pytrec-eval-terrier')}": of_pytrec_eval(),
        f"cwl_eval {version('cwl-eval')}": of_cwl_eval(),
        "ranx 0.3.20": of_ranx(args.ranx),
    }
    text = json.dumps(registries, indent=1, ensure_ascii=False) + "\n"
    (args.out / "peer_registries.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
