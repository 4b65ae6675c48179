"""Pages whose commands are run, in their order, and compared with the output that they show.

A block of ``bash`` is run; what it prints must be what the block of ``text`` or ``json`` after it
shows, if there is one. So are the commands after ``$`` in a block without a language. A block of
``python`` whose first line is ``# NAME.py`` is a file of that name. In what is shown, ``...``
stands for anything, and any duration for any other.

``python -m tests.documentation.shown_output PAGE...`` writes what is printed into a page, where
that is not what it shows.
"""

from __future__ import annotations

import doctest
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SEPARATOR = "---- the next block ----"
TIME_S = 300
_BLOCK = re.compile(
    r"^```python\n# (?P<file>\w+\.py)\n(?P<code>.*?)^```\n"
    r"|^```bash\n(?P<commands>.*?)^```\n(?:\n?^```(?P<kind>json|text)\n(?P<shown>.*?)^```\n)?",
    flags=re.DOTALL | re.MULTILINE,
)


_CONSOLE = re.compile(r"^```\n(?P<lines>\$ .*?)^```\n", flags=re.DOTALL | re.MULTILINE)
_COMMAND = re.compile(
    r"^\$ (?P<command>(?:.*\\\n)*.*\n)(?P<shown>(?:(?!\$ ).*\n)*)", flags=re.MULTILINE
)


@dataclass(frozen=True)
class Block:
    """Commands, or a file that is written; and what is shown of the output."""

    commands: str
    kind: str | None = None
    shown: str = ""

    @property
    def title(self) -> str:
        """The first command, for the name of a test."""
        return self.commands.splitlines()[0][:60]


def blocks_of(page: str) -> Iterator[Block]:
    """Yield the blocks of a page that are run."""
    for found in _BLOCK.finditer(page):
        if found["file"]:
            yield Block(f"cat > {found['file']} <<'END_OF_FILE'\n{found['code']}END_OF_FILE\n")
        else:
            yield Block(found["commands"], found["kind"], found["shown"] or "")


def console_commands(page: str) -> Iterator[Block]:
    """Yield the commands of the blocks that show a console."""
    for block in _CONSOLE.finditer(page):
        for found in _COMMAND.finditer(block["lines"]):
            shown = found["shown"].rstrip()
            yield Block(found["command"], "text" if shown else None, shown)


def run_blocks(blocks: list[Block], folder: Path, change: Callable[[str], str]) -> list[str]:
    """Run all blocks in one shell, in a folder with the shipped files; return what each prints."""
    if any(shutil.which(program) is None for program in ("bash", "curl")):
        pytest.skip("needs bash and curl")
    for name in ("examples", "instances"):
        (folder / name).symlink_to(ROOT / name)
    script = ["trap 'kill $(jobs -p) && wait' EXIT"]
    for block in blocks:
        script += [block.commands, f"echo; echo '{SEPARATOR}'"]
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "COLUMNS": "160",
    }
    ran = subprocess.run(
        ["bash", "-c", change("\n".join(script))],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=TIME_S,
        check=False,
    )
    outputs = ran.stdout.split(f"\n{SEPARATOR}\n")
    assert len(outputs) == len(blocks) + 1, ran.stderr
    return outputs[:-1]


def free_port() -> int:
    """Return a port that nobody uses at this moment."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def with_free_ports(script: str) -> str:
    """Return a script with free ports instead of those that the pages name."""
    for port in ("8321", "8322"):
        script = script.replace(port, str(free_port()))
    return script


def assert_shown(block: Block, printed: str) -> None:
    """Compare what a block printed with what its page shows."""
    if block.kind == "json":
        answers, expected = records(printed), records(block.shown)
        assert len(answers) == len(expected)
        for answer, wanted in zip(answers, expected, strict=True):
            assert matches(answer, wanted), (answer, wanted)
    elif block.kind == "text":
        assert doctest.OutputChecker().check_output(
            without_durations(block.shown),
            without_durations(printed),
            doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE,
        ), printed


def without_durations(text: str) -> str:
    """Return a text with all durations equal, and tables without the widths of columns."""
    text = re.sub(r"\d[\d.e+]* (?:us|ms|s)\b|\d[\d,]* per second", "DURATION", text)
    return re.sub("[─━ ]+", " ", text).replace("\r", "").strip() + "\n"


def records(text: str) -> list[Any]:
    """Return the JSON objects of a text, one after the other; other lines are skipped."""
    decoder = json.JSONDecoder()
    found = []
    while (start := text.find("{")) >= 0:
        record, length = decoder.raw_decode(text[start:])
        found.append(record)
        text = text[start + length :]
    return found


def matches(answer: Any, wanted: Any) -> bool:
    """Tell whether an answer is what is shown, where "..." stands for anything."""
    if wanted == "...":
        return True
    if isinstance(wanted, dict) and isinstance(answer, dict):
        same = wanted.keys() == answer.keys()
        return same and all(matches(answer[name], wanted[name]) for name in wanted)
    if isinstance(wanted, list) and isinstance(answer, list):
        return len(wanted) == len(answer) and all(map(matches, answer, wanted))
    return bool(answer == wanted)


def with_printed_output(page: str, folder: Path) -> str:
    """Return a page with each text that is not printed replaced by what is printed."""
    blocks = [*blocks_of(page), *console_commands(page)]
    for block, printed in zip(blocks, run_blocks(blocks, folder, with_free_ports), strict=True):
        try:
            assert_shown(block, printed)
        except AssertionError:
            if block.kind == "text":
                start = page.index(block.title)
                lines = [line.rstrip() for line in printed.splitlines()]
                text = "\n".join(lines).strip("\n")
                text = page[start:].replace(block.shown.rstrip("\n"), text, 1)
                page = page[:start] + text
    return page


if __name__ == "__main__":
    for path in map(Path, sys.argv[1:]):
        with tempfile.TemporaryDirectory() as scratch:
            path.write_text(with_printed_output(path.read_text(), Path(scratch)))
