"""Valid files of every kind that the command line reads, with the commands that read them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

INSTANCES = Path(__file__).parents[1] / "instances"
_LIMITS = ("--time-limit", "1")
_METHODS = {
    "iit": ("edf-iit-2", "opr", "exact"),
    "admission": ("edf-iit-2", "fast-edf-iit", "edf-opr-mn", "exact", "bound-fluid"),
    "multistage": ("multi-stage", "stage-optimal", "exact"),
    "coreservation": ("co-rspb", "rb", "exact"),
    "dag": ("heft", "cpop", "exact"),
    "bag": ("min-min", "gds", "mct", "exact"),
}
_JOB = "{} {} -1 {} 2 -1 -1 2 50 -1 1 3 1 -1 -1 -1 -1 -1"
_SWF = "; MaxProcs: 4\n; Note: of four jobs\n" + "\n".join(
    _JOB.format(n, 10 * n, 20 + n) for n in range(1, 5)
)
_STG = "3\n0 0 0\n1 5 1 0\n2 7 1 0\n3 2 2 1 2\n4 0 1 3\n# CP Length : 9\n#  2 Proc. : 9 9\n"
_DOT = 'digraph g { node [w=1]; a [w=5]; a -> {b; c} [d=2]; b -> "d e" /* x */; c -> "d e" }\n'
_DAX = """<?xml version="1.0"?>
<adag xmlns="http://pegasus.isi.edu/schema/DAX" version="2.1">
  <job id="a" runtime="1.5"><uses file="f" link="output" size="8"/></job>
  <job id="b" runtime="3"><uses file="f" link="input" size="9"/></job>
  <child ref="b"><parent ref="a"/></child>
