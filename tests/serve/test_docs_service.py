"""The commands of docs/service.md run, in their order, and print what is shown.

The page's ports are replaced by free ones. In what is shown, "..." stands for anything.
"""

import re

import pytest

from tests.documentation.shown_output import (
    ROOT,
    assert_shown,
    blocks_of,
    run_blocks,
    with_free_ports,
)

PAGE = (ROOT / "docs" / "service.md").read_text()
BLOCKS = list(blocks_of(PAGE))


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """What each block prints."""
    return run_blocks(BLOCKS, tmp_path_factory.mktemp("service"), on_this_machine)


def on_this_machine(script):
    """Return the script with free ports on the loopback: nobody else needs to reach them."""
    script = script.replace("dlopt serve --store", "dlopt serve --port 8321 --store")
    return with_free_ports(script.replace("0.0.0.0", "127.0.0.1"))


@pytest.mark.parametrize("index", range(len(BLOCKS)), ids=lambda index: BLOCKS[index].title)
def test_what_is_shown_is_printed(printed, index):
    started = re.compile(r"^dlopt service at .*\n(?:try: .*\n)?")
    assert_shown(BLOCKS[index], started.sub("", printed[index]))


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
