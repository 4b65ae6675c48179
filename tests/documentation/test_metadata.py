"""The citation and the conda recipe say what the project file says."""

import re
import tomllib

import pytest

from dlopt import __version__
from tests.documentation.shown_output import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
RECIPE = (ROOT / "recipe" / "meta.yaml").read_text()
CITATION = (ROOT / "CITATION.cff").read_text()
CONDA_NAMES = {
    "matplotlib": "matplotlib-base",
    "ortools": "ortools-python",
    "typing-extensions": "typing_extensions",
}
"""Packages that conda-forge has under other names."""


def required(section):
    """Return what a section of the recipe requires."""
    lines = re.search(rf"^  {section}:\n((?:    - .*\n)+)", RECIPE, flags=re.MULTILINE)
    return [line.removeprefix("    - ") for line in lines[1].splitlines()]


def conda(requirement):
    """Return a requirement of the project file as conda writes it."""
    name, versions = re.fullmatch(r"([\w-]+)(.*)", requirement).groups()
    return f"{CONDA_NAMES.get(name, name)} {versions}"


def test_the_recipe_requires_what_the_project_requires():
    python = f"python {PROJECT['requires-python']}"
    assert required("run") == [python, *map(conda, PROJECT["dependencies"])]
    extras = PROJECT["optional-dependencies"]
    optional = [extras[name][0] for name in ("plot", "frames", "sim", "fast")]
    assert required("run_constrained") == list(map(conda, optional))


@pytest.mark.parametrize(
    "found",
    [
        re.search('set version = "(.*)"', RECIPE)[1],
        re.search("^version: (.*)$", CITATION, flags=re.MULTILINE)[1],
    ],
)
def test_versions_are_that_of_the_package(found):
    assert found == __version__


def test_licence_summary_and_command_are_those_of_the_project():
    assert f"summary: {PROJECT['description']}\n" in RECIPE
    assert f"license: {PROJECT['license']}\n" in RECIPE
    assert f"license: {PROJECT['license']}\n" in CITATION
    assert f"dlopt = {PROJECT['scripts']['dlopt']}\n" in RECIPE


def test_every_reference_of_the_paper_exists_and_is_cited():
    paper = (ROOT / "paper" / "paper.md").read_text()
    references = (ROOT / "paper" / "paper.bib").read_text()
    entries = set(re.findall(r"^@\w+\{(\w+),", references, flags=re.MULTILINE))
    assert set(re.findall(r"@(\w+)", paper)) == entries
