"""What a user meets first: help, examples, completion, the version, and answers to typos."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from dlopt.cli.app import app, called_command, root_command
from dlopt.version import __version__
from tests.cli.conftest import Command

WIDTH = 80
SLOW_TO_IMPORT = ("dlopt.io", "dlopt.registry", "dlopt.simulation", "numpy", "scipy", "networkx")


def commands(command: Any = None, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every command that takes no subcommand, with the words that call it."""
    command = typer.main.get_command(app) if command is None else command
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, f"{path} {name}".strip())
    if path and not hasattr(command, "commands"):
        yield path, command


COMMANDS = dict(commands())


def described(command: Any) -> dict[str, Any]:
    """Return the help of a command and of its parameters."""
    parameters = [(one.name, one.opts, one.required, one.help) for one in command.params]
    return {"help": command.help, "epilog": command.epilog, "parameters": parameters}


def test_a_command_that_is_made_alone_is_that_of_the_whole() -> None:
    whole = root_command()
    for name, command in whole.commands.items():
        called = called_command([name, "--no-such-option"])
        assert described(called) == described(whole)
        assert described(called.commands[name]) == described(command)
        assert len(called.commands) in (1, len(whole.commands))
    assert len(called_command(["solve"]).commands) == 1
    for arguments in ([], ["--help"], ["sovle"], ["convert", "swf"], ["--version", "solve"]):
        assert called_command(arguments) is whole


@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_lists_every_command_in_full(
    dlopt: Command, option: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    text = dlopt(option).out
    assert "… " not in text and "... " not in text.partition("Options")[2]
    assert max(map(len, text.splitlines())) <= WIDTH
    for path in COMMANDS:
        assert re.search(rf"^│ {path.split()[0]}  ", text, re.MULTILINE)
    for heading in ("Solve and verify", "Instances and pictures", "Experiments", "Service"):
        assert f"─ {heading} ─" in text


@pytest.mark.parametrize("path", COMMANDS)
def test_help_ends_with_an_example_that_the_command_accepts(dlopt: Command, path: str) -> None:
    text = dlopt(*path.split(), "-h").out
    example = re.sub(r"\s+", " ", text.partition("Example: ")[2]).strip()
    words = shlex.split(example)
    assert words[: len(path.split()) + 1] == ["dlopt", *path.split()]
    COMMANDS[path].make_context("", words[len(path.split()) + 1 :], resilient_parsing=True)


def test_options_of_one_problem_type_stand_together(dlopt: Command) -> None:
    text = dlopt("convert", "swf", "-h").out
    requests = text.partition("─ Requests (--to coreservation) ─")[2].partition("╰")[0]
    assert set(re.findall(r"--[a-z-]+", requests)) >= {"--machine-size", "--priority", "--batch"}
    assert "--tau" not in requests


def test_without_arguments_the_command_prints_its_help(dlopt: Command) -> None:
    assert "Usage: dlopt" in dlopt(code=None).out


@pytest.mark.parametrize("option", ["-V", "--version"])
def test_version(dlopt: Command, option: str) -> None:
    assert dlopt(option).out == f"{__version__}\n"


def test_completion(dlopt: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_DLOPT_COMPLETE", "source_bash")
    assert "complete -o default -F _dlopt_completion dlopt" in dlopt().out
    monkeypatch.setenv("_DLOPT_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "dlopt co")
    monkeypatch.setenv("COMP_CWORD", "1")
    assert dlopt().out.split() == ["compare", "convert"]


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("solv x.json", "Did you mean 'solve'?"),
        ("solve --metod exact x.json", "--method"),
        ("generate itt", "no problem 'itt' (did you mean iit? known: iit, admission,"),
        ("generate iit --family ramps", "(did you mean ramp? known: ramp, burst, "),
        ("generate iit --family ramp --set node=3", "(did you mean nodes? known: nodes, step, "),
        ("generate", "the problem type is missing (known: iit, admission,"),
        ("methods dagg", "no problem 'dagg' (did you mean dag? known: iit, "),
        ("falsify iit edf-iit-1 --objective nods", "(did you mean nodes? known: completion, nodes"),
        ("falsify bag xyz", "bag has no method 'xyz' (`dlopt methods bag` lists those"),
        ("falsify bag gd", "bag has no method 'gd' (did you mean gds"),
    ],
)
def test_typos_are_answered_by_similar_names(dlopt: Command, words: str, answer: str) -> None:
    assert answer in dlopt(*words.split(), code=2).err


def test_starting_imports_nothing_slow() -> None:
    code = "import sys; import dlopt.cli.app; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not set(done.stdout.split()) & set(SLOW_TO_IMPORT)


@pytest.mark.parametrize("path", COMMANDS)
def test_no_word_in_brackets_is_lost_as_markup(path: str) -> None:
    """Help is rendered as markup: of ``pip install 'dlopt[sim]'`` the extra would be lost."""
    command = COMMANDS[path]
    texts = [command.help, *(getattr(one, "help", None) for one in command.params)]
    for text in filter(None, texts):
        assert not re.search(r"(?<!\\)\[/?[a-z]", text), f"{path}: {text}"
