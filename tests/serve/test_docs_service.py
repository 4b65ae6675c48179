"""The commands of docs/service.md run, in their order, and print what is shown.

The page's ports are replaced by free ones. In what is shown, "..." stands for anything.
"""

import doctest
import json
import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.serve.running_service import ROOT

PAGE = (ROOT / "docs" / "service.md").read_text()
BLOCKS = re.findall(
    r"^```bash\n(.*?)^```\n(?:^```(json|text)\n(.*?)^```\n)?", PAGE, flags=re.DOTALL | re.MULTILINE
)
SEPARATOR = "---- the next block ----"
TIME_S = 300


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """What each block prints."""
    if any(shutil.which(program) is None for program in ("bash", "curl")):
        pytest.skip("needs bash and curl")
    folder = tmp_path_factory.mktemp("service")
    (folder / "instances").symlink_to(ROOT / "instances")
    script = ["trap 'kill $(jobs -p) && wait' EXIT"]
    for commands, _, _ in BLOCKS:
        script += [commands, f"echo; echo '{SEPARATOR}'"]
    text = "\n".join(script).replace("dlopt serve --store", "dlopt serve --port 8321 --store")
    text = text.replace("0.0.0.0", "127.0.0.1")  # nobody else needs to reach it
    for port in ("8321", "8322"):
        text = text.replace(port, str(free_port()))
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    ran = subprocess.run(
        ["bash", "-c", text],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=TIME_S,
        check=False,
    )
    outputs = ran.stdout.split(f"\n{SEPARATOR}\n")
    assert len(outputs) == len(BLOCKS) + 1, ran.stderr
    return outputs


def free_port():
    """Return a port that nobody uses at this moment."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


@pytest.mark.parametrize(
    "index", range(len(BLOCKS)), ids=lambda index: BLOCKS[index][0].splitlines()[0][:60]
)
def test_what_is_shown_is_printed(printed, index):
    _, kind, shown = BLOCKS[index]
    if kind == "json":
        answers = records(printed[index])
        expected = records(shown)
        assert len(answers) == len(expected)
        for answer, wanted in zip(answers, expected, strict=True):
            assert matches(answer, wanted), (answer, wanted)
    elif kind == "text":
        found = re.sub(r"^dlopt service at .*\n(?:try: .*\n)?", "", printed[index])
        assert doctest.OutputChecker().check_output(
            shown.strip() + "\n",
            found.replace("\r", "").strip() + "\n",
            doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE,
        ), found


def records(text):
    """Return the JSON objects of a text, one after the other; other lines are skipped."""
    decoder = json.JSONDecoder()
    found = []
    while (start := text.find("{")) >= 0:
        record, length = decoder.raw_decode(text[start:])
        found.append(record)
        text = text[start + length :]
    return found


def matches(answer, wanted):
    """Tell whether an answer is what is shown, where "..." stands for anything."""
    if wanted == "...":
        return True
    if isinstance(wanted, dict) and isinstance(answer, dict):
        same = wanted.keys() == answer.keys()
        return same and all(matches(answer[name], wanted[name]) for name in wanted)
    if isinstance(wanted, list) and isinstance(answer, list):
        return len(wanted) == len(answer) and all(map(matches, answer, wanted))
    return answer == wanted


def test_options_of_the_commands_exist():
    named = {
        "serve": set(re.findall(r"`(--[a-z-]+)`", PAGE.partition("## Limits")[2])) | {"--store"},
        "broker": {"--domain"},
        "mcp": {"--url"},
    }
    for file in (ROOT / "deploy").iterdir():
        named["serve"] |= set(
            re.findall(r"(?<![\w-])--(?:host|port|store|tokens)\b", file.read_text())
        )
    for command, options in named.items():
        assert options <= options_of(command), command


def options_of(command):
    """Return the options of a command."""
    from typer.main import get_command

    from dlopt.cli import app

    parameters = get_command(app.app).commands[command].params
    return {name for parameter in parameters for name in parameter.opts}
