"""The small files in formats of others: they are what their script makes, and can be converted."""

import runpy

import pytest
from typer.testing import CliRunner

from dlopt.cli.app import app
from tests.documentation.shown_output import ROOT

FOLDER = ROOT / "examples" / "data"
FILES = runpy.run_path(str(FOLDER / "generate.py"))["FILES"]


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_what_the_script_makes(name):
    assert (FOLDER / name).read_text() == FILES[name]()


def test_no_other_file_is_there():
    assert {path.name for path in FOLDER.iterdir() if path.is_file()} == {*FILES, "generate.py"}


@pytest.mark.parametrize(
    "arguments",
    [
        ["swf", "jobs.swf", "--to", "admission"],
        ["graph", "workflow.json", "--machines", "2", "--bandwidth", "1e6"],
        ["graph", "workflow.xml", "--machines", "2", "--bandwidth", "1e6"],
        ["etc", "times.etc"],
        ["bins", "items.txt", "--format", "orlib", "--problem", "items-0"],
    ],
    ids=lambda arguments: arguments[1],
)
def test_a_file_can_be_converted(arguments, tmp_path):
    kind, name, *options = arguments
    out = tmp_path / "instance.json"
    command = ["convert", kind, str(FOLDER / name), *options, "--out", str(out)]
    assert CliRunner().invoke(app, command).exit_code == 0
    assert out.exists()