</adag>
"""
_PEGASUS = "FILE f 8\nTASK a b 1.5\nTASK b b 3\nINPUTS b f\nOUTPUTS a f\nEDGE a b\n"
_COSTS = "task,P1,P2\na,14,16\nb,13,-\nc,1,2\n"
_EDGES = "from,to,cost\na,b,18\nb,c,2\n"
_ETC = "3 2\n1 2.5\n30 7\n4 5\n"
_ORLIB = "2\n u_0\n 10 2 1\n4\n6\n u_1\n 12 3 1\n5\n5\n2\n"
_BPPLIB = "3\n10\n5\n6\n4\n"
_TEMPORAL = "2 100 0 0\n0 5 51 70\n1 6 34 46\n"
_WFFORMAT = {
    "name": "two",
    "schemaVersion": "1.5",
    "workflow": {
        "specification": {
            "tasks": [
                {"id": "a", "parents": [], "children": ["b"], "outputFiles": ["f"]},
                {"id": "b", "parents": ["a"], "children": [], "inputFiles": ["f"]},
            ],
            "files": [{"id": "f", "sizeInBytes": 8}],
        },
        "execution": {
            "makespanInSeconds": 99,
            "tasks": [
                {"id": "a", "runtimeInSeconds": 1.5},
                {"id": "b", "runtimeInSeconds": 3},
            ],
        },
    },
}
_SCENARIO = {
    "scenario": "admission",
    "version": 1,
    "factors": [{"task": 0, "tau": 2, "chi": 1}],
    "failures": [{"node": 0, "from": 5, "until": 9}],
}
_FAILURES = [{"machine": 0, "begin": 5, "until": 9}]
_MACHINES = {
    "machines": [{"id": "m", "power": 1}, {"id": "n", "power": 2}],
    "network": {"convention": "direct", "same_machine": "zero"},
}
_GRID = ("simulate", "grid", "--processes", "1", "--tasks", "5", "--set", "nodes=3")

Run = Callable[..., int]


@dataclass(frozen=True)
class FileKind:
    """A kind of file: valid files, their suffix, and commands; ``@`` is replaced by the mutant."""

    kind: str
    files: tuple[Path, ...]
    suffix: str
    commands: tuple[tuple[str, ...], ...]


def subjects(folder: Path, run: Run) -> list[FileKind]:
    """Return all kinds, their files written to a folder by the commands that write them.

    Parameters
    ----------
    folder : Path
    run : callable
        Runs a command, given by its arguments, and returns its exit code.
    """
    found = list(_instances())
    for stem, methods in _METHODS.items():
        found += _answers(stem, methods[0], folder, run)
    found += _rows(folder, run)
    found += _simulated(folder)
    return found + list(_foreign(folder))


def _small(stem: str) -> tuple[Path, ...]:
    return tuple(p for p in sorted((INSTANCES / stem).rglob("*.json")) if p.stat().st_size < 3000)


def _instances() -> list[FileKind]:
    found = []
    for stem, methods in _METHODS.items():
        commands = [("solve", "@", "--method", method, *_LIMITS) for method in methods]
        commands += [
            ("solve", "@", "--method", methods[0], "--exact-numbers", *_LIMITS),
            ("solve", "@", "--method", methods[-1], "--exact-numbers", *_LIMITS, "--json"),
            ("compare", "@", "--methods", ",".join(methods[:2]), *_LIMITS),
        ]
        if stem in ("admission", "multistage"):
            commands.append(("simulate", "cluster", "--file", "@", "--processes", "1", "--check"))
        if stem == "admission":
            commands.append(("simulate", "feedback", "--file", "@"))
        if stem == "dag":
            commands.append((*_GRID[:4], "--file", "@"))
        found.append(FileKind(stem, _small(stem), ".json", tuple(commands)))
    return found


def _answers(stem: str, method: str, folder: Path, run: Run) -> list[FileKind]:
    """Return a result of each problem, and a certificate where there is one."""
    instance = folder / f"{stem}.json"
    instance.write_bytes(_small(stem)[0].read_bytes())
    result, proof = folder / f"{stem}-result.json", folder / f"{stem}.vipr"
    solved = ("solve", str(instance), "--time-limit", "5", "--exact-numbers", "--out", str(result))
    run(*solved, "--certificate", str(proof))
    if not result.exists():
        run(*solved, "--method", method)
    given = (str(instance), "--exact-numbers")
    check = ("check", given[0], "@", given[1])
    found = [FileKind(f"{stem} result", (result,), ".json", (check, (*check, "--json")))]
    if proof.exists():
        command = ("check", given[0], str(result), "--certificate", "@", given[1])
        found.append(FileKind(f"{stem} certificate", (proof,), ".vipr", (command,)))
    return found


def _rows(folder: Path, run: Run) -> list[FileKind]:
    rows, sweep = folder / "rows.jsonl", folder / "sweep.jsonl"
    instance = str(folder / "iit.json")
    run("batch", instance, "--methods", "opr,edf-iit-2", "--workers", "1", "--out", str(rows))
    run(*_GRID, "--set", "lans=2", "--rows", str(sweep))
    page, table = ("report", "@", "--out"), str(folder / "page")
    return [
        FileKind("rows", (rows,), ".jsonl", ((*page, f"{table}.html"), (*page, f"{table}.csv"))),
        FileKind(
            "rows of a sweep", (sweep,), ".jsonl", ((*_GRID, "--set", "lans=2", "--rows", "@"),)
        ),
    ]


def _simulated(folder: Path) -> list[FileKind]:
    from dlopt.simulation.grid import TOPOLOGIES
    from dlopt.simulation.grid.grid_files import write_grid

    admission = str(INSTANCES / "admission" / "two-of-three.json")
    scenario = _written(folder / "scenario.json", json.dumps(_SCENARIO))
    failures = _written(folder / "failures.json", json.dumps(_FAILURES))
    grid = folder / "grid.json"
    write_grid(TOPOLOGIES["flat"](lans=2, nodes=2, seed=0), grid)
    feedback = ("simulate", "feedback", "--file", admission, "--scenario", "@")
    return [
        FileKind("scenario", (scenario,), ".json", (feedback,)),
        FileKind(
            "failures", (failures,), ".json", ((*_GRID, "--set", "lans=2", "--failures", "@"),)
        ),
        FileKind("grid", (grid,), ".json", ((*_GRID[:6], "--topology", "@"),)),
    ]


def _foreign(folder: Path) -> list[FileKind]:
    """Return files of formats that others have defined."""
    dag = ("convert", "graph", "@", "--machines", "2")
    costs = _written(folder / "times.csv", _COSTS)
    machines = ("convert", "graph", str(_written(folder / "a.stg", _STG)))

    def subject(kind: str, text: str, suffix: str, *commands: tuple[str, ...]) -> FileKind:
        file = _written(folder / f"{kind}{suffix}", text)
        return FileKind(kind, (file,), suffix, commands)

    cores = ("convert", "bins", "@", "--format")
    return [
        subject(
            "swf",
            _SWF,
            ".swf",
            ("convert", "swf", "@", "--to", "iit", "--at", "15", "--load", "10"),
            ("convert", "swf", "@", "--to", "admission"),
            ("convert", "swf", "@", "--to", "multistage"),
            ("convert", "swf", "@", "--to", "coreservation", "--machine-size", "4"),
        ),
        subject("stg", _STG, ".stg", dag, (*dag, "--exact-numbers"), dag[:3]),
        subject("dot", _DOT, ".dot", dag),
        subject("dax", _DAX, ".dax", dag),
        subject("pegasus", _PEGASUS, ".txt", dag),
        subject("wfformat", json.dumps(_WFFORMAT), ".json", dag),
        subject("costs", _COSTS, ".csv", dag[:3]),
        subject("edges", _EDGES, ".csv", ("convert", "graph", str(costs), "--edges", "@")),
        subject("machines", json.dumps(_MACHINES), ".json", (*machines, "--machines-file", "@")),
        subject("etc", _ETC, ".txt", ("convert", "etc", "@")),
        subject("orlib", _ORLIB, ".txt", (*cores, "orlib"), (*cores, "orlib", "--problem", "u_0")),
        subject("bpplib", _BPPLIB, ".txt", (*cores, "bpplib")),
        subject("temporal", _TEMPORAL, ".txt", (*cores, "temporal")),
    ]


def _written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path
