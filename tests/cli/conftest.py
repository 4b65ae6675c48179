"""Runs the command in this process, which is much faster than to start it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dlopt.cli.program import run as run_command

INSTANCES = Path(__file__).parents[2] / "instances" / "iit"
THREE = {
    "problem": "iit",
    "version": 1,
    "name": "three",
    "cluster": {"nodes": 3, "tau": 1, "chi": 2},
    "ready_times": [0, 1, 4],
    "load": 3,
}
ROOTS = {  # EPR's quadratic formula finds two nodes, and two miss the deadline
    "problem": "iit",
    "version": 1,
    "name": "roots",
    "cluster": {"nodes": 2, "tau": 1, "chi": 1, "theta_cm": 5},
    "ready_times": [0, 0],
    "load": 11,
    "absolute_deadline": 26,
}
FIELDS = frozenset(
    {
        "problem",
        "instance",
        "hash",
        "method",
        "status",
        "objective",
        "value",
        "bound",
        "gap",
        "reason",
        "runtime_s",
        "violations",
        "tolerance",
        "solution",
    }
)


@dataclass(frozen=True)
class Run:
    """How a command ended, and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output, all of it, as strict JSON."""

        def refuse(text: str) -> None:
            raise ValueError(f"{text} is not valid JSON")

        return json.loads(self.out, parse_constant=refuse)

    @property
    def content(self) -> Any:
        """The same without the fields that all commands print."""
        head = ("schema_version", "command", "dlopt")
        return {key: value for key, value in self.json.items() if key not in head}

    @property
    def errors(self) -> str:
        """Standard error as text; of errors in JSON, their details."""
        lines = self.err.splitlines()
        if not lines or not lines[0].startswith("{"):
            return self.err
        return "".join(f"error: {json.loads(line)['detail']}\n" for line in lines)


Command = Callable[..., Run]


@pytest.fixture
def dlopt(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> Command:
    """Return a function that runs a command in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object, code: int | None = 0) -> Run:
        monkeypatch.setattr(sys, "argv", ["dlopt", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            run_command()
        written = capfd.readouterr()
        done = Run(int(ended.value.code or 0), written.out, written.err)
        assert "Traceback" not in done.err
        assert code is None or done.code == code, done
        return done

    return run


@pytest.fixture
def three(tmp_path: Path) -> Path:
    """Return the file of the instance that the papers' formulas solve by hand."""
    return file_of(tmp_path / "three.json", THREE)


def file_of(path: Path, data: Any) -> Path:
    path.write_text(json.dumps(data))
    return path
