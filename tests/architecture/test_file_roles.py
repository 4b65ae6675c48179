"""One role has one file name in all problems, and no public name is that of a submodule."""

from __future__ import annotations

import importlib
from fnmatch import fnmatch
from pathlib import Path

import pytest

from dlopt.registry import stems
from tests.instance_files import ROOT

# A new role is added here, and to the table of CONTRIBUTING.md, in the change that needs it.
MODEL_ROLES = {
    "data in the units of the models": (
        "scaled_instance",
        "objective",
        "requests",
        "reservations",
        "reservation_columns",
        "exact_times",
        "stages",
        "chunk_windows",
        "window_capacity",
        "program_size",
    ),
    "decomposition": ("time_blocks",),
    "formulations": ("cpsat", "cpsat_*", "milp", "*_milp", "fixed_sequence_lp", "*_lp"),
    "relaxations, bounds and cuts": (
        "*_relaxation",
        "*_bound",
        "*_bounds",
        "*_cuts",
        "heads_and_tails",
        "energetic_heads",
        "min_max_lateness",
        "single_task_*",
        "flowtime_assignment",
        "flowtime_subsets",
        "bin_packing",
        "machine_minimisation",
        "machine_reduction",
        "independent_tasks",
        "identical_machines",
        "branch_and_price",
    ),
    "answers of models and schedules": ("solutions", "schedules", "rounding_feasibility"),
    "proofs as certificates": ("proof_*",),
    "primal heuristics": (
        "initial_solution",
        "construction",
        "lns",
        "ruin_and_recreate",
        "forward_backward",
        "primal_heuristics",
        "sequence_search",
    ),
    "portfolio and registered methods": (
        "search",
        "portfolio_state",
        "program_steps",
        "feasibility",
        "sequence_portfolio",
        "sequence_feasibility",
        "conflicts",
        "request_conflicts",
        "node_assignments",
        "methods",
        "bound_methods",
        "rolling_horizon",
        "certificate_check",
    ),
}
PROBLEM_ROLES = {"__init__", "data", "goals", "objectives", "checker"}
SHARED_NAMES = {
    ("dlopt.problems.coreservation", "batches"),  # the function is all that its module holds
    ("dlopt.verify", "strategies"),  # the module itself is public
}


def names_in(folder: Path) -> set[str]:
    """Return the modules and packages of a folder, without the ending."""
    modules = {file.stem for file in folder.glob("*.py")} - {"__init__"}
    return modules | {found.parent.name for found in folder.glob("*/__init__.py")}


@pytest.mark.parametrize("stem", stems())
def test_the_modules_of_a_problems_models_have_names_of_roles(stem: str) -> None:
    known = [name for names in MODEL_ROLES.values() for name in names]
    strange = {
        name
        for name in names_in(ROOT / "models" / stem)
        if not any(fnmatch(name, role) for role in known)
    }
    assert not strange, "name the role in MODEL_ROLES and in CONTRIBUTING.md"


def test_every_role_has_a_module() -> None:
    there = set().union(*(names_in(ROOT / "models" / stem) for stem in stems()))
    for roles in MODEL_ROLES.values():
        assert all(any(fnmatch(name, role) for name in there) for role in roles)


@pytest.mark.parametrize("stem", stems())
def test_every_problem_has_the_same_modules(stem: str) -> None:
    assert {
        file.stem for file in (ROOT / "dlopt" / "problems" / stem).glob("*.py")
    } >= PROBLEM_ROLES
    for folder in ("generation", "plotting", "registry"):
        assert (ROOT / "dlopt" / folder / f"{stem}.py").exists()


def test_no_public_name_is_that_of_a_submodule() -> None:
    """The submodule would take its place as soon as it is imported."""
    shared = set()
    for file in [*(ROOT / "dlopt").rglob("__init__.py"), *(ROOT / "models").rglob("__init__.py")]:
        parts = file.parent.relative_to(ROOT).parts
        package = ".".join(parts if parts[0] == "dlopt" else ("dlopt", *parts))
        module = importlib.import_module(package)
        public = set(getattr(module, "__all__", ()))
        shared |= {(package, name) for name in public & names_in(file.parent)}
    assert shared == SHARED_NAMES
