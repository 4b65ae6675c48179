"""Doctests are looked for where there are some: in files with a prompt.

With `--doctest-modules`, pytest imports every module and looks at all that is in it, for each
process of the tests.
"""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule

PROMPT = b">>>"


class FilesWithDoctests:
    """A plugin, since a conftest would see the files of its own folder alone."""

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(
        self, file_path: Path
    ) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
        """Return the collectors of a file, without that of doctests if there are none."""
        found = yield
        others = [one for one in found if not isinstance(one, DoctestModule)]
        return found if len(others) == len(found) or PROMPT in file_path.read_bytes() else others
