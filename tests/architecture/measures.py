"""What the ratchets count: each measure gives one number for each part of the source tree."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from itertools import groupby
from pathlib import Path

from tests.instance_files import ROOT

# Everyday words in place of terms of the field: whole words in identifiers, docstrings and texts.
DIALECT = (
    "worth", "dearest", "wish", "wishes", "told", "behind", "anew", "whoever", "crowd", "crowds",
    "mended", "alike", "beside", "held", "the word of", "by turns",
)  # fmt: skip
_DIALECT = re.compile(rf"(?<![a-z])(?:{'|'.join(DIALECT)})(?![a-z])", re.IGNORECASE)
PUBLIC_ALL_THE_SAME = ("_replace", "_asdict", "_exit", "_getframe", "_repr_html_")
"""Documented names: of named tuples, `os` and `sys`, and the method that notebooks call."""
LONG_MODULE = 400
LONG_FUNCTION = 60  # lines without the docstring
LONG_RUN = 8  # lines that stand twice
_VARIABLES = re.compile(
    r"\.new_(?:bool|int|optional|interval|fixed)\w*\(|LpVariable|\.add_?[vV]ar\(|\.addCol\("
)


def sources(*folders: str) -> Iterator[Path]:
    """Yield the modules below some folders of the project, each once."""
    for folder in folders:
        for file in sorted((ROOT / folder).rglob("*.py")):
            if not file.is_relative_to(ROOT / "dlopt" / "models"):  # the link to models/
                yield file


@cache
def parsed(file: Path) -> ast.Module:
    """Return the syntax tree of a module, which is kept until `parsed.cache_clear()`."""
    return ast.parse(file.read_text(encoding="utf-8"))


@cache
def nodes_of(file: Path) -> tuple[ast.AST, ...]:
    """Return all nodes of the syntax tree, which are kept until `nodes_of.cache_clear()`."""
    return tuple(ast.walk(parsed(file)))


def _part_of(file: Path) -> str:
    """Return the package that a count is kept for: a folder below the top, or the top itself."""
    parts = file.relative_to(ROOT).parts
    return "/".join(parts[: min(2, len(parts) - 1)])


def _summed(count: Callable[[Path], int], *folders: str) -> dict[str, int]:
    found: Counter[str] = Counter()
    for file in sources(*folders):
        found[_part_of(file)] += count(file)
    return {part: number for part, number in sorted(found.items()) if number}


def _dialect_words(file: Path) -> int:
    if file == ROOT / "dlopt" / "aliases.py":  # the list of former names
        return 0
    return len(_DIALECT.findall(file.read_text(encoding="utf-8")))


def dialect_words() -> dict[str, int]:
    """Count the words of `DIALECT`."""
    return _summed(_dialect_words, "dlopt", "models")


def any_types() -> dict[str, int]:
    """Count the annotations that say `Any`."""
    return _summed(
        lambda file: sum(
            isinstance(node, ast.Name) and node.id == "Any" for node in nodes_of(file)
        ),
        "dlopt",
        "models",
    )


def lines() -> dict[str, int]:
    """Count the lines of the library."""
    return _summed(
        lambda file: len(file.read_text(encoding="utf-8").splitlines()), "dlopt", "models"
    )


def _tuples_of_constants(file: Path) -> int:
    """Count statements that give numbers to several names at once, outside of functions."""
    return sum(
        isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Tuple)
        and isinstance(node.value, ast.Tuple)
        for node in parsed(file).body
    )


def tuples_of_constants() -> dict[str, int]:
    """Count the statements outside of functions that define more than one constant."""
    return _summed(_tuples_of_constants, "dlopt", "models", "benchmarks")


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in PUBLIC_ALL_THE_SAME


def private_names(file: Path) -> Iterator[tuple[int, str]]:
    """Yield where a module imports, reads or replaces names that begin with an underscore.

    What it reads of `self` and `cls` is its own.
    """
    for node in nodes_of(file):
        names: list[object] = []
        if isinstance(node, ast.ImportFrom):
            names = [part for name in node.names for part in (name.name, node.module or "")]
        elif isinstance(node, ast.Import):
            names = [name.name for name in node.names]
        elif isinstance(node, ast.Attribute):
            own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            names = [] if own else [node.attr]
        elif isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            called = node.func.id if isinstance(node.func, ast.Name) else called
            if called in ("getattr", "setattr", "delattr", "hasattr"):
                names = [part.value for part in node.args if isinstance(part, ast.Constant)]
        for name in names:
            if isinstance(name, str) and _is_private(name.rpartition(".")[2]):
                yield getattr(node, "lineno", 0), name


def long_modules() -> dict[str, int]:
    """Return the modules above `LONG_MODULE` lines."""
    sizes = {
        file.relative_to(ROOT).as_posix(): len(file.read_text(encoding="utf-8").splitlines())
        for file in sources("dlopt", "models", "tests", "benchmarks")
    }
    return {name: size for name, size in sizes.items() if size > LONG_MODULE}


def _length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    first = function.body[0]
    if ast.get_docstring(function, clean=False) is not None:
        if len(function.body) == 1:
            return 0
        first = function.body[1]
    return (function.end_lineno or 0) - first.lineno + 1


def long_functions() -> dict[str, int]:
    """Count the functions above `LONG_FUNCTION` lines."""
    return _summed(
        lambda file: sum(
            isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            and _length(node) > LONG_FUNCTION
            for node in nodes_of(file)
        ),
        "dlopt",
        "models",
    )


def models_without_statement() -> dict[str, int]:
    """Return the modules that create variables and do not state the program that they are of."""
    return {
        file.relative_to(ROOT).as_posix(): 1
        for file in sources("models")
        if _VARIABLES.search(file.read_text(encoding="utf-8"))
        and not re.search(r"subject\s+to", ast.get_docstring(parsed(file)) or "", re.IGNORECASE)
    }


def _code_of(file: Path) -> list[tuple[int, str]]:
    """Return the lines of code with their numbers, without docstrings, comments and imports."""
    left_out: set[int] = set()
    for node in nodes_of(file):
        is_text = (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        )
        if is_text or isinstance(node, ast.Import | ast.ImportFrom):
            left_out.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    numbered = enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
    return [
        (at, line.strip())
        for at, line in numbered
        if at not in left_out and line.strip() and not line.strip().startswith(("#", "@"))
    ]


def duplicated_runs() -> dict[str, int]:
    """Count the runs of `LONG_RUN` lines of code or more that stand in two places or more.

    A run is counted once for each place but the first.
    """
    places: dict[tuple[str, ...], list[tuple[str, int]]] = {}
    for file in sources("dlopt", "models"):
        code = _code_of(file)
        for at in range(len(code) - LONG_RUN + 1):
            run = tuple(line for _, line in code[at : at + LONG_RUN])
            places.setdefault(run, []).append((file.relative_to(ROOT).as_posix(), at))
    again = sorted({place for found in places.values() for place in found[1:]})
    # Runs that overlap are one run: consecutive beginnings in one file.
    keyed = ((name, at - order) for order, (name, at) in enumerate(again))
    count = sum(1 for _ in groupby(keyed))
    return {"library": count} if count else {}


MEASURES: dict[str, Callable[[], dict[str, int]]] = {
    "dialect words": dialect_words,
    "Any": any_types,
    "lines": lines,
    "tuples of constants": tuples_of_constants,
    "long modules": long_modules,
    "long functions": long_functions,
    "models without statement": models_without_statement,
    "duplicated runs": duplicated_runs,
}
