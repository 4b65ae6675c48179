"""The command that looks for an instance on which a method fails."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from dlopt.cli.console import Exit, err, interruptible, out, quiet_solvers
from dlopt.cli.help_texts import option
from dlopt.cli.json_output import print_result
from dlopt.cli.option_values import pairs
from dlopt.cli.options import AsJson, Goal, Imports, Seed, Settings, writable_folder
from dlopt.errors import NotApplicableError

if TYPE_CHECKING:
    from dlopt.verify import Finding, SearchResult
    from dlopt.verify.budget import Progress


def falsify(
    stem: Annotated[str, typer.Argument(metavar="STEM", help="Problem type.")],
    method: Annotated[
        str,
        typer.Argument(
            metavar="METHOD", help="A name that `dlopt methods` lists, or FILE.py:FUNCTION."
        ),
    ],
    seconds: Annotated[
        float, option("--seconds S", "Time limit of the search, in seconds.")
    ] = 60.0,
    examples: Annotated[
        int | None, option("--examples N", "Number of instances to try, instead of --seconds.")
    ] = None,
    seed: Seed = 0,
    target: Annotated[
        str,
        option(
            "--target T", "Refute the claim (claim), or find the largest gap to the optimum (gap)."
        ),
    ] = "claim",
    claim: Annotated[
        str | None, option("--claim NAME", "Claim to refute.", "that of `dlopt methods`")
    ] = None,
    kind: Annotated[str | None, option("--kind K", "Kind of violation to look for.", "any")] = None,
    objective: Goal = None,
    settings: Settings = None,
    imports: Imports = None,
    jobs: Annotated[
        int, option("--jobs N", "Largest number of tasks, or of requests for coreservation.")
    ] = 4,
    machines: Annotated[int, option("--machines N", "Largest number of nodes or machines.")] = 3,
    busy: Annotated[
        bool, option("--busy", "Start every second stream with accepted tasks, else one of twelve.")
    ] = False,
    plain: Annotated[
        bool, option("--plain", "Leave out the rarer features of the instance formats.")
    ] = False,
    shipped: Annotated[
        bool, option("--shipped/--no-shipped", "Try the shipped instances first.")
    ] = True,
    floats: Annotated[bool, option("--floats", "Use floating-point numbers only.")] = False,
    folder: Annotated[
        Path, option("--out -o DIR", "Folder for the counterexample.", callback=writable_folder)
    ] = Path("falsified"),
    as_json: AsJson = False,
) -> None:
    """Search for an instance that breaks a method's claim.

    With --target gap, search for one with the largest gap to the optimum.

    Instance, result and picture are written to --out. Exit code 1 if a claim is broken, 0 if
    nothing was found. Ctrl-C ends the search with what it has found so far.
    """
    from dlopt.verify import Size
    from dlopt.verify import falsify as search_for

    wanted = _target(target)
    if jobs < 1 or machines < 1:
        raise NotApplicableError("--jobs and --machines must be positive")
    stop = threading.Event()
    with quiet_solvers(), _progress() as progress:
        suspect = _method(method)
        search = interruptible(
            lambda: search_for(
                stem,
                suspect,
                claim=claim,
                kind=kind,
                target=wanted,
                objective=objective,
                seconds=seconds,
                examples=examples,
                seed=seed,
                size=Size(jobs, machines, busy, plain),
                floats=floats,
                options=pairs(settings) if settings else None,
                progress=progress,
                shipped=shipped,
                stop=stop,
            ),
            stop,
        )
    files = _written(search.finding, folder)
    if as_json:
        print_result("falsify", _to_data(search, files))
    else:
        _print(search, files)
    broke = search.finding is not None and wanted == "claim"
    if stop.is_set() and not broke:  # a longer search might have found something
        raise KeyboardInterrupt
    raise typer.Exit(Exit.FOUND if broke else Exit.DONE)


def _method(name: str) -> str | Callable[..., Any]:
    """Return a registered name as it is, and the function that ``FILE.py:FUNCTION`` names."""
    if name.endswith(".py"):
        raise NotApplicableError(f"{name} names no function: write {name}:FUNCTION")
    file, _, function = name.rpartition(":")
    from dlopt.registry import load_methods

    if not file.endswith(".py"):
        return name
    found: Callable[..., Any] | None = getattr(load_methods(file), function, None)
    if found is None:
        raise NotApplicableError(f"{file} has no function {function!r}")
    return found


def _target(target: str) -> Literal["claim", "gap"]:
    if target == "claim":
        return "claim"
    if target == "gap":
        return "gap"
    raise NotApplicableError(f"--target must be claim or gap, got {target!r}")


@contextlib.contextmanager
def _progress() -> Iterator[Progress | None]:
    """Show on standard error how many instances were tried, if that is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    with err.status("searching") as status:
        yield lambda tried: status.update(f"searching: {tried} instances tried")


def _written(finding: Finding | None, folder: Path) -> tuple[Path, ...]:
    """Write what was found; without matplotlib there is no picture."""
    from dlopt.plotting import plot
    from dlopt.verify import save

    if finding is None:
        return ()
    drawable = importlib.util.find_spec("matplotlib") is not None
    return save(finding, folder, plot if drawable else None)


def _print(search: SearchResult, files: tuple[Path, ...]) -> None:
    from dlopt.presentation.falsification_searches import effort_text, size_words
    from dlopt.verify.found_counterexamples import SHIPPED

    found = search.finding
    effort = f"{effort_text(search)}, {search.rate:.0f} per second"
    if search.not_applicable:
        effort += f"; {search.not_applicable} more skipped: {search.skip_reason}"
    if found is None:
        out.print(f"nothing found: {effort}", markup=False)
        return
    colour = "yellow" if found.claim == "gap" else "red"
    what = "largest gap" if found.claim == "gap" else f"claim refuted: {found.claim}"
    out.print(f"[{colour}]{what}[/{colour}]", end=" ")
    method = " ".join([found.method, *(f"{k}={v}" for k, v in found.options.items())])
    size = " x ".join(size_words(found))
    out.print(f"({method}, {size})", markup=False)
    for text in found.texts:
        out.print(f"  {text}", markup=False, soft_wrap=True)
    if found.impossible:
        out.print("  no plan has the reported value: proven by the exact method")
    how = "in a shipped instance" if search.phase == SHIPPED else f"by {search.phase}"
    out.print(f"found {how}: {effort}", markup=False)
    for file in files:
        out.print(f"written: {file}", markup=False, soft_wrap=True)


def _to_data(search: SearchResult, files: tuple[Path, ...]) -> dict[str, Any]:
    from dlopt.verify.found_counterexamples import search_to_data

    data = search_to_data(search)
    return data if search.finding is None else data | {"files": [str(file) for file in files]}
