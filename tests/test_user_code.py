"""Methods of others: files, modules, and installed plug-ins."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import dlopt
from dlopt import registry
from dlopt.errors import NotApplicableError
from dlopt.registry.user_code import Plugins, PluginWarning
from tests.method_table import MethodTable

ROOT = Path(__file__).parents[1]
METHOD = """
import dlopt
from dlopt.registry import method

opr = method("iit", "opr").load()

def register_it():
    dlopt.register("iit", "of-acme", opr, objectives=("completion",))
"""


def install(folder: Path, name: str, code: str, target: str | None = None) -> None:
    """Write a package with one module and one entry point, as pip would install it."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[dlopt.methods]\n{name}-plug = {target or name}\n")
    (folder / f"{name}.py").write_text(code)


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method_table: MethodTable) -> Path:
    """A folder from which packages are imported; what they register is not there for others."""
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def test_a_file_is_run_once(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("runs = []\nruns.append('now')\n")
    module = dlopt.load_methods(file)
    assert dlopt.load_methods(str(file)) is module and module.runs == ["now"]


def test_a_file_that_failed_is_run_again(tmp_path: Path) -> None:
    file = tmp_path / "bad.py"
    file.write_text("\nlist(1 / n for n in [0])")
    with pytest.raises(NotApplicableError, match=r"division by zero \(bad.py, line 2\)$"):
        dlopt.load_methods(file)
    file.write_text("repaired = True")
    assert dlopt.load_methods(file).repaired


def test_a_file_of_another_kind_is_not_taken_for_a_module(tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    file.write_text("{}")
    with pytest.raises(NotApplicableError, match=r"plan.json: a file with methods must end in .py"):
        dlopt.load_methods(file)


@pytest.mark.parametrize(
    ("source", "cause"),
    [
        ("none.py", "FileNotFoundError"),
        ("no.such.module", "ModuleNotFoundError: No module named 'no'"),
        ("ends_the_program", "it ends the program, with 3"),
    ],
)
def test_what_cannot_be_imported(packages: Path, source: str, cause: str) -> None:
    (packages / "ends_the_program.py").write_text("raise SystemExit(3)")
    with pytest.raises(NotApplicableError, match=f"cannot import {source}: {cause}"):
        dlopt.load_methods(source)


def test_a_plug_in_registers_methods_by_a_function(packages: Path) -> None:
    install(packages, "acme_function", METHOD, "acme_function:register_it")
    Plugins().load()
    assert registry.method("iit", "of-acme").objectives == ("completion",)


def test_a_plug_in_registers_methods_as_it_is_imported(packages: Path) -> None:
    install(packages, "acme_module", METHOD + "\nregister_it()\n")
    Plugins().load()
    assert registry.method("iit", "of-acme").name == "of-acme"


def test_a_plug_in_is_loaded_once(packages: Path) -> None:
    install(packages, "acme_once", "calls = []\ndef load(): calls.append(1)", "acme_once:load")
    plugins = Plugins()
    plugins.load()
    plugins.load()
    assert sys.modules["acme_once"].calls == [1]


def test_a_plug_in_may_list_methods_while_it_is_loaded(packages: Path) -> None:
    plugins = Plugins()
    install(packages, "acme_curious", "", "acme_curious:plugins.load")
    (packages / "acme_curious.py").write_text("from dlopt.registry.user_code import Plugins\n")
    module = dlopt.load_methods("acme_curious")
    module.plugins = plugins  # type: ignore[attr-defined]
    plugins.load()  # it calls itself, and ends
    assert registry.methods("iit")


def test_a_broken_plug_in_gives_one_warning_and_the_others_are_loaded(packages: Path) -> None:
    install(packages, "acme_broken", "import no_such_module_at_all")
    install(packages, "acme_ending", "raise SystemExit(3)")
    install(packages, "acme_sound", METHOD, "acme_sound:register_it")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Plugins().load()
    assert sorted(str(one.message) for one in caught) == [
        "the methods of the plug-in 'acme_broken-plug' of acme_broken 1.0 are missing: "
        "ModuleNotFoundError: No module named 'no_such_module_at_all'",
        "the methods of the plug-in 'acme_ending-plug' of acme_ending 1.0 are missing: "
        "it ends the program, with 3",
    ]
    assert {one.category for one in caught} == {PluginWarning}
    assert registry.method("iit", "of-acme")


def test_plug_ins_are_loaded_for_an_unknown_name_only(tmp_path: Path) -> None:
    install(tmp_path, "acme", METHOD + "print('loaded')\n", "acme:register_it")
    install(tmp_path, "broken", "1 / 0")
    program = """
import sys
sys.argv = ["dlopt", "solve", "instances/iit/three-nodes.json", "--method", "opr", "--json"]
from dlopt.cli import main
try:
    main()
except SystemExit as ended:
    assert ended.code == 0 and "acme" not in sys.modules
sys.argv[4] = "of-acme"
main()
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={"PYTHONPATH": f"{ROOT}:{tmp_path}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert '"method": "of-acme"' in done.stdout
    assert done.stderr.splitlines() == [
        "loaded",
        "note: the methods of the plug-in 'broken-plug' of broken 1.0 are missing: "
        "ZeroDivisionError: division by zero",
    ]
