"""The command that looks for an instance on which a method fails."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from dlopt.cli.console import Exit, err, interruptible, out, print_json, quiet_solvers
from dlopt.cli.folders import refuse_unwritable
from dlopt.cli.options import AsJson, Goal, Seed, Settings, pairs
from dlopt.errors import NotApplicableError, described

if TYPE_CHECKING:
    from dlopt.verify import Finding, SearchResult
    from dlopt.verify.budget import Progress


def falsify(
    stem: Annotated[str, typer.Argument(metavar="STEM")],
    method: Annotated[
        str,
        typer.Argument(
            metavar="METHOD", help="A name that `dlopt methods` lists, or FILE.py:FUNCTION."
        ),
    ],
    seconds: Annotated[
        float,
        typer.Option("--seconds", metavar="S", help="For the search; shrinking comes on top."),
    ] = 60.0,
    examples: Annotated[
        int | None,
        typer.Option("--examples", metavar="N", help="Instances to try, whatever the time."),
    ] = None,
    seed: Seed = 0,
    target: Annotated[
        str,
        typer.Option(
            "--target", metavar="T", help="claim: break it; gap: the largest to the optimum."
        ),
    ] = "claim",
    claim: Annotated[
        str | None,
        typer.Option("--claim", metavar="NAME", help="By default what the registry says."),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option("--kind", metavar="K", help="Only violations of this kind."),
    ] = None,
    objective: Goal = None,
    settings: Settings = None,
    jobs: Annotated[int, typer.Option("--jobs", metavar="N", help="Tasks at most.")] = 4,
    machines: Annotated[
        int, typer.Option("--machines", metavar="N", help="Nodes or machines at most.")
    ] = 3,
    busy: Annotated[
        bool, typer.Option("--busy", help="Streams may begin with promises made before.")
    ] = False,
    floats: Annotated[
        bool, typer.Option("--floats", help="Every number of an instance is a float.")
    ] = False,
    folder: Annotated[
        Path, typer.Option("--out", "-o", metavar="DIR", help="Where findings are written.")
    ] = Path("falsified"),
    as_json: AsJson = False,
) -> None:
    """Search for a small instance that breaks a method's claim, or shows its largest gap.

    Instance, result and picture of what is found are written. Exit code 1 if a claim broke, 0 if
    nothing was found.
    """
    from dlopt.verify import Size
    from dlopt.verify import falsify as search_for

    refuse_unwritable(folder)
    wanted = _target(target)
    if jobs < 1 or machines < 1:
        raise NotApplicableError("--jobs and --machines must be positive")
    with quiet_solvers(), _progress() as told:
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
                size=Size(jobs, machines, busy),
                floats=floats,
                options=pairs(settings) if settings else None,
                progress=told,
            )
        )
    files = _written(search.finding, folder)
    if as_json:
        print_json(_to_data(search, files))
    else:
        _print(search, files)
    broke = search.finding is not None and wanted == "claim"
    raise typer.Exit(Exit.FOUND if broke else Exit.DONE)


def _method(name: str) -> str | Callable[..., Any]:
    """Return a registered name as it is, and the function that ``FILE.py:FUNCTION`` names."""
    if name.endswith(".py"):
        raise NotApplicableError(f"{name} names no function: write {name}:FUNCTION")
    file, _, function = name.rpartition(":")
    if not file.endswith(".py"):
        return name
    spec = importlib.util.spec_from_file_location(Path(file).stem, file)
    if spec is None or spec.loader is None:
        raise NotApplicableError(f"cannot read {file}: it is no Python file")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        found: Callable[..., Any] = getattr(module, function)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # the user's own code: whatever it raises is told
        raise NotApplicableError(f"cannot use {name}: {described(error)}") from error
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
    found = search.finding
    told = f"{search.tried} instance{'s' * (search.tried != 1)} in {search.seconds:.1f} s"
    told += f", {search.rate:.0f} a second"
    if search.not_applicable:
        told += f"; the method does not apply to {search.not_applicable} more"
    if found is None:
        out.print(f"nothing found: {told}", markup=False)
        return
    jobs, machines = found.size
    colour = "yellow" if found.claim == "gap" else "red"
    out.print(f"[{colour}]{found.claim}[/{colour}]", end=" ")
    asked = " ".join([found.method, *(f"{k}={v}" for k, v in found.options.items())])
    out.print(f"({asked}): {jobs} x {machines} (jobs x machines)", markup=False)
    for text in found.texts:
        out.print(f"  {text}", markup=False, soft_wrap=True)
    if found.impossible:
        out.print("  no plan is worth what it says: the exact method proves it")
    out.print(f"found by {search.phase}: {told}", markup=False)
    for file in files:
        out.print(f"written: {file}", markup=False, soft_wrap=True)


def _to_data(search: SearchResult, files: tuple[Path, ...]) -> dict[str, Any]:
    from dlopt import io
    from dlopt.verify.counterexamples import named

    found = search.finding
    data: dict[str, Any] = {
        "found": found is not None,
        "tried": search.tried,
        "left_out": search.not_applicable,
        "seconds": search.seconds,
        "per_second": search.rate,
    }
    if found is None:
        return data
    jobs, machines = found.size
    instance, result = named(found), found.result
    return data | {
        "phase": search.phase,
        "claim": found.claim,
        "options": dict(found.options),
        "kind": found.kind,
        "broken": list(found.texts),
        "jobs": jobs,
        "machines": machines,
        "gap": io.value_to_data(found.gap),
        "impossible": found.impossible,
        "optimum": None if found.optimum is None else io.value_to_data(found.optimum.value),
        "instance": io.instance_to_data(instance),
        "result": None if result is None else io.result_to_data(instance, result),
        "files": [str(file) for file in files],
    }
