"""What the commands share: their options, checked before any work begins."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from dlopt.errors import MissingExtraError, NotApplicableError


def writable(path: Path | None) -> Path | None:
    """Return a path that a file can be written to; solving first would waste the work."""
    if path is None:
        return None
    if path.is_dir():
        raise NotApplicableError(f"cannot write {path}: it is a folder")
    if not Path(os.path.realpath(path)).parent.is_dir():
        raise NotApplicableError(f"cannot write {path}: its folder does not exist")
    return path


def drawable(path: Path | None) -> Path | None:
    """Return a path that a picture can be written to, if pictures can be drawn at all."""
    from importlib.util import find_spec

    from dlopt.plotting import SUFFIXES

    if path is None:
        return None
    if path.suffix.lower() not in SUFFIXES:
        raise NotApplicableError(f"cannot draw to {path}: must end in {', '.join(SUFFIXES)}")
    if find_spec("matplotlib") is None:
        raise MissingExtraError("matplotlib", "plot")
    return writable(path)


Methods = Annotated[
    str | None, typer.Option("--methods", metavar="M,M", help="By default all but literal.")
]
Literal = Annotated[bool, typer.Option("--literal", help="Take in the papers' slips, as printed.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else.")]
Exactly = Annotated[
    bool, typer.Option("--exact-numbers", help="Read decimals as exact rational numbers.")
]
Floating = Annotated[
    bool, typer.Option("--float-numbers", help="Compute in floats, whatever the file says.")
]
Settings = Annotated[
    list[str] | None, typer.Option("--set", metavar="K=V", help="An option, as often as needed.")
]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        "--time-limit",
        metavar="S",
        help="Seconds for each method, its model, its checks and the heuristics that it starts "
        "from; reading comes on top. A method that overruns it is given up.",
    ),
]
Work = Annotated[
    int | None, typer.Option("--work", metavar="N", help="Deterministic units of work.")
]
Threads = Annotated[int, typer.Option("--threads", metavar="N", help="Threads of a solver.")]
Gap = Annotated[float, typer.Option("--gap", metavar="G", help="Relative gap to stop at.")]
Memory = Annotated[
    int | None,
    typer.Option("--memory", metavar="MB", help="Most memory; without it a command may take all."),
]
Seed = Annotated[int, typer.Option("--seed", metavar="N")]
Goal = Annotated[
    str | None,
    typer.Option("--objective", metavar="O", help="What to optimise, see `dlopt methods`."),
]
Out = Annotated[
    Path | None,
    typer.Option("--out", "-o", metavar="FILE", callback=writable, help="Write JSON here."),
]
Certificate = Annotated[
    Path | None,
    typer.Option(
        "--certificate",
        metavar="FILE",
        callback=writable,
        help="Write the proof of the bound here, as a VIPR file.",
    ),
]
Picture = Annotated[
    Path | None,
    typer.Option("--plot", metavar="FILE", callback=drawable, help="Draw the plan: svg, png, pdf."),
]
Powers = Annotated[
    str | None,
    typer.Option("--powers", metavar="P,P,...", help="The speed of each machine (dag); 1 each."),
]
Bandwidth = Annotated[
    str | None,
    typer.Option(
        "--bandwidth",
        metavar="B",
        help="Data per unit of time between two machines (dag). Needed where a file tells amounts "
        "(bytes); 1 where it tells times.",
    ),
]
Latency = Annotated[
    str | None, typer.Option("--latency", metavar="T", help="Of each transfer (dag); 0.")
]
MachinesFile = Annotated[
    Path | None,
    typer.Option(
        "--machines-file",
        metavar="FILE",
        help="Machines and network, as the fields of an instance (dag).",
    ),
]
Edges = Annotated[
    Path | None,
    typer.Option(
        "--edges", metavar="FILE", help="The table of edges beside a table of costs (dag)."
    ),
]

_NOT_SET = frozenset(
    {"instance", "method", "objective", "limits", "hint", "stem", "family", "seed"}
)
"""Names of the library's own arguments, which ``--set`` may not stand for."""


def pairs(settings: list[str] | None) -> dict[str, Any]:
    """Return what ``--set`` gives, by name."""
    found = {}
    for setting in settings or []:
        name, equals, value = setting.partition("=")
        if not equals or not name:
            raise NotApplicableError(f"--set takes K=V, got {setting!r}")
        if name in _NOT_SET:
            raise NotApplicableError(f"{name} is no option for --set")
        found[name.replace("-", "_")] = value
    return found
