"""From files of other formats to instances: what ``dlopt convert`` does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from dlopt.arithmetic import shown
from dlopt.cli.console import err
from dlopt.cli.option_values import number_of_option
from dlopt.errors import NotApplicableError, known_names
from dlopt.json_files import load_text
from dlopt.presentation.wording import counted

BIN_PACKING_FORMATS = ("orlib", "bpplib", "temporal")
_CLUSTER = ("machines", "at", "tau", "chi", "theta_cm", "theta_cp")
_STREAM = (*_CLUSTER, "span", "first", "deadline_rule", "deadline_factor")
_LOG_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "iit": (*_CLUSTER, "load", "deadline", "starts"),
    "admission": _STREAM,
    "multistage": (*_STREAM, "reserve_fraction", "advance"),
    "coreservation": (
        "machines",
        "at",
        "span",
        "first",
        "starts",
        "machine_size",
        "durations",
        "priority",
        "least",
        "batch",
    ),
}
"""The options of each problem type that a log converts to."""
_TEXTS = frozenset({"starts", "deadline_rule", "advance", "durations", "priority"})
"""Options whose value is no number."""
_LOG_DEFAULTS = {"machines": None, "tau": 1, "chi": 100, "theta_cm": 0, "theta_cp": 0}


class MachineOptions(NamedTuple):
    """The options that say on which machines a task graph runs."""

    machines: int | None = None
    powers: str | None = None
    bandwidth: str | None = None
    latency: str | None = None
    file: Path | None = None


def detected_format(file: Path, to: str | None, named: str | None) -> str:
    """Return the format of a file: as named, or by its name or beginning.

    Raises
    ------
    NotApplicableError
        If it is unknown.
    """
    from dlopt.formats import detection

    known = ("swf", *BIN_PACKING_FORMATS, "etc", *detection.FORMATS)
    if named is None and ".swf" in file.name:
        return "swf"
    form = named
    if named is None:
        form = detection.format_by_name(file)
        if form is None and to == "dag":
            load_text(file, "task graph")  # what cannot be read has no format
            form = detection.format_of(file)
    if form not in known:
        unknown = named or file.suffix
        text = f"unknown format {unknown!r}; {known_names(unknown, known)} (--format)"
        raise NotApplicableError(text)
    return form


def kind_of(form: str) -> str:
    """Return the subcommand that converts a format.

    Examples
    --------
    >>> kind_of("swf"), kind_of("orlib"), kind_of("stg")
    ('swf', 'bins', 'graph')
    """
    if form in ("swf", "etc"):
        return form
    return "bins" if form in BIN_PACKING_FORMATS else "graph"


def from_log(file: Path, to: str, given: Mapping[str, Any], seed: int) -> Any:
    """Return the instance that a job log becomes.

    Parameters
    ----------
    file : Path
    to : str
        The problem type.
    given : mapping of str to object
        The options that the user gave, by name; numbers still as text.
    seed : int

    Raises
    ------
    NotApplicableError
        If the problem type and the options do not go together.
    InvalidInstanceError
        If the file is invalid.
    """
    if to not in _LOG_OPTIONS:
        raise NotApplicableError(f"swf converts to {', '.join(_LOG_OPTIONS)}, not to {to!r}")
    for name in given:
        if name not in _LOG_OPTIONS[to]:
            stems = [stem for stem, names in _LOG_OPTIONS.items() if name in names]
            option = f"--{name.replace('_', '-')}"
            raise NotApplicableError(f"{option} is for --to {', '.join(stems)}, not for {to}")
    _require_positive(given.get("machines"))
    options = {
        name: number_of_option(name, value)
        if isinstance(value, str) and name not in _TEXTS
        else value
        for name, value in given.items()
    }
    if to == "coreservation":
        return _requests(file, options)
    options = _LOG_DEFAULTS | options
    if to == "iit":
        return _snapshot(file, options)
    return _stream(file, options) if to == "admission" else _mixed_stream(file, options, seed)


def from_bin_packing(
    file: Path, form: str, machines: int | None, problem: str | None, online: bool
) -> Any:
    """Return the instance that a bin packing problem becomes."""
    from dlopt.formats import binpack
    from dlopt.generation.bin_packing_requests import bin_packing_instance

    if form not in BIN_PACKING_FORMATS:
        known = known_names(form, BIN_PACKING_FORMATS)
        raise NotApplicableError(f"unknown format {form!r} of bin packing ({known})")
    _require_positive(machines)
    problems = {one.name: one for one in binpack.read(file, form)}
    name = next(iter(problems)) if problem is None and len(problems) == 1 else problem
    if name is None:
        first = ", ".join(list(problems)[:3])
        raise NotApplicableError(f"--problem is needed: {file} has {len(problems)} ({first}, ...)")
    if name not in problems:
        raise NotApplicableError(f"{file} has no problem {name!r} ({known_names(name, problems)})")
    return bin_packing_instance(problems[name], machines=machines, online=online)


def from_task_graph(
    file: Path,
    form: str | None,
    machines: MachineOptions,
    *,
    edges: Path | None,
    deadline: str | None,
    exact_numbers: bool,
) -> Any:
    """Return the instance that a task graph becomes."""
    from dlopt.formats import detection
    from dlopt.formats.task_graph import IGNORED
    from dlopt.generation import task_graph_conversion

    _require_positive(machines.machines)
    detected: Any = detected_format(file, "dag", form)
    if detected not in detection.FORMATS:
        known = ", ".join(detection.FORMATS)
        raise NotApplicableError(f"{detected} is no format of task graphs (known: {known})")
    graph = detection.read(file, format=detected, edges=edges, exact_numbers=exact_numbers)
    ignored = graph.fact(IGNORED)
    if ignored:
        err.print(f"ignored of the tasks: {ignored}", markup=False)
    return task_graph_conversion.instance_of(
        graph,
        _machine_set(graph, machines, exact_numbers),
        absolute_deadline=None if deadline is None else number_of_option("deadline", deadline),
        origin=f"{file.name}, {detection.FORMATS[detected]}",
        units=detection.UNITS.get(detected),
    )


def from_etc_matrix(file: Path, exact_numbers: bool) -> Any:
    """Return the instance that a matrix of expected times to compute becomes."""
    from dlopt.formats import etc
    from dlopt.generation.bag import instance_from_etc

    return instance_from_etc(etc.read(file, exact_numbers=exact_numbers))


def _machine_set(graph: Any, options: MachineOptions, exact_numbers: bool) -> Any:
    from dlopt.generation import task_graph_conversion

    single = {name: getattr(options, name) for name in options._fields if name != "file"}
    given = [name for name, value in single.items() if value is not None]
    if options.file is not None:
        if given:
            raise NotApplicableError(f"--{given[0]} and --machines-file exclude each other")
        return task_graph_conversion.read_machines(options.file, exact_numbers=exact_numbers)
    powers = None
    if options.powers is not None:
        powers = [number_of_option("powers", text) for text in options.powers.split(",")]
    if powers is None and options.machines is None and not graph.machines:
        text = "the file names no machines: give --machines, --powers or --machines-file"
        raise NotApplicableError(text)
    sends = graph.unit == "amount" and any(edge.data for edge in graph.edges)
    if sends and options.bandwidth is None:
        text = "edges send amounts, such as bytes: give --bandwidth or --machines-file"
        raise NotApplicableError(text)
    return task_graph_conversion.machine_set(
        options.machines,
        powers=powers,
        names=graph.machines,
        bandwidth=number_of_option("bandwidth", options.bandwidth or "1"),
        latency=number_of_option("latency", options.latency or "0"),
    )


def _snapshot(file: Path, options: dict[str, Any]) -> Any:
    from dlopt.formats import swf
    from dlopt.generation import log_snapshot

    for name in ("load", "at"):
        if name not in options:
            raise NotApplicableError(f"--to iit needs --{name}")
    starts = options.get("starts", "recorded")
    if starts not in ("recorded", "fcfs"):
        raise NotApplicableError(f"--starts takes recorded or fcfs, got {starts!r}")
    converted = log_snapshot.snapshot(swf.read(file), **options)
    _print_notes(converted.notes)
    return converted.instance


def _stream(file: Path, options: dict[str, Any]) -> Any:
    from dlopt.formats import swf
    from dlopt.generation.log_stream import stream_from_log

    converted = stream_from_log(swf.read(file), **options)
    rule, factor = options.get("deadline_rule", "execution"), options.get("deadline_factor", 2)
    time = "its requested time"
    if rule == "execution":
        time = "the execution time of the load on as many nodes as the job had processors"
    text = f"load of a task: run time times processors of its job, by chi = {shown(options['chi'])}"
    err.print(f"{text}; deadline: {shown(factor)} times {time}", markup=False)
    return _reporting_notes(converted)


def _mixed_stream(file: Path, options: dict[str, Any], seed: int) -> Any:
    from dlopt.generation.multistage import reserve

    fraction = options.pop("reserve_fraction", 0.3)
    text = options.pop("advance", "0")
    stream = _stream(file, options)
    times, _, unit = text.partition("/")
    if unit not in ("", "lambda"):
        raise NotApplicableError(f"--advance takes seconds or X/lambda, got {text!r}")
    advance = number_of_option("advance", times)
    if unit:
        span = stream.tasks[-1].arrival - stream.tasks[0].arrival
        advance = advance * span / max(len(stream.tasks) - 1, 1)
    return reserve(stream, fraction=fraction, advance=advance, seed=seed)


def _requests(file: Path, options: dict[str, Any]) -> Any:
    from dlopt.formats import swf
    from dlopt.generation.log_requests import requests_from_log

    return _reporting_notes(requests_from_log(swf.read(file), **options))


def _reporting_notes(converted: Any) -> Any:
    """Return the instance made of a log, and print how it differs, and why jobs were skipped."""
    _print_notes(converted.notes)
    for reason, count in converted.left_out:
        err.print(f"skipped: {counted(count, 'job')} {reason}", markup=False)
    return converted.instance


def _print_notes(notes: Iterable[str]) -> None:
    for note in notes:
        err.print(note, markup=False)


def _require_positive(machines: int | None) -> None:
    if machines is not None and machines < 1:
        raise NotApplicableError(f"--machines must be positive, got {machines}")
