"""The commands that the pages show on a console run, and print what is shown."""

import re
import shlex
from pathlib import Path

import pytest
from typer.main import get_command

from dlopt.cli.app import app
from tests.cli.conftest import dlopt
from tests.documentation.shown_output import ROOT, assert_shown, console_commands

command_line = dlopt  # the fixture that runs a command in this process

LONG = {"grid.md", "simulation.md"}  # simulations of a minute and more: only their options are read
PAGES = [
    page
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    if list(console_commands(page.read_text()))
]
EXIT_CODES = {"unsound": 1, "claim refuted": 1, "unknown": 4}
"""Those of commands whose output begins so; all others succeed."""
RUN = [page for page in PAGES if page.name not in LONG]


@pytest.mark.parametrize("page", RUN, ids=lambda page: page.name)
def test_what_a_page_shows_is_printed(page, tmp_path, monkeypatch, command_line, method_table):
    monkeypatch.setenv("COLUMNS", "160")
    for name in ("examples", "instances"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "mine.py").write_text(own_methods_of(page.read_text()))
    for block in console_commands(page.read_text()):
        words = shlex.split(block.commands.replace("\\\n", " "), comments=True)
        words, file = (words[:-2], words[-1]) if words[-2] == ">" else (words, None)
        done = command_line(*words[1:], code=None)
        codes = [code for start, code in EXIT_CODES.items() if done.out.startswith(start)]
        assert [done.code] == (codes or [0]), done.err
        assert_shown(block, done.out)
        if file:
            Path(file).write_text(done.out)


def own_methods_of(page):
    """Return the code of a page that registers methods."""
    blocks = re.findall(r"^```python\n(.*?)^```", page, flags=re.DOTALL | re.MULTILINE)
    return "".join(block for block in blocks if "dlopt.register(" in block)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_options_that_a_page_names_exist(page):
    command = get_command(app)
    for block in console_commands(page.read_text()):
        words = block.commands.partition("#")[0].split()
        names = [word for word in words[1:] if not word.startswith("-")]
        found = command.commands[names[0]]
        found = getattr(found, "commands", {}).get(names[1], found)
        known = {option for parameter in found.params for option in parameter.opts}
        used = set(re.findall(r"(?<=\s)--[a-z-]+", block.commands.partition("#")[0]))
        assert used <= known, block.title
