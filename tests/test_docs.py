"""What the documentation shows: links lead somewhere, Python examples run, every name is explained.

``python -m tests.test_docs`` writes docs/methods.md again.
"""

import os
import re
from pathlib import Path

import pytest

from dlopt import registry
from dlopt.batch import Failure
from dlopt.result import PLAN_CLASSES, PROOFS, Status

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
PAGES += [ROOT / folder / "README.md" for folder in ("benchmarks", "instances", "models", "tests")]
PAGES += sorted((ROOT / "benchmarks" / "results").glob("*.md"))
RUN_ELSEWHERE = sorted((ROOT / "docs").glob("*/**/*.md"))  # by tests/documentation
ALL_PAGES = PAGES + RUN_ELSEWHERE


@pytest.mark.parametrize("page", ALL_PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text())
    local = [link for link in links if "://" not in link]
    missing = [link for link in local if not (page.parent / link).exists()]
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_python_examples_run(page, monkeypatch, capsys, method_table):
    monkeypatch.chdir(ROOT)
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.DOTALL):
        exec(compile(block, os.fspath(page), "exec"), names)


def test_every_method_that_is_named_exists():
    known = {entry.name for entry in registry.methods()}
    for page in ALL_PAGES:
        for name in re.findall(r"--method ([a-z][\w:.-]*)", page.read_text()):
            assert name.rstrip(".") in known, (page.name, name)


def test_every_problem_is_on_the_front_page():
    text = (ROOT / "README.md").read_text()
    for stem in registry.stems():
        assert f"`{stem}`" in text


def methods_page():
    """Return docs/methods.md as the registry has it."""
    lines = ["# Methods", "", "All methods by problem type, as `dlopt methods` lists them; see "]
    lines[-1] += "[terminology.md](terminology.md) for claims and plan classes."
    for stem in registry.stems():
        entries = registry.methods(stem)
        objectives = ", ".join(f"`{name}`" for name in registry.problem(stem).module.OBJECTIVES)
        lines += ["", f"## `{stem}`", "", f"Objectives: {objectives}.", ""]
        lines += ["| method | kind | claim | plan class | description (source) | options |"]
        lines += ["|---|---|---|---|---|---|"]
        for entry in entries:
            options = ", ".join(f"`{option.name}`" for option in entry.options) or "-"
            text = f"{entry.summary} ({entry.source})"
            lines.append(
                f"| `{entry.name}` | {entry.kind} | {entry.claim} | {entry.plan_class} | {text} "
                f"| {options} |"
            )
    return "\n".join(lines) + "\n"


def test_the_page_of_methods_is_that_of_the_registry():
    assert (ROOT / "docs" / "methods.md").read_text() == methods_page()


def test_every_word_that_a_user_sees_is_explained():
    text = (ROOT / "docs" / "terminology.md").read_text()
    words = {str(word) for word in (*Status, *Failure, *PLAN_CLASSES, *PROOFS)}
    for stem in registry.stems():
        module = registry.problem(stem).module
        words |= {stem, *module.KINDS, *getattr(module, "EXECUTED_KINDS", ())}
        words |= {entry.claim for entry in registry.methods(stem)}
    assert sorted(word for word in words if f"`{word}`" not in text) == []


def test_the_front_page_is_short():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 200


if __name__ == "__main__":
    (ROOT / "docs" / "methods.md").write_text(methods_page())
