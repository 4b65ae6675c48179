"""Tests use what a module offers to others: they survive when it is written differently."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.architecture.measures import private_names, sources
from tests.instance_files import ROOT

EXCEPTIONS = {
    # Users only ever add methods; a test must take its own out again.
    "tests/method_table.py": {"_METHODS"},
}


def test_tests_use_no_private_names() -> None:
    found = [
        f"{path}:{line}: {name}"
        for file in sources("tests")
        for path in (file.relative_to(ROOT).as_posix(),)
        for line, name in private_names(file)
        if name not in EXCEPTIONS.get(path, ())
    ]
    assert not found, "test it through its public interface, or give the concept a public name"


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("from dlopt.api import _left, solve", ["_left"]),
        ("import dlopt._speedups", ["dlopt._speedups"]),
        ("engine._queue.fast", ["_queue"]),
        ("patch.setattr('dlopt.reading._SIZE', 3)", ["dlopt.reading._SIZE"]),
        ("patch.setattr(reading, '_SIZE', 3)", ["_SIZE"]),
        ("getattr(engine, '_queue')", ["_queue"]),
        ("self._own, cls._own, point._replace(x=1), os._exit(3), name.__doc__", []),
    ],
)
def test_private_names_are_found(tmp_path: Path, code: str, names: list[str]) -> None:
    file = tmp_path / "sample.py"
    file.write_text(code)
    assert [name for _, name in private_names(file)] == names
