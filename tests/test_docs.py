"""What the documentation shows: links lead somewhere, and Python examples run."""

import os
import re
from pathlib import Path

import pytest

from dlopt import registry

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
PAGES += [ROOT / folder / "README.md" for folder in ("benchmarks", "instances", "models", "tests")]
PAGES += sorted((ROOT / "benchmarks" / "results").glob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text())
    local = [link for link in links if "://" not in link]
    missing = [link for link in local if not (page.parent / link).exists()]
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_python_examples_run(page, monkeypatch, capsys):
    registered = dict(registry._METHODS)
    monkeypatch.setattr(registry, "_METHODS", registered)
    monkeypatch.chdir(ROOT)
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.DOTALL):
        exec(compile(block, os.fspath(page), "exec"), names)


def test_every_method_that_is_named_exists():
    known = {entry.name for entry in registry.methods()}
    for page in PAGES:
        for name in re.findall(r"--method ([a-z][\w:.-]*)", page.read_text()):
            assert name.rstrip(".") in known, (page.name, name)


def test_every_problem_is_on_the_front_page():
    text = (ROOT / "README.md").read_text()
    for stem in registry.stems():
        assert f"`{stem}`" in text
