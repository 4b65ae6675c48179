"""Lines of logs, and what is wrong with them."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from dlopt.errors import Fault, InvalidInstanceError
from dlopt.formats.swf import SwfJob, parse, read

NAMES = tuple(field.name for field in fields(SwfJob))
INTEGERS = frozenset(
    [
        "number",
        "allocated_processors",
        "requested_processors",
        "status",
        "user",
        "group",
        "executable",
        "queue",
        "partition",
        "preceding_job",
    ]
)
LINE = "1 0 -1 1451 128 -1 -1 -1 -1 -1 1 3 2 -1 -1 -1 -1 -1"


def line_with(**texts: str) -> str:
    pieces = dict(zip(NAMES, LINE.split(), strict=True)) | texts
    return " ".join(pieces.values())


def faults_of(*lines: str) -> tuple[Fault, ...]:
    with pytest.raises(InvalidInstanceError) as caught:
        parse(lines)
    return caught.value.faults


def faults_of_file(path: Path | str) -> tuple[Fault, ...]:
    with pytest.raises(InvalidInstanceError) as caught:
        read(path)
    assert caught.value.source == str(path)
    return caught.value.faults
