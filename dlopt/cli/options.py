"""The options that commands share; they are checked before any work begins."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from dlopt.cli.help_texts import option
from dlopt.cli.input_files import STANDARD
from dlopt.errors import MissingExtraError, NotApplicableError

LIMITS = "Limits"
"""Heading of the options that limit a method in the help of the commands."""
NUMBERS = "Numbers"
"""Heading of the options that say how numbers are read."""
OUTPUT = "Output"
"""Heading of the options that say where results go."""


def writable(path: Path | None) -> Path | None:
    """Return a path that a file can be written to; solving first would waste the work."""
    if path is None:
        return None
    if path == STANDARD:
        raise NotApplicableError("this cannot go to standard output: name a file instead of -")
    if path.is_dir():
        raise NotApplicableError(f"cannot write {path}: it is a folder")
    if not Path(os.path.realpath(path)).parent.is_dir():
        raise NotApplicableError(f"cannot write {path}: its folder does not exist")
    return path


def refuse_shared_files(file: Path, written: dict[str, Path | None]) -> None:
    """Refuse outputs that would replace one another, or the file that is read; devices do not."""
    options = {os.path.realpath(file): "the file that is read"} if file != STANDARD else {}
    for name, path in written.items():
        if path is not None and path != STANDARD and not path.is_char_device():
            other = options.setdefault(os.path.realpath(path), name)
            if other != name:
                raise NotApplicableError(f"{name} {path} would replace {other}")


def writable_or_standard(path: Path | None) -> Path | None:
    """Return a path that JSON can be written to: a file, or ``-`` for standard output."""
    return path if path == STANDARD else writable(path)


def writable_folder(folder: Path | None) -> Path | None:
    """Return a folder that files can be written to; it may have to be made."""
    if folder is None:
        return None
    if folder.exists() and not folder.is_dir():
        raise NotApplicableError(f"cannot write to {folder}: it is no folder")
    home = folder if folder.exists() else folder.resolve().parent
    if not home.is_dir():
        raise NotApplicableError(f"cannot make {folder}: its folder does not exist")
    if not os.access(home, os.W_OK | os.X_OK):
        raise NotApplicableError(f"cannot write to {home}: no permission")
    return folder


def drawable(path: Path | None) -> Path | None:
    """Return a path that a picture can be written to, if pictures can be drawn at all."""
    from dlopt.plotting import SUFFIXES

    if path is None:
        return None
    if path.suffix.lower() not in SUFFIXES:
        raise NotApplicableError(f"cannot draw to {path}: must end in {', '.join(SUFFIXES)}")
    _require_matplotlib()
    return writable(path)


def drawable_folder(folder: Path | None) -> Path | None:
    """Return a folder that pictures can be written to, if pictures can be drawn at all."""
    if folder is None:
        return None
    _require_matplotlib()
    return writable_folder(folder)


def _list_solver_parameters(wanted: bool) -> None:
    from dlopt.backends.solver_parameters import parameter_table
    from dlopt.cli.console import out

    if wanted:
        for solver, name, values in parameter_table():
            out.print(f"{solver:8}{name:45}{values}", markup=False, soft_wrap=True)
        raise typer.Exit


def with_loaded_methods(sources: list[str] | None) -> list[str] | None:
    """Return modules and files after their methods were loaded; what they print goes to stderr."""
    from dlopt.cli.console import quiet_solvers
    from dlopt.registry import load_methods

    with quiet_solvers():
        for source in sources or ():
            load_methods(source)
    return sources


def _require_matplotlib() -> None:
    if find_spec("matplotlib") is None:
        raise MissingExtraError("matplotlib", "plot")


Imports = Annotated[
    list[str] | None,
    option(
        "--import FILE",
        "A .py file or module that registers methods of your own; may be repeated.",
        callback=with_loaded_methods,
    ),
]
Methods = Annotated[
    str | None,
    option("--methods M,M", "Methods to run.", "all but variants that reproduce printed errors"),
]
Literal = Annotated[
    bool, option("--literal", "Include the variants that reproduce printed errors.")
]
AsJson = Annotated[bool, option("--json", "Print JSON, and nothing else, on stdout.", panel=OUTPUT)]
Fractions = Annotated[
    bool, option("--fractions", "Print exact fractions instead of decimals.", panel=OUTPUT)
]
Exactly = Annotated[
    bool, option("--exact-numbers", "Read decimals as exact rational numbers.", panel=NUMBERS)
]
Floating = Annotated[
    bool,
    option("--float-numbers", "Compute in floating point, whatever the file has.", panel=NUMBERS),
]
Settings = Annotated[
    list[str] | None, option("--set K=V", "Option of a method, or parameter; may be repeated.")
]
MethodSettings = Annotated[
    list[str] | None,
    option(
        "--set K=V",
        "Option of the methods that have it, or as METHOD.K=V of one method; may be repeated.",
    ),
]
Certified = Annotated[
    bool,
    option(
        "--certified", "State a bound, or optimality, only with a certificate that is accepted."
    ),
]
TimeLimit = Annotated[
    float | None,
    option(
        "--time-limit S",
        "Time limit of each method, in seconds, including its model, its initial heuristics "
        "and the verification. A method that exceeds it is stopped.",
        panel=LIMITS,
    ),
]
Work = Annotated[
    int | None,
    option("--work N", "Deterministic limit: branch-and-bound nodes or iterations.", panel=LIMITS),
]
Threads = Annotated[int, option("--threads N", "Number of threads of a solver.", panel=LIMITS)]
Gap = Annotated[float, option("--gap G", "Relative gap at which a solver may stop.", panel=LIMITS)]
Target = Annotated[
    str | None,
    option(
        "--target-value V",
        "Stop at a schedule that is at least as good; V,V for the levels of an objective.",
        panel=LIMITS,
    ),
]
NoImprovement = Annotated[
    float | None,
    option(
        "--no-improvement S",
        "Stop when there is a schedule and no better one was found for S seconds.",
        panel=LIMITS,
    ),
]
SolverLog = Annotated[bool, option("--solver-log", "Print the logs of CP-SAT and HiGHS on stderr.")]
SolverParameters = Annotated[
    list[str] | None,
    option("--solver-parameter K=V", "Parameter of CP-SAT or HiGHS; may be repeated."),
]
ListSolverParameters = Annotated[
    bool,
    option(
        "--list-solver-parameters",
        "List the parameters that --solver-parameter takes, and exit.",
        is_eager=True,
        callback=_list_solver_parameters,
    ),
]
Memory = Annotated[int | None, option("--memory MB", "Memory limit of the command.", panel=LIMITS)]
Seed = Annotated[int, option("--seed N", "Seed of random numbers.")]
Goal = Annotated[
    str | None,
    option("--objective O", "Objective, see `dlopt methods`.", "that of the problem type"),
]
Out = Annotated[
    Path | None,
    option(
        "--out -o FILE",
        "Write JSON to this file; - for standard output.",
        panel=OUTPUT,
        callback=writable_or_standard,
    ),
]
Certificate = Annotated[
    Path | None,
    option(
        "--certificate FILE",
        "Write the proof of the bound as a VIPR certificate; exit code 4 if there is none.",
        panel=OUTPUT,
        callback=writable,
    ),
]
Picture = Annotated[
    Path | None,
    option(
        "--plot FILE",
        "Draw the plan to a .svg, .png or .pdf file.",
        panel=OUTPUT,
        callback=drawable,
    ),
]
ProgressPicture = Annotated[
    Path | None,
    option(
        "--plot-progress FILE",
        "Draw incumbent and bound over time to a .svg, .png or .pdf file.",
        panel=OUTPUT,
        callback=drawable,
    ),
]
