"""The documentation site: every page is in it, and what it needs of the code can be made."""

import importlib.util
import json
import re
import sys

import pytest

import dlopt
from tests.documentation.shown_output import ROOT

DOCS = ROOT / "docs"
OPTIONS = re.compile(r"^:.*:.*$", flags=re.MULTILINE)


def entries():
    """Yield each entry of a table of contents: its page, its name, and the files that it names."""
    for page in DOCS.rglob("*.md"):
        for content in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(), flags=re.DOTALL):
            for name in OPTIONS.sub("", content).split():
                yield page, name, [path.resolve() for path in page.parent.glob(f"{name}.md")]


def test_every_page_is_in_a_table_of_contents():
    listed = {path for _, _, files in entries() for path in files}
    assert sorted(set(DOCS.rglob("*.md")) - {DOCS / "index.md"} - listed) == []


def test_every_table_of_contents_names_pages_that_exist():
    assert [(page.name, name) for page, name, files in entries() if not files] == []


def test_everything_that_the_package_exports_is_on_its_page():
    text = (DOCS / "reference" / "python" / "entry-points.md").read_text()
    described = set(re.findall(r"^\.\. auto\w+:: dlopt\.(\w+)$", text, flags=re.MULTILINE))
    assert described == set(dlopt.__all__) - {"__version__"}


@pytest.fixture
def generated_pages(monkeypatch):
    """The module that makes pages of the code."""
    if importlib.util.find_spec("sphinx") is None:
        pytest.skip("needs the extra docs: sphinx is not installed")
    monkeypatch.syspath_prepend(DOCS / "_site")
    module = importlib.import_module("generated_pages")
    yield module
    del sys.modules["generated_pages"]


def test_the_page_of_commands_has_every_command(generated_pages):
    text = generated_pages.command_help()
    for command in ("solve", "convert swf", "simulate cluster", "serve"):
        assert f" `dlopt {command}`\n" in text


def test_the_page_of_files_has_every_field(generated_pages):
    text = generated_pages.instance_fields()
    for path in (ROOT / "schemas").iterdir():
        schema = json.loads(path.read_text())
        for record in [schema, *schema.get("$defs", {}).values()]:
            for name in record.get("properties", ()):
                assert f"| `{name}` |" in text, (path.name, name)


def test_pages_of_the_interface_name_the_scripts_that_use_a_function(generated_pages):
    uses = generated_pages.uses_in_gallery()
    assert "own_method" in uses["dlopt.register"]
    assert uses["dlopt.problems.bag.success_ratios"] == ["critical_tasks"]
