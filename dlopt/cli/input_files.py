"""Files that commands read: an instance, standard input, or something else that is said by name."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dlopt.errors import MISSING, Fault, InvalidInstanceError, NotApplicableError, printable

if TYPE_CHECKING:
    from dlopt.problems.validated_record import Header

STANDARD = Path("-")
"""Stands for standard input or output."""
_STANDARD_INPUT = "standard input"
_SWF_FIELDS = 18
"""Numbers in a line of the Standard Workload Format."""


def path_of(file: Path) -> Path:
    """Return the path of a file that a user names, which is standard input for ``-``."""
    return Path("/dev/stdin") if file == STANDARD else file


def name_of(file: Path) -> str:
    """Return what messages call a file."""
    return _STANDARD_INPUT if file == STANDARD else str(file)


def with_shipped_name(file: Path) -> Path:
    """Return the file of a shipped instance for its name; a file of that name goes first.

    Examples
    --------
    >>> with_shipped_name(Path("iit/three-nodes")).name
    'three-nodes.json'
    """
    if file == STANDARD or file.exists():
        return file
    from dlopt.instance_library import shipped_file

    return shipped_file(str(file)) or file


@contextlib.contextmanager
def suggesting_shipped_names(file: Path) -> Iterator[None]:
    """Let the message about a file that does not exist suggest the names of shipped instances."""
    try:
        yield
    except InvalidInstanceError as error:
        if file == STANDARD or file.exists():
            raise
        from dlopt.instance_library import similar_shipped_names

        similar = similar_shipped_names(str(file))
        if not similar:
            raise
        hint = f"; did you mean {', '.join(similar)}?"
        faults = [replace(fault, rule=fault.rule + hint) for fault in error.faults]
        raise InvalidInstanceError(faults, error.source) from error


def read_instance(file: Path, *, exact_numbers: bool = False, float_numbers: bool = False) -> Any:
    """Read an instance; of a file that has none, say what it has instead.

    Raises
    ------
    InvalidInstanceError
        With every fault, naming the file.
    """
    from dlopt import io

    try:
        return io.read(path_of(file), exact_numbers=exact_numbers, float_numbers=float_numbers)
    except InvalidInstanceError as error:
        refuse_other_content(file, wanted="an instance")
        with suggesting_shipped_names(file):
            raise error.within(name_of(file)) from error


def read_plan(file: Path, instance: Header, *, exact_numbers: bool = False) -> Any:
    """Read a result or a plan of an instance; of a file that has none, say what it has instead.

    Raises
    ------
    InvalidInstanceError
        With every fault, naming the file.
    """
    from dlopt import io

    try:
        return io.read_plan(path_of(file), instance, exact_numbers=exact_numbers)
    except InvalidInstanceError as error:
        refuse_other_content(file, wanted="a result")
        raise error.within(name_of(file)) from error


def refuse_other_content(file: Path, *, wanted: str) -> None:
    """Raise an error that says what a file holds, if that is known and not what is wanted.

    Parameters
    ----------
    file : Path
    wanted : str
        ``an instance`` or ``a result``.
    """
    if file == STANDARD or not file.is_file():  # what is read of a pipe is gone
        return
    found = _content_of(file)
    if found and not found.startswith(wanted):
        fault = Fault("", MISSING, f"is {found}, and not {wanted}")
        raise InvalidInstanceError([fault], str(file))


def _content_of(file: Path) -> str | None:
    """Return what a file holds, with the command that makes an instance of it; None if unknown."""
    from dlopt.formats import detection
    from dlopt.json_files import load_json

    try:
        data = load_json(file)
    except InvalidInstanceError:
        return _text_of(file)
    if not isinstance(data, Mapping):
        return None
    if "workflow" in data and "problem" not in data:
        return f"{detection.FORMATS['wfformat']} ({_converted('graph', file)})"
    if "status" in data and "method" in data:
        return "a result of `dlopt solve`"
    if "command" in data and "schema_version" in data:
        return f"what `dlopt {printable(str(data['command']))} --json` prints"
    if "problem" in data and "version" in data:
        return f"an instance of {printable(str(data['problem']))}"
    return "a JSON Schema" if "$schema" in data and "problem" not in data else None


def _text_of(file: Path) -> str | None:
    """Return what a file that is no JSON holds; None if unknown."""
    from dlopt.formats import detection

    with file.open(encoding="utf-8", errors="replace") as opened:
        lines = opened.read(1 << 16).splitlines()
    jobs = [line.split() for line in lines if line.strip() and not line.startswith(";")]
    if jobs and len(jobs[0]) == _SWF_FIELDS:
        return f"a job log in the Standard Workload Format ({_converted('swf', file)} --to STEM)"
    form = detection.format_of(file)
    if form is None or form == "wfformat":  # JSON by its name alone
        return None
    return f"a task graph, {detection.FORMATS[form]} ({_converted('graph', file)})"


def _converted(kind: str, file: Path) -> str:
    return f"convert it: dlopt convert {kind} {file}"


def require_one_standard_input(*files: Path) -> None:
    """Refuse standard input as more than one file.

    Raises
    ------
    NotApplicableError
        If it is given twice.
    """
    if files.count(STANDARD) > 1:
        raise NotApplicableError("standard input (-) can be read once only")
