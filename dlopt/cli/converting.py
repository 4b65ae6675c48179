"""What ``convert`` does: which options go with which problem, and the way from file to instance."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

from dlopt import arithmetic
from dlopt.cli.console import err
from dlopt.errors import NotApplicableError
from dlopt.json_files import load_text

_CLUSTER = ("machines", "at", "tau", "chi", "theta_cm", "theta_cp")
_STREAM = (*_CLUSTER, "span", "deadline_rule", "deadline_factor")
_LOGS: dict[str, tuple[str, ...]] = {
    "iit": (*_CLUSTER, "load", "deadline", "starts"),
    "admission": _STREAM,
    "multistage": (*_STREAM, "reserve_fraction", "advance"),
    "coreservation": (
        "machines",
        "at",
        "span",
        "starts",
        "machine_size",
        "durations",
        "priority",
        "least",
        "batch",
    ),
}
_PACKINGS: dict[str, tuple[str, ...]] = {"coreservation": ("machines", "problem", "online")}
_GRAPHS: dict[str, tuple[str, ...]] = {
    "dag": (
        "machines",
        "powers",
        "bandwidth",
        "latency",
        "machines_file",
        "edges",
        "deadline",
        "exact_numbers",
    )
}
_MATRICES: dict[str, tuple[str, ...]] = {"bag": ("exact_numbers",)}
_ROUTES = {
    "swf": _LOGS,
    "bin packing": _PACKINGS,
    "task graphs": _GRAPHS,
    "etc": _MATRICES,
}
"""The kinds of files, the problems that they convert to, and the options that go with each."""
_PACKING_FORMATS = ("orlib", "bpplib", "temporal")
_WORDS = frozenset(
    {"starts", "deadline_rule", "advance", "durations", "priority", "problem", "powers"}
)
"""Options whose text is no number."""
_DEFAULTS = {"tau": 1, "chi": 100, "theta_cm": 0, "theta_cp": 0}


def converted(file: Path, to: str, source: str | None, given: dict[str, Any], seed: int) -> Any:
    """Return the instance that a file becomes.

    Parameters
    ----------
    file : Path
    to : str
        The stem of the problem.
    source : str, optional
        The format of the file; by default told by its name or beginning.
    given : dict of str to object
        The options that the user gave, by name; numbers still as text.
    seed : int

    Raises
    ------
    NotApplicableError
        If the format, the problem and the options do not go together.
    InvalidInstanceError
        If the file holds what it should not.
    """
    form = _format(file, to, source)
    kind = _kind(form)
    if to not in _ROUTES[kind]:
        raise NotApplicableError(f"{form} converts to {', '.join(_ROUTES[kind])}, not to {to!r}")
    for name in given:
        if name not in _ROUTES[kind][to]:
            _refuse(name, kind, form, to)
    machines = given.get("machines")
    if machines is not None and machines < 1:
        raise NotApplicableError(f"--machines must be positive, got {machines}")
    options = {
        name: _number(name, value) if isinstance(value, str) and name not in _WORDS else value
        for name, value in given.items()
    }
    if kind == "task graphs":
        return _graph(file, form, options)
    if kind == "etc":
        return _matrix(file, **options)
    if kind == "bin packing":
        return _packed(file, form, **options)
    if to == "coreservation":
        return _booked(file, options)
    options = _DEFAULTS | {"machines": None} | options
    if to == "multistage":
        return _reserved(file, options, seed)
    return _snapshot(file, options) if to == "iit" else _replayed(file, options)


def _format(file: Path, to: str, source: str | None) -> str:
    from dlopt.formats import detection

    known = ("swf", *_PACKING_FORMATS, "etc", *detection.FORMATS)
    if source is None and ".swf" in file.name:
        return "swf"
    found = source
    if source is None:
        found = detection.format_by_name(file)
        if found is None and to in _GRAPHS:
            load_text(file, "task graph")  # what cannot be read has no format
            found = detection.format_of(file)
    if found not in known:
        told = f"unknown format {source or file.suffix!r}; known: {', '.join(known)} (--from)"
        raise NotApplicableError(told)
    return found


def _kind(form: str) -> str:
    if form in ("swf", "etc"):
        return form
    return "bin packing" if form in _PACKING_FORMATS else "task graphs"


def _refuse(name: str, kind: str, form: str, to: str) -> NoReturn:
    option = f"--{name.replace('_', '-')}"
    stems = [stem for stem, names in _ROUTES[kind].items() if name in names]
    if stems:
        raise NotApplicableError(f"{option} is for --to {', '.join(stems)}, not for {to}")
    kinds = [
        other
        for other, targets in _ROUTES.items()
        if any(name in names for names in targets.values())
    ]
    raise NotApplicableError(f"{option} is for {', '.join(kinds)}, not for {form}")


def _graph(file: Path, kind: Any, options: dict[str, Any]) -> Any:
    from dlopt.formats import detection
    from dlopt.generation import task_graphs

    exact_numbers = options.get("exact_numbers", False)
    graph = detection.read(
        file, format=kind, edges=options.get("edges"), exact_numbers=exact_numbers
    )
    own = [name for name in ("machines", "powers", "bandwidth", "latency") if name in options]
    if "machines_file" in options:
        if own:
            told = f"--{own[0]} says what --machines-file does"
            raise NotApplicableError(told)
        path = options["machines_file"]
        machines = task_graphs.read_machines(path, exact_numbers=exact_numbers)
    else:
        powers = None
        if "powers" in options:
            powers = [_number("powers", text) for text in options["powers"].split(",")]
        if powers is None and "machines" not in options and not graph.machines:
            told = "the file names no machines: give --machines, --powers or --machines-file"
            raise NotApplicableError(told)
        sends = graph.unit == "amount" and any(edge.data for edge in graph.edges)
        if sends and "bandwidth" not in options:
            told = "edges send amounts, such as bytes: give --bandwidth or --machines-file"
            raise NotApplicableError(told)
        machines = task_graphs.machine_set(
            options.get("machines"),
            powers=powers,
            names=graph.machines,
            bandwidth=options.get("bandwidth", 1),
            latency=options.get("latency", 0),
        )
    return task_graphs.instance_of(
        graph,
        machines,
        absolute_deadline=options.get("deadline"),
        origin=f"{file.name}, {detection.FORMATS[kind]}",
    )


def _matrix(file: Path, *, exact_numbers: bool = False) -> Any:
    from dlopt.formats import etc
    from dlopt.generation.bag import instance_from_etc

    return instance_from_etc(etc.read(file, exact_numbers=exact_numbers))


def _snapshot(file: Path, options: dict[str, Any]) -> Any:
    from dlopt.formats import swf
    from dlopt.generation import log_snapshot

    for name in ("load", "at"):
        if name not in options:
            raise NotApplicableError(f"--to iit needs --{name}")
    starts = options.get("starts", "recorded")
    if starts not in ("recorded", "fcfs"):
        raise NotApplicableError(f"--starts takes recorded or fcfs, got {starts!r}")
    return log_snapshot.snapshot(swf.read(file), **options)


def _replayed(file: Path, options: dict[str, Any]) -> Any:
    from dlopt.formats import swf
    from dlopt.generation.log_stream import stream_from_log

    return _kept(stream_from_log(swf.read(file), **options))


def _booked(file: Path, options: dict[str, Any]) -> Any:
    from dlopt.formats import swf
    from dlopt.generation.log_requests import requests_from_log

    return _kept(requests_from_log(swf.read(file), **options))


def _kept(made: Any) -> Any:
    """Return the instance that was made of a log, and tell what was left out."""
    for reason, count in made.left_out:
        err.print(f"left out: {count} job{'s' * (count > 1)} {reason}", markup=False)
    return made.instance


def _packed(
    file: Path,
    form: str,
    *,
    machines: int | None = None,
    problem: str | None = None,
    online: bool = False,
) -> Any:
    from dlopt.formats import binpack
    from dlopt.generation.bin_packing import bin_packing_instance

    found = {one.name: one for one in binpack.read(file, form)}
    name = next(iter(found)) if problem is None and len(found) == 1 else problem
    if name is None:
        first = ", ".join(list(found)[:3])
        raise NotApplicableError(f"--problem is needed: {file} has {len(found)} ({first}, ...)")
    if name not in found:
        raise NotApplicableError(f"{file} has no problem {name!r} (known: {', '.join(found)})")
    return bin_packing_instance(found[name], machines=machines, online=online)


def _reserved(file: Path, options: dict[str, Any], seed: int) -> Any:
    from dlopt.generation.multistage import reserve

    fraction = options.pop("reserve_fraction", 0.3)
    words = options.pop("advance", "0")
    stream = _replayed(file, options)
    times, _, unit = words.partition("/")
    if unit not in ("", "lambda"):
        raise NotApplicableError(f"--advance takes seconds or X/lambda, got {words!r}")
    advance = _number("advance", times)
    if unit:
        span = stream.tasks[-1].arrival - stream.tasks[0].arrival
        advance = advance * span / max(len(stream.tasks) - 1, 1)
    return reserve(stream, fraction=fraction, advance=advance, seed=seed)


def _number(name: str, text: str) -> Any:
    try:
        return arithmetic.simplest(arithmetic.parse(text))
    except ValueError as error:
        raise NotApplicableError(f"--{name.replace('_', '-')}: {error}") from error
