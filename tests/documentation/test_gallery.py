"""The scripts of the gallery run, and print and draw what their pages show."""

import json
import re

import matplotlib
import pytest

from tests.documentation.gallery import (
    FOLDER,
    NOTEBOOK_FOLDER,
    NOTEBOOKS,
    SCRIPTS,
    Script,
    index_page,
)
from tests.documentation.shown_output import ROOT, without_durations


@pytest.mark.parametrize("name", SCRIPTS)
def test_what_the_page_of_a_script_shows_is_printed(name, tmp_path, method_table):
    script = Script(name)
    printed = script.run(tmp_path)
    page = (FOLDER / f"{name}.md").read_text()
    assert without_durations(page) == without_durations(script.page(printed))
    drawn, shipped = tmp_path / f"{name}.svg", FOLDER / f"{name}.svg"
    assert drawn.exists() == shipped.exists()
    if drawn.exists():
        assert what_is_drawn(drawn) == what_is_drawn(shipped)


def what_is_drawn(picture):
    """Return a picture; of another Matplotlib, whose shapes may differ, only the texts in it."""
    text = picture.read_text()
    if f"Matplotlib v{matplotlib.__version__}," in (FOLDER / picture.name).read_text():
        return text
    return re.findall(r"<!-- (.*?) -->", text)


def test_every_script_is_in_the_gallery():
    assert {path.stem for path in (ROOT / "examples").glob("*.py")} == set(SCRIPTS)
    assert (FOLDER / "index.md").read_text() == index_page()


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_is_its_script_and_prints_the_same(name):
    notebook = json.loads((NOTEBOOK_FOLDER / f"{name}.ipynb").read_text())
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert ["".join(cell["source"]) for cell in code] == Script(name).cells
    outputs = [output for cell in code for output in cell["outputs"]]
    assert all(output["output_type"] == "stream" for output in outputs)
    printed = "".join("".join(output["text"]) for output in outputs)
    page = (FOLDER / f"{name}.md").read_text()
    shown = re.search(r"```text\n(.*?)```", page, flags=re.DOTALL)[1]
    lines = "\n".join(line.rstrip() for line in printed.splitlines())
    assert without_durations(lines) == without_durations(shown)
