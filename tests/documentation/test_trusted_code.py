"""The lines of code that must be trusted, as docs/optimality.md states them, are counted."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from dlopt import registry
from tests.instance_files import ROOT

PAGE = ROOT / "docs" / "optimality.md"
STEP, STEP_OF_ALL = 50, 100
"""Lines to which the page rounds up, so that few edits change it."""
_NOT_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def file_of(module: str) -> Path | None:
    """Return the file of a module of dlopt, None if there is none of that name."""
    inside = module.startswith("dlopt.models.")
    path = ROOT.joinpath(*module.removeprefix("dlopt." if inside else "").split("."))
    files = (path / "__init__.py", path.with_suffix(".py"))
    return next((file for file in files if file.is_file()), None)


def imported_by(file: Path) -> Iterator[Path]:
    """Yield the modules of dlopt that a file imports, wherever it does."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            names = [f"{node.module}.{alias.name}" for alias in node.names] + [node.module]
            names = [name for name in names[:-1] if file_of(name)] or names[-1:]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            found = file_of(name) if name.startswith("dlopt.") else None
            if found is not None:
                yield found


def with_imports(files: Iterable[Path]) -> set[Path]:
    found: set[Path] = set()
    todo = list(files)
    while todo:
        file = todo.pop()
        if file not in found:
            found.add(file)
            todo += imported_by(file)
    return found


def code_lines(file: Path) -> int:
    """Count the lines with code: no comments, no docstrings, no empty lines."""
    text = file.read_text(encoding="utf-8")
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NOT_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        value = node.value if isinstance(node, ast.Expr) else None
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            lines.difference_update(range(value.lineno, (value.end_lineno or 0) + 1))
    return len(lines)


def rows() -> dict[str, tuple[set[Path], int, int]]:
    """Return the rows of the table: the files of a part, their lines, and those of all imports."""
    found = {}
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        files = {ROOT / name for name in re.findall(r"`((?:dlopt|models)/[\w/]+\.py)`", line)}
        cells = [cell.strip().replace(",", "") for cell in line.split("|")]
        if files and len(cells) == 6 and cells[3].isdigit():
            found[cells[1].replace("`", "")] = files, int(cells[3]), int(cells[4])
    return found


def rounded_up(files: Iterable[Path], step: int) -> int:
    return -(-sum(map(code_lines, files)) // step) * step


def test_lines_are_counted(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text(
        '"""Two\nlines."""\n\n# one\nx = """not\na docstring"""  # two\n\ny = (\n  1)\n'
    )
    assert code_lines(file) == 4


def test_imports_are_followed() -> None:
    checker = ROOT / "dlopt" / "problems" / "dag" / "certified_program.py"
    names = {file.relative_to(ROOT).as_posix() for file in with_imports([checker])}
    assert {
        "dlopt/problems/step_formulation.py",
        "dlopt/problems/dag/task_and_transfer_times.py",
    } < names
    assert "dlopt/arithmetic.py" in names and not any(name.startswith("models") for name in names)
    of_streams = with_imports([ROOT / "models" / "admission" / "certificate_check.py"])
    assert ROOT / "models" / "admission" / "fluid_relaxation.py" in of_streams


@pytest.mark.parametrize("part", rows())
def test_the_page_states_what_must_be_trusted(part: str) -> None:
    files, own, all_of_them = rows()[part]
    assert own == rounded_up(files, STEP)
    assert all_of_them == rounded_up(with_imports(files), STEP_OF_ALL)


def test_every_problem_has_a_row() -> None:
    assert {f"program of {stem}" for stem in registry.stems()} <= rows().keys()
    for stem in registry.stems():
        module = registry.problem(stem).certified.split(":")[0]
        assert file_of(module) in rows()[f"program of {stem}"][0]


def test_what_is_imported_is_no_solver() -> None:
    """Of task graphs and bags no model either: import-linter says the same of the whole package."""
    for part, (files, _, _) in rows().items():
        names = {file.relative_to(ROOT).parts[:2] for file in with_imports(files)}
        assert ("dlopt", "heuristics") not in names
        if part in ("steps of a proof", "program of dag", "program of bag"):
            assert not any(folder == "models" or name == "backends" for folder, name in names)


def test_the_second_checker_has_as_many_lines_as_the_page_says() -> None:
    page = (ROOT / "docs" / "proofs.md").read_text(encoding="utf-8")
    stated = re.search(r"second checker, ([\d,]+) lines", page)
    assert stated is not None
    found = rounded_up((ROOT / "tests" / "reference").glob("*.py"), STEP)
    assert int(stated[1].replace(",", "")) == found
