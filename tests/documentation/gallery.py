"""The gallery: scripts of examples/, and the pages and notebooks that are made of them.

The docstring of a script is the text of its page. A script runs in an empty folder; what it prints,
and the picture of its own name that it may write, are shown. The scripts in `NOTEBOOKS` are
notebooks, too, with a cell for each part that begins with ``# %%``.

``python -m tests.documentation.gallery`` writes all of it again (it needs the extra ``docs``).
"""

from __future__ import annotations

import ast
import json
import os
import runpy
import sys
import tempfile
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from tests.documentation.shown_output import ROOT, without_durations

FOLDER = ROOT / "docs" / "gallery"
NOTEBOOK_FOLDER = ROOT / "examples" / "notebooks"
NOTEBOOKS = ("counter_offers", "heft_and_the_optimum", "own_method")
GROUPS = {
    "Optimal schedules and gaps": (
        "first_optimum",
        "compare_heuristics",
        "fewest_nodes",
        "several_installments",
        "accepted_tasks",
        "heft_and_the_optimum",
        "graph_of_networkx",
        "rules_for_a_matrix",
        "critical_tasks",
        "shares_of_machines",
        "bins_over_time",
        "around_reservations",
    ),
    "Checks, proofs and counterexamples": (
        "exact_numbers",
        "what_is_wrong",
        "check_proof",
        "own_method",
        "own_graph_heuristic",
        "refuted_claim",
    ),
    "Engines and books": (
        "online_decisions",
        "counter_offers",
        "saved_and_restored",
        "failing_node",
        "common_start",
    ),
    "Simulations and experiments": (
        "experiment",
        "reject_ratios",
        "true_costs",
        "grid_of_lans",
    ),
}
SCRIPTS = tuple(name for names in GROUPS.values() for name in names)


@dataclass(frozen=True)
class Script:
    """A script of the gallery."""

    name: str

    @property
    def path(self) -> Path:
        """Where it is."""
        return ROOT / "examples" / f"{self.name}.py"

    @property
    def docstring(self) -> str:
        """Its title, and what it shows."""
        return ast.get_docstring(ast.parse(self.path.read_text())) or ""

    @property
    def title(self) -> str:
        """The first line of the docstring."""
        return self.docstring.partition("\n")[0].removesuffix(".")

    @property
    def code(self) -> str:
        """All but the docstring."""
        text = self.path.read_text()
        return "\n".join(text.splitlines()[ast.parse(text).body[0].end_lineno :])

    @property
    def cells(self) -> list[str]:
        """The parts of the code that are cells of a notebook."""
        return [cell.strip("\n") for cell in self.code.split("# %%\n") if cell.strip()]

    def run(self, folder: Path) -> str:
        """Run the script in a folder, and return what it prints."""
        arguments, sys.argv = sys.argv, [os.fspath(self.path)]
        try:
            with chdir(folder), redirect_stdout(StringIO()) as printed:
                runpy.run_path(os.fspath(self.path), run_name="__main__")
        finally:
            sys.argv = arguments
        return "\n".join(line.rstrip() for line in printed.getvalue().splitlines()) + "\n"

    def page(self, printed: str) -> str:
        """Return its page."""
        text = self.docstring.partition("\n")[2].strip()
        code = self.code.replace("# %%\n", "").strip("\n")
        lines = [f"# {self.title}", "", text, "", "```python", code, "```", ""]
        lines += ["It prints:", "", "```text", printed.rstrip("\n"), "```", ""]
        if (FOLDER / f"{self.name}.svg").exists():
            lines += [f"![The chart that the script draws]({self.name}.svg)", ""]
        source = f"[examples/{self.name}.py](../../examples/{self.name}.py)"
        if self.name in NOTEBOOKS:
            notebook = f"examples/notebooks/{self.name}.ipynb"
            source += f", as a notebook: [{notebook}](../../{notebook})"
        return "\n".join([*lines, f"Source: {source}", ""])

    def notebook(self) -> str:
        """Return the script as a notebook, executed."""
        import nbformat
        from nbclient import NotebookClient

        cells = [nbformat.v4.new_markdown_cell("# " + self.docstring)]
        cells += [nbformat.v4.new_code_cell(code) for code in self.cells]
        for number, cell in enumerate(cells):
            cell["id"] = f"cell-{number}"
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
        with tempfile.TemporaryDirectory() as folder:
            resources = {"metadata": {"path": folder}}
            NotebookClient(notebook, resources=resources, record_timing=False).execute()
        notebook.metadata.pop("language_info", None)
        return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def index_page() -> str:
    """Return the page that lists all scripts."""
    lines = [
        "# Gallery",
        "",
        "Short scripts, each with what it prints or draws. They run in the tests; "
        "the pages of the Python interface link to those that use a function.",
    ]
    for group, names in GROUPS.items():
        lines += ["", f"## {group}", ""]
        for script in map(Script, names):
            notebook = " (also a notebook)" if script.name in NOTEBOOKS else ""
            lines.append(f"- [{script.title}]({script.name}.md){notebook}")
    lines += ["", "```{toctree}", ":hidden:", "", *SCRIPTS, "```", ""]
    return "\n".join(lines)


def write_changed(path: Path, text: str) -> None:
    """Write a file, unless nothing but durations differs."""
    if not path.exists() or without_durations(path.read_text()) != without_durations(text):
        path.write_text(text)


def write_all() -> None:
    """Write the pages, the pictures and the notebooks."""
    write_changed(FOLDER / "index.md", index_page())
    for script in map(Script, SCRIPTS):
        with tempfile.TemporaryDirectory() as name:
            printed = script.run(Path(name))
            picture = Path(name) / f"{script.name}.svg"
            if picture.exists():
                (FOLDER / picture.name).write_bytes(picture.read_bytes())
        write_changed(FOLDER / f"{script.name}.md", script.page(printed))
        if script.name in NOTEBOOKS:
            write_changed(NOTEBOOK_FOLDER / f"{script.name}.ipynb", script.notebook())


if __name__ == "__main__":
    write_all()
