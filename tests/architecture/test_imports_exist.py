"""What benchmarks and examples import from the project is there: no test runs all of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.architecture.measures import nodes_of, sources
from tests.instance_files import ROOT

OWN = ("benchmarks", "dlopt", "examples", "tests")


def _file_of(module: str) -> Path | None:
    """Return the file of a module or package of the project."""
    path = ROOT / module.replace(".", "/")
    return next((p for p in (path.with_suffix(".py"), path / "__init__.py") if p.is_file()), None)


@cache
def _names(file: Path) -> frozenset[str] | None:
    """Return what a module defines or imports; None if it has a `__getattr__`."""
    found: set[str] = set()
    for node in nodes_of(file):
        match node:
            case ast.FunctionDef(name="__getattr__"):
                return None
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                found.add(node.name)
            case ast.Import() | ast.ImportFrom():
                found.update(alias.asname or alias.name.split(".")[0] for alias in node.names)
            case ast.Name(ctx=ast.Store()):
                found.add(node.id)
    return frozenset(found)


def missing(file: Path) -> Iterator[str]:
    """Yield what a module imports from the project that the project does not have."""
    for node in nodes_of(file):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] in OWN and _file_of(alias.name) is None:
                    yield alias.name
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in OWN:
            module = str(node.module)
            source = _file_of(module)
            names = None if source is None else _names(source)
            for alias in node.names:
                here = source is not None and (names is None or alias.name in names)
                if not here and _file_of(f"{module}.{alias.name}") is None:
                    yield f"{module}.{alias.name}"


def test_all_imports_of_the_project_exist() -> None:
    found = [
        f"{file.relative_to(ROOT)}: {name}"
        for file in sources("benchmarks", "examples")
        for name in missing(file)
    ]
    assert not found


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("from dlopt.generation.no_such_module import x", ["dlopt.generation.no_such_module.x"]),
        ("from dlopt.result import Limits, no_name", ["dlopt.result.no_name"]),
        ("import tests.no_such_module", ["tests.no_such_module"]),
        ("import numpy\nfrom benchmarks import timing\nfrom dlopt import verify, solve", []),
    ],
)
def test_missing_imports_are_found(tmp_path: Path, code: str, names: list[str]) -> None:
    file = tmp_path / "sample.py"
    file.write_text(code)
    assert list(missing(file)) == names
