"""Texts that a function may print, by a call graph of the package: rapid type analysis.

A name in a reachable function reaches the function, class or constant that it stands for; an
attribute reaches the methods of that name of reachable classes. Annotations, decorators and
docstrings reach nothing. Names in texts such as "module:name" are followed as well.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import irmeta

PACKAGE = Path(irmeta.__file__).parent
Node = ast.FunctionDef | ast.Assign | ast.AnnAssign


def _modules() -> dict[str, ast.Module]:
    found = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        parts = ("irmeta", *file.relative_to(PACKAGE).with_suffix("").parts)
        name = ".".join(parts).removesuffix(".__init__")
        found[name] = ast.parse(file.read_text(encoding="utf-8"))
    return found


def _imports(tree: ast.Module) -> dict[str, str]:
    """Map each imported name of a module to its dotted name."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("irmeta"):
            found |= {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
        elif isinstance(node, ast.Import):
            names = [a for a in node.names if a.name.startswith("irmeta")]
            found |= {a.asname or a.name: a.name for a in names}
    return found


def texts_in(node: ast.AST, flags: bool = False) -> Iterator[str]:
    """Yield the texts of a node except docstrings; in f-strings, ``{}`` stands for a value.

    Texts after `flag=` or `metavar=` are yielded only with `flags`.
    """
    if isinstance(node, ast.JoinedStr):
        parts = [p.value if isinstance(p, ast.Constant) else "{}" for p in node.values]
        yield "".join(map(str, parts))
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, str):
            yield node.value
    elif isinstance(node, ast.keyword) and node.arg in ("flag", "metavar") and not flags:
        return
    elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
        for child in _children(node):
            yield from texts_in(child, flags)


def _children(node: ast.AST) -> Iterator[ast.AST]:
    for name, value in ast.iter_fields(node):
        if name not in ("annotation", "returns", "decorator_list"):
            yield from (one for one in (value if isinstance(value, list) else [value])
                        if isinstance(one, ast.AST))  # fmt: skip


class CallGraph:
    """The functions, constants and classes of the package, and what each of them names."""

    def __init__(self) -> None:
        self.modules: dict[str, ast.Module] = _modules()
        self.nodes: dict[str, Node] = {}
        self.classes: dict[str, dict[str, str]] = {}
        self._imports = {name: _imports(tree) for name, tree in self.modules.items()}
        self._bases: dict[str, list[ast.expr]] = {}
        for module, tree in self.modules.items():
            for node in tree.body:
                self._add(module, node)

    def _add(self, module: str, node: ast.stmt) -> None:
        if isinstance(node, ast.FunctionDef):
            self.nodes[f"{module}.{node.name}"] = node
        elif isinstance(node, ast.ClassDef):
            name = f"{module}.{node.name}"
            members = {}
            for i, part in enumerate(node.body):
                if isinstance(part, ast.FunctionDef | ast.Assign | ast.AnnAssign):
                    # what a class body computes is reached with the class, like a method __init__
                    key = part.name if isinstance(part, ast.FunctionDef) else f"__body_{i}__"
                    self.nodes[f"{name}.{key}"] = part
                    members[key] = f"{name}.{key}"
            self.classes[name], self._bases[name] = members, node.bases
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in (one for one in targets if isinstance(one, ast.Name)):
                self.nodes[f"{module}.{target.id}"] = node

    @cache  # noqa: B019 (there is one graph)
    def _resolve(self, name: str) -> str | None:
        """Return the node, class or module of a dotted name; follow names that modules import."""
        if name in self.nodes or name in self.classes or name in self.modules:
            return name
        module, _, last = name.rpartition(".")
        imported = self._imports.get(module, {}).get(last)
        if imported is not None and imported != name:
            return self._resolve(imported)
        known = [*self.nodes, *self.classes]  # loaded lazily by a package: a name in one module
        within = [one for one in known if one.startswith(f"{module}.") and one.endswith(f".{last}")]
        lazy = [one for one in within if one.rpartition(".")[0] in self.modules]
        return lazy[0] if len(lazy) == 1 else None

    def _in_module(self, module: str, name: str) -> str | None:
        imported = self._imports[module].get(name)
        if imported is not None:
            return self._resolve(imported)
        here = f"{module}.{name}"
        return here if here in self.nodes or here in self.classes else None

    @cache  # noqa: B019 (there is one graph)
    def _named(self, node: str) -> tuple[set[str], set[str]]:
        """Return the nodes and classes that a node names, and its other attributes."""
        module = node
        while module not in self.modules:
            module = module.rpartition(".")[0]
        names, attributes, todo = set[str | None](), set[str](), [*_children(self.nodes[node])]
        own = {part.arg for part in ast.walk(self.nodes[node]) if isinstance(part, ast.arg)}
        while todo:
            part = todo.pop()
            todo += _children(part)
            if isinstance(part, ast.Name):
                if part.id not in own:
                    names.add(self._in_module(module, part.id))
            elif isinstance(part, ast.Attribute):
                base = part.value
                owner = self._in_module(module, base.id) if isinstance(base, ast.Name) else None
                if owner in self.modules:
                    names.add(self._resolve(f"{owner}.{part.attr}"))
                else:
                    attributes.add(part.attr)
            elif isinstance(part, ast.Constant) and str(part.value).startswith("irmeta."):
                names.add(self._resolve(str(part.value).replace(":", ".")))
        return names - {None}, attributes

    @cache  # noqa: B019 (there is one graph)
    def _family(self, name: str) -> tuple[str, ...]:
        """Return a class and its bases within the package."""
        module = name.rpartition(".")[0]
        parts = [p for base in self._bases[name] for p in ast.walk(base)]
        named = {self._in_module(module, p.id) for p in parts if isinstance(p, ast.Name)}
        return (name, *(one for b in named if b in self.classes for one in self._family(b)))

    def reached(self, entry: str, without: str = "") -> set[str]:
        """Return the nodes that a function may reach, but not through one of them."""
        nodes, classes, attributes = {without}, set[str](), set[str]()
        todo = [entry]
        while todo:
            while todo:
                one = todo.pop()
                if one in self.classes:
                    new = [c for c in self._family(one) if c not in classes]
                    classes.update(new)
                    members = [m for c in new for m in self.classes[c].items()]
                    todo += [node for name, node in members if name.startswith("__")]
                elif one in self.nodes and one not in nodes:
                    nodes.add(one)
                    names, attrs = self._named(one)
                    todo += names
                    attributes |= attrs
            members = [m for c in classes for m in self.classes[c].items()]
            todo = [node for name, node in members if name in attributes and node not in nodes]
        return nodes - {without}


@cache
def call_graph() -> CallGraph:
    """Return the call graph of the package."""
    return CallGraph()
