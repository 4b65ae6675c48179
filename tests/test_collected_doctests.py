"""Of all files with a doctest, and of no others, doctests are collected."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from _pytest.doctest import DoctestModule

from tests.collected_doctests import FilesWithDoctests


def collectors_of(text: str, tmp_path: Path, found: list[Any]) -> list[Any]:
    """Return what is left of what pytest would collect of a file."""
    file = tmp_path / "sample.py"
    file.write_text(text)
    hook = FilesWithDoctests().pytest_collect_file(file)
    next(hook)
    with pytest.raises(StopIteration) as ended:
        hook.send(found)
    return ended.value.value


def test_a_file_without_a_prompt_has_its_tests_alone(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    doctests = DoctestModule.from_parent(request.session, path=tmp_path / "sample.py")
    tests = SimpleNamespace()
    assert collectors_of("x = 1\n", tmp_path, [doctests, tests]) == [tests]
    assert collectors_of("x = 1\n", tmp_path, [doctests]) == []
    with_doctest = '"""Sample.\n\n    >>> 1 + 1\n    2\n"""\n'
    assert collectors_of(with_doctest, tmp_path, [doctests, tests]) == [doctests, tests]
    assert collectors_of("", tmp_path, [tests]) == [tests]
