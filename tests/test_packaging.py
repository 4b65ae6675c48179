"""The package as it is installed: what is in it, and what may live in one process."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import dlopt.models

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_every_folder_with_code_is_a_package_that_is_installed():
    on_disk = set()
    tops = {"dlopt": "dlopt", "models": "dlopt.models", "instances": "dlopt.instances"}
    for top, name in ((ROOT / folder, name) for folder, name in tops.items()):
        for init in top.rglob("__init__.py"):
            if top.name == "dlopt" and init.relative_to(top).parts[0] in tops:
                continue  # the links to the folders at the top
            on_disk.add(".".join((name, *init.parent.relative_to(top).parts)))
    assert on_disk == set(PROJECT["tool"]["setuptools"]["packages"])


def test_every_file_beside_the_code_is_installed():
    listed = {
        path.relative_to(ROOT)
        for package, patterns in PROJECT["tool"]["setuptools"]["package-data"].items()
        for pattern in patterns
        for path in (ROOT / package.replace(".", "/")).glob(pattern)
    }
    on_disk = {path.relative_to(ROOT) for path in (ROOT / "dlopt").rglob("*") if path.is_file()}
    shipped = {
        Path("dlopt", path.relative_to(ROOT)) for path in (ROOT / "instances").rglob("*.json")
    }
    assert listed == shipped | {
        path for path in on_disk if path.suffix not in (".py", ".pyc", ".nbi", ".nbc")
    }
    assert len(shipped) > 50


def test_models_are_one_copy_wherever_they_are_found():
    assert Path(dlopt.models.__file__).resolve() == ROOT / "models" / "__init__.py"
    assert "models" not in sys.modules


def test_a_script_beside_the_checkout_finds_the_package(tmp_path):
    """A folder of the package's name is one, too, for Python, unless the package is on the path."""
    makefile = (ROOT / "Makefile").read_text()
    installs = re.findall(r"^\t.*(?:\$\(EXTRAS\)|'\.\[plot\]').*", makefile, re.MULTILINE)
    assert len(installs) == 3 and all("$(EDITABLE)" in line for line in installs)
    assert "EDITABLE := --config-settings editable_mode=compat --editable\n" in makefile
    (tmp_path / "dlopt").symlink_to(ROOT)
    (tmp_path / "mine.py").write_text("import dlopt; print(dlopt.read.__module__)")
    words = [sys.executable, "mine.py"]
    done = subprocess.run(
        words, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True
    )
    assert done.stdout == b"dlopt.io\n"


def test_tests_are_packages_too():
    for folder in {path.parent for path in (ROOT / "tests").rglob("*.py")}:
        assert (folder / "__init__.py").exists(), folder


SOLVE = {
    "pulp": "import pulp; p = pulp.LpProblem('p'); x = p.add_variable('x', 1); p += x;"
    "p.solve(pulp.HiGHS(msg=False)); assert x.value() == 1",
    "ortools": "from ortools.sat.python import cp_model; m = cp_model.CpModel();"
    "y = m.new_int_var(1, 9, 'y'); m.minimize(y); s = cp_model.CpSolver();"
    "assert s.solve(m) == cp_model.OPTIMAL and s.value(y) == 1",
    "scipy": "from scipy.optimize import linprog; assert linprog([1], bounds=[(1, 9)]).fun == 1",
}


@pytest.mark.parametrize(
    "order", ["pulp ortools scipy", "ortools pulp ortools", "scipy ortools pulp"]
)
def test_both_solver_libraries_live_in_one_process(order):
    code = "\n".join(SOLVE[name] for name in order.split())
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)


def test_the_highs_that_pulp_runs_is_the_one_that_is_pinned():
    code = (
        "from ortools.sat.python import cp_model; import highspy, importlib.metadata as m;"
        "assert highspy.Highs().version() == m.version('highspy'), highspy.Highs().version()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
